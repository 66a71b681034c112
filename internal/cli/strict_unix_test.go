//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/slowtest"
)

// strict is a provider that refuses what one of its wire refuses. It answers a
// turn's first requests with calls, then with words, and a request for a summary
// with one.
func strict(t *testing.T, w wireName, calls int) (*llmtest.Strict, *provider) {
	t.Helper()
	s := &llmtest.Strict{Wire: wires[w]}
	s.Play = func(n int, body []byte) llmtest.Reply {
		if bytes.Contains(body, []byte("under these nine headings")) {
			return llmtest.Say("the summary of it all")
		}
		ms, _ := llmtest.Accept(s.Wire, body)
		since := 0 // results of calls since a person spoke
		for _, m := range slices.Backward(ms) {
			_, said := m.Parts[len(m.Parts)-1].(llm.Text)
			if m.Role == llm.User && said {
				break
			}
			if m.Role == llm.User {
				since++
			}
		}
		if since >= calls {
			return llmtest.Reply{ID: "r", Stop: llm.EndTurn, Parts: []llmtest.Part{{Part: llmtest.Signed(fmt.Sprint("done ", n))}, {Part: llm.Text{S: fmt.Sprint("answer ", n) + strings.Repeat(" and why", 500)}}}}
		}
		reply := llmtest.Reply{ID: "r", Stop: llm.WantTools, Parts: []llmtest.Part{{Part: llmtest.Signed(fmt.Sprint("look ", n))}}}
		command, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("echo %d >> ran.txt; echo out %d", n, n)})
		for i, u := range []llm.ToolUse{{Name: "Read", Input: json.RawMessage(`{"file_path":"f.txt"}`)}, {Name: "Bash", Input: command}} {
			if u.ID = fmt.Sprintf("call_%d_%d", n, i); n%2 == 0 || i == 0 {
				reply.Parts = append(reply.Parts, llmtest.Part{Part: u})
			}
		}
		return reply
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, &provider{URL: srv.URL}
}

// asked runs adze with a prompt.
func (pl *place) asked(w wireName, p *provider, prompt string, args ...string) *exec.Cmd {
	pl.t.Helper()
	c := pl.asking(w, p, append(args, "--allowed-tools", "Bash", "--sandbox", "false")...)
	c.Args[slices.Index(c.Args, "go")] = prompt
	return c
}

// Whatever is done to a conversation, and whoever takes it up again: a strict
// provider of each wire accepts the next request. Messages has its turn always,
// the others take turns.
func TestStrictProvidersAccept(t *testing.T) {
	t.Parallel()
	for w := range wires {
		if w != messages && !slowtest.Due(string(w)) {
			continue
		}
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			s, p := strict(t, w, 3)
			pl := newPlace(t)
			pl.put("f.txt", strings.Repeat("a line of the file\n", 200))
			ask := func(prompt string, args ...string) {
				t.Helper()
				if out, err := pl.asked(w, p, prompt, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", prompt, err, out)
				}
			}
			ask("first of all")
			for _, prompt := range []string{
				"then this", "then that", "/compact", "go on", "/compact mind the tests", "and on", "/compact --undo", "further", "and more", "/compact --from 2", "from there",
				"/compact --up-to 1", "up to here", "/compact --undo", "again",
			} {
				ask(prompt, "-c")
			}
			for _, to := range []string{"3", "2"} {
				c := pl.adze("rewind", "--to", to)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("rewind to %s: %v\n%s", to, err, out)
				}
				ask("after going back to "+to, "-c")
			}
			if out, err := pl.adze("rewind", "--undo").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			ask("after the undo", "-c")
			ask("/compact", "-c")
			ask("the last", "-c")
			if r := s.Refused(); len(r) > 0 {
				t.Errorf("%d requests were refused: %q", len(r), r)
			}
			st, es := pl.history()
			n := 0
			for _, e := range es {
				if _, ok := e.Body.(event.Compacted); ok {
					n++
				}
			}
			if n != 7 {
				t.Errorf("%d boundaries", n)
			}
			wellFormed(t, st.Messages())
		})
	}
}

// A session of hundreds of steps on a small window: it is compacted on the way,
// no request is too long, and between compactions the provider's cache serves
// what had been sent before.
func TestLongSession(t *testing.T) {
	t.Parallel()
	const steps, window = 300, 32_000
	s := &llmtest.Strict{Wire: wires[messages], Window: window, Every: 10}
	step, sums, anew := 0, 0, true
	var before, cached, last int
	s.Seen = func(a llmtest.Asked) {
		if !anew {
			before, cached = before+last, cached+a.Cached
		}
		anew, last = false, a.Prompt
	}
	s.Play = func(_ int, body []byte) llmtest.Reply {
		if bytes.Contains(body, []byte("under these nine headings")) {
			sums, anew = sums+1, true
			return llmtest.Say(strings.Repeat("what was done. ", 100))
		}
		if step++; step > steps {
			return llmtest.Say("all is done")
		}
		in := json.RawMessage(fmt.Sprintf(`{"file_path":"big.txt","offset":%d,"limit":40}`, step))
		return llmtest.Reply{ID: "r", Stop: llm.WantTools, Parts: []llmtest.Part{{Part: llm.Text{S: fmt.Sprint("step ", step)}}, {Part: llm.ToolUse{ID: fmt.Sprint("call_", step), Name: "Read", Input: in}}}}
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	pl := newPlace(t)
	pl.put("big.txt", strings.Repeat("a line of a file that is read bit by bit\n", 2*steps))
	c := pl.adze("-p", "go on", "--model", "anthropic/small-1", "--settings", fmt.Sprintf(`{"models":{"anthropic/small-1":{"window":%d,"output":8192}}}`, window))
	c.Env = append(c.Env, "ANTHROPIC_API_KEY=k-0123456789", "ANTHROPIC_BASE_URL="+srv.URL)
	out, err := c.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "all is done" || step != steps+1 {
		t.Fatalf("%d steps: %v\n%s", step, err, out)
	}
	if len(s.Refused()) > 0 || s.TooLong() > 0 || sums == 0 {
		t.Errorf("refused %q, %d were too long, %d compactions", s.Refused(), s.TooLong(), sums)
	}
	if cached*100 < before*90 {
		t.Errorf("of %d bytes that had been sent before, %d were at the beginning of the next request", before, cached)
	}
}
