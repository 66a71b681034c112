package tui

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ui/dialog"
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
	// There are no colours in plain mode, and who writes already is asked another time.
	if m.host.First != nil && m.host.Themes != nil && !m.greeted && !m.screen.plain && m.box.Empty() && m.host.First() {
		m.open(m.firstTheme())
	}
	m.greeted = true
	out = append(out, m.without()...)
	out = append(out, m.lost()...)
	if m.s != nil && !m.trusting {
		m.trusting = true
		out = append(out, work{func(ctx context.Context) func(*Model) []effect {
			c, err := dataOf[ask.Claims](ctx, m.host, ask.Trust{})
			return func(m *Model) []effect {
				if err != nil || c.Sum == "" { // there is nothing to decide
					return m.fail(err)
				}
				m.open(m.trustMenu(c))
				return nil
			}
		}})
	}
	return out
}

func (m *Model) firstTheme() dialog.Dialog {
	keep := func(m *Model, name string) []effect {
		m.screen.chosen = name
		return append(m.setTheme(name), m.save("ui.theme", name)...)
	}
	var all []Choice
	for _, n := range append([]string{"auto"}, m.host.Themes()...) {
		all = append(all, Choice{ID: n, Name: n, Now: n == "auto"})
	}
	d := newMenu(m, "Welcome to adze. Which colours?", all, func(m *Model, c Choice) []effect { return keep(m, c.ID) })
	d.About, d.Fixed, d.Rank = "They change while you choose; auto follows the terminal's background. /theme changes them later.", true, dialog.RankWelcome
	d.marked = func(m *Model, c Choice) []effect { return m.setTheme(c.ID) }
	d.dropped = func(m *Model) []effect {
		m.screen.chosen = "auto"
		return append(m.setTheme("auto"), work{func(ctx context.Context) func(*Model) []effect {
			_ = m.host.save(ctx, "ui.theme", "auto") // nobody asked for it: where it cannot be written, the next start asks again
			return nil
		}})
	}
	d.Yields, d.Hint, d.Sample = true, "Enter takes it, Esc or a prompt skips", sampled
	return d
}

func (m *Model) firstModel() dialog.Dialog {
	all := []Choice{
		{ID: "demo", Name: "See the demo", About: "needs no key: a scripted model repairs a small program"},
		{ID: "again", Name: "Look again", About: "for a key, or Ollama, LM Studio, llama.cpp"},
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
		m.looked = true
		return m.begin(m.start)
	})
	if m.looked {
		d.About, m.looked = "Nothing was found.", false
	}
	d.Fixed, d.Careful, d.Rank, d.dropped = true, true, dialog.RankWelcome, (*Model).stays
	d.Hint = "Enter takes it, Esc closes"
	return d
}

// decide keeps what a person decided about what a folder brings.
func (h Host) decide(ctx context.Context, t ask.Claims, trust bool) error {
	return h.keep(ctx, ask.Decide{Sum: t.Sum, Trust: trust})
}

func (m *Model) trustMenu(t ask.Claims) dialog.Dialog {
	grant := func(ctx context.Context) error { return m.host.decide(ctx, t, true) }
	all := []Choice{{ID: "no", Name: "No, use none of it", About: "adze works all the same"}}
	if t.Refused == "" {
		all = append(all, Choice{ID: "yes", Name: "Yes, I know what it does"})
	}
	if len(t.Waiting) > 0 {
		all = []Choice{{ID: "no", Name: "No, leave them as they are", About: "adze works all the same"}, {ID: "yes", Name: "Yes, my servers may run what is in it"}}
	}
	heading := "Trust " + t.Folder + "?"
	if t.Changed != "" {
		heading = "Trust " + t.Folder + " again?"
	}
	d := newMenu(m, heading, all, func(m *Model, c Choice) []effect {
		if c.ID != "yes" {
			return m.declineTrust(t)
		}
		if m.s == nil || m.turn.running || m.s.Elsewhere {
			return []effect{work{func(ctx context.Context) func(*Model) []effect {
				err := grant(ctx)
				return func(m *Model) []effect {
					if err == nil && m.s != nil && m.s.Elsewhere { // it goes on, and takes up what counts now
						m.note("info", "The folder is trusted now.", "")
					}
					return m.fail(err)
				}
			}}}
		}
		again := m.start
		if m.st.Seq > 0 {
			again = Start{Resume: m.s.ID}
		}
		return []effect{open{start: again, first: grant}} // what is typed from now on waits for the session that has it
	})
	d.Above = func(p dialog.Paper, width, rows int) []draw.Line { return claimed(t, p, width, rows, &d.Off) }
	d.Fixed, d.Rank, d.Careful = true, dialog.RankTrust, true
	d.Hint = "Enter takes it, Esc decides later"
	return d
}

// declineTrust keeps a no, and says how it becomes a yes.
func (m *Model) declineTrust(t ask.Claims) []effect {
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		err := m.host.decide(ctx, t, false)
		return func(m *Model) []effect {
			switch {
			case err != nil:
			case len(t.Waiting) > 0:
				m.note("quiet", "Your MCP servers stay away from this folder.", "adze trust")
			default:
				m.note("quiet", "Nothing of what this folder brings is used; it is asked about again when it changes.", "adze trust")
			}
			return m.fail(err)
		}
	}}}
}

// leastTrust is how many rows what a folder brings has at least for the words
// before it to be whole.
const leastTrust = 8

// claimed is what a folder brings, exactly and whole, in at most rows lines from
// *off on: what changed since it was trusted, then all of it.
func claimed(t ask.Claims, p dialog.Paper, width, rows int, off *dialog.Reading) []draw.Line {
	text, short := "It brings settings that could run programs or loosen what is asked about. Until you trust it, adze uses none of them.", "It could run programs, or ask less:"
	if t.Changed != "" {
		text, short = "It changed since you trusted it. Until you trust it again, adze uses none of it.", "It changed since you trusted it:"
	}
	if len(t.Waiting) > 0 {
		text, short = "It brings nothing that needs trust by itself. MCP servers of yours look for code where they start, so they stay away from it until you trust it.", "MCP servers of yours wait for it:"
	}
	if t.Refused != "" {
		text += " It cannot be trusted: " + t.Refused
	}
	head := draw.WrapAll(draw.Text(text, draw.Style{Role: draw.Quiet}), width)
	if rows < leastTrust {
		head = []draw.Line{draw.L(draw.S(short, draw.Quiet)).Truncate(width, p.O)}
	}
	var body []draw.Line
	add := func(l draw.Line) { body = append(body, l.Wrap(width, draw.S("  ", draw.Plain))...) }
	for l := range strings.Lines(t.Changed) {
		l = strings.TrimRight(l, "\n")
		role := draw.Quiet
		switch {
		case strings.HasPrefix(l, "+"):
			role = draw.Added
		case strings.HasPrefix(l, "-"):
			role = draw.Removed
		}
		add(draw.Exact(l, role))
	}
	switch {
	case t.Changed == "":
	case len(t.List) == 0:
		body = append(body, nil, draw.L(draw.S("It brings nothing now that needs trust.", draw.Quiet)).Truncate(width, p.O))
	default:
		body = append(body, nil, draw.L(draw.S("It brings now:", draw.Quiet)))
	}
	for _, l := range append(slices.Clone(t.Waiting), t.List...) {
		add(draw.Exact(l, draw.Plain))
	}
	return append(head, p.Scrolled(body, off, max(rows-len(head), 2))...)
}
