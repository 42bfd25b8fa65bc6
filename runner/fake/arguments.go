package fake

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/law"
)

// inform answers the arguments that make a real engine print and end.
func (s *server) inform(stdout io.Writer) (code int, ended bool) {
	for _, word := range s.args {
		switch {
		case word == "--version" || word == "-v":
			fmt.Fprintln(stdout, s.version)
			return 0, true
		case word == "--help" || word == "-h" || strings.HasPrefix(word, "--help="):
			s.printHelp(stdout)
			return 0, true
		}
	}
	return 0, false
}

// readArguments makes the configuration of the engine's arguments.
func (s *server) readArguments() error {
	model, settings, err := s.engine.Parse(s.args)
	if err != nil {
		return err
	}
	s.settings = settings
	s.flags = map[string]space.Value{}
	for _, f := range settings {
		s.flags[f.Flag] = f.Value
	}
	if active, err := s.holds(s.flags); err != nil {
		return err
	} else if !active {
		s.faults = nil
	}
	if err := s.rejected(); err != nil {
		return err
	}
	if flag, value, ok := strings.Cut(s.faults["resolve"], "="); ok && s.flags[flag].Kind() != space.KindNone {
		s.flags[flag] = space.ParseWord(value)
	}
	s.model = model
	if s.model == "" {
		s.model = "Qwen/Qwen3-0.6B" // vLLM's default
	}
	s.served = s.model
	if names := engine.Words(s.text("served-model-name", "")); len(names) > 0 {
		s.served = names[0]
	}
	s.shown = s.served
	if s.faults.has("wrong-model-name") {
		s.shown = s.served + "-stale"
	}
	s.bundle = max(1, s.faults.count("bundle"), s.number("stream-interval", 1))
	s.config, s.broken = law.Resolve(s.engine.Name, s.model, s.flags, s.machine)
	s.context = max(0, s.config.Context)
	return nil
}

// rejected is the refusal of the fault reject-flag; nil when it does not apply.
func (s *server) rejected() error {
	if !s.faults.has("reject-flag") {
		return nil
	}
	name := strings.TrimLeft(s.faults["reject-flag"], "-")
	if f, ok := s.engine.Flag(name); ok {
		name = f.Name
		if !slices.ContainsFunc(s.settings, func(x engine.Setting) bool { return x.Flag == name }) {
			return nil
		}
	}
	return &engine.UsageError{Program: s.engine.Entry, Problem: "unrecognized arguments: --" + name, Flag: name}
}

func (s *server) text(flag, otherwise string) string {
	if v, ok := s.flags[flag]; ok && !v.IsDefault() {
		return v.String()
	}
	return otherwise
}

func (s *server) number(flag string, otherwise int) int {
	if v, ok := s.flags[flag]; ok && !v.IsDefault() && v.IsNumber() {
		return int(v.AsInt())
	}
	return otherwise
}

// on tells whether a switch is set.
func (s *server) on(flag string, otherwise bool) bool {
	if v, ok := s.flags[flag]; ok && !v.IsDefault() {
		return v.AsBool()
	}
	return otherwise
}
