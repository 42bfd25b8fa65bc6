package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/engine"
)

type flagsOptions struct {
	json bool
	all  bool
}

func newFlags(w *world) *cobra.Command {
	var o flagsOptions
	cmd := &cobra.Command{
		Use: "flags ENGINE [FLAG|TEXT]", Short: "Show an engine's flags: what each takes, its default, and what turning it trades for what",
		Long: `Show the flags of an engine that matter for speed and memory; --all shows every flag that its command line has. With a flag's name, in any spelling without its dashes,
all that is known of that one: what it takes, its other spellings, what it does to memory, and the rules between it and others. With another text, the
flags whose name holds it, or else whose hint does.

The catalog was read from the releases that it names. The engine that is installed may differ: run and resume read its own --help before the first
launch, and take flags, choices and defaults from there.

With --json: an object, or a list of objects, of name, aliases, kind, items, default, choices, open, min, max, optional, hint, memory (takes: the weight of its
effect on running out, 0 to 1; frees), since, rules (id, kind, reason, flags, source). These keys stay.` + exitStatuses(statusDone, statusUsage),
		Example: "  autotune flags sglang\n  autotune flags sglang mem-fraction-static\n  autotune flags vllm kv --all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return trying(usage("flags takes an engine and, if you like, a flag or a part of its name"), "autotune flags %s", strings.Join(engine.Names(), ", or autotune flags "))
		},
		RunE: func(_ *cobra.Command, args []string) error { return runFlags(w, args, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&o.all, "all", false, "show every flag, not only those that matter for speed and memory")
	return cmd
}

func runFlags(w *world, args []string, o flagsOptions) error {
	d, ok := engine.Find(args[0])
	if !ok {
		return trying(usage("unknown engine %q; allowed: %s", args[0], engineNames()), "autotune flags %s", engine.Names()[0])
	}
	if len(args) == 2 {
		if f, ok := d.Flag(args[1]); ok {
			return o.one(w.out, d, f)
		}
	}
	shown := d.Tuning()
	if o.all {
		shown = slices.Concat(d.Flags(), d.Keys())
	}
	if len(args) == 2 {
		if shown = holding(slices.Concat(d.Flags(), d.Keys()), args[1]); len(shown) == 0 {
			return unknownFlag(d, args[1])
		}
	}
	if o.json {
		views := []flagView{}
		for _, f := range shown {
			views = append(views, viewFlag(d, f))
		}
		return printJSON(w.out, views)
	}
	return printFlags(w.out, d, shown, w.width(), len(args) == 1 && !o.all)
}

// unknownFlag refuses a text that no flag holds.
func unknownFlag(d *engine.Definition, text string) error {
	err := usage("%s has no flag %q, and none whose name or hint holds it", d.Title, text)
	if releases := d.FlagReleases(text); releases != "" {
		err = usage("%s has the flag %s no more: %s", d.Title, text, releases)
	}
	if near := d.Near(text); near != "" {
		return trying(err, "autotune flags %s %s", d.Name, near)
	}
	return trying(err, "autotune flags %s --all", d.Name)
}

// holding are the flags whose name or alias holds a text, whatever its case; where there is none, those whose hint does.
func holding(flags []engine.Flag, text string) []engine.Flag {
	text = strings.ToLower(strings.TrimLeft(text, "-"))
	holds := func(word string) bool { return strings.Contains(strings.ToLower(word), text) }
	named := slices.DeleteFunc(slices.Clone(flags), func(f engine.Flag) bool {
		return !holds(f.Name) && !holds(strings.ReplaceAll(f.Name, "-", "_")) && !slices.ContainsFunc(f.Aliases, holds)
	})
	if len(named) > 0 {
		return named
	}
	return slices.DeleteFunc(flags, func(f engine.Flag) bool { return !holds(f.Help) })
}

// one shows all that is known of a flag.
func (o flagsOptions) one(out io.Writer, d *engine.Definition, f engine.Flag) error {
	v := viewFlag(d, f)
	if o.json {
		return printJSON(out, v)
	}
	_, err := io.WriteString(out, describeFlag(d, f, v))
	return err
}
