package ext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
)

// Flags are extensions that a start names, besides what files have.
type Flags struct {
	// Servers are those of --mcp-config, Strict leaves no others.
	Servers []servers.Given
	Strict  bool
	// Further are those of the program that drives adze, to begin with (see
	// Folder.Further), and Host hands a message to one that it serves itself.
	Further []servers.Given
	Host    func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)
	// Skills are the names of the only skills there are; nil is all.
	Skills []string
	// PluginDirs are folders of plugins that count in this run (--plugin-dir).
	PluginDirs []string
	// NoCommands: there are no skills, and no slash command of an extension is offered
	// (--disable-slash-commands).
	NoCommands bool
	// Agents are definitions that come before those of files (--agents).
	Agents []skill.Agent
}

// A FolderConfig is what the extensions of a folder are made from.
type FolderConfig struct {
	Flags
	Version string // of adze
	Live    *settings.Live
	// Environment is this process's: NAME=value.
	Environment []string
	// Environ is what programs may inherit, and the names that pass to them.
	Environ func() (environ, allow []string)
	Env     func(string) string
	Bare    bool // nothing of the project
	Lasting bool // more prompts may come, so that files are watched
	// Person: somebody sees how servers are, and can say yes to those of the folder.
	Person bool
	// Roots are the folders that sessions work in.
	Roots func() []string
	// Manual is the folder where the pages of the manual are put for an agent that reads them.
	Manual string
	// Hidden is told of secrets that are to be masked from now on: those of plugins,
	// and those that servers are given.
	// It may be nil.
	Hidden func(values ...string)
}

// A Folder is the extensions that all sessions in a folder share: which servers are
// configured there, skills, plugins. Nothing of it runs before there are any.
type Folder struct {
	process *Process
	conf    FolderConfig
	once    sync.Once
	look    chan struct{} // has the worker look at what is configured
	looked  chan struct{} // closed when it has, once
	used    chan struct{} // closed when servers were begun to be started, once
	hurry   chan struct{} // has a token when somebody waits for servers
	plug    sync.Once     // has looked which plugins are active
	end     context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex       // guards the rest
	view     *mcp.View        // of the servers, nil until one is configured
	wanted   []servers.Server // that are configured
	sessions []*Session       // those that are attached, the oldest first
	shelf    *skills.Shelf
	logs     map[string][]string // by server
	logged   func(server, line string)
	plugs    *plugged         // nil until it was looked
	problems []string         // of the newest look
	untold   []string         // warnings that came when there was no session
	mains    []servers.Given  // of the agent that sessions are
	served   chan struct{}    // closed when mains count; nil when there are none
	lent     []servers.Server // of agents that work now: see lend
	waiting  []chan struct{}  // closed when the next look is over
	rooted   []string         // the folders of sessions, at the newest look
	trusted  bool             // something that the folder brings counted at some look
	hosted   bool             // a session began
	closed   bool
}

// Refresh looks at what is configured now, in the background, and has it count:
// servers that came are started, others end. Sessions are told what cannot be
// used.
func (f *Folder) Refresh() {
	if f.start() {
		return
	}
	select {
	case f.look <- struct{}{}:
	default: // it will look in any case
	}
}

// start looks at what is configured as Refresh does, unless it is looked at already:
// at a start, many ask for it. began: it was not.
func (f *Folder) start() (began bool) {
	f.once.Do(func() {
		began = true
		f.look <- struct{}{}
		ctx, end := context.WithCancel(context.Background())
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.end = end; f.closed {
			close(f.looked)
			close(f.used)
			return
		}
		f.wg.Go(func() { f.work(ctx) })
	})
	return began
}

// host looks at what is configured for a session that begins: anew, but for the first one.
func (f *Folder) host() {
	f.mu.Lock()
	first := !f.hosted
	f.hosted = true
	f.mu.Unlock()
	if first {
		f.start()
	} else {
		f.Refresh()
	}
}

// readings is how often skills and the like were read by now.
func (f *Folder) readings() int {
	if s := f.opened(); s != nil {
		return s.Readings()
	}
	return 0
}

func (f *Folder) work(ctx context.Context) {
	looked, used := sync.OnceFunc(func() { close(f.looked) }), sync.OnceFunc(func() { close(f.used) })
	defer used()
	defer looked()
	for late := true; ; late = false {
		select {
		case <-ctx.Done():
			return
		case <-f.look:
			f.mu.Lock()
			waiting := f.waiting
			f.waiting = nil
			f.mu.Unlock()
			h, list := f.use(!late)
			looked()
			if h != nil && f.begin(ctx, late) {
				h.Use(list)
			}
			used()
			for _, c := range waiting {
				close(c)
			}
		}
	}
}

// use is what is configured now, and tells sessions what of it cannot be used.
func (f *Folder) use(again bool) (*mcp.View, []servers.Server) {
	f.mu.Lock()
	given := slices.Concat(f.mains, f.conf.Servers, f.process.hosted())
	was := f.plugs
	f.mu.Unlock()
	plugs := f.plugins()
	f.lost()
	if again {
		if plugs = f.replug(); !plugs.same(was) {
			for _, x := range f.attached() {
				x.replugged()
			}
		}
		f.reread() // also of what is trusted now
	}
	set := f.conf.Live.Servers(settings.Servers{Given: given, Strict: f.conf.Strict, Plugins: plugs.servers})
	if f.conf.Hidden != nil {
		f.conf.Hidden(ServerSecrets(set.Servers)...)
	}
	bad := slices.Clone(plugs.bad)
	if f.conf.Person { // a script's runs would all say it; adze doctor does
		bad = append(bad, plugs.absent()...)
	}
	for _, p := range set.Problems {
		bad = append(bad, p.String())
	}
	for _, s := range set.Servers {
		if s.Problem != "" && s.Approval == servers.Approved && !f.conf.Person {
			bad = append(bad, fmt.Sprintf("the MCP server %s (%s) cannot be used: %s", s.Name, s.Origin, s.Problem))
		}
	}
	if text := f.unanswered(set.Servers); text != "" {
		bad = append(bad, text)
	}
	f.mu.Lock()
	if f.view == nil && len(set.Servers) > 0 && !f.closed {
		f.view = f.newView()
	}
	h := f.view
	others := again && !slices.EqualFunc(f.wanted, set.Servers, sameProgram)
	f.problems, f.wanted = bad, set.Servers
	folders := f.rooted
	if f.conf.Roots != nil {
		f.rooted = f.conf.Roots()
	}
	moved := again && h != nil && !slices.Equal(folders, f.rooted)
	f.mu.Unlock()
	if moved {
		h.RootsChanged()
	}
	if others {
		f.protect()
	}
	for _, x := range f.attached() {
		x.tell(bad)
	}
	return h, set.Servers
}

// protectWait is how long servers are not started because sessions do not protect
// their programs yet.
const protectWait = time.Second

// protect has all sessions protect the programs of the servers that there are by
// now.
func (f *Folder) protect() {
	late := time.NewTimer(protectWait)
	defer late.Stop()
	for _, x := range f.attached() {
		select {
		case <-x.reapply():
		case <-late.C:
			return // it is under way
		}
	}
}

// reread has skills looked for anew, as far as there are any yet.
func (f *Folder) reread() {
	f.mu.Lock()
	shelf := f.shelf
	f.mu.Unlock()
	if shelf != nil {
		shelf.Reread()
	}
}

// Further has these servers beside those that are configured, in all folders: they are the
// program's that drives adze. The channel is closed once they count here, unless the
// folder is closed before.
func (f *Folder) Further(list []servers.Given) <-chan struct{} {
	p := f.process
	p.mu.Lock()
	p.further = list
	p.mu.Unlock()
	counts := f.looks()
	for _, o := range p.opened() {
		o.Refresh()
	}
	return counts
}

// looks is closed when the next look at what is configured is over.
func (f *Folder) looks() <-chan struct{} {
	over := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, over)
	return over
}

// newView makes a view of the process's connections for this folder.
func (f *Folder) newView() *mcp.View {
	p := f.conf.Live.Paths
	return f.process.connections(p).View(mcp.ViewConfig{
		Ground: mcp.Ground{Dir: p.Dir, Apart: p.ServerDirs(), Environ: f.conf.Environ, Private: f.conf.Live.Private, Fresh: f.fresh},
		Client: client{f}, Roots: f.conf.Roots, Tell: f.told, Changed: f.changed, Turned: f.turned, Waits: f.waits, Debug: f.wrote,
	})
}

// ServerTimeouts are how long a connection to a server and a call of a tool may take,
// as the environment says it; 0 where it does not.
func ServerTimeouts(env func(string) string) (connect, call time.Duration) {
	return millis(env("MCP_TIMEOUT")), millis(env("MCP_TOOL_TIMEOUT"))
}

// millis reads a number of milliseconds; what is none is 0.
func millis(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// Hub is the servers and their connections, nil when no server is configured.
func (f *Folder) Hub() Hub {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view
}

// Hub is what a folder has of the connections of servers.
type Hub = *mcp.View

// Extended is what the session at the root has besides adze's own.
func (f *Folder) Extended() event.Extended {
	if x := f.root(); x != nil {
		return x.Extended()
	}
	return event.Extended{}
}

// Status is how servers are, by name, also of those that have yet to be started.
func (f *Folder) Status() []mcp.Status {
	f.mu.Lock()
	h, wanted := f.view, f.wanted
	f.mu.Unlock()
	if h == nil {
		return nil
	}
	if out := h.Status(); len(out) > 0 {
		return out
	}
	var out []mcp.Status
	for _, s := range wanted {
		x := mcp.Status{Server: s, State: event.ServerConnecting, Why: s.Why}
		switch {
		case s.Problem != "":
			x.State, x.Why = event.ServerFailed, s.Problem
		case s.Approval == servers.Pending:
			x.State = event.ServerPending
		case s.Approval == servers.Refused:
			x.State = event.ServerDisabled
		}
		out = append(out, x)
	}
	return out
}

// Served is what servers bring to all sessions.
func (f *Folder) Served() []extension.Contribution {
	if h := f.Hub(); h != nil {
		return h.Contributions()
	}
	return nil
}

// prompts are those of servers, as slash commands.
func (f *Folder) prompts() []mcp.Prompt {
	if h := f.Hub(); h != nil {
		return h.Prompts()
	}
	return nil
}

// attached are the sessions that are told of what happens.
func (f *Folder) attached() []*Session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sessions)
}

// session is the one with this ID, nil when it is not there, or not any more.
func (f *Folder) session(id string) *Session {
	for _, x := range f.attached() {
		if x.id() == id {
			return x
		}
	}
	return nil
}

// trees are the roots of the sessions that work in this folder, the oldest first: sessions
// that no other session started. Where other sessions started all of them, the roots are
// in other folders.
func (f *Folder) trees() (out []*Session) {
	all := f.attached()
	for _, x := range all {
		if x.conf.Parent == "" {
			out = append(out, x)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, x := range all {
		for x != nil && x.conf.Parent != "" {
			x = f.process.session(x.conf.Parent)
		}
		if x != nil && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// root is the session at the root of the tree that servers were started for, nil when
// there is none: of several the one that is there for the longest time.
func (f *Folder) root() *Session {
	if list := f.trees(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// asked is the session whose people, rules and models a server's question is for: that
// of the request that is open, and for what a server asks of its own accord the root.
// It is nil when nobody can answer.
func (f *Folder) asked(by mcp.Caller) *Session {
	if by.Session != "" {
		return f.session(by.Session)
	}
	return f.root()
}

// told records how a server is in every session. The hub calls it, and must not
// be called here.
func (f *Folder) told(s mcp.Status) {
	for _, x := range f.attached() {
		x.serve(func() []mcp.Status { return []mcp.Status{s} })
	}
}

// changed has every session offer what there is now.
func (f *Folder) changed() {
	for _, x := range f.attached() {
		x.changed()
	}
}

// Release stops the watch of every folder of skills, before Close: see [watch.Watcher.Release].
func (f *Folder) Release() {
	f.mu.Lock()
	shelf := f.shelf
	f.mu.Unlock()
	if shelf != nil {
		shelf.Release()
	}
}

// Close ends the connections that no other folder uses.
func (f *Folder) Close() {
	f.mu.Lock()
	f.closed = true
	end := f.end
	f.mu.Unlock()
	if end != nil {
		end()
	}
	f.wg.Wait()
	f.mu.Lock()
	shelf := f.shelf
	f.mu.Unlock()
	if shelf != nil {
		shelf.Close()
	}
	if h := f.Hub(); h != nil {
		h.Close()
	}
	f.process.left(f)
}

var (
	errNoSession  = errors.New("no session is there that could answer")
	errNoCommands = errors.New("slash commands of extensions are off: --disable-slash-commands")
)
