package studyfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a spec, far above what a person writes: the YAML parser's time grows with the square of the length and of the nesting.
const (
	maxBytes = 64 << 10
	maxDepth = 40
)

// place is a line and a column, from 1; the column counts characters.
type place struct{ line, column int }

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

// node is a piece of the YAML document: what is left of the parser's tree once everything that a spec does not use is refused.
type node struct {
	kind    nodeKind
	at      place
	text    string // of a scalar, without quotes and escapes
	quoted  bool   // a text whatever it looks like
	exact   bool   // the text stands in the file as it is, on one line: each of its characters has a place
	items   []*node
	entries []entry
}

type entry struct {
	key   string
	at    place
	value *node
}

// readDocument reads one YAML document. The node is nil when what stands there cannot be told; with a node, the errors are of places that do no harm
// to the rest.
func readDocument(text []byte) (*node, Errors) {
	if err := checkText(text); err != nil {
		return nil, Errors{*err}
	}
	// The parser counts a line twice where a comment ends in CR LF.
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	file, err := parseYAML(text)
	if err != nil {
		return nil, Errors{*err}
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.CommentGroupNode:
		case *ast.DirectiveNode:
			return nil, Errors{errorAt(placeOf(doc.Body), "YAML directives (%) have no meaning in a spec: remove the line")}
		default:
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) == 0 {
		return nil, Errors{{Line: 1, Column: 1, Problem: "the spec is empty; `autotune init` writes one to begin with"}}
	}
	if len(bodies) > 1 {
		return nil, Errors{errorAt(placeOf(bodies[1]), "a second YAML document begins here (---): a file holds one spec")}
	}
	c := &converter{}
	root := c.node(bodies[0], 0)
	if c.lost {
		return nil, c.errs
	}
	return root, c.errs
}

func errorAt(at place, problem string) FieldError {
	return FieldError{Line: at.line, Column: at.column, Problem: problem}
}

// checkText refuses what is no text at all before the YAML parser sees it.
func checkText(text []byte) *FieldError {
	if len(text) > maxBytes {
		return &FieldError{Problem: fmt.Sprintf("is %d KiB long: no spec is longer than %d KiB", len(text)>>10, maxBytes>>10)}
	}
	line, start := 1, 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			e := errorAt(place{line, utf8.RuneCount(text[start:i]) + 1}, fmt.Sprintf("is not a YAML text: byte 0x%02x stands here", text[i]))
			return &e
		}
		i += n
		if r == '\n' || r == '\r' && (i == len(text) || text[i] != '\n') {
			line, start = line+1, i
		}
	}
	return nil
}

// parseYAML runs the YAML parser; what makes it panic is an error like any other.
func parseYAML(text []byte) (file *ast.File, problem *FieldError) {
	defer func() {
		if recover() != nil {
			file, problem = nil, &FieldError{Line: 1, Column: 1, Problem: "not valid YAML: the parser gives no place"}
		}
	}()
	tokens := lexer.Tokenize(string(text))
	if at, deep := tooDeep(tokens); deep {
		e := errorAt(at, fmt.Sprintf("nested too deeply: a spec has at most %d levels", maxDepth))
		return nil, &e
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(text, err)
	}
	return file, nil
}

// tooDeep counts open brackets, and the entries and keys that open blocks on one line.
func tooDeep(tokens token.Tokens) (place, bool) {
	open, opened, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, opened = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			open++
		case token.MappingEndType, token.SequenceEndType:
			open--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			opened++
		}
		if open > maxDepth || opened > maxDepth || t.Position.Column > 2000 && t.Position.IndentNum > 4*maxDepth {
			return place{t.Position.Line, t.Position.Column}, true
		}
	}
	return place{}, false
}

// syntaxError turns the parser's complaint into one line, with the remedy for the mistakes that are made most.
func syntaxError(text []byte, err error) *FieldError {
	e := FieldError{Line: 1, Column: 1, Problem: "not valid YAML: " + strings.TrimSpace(err.Error())}
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil || y.GetToken().Position == nil {
		return &e
	}
	at := y.GetToken().Position
	e.Line, e.Column, e.Problem = max(1, at.Line), max(1, at.Column), "not valid YAML: "+y.GetMessage()
	lines := bytes.Split(text, []byte("\n"))
	if e.Line > len(lines) {
		return &e
	}
	line := string(lines[e.Line-1])
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch value := valueOf(line); {
	case strings.Contains(indent, "\t"):
		e.Column = utf8.RuneCountInString(indent[:strings.Index(indent, "\t")]) + 1
		e.Problem, e.Allowed = "a tab in the indentation", "spaces"
	case value != "" && strings.ContainsAny(value[:1], "!&*@`%|>"):
		e.Problem += fmt.Sprintf(" (a text that begins with %s stands in quotes)", value[:1])
	case strings.Contains(value, ": "):
		e.Problem += " (a text that holds a colon and a blank stands in quotes)"
	}
	return &e
}

// valueOf is what stands after the first colon or dash of a line.
func valueOf(line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "- "); ok {
		return strings.TrimSpace(rest)
	}
	_, rest, _ := strings.Cut(line, ": ")
	return strings.TrimSpace(rest)
}

func placeOf(n ast.Node) place {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{max(1, t.Position.Line), max(1, t.Position.Column)}
	}
	return place{1, 1}
}

// converter turns the parser's tree into nodes and refuses what a spec does not use.
type converter struct {
	errs Errors
	lost bool // something that was refused has no value to go on with
}

func (c *converter) refuse(at place, problem string) {
	c.errs = append(c.errs, errorAt(at, problem))
}

// lose refuses what stands for a value.
func (c *converter) lose(at place, problem string) *node {
	c.refuse(at, problem)
	c.lost = true
	return &node{at: at, quoted: true}
}

func (c *converter) node(n ast.Node, depth int) *node {
	if depth > maxDepth {
		return c.lose(placeOf(n), fmt.Sprintf("nested too deeply: a spec has at most %d levels", maxDepth))
	}
	at := placeOf(n)
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n.Values, n.IsFlowStyle, at, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, n.IsFlowStyle, at, depth)
	case *ast.SequenceNode:
		list := &node{kind: listNode, at: at}
		for _, item := range n.Values {
			list.items = append(list.items, c.node(item, depth+1))
		}
		return list
	case *ast.LiteralNode:
		return &node{at: at, text: n.Value.Value, quoted: true}
	case *ast.StringNode:
		if strings.ContainsRune(n.Value, 0) {
			return c.lose(at, "the character \\0 cannot stand in a command line")
		}
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return &node{at: at, text: n.Value, quoted: quoted, exact: strings.Contains(n.Token.Origin, n.Value)}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{at: at, text: n.GetToken().Value}
	case *ast.NullNode:
		if n.Token.Type == token.ImplicitNullType {
			return &node{at: at}
		}
		return &node{at: at, text: n.Token.Value}
	case *ast.TagNode:
		c.refuse(at, "YAML tags have no meaning in a spec: a text that begins with ! stands in quotes")
		return c.node(n.Value, depth+1)
	case *ast.AnchorNode:
		c.refuse(at, "YAML anchors (&) are not supported: write the value out wherever it is wanted; a text that begins with & stands in quotes")
		return c.node(n.Value, depth+1)
	case *ast.AliasNode:
		return c.lose(at, "YAML aliases (*) are not supported: write the value out; a text that begins with * stands in quotes")
	default:
		return c.lose(at, "this kind of YAML is not supported in a spec")
	}
}

func (c *converter) mapping(values []*ast.MappingValueNode, flow bool, at place, depth int) *node {
	m := &node{kind: mapNode, at: at}
	if !flow && len(values) > 0 {
		m.at = placeOf(values[0].Key) // the parser's place is the colon
	}
	for _, v := range values {
		e := entry{at: placeOf(v.Key)}
		switch k := v.Key.(type) {
		case *ast.StringNode:
			e.key = k.Value
		case *ast.MergeKeyNode:
			c.refuse(e.at, "YAML merges (<<) are not supported: write the keys out")
			continue
		case *ast.MappingKeyNode:
			c.refuse(e.at, "a key is written as NAME: VALUE, without a question mark")
			continue
		default:
			e.key = k.GetToken().Value
		}
		if i := slices.IndexFunc(m.entries, func(other entry) bool { return other.key == e.key }); i >= 0 {
			first := m.entries[i].at
			c.refuse(e.at, fmt.Sprintf("key %q is given twice: the first stands on line %d, column %d", e.key, first.line, first.column))
			continue
		}
		e.value = c.node(v.Value, depth+1)
		m.entries = append(m.entries, e)
	}
	return m
}
