package event

import (
	"fmt"
	"strconv"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// Live bodies; those about a change of the conversation stand beside it.
type (
	// ReplyStarted says that the first chunk of a reply arrived.
	ReplyStarted struct {
		Model string        `json:"model"`
		First time.Duration `json:"first"`
		ID    string        `json:"id,omitempty"`   // the provider's, when it says so by now
		Usage llm.Usage     `json:"usage,omitzero"` // as far as the provider says by now
		// Limits are the provider's rate limits, where it tells of them.
		Limits []llm.Limit `json:"limits,omitempty"`
	}
	// TextDelta says S was added at byte At of the reply's text, so a reader
	// can tell it missed some.
	TextDelta struct {
		At int    `json:"at"`
		S  string `json:"s"`
	}
	ThinkingDelta struct {
		At int    `json:"at"`
		S  string `json:"s"`
	}
	ToolInputDelta struct {
		Call string `json:"call"`
		Name string `json:"name"`
		At   int    `json:"at"`
		S    string `json:"s"`
	}
	// PartDone is a finished part of the reply that still streams.
	PartDone struct {
		Part llm.Part
	}
	// Retracted tells readers to remove what the deltas since ReplyStarted said.
	Retracted struct {
		Why string `json:"why"`
	}
	// Waiting announces a pause before a request is sent again.
	Waiting struct {
		Attempt int           `json:"attempt"` // of the retry: 1, 2, …
		Max     int           `json:"max"`     // 0: for as long as it takes
		For     time.Duration `json:"for"`
		Status  int           `json:"status,omitempty"`
		Err     string        `json:"error"`
		Kind    string        `json:"kind"`
	}
	// ToolOutput is output of a running call, a piece that follows the one before.
	// It may hold carriage returns: what comes behind one stands in the place of its line.
	ToolOutput struct {
		Call string `json:"call"`
		S    string `json:"s"`
	}
	// TaskOutput is output of a background task.
	TaskOutput struct {
		ID string `json:"id"`
		S  string `json:"s"`
	}
	// TaskProgress is what an agent has done by now, and what it does. It is told
	// whenever that changes.
	TaskProgress struct {
		ID    string        `json:"id"`
		Doing string        `json:"doing,omitempty"` // in a few words, "" while it thinks
		Tally Tally         `json:"tally"`
		Took  time.Duration `json:"took"`
		// Summary is a line of a model about what it works on, made every half minute where
		// that is wanted; "" before the first.
		Summary string `json:"summary,omitempty"`
	}
	// HookStarted is a hook that runs, and HookEnded how it ended.
	HookStarted struct {
		ID     int    `json:"id"` // of the run, from 1
		Event  string `json:"event"`
		Name   string `json:"name"`
		Status string `json:"status,omitempty"` // what people see meanwhile
		Call   string `json:"call,omitempty"`   // that it is about
		Input  string `json:"input,omitempty"`  // the fields that the event has of its own, as JSON, at most 2,000 characters of it
	}
	HookEnded struct {
		ID     int           `json:"id"`
		Event  string        `json:"event"`
		Name   string        `json:"name"`
		Code   int           `json:"code"` // exit code
		Stdout string        `json:"stdout,omitempty"`
		Stderr string        `json:"stderr,omitempty"`
		Err    string        `json:"error,omitempty"` // why there is no answer
		Took   time.Duration `json:"took"`
		// Terminal is what a terminal is to do, "" for nothing: bells, titles and
		// notifications, as package hook lets them pass.
		Terminal string `json:"terminal,omitempty"`
	}
	// Suggested is what a person may want to say next, after a turn.
	Suggested struct {
		Text string `json:"text"`
	}
	// Queued lists the prompts that wait; it is sent whenever the queue changes.
	Queued struct {
		IDs   []string `json:"ids"`
		Texts []string `json:"texts"`
	}
)

func (ReplyStarted) body()   {}
func (TextDelta) body()      {}
func (ThinkingDelta) body()  {}
func (ToolInputDelta) body() {}
func (PartDone) body()       {}

// Count says which retry it is.
func (w Waiting) Count() string {
	if w.Max == 0 {
		return strconv.Itoa(w.Attempt)
	}
	return fmt.Sprintf("%d of %d", w.Attempt, w.Max)
}

func (Retracted) body()    {}
func (Waiting) body()      {}
func (ToolOutput) body()   {}
func (TaskProgress) body() {}
func (TaskOutput) body()   {}
func (HookStarted) body()  {}
func (HookEnded) body()    {}
func (Suggested) body()    {}
func (Queued) body()       {}

func (ReplyStarted) live()   {}
func (TextDelta) live()      {}
func (ThinkingDelta) live()  {}
func (ToolInputDelta) live() {}
func (PartDone) live()       {}
func (Retracted) live()      {}
func (Waiting) live()        {}
func (ToolOutput) live()     {}
func (TaskProgress) live()   {}
func (TaskOutput) live()     {}
func (HookStarted) live()    {}
func (HookEnded) live()      {}
func (Suggested) live()      {}
func (Queued) live()         {}
