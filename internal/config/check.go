package config

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
)

// A spec is the table as a tree: what may stand at one place of a file.
type spec struct {
	name string // dotted
	key  *Key   // nil for a section
	kids map[string]*spec
	star *spec
}

// known is the table as a tree: read-only, made when first needed.
var known = sync.OnceValue(func() *spec { return newSpec(Table()) })

func newSpec(table []Key) *spec {
	root := &spec{}
	for i := range table {
		k := &table[i]
		at, parent := root, root
		for seg := range strings.SplitSeq(k.Name, ".") {
			parent, at = at, at.child(seg)
		}
		at.key = k
		for _, a := range k.Alias {
			parent.alias(a, at)
			if !strings.Contains(k.Name, "*") {
				root.alias(a, at)
			}
		}
	}
	return root
}

func (s *spec) child(seg string) *spec {
	name := seg
	if s.name != "" {
		name = s.name + "." + seg
	}
	if seg == "*" {
		if s.star == nil {
			s.star = &spec{name: name}
		}
		return s.star
	}
	if s.kids == nil {
		s.kids = map[string]*spec{}
	}
	f := Fold(seg)
	if s.kids[f] == nil {
		s.kids[f] = &spec{name: name}
	}
	return s.kids[f]
}

func (s *spec) alias(name string, to *spec) {
	if s.kids == nil {
		s.kids = map[string]*spec{}
	}
	if s.kids[Fold(name)] == nil {
		s.kids[Fold(name)] = to
	}
}

// A checker reads one file's tree against the table. What it returns has
// published names and only values of the right shape.
type checker struct {
	cc       bool // the file is another program's: what is unknown is not a mistake
	problems []Problem
	notUsed  []string
	unsafe   []string
}

func (c *checker) report(sev Severity, at Origin, key, message, found, expected string) {
	c.problems = append(c.problems, Problem{Severity: sev, Origin: at, Key: key, Message: message, Found: found, Expected: expected})
}

func (c *checker) root(n *node, s *spec) *node {
	out := &node{kind: '{', from: n.from}
	if n.kind != '{' {
		c.report(Error, n.from, "", "not settings", describe(n), "an object in braces")
		c.unsafe = append(c.unsafe, n.from.String()+": the file is not an object")
		return out
	}
	return c.section(n, s, out)
}

func (c *checker) section(n *node, s *spec, out *node) *node {
	for _, m := range n.members {
		if s.name == "" && m.name == "$schema" {
			continue
		}
		kid := s.kids[Fold(m.name)]
		if kid == nil {
			c.unknown(m, s)
			continue
		}
		if c.cc && kid.key != nil && kid.key.Name == "mcpServers" {
			c.problems = append(c.problems, Problem{Severity: Warning, Origin: m.from, Key: kid.name, Misplaced: true, Message: misplacedServers(m.from.Scope)})
		}
		if c.cc && !kid.shared() {
			c.notUsed = append(c.notUsed, join(s.name, m.name))
			continue
		}
		v := c.value(m.value, kid, kid.name)
		if v == nil {
			continue
		}
		// The path below this section; an alias may point elsewhere.
		rel, inside := strings.CutPrefix(kid.name, join(s.name, ""))
		if s.name == "" {
			rel, inside = kid.name, true
		}
		if !inside {
			continue
		}
		if old := out.at(rel); old != nil { // two spellings of one key
			c.report(Warning, m.from, kid.name, "given twice under two spellings", "", "")
			v = stack(old, v)
		}
		out = out.set(rel, v)
	}
	return out
}

// shared reports whether Claude Code's files mean the same by this place.
func (s *spec) shared() bool {
	if s.key != nil {
		return s.key.CC
	}
	for _, k := range s.kids {
		if k.shared() {
			return true
		}
	}
	return false
}

// misplacedServers says where MCP servers belong that stand in a settings file of
// Claude Code, where that program does not read them either
// (code.claude.com/docs/en/mcp, "MCP installation scopes").
func misplacedServers(s Scope) string {
	to := "~/.claude.json, or have adze mcp add write them"
	switch s {
	case Project:
		to = ".mcp.json in the folder that holds .claude"
	case Local:
		to = "~/.claude.json, below projects, or have adze mcp add --scope local write them"
	case Managed:
		to = "managed-mcp.json beside the file"
	case Default, User, Settings, Flag, EnvVar:
	}
	return "no program reads MCP servers from this file, and these are not started: move them to " + to
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *checker) unknown(m member, s *spec) {
	near := suggestion(m.name, s)
	if near == "permissions" || s.name == "permissions" && (near == "deny" || near == "ask") {
		c.unsafe = append(c.unsafe, fmt.Sprintf("%s: %q looks like %q misspelt", m.from, m.name, near))
	}
	if c.cc {
		c.notUsed = append(c.notUsed, join(s.name, m.name))
		return
	}
	c.problems = append(c.problems, Problem{Severity: Warning, Origin: m.from, Key: join(s.name, m.name),
		Message: "not a setting this version knows; it is kept in the file and not used", Nearest: near})
}

// value returns the node with what is wrong left out, nil if nothing is left.
func (c *checker) value(n *node, s *spec, path string) *node {
	if n.kind == 'n' {
		return n
	}
	if s.key == nil { // a section
		if n.kind == '{' {
			return c.section(n, s, &node{kind: '{', from: n.from})
		}
		c.bad(n, path, "an object in braces")
		return nil
	}
	switch s.key.Kind {
	case Strings:
		return c.strings(n, *s.key, path)
	case StringMap, Bools, Objects:
		return c.entries(n, s, path)
	case Object:
		if n.kind != '{' {
			c.bad(n, path, "an object in braces")
			return nil
		}
	case List:
		if n.kind != '[' {
			c.bad(n, path, "a list in brackets")
			return nil
		}
	case Anything:
	case String, Int, Number, Bool, Tokens, Portion, Space, Level, Off:
		if want := scalar(n, *s.key); want != "" {
			c.bad(n, path, want)
			return nil
		}
	}
	return n
}

// bad reports a value that is not used. A prohibition that cannot be read
// makes everything ask.
func (c *checker) bad(n *node, path, want string) {
	c.report(Error, n.from, path, "value not used", describe(n), want)
	if forbids(path) {
		c.unsafe = append(c.unsafe, fmt.Sprintf("%s: %s could not be read", n.from, path))
	}
}

// forbids reports whether a key, one below it or one above it forbids something.
func forbids(path string) bool {
	return slices.ContainsFunc(Table(), func(k Key) bool {
		return k.Forbids && (k.Name == path || strings.HasPrefix(k.Name, path+".") || strings.HasPrefix(path, k.Name+"."))
	})
}

// unescaped is a text of JSON whose escapes of the form \u0061 are what they stand for.
func unescaped(text []byte) []byte {
	var out []byte
	for {
		before, rest, found := bytes.Cut(text, []byte(`\u`))
		out = append(out, before...)
		if !found {
			return out
		}
		n, err := strconv.ParseUint(string(rest[:min(4, len(rest))]), 16, 16)
		if text = rest; err == nil {
			out, text = utf8.AppendRune(out, rune(n)), rest[min(4, len(rest)):]
		}
	}
}

// mayForbid reports whether a text that could not be read has the names of a key that
// forbids something, in any spelling of these; of hooks only those that can refuse calls.
func mayForbid(text []byte) bool {
	folded := Fold(string(text))
	return slices.ContainsFunc(Table(), func(k Key) bool {
		if !k.Forbids || k.Name == "hooks" {
			return false
		}
		return !slices.ContainsFunc(strings.Split(k.Name, "."), func(name string) bool { return !strings.Contains(folded, Fold(name)) }) ||
			slices.ContainsFunc(k.Alias, func(name string) bool { return strings.Contains(folded, Fold(name)) })
	})
}

func (c *checker) strings(n *node, k Key, path string) *node {
	elem, list, one := filled, "a list of strings", "a string that is not empty"
	if k.Max > 0 {
		elem, list, one = k.numeral, "a list of numbers", fmt.Sprintf("a whole number from %s to %s", plain(k.Min), plain(k.Max))
	}
	elems := n.elems
	switch {
	case n.kind == '[':
	case n.kind == '"' || n.kind == '0' && k.Max > 0:
		c.report(Warning, n.from, path, "taken as a list of one", describe(n), list)
		elems = []*node{n}
	default:
		c.bad(n, path, list)
		return nil
	}
	out := &node{kind: '[', from: n.from}
	for _, e := range elems {
		if v := elem(e); v != nil {
			out.elems = append(out.elems, v)
			continue
		}
		c.bad(e, path, one)
	}
	return out
}

// filled is an element of a list of strings; nil when it is none.
func filled(e *node) *node {
	if e.kind == '"' && strings.TrimSpace(e.text) != "" {
		return e
	}
	return nil
}

// numeral is an element of a list of strings that are numbers from Min to Max, written
// as a number or as a string; nil when it is none.
func (k Key) numeral(e *node) *node {
	n, err := strconv.Atoi(literal(e))
	if e.kind != '"' && e.kind != '0' || err != nil || float64(n) < k.Min || float64(n) > k.Max {
		return nil
	}
	s := strconv.Itoa(n)
	return &node{kind: '"', text: s, raw: []byte(strconv.Quote(s)), from: e.from}
}

func (c *checker) entries(n *node, s *spec, path string) *node {
	if n.kind != '{' {
		c.bad(n, path, "an object in braces")
		return nil
	}
	out := &node{kind: '{', from: n.from, members: make([]member, 0, len(n.members))}
	for _, m := range n.members {
		v := m.value
		at := join(path, m.name)
		switch {
		case v.kind == 'n':
		case s.key.Kind == StringMap && (v.kind == '0' || v.kind == 't'):
			raw, _ := fastjson.Append(nil, string(v.raw))
			v = &node{kind: '"', text: string(v.raw), raw: raw, from: v.from}
		case s.key.Kind == StringMap && v.kind != '"':
			c.bad(v, at, "a string")
			continue
		case s.key.Kind == Bools && v.kind != 't':
			c.bad(v, at, "true or false")
			continue
		case s.key.Kind == Objects && v.kind != '{':
			c.bad(v, at, "an object in braces")
			continue
		case s.key.Kind == Objects && s.star != nil:
			v = c.starred(v, s.star, at)
		}
		out.members = append(out.members, member{m.name, m.from, v})
	}
	return out
}

// starred checks one object of a map by the keys below "*".
func (c *checker) starred(n *node, s *spec, path string) *node {
	out := &node{kind: '{', from: n.from}
	for _, m := range n.members {
		kid := s.kids[Fold(m.name)]
		if kid == nil {
			c.problems = append(c.problems, Problem{Severity: Warning, Origin: m.from, Key: join(path, m.name),
				Message: "not a setting this version knows; it is kept in the file and not used", Nearest: suggestion(m.name, s)})
			continue
		}
		name := kid.name[strings.LastIndexByte(kid.name, '.')+1:]
		if v := c.value(m.value, kid, join(path, name)); v != nil {
			out = out.with(member{name, m.from, v})
		}
	}
	return out
}

// scalar says what a key expects when the value is something else.
func scalar(n *node, k Key) string {
	switch k.Kind {
	case String:
		return text(n, k)
	case Bool:
		if n.kind != 't' {
			return "true or false"
		}
	case Off:
		if n.kind != 't' && n.text != "disable" {
			return `true, false or "disable"`
		}
	case Int, Number:
		return number(n, k)
	case Tokens:
		_, ok := parseCount(literal(n))
		return amount(n, ok, `a number of tokens, such as 500000 or "500k"`)
	case Portion:
		_, ok := parseShare(literal(n))
		return amount(n, ok, `a number of tokens or a percentage, such as "10%"`)
	case Space:
		a, ok := parseAmount(literal(n))
		ok = ok && (a.Percent > 0 || a.Bytes == 0 || float64(a.Bytes) >= k.Min)
		return amount(n, ok, fmt.Sprintf(`an amount of memory, such as "4GB" or "75%%", at least %s, or 0`, clip.Size(int64(k.Min))))
	case Level:
		_, isNumber := parseCount(literal(n))
		if n.kind == '0' && isNumber || n.kind == '"' && (isNumber || slices.Contains(k.Enum, n.text)) {
			return ""
		}
		return oneOf(k.Enum) + ", or a number of tokens"
	case Strings, StringMap, Bools, Objects, Object, List, Anything:
	}
	return ""
}

// text is scalar of a string, which may be one of a few only.
func text(n *node, k Key) string {
	switch {
	case len(k.Enum) > 0 && (n.kind != '"' || !slices.Contains(k.Enum, n.text)):
		return oneOf(k.Enum)
	case n.kind != '"':
		return "a string"
	}
	return ""
}

// amount is scalar of a number that people may write with a unit, which parses or not.
func amount(n *node, parses bool, want string) string {
	if parses && (n.kind == '0' || n.kind == '"') {
		return ""
	}
	return want
}

func number(n *node, k Key) string {
	want := "a number"
	if k.Kind == Int {
		want = "a whole number"
	}
	switch {
	case k.Max > 0:
		want += fmt.Sprintf(" from %s to %s", plain(k.Min), plain(k.Max))
	case k.Min > 0:
		want += ", at least " + plain(k.Min)
	default:
		want += ", 0 or more"
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if n.kind != '0' || err != nil || f < k.Min || k.Max > 0 && f > k.Max || f > 1e15 || f == 0 && !zero(n.raw) {
		return want
	}
	if _, err := strconv.Atoi(string(n.raw)); k.Kind == Int && err != nil {
		return want
	}
	return ""
}

// zero reports whether a number is written as 0: not one so small that it only reads as
// 0, which is no limit where a limit is set.
func zero(raw []byte) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	return strings.Trim(mantissa, "0.") == ""
}

func literal(n *node) string {
	if n.kind == '"' {
		return n.text
	}
	return string(n.raw)
}

func oneOf(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	if len(q) == 1 {
		return q[0]
	}
	return strings.Join(q[:len(q)-1], ", ") + " or " + q[len(q)-1]
}

// describe names a value for a person, short.
func describe(n *node) string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the string " + clip.Line(clip.Visible(string(n.raw)), 60)
	case '0':
		return "the number " + clip.Line(string(n.raw), 30)
	case 'n':
		return "null"
	}
	return string(n.raw)
}

// suggestion returns the known name at this place that is spelled almost like
// the given one, or a key elsewhere of that very name; "" when none is near.
func suggestion(name string, s *spec) string {
	f := Fold(name)
	best, bestAt := "", min(3, 1+len(f)/4)+1
	for fold, kid := range s.kids {
		last := kid.name[strings.LastIndexByte(kid.name, '.')+1:]
		if d := near.Distance(f, fold); d < bestAt || d == bestAt && last < best {
			best, bestAt = last, d
		}
	}
	return best
}
