package tui

import (
	"errors"
	"slices"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// refusedBy reports whether a session could not be opened for this reason.
func refusedBy(err error, why op.Code) bool { return errors.Is(err, &op.Refusal{Code: why}) }

// without asks what to do when there is no session: nothing can be sent until
// there is one.
func (m *Model) without() []effect {
	switch {
	case m.s != nil || m.gone == nil:
		return nil
	case slices.ContainsFunc(m.shown, func(d dialog.Dialog) bool { return d.Kind() == dialog.Kind{Rank: dialog.RankWelcome, Asks: true} }):
		return nil // it is asked
	case refusedBy(m.gone, op.NoModel):
		m.open(m.firstModel())
	default:
		m.open(m.sessionless())
	}
	return nil
}

// sessionless offers what can be had in the place of a session that could not
// be opened.
func (m *Model) sessionless() dialog.Dialog {
	was := m.start
	named := was.Resume != "" || was.Continue
	var all []Choice
	if named && refusedBy(m.gone, op.Taken) {
		all = append(all, goInACopy)
	}
	if named {
		all = append(all, Choice{ID: "pick", Name: "Choose another session"})
		all = append(all, Choice{ID: "new", Name: "Begin a new session"})
	}
	login, logsIn := m.host.Reports["login"]
	if refusedBy(m.gone, op.NoKey) {
		if logsIn {
			all = append(all, Choice{ID: "login", Name: "Save a key"})
		}
		all = append(all, Choice{ID: "model", Name: "Choose another model"})
	}
	all = append(all, Choice{ID: "again", Name: "Try again"}, Choice{ID: "exit", Name: "Leave adze"})
	heading := "There is no session"
	if named && refusedBy(m.gone, op.Taken) {
		heading = "The session is open elsewhere"
	}
	d := newMenu(m, heading, all, func(m *Model, c Choice) []effect {
		switch c.ID {
		case goInACopy.ID:
			was.Fork = true
		case "pick":
			return m.pickSession((*Model).without)
		case "new":
			return m.begin(Start{Fresh: true})
		case "login":
			return m.reportOf("login", login, "")
		case "model":
			return m.modelCommand("")
		case "exit":
			return m.leave()
		}
		return m.begin(was)
	})
	d.Fixed, d.Careful, d.Rank, d.dropped = true, true, dialog.RankWelcome, (*Model).stays
	d.Hint = "Enter takes it, Esc closes"
	return d
}

// stays says how to go on where there is no session and nothing was chosen; below
// the box it stands anyway.
func (m *Model) stays() []effect {
	if m.screen.plain {
		m.say("there is no session: what you send asks again, /exit leaves", draw.Quiet)
	}
	return nil
}
