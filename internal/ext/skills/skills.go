// Package skills has a session use skills: through the Skill tool for the model,
// and as slash commands for people. The commands that a skill runs go through the
// ordinary decision, one by one, with what the skill lends for the turn. It knows
// no folder: what there is, it is handed as a skill.Library, and another one at any
// time.
package skills

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
)

// A Session is what skills need of the session that uses them.
type Session interface {
	RuleOn(ctx context.Context, q agent.Question) (agent.Verdict, error)
	Names(ctx context.Context, text string) ([]event.Attached, error)
	Submit(ctx context.Context, o op.Op) error
	State() transcript.State
	Tools() tool.Set
	Mode() policy.Mode
	Target() agent.Target
}

// A Config is what the skills of one session are made from.
type Config struct {
	Session string // its ID
	Project string // the repository's root, or the working folder
	// Env is what every command may use, but for what changes: where it runs, the
	// mode, and what was exported.
	Env tool.Env
	// Mask hides secrets in what a command says; nil hides nothing.
	Mask func(tool.Result) tool.Result
	// Fork runs a skill in an agent of its own, and returns its last words. nil:
	// this session cannot, and such a skill runs in it.
	Fork func(ctx context.Context, f Fork) (string, effect.Changed, error)
	// Record looks at what a command may change, as in agent.Loop; nil: nobody does.
	Record func(ctx context.Context, actions []policy.Action) (end func(context.Context) effect.Changed, note string)
	// Used is told of a skill that is used, before what it runs; nil: nobody is.
	Used func(s skill.Skill)
	// Log is the file of the session's debug log, "" when there is none.
	Log string
}

// A Fork is a skill that runs in an agent of its own.
type Fork struct {
	Skill  string
	Agent  *skill.Agent // nil is the usual one
	Prompt string
	Model  string // "" is the session's
	Effort string
	Lent   []policy.Rule
	Env    tool.Env
}

// A Desk is the skills of one session. Its methods may be called from several
// goroutines.
type Desk struct {
	conf Config
	tool tool.Tool // Skill

	mu  sync.Mutex // guards the rest
	lib skill.Library
	ses Session // nil before Attach
	// met are the conditional skills that a file brought up, by the beginning of
	// the context that was told of them.
	met  map[string]bool
	base event.Seq
}

// New has no skills yet.
func New(c Config) *Desk {
	d := &Desk{conf: c, met: map[string]bool{}}
	d.tool = tool.New(tool.Spec{Name: Name, Description: strings.TrimSpace(toolText), Limit: tool.NoLimit}, d.plan, d.run)
	return d
}

// Attach hands over the session.
func (d *Desk) Attach(s Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ses = s
}

// Use has these skills there from now on. When the session runs, the model is told
// what is different, behind everything it has read.
func (d *Desk) Use(lib skill.Library) {
	d.mu.Lock()
	was, ses := d.lib, d.ses
	d.lib = lib
	d.mu.Unlock()
	if ses == nil {
		return
	}
	if text := changed(was, lib); text != "" {
		_ = ses.Submit(context.Background(), op.Notify{Text: text}) // a session that ended needs no news
	}
}

// Library is what there is now.
func (d *Desk) Library() skill.Library {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lib
}

func (d *Desk) session() Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ses
}

// Contribution is the tool with which the model uses skills.
func (d *Desk) Contribution() extension.Contribution {
	return extension.Contribution{Tools: []tool.Tool{d.tool}}
}

// share is how much of a model's window the list of skills may take.
const share = 100

// unknownWindow is taken where nobody knows a window, in tokens.
const unknownWindow = 128_000

// List is what the instructions say of skills, for a model with this window.
func List(lib skill.Library, window int) []skill.Line {
	return lib.Listed(cmp.Or(window, unknownWindow) / share * 4)
}

// maxTold bounds how many changes of the list are told one by one.
const maxTold = 30

// changed is what the model is told when the skills are others; "" is nothing.
func changed(was, now skill.Library) string {
	const enough = 1 << 20
	old := map[string]string{}
	for _, l := range was.Listed(enough) {
		old[l.Name] = l.Text
	}
	var lines []string
	for _, l := range now.Listed(enough) {
		text, there := old[l.Name]
		delete(old, l.Name)
		switch {
		case !there:
			lines = append(lines, "- new: "+line(l))
		case text != l.Text:
			lines = append(lines, "- changed: "+line(l))
		}
	}
	for _, l := range was.Listed(enough) {
		if _, gone := old[l.Name]; gone {
			lines = append(lines, "- gone: "+l.Name)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if n := len(lines) - maxTold; n > 0 {
		lines = append(lines[:maxTold], fmt.Sprintf("- and %d more", n))
	}
	return "The skills are different now:\n" + strings.Join(lines, "\n")
}

func line(l skill.Line) string {
	if l.Text == "" {
		return l.Name
	}
	return l.Name + ": " + l.Text
}

// Touched says which skills come up with files: those that are about such files
// only. Another beginning is another context, whose model was told of none.
func (d *Desk) Touched(begins event.Seq, paths []string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if begins != d.base {
		d.base = begins
		clear(d.met)
	}
	for _, s := range d.lib.Skills() {
		if len(s.Paths) == 0 || s.NoModel || d.met[s.Name] {
			continue
		}
		if slices.ContainsFunc(paths, func(p string) bool {
			rel, err := filepath.Rel(d.conf.Project, p)
			return err == nil && filepath.IsLocal(rel) && memory.Applies(s.Paths, filepath.ToSlash(rel))
		}) {
			d.met[s.Name] = true
			out = append(out, "There is a skill for files like this one. "+line(skill.Line{Name: s.Name, Text: clip.Line(s.About(), 500)}))
		}
	}
	return out
}

// Find implements session.Commands.
func (d *Desk) Find(name string) error {
	_, err := d.forPerson(name)
	return err
}

func (d *Desk) forPerson(name string) (skill.Skill, error) {
	lib := d.Library()
	s, ok := lib.Find(name)
	switch {
	case !ok:
		var names []string
		for _, s := range lib.Skills() {
			if !s.NoPerson {
				names = append(names, s.Name)
			}
		}
		return s, fmt.Errorf("there is no command /%s%s", clip.Line(clip.Visible(name), 100), near.Hint(name, names))
	case s.NoPerson:
		return s, fmt.Errorf("/%s is for the model: its file says user-invocable: false", s.Name)
	}
	return s, nil
}

// Offers are what there is, for front ends: slash commands, and skills of the
// model.
func Offers(lib skill.Library) (commands, skills []event.Offer) {
	for _, s := range lib.Skills() {
		o := event.Offer{Name: s.Name, Args: s.Hint, About: clip.Line(s.Description, 200), From: s.From}
		if !s.NoPerson {
			commands = append(commands, o)
		}
		if !s.NoModel {
			skills = append(skills, o)
		}
	}
	return commands, skills
}

// Expand implements session.Commands.
func (d *Desk) Expand(ctx context.Context, name, args string) (session.Expansion, error) {
	s, err := d.forPerson(name)
	if err != nil {
		return session.Expansion{}, err
	}
	env := d.conf.Env
	if ses := d.session(); ses != nil {
		st := ses.State()
		env.Dir, env.Exports, env.Mode = cmp.Or(st.Dir, env.Dir), st.Exports, ses.Mode()
		env.Window = ses.Target().Window
	}
	env.Call, env.Progress = "command", func(string) {}
	u, err := d.use(ctx, s, args, env)
	if err != nil {
		return session.Expansion{}, err
	}
	if s.Fork && d.conf.Fork != nil {
		text, changed, err := d.fork(ctx, s, u, env)
		if err != nil {
			return session.Expansion{}, fmt.Errorf("/%s: %w", s.Name, err)
		}
		return session.Expansion{Text: forked(s, args, text), Changed: u.changed.Then(changed)}, nil
	}
	return session.Expansion{Text: u.text, Images: u.images, Skill: &u.brings, Changed: u.changed}, nil
}
