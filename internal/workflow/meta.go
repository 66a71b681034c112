// Package workflow runs scripts of JavaScript that have agents work: in parallel, one
// after the other, as often as the script says. The format is one that others have, too
// (docs/workflows.md). A script reaches nothing but agents; it is deterministic, so that
// a run can go on where an earlier one ended. What an agent is, and where it runs, is the
// business of whoever starts a run (Config.Agent).
package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Meta is what a script says of itself.
type Meta struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	WhenToUse   string  `json:"whenToUse,omitempty"`
	Phases      []Phase `json:"phases,omitempty"`
}

// A Phase is a part of a run. It only labels.
type Phase struct {
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Model  string `json:"model,omitempty"`
}

// A Script is a workflow that was read.
type Script struct {
	Meta
	Source string
	File   string // it was read from, "" for none
	body   string // what runs, with the lines where they are in Source
}

// Bounds of a script.
const (
	MaxSource = 512 << 10 // bytes
	maxDepth  = 20        // of lists and objects within each other in meta
	maxName   = 64
	maxText   = 2000
	maxPhases = 50
)

// Read reads a script: its meta, and that it imports nothing. It runs nothing of it.
// The error is a *SyntaxError.
func Read(source string) (Script, error) {
	s := Script{Source: source}
	switch {
	case len(source) > MaxSource:
		return s, &SyntaxError{1, 1, fmt.Sprintf("the script has %d bytes; at most %d", len(source), MaxSource)}
	case !utf8.ValidString(source):
		return s, &SyntaxError{1, 1, "the script is no text in UTF-8"}
	}
	r := reader{scanner: scanner{src: source}}
	raw, from, err := r.meta()
	if err != nil {
		return s, err
	}
	if err := fastjson.Unmarshal(raw, &s.Meta); err != nil {
		return s, wrongAt(source, from, "meta: %s", fastjson.InWords(err))
	}
	if err := s.Meta.check(); err != nil {
		return s, wrongAt(source, from, "meta: %s", err)
	}
	if err := r.rest(); err != nil {
		return s, err
	}
	s.body = source[:from] + strings.Repeat(" ", len("export")) + source[from+len("export"):]
	return s, nil
}

func (m Meta) check() error {
	switch {
	case m.Name == "":
		return errors.New("it has no name")
	case !Named(m.Name):
		return fmt.Errorf("the name %q is not made of letters, digits, - and _, with 1 to %d characters", m.Name, maxName)
	case strings.TrimSpace(m.Description) == "":
		return errors.New("it has no description")
	case len(m.Description) > maxText || len(m.WhenToUse) > maxText:
		return fmt.Errorf("description and whenToUse have at most %d bytes", maxText)
	case len(m.Phases) > maxPhases:
		return fmt.Errorf("it has %d phases; at most %d", len(m.Phases), maxPhases)
	}
	for _, p := range m.Phases {
		if strings.TrimSpace(p.Title) == "" {
			return errors.New("a phase has no title")
		}
	}
	return nil
}

// Named reports whether a text can be the name of a workflow.
func Named(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// A reader reads the meta of a script.
type reader struct {
	scanner
	tok token
}

func (r *reader) fail(format string, args ...any) error {
	return wrongAt(r.src, r.tok.at, format, args...)
}

// meta is the literal as JSON, and where its statement begins.
func (r *reader) meta() (raw json.RawMessage, from int, err error) {
	const must = "a script begins with: export const meta = {name: '…', description: '…'}"
	for i, want := range []string{"export", "const", "meta", "="} {
		if r.tok = r.next(); r.tok.s != want {
			return nil, 0, r.fail(must)
		}
		if i == 0 {
			from = r.tok.at
		}
	}
	if r.tok = r.next(); r.tok.s != "{" {
		return nil, from, r.fail(must)
	}
	raw, err = r.literal(0)
	return raw, from, err
}

// literal is the value that the current token begins, as JSON.
func (r *reader) literal(depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, r.fail("meta has more than %d levels", maxDepth)
	}
	switch t := r.tok; {
	case t.kind == text:
		s, ok := unquote(t.s)
		if !ok {
			return nil, r.fail("this text cannot be read")
		}
		return json.Marshal(s)
	case t.s == "true", t.s == "false", t.s == "null":
		return json.RawMessage(t.s), nil
	case t.kind == other, t.s == "-":
		return r.number(t)
	case t.s == "[":
		return r.list("]", depth, nil)
	case t.s == "{":
		return r.list("}", depth, r.key)
	}
	return nil, r.fail("meta is a plain literal: texts, numbers, true, false, null, lists and objects, and nothing to be computed")
}

func (r *reader) number(t token) (json.RawMessage, error) {
	sign := ""
	if t.s == "-" {
		sign, r.tok = "-", r.next()
		t = r.tok
	}
	plain := strings.ReplaceAll(t.s, "_", "")
	f, err := strconv.ParseFloat(plain, 64)
	if n, ierr := strconv.ParseInt(plain, 0, 64); ierr == nil {
		f, err = float64(n), nil
	}
	if t.kind != other || err != nil {
		return nil, r.fail("meta is a plain literal, and this is no number")
	}
	out, err := json.Marshal(f)
	return json.RawMessage(sign + string(out)), err
}

// list reads what stands between brackets, each with what key reads before it.
func (r *reader) list(closing string, depth int, key func() (string, error)) (json.RawMessage, error) {
	opening := r.tok.s
	var items []string
	for r.tok = r.next(); r.tok.s != closing || r.tok.kind != mark; r.tok = r.next() {
		name := ""
		if key != nil {
			k, err := key()
			if err != nil {
				return nil, err
			}
			name = k + ":"
		}
		v, err := r.literal(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, name+string(v))
		if r.tok = r.next(); r.tok.s == closing && r.tok.kind == mark {
			break
		}
		if r.tok.s != "," {
			return nil, r.fail("meta is a plain literal: here a comma or %s has to stand", closing)
		}
	}
	return json.RawMessage(opening + strings.Join(items, ",") + closing), nil
}

// key reads the name of a field with its colon.
func (r *reader) key() (string, error) {
	name := r.tok.s
	switch r.tok.kind {
	case word, other:
	case text:
		s, ok := unquote(name)
		if !ok || name[0] == '`' {
			return "", r.fail("this name of a field cannot be read")
		}
		name = s
	default:
		return "", r.fail("meta is a plain literal: here the name of a field has to stand")
	}
	if name == "__proto__" {
		return "", r.fail("meta is a plain literal, and has no prototype")
	}
	if r.tok = r.next(); r.tok.s != ":" {
		return "", r.fail("meta is a plain literal: after the name of a field a colon has to stand")
	}
	r.tok = r.next()
	out, err := json.Marshal(name)
	return string(out), err
}

// unquote is the value of a string, or of a template with nothing to be put in.
func unquote(s string) (out string, ok bool) {
	s = s[1 : len(s)-1]
	var b strings.Builder
	for len(s) > 0 {
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if len(s) < 2 {
			return "", false
		}
		c := s[1]
		switch c {
		case '\n':
			s = s[2:]
			continue
		case 'u', 'x', '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			if n, ok = escaped(&b, s); !ok {
				return "", false
			}
			s = s[n:]
			continue
		case 'n', 't', 'r', 'b', 'f', 'v':
			c = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}[c]
		}
		b.WriteByte(c)
		s = s[2:]
	}
	return b.String(), utf8.ValidString(b.String())
}

// escaped writes the character that s begins with as \xHH, \uHHHH or \u{H…}, and returns
// how many bytes that takes.
func escaped(b *strings.Builder, s string) (n int, ok bool) {
	from, to := 2, 4
	switch {
	case s[1] == 'x':
	case s[1] != 'u': // no zero and nothing octal: a text for people has none
		return 0, false
	case strings.HasPrefix(s[2:], "{"):
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return 0, false
		}
		c, err := strconv.ParseUint(s[3:end], 16, 32)
		b.WriteRune(rune(c))
		return end + 1, err == nil && c > 0 && c <= utf8.MaxRune
	default:
		to = 6
	}
	if len(s) < to {
		return 0, false
	}
	c, err := strconv.ParseUint(s[from:to], 16, 32)
	if err != nil || c == 0 {
		return 0, false
	}
	if c >= 0xd800 && c < 0xdc00 && len(s) >= 12 && s[6:8] == `\u` { // two halves of one character
		low, err := strconv.ParseUint(s[8:12], 16, 32)
		b.WriteRune(rune(0x10000 + (c-0xd800)<<10 + (low - 0xdc00)))
		return 12, err == nil && low >= 0xdc00 && low < 0xe000
	}
	b.WriteRune(rune(c))
	return to, true
}

// rest reports what a script cannot have behind its meta.
func (r *reader) rest() error {
	before := token{}
	for {
		t := r.next()
		if t.kind == end {
			return nil
		}
		after := r.scanner
		peek := after.next()
		name := before.s == "." || peek.s == ":" && peek.kind == mark
		switch r.tok = t; {
		case t.kind == word && t.s == "import" && !name:
			return r.fail("a script imports nothing: agents do what needs files, programs or the network")
		case t.kind == word && t.s == "require" && !name && peek.s == "(":
			return r.fail("there is no require: agents do what needs files, programs or the network")
		case t.kind == word && t.s == "export" && !name:
			return r.fail("a script exports only its meta; it ends with return")
		}
		before = t
	}
}
