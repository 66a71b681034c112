// Package ext puts together what people bring along: hooks, skills, commands,
// MCP servers and plugins. A World is what a process has of it once, a Session
// what one session has. What is active is an immutable set with origins; each
// change of it is recorded as an event. It refuses to decide what may run: trust
// is asked before, and the ordinary decision comes later.
package ext

import (
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hook"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/session"
)

// A Hook is one that the session itself has.
type Hook = hook.Hook

// An Ending is why a session ends.
type Ending = hook.Ending

// HooksConfig is what hooks are told of the session.
type HooksConfig = hooks.Config

// A Config is what the extensions of one session are made from.
type Config struct {
	Hooks   hooks.Config
	Further []Hook // hooks of the session's own
}

// A Session is the extensions of one session.
type Session struct {
	conf Config
	gate *hooks.Gate
}

// New makes the extensions of a session that is not there yet, with these
// settings. bad says what of them cannot be used.
func New(c Config, cfg *config.Config) (x *Session, bad []string) {
	x = &Session{conf: c, gate: hooks.New(c.Hooks)}
	return x, x.Use(cfg)
}

// Use has what these settings say count from the next event on, and returns what
// of it cannot be used.
func (x *Session) Use(cfg *config.Config) (bad []string) {
	set, problems := hooks.Load(cfg, x.conf.Further...)
	x.gate.Use(set)
	for _, err := range problems {
		bad = append(bad, err.Error())
	}
	return bad
}

// Hooks are a person's programs, as a session sees them.
func (x *Session) Hooks() session.Hooks { return x.gate }

// Env is what commands get from extensions: NAME=value.
func (x *Session) Env() []string { return x.gate.Env() }

// Attach hands over the session. Close ends what Attach began.
func (x *Session) Attach(s *session.Session, after event.Seq) { x.gate.Attach(s, after) }

// Close tells hooks why the session ends, and ends what runs for it.
func (x *Session) Close(why Ending) { x.gate.Close(why) }
