package ext

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
)

// A ProcessConfig is what connections to servers are made with. Functions may be nil.
type ProcessConfig struct {
	Version string // of adze
	Env     func(string) string
	HTTP    http.RoundTripper                     // for servers; nil is one of its own
	Proxy   func(*http.Request) (*url.URL, error) // of sign-ins, nil means none
	// Further and Host are as in Flags.
	Further []servers.Given
	Host    func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)
	// Hide masks secrets in what servers wrote; nil leaves it as it is.
	Hide func(string) string
}

// A Process is what the extensions of all folders have in common: the connections of
// servers, who is signed in to them, and which of them the program that drives adze
// has. Make one with NewProcess, open a Folder for each folder, and close them before it.
type Process struct {
	conf ProcessConfig

	mu      sync.Mutex // guards the rest; after Folder.mu
	hub     *mcp.Hub   // nil until a folder has a server
	auth    *oauth.Client
	further []servers.Given
	folders []*Folder // that are open, the oldest first
}

// NewProcess makes what folders have in common. It starts nothing.
func NewProcess(c ProcessConfig) *Process { return &Process{conf: c, further: c.Further} }

// Open makes the extensions of a folder. It reads and starts nothing.
func (p *Process) Open(c FolderConfig) *Folder {
	f := &Folder{process: p, conf: c, look: make(chan struct{}, 1), looked: make(chan struct{}), used: make(chan struct{}), hurry: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders = append(p.folders, f)
	return f
}

// opened are the folders that are open.
func (p *Process) opened() []*Folder {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.folders)
}

// left forgets a folder that is closed.
func (p *Process) left(f *Folder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders = slices.DeleteFunc(p.folders, func(o *Folder) bool { return o == f })
}

// hosted are the servers of the program that drives adze.
func (p *Process) hosted() []servers.Given {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.further
}

// connections are those of servers. State is the same folder for all of a process.
func (p *Process) connections(state settings.Paths) *mcp.Hub {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hub == nil {
		c := p.conf
		p.auth = SignIn(state, c.Env, oauth.Config{Version: c.Version, Proxy: c.Proxy})
		out := mcp.Config{
			Version: c.Version, HTTP: c.HTTP, Proxy: c.Proxy, Auth: SignedIn(p.auth), Host: c.Host, Hide: c.Hide, Seen: filepath.Join(state.State, "mcp-seen"),
		}
		if c.Env != nil {
			out.Timeout, out.ToolTimeout = ServerTimeouts(c.Env)
		}
		p.hub = mcp.New(out)
	}
	return p.hub
}

// session is the one with this ID in any folder, nil when it is not there, or not any more.
func (p *Process) session(id string) *Session {
	for _, f := range p.opened() {
		if x := f.session(id); x != nil {
			return x
		}
	}
	return nil
}

// Close ends all connections.
func (p *Process) Close() {
	p.mu.Lock()
	h, auth := p.hub, p.auth
	p.mu.Unlock()
	if h != nil {
		h.Close()
		auth.Close()
	}
}
