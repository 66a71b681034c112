package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// maxDepth bounds nesting: the parser and everything after it recurse.
const maxDepth = 100

// A node is a JSON value that knows where it stands. Nodes are never changed
// after they are made, so layers may share them.
type node struct {
	kind    byte // '{' '[' '"' '0' 't' (both booleans) 'n'
	text    string
	raw     []byte // of a scalar: standard JSON
	members []member
	elems   []*node
	from    Origin
}

type member struct {
	name  string
	from  Origin
	value *node
}

func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// at follows a dotted path of plain names.
func (n *node) at(path string) *node {
	for seg := range strings.SplitSeq(path, ".") {
		n = n.get(seg)
	}
	return n
}

// with returns n with a member set, at its old place or at the end; a nil
// value removes it.
func (n *node) with(m member) *node {
	out := *n
	out.members = make([]member, 0, len(n.members)+1)
	done := false
	for _, old := range n.members {
		if old.name != m.name {
			out.members = append(out.members, old)
			continue
		}
		if !done && m.value != nil {
			out.members = append(out.members, m)
		}
		done = true
	}
	if !done && m.value != nil {
		out.members = append(out.members, m)
	}
	return &out
}

// set puts a value at a dotted path.
func (n *node) set(path string, v *node) *node {
	if n == nil || n.kind != '{' {
		n = &node{kind: '{', from: v.from}
	}
	seg, rest, more := strings.Cut(path, ".")
	if more {
		v = n.get(seg).set(rest, v)
	}
	return n.with(member{seg, v.from, v})
}

// json writes the value as standard JSON.
func (n *node) json() []byte { return n.append(nil) }

func (n *node) append(b []byte) []byte {
	switch {
	case n == nil:
		return append(b, "null"...)
	case n.kind == '{':
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			name, _ := fastjson.Append(nil, m.name)
			b = append(append(b, name...), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	case n.kind == '[':
		b = append(b, '[')
		for i, e := range n.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.append(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}

// fromGo makes a node of a plain Go value.
func fromGo(v any, from Origin) (*node, error) {
	b, err := fastjson.Append(nil, v)
	if err != nil {
		return nil, err
	}
	n, _, err := parse(b, from)
	if err != nil {
		return nil, err
	}
	return n.stamp(from), nil
}

// stamp gives the whole tree one origin.
func (n *node) stamp(o Origin) *node {
	out := *n
	out.from = o
	out.members, out.elems = nil, nil
	for _, m := range n.members {
		out.members = append(out.members, member{m.name, o, m.value.stamp(o)})
	}
	for _, e := range n.elems {
		out.elems = append(out.elems, e.stamp(o))
	}
	return &out
}

// A syntaxError is a file that is not JSON with comments.
type syntaxError struct {
	line, column int
	why          string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.why)
}

var hujsonError = pattern.Lazy(`^hujson: line (\d+), column (\d+): `)

var (
	errNUL   = errors.New("the file holds NUL bytes")
	errEmpty = errors.New("the file is empty; remove it, or write {}, where nothing is to be set")
)

// parse reads JSON with comments and trailing commas. Names given twice in
// one object are reported; the later one wins, objects are merged.
func parse(text []byte, base Origin) (*node, []Problem, error) {
	b := newBuilder(text, base)
	v, err := b.value()
	if err != nil {
		return nil, nil, err
	}
	return b.build(v), b.problems, nil
}

// newBuilder prepares a text for reading.
func newBuilder(text []byte, base Origin) *builder {
	b := &builder{text: bytes.TrimPrefix(text, []byte("\ufeff")), base: base}
	for i, c := range b.text {
		if c == '\n' {
			b.lines = append(b.lines, i+1)
		}
	}
	return b
}

// value parses the text.
func (b *builder) value() (hujson.Value, error) {
	if at, deep := tooDeep(b.text); deep {
		line, col := place(b.text, at)
		return hujson.Value{}, &syntaxError{line, col, fmt.Sprintf("nested more than %d deep", maxDepth)}
	}
	text := Ended(b.text)
	if b.base.Scope != Managed && commented(text) { // nothing yet; an administrator's file that says nothing was cut
		text = append(bytes.Clone(text), "{}"...)
	}
	v, err := hujson.Parse(text)
	if err != nil {
		se := &syntaxError{1, 1, err.Error()}
		if m := hujsonError().FindStringSubmatch(se.why); m != nil {
			se.line, _ = strconv.Atoi(m[1])
			se.column, _ = strconv.Atoi(m[2])
			se.why = strings.TrimPrefix(se.why, m[0])
		}
		if strings.HasSuffix(se.why, io.ErrUnexpectedEOF.Error()) {
			se.why = "it ends before it is complete"
		}
		return v, se
	}
	return v, nil
}

// tooDeep looks for more than maxDepth open brackets, outside strings and
// comments, before a recursive parser sees the text.
func tooDeep(b []byte) (int, bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			if j, ok := skipComment(b, i); ok {
				i = j - 1
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// commented reports a text that is nothing but comments.
func commented(b []byte) bool {
	found := false
	for i := 0; i < len(b); i++ {
		if b[i] == '/' {
			j, ok := skipComment(b, i)
			if !ok || b[i+1] == '*' && !bytes.HasSuffix(b[:j], []byte("*/")) {
				return false
			}
			i, found = j-1, true
		} else if !bytes.ContainsRune([]byte(" \t\r\n"), rune(b[i])) {
			return false
		}
	}
	return found
}

// Ended is a text of JSON with a line feed behind a comment that ends it: the parser takes
// one without for cut off.
func Ended(b []byte) []byte {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			j, ok := skipComment(b, i)
			if ok && j == len(b) && b[i+1] == '/' && b[j-1] != '\n' {
				return append(bytes.Clone(b), '\n')
			}
			if ok {
				i = j - 1
			}
		}
	}
	return b
}

// skipComment returns the index after a comment that starts at i.
func skipComment(b []byte, i int) (int, bool) {
	if i+1 >= len(b) {
		return i, false
	}
	var end []byte
	switch b[i+1] {
	case '/':
		end = []byte("\n")
	case '*':
		end = []byte("*/")
	default:
		return i, false
	}
	j := bytes.Index(b[i+2:], end)
	if j < 0 {
		return len(b), true
	}
	return i + 2 + j + len(end), true
}

func place(b []byte, at int) (line, column int) {
	start := bytes.LastIndexByte(b[:at], '\n') + 1
	return 1 + bytes.Count(b[:at], []byte("\n")), 1 + utf8.RuneCount(b[start:at])
}

type builder struct {
	text     []byte
	lines    []int // offsets at which lines after the first start
	base     Origin
	problems []Problem
}

func (b *builder) origin(at int) Origin {
	o := b.base
	if o.File == "" {
		return o
	}
	i := sort.SearchInts(b.lines, at+1)
	start := 0
	if i > 0 {
		start = b.lines[i-1]
	}
	o.Line, o.Column = i+1, 1+at-start
	if at-start < 4096 { // characters; on a line longer than that, bytes
		o.Column = 1 + utf8.RuneCount(b.text[start:at])
	}
	return o
}

func (b *builder) build(v hujson.Value) *node {
	n := &node{from: b.origin(v.StartOffset)}
	switch x := v.Value.(type) {
	case *hujson.Object:
		n.kind = '{'
		b.members(n, x.Members)
	case *hujson.Array:
		n.kind = '['
		for _, e := range x.Elements {
			n.elems = append(n.elems, b.build(e))
		}
	case hujson.Literal:
		n.kind = byte(x.Kind())
		n.raw = bytes.Clone(x)
		switch n.kind {
		case 'f':
			n.kind = 't'
		case '"':
			n.text = x.String()
			n.raw, _ = fastjson.Append(nil, n.text)
		}
	}
	return n
}

func (b *builder) members(n *node, from []hujson.ObjectMember) {
	seen := make(map[string]int, len(from))
	for _, m := range from {
		name := literalString(m.Name.Value)
		at := b.origin(m.Name.StartOffset)
		val := b.build(m.Value)
		i, twice := seen[name]
		if !twice {
			seen[name] = len(n.members)
			n.members = append(n.members, member{name, at, val})
			continue
		}
		b.problems = append(b.problems, Problem{Severity: Warning, Origin: at, Key: name,
			Message: "given twice in one object; lists and objects are united, else the last one counts"})
		if old := n.members[i].value; val.kind == 'n' && (old.kind == '{' || old.kind == '[') {
			continue // what a file forbids, a null in the same file does not lift
		}
		n.members[i] = member{name, at, stack(n.members[i].value, val)}
	}
}

func literalString(v hujson.ValueTrimmed) string {
	l, _ := v.(hujson.Literal)
	return l.String()
}

// salvageRules reads the strings of "deny" and "ask" lists out of a text that
// does not parse, so that a slip of the keyboard never lifts a prohibition.
func salvageRules(text []byte, base Origin) *node {
	b := builder{text: text, base: base}
	for i, c := range text {
		if c == '\n' {
			b.lines = append(b.lines, i+1)
		}
	}
	perms := &node{kind: '{', from: base}
	for _, name := range []string{"deny", "ask"} {
		list := &node{kind: '[', from: base}
		for rest, off := text, 0; ; {
			i := bytes.Index(rest, []byte(`"`+name+`"`))
			if i < 0 {
				break
			}
			off += i + len(name) + 2
			rest = text[off:]
			list.elems = append(list.elems, b.strings(off)...)
		}
		if len(list.elems) > 0 {
			perms = perms.with(member{name, base, list})
		}
	}
	if len(perms.members) == 0 {
		return nil
	}
	return (&node{kind: '{', from: base}).with(member{"permissions", base, perms})
}

// strings reads `: [ "a", "b"` from an offset and stops at the first thing
// that does not belong there.
func (b *builder) strings(at int) []*node {
	var out []*node
	opened := false
	for i := at; i < len(b.text); i++ {
		switch c := b.text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':':
		case c == '[' && !opened:
			opened = true
		case c == '/':
			j, ok := skipComment(b.text, i)
			if !ok {
				return out
			}
			i = j - 1
		case c == '"' && opened:
			j := i + 1
			for j < len(b.text) && b.text[j] != '"' && b.text[j] != '\n' {
				if b.text[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(b.text) || b.text[j] != '"' {
				return out
			}
			var s string
			if json.Unmarshal(b.text[i:j+1], &s) != nil {
				return out
			}
			raw, _ := fastjson.Append(nil, s)
			out = append(out, &node{kind: '"', text: s, raw: raw, from: b.origin(i)})
			i = j
		default:
			return out
		}
	}
	return out
}

// Depth says where a text is nested too deeply for a recursive parser.
func Depth(text []byte) (line int, err error) {
	at, deep := tooDeep(text)
	if !deep {
		return 0, nil
	}
	line, col := place(text, at)
	return line, &syntaxError{line, col, fmt.Sprintf("nested more than %d deep", maxDepth)}
}
