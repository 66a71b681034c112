package toolsearch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
)

// a is a tool of a server.
type a struct {
	name, about string
	args        string // names, with space between
}

func (a a) Spec() tool.Spec {
	props := map[string]any{}
	for arg := range strings.FieldsSeq(a.args) {
		props[arg] = map[string]any{"type": "string"}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": props})
	return tool.Spec{Name: a.name, Description: a.about, Schema: schema, Deferrable: true}
}
func (a) Plan(json.RawMessage, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil }
func (a) Run(context.Context, json.RawMessage, tool.Env) (tool.Result, error) {
	return tool.Result{}, nil
}

func settled(t testing.TB, list ...tool.Tool) tool.Set {
	t.Helper()
	set, err := tool.NewSet(append(list, toolsearch.New())...)
	if err != nil {
		t.Fatal(err)
	}
	return set.Defer(0, true)
}

func search(t testing.TB, set tool.Set, in string) (loaded []string, res tool.Result) {
	t.Helper()
	env, search := tool.Env{Tools: set}, toolsearch.New()
	plan, err := search.Plan(json.RawMessage(in), env)
	if err != nil {
		return nil, tool.Errorf("%v", err)
	}
	if !plan.Parallel || len(plan.Actions) != 1 {
		t.Errorf("plan %+v", plan)
	}
	res, err = search.Run(t.Context(), json.RawMessage(in), env)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := effect.Of[effect.Loaded](res.Effects)
	for _, s := range l.Tools {
		loaded = append(loaded, s.Name)
		if len(s.Schema) == 0 {
			t.Errorf("%s was loaded without its schema", s.Name)
		}
	}
	return loaded, res
}

func TestSearch(t *testing.T) {
	set := settled(t,
		a{"mcp__github__create_issue", "Opens a new issue in a repository.", "repo title body"},
		a{"mcp__github__listIssues", "Lists the issues of a repository.", "repo state"},
		a{"mcp__github__merge_pull_request", "Merges a pull request.", "repo number"},
		a{"mcp__slack__send", "Sends a message to a channel.", "channel text"},
		a{"mcp__slack__history", "Reads a channel.\nIt has\x1b[31m a second line and " + strings.Repeat("many words ", 50), "channel since"},
		a{"mcp__jira__create_issue", "Opens a ticket.", "project title"},
		a{"LSP", "Asks a language server.", "operation file_path"},
	)
	for _, c := range []struct{ in, want, says string }{
		{`{"query":"select:mcp__slack__send"}`, "mcp__slack__send", "You can call these now:\nmcp__slack__send: Sends a message to a channel."},
		{`{"query":"select: mcp__slack__send , LSP,mcp__slack__send"}`, "mcp__slack__send LSP", ""},
		{`{"query":"select:SEND,lsp"}`, "mcp__slack__send LSP", ""},
		{`{"query":"select:create_issue"}`, "", `There is no tool "create_issue" to load`},
		{`{"query":"select:mcp__slack__sent,LSP"}`, "LSP", `There is no tool "mcp__slack__sent" to load`},
		{`{"query":"mcp__jira__create_issue"}`, "mcp__jira__create_issue", ""},
		{`{"query":"create issue"}`, "mcp__github__create_issue mcp__jira__create_issue mcp__github__listIssues", ""},
		{`{"query":"create issue +jira"}`, "mcp__jira__create_issue", ""},
		{`{"query":"Issues","max_results":1}`, "mcp__github__listIssues", "These match too, and are not loaded: mcp__github__create_issue, mcp__jira__create_issue"},
		{`{"query":"slack channel"}`, "mcp__slack__history mcp__slack__send", ""},
		{`{"query":"since"}`, "mcp__slack__history", `Reads a channel. It has\x1b[31m a second line and many`},
		{`{"query":"tickets"}`, "mcp__jira__create_issue", ""},
		{`{"query":"+slack +merge"}`, "", `No tool matches "+slack +merge". There are:`},
		{`{"query":"weather"}`, "", "mcp__github__: create_issue, listIssues, merge_pull_request"},
		{`{"query":"  "}`, "", "it is empty"},
		{`{"query":"a","max_results":99}`, "", "from 1 to 50"},
		{`{"query":"` + strings.Repeat("x", 3000) + `"}`, "", "at most 2000"},
	} {
		loaded, res := search(t, set, c.in)
		if got := strings.Join(loaded, " "); got != c.want || !strings.Contains(res.Text, c.says) || strings.ContainsAny(res.Text, "\x1b") {
			t.Errorf("%s loads %q and says %q; want %q and %q", c.in, got, res.Text, c.want, c.says)
		}
		if res.IsErr != (c.want == "") {
			t.Errorf("%s: an error is %t", c.in, res.IsErr)
		}
	}
	set = set.Loaded([]llm.Spec{{Name: "mcp__slack__send"}})
	if loaded, res := search(t, set, `{"query":"select:mcp__slack__send,LSP"}`); strings.Join(loaded, " ") != "LSP" || !strings.Contains(res.Text, "mcp__slack__send (you have it already)") {
		t.Errorf("loaded %v: %q", loaded, res.Text)
	}
	if loaded, res := search(t, settled(t), `{"query":"x"}`); len(loaded) > 0 || !strings.Contains(res.Text, "nothing to load") {
		t.Errorf("loaded %v: %q", loaded, res.Text)
	}
}

// What one call loads is bounded, but for the first tool.
func TestSearchOfLongTools(t *testing.T) {
	set := settled(t, a{"mcp__s__a", strings.Repeat("x", 70_000), ""}, a{"mcp__s__b", strings.Repeat("y", 70_000), ""})
	loaded, res := search(t, set, `{"query":"select:a,b"}`)
	if strings.Join(loaded, " ") != "mcp__s__a" || !strings.Contains(res.Text, "mcp__s__b (not loaded") || len(res.Text) > 1000 {
		t.Errorf("loaded %v: %q", loaded, res.Text)
	}
}

// The model is told of each name once, and of those that are gone.
func TestNews(t *testing.T) {
	set := settled(t, a{"mcp__b__x", "", ""}, a{"mcp__a__y", "", ""}, a{"mcp__b__z", "", ""}, a{"Plain", "", ""})
	n := toolsearch.News(set, []string{"mcp__b__z", "mcp__c__old"}, nil, []string{"mcp__c__old", "mcp__c__unheard"})
	if want := "<notice>\nThere are more tools. Load those that you want with ToolSearch:\nPlain\nmcp__a__: y\nmcp__b__: x\nThese tools are not there any more:\nmcp__c__: old\n</notice>"; n.Text != want || len(n.Named) != 3 || len(n.Gone) != 1 {
		t.Errorf("%+v", n)
	}
	if n := toolsearch.News(set.Loaded([]llm.Spec{{Name: "Plain"}}), []string{"mcp__a__y", "mcp__b__x", "mcp__b__z"}, nil, nil); n.Text != "" || len(n.Named)+len(n.Gone) > 0 {
		t.Errorf("told again: %+v", n)
	}
}

// Names are bounded: servers that do not fit are told with how many tools they have.
func TestNewsAreBounded(t *testing.T) {
	for _, servers := range []int{20, 500} {
		var list []tool.Tool
		for s := range servers {
			for i := range 10 {
				list = append(list, a{fmt.Sprintf("mcp__server_%02d__do_some_thing_%d", s, i), "", ""})
			}
		}
		n := toolsearch.News(settled(t, list...), nil, nil, nil)
		text := n.Text
		if len(n.Named) != 10*servers || len(text) > 5000 || servers == 20 && (len(text) > 2200 || !strings.Contains(text, "mcp__server_00__: do_some_thing_0, ") || !strings.Contains(text, "mcp__server_19__: 10 tools")) {
			t.Errorf("%d servers, %d bytes:\n%s", servers, len(text), text)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("select:a,b", 3)
	f.Add("+must word", 0)
	f.Add("select:,,", 50)
	set := settled(f, a{"mcp__s__create_issue", "Opens.", "title"}, a{"Other", "ünï", "x"})
	f.Fuzz(func(t *testing.T, query string, n int) {
		in, err := json.Marshal(map[string]any{"query": query, "max_results": n})
		if err != nil {
			t.Skip()
		}
		if _, res := search(t, set, string(in)); res.Text == "" || len(res.Text) > 10_000 {
			t.Errorf("%q: %q", query, res.Text)
		}
	})
}
