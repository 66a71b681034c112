// Package importer reads what other agents keep in a person's home: sessions, and
// settings that have a meaning here. It makes events of ours of their sessions.
// It writes nothing, changes nothing of theirs, and says of all that it did not
// take what and how much it was.
package importer

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// Names of agents.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
	Gemini     = "gemini"
	OpenCode   = "opencode"
	Crush      = "crush"
)

// Names are the agents whose sessions can be read.
func Names() []string { return []string{ClaudeCode, Codex, Gemini, OpenCode, Crush} }

// A Place is where agents keep what they have.
type Place struct {
	Home string
	Env  func(name string) string // of variables that name their folders
	Work string                   // a project of the person, where an agent may keep sessions, too
	Temp string                   // a folder for copies of databases, which the caller removes
}

// Agents reads what is at a place. It is for one goroutine, and is closed at
// the end.
type Agents struct {
	place Place
	bases map[string]*sql.DB // by the path of theirs
}

// At reads at a place.
func At(p Place) *Agents { return &Agents{place: p, bases: map[string]*sql.DB{}} }

// Close lets go of the databases.
func (a *Agents) Close() error {
	var errs []error
	for _, db := range a.bases {
		errs = append(errs, db.Close())
	}
	clear(a.bases)
	return errors.Join(errs...)
}

// folder is where an agent keeps its own things: a variable says it, or it is
// below the home.
func (a *Agents) folder(variable string, below ...string) string {
	if a.place.Env != nil {
		if dir := a.place.Env(variable); filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(append([]string{a.place.Home}, below...)...)
}

func (a *Agents) data() string   { return a.folder("XDG_DATA_HOME", ".local", "share") }
func (a *Agents) config() string { return a.folder("XDG_CONFIG_HOME", ".config") }

// A Source is a session where it lies. Several of one path are told apart by
// their ID.
type Source struct{ From, Path, ID string }

// A format is how one agent keeps sessions. read yields what was said and done,
// in order, and fills in the facts of the session.
type format struct {
	find func(context.Context) ([]Source, error)
	read func(context.Context, *Session, func(step)) error
}

func (a *Agents) format(from string) (format, error) {
	switch from {
	case ClaudeCode:
		return format{a.findClaude, a.readClaude}, nil
	case Codex:
		return format{a.findCodex, a.readCodex}, nil
	case Gemini:
		return format{a.findGemini, a.readGemini}, nil
	case OpenCode:
		return format{a.findOpenCode, a.readOpenCode}, nil
	case Crush:
		return format{a.findCrush, a.readCrush}, nil
	}
	return format{}, fmt.Errorf("there is no agent %q", from)
}

// Find lists the sessions of an agent in the order of their paths. Beside an
// error it returns those it could list.
func (a *Agents) Find(ctx context.Context, from string) ([]Source, error) {
	f, err := a.format(from)
	if err != nil {
		return nil, err
	}
	out, err := f.find(ctx)
	order.By(out, func(x, y Source) int { return strings.Compare(x.Path, y.Path) })
	return out, err
}

// A Session is one of another agent.
type Session struct {
	Source
	Dir     string // where it worked, "" when that is not known
	Title   string
	Began   time.Time
	Prompts int
	left    map[string]int
}

// Errors of Copy.
var (
	ErrEmpty  = errors.New("there is no prompt in it")
	ErrHelper = errors.New("it is of a sub-agent, whose parent has its result")
)

// A step is one thing that was said or done.
type step struct {
	at     time.Time
	prompt string // by the person, with images
	images []llm.Image
	text   string // by the model
	call   *llm.ToolUse
	result *llm.ToolResult
}

// leave counts what is not taken, in words for people.
func (s *Session) leave(what string) { s.left[clip.Clean(clip.Line(what, 80))]++ }

// Left says what of the session is not taken, and how much of it.
func (s Session) Left() []string {
	var out []string
	for what, n := range s.left {
		out = append(out, fmt.Sprintf("%s: %d", what, n))
	}
	slices.Sort(out)
	return out
}

// A Sink takes the events of a session.
type Sink struct {
	First event.SessionStarted // the first of them; it gets the ID of the copy
	// Spill keeps all of a result that is too long for a model, and returns
	// where; nil keeps none.
	Spill func(text string) (path string, err error)
	Put   func(event.Event) error
}

// Copy makes events of a session. Each call has a result and each result its
// call, as every provider wants it. Reasoning is left out, because only the
// model that wrote it may read it. begin is called with the first prompt, when
// all is known of the session but Prompts and what is left out, and says where
// its events go; after an error of begin or of the sink, which Copy returns, no
// more is read. The error is ErrEmpty when there is no prompt.
func (a *Agents) Copy(ctx context.Context, src Source, begin func(Session) (Sink, error)) (Session, error) {
	s := Session{Source: src, left: map[string]int{}}
	f, err := a.format(src.From)
	if err != nil {
		return s, err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	w := writer{s: &s, begin: begin}
	err = f.read(reading, &s, func(x step) {
		if s.Began.IsZero() {
			s.Began = x.at
		}
		if w.err == nil && ctx.Err() == nil {
			w.step(x)
		}
		if w.err != nil {
			stop()
		}
	})
	w.end()
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case w.err != nil:
		return s, w.err
	case err == nil && s.Prompts == 0:
		err = ErrEmpty
	}
	return s, err
}

// NewID is the ID of the copy of a session: the same each time, a UUID of
// version 7 with the time when it began.
func (s Session) NewID() string {
	sum := sha256.Sum256([]byte(s.From + "\x00" + s.ID))
	u := sum[:16]
	ms := uint64(max(0, s.Began.UnixMilli()))
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	h := hex.EncodeToString(u)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
