package ext

import (
	"context"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Hook is one that the session itself has.
type Hook = hook.Hook

// An Ending is why a session ends.
type Ending = hook.Ending

// HooksConfig is what hooks are told of the session.
type HooksConfig = hooks.Config

// SkillsConfig is what skills are told of the session.
type SkillsConfig = skills.Config

// Who is an agent that a session is for another one.
type Who = hooks.Who

// A Config is what the extensions of one session are made from.
type Config struct {
	Folder  *Folder
	Hooks   HooksConfig
	Further []Hook // hooks of the session's own
	Skills  SkillsConfig
	// Style is the output style that the settings name, "" for the usual one.
	Style string
	Fork  ForkConfig // Session is filled in here
	// Main is the agent that the session is; nil is the usual one.
	Main *Agent
	// Parent is the ID of the session that started this one, "" for none.
	Parent string
	// Reapply has rules count anew, as other plugins bring others.
	Reapply func()
	// Loop begins a loop that a person wants (/loop): what it says to the model, "" where the model
	// paces the loop, and what the first round is. nil: the model paces all.
	Loop func(args string) (said, prompt string, err error)
	// Offer has the session offer the tools that there are now. It is called by one
	// goroutine.
	Offer func()
}

// A Session is the extensions of one session.
type Session struct {
	conf Config
	gate *hooks.Gate
	desk *skills.Desk
	mons *monitors
	// preloaded are the skills of the agent that the session is.
	preloaded []prompt.Note
	own       []extension.Contribution // of servers that it has for itself; see Equip
	back      func()                   // ends these
	s         *session.Session         // set by Attach
	news      chan struct{}            // has the worker offer what changed
	end       context.CancelFunc
	wg        sync.WaitGroup
	joins     sync.Mutex // held while the session is given what contributions come to, so that the newest is last; before mu
	learnt    int        // how often skills had been read when they were given it; guarded by joins
	states    sync.Mutex // held while states of servers are recorded
	mu        sync.Mutex // guards the rest
	said      map[string]bool
	cfg       *config.Config           // that hooks were made from
	hooked    []extension.Contribution // what brings hooks
	sampled   int                      // tokens that servers were granted
	loaded    map[string]bool          // memory files that hooks were told of; nil before Loaded
	closed    bool                     // nothing begins any more
}

// New makes the extensions of a session that is not there yet, with these
// settings. bad says what of them cannot be used.
func New(c Config, cfg *config.Config) (x *Session, bad []string) {
	x = &Session{news: make(chan struct{}, 1), said: map[string]bool{}}
	c.Fork.Session = func() *session.Session { return x.s }
	c.Hooks.Tool = x.callTool
	c.Hooks.Reload = c.Folder.reread
	c.Hooks.Agent = checker(c.Fork, c.Hooks.Transcript)
	c.Hooks.Version = c.Folder.conf.Version
	x.gate = hooks.New(c.Hooks)
	c.Fork.gate, c.Fork.hooks, c.Skills.Used = x.gate, x.ofAgent, x.used
	c.Fork.library, c.Fork.folder = func() skill.Library { return x.desk.Library() }, c.Folder
	c.Fork.values = skill.Use{Session: c.Skills.Session, Project: c.Skills.Project}
	x.conf = c
	c.Skills.Fork = forks(c.Fork)
	c.Skills.Record = func(ctx context.Context, actions []policy.Action) (func(context.Context) effect.Changed, string) {
		return c.Fork.Loop().Record(ctx, actions)
	}
	x.desk = skills.New(c.Skills)
	x.mons = newMonitors(x)
	bad = x.use(cfg)
	c.Folder.host()
	problems := c.Folder.read()
	for _, text := range problems {
		x.said[words(text)] = true
	}
	lib := x.relearn()
	if c.Main != nil {
		if c.Parent == "" {
			problems = append(problems, c.Folder.serve(*c.Main)...)
		}
		var missing []string
		x.preloaded, missing = preloaded(lib, *c.Main, skill.Use{Session: c.Skills.Session, Project: c.Skills.Project})
		problems = append(problems, missing...)
	}
	if _, ok := lib.Style(c.Style); !ok && c.Style != "" {
		bad = append(bad, "there is no output style "+clip.Line(clip.Visible(c.Style), 60)+"; the usual one is used")
	}
	return x, append(bad, problems...)
}

// id is the session's.
func (x *Session) id() string { return x.conf.Hooks.Session }

// Instructions are what the model is told of extensions from the start: the
// skills it can use, for a window of so many tokens, how it answers, and what plugins
// have it read.
func (x *Session) Instructions(window int) (list []prompt.Skill, style prompt.Style, notes []prompt.Note) {
	lib := x.desk.Library()
	for _, l := range skills.List(lib, window) {
		list = append(list, prompt.Skill{Name: l.Name, Description: l.Text})
	}
	if s, ok := lib.Style(x.conf.Style); ok {
		style = prompt.Style{Name: s.Name, Text: s.Text, Instead: !s.Keep}
	}
	return list, style, append(x.conf.Folder.plugins().notes(), x.preloaded...)
}

// style is the name of the output style in force.
func (x *Session) style() string {
	if s, ok := x.desk.Library().Style(x.conf.Style); ok {
		return s.Name
	}
	return "default"
}

// Touched says which skills come up with files that are about such files only.
func (x *Session) Touched(begins event.Seq, paths []string) []string {
	return x.desk.Touched(begins, paths)
}

// Commands are the slash commands of the session.
func (x *Session) Commands() session.Commands { return commands{x} }

// Use has what these settings say count from the next event on, and returns what
// of it cannot be used.
func (x *Session) Use(cfg *config.Config) (bad []string) {
	bad = x.use(cfg)
	x.conf.Folder.Refresh()
	return bad
}

func (x *Session) use(cfg *config.Config) (bad []string) {
	x.mu.Lock()
	was := x.cfg
	x.cfg = cfg
	x.mu.Unlock()
	bad = x.rehook(cfg)
	x.widened(was, cfg)
	return bad
}

// rehook has the hooks count that there are now, and returns what of them cannot be
// used.
func (x *Session) rehook(cfg *config.Config) (bad []string) {
	x.joins.Lock()
	defer x.joins.Unlock()
	main, bad := x.mainHooks()
	list, problems := hooks.Load(cfg, append(x.conf.Folder.hooks(), extension.Contribution{From: extension.OfPlace("the program that drives adze"), Hooks: x.conf.Further}, main)...)
	for _, err := range problems {
		bad = append(bad, err.Error())
	}
	for _, c := range list {
		for _, h := range c.Hooks {
			if s := h.Never(); s != "" {
				bad = append(bad, h.From+": "+s)
			}
		}
	}
	x.mu.Lock()
	x.hooked = list
	x.mu.Unlock()
	x.gate.Use(extension.Hooks(x.Contributions()...))
	return bad
}

// relearn has the skills, agents and styles count that there are now.
func (x *Session) relearn() skill.Library {
	x.joins.Lock()
	defer x.joins.Unlock()
	x.learnt = x.conf.Folder.readings()
	lib := extension.Library(x.Contributions()...)
	x.desk.Use(lib)
	return lib
}

// catchUp is relearn where something was read since the start gave up waiting for it.
func (x *Session) catchUp() {
	x.joins.Lock()
	learnt := x.learnt
	x.joins.Unlock()
	if learnt != x.conf.Folder.readings() {
		x.relearn()
	}
}

// replugged has the hooks count of the plugins that are active now.
func (x *Session) replugged() {
	x.mu.Lock()
	cfg := x.cfg
	x.mu.Unlock()
	x.rehook(cfg) // what of them cannot be used was told
	if x.s != nil {
		x.mons.use("")
	}
	x.reapply()
	x.changed()
}

// reapply has rules and sandboxes made anew, in the background: what adze runs is
// not what they protect. done is closed when they are.
func (x *Session) reapply() (done <-chan struct{}) {
	ended := make(chan struct{})
	if x.conf.Reapply == nil {
		close(ended)
		return ended
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed { // nobody waits for more
		close(ended)
		return ended
	}
	x.wg.Go(func() { // ends when the settings were applied
		defer close(ended)
		x.conf.Reapply()
	})
	return ended
}

// Hooks are a person's programs, as a session sees them.
func (x *Session) Hooks() session.Hooks { return prompted{x.gate, x.conf.Folder} }

// Counting are the hooks that count now.
func (x *Session) Counting() []Hook { return extension.Hooks(x.Contributions()...).All() }

// prompted is a gate at which a prompt has servers looked at that wait for a
// sign-in: it may have been made in another process.
type prompted struct {
	*hooks.Gate
	f *Folder
}

// Prompt implements session.Hooks.
func (p prompted) Prompt(ctx context.Context, in event.InputQueued) (session.Admission, error) {
	p.f.revive()
	return p.Gate.Prompt(ctx, in)
}

// Began is closed when the hooks of the session's start have answered.
func (x *Session) Began() <-chan struct{} { return x.gate.Began() }

// Env is what commands get from extensions: NAME=value.
func (x *Session) Env() []string { return x.gate.Env() }

// Contributions are all that the session has now besides adze's own tools, the
// nearest first. Its tools, hooks and skills are what they come to.
func (x *Session) Contributions() []extension.Contribution {
	f := x.conf.Folder
	x.mu.Lock()
	hooked := x.hooked
	x.mu.Unlock()
	list := slices.Concat(f.learned(), hooked)
	if !f.conf.NoCommands { // nor skills
		list = append(list, x.desk.Contribution())
	}
	shared := slices.DeleteFunc(slices.Clone(f.Served()), func(c extension.Contribution) bool {
		return slices.ContainsFunc(x.own, func(o extension.Contribution) bool { return o.From.Name == c.From.Name })
	})
	return slices.Concat(list, x.own, shared)
}

// MoreTools reports whether servers are configured, whose tools may come later.
func (x *Session) MoreTools() bool {
	x.conf.Folder.ready()
	return x.conf.Folder.Hub() != nil
}

// Attach hands over the session. Close ends what Attach began.
func (x *Session) Attach(s *session.Session, after event.Seq) {
	x.s = s
	x.desk.Attach(s)
	ctx, end := context.WithCancel(context.Background())
	x.end = end
	f := x.conf.Folder
	f.mu.Lock()
	f.sessions = append(f.sessions, x)
	bad, untold := f.problems, f.untold
	f.untold = nil
	f.mu.Unlock()
	x.gate.Attach(s, after)
	x.mu.Lock()
	cfg := x.cfg
	x.mu.Unlock()
	x.widened(nil, cfg)
	// Not in the background: a run of one prompt may be over before it comes to this.
	x.tell(append(f.unusable(0), bad...))
	for _, text := range untold {
		x.warn(text)
	}
	x.wg.Go(func() {
		x.catchUp()
		x.serve(f.Status)
		x.mons.use("")
		if x.mons.waits() {
			x.wg.Go(func() { x.mons.follow(ctx, after) })
		}
		x.changed()
		for {
			select {
			case <-ctx.Done():
				return
			case <-x.news:
				x.conf.Offer()
				x.say()
			}
		}
	})
}

// changed has the worker offer what there is now.
func (x *Session) changed() {
	select {
	case x.news <- struct{}{}:
	default: // it will look in any case
	}
}

// report records what became of an extension. A session that cannot write says
// so itself.
func (x *Session) report(b event.Body) { _ = x.s.Report(b) }

// note keeps a text for the model. A session that has ended needs none.
func (x *Session) note(text string) { _ = x.s.Note(text) }

// serve records how servers are, and gives the model what they say of themselves. States are
// looked up and recorded in one step, so that an older one never comes after a newer one.
func (x *Session) serve(now func() []mcp.Status) {
	x.states.Lock()
	defer x.states.Unlock()
	for _, s := range now() {
		x.report(s.Event())
		x.introduce(s)
	}
}

// introduce gives the model what a server says of itself, once.
func (x *Session) introduce(s mcp.Status) {
	if s.State != event.ServerConnected || s.Instructions == "" {
		return
	}
	text := "The MCP server " + s.Server.Name + " says about its tools:\n" + s.Instructions
	x.mu.Lock()
	known := x.said[text]
	x.said[text] = true
	x.mu.Unlock()
	if !known {
		x.note(text)
	}
}

// tell says once what cannot be used.
func (x *Session) tell(bad []string) {
	for _, text := range bad {
		x.warn(words(text))
	}
}

// words are a problem as people are told of it.
func words(problem string) string { return clip.Line(clip.Visible(problem), 1000) }

// warn says a text once. It is clean, and bounded.
func (x *Session) warn(text string) {
	x.mu.Lock()
	known := x.said[text]
	x.said[text] = true
	x.mu.Unlock()
	if !known {
		x.report(event.Noted{Level: "warning", Text: text})
	}
}

// Settle is hooks.Gate's.
func (x *Session) Settle(ctx context.Context) { x.gate.Settle(ctx) }

// Close tells hooks why the session ends, and ends what runs for it. What it
// returns is for people, as with hooks.Gate.
func (x *Session) Close(why Ending) (last []string) {
	last = x.gate.Close(why)
	defer x.Return()
	if x.s == nil {
		return last
	}
	f := x.conf.Folder
	f.mu.Lock()
	f.sessions = slices.DeleteFunc(f.sessions, func(o *Session) bool { return o == x })
	f.mu.Unlock()
	x.end()
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.wg.Wait()
	x.mons.close()
	return last
}
