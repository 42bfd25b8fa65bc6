package studyfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner/secret"
)

// draft is an engine while it is read: conditions may name what stands further down.
type draft struct {
	Engine
	path    path
	at      place
	flags   []string          // every flag that is named, also one with an error
	where   map[string]origin // by the flag's canonical name
	whens   map[string]*node  // conditions by flag
	require *node
}

// origin is the section that named a flag.
type origin struct {
	section, flag string
	at            place
}

// engines reads the engines, then what refers to their parameters.
func (r *reader) engines(s *Spec, n, require, recipes *node) {
	p := path{"engines"}
	allowed := "an engine by its name: " + strings.Join(r.known.Engines, ", ")
	switch {
	case n.kind != mapNode:
		r.fail(n, p, "wrong type", allowed)
		return
	case len(n.entries) == 0:
		r.fail(n, p, "no engine is given", allowed)
		return
	}
	var drafts []*draft
	for _, e := range n.entries {
		child := p.child(e.key)
		if !slices.Contains(r.known.Engines, e.key) {
			r.failAt(e.at, child, FieldError{Problem: "unknown engine", Allowed: strings.Join(r.known.Engines, ", "), Near: nearest(e.key, r.known.Engines)})
		}
		r.places[child.id()] = e.at
		drafts = append(drafts, r.engine(e, child))
	}
	r.bindAll(s, drafts, require)
	for _, d := range drafts {
		s.Engines = append(s.Engines, d.Engine)
	}
	r.whole(s, recipes)
}

// engine reads one engine, all but its conditions.
func (r *reader) engine(e entry, p path) *draft {
	d := &draft{Engine: Engine{Name: e.key}, path: p, at: e.at, where: map[string]origin{}, whens: map[string]*node{}}
	var fixed, baseline, dims *node
	r.fields(e.value, p,
		field{name: "command", read: r.command(&d.Command, "the words of the command in a list: [python, -m, vllm.entrypoints.openai.api_server]")},
		field{name: "version", read: r.version(&d.Version)},
		field{name: "env", read: r.env(&d.Env)},
		field{name: "fixed", read: keep(&fixed)},
		field{name: "baseline", read: keep(&baseline)},
		field{name: "space", read: keep(&dims)},
		field{name: "require", read: keep(&d.require)},
		field{name: "recipes", lacks: "recipes of one engine; recipes stand at the top, each with its engine"},
	)
	d.Fixed = r.settings(d, fixed, "fixed")
	for _, f := range d.Fixed {
		domain, _ := space.Choices(f.Value) // one value is always a domain
		d.Params = append(d.Params, space.Param{Name: d.Name + "." + f.Flag, Engine: d.Name, Flag: f.Flag, Domain: domain, Fixed: true})
	}
	if dims != nil {
		r.dimensions(d, dims)
	}
	d.Baseline = r.settings(d, baseline, "baseline")
	for _, b := range d.Baseline {
		d.allow(b)
	}
	return d
}

// allow lets a baseline's value stand in a point.
func (d *draft) allow(b Setting) {
	i := slices.IndexFunc(d.Params, func(p space.Param) bool { return p.Flag == b.Flag })
	if i >= 0 {
		d.Params[i].Domain = d.Params[i].Domain.Allowing(b.Value)
		return
	}
	domain, _ := space.Choices(space.Default())
	d.Params = append(d.Params, space.Param{Name: d.Name + "." + b.Flag, Engine: d.Name, Flag: b.Flag, Domain: domain.Allowing(b.Value)})
}

func (r *reader) command(to *[]string, allowed string) func(*node, path) {
	return func(n *node, p path) {
		if n.kind != listNode || len(n.items) == 0 {
			r.fail(n, p, "not a list of words", allowed)
			return
		}
		r.each(n, p, func(i int, item *node, p path) {
			switch {
			case !r.plain(item, p, "a word"), r.hidden(item, p):
			case i == 0 && strings.TrimSpace(item.text) == "":
				r.fail(item, p, "the program's name is empty", allowed)
			default:
				*to = append(*to, item.text)
			}
		})
	}
}

// release is what a version begins with: two numbers at least.
var release = regexp.MustCompile(`^v?[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)

// version reads the release that an engine has to be.
func (r *reader) version(to *string) func(*node, path) {
	const allowed = "a release of the engine, as 0.17.1"
	return func(n *node, p path) {
		text, ok := r.word(n, p, allowed)
		switch {
		case !ok:
		case !release.MatchString(text):
			r.failAt(n.at, p, FieldError{Problem: "not a release", Found: n.describe(), Allowed: allowed})
		default:
			*to = strings.TrimPrefix(text, "v")
		}
	}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// noSecret is what is wrong with a line that holds one.
const noSecret = "looks like a secret, and a spec is stored in the study file"

// hidden refuses a value that has a secret's form, without repeating it.
func (r *reader) hidden(n *node, p path) bool {
	if n == nil || n.kind != scalarNode || !secret.Value(n.text) {
		return false
	}
	r.failAt(n.at, p, FieldError{Problem: noSecret, Allowed: "export it in the shell that runs autotune, and the engine inherits it"})
	return true
}

func (r *reader) env(to *[]EnvVar) func(*node, path) {
	return func(n *node, p path) {
		if n.kind != mapNode {
			r.fail(n, p, "wrong type", "variables by their names: {NAME: VALUE}")
			return
		}
		for _, e := range n.entries {
			child := p.child(e.key)
			r.places[child.id()] = e.at
			switch {
			case !envName.MatchString(e.key):
				r.failAt(e.at, child, FieldError{Problem: "not a variable's name", Allowed: "letters, digits and underscores, no digit first"})
			case strings.HasPrefix(e.key, "AUTOTUNE_"):
				r.failAt(e.at, child, FieldError{Problem: "autotune marks its processes with variables of this name"})
			case e.value.kind == scalarNode && secret.Variable(e.key, e.value.text):
				r.failAt(e.at, child, FieldError{Problem: noSecret,
					Allowed: fmt.Sprintf("no line here: export %s=... in the shell that runs autotune, and the engine inherits it", e.key)})
			case r.plain(e.value, child, "a value; an empty one in quotes"):
				*to = append(*to, EnvVar{e.key, e.value.text})
			}
		}
	}
}

// settings reads flags with one value each.
func (r *reader) settings(d *draft, n *node, section string) []Setting {
	if n == nil {
		return nil
	}
	p := d.path.child(section)
	if n.kind != mapNode {
		r.fail(n, p, "wrong type", "flags with their values: {FLAG: VALUE}")
		return nil
	}
	var out []Setting
	for _, e := range n.entries {
		child := p.child(e.key)
		if !r.flag(d, e, child, section) {
			continue
		}
		if e.value.kind == listNode {
			r.fail(e.value, child, "several values are no setting", "one value here; a list of choices under space")
			continue
		}
		if r.hidden(e.value, child) {
			continue
		}
		v, ok := r.flagValue(e.value, child)
		if ok && section == "fixed" && v.IsDefault() {
			r.fail(e.value, child, "a flag that is fixed to default is no flag", "a value, or no line at all")
			continue
		}
		if ok {
			out = append(out, Setting{e.key, v})
		}
	}
	return out
}

// dimensions reads what is searched.
func (r *reader) dimensions(d *draft, n *node) {
	p := d.path.child("space")
	if n.kind != mapNode {
		r.fail(n, p, "wrong type", "flags with their values: {FLAG: "+dimensionShape+"}")
		return
	}
	for _, e := range n.entries {
		child := p.child(e.key)
		if !r.flag(d, e, child, "space") {
			continue
		}
		domain, when, ok := r.dimension(e.value, child)
		if !ok {
			continue
		}
		if when != nil {
			d.whens[e.key] = when
		}
		// Whatever a baseline does not name is default there, listed or not.
		d.Params = append(d.Params, space.Param{Name: d.Name + "." + e.key, Engine: d.Name, Flag: e.key, Domain: domain.Allowing(space.Default())})
	}
}

var flagName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9._-]*[A-Za-z0-9_])?$`)

// ours are flags by which autotune finds its own server again.
var ours = map[string]string{
	"port":              "autotune gives each server a port of its own",
	"served-model-name": "autotune gives each server a name of its own, to be sure that it measures the right one",
	"model":             "the checkpoint stands under model, at the top",
	"model-path":        "the checkpoint stands under model, at the top",
	"api-key":           "autotune's client sends no key: add it to the command that is deployed",
	"hf-token":          "a secret, and a spec is stored in the study file: export HF_TOKEN in the shell that runs autotune",
}

// flag checks a flag's name and notes where it stands; false when it is of no use.
func (r *reader) flag(d *draft, e entry, p path, section string) bool {
	name := strings.TrimLeft(e.key, "-")
	head, rest, dotted := strings.Cut(name, ".")
	dashed := strings.ReplaceAll(head, "_", "-")
	if dotted {
		dashed += "." + rest
	}
	fault := FieldError{}
	switch {
	case name != e.key:
		fault = FieldError{Problem: "a flag is written without dashes in front", Near: dashed}
	case dashed != name:
		fault = FieldError{Problem: "a flag is written with dashes, not underscores", Near: dashed}
	case !flagName.MatchString(name):
		fault = FieldError{Problem: "not a flag's name", Allowed: "the engine's own name, such as max-num-seqs, and its value after the colon"}
	case ours[name] != "":
		fault = FieldError{Problem: ours[name]}
	}
	if fault.Problem != "" {
		r.failAt(e.at, p, fault)
		return false
	}
	r.places[p.id()] = e.at
	if !slices.Contains(d.flags, e.key) {
		d.flags = append(d.flags, e.key)
	}
	canonical := e.key
	if r.known.Canonical != nil {
		canonical = r.known.Canonical(d.Name, e.key)
	}
	first, again := d.where[canonical]
	if !again {
		d.where[canonical] = origin{section, e.key, e.at}
		return true
	}
	switch {
	case first.flag != e.key:
		fault.Problem = fmt.Sprintf("the same flag as %s, on line %d", first.flag, first.at.line)
	case first.section == "space" && section == "baseline":
		return true
	default:
		fault.Problem = fmt.Sprintf("the flag stands under %s already, on line %d", first.section, first.at.line)
	}
	r.failAt(e.at, p, fault)
	return false
}
