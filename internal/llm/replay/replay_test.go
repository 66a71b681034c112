package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// twice records what a provider streams and then replays it: what the
// consumer sees is the replay.
type twice struct {
	t    testing.TB
	real func(http.RoundTripper) llm.Model
	idle time.Duration
}

func (m twice) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		var tape bytes.Buffer
		rec, err := NewRecorder(&tape, RecordConfig{Next: wire.NewTransport(wire.Dial{}), Secrets: []string{"test-key-0123456789abcdef"}, Home: "/home/nobody"})
		if err != nil {
			m.t.Fatal(err)
		}
		texts := 0
		for c := range m.real(rec).Stream(ctx, r) {
			if _, ok := c.(llm.TextDelta); ok && m.idle == 0 {
				if texts++; texts == 1 && strings.Contains(r.Messages[0].Parts[0].(llm.Text).S, "leave") {
					break
				}
			}
		}
		if strings.Contains(tape.String(), "test-key") {
			m.t.Error("the key is on the tape")
		}
		c, err := Read(&tape)
		if err != nil {
			m.t.Fatal(err)
		}
		if len(c.exchanges) == 0 { // a dead context: nothing was sent
			for ch, err := range m.real(rec).Stream(ctx, r) {
				yield(ch, err)
			}
			return
		}
		New(c, Config{Idle: m.idle}).Stream(ctx, r)(yield)
	}
}

func TestBattery(t *testing.T) {
	for name, a := range map[string]struct {
		adapter llmtest.Adapter
		real    func(llmtest.Server) func(http.RoundTripper) llm.Model
	}{
		"anthropic": {llmtest.Adapter{Wire: llmtest.Anthropic{}}, func(s llmtest.Server) func(http.RoundTripper) llm.Model {
			return func(tr http.RoundTripper) llm.Model {
				return anthropic.New(anthropic.Config{Config: wire.Config{Provider: "replay", Key: s.Key, Idle: s.Idle, Transport: tr}, BaseURL: s.URL})
			}
		}},
		"openai": {llmtest.Adapter{Wire: llmtest.Responses{}}, func(s llmtest.Server) func(http.RoundTripper) llm.Model {
			return func(tr http.RoundTripper) llm.Model {
				return openai.New(openai.Config{Config: wire.Config{Provider: "replay", Key: s.Key, Idle: s.Idle, Transport: tr}, BaseURL: s.URL})
			}
		}},
		"compat": {llmtest.Adapter{Wire: llmtest.Chat{}, NoOpaque: true}, func(s llmtest.Server) func(http.RoundTripper) llm.Model {
			return func(tr http.RoundTripper) llm.Model {
				return compat.New(compat.Config{Config: wire.Config{Provider: "replay", Key: s.Key, Idle: s.Idle, Transport: tr}, BaseURL: s.URL, Quirks: compat.Quirks{Reasoning: "reasoning_content"}})
			}
		}},
		"gemini": {llmtest.Adapter{Wire: llmtest.Gemini{}, WholeInput: true, NoWrites: true, NoSummaries: true}, func(s llmtest.Server) func(http.RoundTripper) llm.Model {
			return func(tr http.RoundTripper) llm.Model {
				return gemini.New(gemini.Config{Config: wire.Config{Provider: "replay", Key: s.Key, Idle: s.Idle, Transport: tr}, BaseURL: s.URL})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ad := a.adapter
			ad.Provider, ad.Model = "replay", "some-model"
			// Aborts and packed bodies are of a live connection, not of a tape; what a model learns is of one that lives on.
			ad.Live = []string{"abort_midstream", "break_midstream", "abort_before_headers", "gzip", "gzip_bomb", "stream_split_at_every_byte", "refused_members_are_learnt", "no_tools_and_no_instructions_apart", "refused_reasoning_is_not_sent_again"}
			if name != "anthropic" { // big bodies take long and are the same for all
				ad.Live = append(ad.Live, "line_of_10_mb", "event_of_1_mb", "tool_input_split_at_every_byte")
			}
			ad.New = func(t testing.TB, s llmtest.Server) llm.Model {
				return twice{t: t, real: a.real(s), idle: s.Idle}
			}
			llmtest.Run(t, ad)
		})
	}
}

func hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hi"}}}}}
}

// record records replies of the Messages wire.
func record(t *testing.T, cfg RecordConfig, replies ...llmtest.Reply) string {
	t.Helper()
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "session=SECRET-COOKIE")
		_, _ = io.WriteString(w, strings.Join(llmtest.Anthropic{}.Frames(replies[n]), ""))
		n++
	}))
	defer srv.Close()
	var tape bytes.Buffer
	cfg.Next = wire.NewTransport(wire.Dial{})
	rec, err := NewRecorder(&tape, cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := anthropic.New(anthropic.Config{Config: wire.Config{Key: "sk-very-secret-key", Transport: rec}, BaseURL: srv.URL})
	for range replies {
		llmtest.Collect(t, context.Background(), m, hello())
	}
	return tape.String()
}

func play(t *testing.T, tape string) *Model {
	t.Helper()
	c, err := Read(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	return New(c, Config{})
}

func TestSecretsAndHomeAreRemovedAcrossDeltas(t *testing.T) {
	cfg := RecordConfig{Secrets: []string{"sk-very-secret-key", "hunter2-hunter2"}, Home: `/home/anna`}
	said := "I read /home/anna/x.go and hunter2-hunter2 there, in /home/anna."
	in := `{"path":"/home/anna/y.go","key":"sk-very-secret-key"}`
	cuts := func(s string) []string {
		var out []string
		for i := 0; i < len(s); i += 3 {
			out = append(out, strings.ReplaceAll(s[i:min(i+3, len(s))], `"`, `\"`))
		}
		return out
	}
	tape := record(t, cfg, llmtest.Reply{Stop: llm.WantTools, Parts: []llmtest.Part{
		{Part: llm.Text{S: said}, Pieces: cuts(said)},
		{Part: llm.ToolUse{ID: "c", Name: "Read", Input: []byte(in)}, Pieces: cuts(in)},
	}})
	g := llmtest.Collect(t, context.Background(), play(t, tape), hello())
	if g.Err != nil || g.Text != "I read ~/x.go and [key] there, in ~." || g.Inputs["c"] != `{"path":"~/y.go","key":"[key]"}` {
		t.Errorf("%q %q %v", g.Text, g.Inputs["c"], g.Err)
	}
	for _, secret := range []string{"anna", "hunter2", "very-secret", "SECRET-COOKIE", "hi\""} {
		if strings.Contains(tape, secret) {
			t.Errorf("%s is on the tape:\n%s", secret, tape)
		}
	}
}

func TestWindowsHome(t *testing.T) {
	s := newScrubber(nil, `C:\Users\anna\`)
	for in, want := range map[string]string{
		`C:\Users\anna\x`: `~\x`, `C:\\Users\\anna\\x`: `~\\x`, `C:\\\\Users\\\\anna\\\\x`: `~\\\\x`, `/`: `/`,
	} {
		if got := s.text(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// A request that comes later in the recording is named: agents asked in between.
func TestDiffersByAgents(t *testing.T) {
	m := play(t, record(t, RecordConfig{}, llmtest.Say("of an agent"), llmtest.Say("one")))
	m.player.cassette.exchanges[0].Request.Messages += 2
	g := llmtest.Collect(t, context.Background(), m, hello())
	if want := "it is like request 2 of the recording. What agents asked"; !strings.Contains(fmt.Sprint(g.Err), want) {
		t.Errorf("%v, want %s", g.Err, want)
	}
}

func TestRunsOutAndDiffers(t *testing.T) {
	tape := record(t, RecordConfig{}, llmtest.Say("one"))
	m := play(t, tape)
	two := hello()
	two.Messages = append(two.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "x"}}}, two.Messages[0])
	fail := func(r llm.Request, want string) {
		t.Helper()
		g := llmtest.Collect(t, context.Background(), m, r)
		if k, _ := llmtest.KindOf(g.Err); k != llm.BadRequest || !strings.Contains(fmt.Sprint(g.Err), want) {
			t.Errorf("%v, want %s", g.Err, want)
		}
	}
	fail(two, "request 1 is not the one that was recorded: it has 3 messages, the recording 1")
	if g := llmtest.Collect(t, context.Background(), m, hello()); g.Text != "one" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
	fail(hello(), "the cassette has run out: it holds 1 exchanges and this is request 2")
}

func TestPaced(t *testing.T) {
	frames := llmtest.Anthropic{}.Frames(llmtest.Say("one two"))
	c := &Cassette{exchanges: []exchange{{N: 1, Request: summary{Wire: wireMessages, Model: "m", Messages: 1}, Status: 200, End: "eof"}}}
	for i, f := range frames {
		c.exchanges[0].Chunks = append(c.exchanges[0].Chunks, chunk{MS: int64(i) * 1000, Data: f})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if g := llmtest.Collect(t, context.Background(), New(c, Config{Paced: true}), hello()); g.Text != "one two" {
			t.Errorf("%v", g.Err)
		}
		if d := time.Since(start); d != time.Duration(len(frames)-1)*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

func TestReadErrors(t *testing.T) {
	for in, want := range map[string]string{"{}": "not a cassette", "x": "not a cassette", `{"cassette":2}`: "format 2", "{\"cassette\":1}\n{": "line 2"} {
		if _, err := Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, err := Open(t.TempDir()+"/none", Config{}); err == nil {
		t.Error("no error")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("{\"cassette\":1}\n{\"n\":1,\"request\":{\"wire\":\"chat\"},\"status\":200,\"chunks\":[{\"ms\":1,\"data\":\"data: {}\\n\\n\"}],\"end\":\"eof\"}\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		m := New(c, Config{})
		for range m.Stream(ctx, hello()) {
		}
		newScrubber([]string{"secret"}, "/home/x").chunks(func() []chunk {
			var all []chunk
			for _, e := range c.exchanges {
				all = append(all, e.Chunks...)
			}
			return all
		}())
	})
}

type nothing struct{}

// A full disk takes the first lines and half of another one.
type full struct {
	bytes.Buffer
	left, tries int
}

func (f *full) Write(b []byte) (int, error) {
	f.tries++
	if f.left--; f.left < 0 {
		n, _ := f.Buffer.Write(b[:len(b)/2]) // it cannot fail
		return n, errors.New("no space left")
	}
	return f.Buffer.Write(b)
}

// What was recorded before a disk is full can be played; nothing is written behind it.
func TestRecordingOnAFullDisk(t *testing.T) {
	f := &full{left: 2}
	rec, err := NewRecorder(f, RecordConfig{Next: refuses{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://replay.invalid/v1/messages", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rec.RoundTrip(req); err == nil {
			t.Fatal("no error")
		}
	}
	if lines := strings.Count(f.String(), "\n"); f.tries != 3 || lines != 2 {
		t.Errorf("%d writes, %d whole lines:\n%s", f.tries, lines, f)
	}
}

// refuses is a provider that cannot be reached.
type refuses struct{}

func (refuses) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}

// RoundTrip waits until the client leaves.
func (nothing) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, fmt.Errorf("nothing came: %w", context.Cause(req.Context()))
}

// A request that was given up before there was an answer is as silent when it is
// replayed, so that it is given up for the same reason.
func TestLeftBeforeAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tape bytes.Buffer
		rec, err := NewRecorder(&tape, RecordConfig{Next: nothing{}})
		if err != nil {
			t.Fatal(err)
		}
		send := func(rt http.RoundTripper) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://replay.invalid/v1/messages", strings.NewReader(`{"model":"m"}`))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, err := rt.RoundTrip(req); err == nil || ctx.Err() == nil || time.Since(start) != time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		}
		send(rec)
		c, err := Read(&tape)
		if err != nil {
			t.Fatal(err)
		}
		send(newPlayer(c, false))
	})
}
