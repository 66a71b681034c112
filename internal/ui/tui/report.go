package tui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ui/story"
)

// report prints something of adze's own.
func (m *Model) report(name, markdown string) []effect {
	m.story.Add(m.reported(&story.Item{Text: markdown, Hint: "/" + name}))
	return nil
}

// reported is the item of something that adze prints because of a command, its hint.
func (m *Model) reported(it *story.Item) *story.Item {
	it.Kind, it.Done, it.At, it.Level = story.Noted, true, m.now, "report"
	it.Typed = m.screen.plain && m.spoken.last == it.Hint
	return it
}

func (m *Model) reportOf(name string, r Report, args string) []effect {
	switch {
	case args == "" && r.Picks:
		return m.reportOn(name, r)
	case args == "" && name == "permissions" && m.s != nil:
		return m.rulesCommand()
	case args == "" && name == "agents" && m.s != nil:
		return m.agentsCommand()
	}
	session, shown, look := "", m.s, m.host.Look
	if shown != nil {
		session = shown.ID
	}
	run := func(ctx context.Context) func(*Model) []effect {
		text, err := m.textOf(ctx, session, name, r, args)
		count := func(*Model) []effect { return nil }
		if err == nil && r.Looks && look != nil && shown != nil {
			count = looked(ctx, look, shown)
		}
		return func(m *Model) []effect {
			if err != nil {
				return append(m.fail(err), m.without()...)
			}
			out := count(m) // first, so that what the report says is true when it is read
			if text != "" {
				m.report(strings.TrimSpace(name+" "+story.FirstLine(args)), text)
			}
			if name == "login" && m.s == nil { // there may be a model now
				out = append(out, m.begin(m.start)...)
			}
			return out
		}
	}
	switch {
	case r.Here == nil || !r.Here(args):
		return []effect{work{run}}
	case r.Check == nil:
		return []effect{away{run}}
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		err := r.Check(ctx, args)
		return func(m *Model) []effect {
			if err != nil {
				return append(m.fail(err), m.without()...)
			}
			return []effect{away{run}}
		}
	}}}
}

// textOf is what a report comes to.
func (m *Model) textOf(ctx context.Context, session, name string, r Report, args string) (string, error) {
	if r.Here != nil && r.Here(args) {
		return r.Run(ctx, args)
	}
	a, err := m.host.Client.Ask(ctx, session, ask.Slash(name, args))
	return a.Text, err
}

// reportOn has a person choose what a report is about.
func (m *Model) reportOn(name string, r Report) []effect {
	d := newMenu(m, "/"+name+" "+r.Args, nil, func(m *Model, c Choice) []effect { return m.reportOf(name, r, c.ID) })
	d.About, d.Loading, d.dropped = r.About, true, (*Model).without
	d.Hint = "Enter takes it, Esc goes back"
	m.open(d)
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		reply, err := m.host.ask(ctx, nil, ask.Pick{Name: name})
		return func(m *Model) []effect {
			if d.Loading = false; err != nil {
				m.close(d)
				return append(m.fail(err), m.without()...)
			}
			d.Set(reply.Choices)
			return nil
		}
	}}}
}

// statusCommand says what this session is.
func (m *Model) statusCommand(string) []effect {
	s := m.s
	if s == nil {
		return m.report("status", m.about(""))
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		level := "" // nobody knows
		if now, err := m.host.now(ctx, s); err == nil {
			level = cmp.Or(now.Effort, "as the model has it")
		}
		return func(m *Model) []effect { return m.report("status", m.about(level)) }
	}}}
}

// about says what this session is, with a model that thinks so hard.
func (m *Model) about(effort string) string {
	if m.s == nil {
		return "There is no session yet."
	}
	var b strings.Builder
	row := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", k, v)
		}
	}
	b.WriteString("| | |\n|---|---|\n")
	row("adze", m.host.Version)
	row("session", m.s.ID)
	row("title", m.st.Title)
	row("folder", m.s.where())
	row("branch", m.s.Branch)
	row("model", m.st.Model)
	row("effort", effort)
	row("mode", string(m.mode()))
	if m.s.Window > 0 {
		row("window", count(m.s.Window)+" tokens")
	}
	row("turns", fmt.Sprint(m.st.Turns))
	return b.String()
}
