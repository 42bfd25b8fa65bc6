package studyfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"autotune/space"
)

const (
	whenShape = `a condition in quotes, such as "enable-dp-attention" or "moe-a2a-backend == deepep && dp-size >= 2"`
	ruleShape = `a rule in quotes, such as "dp-size <= tp-size", or {that: RULE, reason: WHY}`
)

// scope is what names in a condition stand for: a parameter of the engine that it belongs to, ENGINE.FLAG, engine, checkpoint.
type scope struct {
	engine     string // empty for the whole study
	drafts     []*draft
	checkpoint bool
}

// resolve gives a name's full name.
func (c scope) resolve(name string) (string, bool) {
	switch {
	case name == space.EngineParam, name == space.CheckpointParam && c.checkpoint:
		return name, true
	}
	for _, d := range c.drafts {
		flag, qualified := strings.CutPrefix(name, d.Name+".")
		if (qualified || d.Name == c.engine) && slices.Contains(d.flags, flag) {
			return d.Name + "." + flag, true
		}
	}
	return "", false
}

// names lists what could be meant.
func (c scope) names() []string {
	names := []string{space.EngineParam}
	if c.checkpoint {
		names = append(names, space.CheckpointParam)
	}
	for _, d := range c.drafts {
		for _, f := range d.flags {
			if d.Name == c.engine {
				names = append(names, f)
			}
			names = append(names, d.Name+"."+f)
		}
	}
	return names
}

// bind reads a condition and binds its names.
func (r *reader) bind(n *node, p path, c scope, shape string) (*space.Expr, bool) {
	if n.kind == scalarNode && n.isNull() || n.kind != scalarNode {
		r.fail(n, p, "not a condition", shape)
		return nil, false
	}
	e, err := space.ParseExpr(n.text)
	if err == nil {
		e, err = e.Bind(c.resolve)
	}
	if err == nil {
		return e, true
	}
	fault := FieldError{Problem: err.Error()}
	at := n.at
	var wrong *space.ExprError
	if errors.As(err, &wrong) {
		at = n.placeOf(wrong.Offset)
		if word := wordAt(n.text, wrong.Offset); strings.HasPrefix(wrong.Problem, "unknown parameter") {
			fault.Near = nearest(word, c.names())
			switch {
			case word == space.CheckpointParam:
				fault.Allowed = "checkpoint only where model is a list"
			case fault.Near == "" && c.engine == "":
				fault.Allowed = "engine, checkpoint, and ENGINE.FLAG for a flag under fixed, baseline or space"
			case fault.Near == "":
				fault.Allowed = fmt.Sprintf("engine, checkpoint, and the flags of %s under fixed, baseline or space", c.engine)
			}
		}
	}
	r.failAt(at, p, fault)
	return nil, false
}

func wordAt(text string, offset int) string {
	rest := text[min(max(0, offset), len(text)):]
	if end := strings.IndexAny(rest, " \t\n\r=!<>&|()[]{},\"'"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// bindAll binds the conditions and rules of every engine and of the study.
func (r *reader) bindAll(s *Spec, drafts []*draft, require *node) {
	c := scope{drafts: drafts, checkpoint: len(s.Models) > 1}
	whens := map[string]*node{}
	for _, d := range drafts {
		c.engine = d.Name
		for i := range d.Params {
			p := &d.Params[i]
			n := d.whens[p.Flag]
			if n == nil {
				continue
			}
			at := d.path.child("space").child(p.Flag).child("when")
			e, ok := r.bind(n, at, c, whenShape)
			if !ok {
				continue
			}
			for _, name := range e.Names() {
				if engine, _, dotted := strings.Cut(name, "."); dotted && engine != d.Name {
					r.fail(n, at, fmt.Sprintf("never holds: %s does not exist under %s", name, d.Name), "parameters of the same engine")
				}
			}
			p.When, whens[p.Name] = e, n
		}
		d.Require = r.rules(d.require, d.path.child("require"), c)
	}
	r.cycles(drafts, whens)
	c.engine = ""
	s.Require = r.rules(require, path{"require"}, c)
}

// rules reads a list of rules.
func (r *reader) rules(n *node, p path, c scope) []Rule {
	if n == nil {
		return nil
	}
	var rules []Rule
	r.each(n, p, func(_ int, item *node, p path) {
		r.places[p.id()] = item.at
		that, rule := item, Rule{}
		if item.kind == mapNode {
			that = nil
			r.fields(item, p,
				field{name: "that", read: keep(&that), need: whenShape},
				field{name: "reason", read: func(n *node, p path) { rule.Reason, _ = r.word(n, p, "a reason, in words") }},
			)
		}
		if that == nil {
			return
		}
		e, ok := r.bind(that, p, c, ruleShape)
		if !ok {
			return
		}
		rule.That = e
		if slices.ContainsFunc(rules, func(o Rule) bool { return o.That.Canonical() == e.Canonical() }) {
			r.fail(that, p, "the rule is given twice", "")
			return
		}
		rules = append(rules, rule)
	})
	return rules
}

// cycles refuses conditions that need each other.
func (r *reader) cycles(drafts []*draft, whens map[string]*node) {
	params := map[string]space.Param{}
	for _, d := range drafts {
		for _, p := range d.Params {
			params[p.Name] = p
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(name string, trail []string)
	visit = func(name string, trail []string) {
		switch state[name] {
		case done:
			return
		case open:
			loop := append(slices.Clone(trail[slices.Index(trail, name):]), name)
			first := params[loop[0]]
			at := path{"engines", first.Engine, "space", first.Flag, "when"}
			r.failAt(whens[loop[0]].at, at, FieldError{Problem: "the conditions form a cycle: " + strings.Join(loop, " needs ")})
			return
		}
		state[name] = open
		for _, need := range params[name].When.Names() {
			visit(need, append(trail, name))
		}
		state[name] = done
	}
	for _, d := range drafts {
		for _, p := range d.Params {
			visit(p.Name, nil)
		}
	}
}
