package draw

import (
	"strings"
	"testing"
	"unicode"

	"github.com/adze-agent/adze/internal/view"
)

// hostile is text that would do something to a terminal or to a reader.
var hostile = []string{
	"\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]52;c;eA==\x07", "\x1b]8;;http://evil\x1b\\x", "\x1bPq\x1b\\", "\x1b_Ga=T\x1b\\", "\u009b2J", "a\x00\x07\x08\x7fb", "a\rb",
	"rm\u202e -rf", "\u2066x\u2069", "\u200bx\u200b", "x\u2060y\ufeffz", "\U000e0041\U000e007f", "a" + strings.Repeat("\u0300", 200), "\u3164x\u115f\uffa0", "x\u00ady", "\u2028x\u2029", "\xff\xfe\xc3", "\u061c\u200e\u200f",
	"e\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "漢字", "\u0915\u094d\u200d\u0937", "🇩🇪", "\ufe0f\ufe0f\u200d", "x\u200dy", strings.Repeat("w", 1<<20), "a\tb", "\u00a0\u3000", "\ue0b0\U0010eeee", "\u2800",
}

// harmless fails when l could do anything but show text in o.Width columns.
func harmless(t *testing.T, what string, lines []Line, width int) {
	t.Helper()
	th, _ := Named("dark", true)
	for _, l := range lines {
		if l.Width() > width {
			t.Fatalf("%s: a line of %d columns in %d: %q", what, l.Width(), width, l.String())
		}
		marks := 0
		for _, s := range l {
			for i, r := range s.Text {
				if unicode.In(r, unicode.Mn, unicode.Me) {
					marks++
				} else {
					marks = 0
				}
				joiner := r == 0x200c || r == 0x200d || r == 0xfe0f
				if r < 0x20 || r >= 0x7f && r < 0xa0 || marks > maxMarks || !joiner && r != ' ' && r != unicode.ReplacementChar && !seen(r) || joiner && i == 0 {
					t.Fatalf("%s: %U is drawn in %q", what, r, s.Text)
				}
			}
		}
		bare := string(th.Append(nil, l, Profile{}))
		if strings.ContainsFunc(bare, unicode.IsControl) || bare != l.String() {
			t.Fatalf("%s: the terminal is sent %q for %q", what, bare, l.String())
		}
	}
}

// every draws s in each way that text comes in.
func every(t *testing.T, s string, width int) {
	t.Helper()
	o := Options{Width: width}
	harmless(t, "String", []Line{L(S(s, Plain)).Cut(width)}, width)
	harmless(t, "Exact", Exact(s, Plain).Wrap(width), width)
	harmless(t, "Text", WrapAll(Text(s, Style{}), width), width)
	harmless(t, "Output", WrapAll(Output(s, Style{}), width), width)
	harmless(t, "Markdown", Markdown(s, o), width)
	harmless(t, "fence", Markdown("```go "+s+"\n"+s+"\n```\n["+s+"]("+s+") `"+s+"` <"+s+">", o), width)
	for _, b := range []view.Block{
		view.Text{S: s}, view.Code{Path: s, First: 9, S: s}, view.Code{Path: "a.go", S: s}, view.Terminal{Command: s, Output: s, Note: s, Dropped: 5}, view.Diff{Path: "a.go", Unified: "@@ -1 +1 @@\n-" + s + "\n+" + s + "x\n" + s},
		view.Table{Head: []string{s, "b"}, Rows: [][]string{{s, s, s}, {s}}}, view.Tasks{Items: []view.Task{{Text: s, Active: s, Status: view.InProgress}, {Text: s}}}, view.Image{Alt: s, Media: s},
		view.Questions{Items: []view.Question{{Text: s, Header: s, Options: []view.Option{{Label: s, About: s}}}}},
	} {
		harmless(t, "block", Block(view.Group{Blocks: []view.Block{b, nil, b}}, o), width)
		o.MaxLines, o.Tail, o.ASCII = 3, true, true
		if lines := Block(b, o); len(lines) > 40 {
			t.Fatalf("%T: %d lines of at most 3", b, len(lines))
		}
		o.MaxLines, o.Tail, o.ASCII = 0, false, false
	}
}

func TestHostileTextIsHarmless(t *testing.T) {
	for _, s := range hostile {
		for _, width := range []int{1, 2, 5, 40} {
			if len(s) > 1000 && width < 5 {
				continue
			}
			every(t, s, width)
			if len(s) > 1000 {
				continue
			}
			every(t, "a "+s+" b\n"+s, width)
		}
	}
	for in, want := range map[string]string{
		"rm\u202e -rf": "rm -rf", "a\u200bb": "ab", "e\u0301": "e\u0301", "👨\u200d👩\u200d👧": "👨\u200d👩\u200d👧", "x\u200dy": "xy", "❤\ufe0f": "❤\ufe0f", "x\ufe0f": "x",
		"a\nb": "a b", "a\tb": "a    b", "\u00a0": " ", "\x1b[31mred": "red", "\u0915\u094d\u200d\u0937": "\u0915\u094d\u200d\u0937",
	} {
		if got := String(in); got != want {
			t.Errorf("String(%q) = %q, not %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"rm\u202e -rf\n/": `rm\u202e -rf\n/`, "a\u200bb": `a\u200bb`, "\xff\x1b": `\xff\x1b`, "漢e\u0301": "漢e\u0301", "\U000e0041": `\U000e0041`,
	} {
		if got := Exact(in, Plain).String(); got != want {
			t.Errorf("Exact(%q) = %q, not %q", in, got, want)
		}
	}
}

// A Span that somebody made of raw text is made harmless when it is written.
func TestAppendIsTheLastDoor(t *testing.T) {
	th, _ := Named("dark", true)
	for _, s := range hostile {
		l := Line{{Text: s, Link: s}, {Text: "x", Link: "https://ok/\x1b]0;x\x07"}}
		for _, p := range []Profile{{}, {Depth: Mono, Links: true}, {Depth: TrueColor, Links: true}} {
			got := string(th.Append(nil, l, p))
			if strings.ContainsFunc(got, unicode.IsControl) {
				t.Errorf("%q is written as %q", s, got)
			}
		}
	}
}

func FuzzHarmless(f *testing.F) {
	for _, s := range hostile {
		if len(s) < 1000 {
			f.Add(s, 20)
		}
	}
	f.Add(sample, 33)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if len(s) < 3000 && width > 0 && width < 300 {
			every(t, s, width)
		}
	})
}

func TestOutputKeepsColours(t *testing.T) {
	lines := Output("\x1b[1;31merr\x1b[22m or\x1b[0m \x1b[38;5;200mx\x1b[48;2;1;2;3my\x1b[m\nold\r\x1b[32mnew\n\x1b[8mhidden", Style{})
	want := []Line{
		{{Text: "err", Style: Style{Attr: Bold, Fg: Index(1)}}, {Text: " or", Style: Style{Fg: Index(1)}}, {Text: " "}, {Text: "x", Style: Style{Fg: Index(200)}}, {Text: "y", Style: Style{Fg: Index(200), Bg: RGB(1, 2, 3)}}},
		{{Text: "new", Style: Style{Fg: Index(2)}}},
		{{Text: "hidden", Style: Style{Fg: Index(2)}}},
	}
	if len(lines) != len(want) {
		t.Fatalf("%v", lines)
	}
	for i := range want {
		if !slicesEqual(lines[i], want[i]) {
			t.Errorf("line %d: %+v, not %+v", i, lines[i], want[i])
		}
	}
}

func slicesEqual(a, b Line) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
