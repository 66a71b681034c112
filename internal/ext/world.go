package ext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/skills"
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
	// World.Further), and Host hands a message to one that it serves itself.
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

// A WorldConfig is what the extensions of a folder are made from.
type WorldConfig struct {
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
	// Hidden is told of secrets that are to be masked from now on: those of plugins,
	// and those that servers are given.
	// It may be nil.
	Hidden func(values ...string)
}

// A World is the extensions that all sessions in a folder share: which servers are
// configured there, skills, plugins. Nothing of it runs before there are any.
type World struct {
	process *Process
	conf    WorldConfig
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
func (w *World) Refresh() {
	if w.start() {
		return
	}
	select {
	case w.look <- struct{}{}:
	default: // it will look in any case
	}
}

// start looks at what is configured as Refresh does, unless it is looked at already:
// at a start, many ask for it. began: it was not.
func (w *World) start() (began bool) {
	w.once.Do(func() {
		began = true
		w.look <- struct{}{}
		ctx, end := context.WithCancel(context.Background())
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.end = end; w.closed {
			close(w.looked)
			close(w.used)
			return
		}
		w.wg.Go(func() { w.work(ctx) })
	})
	return began
}

// host looks at what is configured for a session that begins: anew, but for the first one.
func (w *World) host() {
	w.mu.Lock()
	first := !w.hosted
	w.hosted = true
	w.mu.Unlock()
	if first {
		w.start()
	} else {
		w.Refresh()
	}
}

// readings is how often skills and the like were read by now.
func (w *World) readings() int {
	if s := w.opened(); s != nil {
		return s.Readings()
	}
	return 0
}

func (w *World) work(ctx context.Context) {
	looked, used := sync.OnceFunc(func() { close(w.looked) }), sync.OnceFunc(func() { close(w.used) })
	defer used()
	defer looked()
	for late := true; ; late = false {
		select {
		case <-ctx.Done():
			return
		case <-w.look:
			w.mu.Lock()
			waiting := w.waiting
			w.waiting = nil
			w.mu.Unlock()
			h, list := w.use(!late)
			looked()
			if h != nil && w.begin(ctx, late) {
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
func (w *World) use(again bool) (*mcp.View, []servers.Server) {
	w.mu.Lock()
	given := slices.Concat(w.mains, w.conf.Servers, w.process.hosted())
	was := w.plugs
	w.mu.Unlock()
	plugs := w.plugins()
	w.lost()
	if again {
		if plugs = w.replug(); !plugs.same(was) {
			for _, x := range w.attached() {
				x.replugged()
			}
		}
		w.reread() // also of what is trusted now
	}
	set := w.conf.Live.Servers(settings.Servers{Given: given, Strict: w.conf.Strict, Plugins: plugs.servers})
	if w.conf.Hidden != nil {
		w.conf.Hidden(ServerSecrets(set.Servers)...)
	}
	bad := slices.Clone(plugs.bad)
	if w.conf.Person { // a script's runs would all say it; adze doctor does
		bad = append(bad, plugs.absent()...)
	}
	for _, p := range set.Problems {
		bad = append(bad, p.String())
	}
	for _, s := range set.Servers {
		if s.Problem != "" && s.Approval == servers.Approved && !w.conf.Person {
			bad = append(bad, fmt.Sprintf("the MCP server %s (%s) cannot be used: %s", s.Name, s.Origin, s.Problem))
		}
	}
	if text := w.unanswered(set.Servers); text != "" {
		bad = append(bad, text)
	}
	w.mu.Lock()
	if w.view == nil && len(set.Servers) > 0 && !w.closed {
		w.view = w.newView()
	}
	h := w.view
	others := again && !slices.EqualFunc(w.wanted, set.Servers, sameProgram)
	w.problems, w.wanted = bad, set.Servers
	folders := w.rooted
	if w.conf.Roots != nil {
		w.rooted = w.conf.Roots()
	}
	moved := again && h != nil && !slices.Equal(folders, w.rooted)
	w.mu.Unlock()
	if moved {
		h.RootsChanged()
	}
	if others {
		w.protect()
	}
	for _, x := range w.attached() {
		x.tell(bad)
	}
	return h, set.Servers
}

// protectWait is how long servers are not started because sessions do not protect
// their programs yet.
const protectWait = time.Second

// protect has all sessions protect the programs of the servers that there are by
// now.
func (w *World) protect() {
	late := time.NewTimer(protectWait)
	defer late.Stop()
	for _, x := range w.attached() {
		select {
		case <-x.reapply():
		case <-late.C:
			return // it is under way
		}
	}
}

// reread has skills looked for anew, as far as there are any yet.
func (w *World) reread() {
	w.mu.Lock()
	shelf := w.shelf
	w.mu.Unlock()
	if shelf != nil {
		shelf.Reread()
	}
}

// Further has these servers beside those that are configured, in all folders: they are the
// program's that drives adze. The channel is closed once they count here, unless the
// world is closed before.
func (w *World) Further(list []servers.Given) <-chan struct{} {
	p := w.process
	p.mu.Lock()
	p.further = list
	p.mu.Unlock()
	counts := w.looks()
	for _, o := range p.opened() {
		o.Refresh()
	}
	return counts
}

// looks is closed when the next look at what is configured is over.
func (w *World) looks() <-chan struct{} {
	over := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, over)
	return over
}

// newView makes a view of the process's connections for this folder.
func (w *World) newView() *mcp.View {
	p := w.conf.Live.Paths
	return w.process.connections(p).View(mcp.ViewConfig{
		Ground: mcp.Ground{Dir: p.Dir, Apart: p.ServerDirs(), Environ: w.conf.Environ, Private: w.conf.Live.Private, Fresh: w.fresh},
		Client: client{w}, Roots: w.conf.Roots, Tell: w.told, Changed: w.changed, Turned: w.turned, Waits: w.waits, Debug: w.wrote,
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
func (w *World) Hub() Hub {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view
}

// Hub is what a folder has of the connections of servers.
type Hub = *mcp.View

// maxLog is how many lines of a server's log are kept.
const maxLog = 30

// wrote keeps a line that a server wrote.
func (w *World) wrote(server, line string) {
	w.mu.Lock()
	list := append(w.logs[server], line)
	if w.logs == nil {
		w.logs = map[string][]string{}
	}
	w.logs[server] = list[max(0, len(list)-maxLog):]
	tell := w.logged
	w.mu.Unlock()
	if tell != nil {
		tell(server, line)
	}
}

// Logged hands what servers wrote last, and each line from now on, to f as well.
func (w *World) Logged(f func(server, line string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, server := range slices.Sorted(maps.Keys(w.logs)) {
		for _, line := range w.logs[server] {
			f(server, line)
		}
	}
	w.logged = f
}

// Log is what a server wrote last: to its standard error, or as log messages.
func (w *World) Log(server string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.logs[server])
}

// Extended is what the session at the root has besides adze's own.
func (w *World) Extended() event.Extended {
	if x := w.root(); x != nil {
		return x.Extended()
	}
	return event.Extended{}
}

// Status is how servers are, by name, also of those that have yet to be started.
func (w *World) Status() []mcp.Status {
	w.mu.Lock()
	h, wanted := w.view, w.wanted
	w.mu.Unlock()
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
func (w *World) Served() []contrib.Contribution {
	if h := w.Hub(); h != nil {
		return h.Contributions()
	}
	return nil
}

// prompts are those of servers, as slash commands.
func (w *World) prompts() []mcp.Prompt {
	if h := w.Hub(); h != nil {
		return h.Prompts()
	}
	return nil
}

// attached are the sessions that are told of what happens.
func (w *World) attached() []*Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sessions)
}

// session is the one with this ID, nil when it is not there, or not any more.
func (w *World) session(id string) *Session {
	for _, x := range w.attached() {
		if x.id() == id {
			return x
		}
	}
	return nil
}

// trees are the sessions at the roots of those that are here, the oldest first: the ones
// here that nobody's session has started, or where all were, who they work for in other
// folders.
func (w *World) trees() (out []*Session) {
	all := w.attached()
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
			x = w.process.session(x.conf.Parent)
		}
		if x != nil && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// root is the session at the root of the tree that servers were started for, nil when
// there is none: of several the one that is there for the longest time.
func (w *World) root() *Session {
	if list := w.trees(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// asked is the session whose people, rules and models a server's question is for: that
// of the request that is open, and for what a server asks of its own accord the root.
// It is nil when nobody can answer.
func (w *World) asked(by mcp.Caller) *Session {
	if by.Session != "" {
		return w.session(by.Session)
	}
	return w.root()
}

// told records how a server is in every session. The hub calls it, and must not
// be called here.
func (w *World) told(s mcp.Status) {
	for _, x := range w.attached() {
		x.serve(func() []mcp.Status { return []mcp.Status{s} })
	}
}

// changed has every session offer what there is now.
func (w *World) changed() {
	for _, x := range w.attached() {
		x.changed()
	}
}

// Release stops the watch of every folder of skills, before Close: see [watch.Watcher.Release].
func (w *World) Release() {
	w.mu.Lock()
	shelf := w.shelf
	w.mu.Unlock()
	if shelf != nil {
		shelf.Release()
	}
}

// Close ends the connections that no other folder uses.
func (w *World) Close() {
	w.mu.Lock()
	w.closed = true
	end := w.end
	w.mu.Unlock()
	if end != nil {
		end()
	}
	w.wg.Wait()
	w.mu.Lock()
	shelf := w.shelf
	w.mu.Unlock()
	if shelf != nil {
		shelf.Close()
	}
	if h := w.Hub(); h != nil {
		h.Close()
	}
	w.process.left(w)
}

var (
	errNoSession  = errors.New("no session is there that could answer")
	errNoCommands = errors.New("slash commands of extensions are off: --disable-slash-commands")
)
