package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// press feeds keys by name; what stands in "…" is typed, and «…» is pasted.
func press(t *testing.T, e *Editor, keys string) (last Result) {
	t.Helper()
	for keys = strings.TrimLeft(keys, " "); keys != ""; keys = strings.TrimLeft(keys, " ") {
		switch {
		case keys[0] == '"':
			s, rest, _ := strings.Cut(keys[1:], `"`)
			for _, r := range s {
				last = e.Type(string(r))
			}
			keys = rest
		case strings.HasPrefix(keys, "«"):
			s, rest, _ := strings.Cut(strings.TrimPrefix(keys, "«"), "»")
			last = e.Paste(s)
			keys = rest
		default:
			name, rest, _ := strings.Cut(keys, " ")
			k, err := keymap.ParseKey(name)
			if err != nil {
				t.Fatal(err)
			}
			last = e.Key(k)
			keys = rest
		}
	}
	return last
}

// mark is the text with | at the cursor, and [ ] around what is selected.
func mark(e *Editor) string {
	from, to, ok := e.selection()
	var b strings.Builder
	for i := 0; i <= e.t.len(); i++ {
		if ok && i == to {
			b.WriteByte(']')
		}
		if i == e.at {
			b.WriteByte('|')
		}
		if ok && i == from {
			b.WriteByte('[')
		}
		if i < e.t.len() {
			b.WriteString(e.t.expand(e.t.r[i:i+1], true))
		}
	}
	return b.String()
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`"hello"`, "hello|"},
		{`"hello" left left "X"`, "helX|lo"},
		{`"one two" ctrl+a "X" ctrl+e "Y"`, "Xone twoY|"},
		{`"one two three" alt+b alt+b`, "one |two three"},
		{`"one two three" ctrl+a alt+f alt+f`, "one two| three"},
		{`"one two three" ctrl+w`, "one two |"},
		{`"one a/b.c" ctrl+w`, "one |"},
		{`"one a/b.c" alt+backspace`, "one a/b.|"},
		{`"one two" ctrl+a alt+d`, "| two"},
		{`"one two" ctrl+u`, "|"},
		{`"one two" ctrl+a ctrl+k`, "|"},
		{`"one" ctrl+j "two" ctrl+u`, "one\n|"},
		{`"one" ctrl+j "two" ctrl+u ctrl+u`, "one|"},
		{`"one" ctrl+j "two" up ctrl+k`, "one|two"},
		{`"one two" ctrl+w ctrl+y ctrl+y`, "one twotwo|"},
		{`"one two three" ctrl+w ctrl+w ctrl+y`, "one two three|"},
		{`"one two" ctrl+w left ctrl+k ctrl+y alt+y`, "onetwo|"},
		{`"one two" ctrl+w left ctrl+k ctrl+y alt+y alt+y`, "one |"},
		{`"ab" ctrl+t`, "ba|"},
		{`"abc" left left ctrl+t`, "ba|c"},
		{`"one two" ctrl+a alt+u alt+c`, "ONE Two|"},
		{`"ONE" ctrl+a alt+l`, "one|"},
		{`"hello" shift+left shift+left`, "hel|[lo]"},
		{`"hello" shift+left shift+left "X"`, "helX|"},
		{`"hello" shift+left shift+left left`, "hel|lo"},
		{`"hello" shift+left shift+left right`, "hello|"},
		{`"hello" shift+home backspace`, "|"},
		{`"a" ctrl+j "b" alt+a delete`, "|"},
		{`"one" \ enter "two"`, "one\ntwo|"},
		{`"one" shift+enter "two"`, "one\ntwo|"},
		{`"one" alt+enter "two"`, "one\ntwo|"},
		{`"one two" ctrl+_`, "one |"},
		{`"one two" ctrl+_ ctrl+_`, "|"},
		{`"one two" ctrl+_ ctrl+_ alt+_ alt+_`, "one two|"},
		{`"one two" ctrl+w ctrl+_`, "one two|"},
		{`"e` + "\u0301" + `x" left backspace`, "|x"},
		{`"👩‍👩‍👧x" left left`, "|👩‍👩‍👧x"},
		{`"🇩🇪🇫🇷" left`, "🇩🇪|🇫🇷"},
		{`"漢字" left`, "漢|字"},
		{`"a" «1` + strings.Repeat("\nx", 99) + `» "b"`, "a[Pasted 100 lines]b|"},
		{`"a" «1` + strings.Repeat("\nx", 99) + `» backspace`, "a|"},
		{`"a" «1` + strings.Repeat("\nx", 99) + `» left "b"`, "ab|[Pasted 100 lines]"},
		{`«` + strings.Repeat("x\n", 9) + `» «` + strings.Repeat("y\n", 9) + `»`, "[Pasted 9 lines][Pasted 9 lines #2]|"},
		{`«` + strings.Repeat("x", 1001) + `»`, "[Pasted 1001 characters]|"},
		{"«a\r\nb\rc\x1b[31md\x1b[0m»", "a\nb\ncd|"},
		{`"abc" ctrl+s`, "|"},
		{`"abc" ctrl+s "d" ctrl+u ctrl+s`, "abc|"},
		{`"one" ctrl+j "two" ctrl+home`, "|one\ntwo"},
	} {
		e := New(Options{})
		press(t, e, c.keys)
		if got := mark(e); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.keys, got, c.want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		keys string
		want Mode
		body string
	}{
		{`"hello"`, Chat, "hello"},
		{`"! ls -l"`, Shell, "ls -l"},
		{`"#remember"`, Memory, "remember"},
		{`"& do it"`, Background, "do it"},
		{`"/help me"`, Command, "help me"},
		{`"/usr/bin/env"`, Chat, "/usr/bin/env"},
		{`"/ x"`, Chat, "/ x"},
		{`«!rm -rf x»`, Chat, "!rm -rf x"}, // a clipboard runs no command
		{`«!ls» ctrl+u "!ls"`, Shell, "ls"},
		{`«!ls» ctrl+u ctrl+_`, Chat, "!ls"},
		{`"!" «ls»`, Shell, "ls"},
		{`«/help»`, Command, "help"},
	} {
		e := New(Options{})
		press(t, e, c.keys)
		p := e.Take()
		if p.Mode != c.want || p.Body() != c.body {
			t.Errorf("%s: %v %q, want %v %q", c.keys, p.Mode, p.Body(), c.want, c.body)
		}
		if !e.Empty() {
			t.Errorf("%s: not empty after Take", c.keys)
		}
	}
}

type pastOf []history.Entry

func (p pastOf) Entry(i int) (history.Entry, bool) {
	if i >= len(p) {
		return history.Entry{}, false
	}
	return p[i], true
}

func (pastOf) Renew() {}

// lentPast has more entries when it is renewed.
type lentPast struct {
	pastOf
	later pastOf
}

func (p *lentPast) Renew() { p.pastOf = append(slices.Clone(p.later), p.pastOf...); p.later = nil }

// A walk begins with what came since the last one, keeps its place while it lasts, and
// passes over what is skipped in both directions.
func TestHistoryIsRenewed(t *testing.T) {
	p := &lentPast{pastOf{{Text: "b"}, {Text: "waits"}, {Text: "a"}}, nil}
	e := New(Options{Past: p, Skip: func(h history.Entry) bool { return h.Text == "waits" }})
	step := func(keys, want string) {
		t.Helper()
		press(t, e, keys)
		if got := mark(e); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	step("up up", "a|")
	p.later = pastOf{{Text: "new"}}
	step("down", "b|")
	step("up", "a|")
	step("down down up", "new|")
	step("up up", "a|")
}

func TestHistory(t *testing.T) {
	past := pastOf{{Text: "newest"}, {Text: "x [Pasted 3 lines] y", Pastes: []history.Paste{{Label: "[Pasted 3 lines]", Text: "1\n2\n3"}}}, {Text: "old\ntwo"}}
	for _, c := range []struct{ keys, want string }{
		{`up`, "newest|"},
		{`up up`, "x [Pasted 3 lines] y|"},
		{`up up up`, "old\ntwo|"},
		{`up up up up`, "old|\ntwo"},
		{`up up up up up`, "|old\ntwo"},
		{`"draft" up down`, "draft|"},
		{`"draft" left up up down down`, "draf|t"},
		{`"draft" up "X" up down`, "newestX|"},
		{`"draft" up "X" down up`, "newestX|"},
		{`"draft" down`, "draft|"},
		{`"draft" ctrl+p ctrl+p ctrl+n`, "newest|"},
		{`"draft" up ctrl+_`, "draft|"},
		{`up up ctrl+u up`, "newest|"},
		{`"draft" up up ctrl+u up down`, "draft|"},
	} {
		e := New(Options{Past: past})
		press(t, e, c.keys)
		if got := mark(e); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.keys, got, c.want)
		}
	}
	e := New(Options{Past: past})
	press(t, e, "up up")
	if got := e.Text(); got != "x 1\n2\n3 y" {
		t.Errorf("a recalled paste unfolds to %q", got)
	}
}

func TestView(t *testing.T) {
	for _, c := range []struct {
		keys          string
		width, height int
		want          string
		row, col      int
	}{
		{`"hello"`, 10, 5, "hello\n", 0, 5},
		{`""`, 10, 5, "\n", 0, 0},
		{`"hello world again"`, 10, 5, "hello\nworld\nagain\n", 2, 5},
		{`"abcdefghijklmno"`, 6, 5, "abcde\nfghij\nklmno\n", 2, 5},
		{`"漢字漢字"`, 6, 5, "漢字\n漢字\n", 1, 4},
		{`"a" ctrl+j "b" ctrl+j "c" ctrl+j "d"`, 10, 2, "c\nd\n", 1, 1},
		{`"a" ctrl+j "b" ctrl+j "c" ctrl+j "d" up up up`, 10, 2, "a\nb\n", 0, 1},
		{`«` + strings.Repeat("x\n", 20) + `» "!"`, 30, 2, "[Pasted 20 lines]!\n", 0, 18},
		{`«` + strings.Repeat("x\n", 20) + `»`, 8, 2, "[Pasted\n", 0, 7},
		{`"a" tab`, 8, 2, "a\n", 0, 1},
		{"«a\tb»", 10, 2, "a    b\n", 0, 6},
		{`"漢"`, 2, 2, "?\n", 0, 1},
	} {
		e := New(Options{})
		press(t, e, c.keys)
		lines, row, col := e.View(c.width, c.height)
		if got := draw.TextOf(lines); got != c.want || row != c.row || col != c.col {
			t.Errorf("%s at %d×%d:\n got %q %d,%d\nwant %q %d,%d", c.keys, c.width, c.height, got, row, col, c.want, c.row, c.col)
		}
	}
}

// ↑ and ↓ move by what is seen, and keep to their column.
func TestVertical(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`"aaaa bbbb cccc" up`, "aaaa bbbb| cccc"},
		{`"aaaa bbbb cccc" up up`, "aaaa| bbbb cccc"},
		{`"aaaa bbbb cccc" up up down down`, "aaaa bbbb cccc|"},
		{`"aaaa" ctrl+j "b" ctrl+j "cccc" up up`, "aaaa|\nb\ncccc"},
		{`"aaaa" ctrl+j "b" ctrl+j "cccc" up up down down`, "aaaa\nb\ncccc|"},
		{`"abcdefghij" up`, "abcd|efghij"},
	} {
		e := New(Options{})
		e.View(6, 10)
		press(t, e, c.keys)
		if got := mark(e); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.keys, got, c.want)
		}
	}
}

func TestPrompt(t *testing.T) {
	e := New(Options{})
	press(t, e, `"see" space`)
	e.Attach(Image{Name: "a.png"})
	press(t, e, `space «`+strings.Repeat("x\n", 20)+`»`)
	e.Attach(Image{Name: "b.png"})
	p := e.Take()
	want := fmt.Sprintf("see [Image 1] %s[Image 2]", strings.Repeat("x\n", 20))
	if p.Text != want || p.Shown != "see [Image 1] [Pasted 20 lines][Image 2]" || len(p.Images) != 2 || p.Images[1].Name != "b.png" {
		t.Errorf("%+v", p)
	}
	e.Type("later")
	e.Restore(p)
	if got := mark(e); got != "see [Image 1] [Pasted 20 lines][Image 2]\nlater|" {
		t.Errorf("restored: %q", got)
	}
	if q := e.Take(); q.Text != want+"\nlater" || len(q.Images) != 2 {
		t.Errorf("restored: %+v", q)
	}
}
