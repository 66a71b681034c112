package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// Block draws any shape. What it returns has no line wider than o.Width.
func Block(b view.Block, o Options) []Line {
	if b == nil {
		return nil
	}
	switch b := b.(type) {
	case view.Text:
		part, more := o.part(b.S)
		if b.Prose {
			o.Width = o.width()
			return o.boundOf(Markdown(part, o), more)
		}
		return o.boundOf(WrapAll(Text(part, Style{}), o.width()), more)
	case view.Code:
		return codeBlock(b, o)
	case view.Terminal:
		return terminalBlock(b, o)
	case view.Diff:
		return diffBlock(b, o)
	case view.Table:
		return tableBlock(b, o)
	case view.Tasks:
		return tasksBlock(b, o)
	case view.Image:
		return imageBlock(b, o)
	case view.Questions:
		return questionsBlock(b, o)
	case view.Form:
		return formBlock(b, o)
	case view.Meter:
		return meterBlock(b, o)
	case view.Group:
		return groupBlock(b, o)
	}
	return nil
}

// Bound keeps MaxLines of lines; a line that says how many are missing stands
// in for the rest.
func (o Options) Bound(lines []Line) []Line { return o.boundOf(lines, 0) }

// boundOf is Bound of lines that are a part: more of them were not drawn.
func (o Options) boundOf(lines []Line, more int) []Line {
	if o.MaxLines <= 0 || len(lines)+more <= o.MaxLines {
		return lines
	}
	keep := min(max(o.MaxLines-1, 0), len(lines))
	gone := len(lines) + more - keep
	if o.Tail {
		return append([]Line{o.missing(gone, "earlier ")}, lines[len(lines)-keep:]...)
	}
	return append(append(make([]Line, 0, o.MaxLines), lines[:keep]...), o.missing(gone, "more "))
}

func (o Options) missing(n int, which string) Line {
	s := fmt.Sprintf("%s %d %sline", o.glyph(Ellipsis), n, which)
	if n != 1 {
		s += "s"
	}
	if o.Hint != "" {
		s += " (" + String(o.Hint) + ")"
	}
	return L(S(s, Quiet)).Truncate(o.width(), o)
}

// part returns the lines of s that MaxLines can show, and how many others
// there are, so that these need not be drawn.
func (o Options) part(s string) (string, int) {
	s = strings.TrimSuffix(o.enough(s), "\n")
	n := strings.Count(s, "\n") + 1
	if o.MaxLines <= 0 || n <= o.MaxLines {
		return s, 0
	}
	at := 0
	if o.Tail {
		at = len(s)
		for range o.MaxLines {
			at = strings.LastIndexByte(s[:at], '\n')
		}
		return s[at+1:], n - o.MaxLines
	}
	for range o.MaxLines {
		at += strings.IndexByte(s[at:], '\n') + 1
	}
	return s[:at-1], n - o.MaxLines
}

// most bounds the text that one block is drawn from, in bytes, so that no
// block holds up the screen.
const most = 1 << 20

// enough returns as much of s as a block may be drawn from.
func (o Options) enough(s string) string {
	if len(s) <= most {
		return s
	}
	return clip.Middle(s, most, "")
}

func codeBlock(b view.Code, o Options) []Line {
	src, more := o.part(b.S)
	lines := o.highlight(b.Path, src)
	if b.First <= 0 {
		return o.boundOf(WrapAll(lines, o.width()), more)
	}
	if o.Tail {
		b.First += more
	}
	w := len(fmt.Sprint(b.First + len(lines) - 1))
	var out []Line
	for i, l := range lines {
		num := Span{Text: fmt.Sprintf("%*d ", w, b.First+i), Style: Style{Role: Quiet}}
		for j, part := range l.Wrap(max(o.width()-w-1, 1)) {
			if j > 0 {
				num.Text = spaces(w + 1)
			}
			out = append(out, append(Line{num}, part...).Cut(o.width()))
		}
	}
	return o.boundOf(out, more)
}

func terminalBlock(b view.Terminal, o Options) []Line {
	part, more := o.part(b.Output)
	lines := WrapAll(Output(part, Style{}), o.width())
	out := o.boundOf(lines, more)
	if b.Dropped > 0 && (more > 0 || len(out) < len(lines)) { // the output says it where it is, which is not seen
		gap := fmt.Sprintf("%s %s left out in the middle", o.glyph(Ellipsis), clip.Size(b.Dropped))
		if o.Hint != "" {
			gap += "; " + String(o.Hint) + " names the file that has all of it"
		}
		out = append([]Line{L(S(gap, Quiet)).Truncate(o.width(), o)}, out...)
	}
	if b.Note != "" {
		note := o
		note.MaxLines, note.Tail = 6, false
		out = append(out, note.Bound(WrapAll(Text(b.Note, Style{Role: Quiet}), o.width()))...)
	}
	return out
}

func tasksBlock(b view.Tasks, o Options) []Line {
	var out []Line
	named := slices.ContainsFunc(b.Items, func(t view.Task) bool { return len(t.Waits) > 0 }) // else nothing refers to a number
	for _, t := range b.Items {
		mark, text := sign(o.glyph(Ballot)+" ", Quiet), S(t.Text, Plain)
		switch t.Status {
		case view.Completed:
			mark, text = sign(o.glyph(BallotDone)+" ", OK), Span{Text: String(t.Text), Style: Style{Role: Quiet, Attr: Strike}}
		case view.InProgress:
			mark, text = sign(o.glyph(BallotNow)+" ", Accent), Span{Text: String(t.Text), Style: Style{Attr: Bold}}
			if t.Active != "" {
				text.Text = String(t.Active)
			}
		case view.Pending, view.Deleted:
		}
		if named && t.ID != "" {
			text.Text = String(t.ID) + ". " + text.Text
		}
		l := L(mark, text)
		if t.Owner != "" {
			l = append(l, S(" "+o.glyph(Middot)+" "+String(t.Owner), Quiet))
		}
		if len(t.Waits) > 0 {
			l = append(l, S(" "+o.glyph(Middot)+" after "+String(strings.Join(t.Waits, ", ")), Quiet))
		}
		out = append(out, l.Wrap(o.width(), sign(spaces(Width(mark.Text)), Plain))...)
	}
	return o.Bound(out)
}

func imageBlock(b view.Image, o Options) []Line {
	alt := b.Alt
	if alt == "" {
		alt = "image"
	}
	l := L(sign(o.glyph(Picture)+" ", Quiet), S(alt, Plain), S(" "+clip.Size(int64(len(b.Data))), Quiet))
	return o.Bound(l.Wrap(o.width()))
}

func questionsBlock(b view.Questions, o Options) []Line {
	var out []Line
	for i, q := range b.Items {
		if i > 0 {
			out = append(out, nil)
		}
		out = append(out, WrapAll(Text(q.Text, Style{Attr: Bold}), o.width())...)
		mark := Radio
		if q.Multi {
			mark = CheckBox
		}
		for _, p := range q.Options {
			l := L(sign("  "+o.glyph(mark)+" ", Quiet), S(p.Label, Plain))
			if p.About != "" {
				l = append(l, S("  "+p.About, Quiet))
			}
			out = append(out, l.Wrap(o.width(), S("    ", Plain))...)
		}
	}
	return o.Bound(out)
}

func formBlock(b view.Form, o Options) []Line {
	out := WrapAll(Text(b.Message, Style{Attr: Bold}), o.width())
	if b.URL != "" {
		out = append(out, Exact(b.URL, Plain).Wrap(o.width())...)
	}
	for _, f := range b.Fields {
		l := L(sign("  "+o.glyph(ListMark)+" ", Quiet), S(f.Label(), Plain))
		if f.About != "" {
			l = append(l, S("  "+f.About, Quiet))
		}
		out = append(out, l.Wrap(o.width(), S("    ", Plain))...)
	}
	return o.Bound(out)
}

func groupBlock(b view.Group, o Options) []Line {
	var out []Line
	for _, in := range b.Blocks {
		lines := Block(in, o)
		if len(lines) > 0 && len(out) > 0 {
			out = append(out, nil)
		}
		out = append(out, lines...)
	}
	return out
}
