package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/story"
)

// agentsCommand lists the definitions of agents. What can be done with one is a menu of its own.
func (m *Model) agentsCommand() []effect {
	const begins, works = "\x00new", "\x00works " // no agent has such a name
	d := newMenu(m, "Agents", nil, nil)
	d.Loading, d.Hint = true, "Enter shows what can be done, letters find one, Esc closes"
	var list []ask.Definition
	d.chosen = func(m *Model, c Choice) []effect {
		if c.ID == begins {
			return m.newAgent()
		}
		if id, ok := strings.CutPrefix(c.ID, works); ok {
			if t := m.task(id); t != nil {
				return m.seeAgent(t.asTask(), false)
			}
			m.say("that agent has ended", draw.Quiet)
			return nil
		}
		if i := slices.IndexFunc(list, func(x ask.Definition) bool { return x.Name == c.ID }); i >= 0 {
			m.open(m.agentMenu(list[i]))
		}
		return nil
	}
	m.open(d)
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		var err error
		r, err := m.host.ask(ctx, s, ask.Definitions{})
		if err == nil {
			list, err = ask.Data[[]ask.Definition](r)
		}
		return func(m *Model) []effect {
			if d.Loading = false; err != nil {
				m.close(d)
				return m.fail(err)
			}
			var all []Choice
			for _, t := range m.tasks {
				if t.end == nil && t.start.Agent != nil && !m.screen.plain {
					all = append(all, Choice{ID: works + t.start.ID, Name: taskName(t.asTask()), About: story.Subject(t.doing), Right: "works, " + draw.String(t.start.ID)})
				}
			}
			for _, x := range list {
				all = append(all, m.agentChoice(x))
			}
			d.Set(append(all, Choice{ID: begins, Name: "New agent …", About: "writes a file to fill in"}))
			return nil
		}
	}}}
}

// agentChoice is a definition in the list.
func (m *Model) agentChoice(x ask.Definition) Choice {
	c := Choice{ID: x.Name, Name: draw.String(x.Name), About: draw.String(x.About), Right: m.agentFrom(x), Find: x.From}
	switch {
	case x.Denied:
		c.Right = "off"
	case x.Person:
		c.Right = "for people, " + c.Right
	}
	if x.Model != "" {
		c.Right = draw.String(clip.Line(x.Model, 30)) + ", " + c.Right
	}
	return c
}

// agentFrom is whose a definition is, in a word or two.
func (m *Model) agentFrom(x ask.Definition) string {
	switch x.Scope {
	case "user":
		return "yours"
	case "project":
		return "this project"
	case "adze", "managed", "flag":
		return x.Scope
	}
	return draw.String(clip.Line(m.short(x.From), 40))
}

// agentMenu is what can be done with a definition.
func (m *Model) agentMenu(x ask.Definition) *menu {
	var all []Choice
	switch off := (Choice{ID: "off", Name: "Turn it off", About: "no model starts it, by a rule in your settings"}); {
	case x.Person:
	case x.Denied:
		all = []Choice{{ID: "on", Name: "Turn it on", About: "models can start it again"}}
	default:
		all = []Choice{{ID: "try", Name: "Try it with a prompt"}, off}
	}
	if x.File != "" && m.host.EditFile != nil {
		all = append(all, Choice{ID: "edit", Name: "Edit its file"})
	}
	d := newMenu(m, "The agent "+draw.String(x.Name), all, nil)
	d.About, d.Fixed, d.Hint = m.aboutAgent(x), true, "Enter takes it, Esc goes back"
	d.None = "Models are not offered it."
	d.dropped = func(m *Model) []effect { return m.agentsCommand() }
	d.chosen = func(m *Model, c Choice) []effect {
		switch c.ID {
		case "try":
			m.open(d)
			d.ask(m, "What is it to do", "", func(m *Model, text string) []effect {
				if text == "" {
					return nil
				}
				m.close(d)
				line := "Have the agent " + x.Name + " do this, wait for it, and say what it reports:\n" + text
				return m.send(edit.Prompt{Text: line, Shown: line})
			})
			return nil
		case "edit":
			return m.editAgent(x.File)
		case "on":
			return m.changeAgent(ask.Definitions{Name: x.Name, Do: ask.AllowDefinition})
		}
		return m.changeAgent(ask.Definitions{Name: x.Name, Do: ask.DenyDefinition})
	}
	return d
}

// aboutAgent is what a definition says, in a few lines.
func (m *Model) aboutAgent(x ask.Definition) string {
	tools := "all tools"
	if x.Tools != nil {
		tools = cmp.Or(strings.Join(x.Tools, ", "), "no tools")
	}
	lines := []string{x.About, "Model: " + cmp.Or(x.Model, "that of the session"), "Tools: " + clip.Line(tools, 300), "From: " + m.short(cmp.Or(x.File, x.From))}
	if x.Person {
		lines = append(lines, "adze --agent "+hint.Shell(x.Name)+" begins a session as it.")
	}
	for i, l := range lines {
		lines[i] = draw.String(clip.Line(clip.Visible(l), 600))
	}
	return strings.Join(lines, "\n")
}

// changeAgent has something done with a definition, and shows the list again.
func (m *Model) changeAgent(q ask.Definitions) []effect {
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, q)
		return func(m *Model) []effect {
			if err != nil {
				return append(m.agentsCommand(), m.fail(err)...)
			}
			m.note("info", draw.String(r.Text), "")
			return m.agentsCommand()
		}
	}}}
}

// newAgent has a person say where a new definition is to be, and its name; then they write it.
func (m *Model) newAgent() []effect {
	scopes := []Choice{{ID: string(policy.User), Name: "Yours", About: "in all folders"}, {ID: string(policy.Project), Name: "This project's", About: "for everybody who trusts it"}}
	d := newMenu(m, "A new agent", scopes, nil)
	d.Fixed, d.Hint = true, "Enter takes it, Esc goes back"
	d.dropped = func(m *Model) []effect { return m.agentsCommand() }
	d.chosen = func(m *Model, c Choice) []effect {
		m.open(d)
		d.ask(m, "Its name (a-z, 0-9 and -)", "", func(m *Model, name string) []effect {
			if name == "" {
				return nil
			}
			return m.beginAgent(d, name, policy.Scope(c.ID))
		})
		return nil
	}
	m.open(d)
	return nil
}

// beginAgent writes a definition to fill in, and opens it in the person's editor.
func (m *Model) beginAgent(d *menu, name string, scope policy.Scope) []effect {
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Definitions{Name: name, Do: ask.BeginDefinition, Scope: scope})
		return func(m *Model) []effect {
			if err != nil {
				d.Wrong = draw.String(err.Error())
				m.again()
				return nil
			}
			m.close(d)
			m.note("info", draw.String(r.Text), "")
			if len(r.Names) == 0 || m.host.EditFile == nil {
				return nil
			}
			return m.editAgent(r.Names[0])
		}
	}}}
}

// editAgent opens a definition in the person's editor.
func (m *Model) editAgent(file string) []effect {
	return []effect{away{func(ctx context.Context) func(*Model) []effect {
		err := m.host.EditFile(ctx, file)
		return func(m *Model) []effect { return m.fail(err) }
	}}}
}
