package draw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

func TestBlocks(t *testing.T) {
	var many []string
	for i := range 9 {
		many = append(many, fmt.Sprint("line ", i+1))
	}
	text := strings.Join(many, "\n") + "\n"
	for _, c := range []struct {
		b    view.Block
		o    Options
		want string
	}{
		{nil, Options{}, ""},
		{view.Text{S: text}, Options{Width: 40, MaxLines: 3, Hint: "Ctrl+O"}, "line 1\nline 2\n… 7 more lines (Ctrl+O)\n"},
		{view.Text{S: text}, Options{Width: 40, MaxLines: 3, Tail: true}, "… 7 earlier lines\nline 8\nline 9\n"},
		{view.Text{S: text}, Options{Width: 40, MaxLines: 9}, text},
		{view.Text{S: "one two three four\nfive"}, Options{Width: 9, MaxLines: 2}, "one two\n… 3 more…\n"},
		{view.Code{Path: "a.go", First: 98, S: "a\n\tb c\nd"}, Options{Width: 12}, " 98 a\n 99     b c\n100 d\n"},
		{view.Code{First: 8, S: text}, Options{Width: 20, MaxLines: 2, Tail: true}, "… 8 earlier lines\n16 line 9\n"},
		{view.Terminal{Command: "x", Output: "a\x1b[1mb\n", Dropped: 5000, Note: "in the background"}, Options{Width: 40}, "ab\nin the background\n"}, // the output says it
		{view.Terminal{Command: "x", Output: text, Dropped: 5000}, Options{Width: 80, MaxLines: 3, Tail: true, Hint: "Ctrl+O"}, "… 5.0 KB left out in the middle; Ctrl+O names the file that has all of it\n… 7 earlier lines (Ctrl+O)\nline 8\nline 9\n"},
		{view.Terminal{Command: "x", Output: "one two three four\nfive", Dropped: 5000}, Options{Width: 9, MaxLines: 2, Tail: true}, "… 5.0 KB…\n… 3 earl…\nfive\n"},
		{view.Table{Head: []string{"name", "n"}, Rows: [][]string{{"a", "1"}, {"bb", "22"}}}, Options{Width: 40}, "name   n\n────  ──\na      1\nbb    22\n"},
		{view.Tasks{Items: []view.Task{{Text: "a", Status: view.Completed}, {Text: "b", Active: "doing b", Status: view.InProgress}, {Text: "c", Status: view.Pending}}}, Options{Width: 40}, "☑ a\n◐ doing b\n☐ c\n"},
		{view.Tasks{Items: []view.Task{{Text: "some words", Status: view.Pending}}}, Options{Width: 9, ASCII: true}, "[ ] some\n    words\n"},
		{view.Image{Alt: "a dot", Data: make([]byte, 20)}, Options{Width: 40}, "▣ a dot 20 bytes\n"},
		{view.Questions{Items: []view.Question{{Text: "Which?", Options: []view.Option{{Label: "x", About: "the first"}, {Label: "y"}}}}}, Options{Width: 40}, "Which?\n  ○ x  the first\n  ○ y\n"},
		{view.Group{Blocks: []view.Block{view.Text{S: "a"}, view.Text{}, view.Text{S: "b"}}}, Options{Width: 40}, "a\n\nb\n"},
	} {
		if got := TextOf(Block(c.b, c.o)); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.b, got, c.want)
		}
	}
}

func TestBeside(t *testing.T) {
	o := Options{}
	for width, want := range map[int]string{30: "left side is long      right", 20: "left side is… right", 12: "left side i…"} {
		got := Beside(L(S("left side is long", Plain)), L(S("right", Quiet)), width, o)
		if strings.Join(strings.Fields(got.String()), " ") != strings.Join(strings.Fields(want), " ") || got.Width() > width {
			t.Errorf("%d: %q", width, got.String())
		}
	}
}
