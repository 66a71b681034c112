package toolkit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// What is no file and begins with the name of an MCP server is a resource of it,
// read with the whole URI and only where the decision allows it.
func TestResourcesAreAttached(t *testing.T) {
	type input struct {
		Server string `json:"server"`
		URI    string `json:"uri"`
	}
	var ran []string
	read := tool.New(tool.Spec{Name: "ReadMcpResource"},
		func(in input, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: in.URI}, nil
		},
		func(_ context.Context, in input, _ tool.Env) (tool.Result, error) {
			ran = append(ran, in.Server+" "+in.URI)
			if strings.HasSuffix(in.URI, "/gone") {
				return tool.Errorf("there is no such resource"), nil
			}
			return tool.Result{Text: strings.Repeat("é", maxAttached)}, nil
		})
	at := attacher{conf: Config{Dir: t.TempDir(), Hide: secret.New(), Resource: func(server string) (tool.Tool, bool) { return read, server == "docs" }}}
	got := at.all(t.Context(), session.Naming{
		Text: `Compare @docs:mem://a/1:10 and @"docs:mem://a b", not @other:mem://a nor @docs: or mail@docs:x, but @docs:mem://gone/secret and @docs:mem://a/gone.`,
		Judge: func(_ context.Context, q agent.Question) policy.Verdict {
			var in input
			if err := json.Unmarshal(q.Call.Input, &in); err != nil {
				t.Error(err)
			}
			if strings.HasSuffix(in.URI, "secret") {
				return policy.Verdict{Effect: policy.Ask, Reason: "no rule allows it"}
			}
			return policy.Verdict{Effect: policy.Allow}
		},
	})
	if want := "docs mem://a/1:10|docs mem://a b|docs mem://a/gone"; strings.Join(ran, "|") != want {
		t.Errorf("read %q, want %q", ran, want)
	}
	if len(got) != 4 {
		t.Fatalf("%d attached: %+v", len(got), got)
	}
	if a := got[0]; a.Refused || a.Name != "docs:mem://a/1:10" || !strings.HasPrefix(a.Text, "<attached name=\"docs:mem://a/1:10\">") || !strings.Contains(a.Text, "more bytes of it are left out") || len(a.Text) > maxAttached+200 {
		t.Errorf("%q, %d bytes, %s", a.Name, len(a.Text), a.About)
	}
	if a := got[2]; !a.Refused || !a.Asks || a.Text != "" {
		t.Errorf("what is a question was read: %+v", a)
	}
	if a := got[3]; !a.Refused || a.Asks || a.About != "there is no such resource" {
		t.Errorf("%+v", a)
	}
}

// What looks like a path and leads to nothing is named; other words after "@" are not,
// nor are many at once.
func TestMissingFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	at := attacher{conf: Config{Dir: dir, Hide: secret.New()}}
	for text, want := range map[string]string{
		"see @none.txt, and @none.txt x":   "none.txt",
		"@src/none @a/b.go#1-2":            "src/none a/b.go#L1-2",
		`@"two words/a.go" @../x.md`:       "../x.md",
		"@param @types/node @media: @b":    "",
		`@app.route("/x") @x:mem://a.go`:   "",
		"@a.go @c.go @e.go @g.go":          "",
		"@functools.cache @pytest.fixture": "",
		"@app.command":                     "",
		"@mian.go, @x.PNG and @y.cache:3":  "mian.go x.PNG y.cache#L3",
		"@x/y.cache":                       "x/y.cache",
		"`@mian.go` ```@a.py``` @b.py":     "b.py",
		"```\n@mian.go\n```\n@b.py":        "b.py",
	} {
		var got []string
		for _, a := range at.all(t.Context(), session.Naming{Text: text}) {
			if !a.Refused || a.Asks || a.About != "no such file" {
				t.Errorf("%s: %+v", text, a)
			}
			got = append(got, a.Name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}
