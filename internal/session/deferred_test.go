package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
)

// to sends what is for a provider's own API to a server of the test.
type to struct{ url string }

func (s to) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// A speaker is a wire, and how a model on it calls tools that it loaded.
type speaker struct {
	name   string
	wire   llmtest.Wire
	model  func(url string) llm.Model
	id     string
	native bool
	loaded bool // what is called was loaded, and has a namespace where the wire has them
}

func speakers(t *testing.T) (out []speaker) {
	t.Helper()
	for _, w := range wires {
		out = append(out, speaker{w.name, w.wire, w.model, "m", false, false})
	}
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	facts := func(provider string) price.Lookup {
		return func(m string) (price.Facts, bool) { return tab.Lookup(provider, m) }
	}
	return append(out,
		speaker{"anthropic", llmtest.Anthropic{}, func(url string) llm.Model {
			return anthropic.New(anthropic.Config{Config: wire.Config{Key: "k", Transport: to{url}}, Facts: facts("anthropic")})
		}, "claude-sonnet-4-6", true, false},
		speaker{"openai", llmtest.Responses{}, func(url string) llm.Model {
			return openai.New(openai.Config{Config: wire.Config{Key: "k", Transport: to{url}}, Facts: facts("openai")})
		}, "gpt-5.4", true, false})
}

// use is a call as the model on this wire says it.
func (s speaker) use(id, name, args string) llmtest.Reply {
	u := llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(args)}
	_, responses := s.wire.(llmtest.Responses)
	switch {
	case name == toolsearch.Name && s.native && responses:
		u.Name = "tool_search"
	case strings.HasPrefix(name, "mcp__") && s.native && responses && s.loaded:
		u.Opaque = json.RawMessage(`"` + name + `"`)
	case strings.HasPrefix(name, "mcp__") && !s.native:
		u.Name, u.Input = "CallTool", json.RawMessage(`{"tool":"`+name+`","arguments":`+args+`}`)
	}
	return llmtest.Reply{Stop: llm.WantTools, Parts: []llmtest.Part{{Part: u}}}
}

// remote is a tool of a server, with a schema as they have them.
type remote struct{ name string }

func (r remote) Spec() tool.Spec {
	return tool.Spec{Name: r.name, Deferrable: true, Description: strings.Repeat("Does something useful with what it is given. ", 6),
		Schema: json.RawMessage(`{"type":"object","properties":{"s":{"type":"string","description":"what it is about, in a few words that say enough"},"limit":{"type":"integer","minimum":1,"description":"how many to return"}},"required":["s"]}`)}
}

func (remote) Plan(raw json.RawMessage, _ tool.Env) (tool.Plan, error) {
	var in struct{ S string }
	if json.Unmarshal(raw, &in) != nil || in.S == "" {
		return tool.Plan{}, fmt.Errorf(`field "s" is missing`)
	}
	return planned, nil
}

func (remote) Run(_ context.Context, raw json.RawMessage, _ tool.Env) (tool.Result, error) {
	var in struct{ S string }
	_ = json.Unmarshal(raw, &in) // Plan has read it
	return tool.Result{Text: "did " + in.S}, nil
}

var planned = tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: true}

// servers are the tools of some servers, ten each, beside those of the bench.
func (r *rig) servers(names ...string) *tool.Set {
	r.t.Helper()
	list := []tool.Tool{toolsearch.New()}
	for _, name := range names {
		for i := range 10 {
			list = append(list, remote{fmt.Sprintf("mcp__%s__do_thing_%d", name, i)})
		}
	}
	for _, name := range []string{"act", "look"} {
		list = append(list, r.bench.tool(name, true, false, planned.Actions...))
	}
	set, err := tool.NewSet(list...)
	if err != nil {
		r.t.Fatal(err)
	}
	return &set
}

// serve answers requests one after the other, and keeps them.
func serve(t *testing.T, w llmtest.Wire, play func(n int) llmtest.Reply) (url string, bodies func() [][]byte) {
	t.Helper()
	var mu sync.Mutex
	var got [][]byte
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			t.Error(err)
		}
		if _, err := llmtest.Accept(w, body); err != nil {
			t.Errorf("a request that the provider refuses: %v\n%s", err, body)
		}
		mu.Lock()
		got = append(got, body)
		n := len(got)
		mu.Unlock()
		out.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(out, strings.Join(w.Frames(play(n)), ""))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() [][]byte {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

// Over a session of 50 steps in which servers come and go, and tools of theirs
// are looked up and called, what a request says in the order in which providers keep
// it begins with what the one before said.
func TestPrefixWhileServersComeAndGo(t *testing.T) {
	const steps = 50
	for _, s := range speakers(t) {
		t.Run(s.name, func(t *testing.T) {
			slowtest.Turn(t)
			var r *rig
			url, bodies := serve(t, s.wire, func(n int) llmtest.Reply {
				id, server := fmt.Sprintf("call_%d", n), fmt.Sprint("server", n-n%7)
				switch {
				case n == steps:
					return llmtest.Say("done")
				case n%7 == 0: // a server comes, and the one before the last goes
					if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: r.servers(server, fmt.Sprint("server", n-7))}, event.SettingsChanged{}); err != nil {
						t.Error(err)
					}
				case n > 7 && n%7 == 1:
					return s.use(id, toolsearch.Name, `{"query":"select:mcp__`+server+`__do_thing_3"}`)
				case n > 7 && n%7 < 4:
					s.loaded = true
					return s.use(id, "mcp__"+server+"__do_thing_3", `{"s":"`+strings.Repeat("x", 200)+`"}`)
				}
				return s.use(id, "look", `{"s":"`+strings.Repeat("x", 200)+`"}`)
			})
			r = start(t, nil, func(c *session.Config) {
				c.Target = agent.Target{Model: s.model(url), Provider: s.name, Name: s.id}
				c.Loop.System = []string{strings.Repeat("Be brief. ", 800)}
				c.MoreTools = true
			})
			r.tools(r.servers())
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, agent.Completed)
			for _, f := range all[event.ToolFinished](es) {
				if f.IsErr {
					t.Errorf("%s: %s", f.Name, f.Text)
				}
			}
			requests := bodies()
			total, kept := 0, 0
			for i := range len(requests) - 1 {
				k, n, err := llmtest.Kept(requests[i], requests[i+1])
				if err != nil {
					t.Fatal(err)
				}
				total, kept = total+n, kept+k
			}
			share := 100 * float64(kept) / float64(total)
			t.Logf("%.3f %% of %d bytes", share, total)
			if share < 99 || len(requests) != steps || len(all[event.ToolsChanged](es)) != steps/7 {
				t.Errorf("%.2f %% of %d requests, %d changes of tools", share, len(requests), len(all[event.ToolsChanged](es)))
			}
			loads := 0
			for _, f := range all[event.ToolFinished](es) {
				if l, ok := effect.Of[effect.Loaded](f.Effects); ok {
					loads += len(l.Tools)
				}
			}
			if loads != steps/7-1 {
				t.Errorf("%d tools were loaded", loads)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// tools makes these the tools of the next request.
func (r *rig) tools(set *tool.Set) {
	r.t.Helper()
	if err := r.Apply(r.t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: set}, event.SettingsChanged{}); err != nil {
		r.t.Fatal(err)
	}
}

// 200 tools of 20 servers make the first request less than 3 KB longer.
func TestManyToolsAreShort(t *testing.T) {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("server%02d", i))
	}
	for _, s := range speakers(t) {
		t.Run(s.name, func(t *testing.T) {
			url, bodies := serve(t, s.wire, func(int) llmtest.Reply { return llmtest.Say("done") })
			for i, names := range [][]string{nil, names} {
				r := start(t, nil, func(c *session.Config) {
					c.Target = agent.Target{Model: s.model(url), Provider: s.name, Name: s.id, Window: 200_000}
					c.DeferAbove, c.MoreTools = func(window int) int { return window / 10 }, i > 0
				})
				r.tools(r.servers(names...))
				r.prompt("go")
				r.last(r.turns(1, nil), agent.Completed)
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			few, many := bodies()[0], bodies()[1]
			t.Logf("%d bytes more", len(many)-len(few))
			if more := len(many) - len(few); more > 3000 || !strings.Contains(string(many), "mcp__server00__: do_thing_0, do_thing_1") || strings.Contains(string(few), toolsearch.Name) {
				t.Errorf("%d bytes more:\n%s", more, many)
			}
		})
	}
}

// What a model loaded stays loaded: in the same bytes after a restart, whether the
// server is there again or not, and after the conversation was replaced.
func TestLoadedToolsStay(t *testing.T) {
	const name = "mcp__files__do_thing_3"
	for _, s := range speakers(t) {
		t.Run(s.name, func(t *testing.T) {
			var r *rig
			url, bodies := serve(t, s.wire, func(n int) llmtest.Reply {
				switch n {
				case 1: // without having loaded it, with arguments that do not fit, and then ones that do
					return s.use("call_1", name, `{"limit":1}`)
				case 2:
					return s.use("call_2", name, `{"s":"guessed"}`)
				case 3:
					return s.use("call_3", toolsearch.Name, `{"query":"thing +3"}`)
				case 5:
					s.loaded = true
					return s.use("call_5", name, `{"s":"away"}`)
				case 7:
					return s.use("call_7", name, `{"s":"back"}`)
				}
				return llmtest.Say(fmt.Sprint("done ", n))
			})
			begin := func(log *mem.Log) {
				r = start(t, log, func(c *session.Config) {
					c.Target = agent.Target{Model: s.model(url), Provider: s.name, Name: s.id, Window: 200_000}
					c.DeferAbove, c.MoreTools = func(int) int { return 100 }, true
				})
			}
			begin(nil)
			r.tools(r.servers("files"))
			r.prompt("go")
			es := r.turns(1, nil)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			begin(again(t, r.log))
			r.tools(r.servers())
			r.prompt("go on")
			r.turns(2, nil)
			r.tools(r.servers("files"))
			r.prompt("and again")
			es = append(es, r.turns(3, nil)...)
			var texts []string
			for _, f := range all[event.ToolFinished](es) {
				texts = append(texts, f.Text)
			}
			for i, want := range []string{
				`mcp__files__do_thing_3: field "s" is missing` + "\nYou called this tool without having loaded it. Its arguments are described by: {\"type\":\"object\"",
				"did guessed", "You can call these now:\n" + name,
			} {
				if len(texts) <= i || !strings.HasPrefix(texts[i], want) {
					t.Errorf("%q, want %q", texts, want)
				}
			}
			if !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "the tool "+name+" is not there any more") }) || !slices.Contains(texts, "did back") {
				t.Errorf("%q", texts)
			}
			requests := bodies()
			for i := range len(requests) - 1 {
				if kept, n, err := llmtest.Kept(requests[i], requests[i+1]); err != nil || kept < n && (s.name != "openai" || i != 2) { // there, a call before the tool was loaded costs once
					t.Errorf("request %d begins with %d of the %d bytes of the one before (%v)\n%s\n%s", i+1, kept, n, err, requests[i], requests[i+1])
				}
			}
			last := requests[len(requests)-1]
			if n := strings.Count(string(last), "There are more tools"); n != 1 {
				t.Errorf("the model was told %d times:\n%s", n, last)
			}
			if got := r.State().Loaded; len(got) != 1 || got[0].Name != name || len(r.State().Told()) != 10 {
				t.Errorf("%d tools are loaded, told are %v", len(got), r.State().Told())
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A session that defers nothing, as a helper's, takes a set as another one told of
// it: the same list, and no notice. What a session says that it has is what its next
// request lists.
func TestSettledToolsStayAsGiven(t *testing.T) {
	url, bodies := serve(t, llmtest.Anthropic{}, func(int) llmtest.Reply { return llmtest.Say("done") })
	target := agent.Target{Model: wires[0].model(url), Provider: "p", Name: "m", Window: 100_000}
	one := start(t, nil, func(c *session.Config) { c.Target, c.DeferAbove = target, func(int) int { return 0 } })
	one.tools(one.servers("files"))
	before := one.Tools().Specs()
	one.prompt("go")
	one.turns(1, nil)
	set := one.Tools().Loaded([]llm.Spec{{Name: "mcp__files__do_thing_1"}})
	two := start(t, nil, func(c *session.Config) { c.Target, c.Tools = target, set })
	two.prompt("go")
	es := two.turns(1, nil)
	var now []string
	for i, s := range set.Specs() {
		now = append(now, s.Name)
		if i < len(before) && before[i].Name != s.Name {
			t.Errorf("%s was said to be the next request's, and it lists %s", before[i].Name, s.Name)
		}
	}
	if got := two.Tools().Specs(); len(got) != len(now) || len(before) != len(now)-1 || len(all[event.ToolsChanged](es)) > 0 {
		t.Errorf("given %v, listed %v, %v", now, got, kinds(es))
	}
	if body := string(bodies()[1]); strings.Contains(body, "There are more tools") || !strings.Contains(body, `"name":"mcp__files__do_thing_1"`) {
		t.Errorf("%s", body)
	}
	for _, r := range []*rig{one, two} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
