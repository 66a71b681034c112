// Package app puts the parts of adze together. A Process is what there is once,
// whatever folders are worked in: temporary files, keys and connections of models, secrets to hide. A
// Place is one of these folders, with its settings. Start makes a session in it: log,
// tools, instructions. It is wired by hand, top to bottom, and decides nothing
// that a part could decide.
package app

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/toolkit"
)

// A Process is what all sessions share, in whatever folder they work.
type Process struct {
	Surroundings
	sources settings.Sources
	front   Front
	hide    *secret.Redactor
	temp    temporary
	memory  toolkit.Memory // of the commands of all sessions
	ext     *ext.Process   // connections of MCP servers

	learning sync.Mutex     // held while what agents cost is written down
	opening  sync.Mutex     // held while a place is opened; before mu
	leaving  sync.WaitGroup // of places that are being closed
	mu       sync.Mutex     // guards the rest
	closed   bool           // no place is opened any more
	places   []*Place       // that are open, the oldest first
	eldest   *Place         // that was the first of them last, for who asks when none is any more
	// running are the sessions that have begun and are not closed.
	running []*Running
	kept    []string // the IDs of those that began and are kept on disk
}

// Open makes what the sessions of a process share. Sources say for all places which
// settings count. Close it in the end.
func Open(ctx context.Context, s Surroundings, from settings.Sources, f Front) (*Process, error) {
	p := &Process{Surroundings: s, sources: from, front: f, hide: secret.New(secret.Environ(s.Environ)...)}
	proxy := func(r *http.Request) (*url.URL, error) { return p.proxy(r) }
	p.ext = ext.NewProcess(ext.ProcessConfig{
		Version: s.Version, Env: s.Env, HTTP: transport(proxy), Proxy: proxy, Further: s.Extensions.Further, Host: s.Extensions.Host, Hide: p.hide.String,
	})
	root := cmp.Or(s.Temp, os.TempDir())
	var err error
	if p.temp, p.Temp, err = makeTemp(ctx, root); err != nil {
		return nil, err
	}
	if p.Temp != root {
		p.Notef("%s cannot have temporary files (TMPDIR); they go to %s", root, p.Temp)
	}
	return p, nil
}

// proxy chooses the proxy of a request of extensions. Only the person's own settings say
// which, and those are the same in all places.
func (p *Process) proxy(r *http.Request) (*url.URL, error) {
	p.mu.Lock()
	if len(p.places) > 0 {
		p.eldest = p.places[0]
	}
	at := p.eldest
	p.mu.Unlock()
	return p.Proxy(at.Config())(r)
}

// sessions are those that run now, in all places, or in one.
func (p *Process) sessions(in *Place) (out []*Running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.running {
		if in == nil || r.place == in {
			out = append(out, r)
		}
	}
	return out
}

// add has a session be one of those that run.
func (p *Process) add(r *Running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, r)
	if r.Kept {
		p.kept = append(p.kept, r.ID)
	}
}

// drop forgets a session that is closed.
func (p *Process) drop(r *Running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = slices.DeleteFunc(p.running, func(x *Running) bool { return x == r })
}

// end ends sessions, the youngest first: it may be a child of others.
func end(list []*Running) error {
	for _, r := range list {
		r.sandboxes.Release()
		if r.spec.Child == nil {
			r.endAgents() // before the sessions that would be told of their ends
		}
	}
	var errs []error
	for _, r := range slices.Backward(list) {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Close ends every session, and what they shared.
func (p *Process) Close() error {
	p.opening.Lock()
	p.mu.Lock()
	places := p.places
	p.places, p.closed = nil, true
	p.mu.Unlock()
	p.opening.Unlock()
	p.leaving.Wait()
	for _, at := range places {
		at.release()
	}
	err := end(p.sessions(nil))
	var closing sync.WaitGroup
	for _, at := range places {
		closing.Go(at.close) // ends when its programs have, which is bounded
	}
	closing.Wait()
	p.ext.Close()
	p.temp.remove()
	for _, at := range places {
		at.sweep()
	}
	return err
}

// Abort ends every command at once. It is for a process that will not live
// to Close.
func (p *Process) Abort() {
	for _, r := range p.sessions(nil) {
		r.kit.Tasks.Close(0)
	}
	_ = p.temp.folder.Remove()
}
