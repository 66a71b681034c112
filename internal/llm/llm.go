// Package llm is the provider-neutral vocabulary for talking to a model. It
// knows no wire format, does no I/O and never retries: a provider makes one
// attempt and classifies what went wrong; the loop decides what to do.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"
	"unicode/utf8"
)

// CutCall is ToolUse.Bad of a call that the output limit cut off.
const CutCall = "the call was cut off by the output limit"

// A Role says who speaks.
type Role string

// The two roles of a conversation. Instructions are Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Part is one piece of a message.
//
//sumtype:decl
type Part interface{ part() }

type (
	// Text is prose. Opaque is a provider's token that must return with it (the
	// phase of a Responses message), kept byte for byte, for the model named by From.
	Text struct {
		S      string
		Opaque json.RawMessage
		From   string
	}

	// Thinking is a model's reasoning. Opaque is the provider's own token
	// (a signature, an encrypted item), kept byte for byte; From names who
	// can read it, as "provider/model". Any other model must not be sent it.
	Thinking struct {
		S      string
		Opaque json.RawMessage
		From   string
	}

	// ToolUse is a call. Input is always a valid JSON value; when the model
	// wrote something else, Input is a JSON string of the raw text and Bad
	// says what was wrong with it.
	ToolUse struct {
		ID, Name string
		Input    json.RawMessage
		Bad      string
		// Opaque is a provider's token that must return with the call
		// (Gemini's thoughtSignature), for the model named by From.
		Opaque json.RawMessage
		From   string
	}

	// ToolResult answers the ToolUse with the same ID. Loaded are tools that the
	// model may call from here on, and was not told of whole before.
	ToolResult struct {
		ID     string
		Text   string
		IsErr  bool
		Images []Image
		Loaded []Spec
	}

	// Image is a picture. Media is image/png, image/jpeg, image/gif or image/webp.
	Image struct {
		Media string `json:"media,omitempty,case:ignore"` // logs had other letters once
		Data  []byte `json:"data,omitempty,case:ignore"`
	}

	// Document is a file a provider reads itself. Media is application/pdf.
	Document struct {
		Media string
		Name  string
		Data  []byte
	}
)

func (Text) part()       {}
func (Thinking) part()   {}
func (ToolUse) part()    {}
func (ToolResult) part() {}
func (Image) part()      {}
func (Document) part()   {}

// Among is a text with images among it, in the order that a model reads them. at is
// the byte of the text that each image stands before; an image without one, or with
// one that is none, stands where the image before it does, and the first of all before
// the text. A line break between the text and an image is left out.
func Among(text string, images []Image, at []int) []Part {
	parts := make([]Part, 0, 1+len(images))
	from := 0
	say := func(to int) {
		if s := strings.TrimSuffix(text[from:to], "\n"); s != "" {
			parts = append(parts, Text{S: s})
		}
		from = to
	}
	for i, img := range images {
		if i < len(at) && at[i] > from && at[i] <= len(text) && (at[i] == len(text) || utf8.RuneStart(text[at[i]])) {
			say(at[i])
		}
		parts = append(parts, img)
	}
	if from < len(text) {
		parts = append(parts, Text{S: text[from:]})
	}
	return parts
}

// A Message is one turn of the conversation.
type Message struct {
	Role  Role
	Parts []Part
}

// Text is what the message says, without calls, pictures and reasoning.
func (m Message) Text() string {
	var said []string
	for _, p := range m.Parts {
		if t, ok := p.(Text); ok {
			said = append(said, t.S)
		}
	}
	return strings.Join(said, "") // of one part, that is no copy
}

// A Spec describes a tool to a model. Schema is a JSON Schema object.
type Spec struct {
	Name, Description string
	Schema            json.RawMessage
	// Loads marks the tool whose results load others (ToolResult.Loaded).
	Loads bool
	// Deferred: a result loaded the tool. Where that result is among the messages of
	// a request, the tool is said there, so that what stands before it stays as it is;
	// else it is listed like any other.
	Deferred bool
}

// Equal reports whether two descriptions are the same, byte for byte.
func (s Spec) Equal(o Spec) bool {
	return s.Name == o.Name && s.Description == o.Description && bytes.Equal(s.Schema, o.Schema) && s.Loads == o.Loads && s.Deferred == o.Deferred
}

// A Request is everything one reply depends on. The same Request always
// gives the same bytes on the wire, because providers bill a changed prefix.
// Once a model was asked nobody writes to the parts of its messages any more:
// what was encoded of them is kept, and later requests are compared with it.
type Request struct {
	Model string // the provider's own name, without "provider/"
	// System is in cache order: what never changes first. Blocks are sent in
	// order and separated by a blank line where the wire has no blocks.
	System   []string
	Messages []Message
	Tools    []Spec
	// Names are further names that a call may have, beside those of Tools.
	Names []string
	// Force is the name of the tool that the reply has to call, "" leaves it to
	// the model. Where a server does not know the like, it is a wish.
	Force string
	// MaxTokens bounds the reply; 0 leaves it to the provider's default.
	MaxTokens int
	// Effort asks for reasoning, or for none.
	Effort Effort
	// ThinkingTokens, when positive, is a reasoning budget that wins over Effort.
	ThinkingTokens int
	// Clear asks the provider to leave old results out before the model sees the
	// conversation; nil leaves all in. Models whose provider cannot ignore it.
	Clear *Clearing
	// CacheKey is stable for a session and helps a provider to route to its cache.
	CacheKey string
}

// A Clearing says which results a provider leaves out of a request, the oldest
// first, in the place of each a line of its own.
type Clearing struct {
	Trigger int      // tokens of a prompt from which on it happens
	Keep    int      // the newest calls whose results stay
	AtLeast int      // tokens that come free, or nothing is left out
	Except  []string // tools whose results stay
}

// An Effort is how hard a model should think.
type Effort string

// Efforts. "" is the model's default; EffortNone asks a model that can do
// without reasoning not to reason.
const (
	EffortNone   Effort = "none"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// EffortFor is the effort that comes nearest to a reasoning budget, for models that
// take no number of tokens.
func EffortFor(tokens int) Effort {
	switch {
	case tokens < 6000:
		return EffortLow
	case tokens < 16_000:
		return EffortMedium
	case tokens < 31_999: // the budget that people ask for when they want the most
		return EffortHigh
	}
	return EffortMax
}

// A Chunk is one step of a streamed reply.
//
//sumtype:decl
type Chunk interface{ chunk() }

type (
	// TextDelta adds prose to the text part that is being written.
	TextDelta struct{ S string }
	// ThinkingDelta adds reasoning.
	ThinkingDelta struct{ S string }
	// ToolInputDelta adds raw JSON text to the call with this ID.
	ToolInputDelta struct{ ID, Name, S string }
	// Recast takes back the prose that came so far, where no part was finished: it was
	// reasoning, and comes again as that.
	Recast struct{}
	// PartDone hands over a finished part, in the order of the message. A
	// ToolUse in it may start while the rest still streams.
	PartDone struct{ Part Part }
	// Progress is what the provider has said of the reply so far: its id, and
	// what it will bill if nothing more comes. Each one replaces the one
	// before; one may come before anything was said, and none may come at all.
	Progress struct {
		ID, Model string
		Usage     Usage
		Limits    []Limit // as the answer's headers tell of them
	}
	// Finished is always last and comes exactly once when there was no error.
	Finished struct {
		Message Message
		Stop    Stop
		Usage   Usage
		Model   string // the model that answered, if the provider says
		ID      string // the provider's id of the reply
		NoTools bool   // the server takes no tools for this model, so it was told of none
		Note    string // what a person should know of that, once; else ""
		Why     string // the provider's own name for why it refused, "" when it gave none
	}
)

// A Limit is how much of a rate limit of the provider is used.
type Limit struct {
	Name   string    `json:"name"`           // "requests", "tokens", "input_tokens", "output_tokens", "five_hour", "seven_day"
	Used   float64   `json:"used"`           // share, from 0 to 1
	Most   int64     `json:"most,omitempty"` // 0 where only the share is told
	Left   int64     `json:"left,omitempty"`
	Resets time.Time `json:"resets,omitzero"`
}

func (TextDelta) chunk()      {}
func (ThinkingDelta) chunk()  {}
func (ToolInputDelta) chunk() {}
func (Recast) chunk()         {}
func (PartDone) chunk()       {}
func (Progress) chunk()       {}
func (Finished) chunk()       {}

// A Stop is why a reply ended.
type Stop string

// Reasons to stop.
const (
	EndTurn   Stop = "end_turn"
	WantTools Stop = "tool_use"
	MaxTokens Stop = "max_tokens"
	Refused   Stop = "refusal"
	// WindowFull: the reply ran into the end of the context window.
	WindowFull Stop = "model_context_window_exceeded"
	// Paused: the provider paused a long turn; send the history again to go on.
	Paused Stop = "pause_turn"
)

// Usage counts tokens. In is what was billed at the full price: cache reads
// and writes are counted in their own fields and not in In. Out includes
// Reasoning, CacheWrite includes CacheWriteLong.
type Usage struct {
	In         int `json:"in"`
	Out        int `json:"out"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"`
	// CacheWriteLong is what a provider keeps for an hour, and bills higher.
	CacheWriteLong int `json:"cache_write_long,omitempty"`
	// Cleared is what the provider left out of the request; see Clearing. The
	// other counts are of what was left.
	Cleared int `json:"cleared,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.In + v.In, u.Out + v.Out, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning, u.CacheWriteLong + v.CacheWriteLong, u.Cleared + v.Cleared}
}

// maxTokens is more than any one reply costs.
const maxTokens = 1 << 40

// Bounded is u with what can be no count of tokens put right: below zero is none, and
// sums stay countable.
func (u Usage) Bounded() Usage {
	for _, n := range []*int{&u.In, &u.Out, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.CacheWriteLong, &u.Cleared} {
		*n = min(max(*n, 0), maxTokens)
	}
	return u
}

// Prompt is all the tokens of the request, cached or not.
func (u Usage) Prompt() int { return u.In + u.CacheRead + u.CacheWrite }

// A Model streams one reply to one request. An error is the last thing it
// yields and is an *Error, or the context's error. Breaking out of the range
// closes the stream.
type Model interface {
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]
}
