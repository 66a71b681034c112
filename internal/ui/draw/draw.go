// Package draw turns shapes into lines of styled text. It is pure: what it
// draws depends on its arguments alone, and a front end decides where the
// lines go. Text from outside becomes harmless here, when it becomes a Span:
// no control character, escape sequence, bidirectional control or unseen
// character gets past Text, String and Theme.Append. It knows no tool, no
// session and no terminal.
package draw

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// A Span is text of one style. Text has no control characters; Link is an
// address the text leads to, or "".
type Span struct {
	Text string
	Style
	Link string
}

// A Line is one row of a screen, without its line end.
type Line []Span

// Options say how to draw.
type Options struct {
	Width    int    // columns; less than 1 counts as 80
	ASCII    bool   // every glyph has its stand-in
	MaxLines int    // of a block; 0 means all. A last line says how many are missing
	Tail     bool   // with MaxLines, the last lines are kept instead of the first
	Links    bool   // the terminal can lead to an address, so it need not be seen
	Plain    bool   // no syntax colours: for what is drawn in bulk
	Spoken   bool   // it may be read aloud: no rules, no bars, no column of lines
	Hint     string // how to see what MaxLines left out, e.g. "Ctrl+O"
}

func (o Options) width() int {
	if o.Width < 1 {
		return 80
	}
	return o.Width
}

// narrower returns o for what is drawn n columns to the right.
func (o Options) narrower(n int) Options {
	o.Width = max(o.width()-n, 1)
	return o
}

// S returns text in a style as a Span that is safe to draw: see String.
func S(text string, role Role) Span { return Span{Text: String(text), Style: Style{Role: role}} }

// L returns a line of spans.
func L(spans ...Span) Line { return spans }

// Width returns the columns that s takes. s is measured by grapheme clusters.
func Width(s string) int {
	if printable(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// printable reports whether s is printable ASCII alone.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Width returns the columns that l takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// String returns the text of l without its styles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// With returns l with role for each span that is Plain.
func (l Line) With(role Role) Line {
	out := make(Line, len(l))
	for i, s := range l {
		if s.Role == Plain {
			s.Role = role
		}
		out[i] = s
	}
	return out
}

// On returns l upon the background of role.
func (l Line) On(role Role) Line {
	out := make(Line, len(l))
	for i, s := range l {
		if s.On == Plain {
			s.On = role
		}
		out[i] = s
	}
	return out
}

// Indent returns lines with prefix before each.
func Indent(lines []Line, prefix ...Span) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		out[i] = append(append(make(Line, 0, len(prefix)+len(l)), prefix...), l...)
	}
	return out
}

// TextOf returns the texts of lines with a newline after each, for tests and
// for the clipboard.
func TextOf(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
