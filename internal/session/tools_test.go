package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
)

// toolset is a set of the bench's tools with these names.
func (r *rig) toolset(names ...string) *tool.Set {
	r.t.Helper()
	var list []tool.Tool
	for _, name := range names {
		list = append(list, r.bench.tool(name, true, false, policy.None{}))
	}
	set, err := tool.NewSet(list...)
	if err != nil {
		r.t.Fatal(err)
	}
	return &set
}

// give makes these the tools of the session.
func (r *rig) give(names ...string) {
	r.t.Helper()
	if err := r.Apply(r.t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: r.toolset(names...)}, event.SettingsChanged{}); err != nil {
		r.t.Error(err)
	}
}

// offered are the names that a request lists.
func offered(q llm.Request) (out []string) {
	for _, s := range q.Tools {
		out = append(out, s.Name)
	}
	return out
}

// Tools that come and go in the middle of a turn count with its next step: one
// that came can be called, one that is gone stays listed and answers that it
// is not there any more. Each change is one event, and the fold knows who is
// gone, also after a restart.
func TestToolsPerStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		during := func(change func(), then fake.Reply) fake.Reply {
			return func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				change()
				then(ctx, q, yield)
			}
		}
		r = start(t, nil, nil,
			during(func() { r.give("look", "zoom", "come") }, fake.Use(call("a", "act", "x", 0))), // act is of this request still
			during(func() { r.give("zoom"); r.give("look", "zoom", "come") }, fake.Use(call("b", "act", "", 0), call("c", "zoom", "y", 0), call("d", "nosuch", "", 0))),
			fake.Say("done"), fake.Say("again"))
		r.prompt("go")
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		reqs := r.model.Requests()
		first := []string{"act", "conf", "look", "peek", "risk", "shell"}
		if got := offered(reqs[0]); !slices.Equal(got, first) {
			t.Errorf("the first request offers %v", got)
		}
		for _, q := range reqs[1:] {
			if got := offered(q); !slices.Equal(got, append(slices.Clip(first), "come", "zoom")) {
				t.Errorf("a later request offers %v", got)
			}
		}
		texts := map[string]string{}
		for _, f := range all[event.ToolFinished](es) {
			texts[f.Call] = f.Text
		}
		want := map[string]string{
			"a": "act:x", "b": "the tool act is not there any more; the tools are look, come, zoom", "c": "zoom:y",
			"d": `there is no tool named "nosuch"; the tools are look, come, zoom`,
		}
		for id, text := range want {
			if texts[id] != text {
				t.Errorf("%s: %q, want %q", id, texts[id], text)
			}
		}
		if got := all[event.ToolsChanged](es); len(got) != 1 || !slices.Equal(got[0].Added, []string{"come", "zoom"}) || !slices.Equal(got[0].Removed, []string{"act", "conf", "peek", "risk", "shell"}) {
			t.Errorf("events: %+v", got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}

		again := start(t, again(t, r.log), func(c *session.Config) { c.Tools = *r.toolset("look", "zoom") }, fake.Use(call("e", "act", "", 0)), fake.Say("done"))
		again.prompt("go on")
		es = again.turns(2, nil)
		if f := all[event.ToolFinished](es); f[len(f)-1].Text != "the tool act is not there any more; the tools are look, zoom" {
			t.Errorf("after a restart: %q", f[len(f)-1].Text)
		}
		if got := offered(again.model.Requests()[0]); !slices.Equal(got, []string{"look", "zoom"}) {
			t.Errorf("a new process offers %v", got)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Tools that change before the first request are simply others.
func TestToolsBeforeTheFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("done"))
		r.give("zoom", "come")
		r.prompt("go")
		es := r.turns(1, nil)
		if got := offered(r.model.Requests()[0]); !slices.Equal(got, []string{"come", "zoom"}) || len(all[event.ToolsChanged](es)) > 0 {
			t.Errorf("offers %v; %v", got, kinds(es))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Tools that are offered to a session count from its next request on.
func TestOfferedTools(t *testing.T) {
	r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
	r.prompt("go")
	r.turns(1, nil)
	if err := r.Offer(*r.toolset("look", "zoom")); err != nil {
		t.Fatal(err)
	}
	r.prompt("again")
	r.turns(2, nil)
	if got := offered(r.model.Requests()[1]); !slices.Contains(got, "zoom") {
		t.Errorf("offers %v", got)
	}
	r.Close()
	if err := r.Offer(*r.toolset("look")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// A tool that the model loaded is listed with the next request, and no sooner.
func TestLoadedToolsAreListed(t *testing.T) {
	const name = "mcp__files__do_thing_3"
	r := start(t, nil, func(c *session.Config) { c.DeferAbove = func(int) int { return 100 } },
		fake.Use(llm.ToolUse{ID: "s", Name: toolsearch.Name, Input: json.RawMessage(`{"query":"thing +3"}`)}), fake.Say("ok"), fake.Say("on"))
	r.tools(r.servers("files"))
	r.prompt("go")
	r.last(r.turns(1, nil), agent.Completed)
	for i, want := range []bool{false, true} {
		if got := offered(r.model.Requests()[i]); slices.Contains(got, name) != want || !slices.Contains(got, toolsearch.Name) {
			t.Errorf("request %d lists %v", i, got)
		}
	}
	r.Close()
	// who was told names goes on with the tool that loads them, however few they are now
	for _, limit := range []int{100, 1 << 20} {
		n := start(t, again(t, r.log), func(c *session.Config) { c.DeferAbove = func(int) int { return limit } }, fake.Say("on"))
		n.tools(n.servers("files"))
		n.prompt("go on")
		n.turns(2, nil)
		if got := offered(n.model.Requests()[0]); !slices.Contains(got, toolsearch.Name) {
			t.Errorf("above %d it lists %v", limit, got)
		}
		n.Close()
	}
}

// wires are the four that providers speak, with where a request has its parts.
var wires = []struct {
	name            string
	wire            llmtest.Wire
	model           func(url string) llm.Model
	tools, messages string
}{
	{"messages", llmtest.Anthropic{}, func(url string) llm.Model {
		return anthropic.New(anthropic.Config{Config: wire.Config{Key: "k"}, BaseURL: url})
	}, "tools", "messages"},
	{"chat", llmtest.Chat{}, func(url string) llm.Model {
		return compat.New(compat.Config{Config: wire.Config{Provider: "groq", Key: "k"}, BaseURL: url + "/v1"})
	}, "tools", "messages"},
	{"responses", llmtest.Responses{}, func(url string) llm.Model {
		return openai.New(openai.Config{Config: wire.Config{Key: "k"}, BaseURL: url + "/v1"})
	}, "tools", "input"},
	{"gemini", llmtest.Gemini{}, func(url string) llm.Model {
		return gemini.New(gemini.Config{Config: wire.Config{Key: "k"}, BaseURL: url})
	}, "tools", "contents"},
}

// Over a session of 50 steps in which tools come and go, what a request says
// of tools and of the conversation begins with the bytes of the request before.
func TestPrefixWhileToolsComeAndGo(t *testing.T) {
	const steps = 50
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			var bodies [][]byte
			var r *rig
			srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				body, err := io.ReadAll(in.Body)
				if err != nil {
					t.Error(err)
				}
				bodies = append(bodies, body) // one request at a time
				n := len(bodies)
				if n%7 == 0 { // tools come, and others go
					r.give("look", fmt.Sprintf("t%02d", n), fmt.Sprintf("t%02d", n-7), "mcp__x__"+fmt.Sprint(n))
				}
				reply := llmtest.Reply{Stop: llm.WantTools, Parts: []llmtest.Part{{Part: llm.ToolUse{ID: fmt.Sprintf("c%d", n), Name: "look", Input: json.RawMessage(`{"s":"` + strings.Repeat("x", 100) + `"}`)}}}}
				if n == steps {
					reply = llmtest.Reply{Stop: llm.EndTurn, Parts: []llmtest.Part{{Part: llm.Text{S: "done"}}}}
				}
				out.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(out, strings.Join(w.wire.Frames(reply), ""))
			}))
			defer srv.Close()
			r = start(t, nil, func(c *session.Config) {
				c.Target = agent.Target{Model: w.model(srv.URL), Provider: w.name, Name: "m"}
				c.Loop.System = []string{strings.Repeat("Be brief. ", 50)}
			})
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, agent.Completed)
			if len(bodies) != steps || len(all[event.ToolsChanged](es)) != steps/7 {
				t.Fatalf("%d requests, %d changes", len(bodies), len(all[event.ToolsChanged](es)))
			}
			for _, part := range []string{w.tools, w.messages} {
				total, kept := 0, 0
				for i := range steps - 1 {
					a, b := section(t, bodies[i], part), section(t, bodies[i+1], part)
					total, kept = total+len(a), kept+common(a, b)
				}
				if share := 100 * float64(kept) / float64(total); share < 99 {
					t.Errorf("%s: only %.2f %% of what was sent before was sent again as a prefix", part, share)
				} else {
					t.Logf("%s: %.3f %%", part, share)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// section is a member of a request, without the cache marks that move.
func section(t *testing.T, body []byte, name string) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || len(members[name]) == 0 {
		t.Fatalf("no %s in %.200s (%v)", name, body, err)
	}
	return bytes.ReplaceAll(members[name], []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// common is how many bytes a and b begin with alike, beside the brackets that
// close a.
func common(a, b []byte) (n int) {
	end := len(bytes.TrimRight(a, "]}"))
	for n < end && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == end {
		return len(a)
	}
	return n
}
