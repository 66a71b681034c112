package edit

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// every command of the editor
func editActions() []keymap.Action {
	out := []keymap.Action{keymap.Newline, keymap.Stash, keymap.UnfoldPaste, keymap.HistoryOlder, keymap.HistoryNewer, keymap.Submit}
	for _, r := range keymap.Default(keymap.Terminal{}).Help(keymap.Edit) {
		out = append(out, r.Action)
	}
	return out
}

// invariants that hold after whatever was done.
func check(t *testing.T, e *Editor, what any) {
	t.Helper()
	if e.at < 0 || e.at > e.t.len() || e.anchor > e.t.len() {
		t.Fatalf("%v: cursor %d, anchor %d of %d", what, e.at, e.anchor, e.t.len())
	}
	want := []int{0}
	for i, r := range e.t.r {
		if r == '\n' {
			want = append(want, i+1)
		}
		if isChip(r) && int(r-chipBase) >= len(e.t.chips) {
			t.Fatalf("%v: a chip that is not there", what)
		}
	}
	if len(want) != len(e.t.lines) {
		t.Fatalf("%v: %d lines are known of %d", what, len(e.t.lines), len(want))
	}
	for i, l := range e.t.lines {
		if l.start != want[i] {
			t.Fatalf("%v: line %d starts at %d, not %d", what, i, l.start, want[i])
		}
	}
	if !utf8.ValidString(e.Text()) {
		t.Fatalf("%v: invalid text", what)
	}
}

func checkView(t *testing.T, e *Editor, width, height int) {
	t.Helper()
	lines, row, col := e.View(width, height)
	if len(lines) == 0 || len(lines) > height {
		t.Fatalf("%d lines in %d", len(lines), height)
	}
	for _, l := range lines {
		if l.Width() > width {
			t.Fatalf("%q is %d columns in %d", l, l.Width(), width)
		}
	}
	if cur := e.cursorRow(); before(cur, e.top) || e.top.line < len(e.t.lines) && func() rowAt {
		at := e.top
		for range row {
			at, _ = e.t.down(at, e.width)
		}
		return at
	}() != cur {
		t.Fatalf("the cursor's row %v is not the drawn row %d from %v", cur, row, e.top)
	}
	if row < 0 || row >= len(lines) || col < 0 || col >= width {
		t.Fatalf("the cursor is at %d,%d of %d×%d", row, col, width, len(lines))
	}
}

// drive does what a string of bytes says.
func drive(t *testing.T, e *Editor, b []byte) {
	t.Helper()
	actions := editActions()
	texts := []string{
		"a", " ", "word", "é", "e\u0301", "漢", "👩‍👩‍👧", "🇩🇪", "\n", "\t", "!", "/", "@", "\u200b", "\u202e", "\x1b[31m", "(", "\"", "\\", "\xff",
		strings.Repeat("long line ", 30), strings.Repeat("x\n", 12), strings.Repeat("\u0301", 300), "\U00100000", "\U0010ffff",
	}
	for i := 0; i+1 < len(b); i += 2 {
		op, n := b[i]%12, int(b[i+1])
		switch op {
		case 0, 1:
			e.Do(actions[n%len(actions)])
		case 2:
			e.Paste(texts[n%len(texts)])
		case 3:
			e.Type(texts[n%len(texts)])
		case 4:
			checkView(t, e, 1+n%40, 1+n/40)
		case 5:
			e.Attach(Image{})
		case 6:
			if tok, ok := e.Token(); ok && n%3 == 0 {
				e.Complete(tok, texts[n%len(texts)])
			}
		case 7:
			if n == 0 {
				e.Restore(e.Take())
			}
		default:
			k := keymap.Rune(string(rune(' ' + n%95)))
			if n >= 200 {
				k = keymap.Key{Name: "esc"}
			}
			e.Key(k)
		}
		check(t, e, b[:i+2])
		if e.t.len() > 20000 {
			e.Clear()
		}
	}
	checkView(t, e, 20, 5)
}

func newDriven(vim bool) *Editor {
	return New(Options{Vim: vim, Past: pastOf{{Text: "one"}, {Text: "two\n[Pasted 2 lines]", Pastes: []history.Paste{{Label: "[Pasted 2 lines]", Text: "x\ny"}}}}})
}

func FuzzEditor(f *testing.F) {
	f.Add([]byte("hello"), false)
	f.Add([]byte("\x09\x80\x08vwd.u"), true)
	f.Fuzz(func(t *testing.T, b []byte, vim bool) {
		drive(t, newDriven(vim), b[:min(len(b), 400)])
	})
}

func TestRandomKeys(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		b := make([]byte, 200)
		for j := range b {
			b[j] = byte(rnd.UintN(256))
		}
		drive(t, newDriven(i%2 == 0), b)
	}
}

// Undoing everything leads to the empty box, making it again to the same text,
// and each single undo to the text before.
func TestUndoIsIdentity(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	var cmds []keymap.Action
	for _, a := range editActions() {
		if a != keymap.EditUndo && a != keymap.EditRedo && a != keymap.Stash {
			cmds = append(cmds, a)
		}
	}
	for round := range 200 {
		e := newDriven(round%2 == 0)
		for range 40 {
			before := slices.Clone(e.t.r)
			changed := false
			switch rnd.IntN(4) {
			case 0:
				changed = e.Do(cmds[rnd.IntN(len(cmds))]) == Changed
			case 1:
				changed = e.Paste([]string{"abc", "漢字 x", strings.Repeat("y\n", 30)}[rnd.IntN(3)]) == Changed
			default:
				for _, s := range []string{"w", "o", " ", "e\u0301"}[:1+rnd.IntN(4)] {
					changed = e.Type(s) == Changed || changed
				}
				e.undo.open = false
			}
			if e.vim != nil {
				e.vim.joined = false // each on its own
			}
			if changed && !slices.Equal(before, e.t.r) {
				after := slices.Clone(e.t.r)
				for n := 0; !slices.Equal(e.t.r, before) && n < 5; n++ {
					e.Undo()
				}
				if !slices.Equal(e.t.r, before) {
					t.Fatalf("undo: %q, want %q (was %q)", e.Text(), string(before), string(after))
				}
				for n := 0; !slices.Equal(e.t.r, after) && n < 5; n++ {
					e.Redo()
				}
				if !slices.Equal(e.t.r, after) {
					t.Fatalf("redo: %q, want %q", e.Text(), string(after))
				}
			}
			check(t, e, "undo")
		}
		full := e.Text()
		for e.Undo() == Changed {
		}
		if !e.Empty() {
			t.Fatalf("all undone: %q", e.Text())
		}
		for e.Redo() == Changed {
		}
		if e.Text() != full {
			t.Fatalf("all made again: %q, want %q", e.Text(), full)
		}
	}
}

// What is pasted and typed comes out as it went in, whatever is folded.
func TestNothingLost(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	parts := []string{"word ", "漢字", "👩‍👩‍👧", "e\u0301", "\n", strings.Repeat("line\n", 20), strings.Repeat("z", 1500), "\U0010fffd", "[Pasted 20 lines]", "[Image 1]"}
	for range 200 {
		e := New(Options{})
		var want strings.Builder
		for range 1 + rnd.IntN(12) {
			p := parts[rnd.IntN(len(parts))]
			want.WriteString(p)
			if rnd.IntN(2) == 0 {
				e.Paste(p)
			} else {
				e.Insert(p)
			}
		}
		if got := e.Text(); got != want.String() {
			t.Fatalf("%q, want %q", got, want.String())
		}
		var seen strings.Builder // and all of it is drawn
		lines, _, _ := e.View(1<<20, 1<<20)
		for _, l := range lines {
			seen.WriteString(l.String())
		}
		if got, want := seen.String(), strings.ReplaceAll(e.Shown(), "\n", ""); got != want && !strings.Contains(want, "\U0010fffd") {
			t.Fatalf("drawn %q, want %q", got, want)
		}
		if p := e.Take(); p.Text != want.String() || !e.Empty() {
			t.Fatalf("taken: %q", p.Text)
		}
	}
}

// Clusters are walked the same way forth and back.
func TestClusters(t *testing.T) {
	e := New(Options{FoldLines: -1})
	e.Paste("ae\u0301x👩‍👩‍👧🇩🇪🇫🇷한국นี้ क्षि\r\nz")
	var forth, back []int
	for at := 0; at < e.t.len(); at = e.t.next(at) {
		forth = append(forth, at)
		if e.t.snap(at) != at {
			t.Errorf("snap(%d) = %d", at, e.t.snap(at))
		}
	}
	for at := e.t.len(); at > 0; {
		at = e.t.prev(at)
		back = append([]int{at}, back...)
	}
	if !slices.Equal(forth, back) {
		t.Errorf("%v\n%v", forth, back)
	}
}

// The box follows the cursor up and down, and no row below stays empty.
func TestScroll(t *testing.T) {
	e := New(Options{})
	press(t, e, `"a" ctrl+j "b" ctrl+j "c" ctrl+j "d" ctrl+j "e"`)
	for i, step := range []struct{ keys, want string }{
		{``, "d\ne\n"}, {`up`, "d\ne\n"}, {`up up`, "b\nc\n"}, {`up`, "a\nb\n"}, {`down`, "a\nb\n"}, {`down`, "b\nc\n"},
		{`ctrl+end`, "d\ne\n"}, {`backspace backspace backspace`, "c\n\n"}, {`ctrl+home`, "a\nb\n"},
	} {
		press(t, e, step.keys)
		lines, _, _ := e.View(10, 2)
		if got := draw.TextOf(lines); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		checkView(t, e, 10, 2)
	}
	if above, below := e.Hidden(2); above || !below {
		t.Errorf("hidden: %v %v", above, below)
	}
}

// Rows are remembered: a key asks only for those of its line.
func TestRowsAreRemembered(t *testing.T) {
	e := New(Options{FoldLines: -1})
	e.Paste(strings.Repeat("some words in a line\n", 50))
	e.View(12, 100)
	e.Type("x")
	known := 0
	for _, l := range e.t.lines {
		if l.width != 0 {
			known++
		}
	}
	if known != len(e.t.lines)-1 {
		t.Errorf("%d of %d lines are known after a key", known, len(e.t.lines))
	}
}

func TestToken(t *testing.T) {
	for _, c := range []struct {
		keys  string
		kind  TokenKind
		query string
		with  string
		want  string
	}{
		{`"see @sr"`, FileToken, "sr", "@src/a.go ", "see @src/a.go |"},
		{`"@"`, FileToken, "", "@a ", "@a |"},
		{`"see @src x" left left`, FileToken, "src", "@b ", "see @b |x"},
		{`"(@a" `, FileToken, "a", "@b", "(@b|"},
		{`"@a b"`, 99, "", "", ""},
		{`"me@x"`, 99, "", "", ""},
		{`"/he"`, CommandToken, "he", "/help ", "/help |"},
		{`"/"`, CommandToken, "", "/help ", "/help |"},
		{`"/model so"`, ArgToken, "so", "sonnet", "/model sonnet|"},
		{`"!cat sr"`, PathToken, "sr", "src/", "!cat src/|"},
		{`"x /he"`, 99, "", "", ""},
		{`«!cat sr»`, 99, "", "", ""},
	} {
		e := New(Options{})
		press(t, e, c.keys)
		tok, ok := e.Token()
		if !ok {
			if c.kind != 99 {
				t.Errorf("%s: no token", c.keys)
			}
			continue
		}
		if c.kind == 99 || tok.Kind != c.kind || tok.Query != c.query {
			t.Errorf("%s: %+v", c.keys, tok)
			continue
		}
		e.Complete(tok, c.with)
		if got := mark(e); got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
	e := New(Options{})
	e.Insert(`open @"a b`)
	if tok, ok := e.Token(); !ok || tok.Query != "a b" {
		t.Errorf("in quotes: %+v", tok)
	}
}

func TestDrop(t *testing.T) {
	for in, want := range map[string][]string{
		"/a/b.png":                        {"/a/b.png"},
		`/a/b\ c.png `:                    {"/a/b c.png"},
		`'/a/b c.png' "/d"`:               {"/a/b c.png", "/d"},
		"file:///a/b%20c.png":             {"/a/b c.png"},
		"file:///a\r\nfile://localhost/b": {"/a", "/b"},
		`C:\Users\x\a.png`:                {`C:\Users\x\a.png`},
		`"C:\Users\x y\a.png"`:            {`C:\Users\x y\a.png`},
		"/help me":                        nil,
		"hello":                           nil,
		"":                                nil,
		"/":                               nil,
		"/a\n/b":                          nil,
	} {
		if got := Drop(in); !slices.Equal(got, want) {
			t.Errorf("Drop(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzDrop(f *testing.F) {
	f.Add(`'/a b' file:///c%20`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range Drop(s) {
			if !absolute(p) {
				t.Fatalf("%q in %q", p, s)
			}
		}
	})
}

func twentyKB() *Editor {
	e := New(Options{FoldLines: -1})
	e.Paste(strings.Repeat("The quick brown fox jumps over the lazy dog, twice. ", 400))
	e.View(100, 20)
	return e
}

func BenchmarkKey20KB(b *testing.B) { // all of it is one line
	e := twentyKB()
	for b.Loop() {
		e.Type("x")
		e.View(100, 20)
		e.Do(keymap.EditBackspace)
		e.View(100, 20)
	}
}

func BenchmarkKey20KBLines(b *testing.B) {
	e := New(Options{FoldLines: -1})
	e.Paste(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 450))
	e.Do(keymap.EditTextStart)
	for b.Loop() {
		e.Type("x")
		e.View(100, 20)
		e.Do(keymap.EditBackspace)
		e.View(100, 20)
	}
}

func BenchmarkPaste1MB(b *testing.B) {
	s := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<20/45)
	for b.Loop() {
		e := New(Options{})
		e.Paste(s)
		e.View(100, 20)
	}
}

func BenchmarkPaste1MBUnfolded(b *testing.B) {
	s := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<20/45)
	for b.Loop() {
		e := New(Options{})
		e.Paste(s)
		e.Unfold()
		e.View(100, 20)
	}
}
