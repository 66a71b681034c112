package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
)

// described is a tool of a server that describes itself in these words.
type described struct {
	remote
	words, schema string
}

func (d described) Spec() tool.Spec {
	s := d.remote.Spec()
	s.Description = d.words
	if d.schema != "" {
		s.Schema = json.RawMessage(d.schema)
	}
	return s
}

// What the tools of servers are in one run after the other, each a list of the tool's name
// and its words: the next run's first request begins with what the last one of the run
// before said, to the byte.
func TestPrefixOfTheNextRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  [][]string // "name: words"; before "|" at the first request, behind it later
		moves bool       // it cannot be kept
		says  string     // in the last request
	}{
		{"the first server comes", [][]string{{}, {"b__x: new"}}, false, "There are more tools"},
		{"another server comes", [][]string{{"b__x: old"}, {"a__x: new", "b__x: old"}}, false, `mcp__a__: x`},
		{"a server goes", [][]string{{"a__x: one", "b__x: two"}, {"b__x: two"}}, false, ""},
		{"all servers go, and come back in the run after", [][]string{{"a__x: one"}, {}, {"a__x: one"}}, false, ""},
		{"a server is late", [][]string{{"a__x: one", "b__x: two"}, {"b__x: two", "|", "a__x: one", "b__x: two"}}, false, ""},
		{"a server was late in the run before", [][]string{{"b__x: two", "|", "a__x: one", "b__x: two"}, {"a__x: one", "b__x: two"}}, false, "There are more tools"},
		{"a list is another one", [][]string{{"a__x: one", "a__y: two"}, {"a__w: zero", "a__y: two"}}, false, "mcp__a__: w"},
		{"other words", [][]string{{"a__x: one"}, {"a__x: not one"}}, false, "in other words now than your list does:\\nmcp__a__x: not one"},
		{"other words, and the old ones again", [][]string{{"a__x: one"}, {"a__x: not one"}, {"a__x: one"}}, false, "\\nmcp__a__x: one"},
		{"other words come in the middle", [][]string{{"a__x: one", "|", "a__x: not one"}, {"a__x: not one"}}, false, "mcp__a__x: not one"},
		{"other arguments", [][]string{{"a__x: one"}, {`a__x: one {"type":"object","properties":{}}`}}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range speakers(t) {
				runs(t, s, c.runs, c.moves, c.says)
			}
		})
	}
}

func runs(t *testing.T, s speaker, list [][]string, moves bool, says string) {
	t.Helper()
	url, bodies := serve(t, s.wire, func(int) llmtest.Reply { return llmtest.Say("done") })
	var log *mem.Log
	for turn := 0; len(list) > 0; list = list[1:] {
		r := start(t, log, func(c *session.Config) {
			c.Target = agent.Target{Model: s.model(url), Provider: s.name, Name: s.id, Window: 200_000}
			c.Loop.System = []string{"Be brief."}
			c.DeferAbove, c.MoreTools = func(int) int { return 10_000 }, true
		})
		first, later := list[0], []string(nil)
		at := slices.Index(first, "|")
		if at >= 0 {
			first, later = first[:at], first[at+1:]
		}
		for _, names := range [][]string{first, later}[:1+btoi(at >= 0)] {
			r.tools(r.describe(names))
			turn++
			r.prompt("go")
			es := r.turns(turn, nil)
			r.last(es, agent.Completed)
			if c := r.State().Cache; !moves && slices.Contains(c.Between, "tools") {
				t.Errorf("%s: the list is said to have changed: %+v", s.name, c)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		log = again(t, r.log)
	}
	requests := bodies()
	for i := range len(requests) - 1 {
		if kept, n, err := llmtest.Kept(requests[i], requests[i+1]); err != nil || (kept < n) != moves {
			t.Errorf("%s: request %d begins with %d of the %d bytes of the one before (%v)\n%s\n%s", s.name, i+1, kept, n, err, requests[i], requests[i+1])
		}
	}
	last := string(requests[len(requests)-1])
	if !strings.Contains(last, says) || says == "" && strings.Contains(last, "/notice") {
		t.Errorf("%s: the last request should say %q:\n%s", s.name, says, last)
	}
	if n := strings.Count(last, says); says != "" && n != 1 {
		t.Errorf("%s: %q is said %d times:\n%s", s.name, says, n, last)
	}
}

// describe are tools of servers, each "server__tool: words", with a schema behind them
// when it is another one than they all have.
func (r *rig) describe(list []string) *tool.Set {
	r.t.Helper()
	tools := []tool.Tool{toolsearch.New(), r.bench.tool("look", true, false, planned.Actions...)}
	for _, l := range list {
		name, words, _ := strings.Cut(l, ": ")
		words, schema, _ := strings.Cut(words, " {")
		if schema != "" {
			schema = "{" + schema
		}
		tools = append(tools, described{remote{fmt.Sprint("mcp__", name)}, words, schema})
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		r.t.Fatal(err)
	}
	return &set
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What replies say of the tools that were listed is said once, and only again when
// the list is another one.
func TestRepliesSayWhatWasListed(t *testing.T) {
	url, _ := serve(t, llmtest.Anthropic{}, func(int) llmtest.Reply { return llmtest.Say("done") })
	r := start(t, nil, func(c *session.Config) {
		c.Target, c.MoreTools = agent.Target{Model: wires[0].model(url), Provider: "p", Name: "m"}, true
	})
	var es []event.Event
	for i, list := range [][]string{{"a__x: one"}, {"a__x: one"}, {"a__x: other", "b__x: new"}, {}} {
		r.tools(r.describe(list))
		r.prompt("go")
		es = r.turns(i+1, nil)
	}
	said := 0
	for _, b := range all[event.Replied](es) {
		said += btoi(len(b.Tools) > 0)
	}
	var names []string
	for _, l := range r.State().Listed {
		names = append(names, fmt.Sprintf("%s=%s", l.Name, l.Description))
	}
	if got := strings.Join(names, " "); said != 1 || got != "ToolSearch= look= mcp__a__x=one" {
		t.Errorf("%d times, %q", said, got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
