package event

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// Durable bodies that change the conversation that is sent, never the history.
type (
	// Cleared replaces the results of these calls by one fixed line.
	Cleared struct {
		Calls []string `json:"calls"`
	}
	// Bounded cuts results, because those of one reply have more characters
	// together than a message may have: Text is sent in the place of each from
	// now on.
	Bounded struct {
		Results []Cut `json:"results"`
	}
	// A Cut is the result of a call as it is sent; Spill is the file that holds all
	// of it, "" when none could be written.
	Cut struct {
		Call  string `json:"call"`
		Text  string `json:"text"`
		Spill string `json:"spill,omitempty"`
	}
	// Stripped removes images and documents up to this event.
	Stripped struct {
		Cause Cause  `json:"cause,omitempty"`
		Why   string `json:"why,omitempty"`
	}
	// Compacted is a boundary: what came before it stays in the log and is not
	// sent any more. The conversation goes on with Text, as if it began there.
	Compacted struct {
		Trigger Cause  `json:"trigger"`
		Text    string `json:"text,omitempty"`   // for the model
		Tokens  int    `json:"tokens,omitempty"` // estimated, of the conversation until then
		// Before and From keep a part of the conversation as it is: what came from
		// events before Before goes in front of Text, what came from From on goes
		// behind it. 0 keeps nothing.
		Before Seq `json:"before,omitempty"`
		From   Seq `json:"from,omitempty"`
		// Notes: Text is not a summary but the session's notes, which tell of all up
		// to and with this event.
		Notes Seq `json:"notes,omitempty"`
		// Record is a file that holds what is not sent any more, "" without one.
		Record string `json:"record,omitempty"`
		Left   int    `json:"left,omitempty"` // tokens, estimated, of the next request with instructions and tools
		// Undo takes the boundary of that event back: the conversation is Messages,
		// and Earlier boundaries with a summary are still in force.
		Undo     Seq           `json:"undo,omitempty"`
		Messages []llm.Message `json:"-"`
		Earlier  int           `json:"earlier,omitempty"`
		Origin
	}
	// An Origin says of messages that come back where they come from.
	Origin struct {
		Parts    [][]Seq `json:"parts,omitempty"`    // the event of each part of each message; nil when that was not noted
		Boundary Seq     `json:"boundary,omitempty"` // the newest boundary that is in force in them; 0: none is
	}
	// NotesKept says that the session's notes, a file beside the log, tell of what
	// happened up to an event.
	NotesKept struct {
		Through Seq `json:"through"`
	}
	// CompactFailed says that the conversation is as it was, because no summary of
	// it could be had.
	CompactFailed struct {
		Trigger Cause  `json:"trigger"`
		Why     string `json:"why"`
		// Stops: it was one too many in a row, and it is not tried again by itself.
		Stops bool `json:"stops,omitempty"`
	}
	// RewindBegan says what a rewind is about to do to files, before the first of them
	// changes. The Rewound behind it says what it did; without one, the process ended
	// meanwhile.
	RewindBegan struct {
		To      Seq             `json:"to"`
		ID      string          `json:"id,omitempty"`
		Text    string          `json:"text,omitempty"`
		Undo    bool            `json:"undo,omitempty"`
		Changes []effect.Change `json:"changes,omitempty"`
	}
	// Rewound says that a person went back to before an event. What came since
	// stays in the log.
	Rewound struct {
		To   Seq    `json:"to"`           // the prompt that was taken back, or the Rewound
		ID   string `json:"id,omitempty"` // of the prompt
		Text string `json:"text,omitempty"`
		// Undo: To is an earlier Rewound, which is taken back. Dropped prompts were in
		// the conversation and are not any more; only an undo of this one brings
		// them back.
		Undo    bool `json:"undo,omitempty"`
		Dropped int  `json:"dropped,omitempty"`
		// Conversation: it is again as it was then. Tasks, Seen, Dir, Last and
		// Tokens are what was so then; Messages is all of the conversation, when
		// the fold does not have it any more.
		Conversation bool          `json:"conversation,omitempty"`
		Messages     []llm.Message `json:"-"`
		Origin
		Tasks  []view.Task   `json:"tasks,omitempty"`
		List   tasklist.List `json:"list,omitzero"` // of which Tasks are a view
		Seen   []effect.File `json:"seen,omitempty"`
		Dir    string        `json:"dir,omitempty"`
		Last   string        `json:"last,omitempty"` // the newest prompt
		Tokens int           `json:"tokens,omitempty"`
		// Code: files were put back. Changes are what that did, Problems what it
		// could not do.
		Code     bool            `json:"code,omitempty"`
		Changes  []effect.Change `json:"changes,omitempty"`
		Problems []string        `json:"problems,omitempty"`
		// Missed says of what since then nothing is recorded, so that it is as it is.
		Missed []string `json:"missed,omitempty"`
		// Foreign are paths among those of Changes that something else had changed since
		// the last call that did.
		Foreign []string `json:"foreign,omitempty"`
		// Cut is why it did not come to its end, "" when it did. Then only files changed,
		// if any.
		Cut string `json:"cut,omitempty"`
	}
)

// Live bodies about such a change.
type (
	// RewindPlan is what a rewind would do to files.
	RewindPlan struct {
		ID    string       `json:"id"` // of the prompt
		Files []FileChange `json:"files,omitempty"`
		Lost  []string     `json:"lost,omitempty"` // what cannot be put back, in words
		// Dropped prompts leave the conversation when a rewind is taken back.
		Dropped int `json:"dropped,omitempty"`
	}
	// Rewinding says how many of all files a rewind has put back, at most ten times a second.
	Rewinding struct {
		Done int `json:"done"`
		Of   int `json:"of"`
	}
	// Compacting says that a summary of the conversation is being written.
	Compacting struct {
		Trigger Cause `json:"trigger"`
	}
)

// ToolDeferred is the reason of a turn that ended because a hook put its only open
// call off: the call has no result yet, and the session goes on with it.
const ToolDeferred = "tool_deferred"

// KeyRefused is the Kind of a turn that ended because a provider took no key.
const KeyRefused = "authentication_failed"

// Reasons of a turn that ended because the conversation does not fit the window of
// the model: as adze reckons, as the provider says, and where what every request has is too long for it.
const (
	BlockingLimit       = "blocking_limit"
	PromptTooLong       = "prompt_too_long"
	InstructionsTooLong = "instructions_too_long"
)

// Overfull reports whether a turn ended because the conversation does not fit the
// window of the model.
func (b TurnEnded) Overfull() bool {
	return b.Reason == BlockingLimit || b.Reason == PromptTooLong || b.Reason == InstructionsTooLong
}

// InterruptedSummary is the reason of a turn that only compacted and was
// interrupted: nothing that a person asked the model for was left undone.
const InterruptedSummary = "interrupted_summary"

// A FileChange is what happens to a file, for people.
type FileChange struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`              // "created", "changed", "removed", "mode"
	Added   int    `json:"added,omitempty"`   // lines
	Removed int    `json:"removed,omitempty"` // lines
	// Foreign: it was changed since by something that no call did.
	Foreign bool `json:"foreign,omitempty"`
}

// String says it in a sentence, with the beginning of the prompt.
func (b Rewound) String() string {
	if b.Cut != "" {
		return b.cut()
	}
	what := "the conversation"
	switch {
	case b.Code && b.Conversation:
		what = "the conversation and files"
	case b.Code:
		what = "files"
	}
	s := fmt.Sprintf("Went back in %s to before %q", what, clip.Line(b.Text, 60))
	if b.Undo {
		s = fmt.Sprintf("Took the last rewind back in %s", what)
	}
	if b.Code {
		s += fmt.Sprintf(": %d changed on disk", len(b.Changes))
	}
	if n := len(b.Problems); n > 0 {
		s += fmt.Sprintf(", %d could not be", n)
	}
	s += "."
	if n := len(b.Foreign); n > 0 {
		s += fmt.Sprintf(" Something else had changed %d of them since (%s); an undo brings that back.", n, someOf(b.Foreign))
	}
	switch {
	case b.Dropped == 1:
		s += " The prompt that was said since is not in the conversation any more; taking this back brings it back."
	case b.Dropped > 1:
		s += fmt.Sprintf(" The %d prompts that were said since are not in the conversation any more; taking this back brings them back.", b.Dropped)
	}
	return s
}

// Left says what is not as it was, a line for each reason.
func (b Rewound) Left() (out []string) {
	at, paths, whys := map[string]int{}, [][]string{}, []string{}
	for _, p := range b.Problems {
		path, why, _ := strings.Cut(p, ": ")
		i, known := at[why]
		if !known {
			i = len(whys)
			at[why], paths, whys = i, append(paths, nil), append(whys, why)
		}
		paths[i] = append(paths[i], path)
	}
	for i, why := range whys {
		out = append(out, "not put back: "+someOf(paths[i])+": "+why)
	}
	for _, m := range b.Missed {
		out = append(out, "not recorded: "+m)
	}
	return out
}

// cut says that a rewind did not come to its end.
func (b Rewound) cut() string {
	what := fmt.Sprintf("The rewind to before %q", clip.Line(b.Text, 60))
	if b.Undo {
		what = "The undo of a rewind"
	}
	if len(b.Changes) == 0 {
		return fmt.Sprintf("%s was cut off (%s). Files are as they were before it.", what, b.Cut)
	}
	return fmt.Sprintf("%s was cut off (%s): %s changed on disk. The same rewind again finishes it, and an undo takes it back.", what, b.Cut, clip.Count(len(b.Changes), "file"))
}

// someOf names the first of some paths.
func someOf(list []string) string {
	const most = 5
	text := strings.Join(list[:min(len(list), most)], ", ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return clip.Visible(text)
}

// String says it in a sentence.
func (b Compacted) String() string {
	switch {
	case b.Undo > 0 && b.Earlier > 0:
		return "The last compaction was taken back. What an earlier one summed up is still not sent; /compact --undo brings it back, too."
	case b.Undo > 0 && b.Boundary > 0:
		return "The last compaction was taken back: the conversation is as it was before it."
	case b.Undo > 0:
		return "The last compaction was taken back: the conversation is whole again."
	case b.Trigger == CausePlan || b.Trigger == CauseTool:
		return "The conversation goes on in a fresh context; what came before it is kept and not sent any more."
	}
	why := map[Cause]string{CauseFull: "the model's window was nearly full", CauseTooLong: "the provider refused it as too long", CauseAsked: "as asked"}[b.Trigger]
	return fmt.Sprintf("The conversation was compacted (%s): about %s tokens became %s. All of it is kept; /compact --undo brings it back.", why, clip.Thousands(b.Tokens), clip.Thousands(b.Left))
}

// String says it in a sentence.
func (b CompactFailed) String() string {
	s := "The conversation could not be compacted: " + b.Why + "."
	if b.Stops {
		s += " That was one time too many in a row: it is tried again by itself in an hour, or when adze is started anew; /compact tries it now."
	}
	return s
}

func (Cleared) body()       {}
func (Bounded) body()       {}
func (Stripped) body()      {}
func (Compacted) body()     {}
func (NotesKept) body()     {}
func (CompactFailed) body() {}
func (RewindBegan) body()   {}
func (Rewound) body()       {}
func (Compacting) body()    {}
func (RewindPlan) body()    {}
func (Rewinding) body()     {}

func (Compacting) live() {}
func (RewindPlan) live() {}
func (Rewinding) live()  {}
