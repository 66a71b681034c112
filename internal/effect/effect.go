// Package effect is what a tool call changes besides the text that it
// returns: of the session, of what the model knows, of how the turn goes on.
// A tool says it, the loop carries it out, and the log keeps it. It refuses to
// carry anything out.
package effect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// An Effect is one thing that a call changes.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Dir is the working directory for later calls.
	Dir struct{ Path string }
	// Saw names files whose content the model now knows, after a read or a
	// write; they guard later edits and survive a resume.
	Saw struct{ Files []File }
	// Answer is the accepted structured answer of the turn.
	Answer struct{ JSON json.RawMessage }
	// Mode is the permission mode from now on. A tool may tighten the mode by
	// itself; it loosens it only as a person said.
	Mode struct{ To policy.Mode }
	// Fresh begins a new context with the text of the result: the conversation
	// so far stays in the log and is not sent any more.
	Fresh struct{}
	// Final ends the turn with this text as its answer.
	Final struct{ Text string }
	// Planned is a plan that a person approved, as it stands.
	Planned struct{ Text string }
	// Exported is how a command changed the environment of later ones: Confined,
	// only of those in the sandbox.
	Exported struct {
		Vars     []Variable
		Confined bool
	}
	// Skill is a skill that is used from here to the end of the turn.
	Skill struct {
		Name string `json:"name"`
		From string `json:"from,omitempty"` // who brought it, for people
		// Text is what the model reads of it, bounded; a compaction keeps it.
		Text string `json:"text,omitempty"`
		// Rules are allowed besides those in force, and Deny refused, until the turn
		// ends: in the syntax of the settings. No deny rule is lifted by them.
		Rules []string `json:"rules,omitempty"`
		Deny  []string `json:"deny,omitempty"`
		// Model and Effort, when set, answer until the turn ends.
		Model  string `json:"model,omitempty"`
		Effort string `json:"effort,omitempty"`
	}
	// Loaded are tools that the model knew by name only, and may call from the
	// next request on. They are kept as the model is told of them, so that it is told
	// the same after a restart, whoever brings them is there or not.
	Loaded struct{ Tools []llm.Spec }
	// Unknown keeps an effect that a newer version wrote.
	Unknown struct {
		Type string
		Raw  []byte
	}
)

// A Variable was set, or unset. One that is Hidden was changed, to a value that
// is not kept.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Unset  bool   `json:"unset,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

// An Export is a variable as a command left it for later ones.
type Export struct {
	Variable
	Confined bool // for commands in the sandbox only
}

// A File is the state of a file when the model last saw it.
type File struct {
	Path  string `json:"path"` // resolved
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // Unix nanoseconds
	Hash  string `json:"hash"`  // SHA-256, hex
	// Partial: only lines First..Last were shown.
	Partial bool `json:"partial,omitempty"`
	First   int  `json:"first,omitempty"`
	Last    int  `json:"last,omitempty"`
	// Unseen is what the model does not know of its text, by reading or writing it.
	Unseen Unseen `json:"unseen,omitempty"`
}

// An Unseen is why a model does not know all of a text. It is "" where the model does; what
// an earlier adze wrote to a log does not say it.
type Unseen string

// What may be unknown.
const (
	UnseenPart Unseen = "part" // some lines were not shown
	UnseenEnds Unseen = "ends" // lines were too long to be shown to their ends
)

func (Dir) effect()      {}
func (Saw) effect()      {}
func (Answer) effect()   {}
func (Mode) effect()     {}
func (Fresh) effect()    {}
func (Final) effect()    {}
func (Planned) effect()  {}
func (Exported) effect() {}
func (Skill) effect()    {}
func (Loaded) effect()   {}
func (Unknown) effect()  {}

// Of finds the last effect of a kind.
func Of[E Effect](list []Effect) (found E, ok bool) {
	for _, e := range list {
		if x, is := e.(E); is {
			found, ok = x, true
		}
	}
	return found, ok
}

// Files are all files that a list says the model saw.
func Files(list []Effect) (out []File) {
	for _, e := range list {
		if s, ok := e.(Saw); ok {
			out = append(out, s.Files...)
		}
	}
	return out
}

// A Stored is an effect in its JSON form.
type Stored = fastjson.Raw

// form has the members of every kind.
type form struct {
	Type  string          `json:"type"`
	Path  string          `json:"path,omitempty"`
	Files []File          `json:"files,omitempty"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Mode  policy.Mode     `json:"mode,omitempty"`
	Text  string          `json:"text,omitempty"`
	Vars  []Variable      `json:"vars,omitempty"`
	// Confined is Exported's.
	Confined bool     `json:"confined,omitempty"`
	Changes  []Change `json:"changes,omitempty"`
	Missed   []string `json:"missed,omitempty"`
	Skill    *Skill   `json:"skill,omitempty"`
	// Tools are Loaded's.
	Tools []llm.StoredSpec `json:"tools,omitempty"`
}

// Store gives the JSON form of a list.
func Store(list []Effect) (out []Stored, err error) {
	for _, e := range list {
		var f form
		switch e := e.(type) {
		case Dir:
			f = form{Type: "dir", Path: e.Path}
		case Saw:
			f = form{Type: "saw", Files: e.Files}
		case Answer:
			f = form{Type: "answer", JSON: e.JSON}
		case Mode:
			f = form{Type: "mode", Mode: e.To}
		case Fresh:
			f = form{Type: "fresh"}
		case Final:
			f = form{Type: "final", Text: e.Text}
		case Planned:
			f = form{Type: "planned", Text: e.Text}
		case Exported:
			f = form{Type: "exported", Vars: e.Vars, Confined: e.Confined}
		case Changed:
			f = form{Type: "changed", Changes: e.Files, Missed: e.Missed}
		case Skill:
			f = form{Type: "skill", Skill: &e}
		case Loaded:
			f = form{Type: "loaded", Tools: llm.StoredSpecs(e.Tools)}
		case Unknown:
			if !fastjson.Valid(e.Raw) {
				return nil, fmt.Errorf("an effect %q without its JSON", e.Type)
			}
			out = append(out, e.Raw)
			continue
		}
		raw, err := fastjson.Append(nil, f)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// Load reads what Store wrote. A kind that is not known stays as it is.
func Load(list []Stored) (out []Effect, err error) {
	for _, raw := range list {
		var head struct {
			Type string `json:"type"`
		}
		if err := fastjson.Unmarshal(raw, &head); err != nil {
			return nil, err
		}
		if head.Type == "" {
			return nil, errors.New("an effect without a type")
		}
		e, err := load(head.Type, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func load(kind string, raw Stored) (Effect, error) {
	var make func(form) Effect
	switch kind {
	case "dir":
		make = func(f form) Effect { return Dir{f.Path} }
	case "saw":
		make = func(f form) Effect { return Saw{f.Files} }
	case "answer":
		make = func(f form) Effect { return Answer{f.JSON} }
	case "mode":
		make = func(f form) Effect { return Mode{f.Mode} }
	case "fresh":
		make = func(form) Effect { return Fresh{} }
	case "final":
		make = func(f form) Effect { return Final{f.Text} }
	case "planned":
		make = func(f form) Effect { return Planned{f.Text} }
	case "exported":
		make = func(f form) Effect { return Exported{f.Vars, f.Confined} }
	case "changed":
		make = func(f form) Effect { return Changed{f.Changes, f.Missed} }
	case "skill":
		make = func(f form) Effect {
			if f.Skill == nil {
				return Skill{}
			}
			return *f.Skill
		}
	case "loaded":
		make = func(f form) Effect { return Loaded{llm.FromStoredSpecs(f.Tools)} }
	default:
		return Unknown{kind, bytes.Clone(raw)}, nil
	}
	var f form
	err := fastjson.Unmarshal(raw, &f)
	return make(f), err
}
