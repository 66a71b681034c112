package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// called draws one call, or a line for several that only looked at things.
func (p Paper) called(it *Item) []draw.Line {
	if len(it.Calls) > 1 && !p.Whole {
		return []draw.Line{p.several(it)}
	}
	var out []draw.Line
	for _, c := range it.Calls {
		out = append(out, p.Head(c))
		out = append(out, p.callBody(c)...)
	}
	return out
}

// several is the one line for calls that only look at things.
func (p Paper) several(it *Item) draw.Line {
	lead, verb := draw.S("  ", draw.Plain), "Read"
	var folds, names []string
	n, running := map[string]int{}, false
	for _, c := range it.Calls {
		if n[c.fold] == 0 {
			folds = append(folds, c.fold)
		}
		n[c.fold]++
		_, subject := c.Words()
		names = append(names, subject)
		running = running || !c.Ended
	}
	if running {
		lead = p.Mark(draw.Radio, draw.Accent)
	}
	slices.Sort(folds) // "file" before "search"
	for i, f := range folds {
		folds[i] = Plural(n[f], f)
	}
	left := draw.L(lead, draw.Span{Text: Pad(verb, 6) + " ", Style: draw.Style{Attr: draw.Bold}}, draw.S(strings.Join(folds, ", "), draw.Plain))
	return append(left, draw.S("  "+strings.Join(names, ", "), draw.Quiet)).Truncate(p.Cols(), p.O)
}

// Words are what a call is called: what it does and what with.
func (c *Call) Words() (verb, subject string) {
	verb = c.Title
	if verb == "" {
		verb = c.name
	}
	if i := strings.IndexByte(verb, ' '); i > 0 {
		verb, subject = verb[:i], verb[i+1:]
	}
	verb = strings.TrimSuffix(verb, ":")
	if t, ok := terminal(c.View); ok && t.Command != "" {
		subject = t.Command
	}
	if subject == "" && c.Title == "" {
		subject = argument(c.input)
	}
	return clip.Line(draw.String(clip.Visible(verb)), 40), Subject(subject)
}

// Subject is FirstLine of a name, an address or a command: what cannot be seen in
// it, or would change how the rest reads, stands there as its escape, so that it
// reads as nothing else.
func Subject(s string) string {
	head, rest, more := strings.Cut(strings.TrimSpace(clip.VisibleText(s)), "\n")
	if head = clip.Visible(head); more && strings.TrimSpace(rest) != "" {
		head += " …"
	}
	return clip.Line(draw.String(head), 500)
}

// argument is what the arguments of a call are about: their first text, else
// all of them.
func argument(input json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(input))
	var first [3]json.Token // "{", a name, its value
	for i := range first {
		var err error
		if first[i], err = d.Token(); err != nil {
			break
		}
	}
	if s, ok := first[2].(string); ok && first[0] == json.Delim('{') && s != "" {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}

func terminal(b view.Block) (view.Terminal, bool) {
	t, ok := b.(view.Terminal)
	return t, ok
}

// FirstLine is the first line of s that says something, and a sign of more.
func FirstLine(s string) string {
	s = strings.TrimSpace(s)
	head, rest, _ := strings.Cut(s, "\n")
	if strings.TrimSpace(rest) != "" {
		head += " …"
	}
	return clip.Line(draw.String(head), 500)
}

// Head is the line of a call: what it is, and what came of it.
func (p Paper) Head(c *Call) draw.Line {
	verb, subject := c.Words()
	lead := draw.S("  ", draw.Plain)
	switch _, changed := c.View.(view.Diff); {
	case c.asked, c.off:
		lead = p.Mark(draw.Warning, draw.Attention)
	case !c.Ended:
		lead = p.Mark(draw.Radio, draw.Accent)
	case c.denied:
		lead = p.Mark(draw.Cross, draw.Attention)
	case c.Wrong:
		lead = p.Mark(draw.Cross, draw.Wrong)
	case changed:
		lead = p.Mark(draw.Pencil, draw.Accent)
	case isTerminal(c.View) && c.task == "":
		lead = p.Mark(draw.Check, draw.OK)
	}
	left := draw.L(lead, draw.Span{Text: Pad(verb, 6) + " ", Style: draw.Style{Attr: draw.Bold}}, draw.S(subject, draw.Plain))
	facts := p.facts(c)
	if len(facts) == 0 {
		return left.Truncate(p.Cols(), p.O)
	}
	return draw.Beside(left, facts, p.Cols(), p.O)
}

func isImage(b view.Block) bool { _, ok := b.(view.Image); return ok }

func isTerminal(b view.Block) bool { _, ok := terminal(b); return ok }

// facts are what came of a call, in a few words.
func (p Paper) facts(c *Call) draw.Line {
	var parts []draw.Span
	say := func(s string, r draw.Role) {
		if len(parts) > 0 {
			parts = append(parts, draw.S(" "+p.Sign(draw.Middot)+" ", draw.Quiet))
		}
		parts = append(parts, draw.S(s, r))
	}
	switch {
	case c.asked:
		say("waits for your answer", draw.Attention)
		return parts
	case !c.Ended:
		if !c.started {
			say("waits", draw.Quiet)
		} else if d := p.Now.Sub(c.at); d >= time.Second {
			say(Seconds(d), draw.Quiet)
		}
		return parts
	case c.moot:
		say("no longer asked", draw.Quiet)
		return parts
	case c.denied:
		say("refused", draw.Attention)
		return parts
	case c.off:
		say("put off", draw.Attention)
		return parts
	}
	switch b := c.View.(type) {
	case view.Terminal:
		if b.Exit != 0 {
			say(fmt.Sprintf("exit %d", b.Exit), draw.Wrong)
		}
	case view.Diff:
		parts = append(parts, p.PlusMinus(b.Added, b.Removed)...)
	case view.Code:
		say(Plural(lineCount(b.S), "line"), draw.Quiet)
	case view.Text:
		say(Plural(lineCount(b.S), "line"), draw.Quiet)
	case view.Table:
		say(Plural(len(b.Rows), "row"), draw.Quiet)
	case view.Tasks:
		say(progress(b.Items), draw.Quiet)
	case view.Image:
		say(clip.Size(int64(len(b.Data))), draw.Quiet)
	case view.Questions, view.Form, view.Group, view.Meter, nil:
		if c.text != "" && !c.Wrong {
			say(Plural(lineCount(c.text), "line"), draw.Quiet)
		}
	}
	if c.task != "" {
		say("in the background: "+c.task, draw.Quiet)
	} else if c.took >= 100*time.Millisecond {
		say(Span(c.took), draw.Quiet)
	}
	return parts
}

func progress(items []view.Task) string {
	n := 0
	for _, t := range items {
		if t.Status == view.Completed {
			n++
		}
	}
	return fmt.Sprintf("%d of %d done", n, len(items))
}

func lineCount(s string) int {
	s = strings.TrimSuffix(s, "\n")
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// callBody is what of a call is shown below its line.
func (p Paper) callBody(c *Call) []draw.Line {
	var out []draw.Line
	gutter := draw.S("  "+Pad(p.Sign(draw.Gutter), 2), draw.Quiet)
	if p.O.Spoken {
		gutter = draw.S("    ", draw.Plain)
	}
	text := func(s string, r draw.Role, max int) {
		o := p.Inner(4, max, false)
		out = append(out, draw.Indent(o.Bound(draw.WrapAll(draw.Text(s, draw.Style{Role: r}), o.Width)), gutter)...)
	}
	if t, ok := terminal(c.View); ok && p.Whole && strings.Contains(strings.TrimSpace(t.Command), "\n") {
		text(t.Command, draw.Code, wholeLines)
	}
	switch {
	case c.denied:
		text(c.why, draw.Quiet, textLines)
		if c.comment != "" && !strings.Contains(c.why, c.comment) {
			text("“"+c.comment+"”", draw.Plain, textLines)
		}
		return out
	case c.off:
		text(c.why, draw.Quiet, textLines)
		return out
	case !c.Ended:
		if !c.asked {
			out = append(out, p.tail(c, gutter)...)
		}
		return out
	case c.View == nil:
		if c.Wrong || p.Whole {
			s := c.text
			if s == "" {
				s = c.why
			}
			text(s, draw.Plain, textLines)
		}
		return out
	case c.fold != "" && !p.Whole && !c.Wrong, isImage(c.View): // the line above names it, and a picture follows
		return nil
	}
	if c.task != "" {
		out = append(out, p.tail(c, gutter)...)
	}
	lines, n, tail := p.bounds(c)
	shown := c.View
	if t, ok := terminal(c.View); ok && t.Exit != 0 && t.Note == fmt.Sprintf("exit code %d", t.Exit) {
		t.Note = "" // the line above says so
		shown = t
	}
	if lines || p.Whole {
		out = append(out, draw.Indent(draw.Block(shown, p.Inner(4, n, tail)), gutter)...)
	}
	if c.Wrong && c.text != "" {
		text(c.text, draw.Plain, textLines)
	}
	return out
}

// tail is the end of what a call wrote while it ran.
func (p Paper) tail(c *Call, gutter draw.Span) []draw.Line {
	if len(c.tail) == 0 {
		return nil
	}
	o := p.Inner(4, tailLines, true)
	o.Hint = ""
	return draw.Indent(lastLines(draw.Output(string(c.tail), draw.Style{Role: draw.Quiet}), o), gutter)
}

// bounds says whether a result is shown below its call where it is folded, and
// how many lines of it.
func (p Paper) bounds(c *Call) (show bool, lines int, tail bool) {
	switch b := c.View.(type) {
	case view.Terminal:
		if c.Wrong || b.Exit != 0 {
			return true, failLines, true
		}
		return true, outputLines, true
	case view.Diff:
		return true, diffLines, false
	case view.Table:
		return true, outputLines + 2, false
	case view.Tasks:
		return p.Plain, outputLines + 6, false // elsewhere the list stands above the prompt
	case view.Image, view.Questions, view.Form:
		return true, diffLines, false
	case view.Group, view.Code, view.Text, view.Meter, nil:
	}
	return true, textLines, false
}

// lastLines wraps lines and keeps the last of them.
func lastLines(lines []draw.Line, o draw.Options) []draw.Line {
	lines = lines[max(0, len(lines)-o.MaxLines):]
	lines = draw.WrapAll(lines, o.Width)
	return lines[max(0, len(lines)-o.MaxLines):]
}
