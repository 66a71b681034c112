package keymap

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Problem is something in keybindings.json that does not count, or (Warning)
// that counts and is worth a look.
type Problem struct {
	Line, Column int // from 1
	What         string
	Warning      bool
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.What)
}

// maxFile bounds keybindings.json, in bytes.
const maxFile = 1 << 20

// Load lays the bindings of a keybindings.json over the defaults. The file is
// JSON with comments and trailing commas:
//
//	{"bindings": [{"context": "Chat", "bindings": {"ctrl+e": "chat:externalEditor", "ctrl+s": null}}]}
//
// null takes a default away. What is wrong does not count and is reported; the
// rest counts. Load never returns a nil map.
func Load(text []byte, t Terminal) (*Map, []Problem) {
	base := defaults(t)
	if len(text) > maxFile {
		return build(base), []Problem{{1, 1, "the file is larger than 1 MB", false}}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if line, err := config.Depth(text); err != nil {
		return build(base), []Problem{{max(line, 1), 1, "nested too deeply", false}}
	}
	v, err := hujson.Parse(config.Ended(text))
	if err != nil {
		return build(base), []Problem{syntaxProblem(err)}
	}
	l := loader{text: text, list: base, first: map[string]int{}}
	l.file(v)
	l.shadows()
	order.By(l.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return build(l.list), l.problems
}

var hujsonPlace = pattern.Lazy(`^hujson: line (\d+), column (\d+): `)

func syntaxProblem(err error) Problem {
	p := Problem{Line: 1, Column: 1, What: err.Error()}
	if m := hujsonPlace().FindStringSubmatch(p.What); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Column, _ = strconv.Atoi(m[2])
		p.What = strings.TrimPrefix(p.What, m[0])
	}
	return p
}

type loader struct {
	text     []byte
	list     []Binding
	first    map[string]int // context and keys of the file → line
	added    []placed
	problems []Problem
}

type placed struct {
	Binding
	at int
}

func (l *loader) place(at int) (line, column int) {
	start := bytes.LastIndexByte(l.text[:at], '\n') + 1
	return 1 + bytes.Count(l.text[:at], []byte("\n")), 1 + utf8.RuneCount(l.text[start:at])
}

func (l *loader) say(at int, warning bool, format string, args ...any) {
	line, col := l.place(at)
	l.problems = append(l.problems, Problem{line, col, fmt.Sprintf(format, args...), warning})
}

// str is a string value; a literal of another kind is none.
func str(v hujson.Value) (string, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", false
	}
	return lit.String(), true
}

func (l *loader) file(v hujson.Value) {
	top, ok := v.Value.(*hujson.Object)
	if !ok {
		l.say(v.StartOffset, false, `expected an object with "bindings"`)
		return
	}
	for _, m := range top.Members {
		switch name, _ := str(m.Name); name {
		case "$schema", "$docs":
		case "bindings":
			blocks, ok := m.Value.Value.(*hujson.Array)
			if !ok {
				l.say(m.Value.StartOffset, false, `"bindings" must be a list of {"context", "bindings"}`)
				continue
			}
			for _, b := range blocks.Elements {
				l.block(b)
			}
		default:
			l.say(m.Name.StartOffset, false, "unknown field %q%s", name, near.Hint(name, []string{"bindings"}))
		}
	}
}

func (l *loader) block(v hujson.Value) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		l.say(v.StartOffset, false, `expected an object with "context" and "bindings"`)
		return
	}
	var in Context
	var keys *hujson.Object
	bad := false
	for _, m := range o.Members {
		switch name, _ := str(m.Name); name {
		case "context":
			s, _ := str(m.Value)
			in = Context(s)
			if !slices.Contains(contexts(), s) {
				l.say(m.Value.StartOffset, false, "unknown context %s%s", show(m.Value), near.Hint(s, contexts()))
				bad = true
			}
		case "bindings":
			if keys, ok = m.Value.Value.(*hujson.Object); !ok {
				l.say(m.Value.StartOffset, false, `"bindings" must be an object from keys to actions`)
				bad = true
			}
		default:
			l.say(m.Name.StartOffset, false, "unknown field %q%s", name, near.Hint(name, []string{"context", "bindings"}))
		}
	}
	switch {
	case bad:
	case in == "":
		l.say(v.StartOffset, false, `"context" is missing`)
	case keys == nil:
		l.say(v.StartOffset, false, `"bindings" is missing`)
	default:
		for _, m := range keys.Members {
			l.binding(in, m)
		}
	}
}

// show is a value as the file has it, in one short line.
func show(v hujson.Value) string {
	s := []rune(strings.Join(strings.Fields(string(v.Pack())), " "))
	if len(s) > 40 {
		s = append(s[:40], '…')
	}
	return string(s)
}

func (l *loader) binding(in Context, m hujson.ObjectMember) {
	at := m.Name.StartOffset
	name, _ := str(m.Name)
	keys, err := Parse(name)
	if err != nil {
		l.say(at, false, "%s", err)
		return
	}
	if why := refused(in, keys); why != "" {
		l.say(at, false, "%s", why)
		return
	}
	id := string(in) + " " + Name(keys)
	line, _ := l.place(at)
	if before, twice := l.first[id]; twice {
		l.say(at, true, "%s is bound in %s a second time (first in line %d); this one counts", Name(keys), in, before)
	}
	l.first[id] = line
	drop := func(b Binding) bool { return b.Context == in && Name(b.Keys) == Name(keys) }
	if lit, ok := m.Value.Value.(hujson.Literal); ok && lit.Kind() == 'n' {
		if !slices.ContainsFunc(l.list, drop) {
			l.say(at, true, "%s is not bound in %s", Name(keys), in)
		}
		l.list = slices.DeleteFunc(l.list, drop)
		l.added = slices.DeleteFunc(l.added, func(p placed) bool { return drop(p.Binding) })
		return
	}
	act, ok := str(m.Value)
	if !ok {
		l.say(m.Value.StartOffset, false, "expected an action or null, not %s", show(m.Value))
		return
	}
	if !slices.Contains(actions(), act) {
		l.say(m.Value.StartOffset, false, "unknown action %q%s", act, nearAction(act))
		return
	}
	l.list = slices.DeleteFunc(l.list, drop)
	b := Binding{in, keys, Action(act), true}
	l.list = append(l.list, b)
	l.added = append(l.added, placed{b, at})
	if why := doubtful(keys); why != "" {
		l.say(at, true, "%s", why)
	}
}

// refused says why a chord cannot be bound, or "".
func refused(in Context, keys []Key) string {
	for _, k := range keys {
		if k.Mod == Ctrl && (k.Name == "c" || k.Name == "d") {
			return fmt.Sprintf("%s is reserved: it must always interrupt and quit", k)
		}
	}
	typing := in == Chat || in == Edit || in == Autocomplete || in == Global || in == HistorySearch || in == Task || in == Select
	if typing && keys[0].Types() {
		return fmt.Sprintf("%s types text in %s and cannot be bound there; use ctrl or alt with it", keys[0], in)
	}
	return ""
}

// doubtful says what many terminals do with a key, or "".
func doubtful(keys []Key) string {
	for _, k := range keys {
		switch same := map[string]string{"i": "tab", "m": "enter", "[": "esc"}[k.Name]; {
		case k.Mod == Ctrl && same != "":
			return fmt.Sprintf("many terminals send %s as %s", k, same)
		case k.Mod&Super != 0:
			return fmt.Sprintf("many terminals keep %s for themselves", k)
		case k.Mod&(Ctrl|Shift) == Ctrl|Shift && k.printable():
			return fmt.Sprintf("%s needs a terminal with kitty's keyboard protocol", k)
		}
	}
	return ""
}

// shadows reports chords whose beginning acts on its own.
func (l *loader) shadows() {
	for _, p := range l.added {
		for _, b := range l.list {
			if b.Context != p.Context || len(b.Keys) == len(p.Keys) {
				continue
			}
			short, long := p.Keys, b.Keys
			if len(short) > len(long) {
				if b.Own {
					continue // reported at the short one
				}
				short, long = long, short
			}
			if Name(long[:len(short)]) == Name(short) && Name(short) != "esc" {
				l.say(p.at, true, "%s acts at once, also when %s follows", Name(short), Name(long))
			}
		}
	}
}

func contexts() []string {
	return []string{
		string(Global), string(Chat), string(Edit), string(Autocomplete), string(Confirmation),
		string(Select), string(Transcript), string(HistorySearch), string(Task), string(Help),
	}
}

func actions() []string {
	out := make([]string, len(table))
	for i, row := range table {
		out[i] = string(row.action)
	}
	return out
}

// nearAction looks for the whole name and for its part after the colon.
func nearAction(s string) string {
	if h := near.Hint(s, actions()); h != "" {
		return h
	}
	_, tail, _ := strings.Cut(s, ":")
	var out []string
	for _, a := range actions() {
		if _, t, _ := strings.Cut(a, ":"); tail != "" && len(near.Words(tail, []string{t})) > 0 {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(out[:min(3, len(out))], " or ") + "?)"
}
