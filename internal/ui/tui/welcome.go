package tui

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
)

// welcome asks what a start has to ask: the colours on the first one, where a
// model is to come from when there is none, and whether the folder is trusted.
// Each can be left with Esc.
func (m *Model) welcome() []effect {
	if m.s != nil && m.s.Prompt != "" {
		return m.send(edit.Prompt{Text: m.s.Prompt, Shown: m.s.Prompt})
	}
	var out []effect
	if m.host.First != nil && m.host.Themes != nil && !m.greeted && m.host.First() {
		m.open(m.firstTheme())
	}
	m.greeted = true
	out = append(out, m.without()...)
	out = append(out, m.lost()...)
	if m.s != nil && m.host.Trust != nil && !m.trusting {
		m.trusting = true
		out = append(out, work{func(ctx context.Context) func(*Model) []effect {
			t, err := m.host.Trust(ctx)
			return func(m *Model) []effect {
				if err != nil || t == nil {
					return m.fail(err)
				}
				m.open(m.trustMenu(t))
				return nil
			}
		}})
	}
	return out
}

func (m *Model) firstTheme() dialog {
	keep := func(m *Model, name string) []effect {
		m.screen.chosen = name
		return append(m.setTheme(name), m.save("ui.theme", name)...)
	}
	var all []Choice
	for _, n := range append([]string{"auto"}, m.host.Themes()...) {
		all = append(all, Choice{ID: n, Name: n, Now: n == "auto"})
	}
	d := newMenu(m, "Welcome to adze. Which colours?", all, func(m *Model, c Choice) []effect { return keep(m, c.ID) })
	d.about, d.fixed, d.place = "They change while you choose; auto follows the terminal's background. /theme changes them later.", true, rankWelcome
	d.marked = func(m *Model, c Choice) []effect { return m.setTheme(c.ID) }
	d.dropped = func(m *Model) []effect {
		m.screen.chosen = "auto"
		if m.host.Save == nil {
			return m.setTheme("auto")
		}
		return append(m.setTheme("auto"), work{func(context.Context) func(*Model) []effect {
			_ = m.host.Save("ui.theme", "auto") // nobody asked for it: where it cannot be written, the next start asks again
			return nil
		}})
	}
	d.hint, d.sample = "Enter takes it, Esc skips", sampled
	return d
}

func (m *Model) firstModel() dialog {
	all := []Choice{
		{ID: "demo", Name: "See the demo", About: "needs no key: it repairs a small program, with a scripted model"},
		{ID: "again", Name: "Look again", About: "for a key in the environment, or a local server (Ollama, LM Studio, llama.cpp)"},
	}
	login, logsIn := m.host.Reports["login"]
	if logsIn {
		all = append([]Choice{{ID: "login", Name: "Save a key", About: "Anthropic, OpenAI, Gemini, OpenRouter, …"}}, all...)
	}
	d := newMenu(m, "There is no model yet", all, func(m *Model, c Choice) []effect {
		switch c.ID {
		case "demo":
			return m.begin(Start{Demo: true})
		case "login":
			return m.reportOf("login", login, "")
		}
		return m.begin(m.start)
	})
	d.fixed, d.place = true, rankWelcome
	d.hint = "Enter takes it, Esc closes"
	return d
}

func (m *Model) trustMenu(t *Trust) dialog {
	all := []Choice{{ID: "no", Name: "No, use none of it", About: "adze works all the same"}}
	if t.Refused == "" {
		all = append(all, Choice{ID: "yes", Name: "Yes, I know what it does"})
	}
	d := newMenu(m, "Trust "+t.Folder+"?", all, func(m *Model, c Choice) []effect {
		if c.ID != "yes" {
			return nil
		}
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			err := t.Grant(ctx)
			return func(m *Model) []effect {
				if err != nil || m.s == nil {
					return m.fail(err)
				}
				again := m.start
				if m.st.Seq > 0 {
					again = Start{Resume: m.s.ID}
				}
				return m.begin(again)
			}
		}}}
	})
	d.about = "It brings settings that could run programs or loosen what is asked about. Until you trust it, adze uses none of them."
	if t.Refused != "" {
		d.about += " It cannot be trusted: " + t.Refused
	}
	d.above, d.fixed, d.place, d.careful = t.claims, true, rankTrust, true
	d.hint = "Esc decides later"
	return d
}

// claims are what a folder brings, exactly.
func (t *Trust) claims(p paper, width, rows int) []draw.Line {
	var out []draw.Line
	for i, l := range t.Claims {
		if i+1 >= rows && i+1 < len(t.Claims) {
			return append(out, draw.L(draw.S(fmt.Sprintf("%s %d more; adze trust shows all", p.Sign(draw.Ellipsis), len(t.Claims)-i), draw.Attention)))
		}
		out = append(out, draw.Exact(l, draw.Plain).Truncate(width, p.O))
	}
	return out
}
