package story

import (
	"fmt"
	"slices"
	"time"

	effects "github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A Went is a rewind, as the item that tells of it has it.
type Went struct {
	to         event.Seq // the prompt that it went back to before, or the rewind that it undoes
	undo       bool
	Talk, Code bool // what it went back in
}

// rewound tells of a rewind and marks what it took back.
func (s *Story) rewound(seq event.Seq, at time.Time, b event.Rewound) {
	text := b.String()
	for _, x := range b.Problems {
		text += "\nNot put back: " + x
	}
	level := "info"
	if len(b.Problems) > 0 {
		level = "warning"
	}
	hint := ""
	if !b.Undo {
		hint = "/rewind undo takes it back"
	}
	s.Add(&Item{Kind: Noted, Done: true, At: at, Seq: seq, Level: level, Text: text, Hint: hint, went: &Went{b.To, b.Undo, b.Conversation, b.Code}})
	s.Remark()
}

// Remark says anew of each item which rewind took it back.
func (s *Story) Remark() {
	for _, it := range s.Items {
		it.Back = 0
	}
	for n, it := range s.Items {
		w := it.went
		if w == nil || !w.Talk {
			continue
		}
		from := slices.IndexFunc(s.Items[:n], func(o *Item) bool { return o.Seq >= w.to })
		if w.undo {
			for _, o := range s.Items[:n] {
				if o.Back == w.to {
					o.Back = 0
				}
			}
		}
		for _, o := range s.Items[max(from, 0):n] {
			if o.Back == 0 && o.went == nil {
				o.Back = it.Seq
			}
		}
	}
}

// Undoable is the newest rewind that was not taken back, nil without.
func (s *Story) Undoable() *Went {
	var open []*Went
	for _, it := range s.Items {
		switch w := it.went; {
		case w == nil:
		case !w.undo:
			open = append(open, w)
		case len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

// changedFiles adds the files that a call changed to the prompt that led to it.
func (s *Story) changedFiles(b event.ToolFinished) {
	c, ok := effects.Of[effects.Changed](b.Effects)
	if !ok {
		return
	}
	for _, it := range slices.Backward(s.Items) {
		if it.Kind != Said {
			continue
		}
		if it.Files == nil {
			it.Files = map[string]bool{}
		}
		for _, f := range c.Files {
			it.Files[f.Path] = true
		}
		return
	}
}

// takenBack draws an item that a rewind took back: quietly in the transcript,
// and where things are folded, a line for each prompt.
func (p Paper) takenBack(it *Item) []draw.Line {
	tag := draw.L(draw.S("taken back", draw.Quiet))
	if !p.Whole {
		if it.Kind != Said {
			return nil
		}
		left := draw.L(p.Mark(draw.Prompt, draw.Quiet), draw.S(FirstLine(it.Text), draw.Quiet))
		return []draw.Line{draw.Beside(left, tag, p.Cols(), p.O)}
	}
	lines := p.present(it)
	for i, l := range lines {
		quiet := slices.Clone(l)
		for j := range quiet {
			quiet[j].Style = draw.Style{Role: draw.Quiet, Attr: quiet[j].Attr}
		}
		if lines[i] = quiet; i == 0 {
			lines[i] = draw.Beside(quiet, tag, p.Cols(), p.O)
		}
	}
	return lines
}

// Ago is how long something is past, for people: "now", "12 min", "3 h", "4 days".
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return Plural(int(d/(24*time.Hour)), "day")
}
