package story

import (
	"fmt"
	"slices"
	"time"

	effects "github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// rewound tells of a rewind and marks what it took back.
func (s *Story) rewound(seq event.Seq, at time.Time, b event.Rewound) {
	text := b.String()
	left := b.Left()
	for _, x := range left {
		text += "\nN" + x[1:]
	}
	level := "info"
	if len(left) > 0 {
		level = "warning"
	}
	hint := ""
	if (!b.Undo || b.Dropped > 0) && (b.Cut == "" || len(b.Changes) > 0) {
		hint = "/rewind undo takes it back"
	}
	s.Add(&Item{Kind: Noted, Done: true, At: at, Seq: seq, Level: level, Text: text, Hint: hint, went: event.Trail{}.With(event.Event{Seq: seq, Body: b})})
	s.Remark()
}

// Remark says anew of each item which rewind took it back.
func (s *Story) Remark() {
	var trail event.Trail
	for _, it := range s.Items {
		trail = append(trail, it.went...)
	}
	var at event.Seq // what has no event of its own came with the one before
	for _, it := range s.Items {
		at = max(at, it.Seq)
		if it.Back = 0; len(trail) > 0 && it.went == nil && at > 0 && !trail.There(at) {
			it.Back = trail[len(trail)-1].Seq
		}
	}
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
