package ext

import (
	"context"
	"fmt"
	"os/exec"
	"sync"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/ext/plugin/monitor"
	"github.com/adze-agent/adze/internal/proc"
)

// monitors are the commands of plugins that run as long as a session, and whose
// lines the model is told.
type monitors struct {
	x     *Session
	table func() *proc.Table

	mu  sync.Mutex // guards the rest
	all map[string]context.CancelFunc
	wg  sync.WaitGroup
}

func newMonitors(x *Session) *monitors {
	return &monitors{x: x, all: map[string]context.CancelFunc{}, table: sync.OnceValue(func() *proc.Table { return proc.New(proc.Config{Guardian: true}) })}
}

// use starts the monitors of plugins that are active now, and ends those of others.
// used is a skill that was used; its own begin with it.
func (m *monitors) use(used string) {
	f := m.x.conf.Folder
	plugs := f.plugins()
	m.mu.Lock()
	defer m.mu.Unlock()
	want := map[string]bool{}
	for _, p := range plugs.list {
		for _, c := range p.Monitors {
			key := p.ID() + "\x00" + c.Name
			want[key] = true
			if m.all[key] == nil && (c.Skill == "" || p.Name+":"+c.Skill == used) {
				m.start(key, p, c, plugs.environ[p.ID()])
			}
		}
	}
	for key, end := range m.all {
		if !want[key] {
			end()
			delete(m.all, key)
		}
	}
}

// waits reports whether a monitor begins with the use of a skill.
func (m *monitors) waits() bool {
	for _, p := range m.x.conf.Folder.plugins().list {
		for _, c := range p.Monitors {
			if c.Skill != "" {
				return true
			}
		}
	}
	return false
}

func (m *monitors) start(key string, p plugin.Plugin, c plugin.Monitor, environ []string) {
	conf := m.x.conf.Folder.conf
	name := p.Name + ":" + c.Name
	fail := func(err error) {
		m.x.report(event.Noted{Level: "warning", Text: fmt.Sprintf("the monitor %s could not be started: %v", name, err)})
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		fail(err)
		return
	}
	env := proc.Set(proc.Scrub(conf.Environ()), environ...)
	ctx, end := context.WithCancel(context.Background())
	run, err := monitor.Start(ctx, monitor.Config{
		Table: m.table(), Shell: shell, Command: p.ExpandShell(c.Command), Dir: conf.Live.Paths.Dir, Env: env,
	}, func(text string) { m.x.note("The monitor " + name + " says:\n" + text) })
	if err != nil {
		end()
		fail(err)
		return
	}
	m.all[key] = end
	m.wg.Go(func() { <-run.Done() }) // ends when end is called
}

// follow starts the monitors of skills as they are used, until ctx ends.
func (m *monitors) follow(ctx context.Context, after event.Seq) {
	for e, err := range m.x.s.Follow(ctx, after, event.Durable) {
		if err != nil {
			return
		}
		switch b := e.Body.(type) {
		case event.InputAccepted:
			if b.Skill != nil {
				m.use(b.Skill.Name)
			}
		case event.ToolFinished:
			if k, ok := effect.Of[effect.Skill](b.Effects); ok {
				m.use(k.Name)
			}
		default: // no skill is used by others
		}
	}
}

// close ends them all.
func (m *monitors) close() {
	m.mu.Lock()
	n := len(m.all)
	for _, end := range m.all {
		end()
	}
	m.mu.Unlock()
	m.wg.Wait()
	if n > 0 {
		m.table().Close(0)
	}
}
