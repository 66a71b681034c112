// Package llmtest owns the battery every provider passes: the same replies,
// faults and oddities, spoken in each provider's own wire by a server in this
// process. It talks to no network beyond the loopback and tests no loop: a
// provider makes one attempt.
package llmtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/llm"
)

// A Wire speaks a provider's format from the server's side.
type Wire interface {
	// Frames are the events of a reply, each with its blank line.
	Frames(r Reply) []string
	// ErrorBody is the body that goes with an error status.
	ErrorBody(status int, message string) string
	// MidError is an event that says, in the middle of a stream, that the
	// provider is overloaded; "" where the wire has none.
	MidError() string
	// Comment is an event or a comment that keeps the stream alive.
	Comment() string
	// History reads the messages of a request back.
	History(body []byte) ([]llm.Message, error)
}

// A Reply is what a server sends.
type Reply struct {
	Parts []Part
	Stop  llm.Stop
	Usage llm.Usage
	ID    string
	Model string
}

// A Part is one part of a reply and how it is cut.
type Part struct {
	Part llm.Part
	// Pieces are the raw insides of the JSON strings it is sent as. Empty
	// means one piece per word. Wires that send a call's input whole ignore
	// them for calls.
	Pieces []string
}

// A Server is where a provider is to send its request.
type Server struct {
	URL  string
	Key  string
	Idle time.Duration
}

// A Step answers one request.
type Step struct {
	Reply  Reply
	Status int // not 0: an error
	Header map[string]string
	Body   string // of an error; "" is the wire's own
	// Cut drops the connection after that many words; Stall goes silent then.
	Cut, Stall int
	// Raw writes the answer by hand. Only for adapters with a Wire.
	Raw func(w http.ResponseWriter, frames []string)
}

// An Adapter is a provider under test.
type Adapter struct {
	Provider string // in errors
	Model    string
	Wire     Wire
	New      func(t testing.TB, s Server) llm.Model
	// Make replaces Wire and New for a model that has no server. It returns
	// nil when it cannot play the steps.
	Make func(t testing.TB, idle time.Duration, steps []Step) llm.Model

	Live []string // names of tests that make no sense for it

	WholeInput  bool // the wire sends a call's input in one piece
	NoOpaque    bool // the wire has no token for reasoning
	NoThinking  bool // the wire has no reasoning in a history
	NoSummaries bool // of reasoning only the token goes back
	NoCallIDs   bool // ids are not on the wire
	NoIDs       bool // the reply has no id of its own
	NoRefusal   bool
	NoImages    bool
	NoWindow    bool // no stop reason for a full window
	NoReasoning bool // usage does not tell reasoning
	NoWrites    bool // usage does not tell cache writes
}

const testKey = "test-key-0123456789abcdef"

// A fixture is a model and the server behind it.
type fixture struct {
	t     testing.TB
	a     Adapter
	model llm.Model

	mu       sync.Mutex
	steps    []Step
	requests []string
	headers  []http.Header
	gone     chan struct{} // one value per request that the client left
	quit     chan struct{}
}

func newFixture(t testing.TB, a Adapter, idle time.Duration, steps ...Step) *fixture {
	t.Helper()
	f := &fixture{t: t, a: a, steps: steps, gone: make(chan struct{}, 1000), quit: make(chan struct{})}
	if a.Make != nil {
		if f.model = a.Make(t, idle, steps); f.model == nil {
			t.Skip("this model cannot play that")
		}
		return f
	}
	srv := httptest.NewServer(f)
	t.Cleanup(func() {
		close(f.quit)
		srv.CloseClientConnections()
		srv.Close()
	})
	f.model = a.New(t, Server{URL: srv.URL, Key: testKey, Idle: idle})
	return f
}

// ServeHTTP answers with the next step.
func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, string(body))
	f.headers = append(f.headers, r.Header.Clone())
	n := len(f.requests) - 1
	f.mu.Unlock()
	if n >= len(f.steps) {
		http.Error(w, "no more steps", http.StatusTeapot)
		return
	}
	s := f.steps[n]
	for k, v := range s.Header {
		w.Header().Set(k, v)
	}
	switch {
	case s.Raw != nil:
		s.Raw(w, f.a.Wire.Frames(s.Reply))
		return
	case s.Status != 0:
		if s.Body == "" {
			s.Body = f.a.Wire.ErrorBody(s.Status, "something is wrong")
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(s.Status)
		_, _ = io.WriteString(w, s.Body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	frames := f.a.Wire.Frames(s.Reply)
	if n := s.Cut + s.Stall; n > 0 {
		frames = frames[:min(n+2, len(frames)-1)]
	}
	for _, frame := range frames {
		_, _ = io.WriteString(w, frame)
		w.(http.Flusher).Flush()
	}
	switch {
	case s.Cut > 0:
		panic(http.ErrAbortHandler)
	case s.Stall > 0:
		select {
		case <-r.Context().Done():
			f.gone <- struct{}{}
		case <-f.quit:
		}
	}
}

func (f *fixture) body(n int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n >= len(f.requests) {
		f.t.Fatalf("only %d requests were sent", len(f.requests))
	}
	return []byte(f.requests[n])
}

// A Got is a whole reply as it was received.
type Got struct {
	Chunks   []llm.Chunk
	Progress llm.Progress // the last one
	Text     string       // all deltas of prose
	Thinking string
	Inputs   map[string]string // call id → all deltas of its input
	Parts    []llm.Part        // as handed over
	Finished *llm.Finished
	Err      error
}

// Collect streams one reply and checks what must hold for each: deltas add up
// to the parts, the parts to the message, Finished is last and single, no
// text is broken UTF-8, calls have ids.
func Collect(t testing.TB, ctx context.Context, m llm.Model, r llm.Request) Got {
	t.Helper()
	g := Got{Inputs: map[string]string{}}
	for c, err := range m.Stream(ctx, r) {
		if g.Err != nil || g.Finished != nil {
			t.Fatalf("something came after the end: %v, %v", c, err)
		}
		if err != nil {
			g.Err = err
			continue
		}
		if p, ok := c.(llm.Progress); ok { // of the reply, no part of it
			g.Progress = p
			continue
		}
		g.Chunks = append(g.Chunks, c)
		switch c := c.(type) {
		case llm.Progress:
		case llm.Recast:
			if len(g.Parts) > 0 || g.Thinking != "" {
				t.Errorf("prose is taken back behind a part: %+v", g.Parts)
			}
			g.Text = ""
		case llm.TextDelta:
			g.Text += c.S
			valid(t, c.S)
		case llm.ThinkingDelta:
			g.Thinking += c.S
			valid(t, c.S)
		case llm.ToolInputDelta:
			if c.ID == "" || c.Name == "" {
				t.Errorf("a delta of a call without id or name: %+v", c)
			}
			g.Inputs[c.ID] += c.S
			valid(t, c.S)
		case llm.PartDone:
			g.Parts = append(g.Parts, c.Part)
		case llm.Finished:
			g.Finished = &c
		}
	}
	g.check(t)
	return g
}

func valid(t testing.TB, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("a delta is broken UTF-8: %q", s)
	}
}

func (g Got) check(t testing.TB) {
	t.Helper()
	if (g.Finished == nil) == (g.Err == nil) {
		t.Fatalf("a stream ends with Finished or with an error: %v, %v", g.Finished, g.Err)
	}
	if g.Finished == nil {
		if e, ok := g.Err.(*llm.Error); ok && !e.Begun && len(g.Chunks) > 0 {
			t.Errorf("Begun is %v after %d chunks", e.Begun, len(g.Chunks))
		}
		return
	}
	if len(g.Parts)+len(g.Finished.Message.Parts) > 0 && !reflect.DeepEqual(g.Parts, g.Finished.Message.Parts) {
		t.Errorf("parts handed over %#v\nmessage %#v", g.Parts, g.Finished.Message.Parts)
	}
	text, thinking, ids := "", "", map[string]bool{}
	for _, p := range g.Parts {
		switch p := p.(type) {
		case llm.Text:
			text += p.S
		case llm.Thinking:
			thinking += p.S
		case llm.ToolUse:
			if p.ID == "" || ids[p.ID] || p.Name == "" {
				t.Errorf("call without name or with a bad id: %+v", p)
			}
			ids[p.ID] = true
		case llm.ToolResult, llm.Image, llm.Document:
			t.Errorf("a model cannot say %T", p)
		}
	}
	if text != g.Text || thinking != g.Thinking {
		t.Errorf("deltas %q / %q do not add up to the parts %q / %q", g.Text, g.Thinking, text, thinking)
	}
}

// ask is a short request.
func (f *fixture) ask(text string) llm.Request {
	return llm.Request{Model: f.a.Model, System: []string{"Be brief."}, MaxTokens: 1000,
		Tools:    []llm.Spec{{Name: "Read", Description: "reads", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: text}}}}}
}

// send asks for a reply.
func (f *fixture) send(t testing.TB, r llm.Request) Got {
	t.Helper()
	return Collect(t, context.Background(), f.model, r)
}

// fail asks for an error of this adapter's provider.
func (f *fixture) fail(t testing.TB, r llm.Request, want llm.Kind) *llm.Error {
	t.Helper()
	g := f.send(t, r)
	e, ok := g.Err.(*llm.Error)
	if !ok {
		t.Fatalf("got %v (%T), want an *llm.Error", g.Err, g.Err)
	}
	if e.Kind != want || e.Provider != f.a.Provider {
		t.Errorf("kind %d of %q, want %d of %q: %v", e.Kind, e.Provider, want, f.a.Provider, e)
	}
	if strings.Contains(e.Error()+e.Fix, testKey) {
		t.Errorf("the key is in the error: %v", e)
	}
	if strings.ContainsAny(e.Error()+e.Fix, "\n\r\x1b") {
		t.Errorf("the error has more than one line: %q", e.Error())
	}
	return e
}

// Words cuts text into raw pieces, one per word.
func Words(text string) []string {
	var out []string
	for _, w := range strings.SplitAfter(text, " ") {
		if w != "" {
			out = append(out, RawJSON(w))
		}
	}
	return out
}

// RawJSON is s as the inside of a JSON string, ASCII only.
func RawJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		case r > 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cuts are the pieces of a part: those it names, or one per word.
func (p Part) Cuts(text string) []string {
	if len(p.Pieces) > 0 {
		return p.Pieces
	}
	return Words(text)
}

// Say is a reply of one text part.
func Say(text string) Reply {
	return Reply{Parts: []Part{{Part: llm.Text{S: text}}}, Stop: llm.EndTurn, ID: "reply_1", Usage: llm.Usage{In: 10, Out: 5}}
}

// KindOf returns the kind of err and whether err is, or wraps, an *llm.Error.
func KindOf(err error) (llm.Kind, bool) {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Kind, true
	}
	return 0, false
}
