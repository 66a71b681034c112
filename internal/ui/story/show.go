package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of what one item takes in the scrollback, in lines; the transcript
// shows all of it, up to wholeLines: more than the output that is kept of a command has.
const (
	saidLines   = 30
	diffLines   = 24
	outputLines = 6
	failLines   = 10
	textLines   = 5
	tailLines   = 4
	wholeLines  = 30_000
	// TextCols is how wide text runs at most: longer lines are hard to read.
	TextCols = 120
)

// A Paper is what items are drawn on.
type Paper struct {
	O        draw.Options // Width is that of the terminal
	Whole    bool         // unfold everything
	Thinking bool         // unfold what the model thought
	Plain    bool         // no borders, and answers have numbers
	Now      time.Time
}

func (p Paper) Cols() int { return max(min(p.O.Width, TextCols), 10) }

// Inner are the options for what stands right of the gutter of n columns.
func (p Paper) Inner(n, lines int, tail bool) draw.Options {
	o := p.O
	o.Width = max(p.Cols()-n, 4)
	o.MaxLines, o.Tail = lines, tail
	if p.Whole {
		o.MaxLines, o.Tail = wholeLines, false
	}
	return o
}

func (p Paper) Sign(g draw.Glyph) string { return draw.Sign(g, p.O.ASCII) }

// Mark is a sign and what fills the gutter up to two columns.
func (p Paper) Mark(g draw.Glyph, r draw.Role) draw.Span {
	return draw.Span{Text: Pad(p.Sign(g), 2), Style: draw.Style{Role: r}}
}

func Pad(s string, n int) string {
	if w := draw.Width(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}

// Hang puts first before the first line and blanks before the others.
func Hang(lines []draw.Line, first draw.Span) []draw.Line {
	blank := draw.S(strings.Repeat(" ", draw.Width(first.Text)), draw.Plain)
	out := make([]draw.Line, len(lines))
	for i, l := range lines {
		lead := blank
		if i == 0 {
			lead = first
		}
		out[i] = append(draw.Line{lead}, l...)
	}
	return out
}

// Apart reports whether a blank line stands between two items.
func Apart(before, next *Item) bool {
	switch {
	case before == nil:
		return false
	case next.own(), before.own():
		return true
	case next.Kind == Called:
		return before.Kind == Said || before.Kind == Noted
	case next.Kind == Noted && before.Kind == Noted:
		return next.Level == "report" || before.Level == "report"
	}
	return true
}

// Item draws an item that is done.
func (p Paper) Item(it *Item) []draw.Line {
	if it.Back != 0 {
		return p.takenBack(it)
	}
	return p.present(it)
}

// present draws an item that counts.
func (p Paper) present(it *Item) []draw.Line {
	switch it.Kind {
	case Said:
		return p.said(it)
	case Spoke:
		return Hang(draw.Markdown(it.Text, p.Inner(2, 0, false)), p.Mark(draw.Bullet, draw.Accent))
	case Thought:
		return p.thought(it)
	case Called:
		return p.called(it)
	case Noted:
		return p.noted(it)
	}
	return nil
}

func (p Paper) said(it *Item) []draw.Line {
	o := p.Inner(2, saidLines, false)
	lines := o.Bound(draw.WrapAll(draw.Text(it.Text, draw.Style{Role: draw.User}), o.Width))
	if it.Pics > 0 && !strings.Contains(it.Text, "[Image ") {
		lines = append(lines, draw.L(draw.S(Plural(it.Pics, "image"), draw.Quiet)))
	}
	with := attached(it.names, o.Width)
	if it.Typed && p.Plain && !p.Whole {
		return draw.Indent(with, draw.S("  ", draw.Plain))
	}
	return Hang(append(lines, with...), p.Mark(draw.Prompt, draw.Accent))
}

// attached says what of the files that a prompt names went along with it.
func attached(names []event.Attached, width int) []draw.Line {
	var with []string
	var out []draw.Line
	for _, a := range names {
		if !a.Refused {
			with = append(with, clip.Visible(a.Name)+" ("+a.About+")")
			continue
		}
		out = append(out, draw.L(draw.S("not attached: "+clip.Visible(a.Name)+": "+a.About, draw.Attention)).Wrap(width)...)
	}
	if len(with) == 0 {
		return out
	}
	return append(draw.L(draw.S("with "+strings.Join(with, ", "), draw.Quiet)).Wrap(width), out...)
}

func (p Paper) thought(it *Item) []draw.Line {
	head := "Thought"
	if !it.Done {
		head = "Thinking"
	}
	if it.took >= time.Second {
		head += " for " + Span(it.took)
	}
	lead := p.Mark(draw.Star, draw.Thinking)
	if !p.Thinking && !p.Whole {
		return []draw.Line{{lead, draw.S(head, draw.Thinking)}}
	}
	body := draw.Markdown(it.Text, p.Inner(2, 0, false))
	for i := range body {
		body[i] = body[i].With(draw.Thinking)
	}
	return append([]draw.Line{{lead, draw.S(head, draw.Thinking)}}, draw.Indent(body, draw.S("  ", draw.Plain))...)
}

func (p Paper) noted(it *Item) []draw.Line {
	lead, role := draw.S("  ", draw.Plain), draw.Quiet
	switch it.Level {
	case "warning":
		lead, role = p.Mark(draw.Warning, draw.Attention), draw.Plain
	case "error":
		lead, role = p.Mark(draw.Cross, draw.Wrong), draw.Plain
	case "info":
		role = draw.Plain
	}
	w := p.Inner(2, 0, false).Width
	if it.Level == "report" {
		body := draw.Markdown(it.Text, p.Inner(2, 0, false))
		if it.Shape != nil {
			body = draw.Block(it.Shape, p.Inner(2, 0, false))
		}
		body = draw.Indent(body, draw.S("  ", draw.Plain))
		if it.Typed && p.Plain && !p.Whole {
			return body
		}
		return append([]draw.Line{{p.Mark(draw.Prompt, draw.Quiet), draw.S(it.Hint, draw.Quiet)}}, body...)
	}
	lines := draw.WrapAll(draw.Text(it.Text, draw.Style{Role: role}), w)
	if it.Hint != "" {
		lines = append(lines, draw.WrapAll(draw.Text(it.Hint, draw.Style{Role: draw.Quiet}), w)...)
	}
	return Hang(lines, lead)
}

func Plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"), strings.HasSuffix(what, "s"), strings.HasSuffix(what, "x"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Seconds is span without a fraction, for what still goes on.
func Seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return Span(d)
}

// Span is a duration for people.
func Span(d time.Duration) string { return clip.Span(d) }

// PlusMinus are lines added and removed.
func (p Paper) PlusMinus(added, removed int) draw.Line {
	return draw.Line{draw.S(fmt.Sprintf("+%d", added), draw.OK), draw.S(" ", draw.Plain), draw.S(p.Sign(draw.Minus)+fmt.Sprint(removed), draw.Wrong)}
}

// Change draws a change of a file, as the call that made it is drawn.
func (p Paper) Change(d view.Diff) []draw.Line {
	verb := "Edit"
	if d.Created {
		verb = "Write"
	}
	return p.called(&Item{Kind: Called, Done: true, Calls: []*Call{{name: verb, Title: verb + " " + d.Path, started: true, Ended: true, View: d}}})
}
