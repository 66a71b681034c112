package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

const long = "one two three four five six seven eight nine ten eleven twelve thirteen"

func abort(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say(long), Stall: 5})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	var err error
	for c, e := range f.model.Stream(ctx, f.ask("hi")) {
		err = e
		if _, ok := c.(llm.TextDelta); ok && at.IsZero() {
			at = time.Now()
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the context's error", err)
	}
	f.left(t, at)
}

// left checks that the server saw the connection close within 100 ms.
func (f *fixture) left(t *testing.T, at time.Time) {
	t.Helper()
	if f.a.Make == nil {
		select {
		case <-f.gone:
		case <-time.After(5 * time.Second):
			t.Fatal("the connection stayed open")
		}
	}
	if d := time.Since(at); d > 100*time.Millisecond {
		t.Errorf("closing took %v, want less than 100 ms", d)
	}
}

func leave(t *testing.T, a Adapter) {
	before := runtime.NumGoroutine()
	f := newFixture(t, a, 0, Step{Reply: Say(long), Stall: 5})
	var at time.Time
	for c := range f.model.Stream(context.Background(), f.ask("hi")) {
		if _, ok := c.(llm.TextDelta); ok {
			at = time.Now()
			break
		}
	}
	f.left(t, at)
	if a.Make != nil && runtime.NumGoroutine() > before+1 {
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	}
}

func abortEarly(t *testing.T, a Adapter) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	var f *fixture
	f = newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, _ []string) {
		close(arrived)
		select {
		case <-gone:
		case <-f.quit:
		}
		panic(http.ErrAbortHandler)
	}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }() // ends with the request
	start := time.Now()
	g := Collect(t, ctx, f.model, f.ask("hi"))
	close(gone)
	if !errors.Is(g.Err, context.Canceled) || time.Since(start) > 2*time.Second {
		t.Errorf("%v after %v", g.Err, time.Since(start))
	}
	if g := Collect(t, ctx, f.model, f.ask("hi")); !errors.Is(g.Err, context.Canceled) {
		t.Errorf("a dead context: %v", g.Err)
	}
}

func statuses(t *testing.T, a Adapter) {
	for _, c := range []struct {
		status int
		kind   llm.Kind
	}{
		{400, llm.BadRequest}, {401, llm.Unauthorized}, {402, llm.NoCredit}, {403, llm.Unauthorized}, {404, llm.NotFound},
		{413, llm.TooLong}, {429, llm.RateLimited}, {500, llm.ServerError}, {502, llm.ServerError},
		{503, llm.ServerError}, {529, llm.Overloaded},
	} {
		for _, after := range []string{"", "7"} {
			s := Step{Status: c.status}
			if after != "" {
				s.Header = map[string]string{"Retry-After": after}
			}
			f := newFixture(t, a, 0, s)
			e := f.fail(t, f.ask("hi"), c.kind)
			want := time.Duration(0)
			if after != "" {
				want = 7 * time.Second
			}
			if e.Status != c.status || e.RetryAfter != want || e.Begun {
				t.Errorf("%d %q: %+v", c.status, after, e)
			}
			if c.kind == llm.Unauthorized && (e.Fix == "" || e.Retryable()) {
				t.Errorf("%d: hint %q, retryable %v", c.status, e.Fix, e.Retryable())
			}
		}
	}
}

func retryAfter(t *testing.T, a Adapter) {
	for header, want := range map[string]time.Duration{"0": 0, "1": time.Second, "3600": time.Hour} {
		f := newFixture(t, a, 0, Step{Status: 429, Header: map[string]string{"Retry-After": header}})
		if e := f.fail(t, f.ask("hi"), llm.RateLimited); e.RetryAfter != want || !e.Retryable() {
			t.Errorf("Retry-After %s: %v", header, e.RetryAfter)
		}
	}
}

func tooLong(t *testing.T, a Adapter) {
	for _, msg := range []string{
		"prompt is too long: 210000 tokens > 200000 maximum",
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
	} {
		f := newFixture(t, a, 0, Step{Status: 400, Body: a.Wire.ErrorBody(400, msg)})
		f.fail(t, f.ask("hi"), llm.TooLong)
	}
	f := newFixture(t, a, 0, Step{Status: 400, Body: a.Wire.ErrorBody(400, "messages.0.content.1: image exceeds 5 MB maximum")})
	f.fail(t, f.ask("hi"), llm.MediaTooBig)
}

const portal = "<!DOCTYPE html>\n<html><head><title>Hotel Wi-Fi \x1b[31mlogin</title></head><body>pay</body></html>"

func htmlPage(t *testing.T, a Adapter) {
	for status, want := range map[int]llm.Kind{200: llm.BadReply, 403: llm.BadReply, 302: llm.BadReply, 502: llm.ServerError, 503: llm.ServerError, 429: llm.RateLimited} {
		f := newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, _ []string) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Location", "http://login.hotel.example/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, portal)
		}})
		e := f.fail(t, f.ask("hi"), want)
		if want == llm.BadReply && e.Fix == "" || strings.Contains(e.Error(), "<html") {
			t.Errorf("%d: %v, hint %q", status, e, e.Fix)
		}
	}
}

// truncated: a stream that ends early, in good order, after each of its events.
func truncated(t *testing.T, a Adapter) {
	frames := a.Wire.Frames(calls("call_a"))
	for n := 0; n < len(frames)-1; n++ {
		f := newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, frames []string) { stream(w, frames[:n]...) }, Reply: calls("call_a")})
		g := f.send(t, f.ask("hi"))
		if g.Err == nil {
			if a.lenient(frames[n:]) {
				continue
			}
			t.Fatalf("%d of %d events were taken for a whole reply", n, len(frames))
		}
		if k, _ := KindOf(g.Err); k != llm.Cut {
			t.Errorf("after %d events: %v", n, g.Err)
		}
	}
	whole := strings.Join(frames, "")
	f := newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, _ []string) { stream(w, whole[:len(whole)*2/5]) }})
	f.fail(t, f.ask("hi"), llm.Cut)
}

// lenient: what is missing are only tails a wire may leave out.
func (a Adapter) lenient(rest []string) bool {
	type tails interface{ MayMiss(frames []string) bool }
	w, ok := a.Wire.(tails)
	return ok && w.MayMiss(rest)
}

func disconnect(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say(long), Cut: 5})
	g := f.send(t, f.ask("hi"))
	if k, _ := KindOf(g.Err); k != llm.Cut || g.Text == "" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
}

func stalled(t *testing.T, a Adapter) {
	f := newFixture(t, a, 60*time.Millisecond, Step{Reply: Say(long), Stall: 5})
	start := time.Now()
	e := f.fail(t, f.ask("hi"), llm.Stalled)
	if d := time.Since(start); !e.Retryable() || d < 50*time.Millisecond || d > 3*time.Second {
		t.Errorf("%v after %v", e, d)
	}
}

func garbage(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
		stream(w, "this is no field\n\x00\xff\xfe\n: comment\nid: 7\nretry: 10\n\n", strings.Join(frames, "nonsense\n\n"))
	}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != "all is well" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
	for _, bad := range []string{"data: not json\n\n", "data: {\"type\":\n\n", "data: [1,2\n\n", "data: \xff\xfe\n\n", "data: {]}\n\n"} {
		f := newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
			stream(w, strings.Join(frames[:2], ""), bad, strings.Join(frames[2:], ""))
		}})
		f.fail(t, f.ask("hi"), llm.Cut)
	}
}

func unknown(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
		stream(w, strings.Join(frames, "event: brand_new\ndata: {\"type\":\"brand_new\",\"x\":[{}]}\n\n"))
	}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != "all is well" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
}

func comments(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
		stream(w, "\xEF\xBB\xBF: hello\n\n", strings.Join(frames, a.Wire.Comment()+": keep-alive\n\n"))
	}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != "all is well" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
}

func midError(t *testing.T, a Adapter) {
	ev := a.Wire.MidError()
	if ev == "" {
		t.Skip("this wire has no error event")
	}
	f := newFixture(t, a, 0, Step{Reply: Say(long), Raw: func(w http.ResponseWriter, frames []string) {
		stream(w, strings.Join(frames[:6], ""), ev)
	}})
	if e := f.fail(t, f.ask("hi"), llm.Overloaded); !e.Begun {
		t.Error("Begun is false")
	}
}
