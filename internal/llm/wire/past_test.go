package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/llm"
)

// However conversations go on, are cut and changed: what is known of one is what
// is found by going through all of it, also after others were looked at.
func TestPastKnowsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept Threads
		talks := [2][]llm.Message{}
		type one struct {
			past Past
			msgs []llm.Message
		}
		var looked []one
		check := func(o one) {
			t.Helper()
			alone := Past{rest: o.msgs}
			for _, id := range []string{"a", "b", "c", "d", "no"} {
				if got, want := o.past.called(id), alone.called(id); got != want {
					t.Fatalf("that a call has the ID %s is %t", id, got)
				}
			}
			if got, want := o.past.loaded(), alone.loaded(); !reflect.DeepEqual(got, want) {
				t.Fatalf("loaded are %v, want %v", got, want)
			}
		}
		for n := range rapid.IntRange(1, 30).Draw(t, "requests") {
			which := rapid.IntRange(0, 1).Draw(t, "which")
			ms := slices.Clone(talks[which])
			if cut := rapid.IntRange(0, 4).Draw(t, "cut"); cut == 0 {
				ms = ms[:rapid.IntRange(0, len(ms)).Draw(t, "to")]
			}
			for range rapid.IntRange(0, 3).Draw(t, "more") {
				id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
				m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id}}}
				if rapid.Bool().Draw(t, "loads") {
					m = llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Loaded: []llm.Spec{{Name: id, Description: fmt.Sprint(n)}}}}}
				}
				ms = append(ms, m)
			}
			talks[which] = ms
			looked = append(looked, one{kept.Past(ms), ms})
			check(looked[n])
		}
		for _, o := range looked {
			check(o)
		}
	})
}

// A long conversation that goes on costs memory only for what is new in it.
func TestBodiesShareWhatStays(t *testing.T) {
	var kept Threads
	ms := []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}}}
	step := func() Body {
		id := fmt.Sprint("c", len(ms))
		ms = append(ms, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id, Name: "x", Input: []byte(`{}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Text: strings.Repeat("r", 2000)}}})
		kept.Past(ms).called(id)
		b, _ := write(&kept, "k", ms)
		return b
	}
	for range 500 {
		step()
	}
	body := step()
	if n := body.Len(); n < 1_000_000 {
		t.Fatalf("the conversation has only %d bytes", n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 50 {
		step()
	}
	runtime.ReadMemStats(&after)
	per := (after.TotalAlloc - before.TotalAlloc) / 50
	if per > 100_000 {
		t.Errorf("each request takes %d bytes anew", per)
	}
}

// A body is sent whole, with its length, and again where the connection was found dead.
func TestBodyIsSentAgain(t *testing.T) {
	var mu sync.Mutex // guards both
	var came [][]byte
	var lengths []int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		came, lengths = append(came, b), append(lengths, r.ContentLength)
		if len(came) == 2 { // of a connection that had served before: the client asks again by itself
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
			return
		}
		_, _ = io.WriteString(w, "x")
	}))
	defer srv.Close()
	tr := NewTransport(Dial{})
	defer tr.CloseIdleConnections()
	c := NewClient(Config{Transport: tr})
	body := Body{[][]byte{[]byte("a"), bytes.Repeat([]byte("b"), 200_000), nil, []byte("c")}}
	for range 2 {
		req, _, err := c.request(t.Context(), Call{URL: srv.URL, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "") // lets the transport repeat a POST
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	mu.Lock()
	defer mu.Unlock()
	if len(came) != 3 {
		t.Fatalf("%d requests came", len(came))
	}
	for i, b := range came {
		if !bytes.Equal(b, body.Bytes()) || lengths[i] != int64(len(b)) {
			t.Errorf("request %d came with %d bytes, said to be %d", i, len(b), lengths[i])
		}
	}
}
