package app

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// Surroundings are what surrounds adze.
type Surroundings struct {
	settings.Environment
	Version string
	Temp    string // where temporary files go: absolute; "" asks the system
	Environ []string
	// Memory is what servers refused, for the process; nil: nothing yet.
	Memory *models.Memory
	// Betas are further values of the header anthropic-beta.
	Betas []string
	// Record, when set, gets a cassette of everything providers answer.
	Record io.Writer
	// Resolve and Dial are how the sandbox's proxy looks names up and connects
	// to what it checked; nil uses the system's.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Extensions are those that flags name.
	Extensions ext.Flags
	LogFile    string // absolute; where --debug writes, "" for nowhere that lasts
	// Near are the sessions of other processes of this person, by the state folder; nil: they
	// cannot be reached.
	Near func(state string) fleet.Neighbours
	// Transcripts are those that other programs read; nil: there are none.
	Transcripts Transcripts
}

// Transcripts are sessions in the form that other programs read.
type Transcripts interface {
	// Of is the transcript of a session: at the place where other programs look for it where
	// the settings say so, else in a folder of the session's own, when hooks ask for it.
	Of(p settings.Paths, cfg *config.Config, id string, kept bool, own string) Transcript
	// CopyOf says of which session another program made a copy with this ID, and up to
	// which event.
	CopyOf(p settings.Paths, id string) (of string, upTo event.Seq, ok bool)
}

// A Transcript is that of one session.
type Transcript interface {
	// Follow writes what happens in a session. The returned function waits until it is
	// closed and all is written.
	Follow(r *Running) (wait func())
	// File is its path, with what happened up to an event.
	File(upTo event.Seq) string
	// Agent is the transcript of an agent that works for the session. The file is made when it
	// is asked for first, if not before; wait is as of Follow.
	Agent(s Followed, id, model string) (file func() string, wait func())
}

// A Followed is a session whose transcript is written.
type Followed interface {
	Follow(ctx context.Context, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	Submit(ctx context.Context, o op.Op) error
	Last() event.Seq
}

// Proxy chooses the proxy of a request with these settings; a nil URL is none.
func (s Surroundings) Proxy(cfg *config.Config) func(*http.Request) (*url.URL, error) {
	return models.Proxy(cfg, s.Env)
}

// transport carries requests of extensions to servers that they name.
func transport(proxy func(*http.Request) (*url.URL, error)) http.RoundTripper {
	return &http.Transport{Proxy: proxy, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
}

// Models are the models of these settings. patient: somebody watches.
func (s Surroundings) Models(f config.Folders, cfg *config.Config, patient bool, hide func(key string)) (*models.Set, error) {
	return models.New(models.Config{
		Version: s.Version, Home: s.Home, Folders: f, Environ: s.Environ, Env: s.Env,
		Memory: s.Memory, Betas: s.Betas, Record: s.Record, Patient: patient, Hide: hide, Note: s.Note,
	}, cfg)
}

// Run is who opens a session in these folders.
func (s Surroundings) Run(paths settings.Paths) sessions.Run {
	r := sessions.Run{Version: s.Version, State: paths.State, Dir: paths.Dir, Root: paths.Root, Note: s.Notef}
	if s.Transcripts != nil {
		r.CopyOf = func(id string) (string, event.Seq, bool) { return s.Transcripts.CopyOf(paths, id) }
	}
	return r
}

// A Front is what a process's front end is.
type Front struct {
	Print  bool // nobody watches
	Person bool // somebody can answer questions
	Host   bool // who answers is a program that shows each question, such as an editor
	// Lasting: more prompts may come, so that settings are watched from the
	// start. Other sessions watch them when they take longer than a second.
	Lasting bool
}

// Sandbox is what the settings make of the sandbox.
func (s Surroundings) Sandbox(paths settings.Paths, cfg *config.Config, roots []string) (sandbox.Config, error) {
	return confine.Settings(s.sandboxes(paths), cfg, roots)
}

func (s Surroundings) sandboxes(paths settings.Paths) confine.Config {
	return confine.Config{
		Dir: paths.Dir, Home: paths.Home, Folders: paths.Folders, Env: s.Env, TempRoot: s.Temp,
		Resolve: s.Resolve, Dial: s.Dial, Note: s.Note,
		Programs: func(cfg *config.Config, roots []string) []policy.Steer { return settings.Programs(cfg, paths, roots) },
	}
}
