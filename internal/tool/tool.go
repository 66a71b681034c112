// Package tool defines what a tool is. Tools live in subpackages. A tool says
// as data what it would do, and does it when told; it never asks a person,
// never decides, and takes nothing from the context but its end.
package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of a result for the model, in characters (tools.md). A result over its
// limit is spilled to a file by the loop.
const (
	DefaultLimit = 100_000
	NoLimit      = -1 // the tool bounds itself
)

// A Spec describes a tool.
type Spec struct {
	Name        string
	Others      []string        // further names by which lists and flags may mean a tool of an MCP server (policy.Call.Names)
	Description string          // for the model; from an embedded .md
	Schema      json.RawMessage // a JSON Schema object; Typed derives it from its input
	Limit       int             // characters of Result.Text; 0 is DefaultLimit
	// Again: a result can be had again by calling again, so that an old one may
	// leave the window when room is short.
	Again bool
	// Shell marks a command runner: when a call of it fails, its siblings of the
	// same reply are cancelled, also those that have not started.
	Shell bool
	// Deferrable: the model may be told of the tool by name only, until it loads it
	// with the tool that Loads, which a set has at most one of. That one is listed
	// only in a set that has tools to load, or may have.
	Deferrable, Loads bool
	// Seldom: few sessions need it, so it is named only in every set that can load tools,
	// whatever their size, by the tool that loads them.
	Seldom bool
	// Facts, when not nil, are the fields of the input that say what a call does. All
	// others are what the model says about it, for people to read: whoever rules on a
	// call without taking the model's word (auto mode) does not see them.
	Facts []string
	// Files is what the tool does with whatever file a call of it names.
	Files FileUse
	// Ahead, when set, is called when a call begins to arrive, so that what takes
	// time to make ready is ready when the call has come. It returns at once, and
	// may be called from any goroutine and more than once.
	Ahead func()
}

// A FileUse is what a tool does with files: one of these, or several.
type FileUse uint8

// Uses of a file.
const (
	ReadsFile FileUse = 1 << iota // shows the model what is in it
	MakesFile                     // makes it, or writes it anew
	EditsFile                     // changes a part of it
	// KeepsFiles are all of them: what a model needs that keeps notes in files.
	KeepsFiles = ReadsFile | MakesFile | EditsFile
)

// A Plan is what a call would do, worked out without doing it. The zero Plan
// fails closed: it is not parallel, and a plan without actions is asked about.
type Plan struct {
	Actions  []policy.Action
	View     view.Block // what a person sees before it runs: the diff, the command
	Title    string     // one line for a status display: "Read calc.go"
	Parallel bool       // only reads, so it may run beside other such calls
	// Fold, when set, is what one such call looks at, in one word ("file",
	// "search"): a screen may show several calls in a row as one line.
	Fold string
	// Sandboxed: it would run inside the OS sandbox, and the settings let
	// sandboxed calls pass without a question.
	Sandboxed bool
}

// A Result is what a call did: Text for the model, View for people.
type Result struct {
	Text   string
	View   view.Block // nil draws Text
	IsErr  bool
	Images []llm.Image
	// Effects are what the call changed besides.
	Effects []Effect
	// Data, when set, makes the result as programs read it: a value for JSON in the
	// shape that agent SDKs publish for the tool (sdk-tools.d.ts of
	// @anthropic-ai/claude-agent-sdk 0.3.332). It is called when a hook or a host reads
	// it, by any goroutine, and what is kept for it lives as long.
	Data func() any
}

// An Effect is one thing that a call changes besides what it returns.
type Effect = effect.Effect

// Env is everything a call may use. There is no other way in.
type Env struct {
	Dir     string   // working directory: absolute, resolved
	Roots   []string // folders work happens in: resolved; the first is the project's
	Home    string
	Scratch string      // the session's own folder for files, "" when it has none
	Session string      // the session's ID, "" outside of one
	Call    string      // the call's ID
	Agent   string      // the ID of the agent in whose stead the session is asked, "" for none
	Window  int         // the model's window in tokens, 0 when unknown
	Mode    policy.Mode // the permission mode of the call, "" when unknown
	// Covers, when set, tells which files a tool that reads what it finds leaves
	// out: path is resolved, named is how it was reached.
	Covers func(m policy.Mode, path, named string) policy.Cover
	// Whole: the result of every earlier call is still in the model's window.
	Whole bool
	// Result, when set, is what an earlier call of the session returned, as it came,
	// also when the window does not have it any more; ok is false when there was no
	// such call. It reads the log, which takes a second for each 150 MB of it.
	Result func(ctx context.Context, call string) (text string, ok bool, err error)
	// Exports are the variables that commands of the session have exported.
	Exports []effect.Export
	// Replied waits until the reply that the call is of has ended and is recorded. It is
	// false when it broke off, or the call is over. nil: the call is of none.
	Replied   func() bool
	Images    bool // the model takes them
	ImageEdge int  // pixels that the long edge of an image may have, 0 when unknown
	// Tools are those of the request that the call answers.
	Tools Set
	// Progress shows output while the call runs; never nil in Run.
	Progress func(s string)
	// Answer holds what a person said to the questions of the plan's view.
	Answer *Answer
	// Needs, in Run, are the conditions of the verdict that let the call run: the
	// tool sees to them, or does not do what the plan said.
	Needs policy.Needs
}

// An Answer is what a person said to the questions of a plan's view. When it
// has other arguments, the loop has planned the call anew with them.
type Answer = op.Answer

// A Tool is one thing a model can call. Plan returns an error for input that
// makes no sense; Run returns an error only when the turn cannot go on, and
// puts everything a model can act on into Result.
type Tool interface {
	Spec() Spec
	Plan(in json.RawMessage, env Env) (Plan, error)
	Run(ctx context.Context, in json.RawMessage, env Env) (Result, error)
}

// Errorf is a Result that tells the model what went wrong.
func Errorf(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsErr: true}
}
