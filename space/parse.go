package space

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseExpr reads a condition: == != < <= > >= in ! && || and parentheses over parameter names; names may contain - and . ;
// strings may be bare or quoted; a set is written in [a, b]. Names are as written until Bind. The error is an *ExprError.
func ParseExpr(text string) (*Expr, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.or()
	if err == nil && p.peek().kind != tokenEnd {
		err = p.unexpected("&&, || or the end")
	}
	if err != nil {
		return nil, err
	}
	return &Expr{root: root, text: strings.TrimSpace(text)}, nil
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenQuoted
	tokenOp
)

type token struct {
	kind   tokenKind
	text   string
	offset int
}

// operators, longest first.
var operators = []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", "[", "]", "{", "}", ","}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.+/:@", c) >= 0 || c >= 0x80
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func lex(text string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '"' || c == '\'':
			end := strings.IndexByte(rest[1:], c)
			if end < 0 {
				return nil, &ExprError{i, "a quote is not closed"}
			}
			tokens = append(tokens, token{tokenQuoted, rest[1 : end+1], i})
			i += end + 2
			continue
		case isWordByte(c):
			n := 0
			for n < len(rest) && isWordByte(rest[n]) {
				n++
			}
			tokens = append(tokens, token{tokenWord, rest[:n], i})
			i += n
			continue
		}
		op := operatorAt(rest)
		if op == "" {
			return nil, &ExprError{i, fmt.Sprintf("unexpected %q: allowed are == != < <= > >= in ! && || and parentheses", rest[:1])}
		}
		tokens = append(tokens, token{tokenOp, op, i})
		i += len(op)
	}
	return append(tokens, token{kind: tokenEnd, offset: len(text)}), nil
}

func operatorAt(rest string) string {
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return op
		}
	}
	return ""
}

type parser struct {
	tokens []token
	at     int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take(op string) bool {
	if t := p.peek(); t.kind == tokenOp && t.text == op {
		p.at++
		return true
	}
	return false
}

func (p *parser) unexpected(want string) error {
	t := p.peek()
	if t.kind == tokenEnd {
		return &ExprError{t.offset, "the condition ends too early: expected " + want}
	}
	return &ExprError{t.offset, fmt.Sprintf("unexpected %q: expected %s", t.text, want)}
}

func (p *parser) or() (node, error) {
	return p.chain("||", p.and, func(a, b node) node { return or{a, b} })
}

func (p *parser) and() (node, error) {
	return p.chain("&&", p.unary, func(a, b node) node { return and{a, b} })
}

func (p *parser) chain(op string, next func() (node, error), join func(a, b node) node) (node, error) {
	left, err := next()
	for err == nil && p.take(op) {
		var right node
		right, err = next()
		left = join(left, right)
	}
	return left, err
}

// maxDepth bounds nesting, so that no input exhausts the stack.
const maxDepth = 100

func (p *parser) unary() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, &ExprError{p.peek().offset, "the condition is nested too deeply"}
	}
	defer func() { p.depth-- }()
	if p.take("!") {
		inner, err := p.unary()
		return not{inner}, err
	}
	if p.take("(") {
		inner, err := p.or()
		if err == nil && !p.take(")") {
			err = p.unexpected(")")
		}
		return inner, err
	}
	return p.comparison()
}

func (p *parser) comparison() (node, error) {
	t := p.peek()
	if t.kind != tokenWord {
		return nil, p.unexpected("a parameter's name")
	}
	p.at++
	left := operand{name: t.text, offset: t.offset}
	switch next := p.peek(); {
	case next.kind == tokenWord && next.text == "in":
		p.at++
		set, err := p.set()
		return &membership{left, set}, err
	case next.kind == tokenOp && strings.Contains(" == != < <= > >= ", " "+next.text+" "):
		p.at++
		right, err := p.operand()
		return &comparison{left, right, next.text}, err
	default:
		return &truth{left}, nil
	}
}

func (p *parser) set() ([]operand, error) {
	closing := map[bool]string{p.take("["): "]"}[true]
	if closing == "" && p.take("{") {
		closing = "}"
	}
	if closing == "" && p.take("(") {
		closing = ")"
	}
	if closing == "" {
		return nil, p.unexpected("a list such as [a, b]")
	}
	var set []operand
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		set = append(set, o)
		if p.take(closing) {
			return set, nil
		}
		if !p.take(",") {
			return nil, p.unexpected(", or " + closing)
		}
	}
}

func (p *parser) operand() (operand, error) {
	t := p.peek()
	switch t.kind {
	case tokenQuoted:
		p.at++
		return operand{literal: String(t.text), offset: t.offset}, nil
	case tokenWord:
		p.at++
		v := ParseWord(t.text)
		return operand{literal: v, bare: v.kind == KindString, offset: t.offset}, nil
	default:
		return operand{}, p.unexpected("a value")
	}
}

// ParseWord reads a bare word as the value it looks like: default, true, false, an integer, a float, else a string.
func ParseWord(s string) Value {
	switch s {
	case "default":
		return Default()
	case "true", "false":
		return Bool(s == "true")
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(i)
	}
	if strings.ContainsAny(s, "0123456789") && !strings.ContainsAny(s, "xXpP_nN") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return Float(f)
		}
	}
	return String(s)
}
