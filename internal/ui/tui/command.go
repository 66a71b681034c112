package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// A command is a word after "/".
type command struct {
	name  string
	args  string // a hint for what follows; "" takes nothing
	about string
	from  string // who brought it, "" for adze's own
	run   func(m *Model, args string) []effect
}

// told is what a command does, and who brought it.
func (c command) told() string {
	if c.from == "" {
		return c.about
	}
	return strings.TrimSpace(c.about + " (" + story.FirstLine(c.from) + ")")
}

// commands are all that can be done here, by name.
func (m *Model) commands() []command {
	var out []command
	views := m.views()
	for _, c := range op.Commands() {
		k := command{name: c.Name, args: c.Args, about: c.About}
		switch k.run = views[c.Name]; {
		case c.Name == "compact":
			k.run = func(m *Model, args string) []effect { return m.compactCommand(c, args) }
		case c.Name == "goal":
			k.run = func(m *Model, args string) []effect { return m.goalCommand(c, args) }
		case c.Make != nil:
			k.run = func(m *Model, args string) []effect { return m.opCommand(c, args) }
		case k.run == nil:
			continue
		}
		out = append(out, k)
	}
	for _, name := range slices.Sorted(maps.Keys(m.host.Reports)) {
		r := m.host.Reports[name]
		out = append(out, command{name: name, args: r.Args, about: r.About, run: func(m *Model, args string) []effect { return m.reportOf(name, r, args) }})
	}
	for _, x := range m.st.Extensions.Commands {
		if slices.ContainsFunc(out, func(c command) bool { return c.name == x.Name }) {
			continue // adze's own count
		}
		out = append(out, command{name: x.Name, args: x.Args, about: story.FirstLine(x.About), from: x.From, run: func(m *Model, args string) []effect {
			return m.sendCommand(strings.TrimSpace("/" + x.Name + " " + args))
		}})
	}
	order.By(out, func(a, b command) int { return cmp.Compare(a.name, b.name) })
	return out
}

// sendCommand has the session carry out a command that extensions bring.
func (m *Model) sendCommand(line string) []effect {
	return m.send(edit.Prompt{Mode: edit.Command, Text: line, Shown: line})
}

// views are what commands show or do here, by their names, as far as the host
// can.
func (m *Model) views() map[string]func(m *Model, args string) []effect {
	out := map[string]func(m *Model, args string) []effect{
		"help":       func(m *Model, _ string) []effect { m.open(newHelp(m)); return nil },
		"exit":       func(m *Model, _ string) []effect { return m.quit() },
		"clear":      func(m *Model, _ string) []effect { return m.begin(m.anew()) },
		"mode":       (*Model).modeCommand,
		"plan":       (*Model).planCommand,
		"effort":     (*Model).effortCommand,
		"copy":       (*Model).copyCommand,
		"cost":       func(m *Model, _ string) []effect { return m.report("cost", m.cost()) },
		"status":     (*Model).statusCommand,
		"tasks":      (*Model).tasksCommand,
		"workflows":  (*Model).workflowsCommand,
		"bashes":     (*Model).tasksCommand,
		"todos":      (*Model).todosCommand,
		"vim":        (*Model).vimCommand,
		"rewind":     (*Model).rewindCommand,
		"context":    (*Model).contextCommand,
		"transcript": (*Model).transcriptCommand,
		"btw":        (*Model).asideCommand,
		"diff":       (*Model).diffCommand,
		"model":      (*Model).modelCommand,
		"resume":     (*Model).resumeCommand,
		"fork":       (*Model).forkCommand,
		"hooks":      (*Model).hooksCommand,
	}
	if m.host.EditFile != nil {
		out["memory"] = (*Model).memoryCommand
	}
	if m.host.Themes != nil {
		out["theme"] = (*Model).themeCommand
	}
	return out
}

// opCommand asks something of the session.
func (m *Model) opCommand(c op.Command, args string) []effect {
	o, err := c.Make(args)
	if err != nil {
		m.box.Set("/" + c.Name + " ")
		m.say(draw.String(err.Error()), draw.Quiet)
		return nil
	}
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		if text := c.Done(args); err == nil && text != "" {
			m.say(draw.String(text), draw.Quiet)
		}
		return m.fail(err)
	}}}
}

// todosCommand shows the todo list, or hides it.
func (m *Model) todosCommand(string) []effect {
	m.screen.todos = !m.screen.todos
	switch {
	case len(m.st.Tasks) == 0:
		m.say("there is no todo list", draw.Quiet)
	case m.screen.plain:
		m.story.Add(m.reported(&story.Item{Shape: view.Tasks{Items: m.st.Tasks}, Hint: "/todos"}))
	}
	return nil
}

// asideCommand asks the model a question that does not enter the conversation.
func (m *Model) asideCommand(question string) []effect {
	switch {
	case m.s == nil || m.past:
		m.say("there is no session yet", draw.Quiet)
		return nil
	case question == "":
		m.box.Set("/btw ")
		m.say("what is the question? /btw what does Sum return?", draw.Quiet)
		return nil
	case m.aside != nil:
		m.box.Set("/btw " + question)
		m.say("a question is being asked already: "+m.stopKey()+" stops it", draw.Quiet)
		return nil
	}
	s := m.s
	m.say("asking on the side …", draw.Quiet)
	ctx, stop := context.WithCancel(context.Background())
	m.aside = stop
	return []effect{work{func(life context.Context) func(*Model) []effect {
		defer context.AfterFunc(life, stop)()
		r, err := m.host.ask(ctx, s, ask.Aside{Question: question})
		return func(m *Model) []effect {
			if ctx.Err() != nil { // it was stopped, and that was told
				return nil
			}
			stop()
			if m.aside = nil; m.s != s {
				return nil
			}
			m.flash = flash{}
			if err != nil {
				return m.fail(err)
			}
			return m.report("btw "+story.FirstLine(question), r.Text)
		}
	}}}
}

func (m *Model) forkCommand(string) []effect {
	if m.s == nil || m.st.Seq == 0 {
		m.say("there is nothing to copy yet", draw.Quiet)
		return nil
	}
	return m.begin(Start{Resume: m.s.ID, Fork: true})
}

// forked says what became of the session that this one is a copy of.
func (m *Model) forked(from string) {
	if m.start.Fork && from != "" && from != m.s.ID {
		m.note("info", "This is a copy, with the mode and effort of your settings. The session that it was made of stays as it was.", "/resume "+from+" goes back to it")
	}
}

// begin opens another session in the place of this one.
func (m *Model) begin(s Start) []effect {
	switch {
	case m.s != nil && m.s.Elsewhere:
		m.say("this terminal shows a session of another process: adze in another terminal opens more", draw.Attention)
		return nil
	case m.turn.running:
		m.say("something runs: interrupt it first ("+m.stopKey()+")", draw.Attention)
		return nil
	}
	return m.unlessTasks("Leave this session", func(*Model) []effect { return []effect{open{start: s}} })
}

// anew is a session without this one's conversation, on the model of this one.
func (m *Model) anew() Start {
	s := Start{Fresh: true}
	if m.s != nil && !m.start.Demo {
		s.Model = m.st.Model
	}
	return s
}

// leaves lets go of the session that is open, for another one.
func (m *Model) leaves(to Start) {
	m.unvisit()
	m.s, m.st, m.start, m.gone = nil, transcript.State{}, to, nil
	// What is said and asked of it goes with it: a status line, a dialog, the
	// turn that Enter would go on with.
	m.turn, m.line, m.shown, m.rewind, m.cutOff, m.tasks, m.given, m.requested = turn{}, statusLine{}, nil, nil, false, nil, nil, ""
}

// switchThinking has the model answer at once, or think again as the settings
// say.
func (m *Model) switchThinking() []effect {
	if m.s == nil {
		return nil
	}
	o := op.SetEffort{Level: noThinking}
	if m.effort == noThinking {
		o.Level = ""
	}
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		if err == nil {
			m.effort = o.Level
			return m.learnEffort()
		}
		return m.fail(err)
	}}}
}

// noThinking is the effort of a model that answers at once.
const noThinking = "none"

// learnEffort asks how hard the model thinks now: the settings may say it.
func (m *Model) learnEffort() []effect {
	s := m.s
	if s == nil {
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		now, err := m.host.now(ctx, s)
		return func(m *Model) []effect {
			if err == nil && m.s == s {
				m.effort = now.Effort
			}
			return nil
		}
	}}}
}

// asSet is the effort that the settings, or else the model, have.
const asSet = "default"

func (m *Model) effortCommand(args string) []effect {
	set := func(m *Model, level string) []effect {
		o := op.SetEffort{Level: level}
		if level == asSet {
			o.Level = ""
		}
		return []effect{submit{op: o, then: func(m *Model, err error) []effect {
			if err == nil {
				m.effort = o.Level
				m.say("effort: "+level, draw.Quiet)
				return m.learnEffort()
			}
			return m.fail(err)
		}}}
	}
	if args != "" {
		return set(m, args)
	}
	all := []Choice{{ID: asSet, Name: asSet, About: "as the settings have it, else the model"}}
	for _, l := range []string{"none", "low", "medium", "high", "xhigh", "max"} {
		all = append(all, Choice{ID: l, Name: l})
	}
	d := newMenu(m, "How hard the model thinks", all, func(m *Model, c Choice) []effect { return set(m, c.ID) })
	d.Fixed = true
	m.open(d)
	s := m.s
	if s == nil {
		return nil
	}
	d.Loading = m.screen.plain // it is printed once
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		now, err := m.host.now(ctx, s)
		return func(*Model) []effect {
			for i := range all {
				all[i].Now = err == nil && all[i].ID == cmp.Or(now.Effort, asSet)
			}
			d.Loading = false
			d.Set(all)
			return nil
		}
	}}}
}

func (m *Model) vimCommand(string) []effect {
	if m.screen.plain {
		m.say("the terminal edits lines here, and knows no vim", draw.Quiet)
		return nil
	}
	on := m.s == nil || !m.s.UI.Vim
	m.box.SetVim(on)
	if m.s != nil {
		m.s.UI.Vim = on
	}
	mode := "normal"
	if on {
		mode = "vim"
	}
	m.say("keys: "+mode, draw.Quiet)
	return m.save("ui.editor_mode", mode)
}

// save writes a setting of the person's own file.
func (h Host) save(ctx context.Context, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return h.keep(ctx, ask.Save{Key: key, Value: raw})
}

// save writes a setting of the person's own.
func (m *Model) save(key string, value any) []effect {
	before, done := m.saved, make(chan struct{})
	m.saved = done
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		if before != nil { // one after the other: what was chosen last stays
			<-before
		}
		defer close(done)
		err := m.host.save(ctx, key, value)
		return func(m *Model) []effect { return m.fail(err) }
	}}}
}

func (m *Model) modelCommand(args string) []effect {
	set := func(m *Model, name string) []effect {
		m.say("choosing "+name, draw.Quiet)
		if m.s == nil { // there may be one with this model
			to := m.start
			to.Model = name
			return m.begin(to)
		}
		return []effect{submit{op: op.SetModel{Name: name}, then: func(m *Model, err error) []effect {
			m.flash = flash{}
			return m.fail(err)
		}}}
	}
	if args != "" {
		return set(m, args)
	}
	d := newMenu(m, "Model", nil, func(m *Model, c Choice) []effect { return set(m, c.ID) })
	d.Loading = true
	d.None = "No provider has a key, and no local server answers. /login saves a key; /model provider/name takes any model by its name."
	m.open(d)
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Models{})
		all := r.Choices
		return func(m *Model) []effect {
			d.Loading = false
			if err != nil {
				m.close(d)
				return m.fail(err)
			}
			for i := range all {
				all[i].Now = all[i].ID == m.st.Model
			}
			d.Set(all)
			return nil
		}
	}}}
}

// memoryCommand opens a memory file in the person's editor.
func (m *Model) memoryCommand(string) []effect {
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Memory{})
		if s != nil && err == nil {
			var read ask.Reply
			read, err = m.host.ask(ctx, s, ask.Remembered{})
			for _, c := range read.Choices {
				if i := slices.IndexFunc(r.Choices, func(o Choice) bool { return o.ID == c.ID }); i >= 0 {
					r.Choices[i].Right = c.Right
					continue
				}
				r.Choices = append(r.Choices, c)
			}
		}
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err)
			}
			return m.editMemory(r.Choices)
		}
	}}}
}

// editMemory has a person choose which memory file they edit.
func (m *Model) editMemory(all []Choice) []effect {
	d := newMenu(m, "Edit a memory file", all, func(m *Model, c Choice) []effect {
		return []effect{away{func(ctx context.Context) func(*Model) []effect {
			err := m.host.EditFile(ctx, c.ID)
			return func(m *Model) []effect { return m.fail(err) }
		}}}
	})
	d.Fixed = len(all) <= 3 // more than these are looked through by typing
	m.open(d)
	return nil
}

// contextCommand shows what fills the window.
func (m *Model) contextCommand(string) []effect {
	s := m.s
	if s == nil {
		m.say("there is no session yet", draw.Quiet)
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Context{})
		return func(m *Model) []effect {
			for _, shape := range r.Shapes {
				m.story.Add(m.reported(&story.Item{Shape: shape, Hint: "/context"}))
			}
			return m.fail(err)
		}
	}}}
}
