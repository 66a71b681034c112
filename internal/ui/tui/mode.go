package tui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/edit"
)

// usualModes are those that no flag has to allow.
var usualModes = []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.DontAsk}

// cycleMode goes to the permission mode after the one that was asked for last.
func (m *Model) cycleMode() []effect {
	modes := usualModes
	if m.s != nil && len(m.s.Modes) > 0 {
		modes = m.s.Modes
	}
	i := slices.Index(modes, cmp.Or(m.requested, m.mode()))
	return m.setMode(modes[(i+1)%len(modes)])
}

func (m *Model) setMode(to policy.Mode) []effect {
	m.requested = to
	same := to == m.mode()
	return []effect{submit{op: op.SetMode{Mode: string(to)}, then: func(m *Model, err error) []effect {
		if err == nil && m.st.Seq == 0 {
			m.st.Mode = to // the log begins with the first prompt
			m.tellMode()
		} else if err == nil && same {
			m.tellMode()
		}
		if m.requested == to && (err != nil || m.mode() == to) { // else its event says that it is there
			m.requested = ""
		}
		return m.fail(err)
	}}}
}

// tellMode says, in plain mode, which mode it is now: no line below the prompt does.
func (m *Model) tellMode() {
	if m.screen.plain {
		m.tell(fmt.Sprintf("mode: %s, %s", m.mode(), modeAbout(m.mode())))
	}
}

// modeCommand chooses the permission mode.
func (m *Model) modeCommand(args string) []effect {
	if args != "" {
		md, ok := policy.ParseMode(args)
		if !ok {
			md = policy.Mode(args) // the session says which there are
		}
		return m.setMode(md)
	}
	var all []Choice
	modes := slices.Clone(usualModes)
	if m.s != nil {
		for _, md := range m.s.Modes {
			if !slices.Contains(modes, md) {
				modes = append(modes, md)
			}
		}
	}
	for _, md := range modes {
		all = append(all, Choice{ID: string(md), Name: string(md), About: modeAbout(md), Now: md == m.mode()})
	}
	d := newMenu(m, "Permission mode", all, func(m *Model, c Choice) []effect { return m.setMode(policy.Mode(c.ID)) })
	d.Fixed = true
	m.open(d)
	return nil
}

func (m *Model) planCommand(args string) []effect {
	out := m.setMode(policy.PlanMode)
	if args != "" {
		out = append(out, m.send(edit.Prompt{Text: args, Shown: args})...)
	}
	return out
}
