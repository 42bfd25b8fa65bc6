package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lookup gives the value of an active parameter; ok is false for an inactive or unknown one.
type Lookup func(name string) (Value, bool)

// Expr is a condition over parameters, immutable. Comparing an inactive parameter is false, also with !=;
// default equals only default; < and its kin compare numbers and are false for anything else.
type Expr struct {
	root node
	text string
}

// ExprError says where in a condition something is wrong; Offset is in bytes from its start.
type ExprError struct {
	Offset  int
	Problem string
}

func (e *ExprError) Error() string { return e.Problem }

// node is one of: and, or, not, truth, comparison, membership.
type node interface {
	holds(Lookup) bool
	operands(func(*operand))
	write(*strings.Builder)
	clone() node
}

// operand is a parameter's name or a literal. A bare word is a name when a parameter is called so, else a string; Bind decides.
type operand struct {
	name    string // of a parameter; empty for a literal
	literal Value
	bare    bool // a bare word that may still be a name
	offset  int
}

func (o operand) value(look Lookup) (Value, bool) {
	if o.name == "" {
		return o.literal, true
	}
	return look(o.name)
}

func (o operand) String() string {
	switch {
	case o.name != "":
		return o.name
	case o.literal.kind == KindString && (!o.bare || !isWord(o.literal.s)):
		return strconv.Quote(o.literal.s)
	default:
		return o.literal.String()
	}
}

type and struct{ left, right node }
type or struct{ left, right node }
type not struct{ inner node }
type truth struct{ param operand }
type comparison struct {
	left, right operand
	op          string
}
type membership struct {
	left operand
	set  []operand
}

func (n and) holds(l Lookup) bool   { return n.left.holds(l) && n.right.holds(l) }
func (n or) holds(l Lookup) bool    { return n.left.holds(l) || n.right.holds(l) }
func (n not) holds(l Lookup) bool   { return !n.inner.holds(l) }
func (n truth) holds(l Lookup) bool { v, ok := n.param.value(l); return ok && v.AsBool() }

func (n comparison) holds(l Lookup) bool {
	a, okA := n.left.value(l)
	b, okB := n.right.value(l)
	return okA && okB && compare(a, n.op, b)
}

func (n membership) holds(l Lookup) bool {
	v, ok := n.left.value(l)
	return ok && slices.ContainsFunc(n.set, func(o operand) bool {
		w, ok := o.value(l)
		return ok && Equal(v, w)
	})
}

// Equal compares two values; an int and a float of one size are equal.
func Equal(a, b Value) bool {
	if a.IsNumber() && b.IsNumber() && a.kind != b.kind {
		return a.AsFloat() == b.AsFloat()
	}
	return a == b
}

func compare(a Value, op string, b Value) bool {
	switch op {
	case "==":
		return Equal(a, b)
	case "!=":
		return !Equal(a, b)
	}
	if !a.IsNumber() || !b.IsNumber() {
		return false
	}
	less, greater := a.AsFloat() < b.AsFloat(), a.AsFloat() > b.AsFloat()
	if a.kind == KindInt && b.kind == KindInt {
		less, greater = a.i < b.i, a.i > b.i
	}
	switch op {
	case "<":
		return less
	case ">":
		return greater
	case "<=":
		return !greater
	default:
		return !less
	}
}

func (n and) operands(f func(*operand))         { n.left.operands(f); n.right.operands(f) }
func (n or) operands(f func(*operand))          { n.left.operands(f); n.right.operands(f) }
func (n not) operands(f func(*operand))         { n.inner.operands(f) }
func (n *truth) operands(f func(*operand))      { f(&n.param) }
func (n *comparison) operands(f func(*operand)) { f(&n.left); f(&n.right) }
func (n *membership) operands(f func(*operand)) {
	f(&n.left)
	for i := range n.set {
		f(&n.set[i])
	}
}

func (n and) clone() node         { return and{n.left.clone(), n.right.clone()} }
func (n or) clone() node          { return or{n.left.clone(), n.right.clone()} }
func (n not) clone() node         { return not{n.inner.clone()} }
func (n *truth) clone() node      { c := *n; return &c }
func (n *comparison) clone() node { c := *n; return &c }
func (n *membership) clone() node { return &membership{n.left, slices.Clone(n.set)} }

func (n and) write(b *strings.Builder) { writePair(b, n.left, " && ", n.right) }
func (n or) write(b *strings.Builder)  { writePair(b, n.left, " || ", n.right) }

func writePair(b *strings.Builder, left node, op string, right node) {
	b.WriteByte('(')
	left.write(b)
	b.WriteString(op)
	right.write(b)
	b.WriteByte(')')
}

func (n not) write(b *strings.Builder)    { b.WriteByte('!'); n.inner.write(b) }
func (n *truth) write(b *strings.Builder) { b.WriteString(n.param.String()) }
func (n *comparison) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s %s %s", n.left, n.op, n.right)
}
func (n *membership) write(b *strings.Builder) {
	words := make([]string, len(n.set))
	for i, o := range n.set {
		words[i] = o.String()
	}
	fmt.Fprintf(b, "%s in [%s]", n.left, strings.Join(words, ", "))
}

// Holds tells whether the condition is true where look gives the active parameters. A nil Expr always holds.
func (e *Expr) Holds(look Lookup) bool { return e == nil || e.root.holds(look) }

// Names lists the parameters that the condition names, in order of appearance, without repeats.
func (e *Expr) Names() []string {
	if e == nil {
		return nil
	}
	var names []string
	e.root.operands(func(o *operand) {
		if o.name != "" && !slices.Contains(names, o.name) {
			names = append(names, o.name)
		}
	})
	return names
}

// String is the condition as its author wrote it.
func (e *Expr) String() string {
	if e == nil {
		return ""
	}
	return e.text
}

// Canonical writes the condition with every parenthesis; parsing it gives the same condition.
func (e *Expr) Canonical() string {
	var b strings.Builder
	e.root.write(&b)
	return b.String()
}

// Bind returns the condition with every name resolved: resolve turns a name as written into a parameter's full name.
// A bare word on the right that names no parameter is a string. The error, an *ExprError, names an unknown parameter.
func (e *Expr) Bind(resolve func(name string) (full string, ok bool)) (*Expr, error) {
	bound := &Expr{root: e.root.clone(), text: e.text}
	var problem error
	bound.root.operands(func(o *operand) {
		word := o.name
		if o.bare {
			word = o.literal.s
		}
		if word == "" || problem != nil {
			return
		}
		switch full, ok := resolve(word); {
		case ok:
			o.name, o.literal, o.bare = full, Value{}, false
		case !o.bare:
			problem = &ExprError{o.offset, fmt.Sprintf("unknown parameter %q", word)}
		}
	})
	return bound, problem
}
