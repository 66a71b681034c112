package tui

import (
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

const (
	// guard is how long a dialog is seen before a key counts for it.
	guard = 250 * time.Millisecond
	// typingPause is how long the keyboard must have been quiet when somebody was
	// typing as a dialog came up.
	typingPause = 500 * time.Millisecond
)

// dialogs are those that are open, the most urgent first: that one is seen. Keys count
// for it only when a person can have meant them for it; until then they go on into the
// prompt box. Where a prompt stands half written there, however long somebody thinks about
// it, keys go to the prompt until an arrow chooses the dialog; letters go there even then.
type dialogs struct {
	shown   []dialog.Dialog
	guarded guarded
	keyed   time.Time   // when a key came last that no dialog took
	writes  func() bool // reports whether something stands in the prompt box
}

// guarded is what is known of the first dialog.
type guarded struct {
	d       dialog.Dialog
	painted time.Time // when the terminal had it, zero before
	quiet   bool      // the keyboard was, for long enough
	listens bool      // and the terminal had a frame since, with what was typed until then
	taken   bool      // by an arrow, since something was typed
	held    bool      // a key came that it did not take
	writing bool      // something stood in the prompt box before
}

// first is the dialog that is seen, nil without.
func (s *dialogs) first() dialog.Dialog {
	if len(s.shown) == 0 {
		return nil
	}
	return s.shown[0]
}

// open puts a dialog in its place by rank. There is one menu, and one about a rewind.
func (s *dialogs) open(d dialog.Dialog) {
	rank := d.Kind().Rank
	if rank == dialog.RankMenu || rank == dialog.RankRewind {
		s.closeAll(func(is dialog.Kind) bool { return is.Rank == rank })
	}
	i := slices.IndexFunc(s.shown, func(o dialog.Dialog) bool { return o.Kind().Rank > rank })
	if i < 0 {
		i = len(s.shown)
	}
	s.shown = slices.Insert(s.shown, i, d)
}

// close takes a dialog away, closeAll all that are of a kind.
func (s *dialogs) close(d dialog.Dialog) {
	s.shown = slices.DeleteFunc(s.shown, func(o dialog.Dialog) bool { return o == d })
}

func (s *dialogs) closeAll(which func(dialog.Kind) bool) {
	s.shown = slices.DeleteFunc(s.shown, func(o dialog.Dialog) bool { return which(o.Kind()) })
}

// closeQuestion takes the dialog of a call away: it was answered, here or by
// another client.
func (s *dialogs) closeQuestion(call string) {
	s.closeAll(func(is dialog.Kind) bool { return is.Call == call && call != "" })
}

// dropQuestions takes the questions away that a turn left, but those that are open.
func (s *dialogs) dropQuestions(open map[string]event.Asked) {
	s.closeAll(func(is dialog.Kind) bool {
		_, stays := open[is.Call] // of an agent, which the turn's end does not settle
		return is.Call != "" && !stays
	})
}

// waitsForPerson reports whether somebody waits for the first dialog.
func (s *dialogs) waitsForPerson() bool { return len(s.shown) > 0 && s.first().Kind().Asks }

// painted is told when the terminal has taken a frame: from now on the person
// can see the first dialog as it is now.
func (s *dialogs) painted(d dialog.Dialog, now time.Time) {
	if d == nil || s.first() != d {
		return
	}
	switch g := s.guards(d); {
	case g.painted.IsZero():
		g.painted = now
	case g.quiet:
		g.listens = true
	}
}

// unseen is the first dialog when the terminal has it not yet as it is now.
func (s *dialogs) unseen() dialog.Dialog {
	d := s.first()
	if d == nil {
		return nil
	}
	if g := s.guards(d); g.painted.IsZero() || g.quiet && !g.listens {
		return d
	}
	return nil
}

// guards is what is known of d, which is the first dialog.
func (s *dialogs) guards(d dialog.Dialog) *guarded {
	if s.guarded.d != d {
		s.guarded = guarded{d: d, writing: s.writes()}
	}
	return &s.guarded
}

// listensAt is when the first dialog takes keys if none comes until then; zero
// when it does already, or is not seen yet.
func (s *dialogs) listensAt() time.Time {
	if !s.waitsForPerson() {
		return time.Time{}
	}
	g := s.guards(s.first())
	if g.quiet || g.painted.IsZero() {
		return time.Time{}
	}
	at := g.painted.Add(guard)
	if typed := s.keyed.Add(typingPause); typed.After(at) {
		return typed
	}
	return at
}

// listen has the first dialog take keys when it is time for that.
func (s *dialogs) listen(now time.Time) {
	if at := s.listensAt(); !at.IsZero() && !now.Before(at) {
		s.guarded.quiet, s.guarded.held = true, false
	}
}

// early reports whether a key may have been meant for what was seen before the
// dialog: it was not painted, or not for long, or the person is in the middle
// of typing, however long that takes. Arrows are meant for a dialog that is seen; so are
// Esc and Ctrl+C for choices.
func (s *dialogs) early(d dialog.Dialog, k keymap.Key, now time.Time) bool {
	if !d.Kind().Asks {
		return false
	}
	g := s.guards(d)
	_, chooses := d.(*menu)
	takes := k.Name == "down" || k.Name == "up" || chooses && (k.Name == "esc" || k.Mod == keymap.Ctrl && k.Name == "c")
	if takes && (chooses || s.writes()) && !g.painted.IsZero() && !now.Before(g.painted.Add(guard)) {
		g.quiet, g.listens, g.held, g.taken = true, true, false, true
	}
	if g.listens && !s.drafted() && !(s.drafts() && !fields(d) && types(k)) {
		return false
	}
	s.hold()
	return true
}

// earlyLine is early for a line of plain mode, which no key of a prompt goes into.
func (s *dialogs) earlyLine(d dialog.Dialog) bool {
	early := d.Kind().Asks && !s.guards(d).listens
	if early {
		s.hold()
	}
	return early
}

// types reports whether a key changes a prompt that stands in the box.
func types(k keymap.Key) bool {
	return k.Types() || k.Name == "backspace" || k.Mod == keymap.Ctrl && (k.Name == "w" || k.Name == "u" || k.Name == "j")
}

// fields reports whether a text is written in a dialog.
func fields(d dialog.Dialog) bool { return d.In()[0] == keymap.Edit }

// drafted reports whether all keys are the prompt's that stands half written in the box.
func (s *dialogs) drafted() bool { return s.drafts() && !s.guards(s.first()).taken }

// hold has the first dialog take no key until somebody stops typing.
func (s *dialogs) hold() {
	if s.waitsForPerson() {
		g := s.guards(s.first())
		g.quiet, g.listens, g.held, g.taken = false, false, true, false
	}
}

// holds reports whether keys go to the prompt while the first dialog asks.
func (s *dialogs) holds() bool {
	return s.waitsForPerson() && (s.guards(s.first()).held || s.drafted())
}

// drafts reports whether a prompt stands half written in the box while the first dialog
// asks: it stays in view.
func (s *dialogs) drafts() bool { return s.waitsForPerson() && s.writes() }
