package ask

import (
	"fmt"

	"github.com/adze-agent/adze/internal/op"
)

// A Scope is what a connection may do, each with all before it.
type Scope int

// Scopes.
const (
	Watch  Scope = iota // read what happens and what there is
	Answer              // also settle open questions, once each
	Prompt              // also say something to the model, and stop it
	Admin               // also run commands, and change rules, modes, settings, trust and servers
)

var scopes = [...]string{Watch: "watch", Answer: "answer", Prompt: "prompt", Admin: "admin"}

func (s Scope) String() string { return scopes[s] }

// MarshalText writes String.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Scope) UnmarshalText(text []byte) error {
	for i, name := range scopes {
		if name == string(text) {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("there is no scope %q: there are watch, answer, prompt and admin", text)
}

// Needs is the scope that a connection must have for q.
func Needs(q Query) Scope {
	switch q := q.(type) {
	case Status:
		if q.Transcript { // a file is written
			return Prompt
		}
		return Watch
	case Servers:
		if q.Do != "" {
			return Admin
		}
		return Watch
	case Definitions:
		if q.Do != "" {
			return Admin
		}
		return Watch
	case Folders:
		if q.Add != "" {
			return Admin
		}
		return Watch
	case Open, Models, Sessions, Find, Search, Preview, Diff, Context, Files, Resources, Receivers, Arguments, Memory, Remembered, Rules, Hooks, Pick, Trust, Offers, Cost, Output, Tasks:
		return Watch
	case Aside, Rename, Title, Agent:
		return Prompt
	case Note, Forget, Save, Style, Report, Decide, Serve, Deliver, Reload, Call, Resource, Read, Seen, Settings, Within:
		return Admin
	}
	return Admin
}

// OpNeeds is the scope that a connection must have for o. An answer that does more
// than settle its question needs what that needs by itself: rules, folders and a mode
// change what holds from then on, and rewritten arguments run what nobody asked about.
func OpNeeds(o op.Op) Scope {
	switch o := o.(type) {
	case op.Attach, op.Detach:
		return Answer
	case op.Answer:
		if len(o.Rules)+len(o.Changes)+len(o.Folders)+len(o.Input) > 0 || o.Keep != op.ForSession || o.Mode != "" {
			return Admin
		}
		return Answer
	case op.Prompt:
		if o.From != nil && o.From.Mode != "" {
			return Admin
		}
		return Prompt
	case op.Notify, op.Unqueue, op.Interrupt, op.SetModel, op.SetEffort, op.Background, op.StopTask, op.Rewind, op.Compact, op.Goal, op.Rename:
		return Prompt
	case op.Shell, op.SetMode, op.Revoke:
		return Admin
	}
	return Admin
}
