package deploy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// tree is a YAML value with the line where it begins: a text, a list or a mapping.
type tree struct {
	line    int
	text    string
	quoted  bool // a text whatever it looks like
	block   bool // a literal block, whose own first line is the next one
	list    bool
	mapping bool
	items   []tree
	entries []treeEntry
}

type treeEntry struct {
	key   string
	value tree
}

// get is the value of a key.
func (t tree) get(key string) (tree, bool) {
	for _, e := range t.entries {
		if e.key == key {
			return e.value, true
		}
	}
	return tree{}, false
}

// Bounds of a manifest: the YAML parser's time grows with the square of the length, and aliases multiply.
const (
	maxManifest = 256 << 10
	maxDepth    = 60
	maxNodes    = 50_000
)

// readYAML reads every document of a text.
func readYAML(text string) (documents []tree, err error) {
	if len(text) > maxManifest {
		return nil, &Error{Problem: fmt.Sprintf("is %d KiB long: no manifest is longer than %d KiB", len(text)>>10, maxManifest>>10)}
	}
	defer func() {
		if recover() != nil {
			documents, err = nil, &Error{Problem: "not valid YAML: the parser gives no place"}
		}
	}()
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		wrong := &Error{Problem: "not valid YAML: " + err.Error()}
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
			wrong.Line, wrong.Problem = y.GetToken().Position.Line, "not valid YAML: "+y.GetMessage()
		}
		return nil, wrong
	}
	p := &planter{anchors: map[string]tree{}}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			documents = append(documents, p.tree(doc.Body, 0))
		}
	}
	return documents, p.err
}

// planter turns the parser's nodes into trees, anchors and merges resolved.
type planter struct {
	anchors map[string]tree
	nodes   int
	err     error
}

func (p *planter) tree(n ast.Node, depth int) tree {
	t := tree{line: lineOf(n)}
	if p.nodes++; depth > maxDepth || p.nodes > maxNodes {
		p.err = &Error{Line: t.line, Problem: "nested too deeply, or too large"}
		return t
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return p.mapping(n.Values, t, depth)
	case *ast.MappingValueNode:
		return p.mapping([]*ast.MappingValueNode{n}, t, depth)
	case *ast.SequenceNode:
		t.list = true
		for _, item := range n.Values {
			t.items = append(t.items, p.tree(item, depth+1))
		}
	case *ast.LiteralNode:
		t.text, t.block = n.Value.Value, true
	case *ast.StringNode:
		t.text, t.quoted = n.Value, n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
	case *ast.TagNode:
		return p.tree(n.Value, depth+1)
	case *ast.AnchorNode:
		t = p.tree(n.Value, depth+1)
		p.anchors[n.Name.GetToken().Value] = t
	case *ast.AliasNode:
		return p.anchors[n.Value.GetToken().Value]
	case *ast.NullNode, *ast.CommentGroupNode:
	default:
		if at := n.GetToken(); at != nil {
			t.text = at.Value
		}
	}
	return t
}

func (p *planter) mapping(values []*ast.MappingValueNode, t tree, depth int) tree {
	t.mapping = true
	var merged []treeEntry
	for _, v := range values {
		value := p.tree(v.Value, depth+1)
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, value.entries...)
			for _, item := range value.items {
				merged = append(merged, item.entries...)
			}
			continue
		}
		if value.line == 0 {
			value.line = lineOf(v.Key)
		}
		t.entries = append(t.entries, treeEntry{v.Key.GetToken().Value, value})
	}
	if len(values) > 0 {
		t.line = lineOf(values[0].Key) // the parser's place is the colon
	}
	t.entries = append(t.entries, merged...) // what stands there itself comes first, and get finds it first
	return t
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}
