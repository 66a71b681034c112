package dialog

import (
	"fmt"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/view"
)

// yesToMore is what the hint says of the key that accepts further edits along with one.
const yesToMore = " yes, and accept edits"

// accepts reports whether a yes to what is marked can be one to further edits: to an edit,
// where these are asked about.
func (d *permit) accepts(c Ctx) bool {
	_, edits := d.q.View.(view.Diff)
	return edits && d.answers[d.at] == yes && c.Mode == policy.Default
}

// hint names the keys that no answer names, in words that fit.
func (d *permit) hint(c Ctx, width int) string {
	comment, explain, dot := c.Keys.Hint(keymap.ConfirmComment), c.Keys.Hint(keymap.ConfirmExplain), " "+c.Sign(draw.Middot)+" "
	switch {
	case d.rule != nil:
		return "" // it stands below the rule
	case d.comment != nil && d.answers[d.at] == no:
		return "Enter says no" + dot + "Esc goes back"
	case d.comment != nil:
		return "Enter keeps it" + dot + "Esc goes back"
	case d.whole:
		return explain + " or Esc shows less"
	}
	if d.lettered {
		next := " says yes"
		switch {
		case d.answers[d.at] == yesRule:
			next = " takes it"
			if width > 60 {
				next += dot + "← → how long" + dot + c.Keys.Hint(keymap.ConfirmEdit) + " edits the rule"
			}
		case d.answers[d.at] == no && d.said == "":
			next = " asks what instead"
		case d.answers[d.at] == no:
			next = " says no"
		}
		return c.Pressed.Text + " marks it" + dot + c.Keys.Hint(keymap.ConfirmYes) + next
	}
	long, short := "Esc stops the turn", "Esc stops"
	if d.said != "" {
		long, short = "Esc takes it back", "Esc undoes"
	} else if !c.Running {
		long, short = "Esc says no", "Esc: no"
	}
	more := ""
	switch {
	case d.answers[d.at] == yesRule:
		more = "← → how long" + dot + c.Keys.Hint(keymap.ConfirmEdit) + " edits the rule" + dot
	case d.accepts(c):
		more = c.Keys.Hint(keymap.ConfirmMode) + yesToMore + dot
	}
	if more != "" {
		for _, out := range []string{
			more + comment + " adds a comment" + dot + explain + " shows all" + dot + long, more + comment + " comments" + dot + explain + " more" + dot + short, more + explain + " more",
		} {
			if draw.L(draw.S(out, draw.Plain)).Width() <= width {
				return out
			}
		}
	}
	letters := ""
	if a, ok := c.Keys.Lookup(keymap.Confirmation, keymap.Rune("y")); ok && a == keymap.ConfirmYes {
		letters = fmt.Sprintf("1-%d, y, n mark, ", len(d.answers)) + c.Keys.Hint(keymap.ConfirmYes) + " answers" + dot
	}
	for _, out := range []string{
		comment + " adds a comment" + dot + explain + " shows the whole decision" + dot + letters + long,
		comment + " comments" + dot + explain + " shows all" + dot + letters + long,
		comment + " comments" + dot + explain + " more" + dot + letters + long,
		comment + " adds a comment" + dot + explain + " shows all" + dot + long,
	} {
		if draw.L(draw.S(out, draw.Plain)).Width() <= width {
			return out
		}
	}
	return comment + " comments" + dot + explain + " more" + dot + short
}
