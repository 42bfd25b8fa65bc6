package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/secret"
)

// deployed are flags that say where and under what name a server is reached, or who may reach it.
var deployed = []string{"host", "port", "uds", "root-path", "fastapi-root-path", "served-model-name", "ssl-keyfile", "ssl-certfile", "ssl-ca-certs", "ssl-cert-reqs",
	"ssl-ciphers", "ssl-refresh", "enable-ssl-refresh", "allowed-origins", "allowed-methods", "allowed-headers", "allow-credentials", "smg-grpc-port", "smg-http-sidecar-port", "nccl-port"}

// secretFlags take a secret.
var secretFlags = []string{"api-key", "admin-api-key", "hf-token", "ssl-keyfile-password"}

// deployedVariables say which GPUs a server is given, or which ports it takes for itself: autotune does.
var deployedVariables = []string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "VLLM_PORT"}

// reader turns the words of a command into settings.
type reader struct {
	start
	im     Import
	unread string // the file of --config, where it cannot be read
}

// read turns a command that was found into an Import.
func (s start) read(o *Options) (Import, error) {
	if err := firstFault(s.fault); err != nil {
		return Import{}, err
	}
	r := &reader{start: s, im: Import{Engine: s.engine, Line: s.words[0].line, Launch: s.launch, Image: s.image, Notes: slices.Clone(s.notes)}}
	r.environment()
	if err := r.configFile(o); err != nil {
		return Import{}, err
	}
	if err := r.flags(); err != nil {
		return Import{}, err
	}
	if o.Model != "" {
		r.im.Model = o.Model
	}
	if r.im.Model == "" {
		return Import{}, r.noModel()
	}
	r.jsonBesideKeys()
	r.mounted()
	slices.SortStableFunc(r.im.Notes, func(a, b Note) int { return a.Line - b.Line })
	r.im.Notes = slices.CompactFunc(r.im.Notes, func(a, b Note) bool { return a == b })
	return r.im, nil
}

func (r *reader) noModel() *Error {
	e := &Error{Line: r.im.Line, Problem: "the command names no model", Try: "--model NAME beside --from"}
	if r.unread != "" {
		e.Problem += ", and the file of its --config, " + r.unread + ", cannot be read here"
		e.Try += ", or the file beside this one"
	}
	return e
}

// firstFault joins all variables that are not set into one complaint; any other fault stands for itself.
func firstFault(faults []*Error) error {
	var names, tries []string
	for _, f := range faults {
		if f.unset == "" {
			return f
		}
		if name := "$" + f.unset; !slices.Contains(names, name) {
			names, tries = append(names, name), append(tries, f.Try)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return &Error{Line: faults[0].Line, Problem: names[0] + " is not set here: a shell would put nothing in its place", Try: tries[0] + ", without a VALUE where nothing belongs there"}
	}
	return &Error{Line: faults[0].Line, Problem: strings.Join(names, ", ") + " are not set here: a shell would put nothing in their place", Try: strings.Join(tries, " ") + ", without a VALUE where nothing belongs there"}
}

func (r *reader) note(line int, format string, args ...any) {
	r.im.Notes = append(r.im.Notes, Note{line, fmt.Sprintf(format, args...)})
}

// environment takes the variables, each once, without the secrets.
func (r *reader) environment() {
	for _, name := range r.names {
		if !slices.Contains(r.im.Secrets, name) {
			r.im.Secrets = append(r.im.Secrets, name)
		}
	}
	for _, v := range r.env {
		if v.Value == "" && secret.Variable(v.Name, "a value") {
			r.note(v.Line, "%s is empty here: it is not taken over; export it in the shell that starts autotune, if the server needs it", v.Name)
			continue
		}
		if secret.Variable(v.Name, v.Value) {
			r.secret(v.Name, v.Line)
			continue
		}
		v.Deployment = slices.Contains(deployedVariables, v.Name) || strings.HasPrefix(v.Name, "AUTOTUNE_")
		i := slices.IndexFunc(r.im.Env, func(w Variable) bool { return w.Name == v.Name })
		if i < 0 {
			r.im.Env = append(r.im.Env, v)
			continue
		}
		if r.im.Env[i].Value != v.Value {
			r.note(v.Line, "%s is set twice: the later value, %s, counts", v.Name, quote(v.Value))
		}
		r.im.Env[i] = v
	}
}

// secret names what is not kept.
func (r *reader) secret(name string, line int) {
	if !slices.Contains(r.im.Secrets, name) {
		r.im.Secrets = append(r.im.Secrets, name)
	}
	r.note(line, "%s holds a secret: it is not taken over; export it in the shell that starts autotune, if the server needs it", name)
}

func (r *reader) secretFlag(flag string, line int) {
	r.im.SecretFlags = append(r.im.SecretFlags, flag)
	r.note(line, "--%s holds a secret: it is not taken over; add it again to the command that is deployed", flag)
}

func (r *reader) texts() []string {
	var texts []string
	for _, w := range r.args {
		texts = append(texts, w.text)
	}
	return texts
}

// flags reads the words behind the launch.
func (r *reader) flags() error {
	for i, w := range r.args {
		if templated.MatchString(w.text) && !slices.Contains(deployed, r.flagOf(i)) {
			return &Error{Line: w.line, Problem: w.text + " is filled in by a template", Try: fillIn}
		}
		if wrong := typographic(w.text); wrong != "" {
			return &Error{Line: w.line, Problem: w.text + " begins with " + wrong + ", which no engine takes for a flag", Try: "--" + strings.TrimLeft(w.text, "-\u2010\u2011\u2012\u2013\u2014\u2212")}
		}
		if plain := strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u2018", "'", "\u2019", "'", "\u00a0", " ").Replace(w.text); plain != w.text && misquoted(w.text) {
			what := "typographic quotes, which a shell takes for letters"
			if strings.Contains(w.text, "\u00a0") {
				what = "a no-break space, which a shell takes for a letter"
			}
			return &Error{Line: w.line, Problem: w.text + " holds " + what, Try: plain}
		}
	}
	reading, err := r.engine.Read(r.texts())
	var usage *engine.UsageError
	if errors.As(err, &usage) {
		e := &Error{Line: r.args[usage.At].line, Problem: r.engine.Title + " refuses it: " + usage.Problem}
		if value := r.valueText(usage.At); strings.HasPrefix(value, "{") && !json.Valid([]byte(value)) {
			e.Try = "the JSON in single quotes: a shell takes double quotes away, and ends a word at a blank"
		}
		return e
	}
	r.im.Model = reading.Model.Text
	for _, g := range reading.Given {
		r.given(g)
	}
	return r.unknown(reading)
}

// templated is a place that Helm, or another tool with Go's templates, puts a value in.
var templated = regexp.MustCompile(`\{\{-?\s*[.$]`)

// fillIn is what to do about a template.
const fillIn = "what comes out of the template: helm template CHART -f VALUES | autotune init --from -"

// flagOf is the flag that a word is, or whose value it is; without dashes.
func (r *reader) flagOf(i int) string {
	head, _, _ := strings.Cut(r.args[i].text, "=")
	if i > 0 && !strings.HasPrefix(head, "--") {
		head, _, _ = strings.Cut(r.args[i-1].text, "=")
	}
	return strings.ReplaceAll(strings.TrimPrefix(head, "--"), "_", "-")
}

// misquoted tells whether a word begins or ends in a typographic quote, or holds a no-break space.
func misquoted(text string) bool {
	const quotes = "\u201c\u201d\u2018\u2019"
	return strings.Trim(text, quotes) != text || strings.Contains(text, "\u00a0")
}

// typographic names the character that a text processor has put in place of the dashes of a flag.
func typographic(text string) string {
	for _, c := range []struct{ mark, name string }{
		{"\u2013", "an en dash"}, {"\u2014", "an em dash"}, {"\u2010", "a typographic hyphen"}, {"\u2011", "a typographic hyphen"}, {"\u2012", "a figure dash"}, {"\u2212", "a minus sign"},
	} {
		if strings.HasPrefix(strings.TrimLeft(text, "-"), c.mark) {
			return c.name
		}
	}
	return ""
}

// suffix ends a number that stands for a thousand or more times what is in front of it.
var suffix = regexp.MustCompile(`^[0-9.]+[kKmMgGtT]i?$`)

// given takes a flag that the catalog knows.
func (r *reader) given(g engine.Given) {
	line := r.args[g.At].line
	if slices.Contains(secretFlags, g.Flag) || secret.Value(g.Value.String()) {
		r.secretFlag(g.Flag, line)
		return
	}
	f, _ := r.engine.Flag(g.Flag)
	if text := r.valueText(g.At); (f.Kind == engine.HumanInt || f.Kind == engine.Int) && suffix.MatchString(text) {
		r.note(line, "--%s %s is %s", g.Flag, text, g.Value)
	}
	if _, ok := r.engine.Flag(g.Spelling); !ok && len(g.Spelling) > len("--tp") && strings.HasPrefix(g.Spelling, "--") && !strings.HasPrefix(g.Spelling, "--no") {
		r.note(line, "%s is short for --%s", g.Spelling, g.Flag)
	}
	r.keep(Flag{Setting: g.Setting, Line: line, Deployment: slices.Contains(deployed, g.Flag)})
}

// valueText is what was written for the flag at a place.
func (r *reader) valueText(at int) string {
	if _, text, ok := strings.Cut(r.args[at].text, "="); ok {
		return text
	}
	if at+1 < len(r.args) {
		return r.args[at+1].text
	}
	return ""
}

// keep takes a setting; of one that is given twice the later value counts, as argparse has it.
func (r *reader) keep(f Flag) {
	i := slices.IndexFunc(r.im.Flags, func(g Flag) bool { return g.Flag == f.Flag })
	if i < 0 {
		r.im.Flags = append(r.im.Flags, f)
		return
	}
	old := r.im.Flags[i]
	switch {
	case old.Value == f.Value:
		r.note(f.Line, "--%s is given twice, first on line %d: it is one setting", f.Flag, old.Line)
	case f.Value.Kind() == space.KindBool:
		r.note(f.Line, "--%s is switched %s here, after line %d said otherwise: the later one counts", f.Flag, onOff(f.Value), old.Line)
	default:
		r.note(f.Line, "--%s is given twice: the later value, %s, counts, not %s of line %d", f.Flag, f.Value, old.Value, old.Line)
	}
	r.im.Flags[i].Value, r.im.Flags[i].Line = f.Value, f.Line
}

func onOff(v space.Value) string {
	if v.AsBool() {
		return "on"
	}
	return "off"
}

// flagForm is what a flag may be called that the catalog does not know.
var flagForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9._-]*[A-Za-z0-9_])?$`)

// unknown takes what the catalog does not know: a flag, and the word behind it as its value.
func (r *reader) unknown(reading engine.Reading) error {
	rest := reading.Rest
	for len(rest) > 0 {
		w := rest[0]
		rest = rest[1:]
		line := r.args[w.At].line
		if !strings.HasPrefix(w.Text, "-") || slices.Contains(r.texts()[:w.At], "--") {
			return r.stray(w, line)
		}
		head, inline, assigned := strings.Cut(w.Text, "=")
		name := strings.TrimPrefix(head, "--")
		if err := r.underscored(head, name, line); err != nil {
			return err
		}
		stem, tail, dotted := strings.Cut(name, ".")
		if name = strings.ReplaceAll(stem, "_", "-"); dotted {
			name += "." + tail
		}
		known, ok := r.engine.Flag(name)
		if ok || !strings.HasPrefix(head, "--") || !flagForm.MatchString(name) {
			e := &Error{Line: line, Problem: fmt.Sprintf("%s knows no flag %s", r.engine.Title, head)}
			if ok {
				e.Try = "--" + known.Name
			}
			return e
		}
		f := Flag{Setting: engine.Setting{Flag: name, Value: space.Bool(true)}, Line: line, Unknown: true}
		said := ""
		switch {
		case assigned:
			f.Value = space.String(inline)
		case len(rest) > 0 && rest[0].At == w.At+1 && !strings.HasPrefix(rest[0].Text, "-"):
			f.Value, rest = space.String(rest[0].Text), rest[1:]
			said = ", the word behind it as its value"
		}
		if near := r.engine.Near(name); near != "" {
			said += " (did you mean --" + near + "?)"
		}
		r.note(line, "the catalog does not know --%s: it is passed through as written%s", name, said)
		if secret.Variable(strings.ToUpper(strings.ReplaceAll(name, "-", "_")), f.Value.String()) && f.Value.Kind() == space.KindString {
			r.secretFlag(name, line)
			continue
		}
		r.keep(f)
	}
	return nil
}

// underscored refuses underscores where the engine does.
func (r *reader) underscored(head, name string, line int) error {
	dashed := strings.ReplaceAll(name, "_", "-")
	if r.engine.Underscores || dashed == name {
		return nil
	}
	if f, ok := r.engine.Flag(dashed); ok {
		return &Error{Line: line, Problem: fmt.Sprintf("%s takes no underscores in a flag: %s", r.engine.Title, head), Try: "--" + f.Name}
	}
	return &Error{Line: line, Problem: fmt.Sprintf("%s takes no underscores in a flag, and knows none called %s", r.engine.Title, head)}
}

// stray refuses a word that is no flag, no value and no model.
func (r *reader) stray(w engine.Argument, line int) error {
	e := &Error{Line: line, Problem: fmt.Sprintf("the word %s belongs to no flag: %s would refuse it", quote(w.Text), r.engine.Title)}
	if w.At > 0 {
		before := r.args[w.At-1].text
		if f, ok := r.engine.Flag(before); ok && f.IsSwitch() && strings.HasPrefix(before, "-") {
			e.Try = before + " alone: it is a switch and takes no value"
		}
		if before == "model" && w.At == 1 {
			e.Try = "--model " + w.Text
		}
	}
	return e
}

// jsonBesideKeys knows that dotted keys become one JSON value, which replaces the one that is given whole.
func (r *reader) jsonBesideKeys() {
	for _, f := range slices.Clone(r.im.Flags) {
		stem, _, dotted := strings.Cut(f.Flag, ".")
		if _, whole := r.im.Value(stem); !dotted || !whole {
			continue
		}
		r.note(f.Line, "the keys --%s.* become one value, which replaces --%s as a whole: that one is left out", stem, stem)
		r.im.Flags = slices.DeleteFunc(r.im.Flags, func(g Flag) bool { return g.Flag == stem })
	}
}

// mounted says where a model that lies in a container is found outside.
func (r *reader) mounted() {
	if r.image != "" {
		for _, f := range r.im.Flags {
			if !f.Deployment && f.Value.Kind() == space.KindString && strings.HasPrefix(f.Value.String(), "/") {
				r.note(f.Line, "--%s names a path in the container: the server that autotune starts must find it too", f.Flag)
			}
		}
	}
	for _, m := range r.mounts {
		if rest, ok := strings.CutPrefix(r.im.Model, strings.TrimSuffix(m.to, "/")+"/"); ok && strings.HasPrefix(r.im.Model, "/") {
			r.note(m.line, "%s is a folder in the container: outside it is %s/%s (--model says so)", r.im.Model, strings.TrimSuffix(m.from, "/"), rest)
		}
	}
}
