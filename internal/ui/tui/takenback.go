package tui

import (
	"fmt"
	"slices"
	"time"

	effects "github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A went is a rewind, as the item that tells of it has it.
type went struct {
	to         event.Seq // the prompt that it went back to before, or the rewind that it undoes
	undo       bool
	talk, code bool // what it went back in
}

// rewound tells of a rewind and marks what it took back.
func (s *story) rewound(seq event.Seq, at time.Time, b event.Rewound) {
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
	s.add(&item{kind: noted, done: true, at: at, seq: seq, level: level, text: text, hint: hint, went: &went{b.To, b.Undo, b.Conversation, b.Code}})
	s.remark()
}

// remark says anew of each item which rewind took it back.
func (s *story) remark() {
	for _, it := range s.items {
		it.back = 0
	}
	for n, it := range s.items {
		w := it.went
		if w == nil || !w.talk {
			continue
		}
		from := slices.IndexFunc(s.items[:n], func(o *item) bool { return o.seq >= w.to })
		if w.undo {
			for _, o := range s.items[:n] {
				if o.back == w.to {
					o.back = 0
				}
			}
		}
		for _, o := range s.items[max(from, 0):n] {
			if o.back == 0 && o.went == nil {
				o.back = it.seq
			}
		}
	}
}

// undoable is the newest rewind that was not taken back, nil without.
func (s *story) undoable() *went {
	var open []*went
	for _, it := range s.items {
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
func (s *story) changedFiles(b event.ToolFinished) {
	c, ok := effects.Of[effects.Changed](b.Effects)
	if !ok {
		return
	}
	for _, it := range slices.Backward(s.items) {
		if it.kind != said {
			continue
		}
		if it.files == nil {
			it.files = map[string]bool{}
		}
		for _, f := range c.Files {
			it.files[f.Path] = true
		}
		return
	}
}

// takenBack draws an item that a rewind took back: quietly in the transcript,
// and where things are folded, a line for each prompt.
func (p paper) takenBack(it *item) []draw.Line {
	tag := draw.L(draw.S("taken back", draw.Quiet))
	if !p.whole {
		if it.kind != said {
			return nil
		}
		left := draw.L(p.mark(draw.Prompt, draw.Quiet), draw.S(firstLine(it.text), draw.Quiet))
		return []draw.Line{draw.Beside(left, tag, p.cols(), p.o)}
	}
	lines := p.present(it)
	for i, l := range lines {
		quiet := slices.Clone(l)
		for j := range quiet {
			quiet[j].Style = draw.Style{Role: draw.Quiet, Attr: quiet[j].Attr}
		}
		if lines[i] = quiet; i == 0 {
			lines[i] = draw.Beside(quiet, tag, p.cols(), p.o)
		}
	}
	return lines
}

// ago is how long something is past, for people: "now", "12 min", "3 h", "4 days".
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return plural(int(d/(24*time.Hour)), "day")
}
