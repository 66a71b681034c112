package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
)

// A model provider's key goes to no server that a repository brings, in no form; a
// person's own server gets what it names.
func TestServersOfARepositoryGetNoKeys(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"ANTHROPIC_API_KEY": "sk-key", "MINE": "sk-key2", "PLAIN": "p"}[name]
		return v, ok
	}
	private := func(name string) bool { return strings.HasPrefix(name, "ANTHROPIC_") || name == "MINE" }
	const program = `{"command":"c${ANTHROPIC_API_KEY}","args":["-k","${MINE}","${ANTHROPIC_API_KEY:-none}"],"env":{"A":"${ANTHROPIC_API_KEY}","B":"x${MINE:-}","C":"${ANTHROPIC_API_KEY:-d}","P":"${PLAIN}"}}`
	const web = `{"type":"http","url":"https://h/${ANTHROPIC_API_KEY}?k=${MINE:-d}","headers":{"Authorization":"Bearer ${MINE}","K":"${ANTHROPIC_API_KEY}","P":"${PLAIN}"}}`
	const signing = `{"type":"http","url":"https://h/","oauth":{"clientId":"a","flow":"client_credentials","clientSecret":"${ANTHROPIC_API_KEY}"}}`
	file := File{Path: "/w/.mcp.json", Text: []byte(`{"mcpServers":{"p":` + program + `,"w":` + web + `,"s":` + signing + `}}`)}
	cfg := settings(t, `{"enableAllProjectMcpServers":true}`, "", "")
	for name, from := range map[string]Sources{
		"a repository": {Project: []File{file}, Trusted: true},
		"its agent":    {Given: []Given{{Name: "p", JSON: json.RawMessage(program), Repo: true}, {Name: "w", JSON: json.RawMessage(web), Repo: true}, {Name: "s", JSON: json.RawMessage(signing), Repo: true}}},
		"its local settings": {Given: []Given{{Name: "p", JSON: json.RawMessage(program), Origin: config.Origin{Scope: config.Local}}, {Name: "w", JSON: json.RawMessage(web), Origin: config.Origin{Scope: config.Local}},
			{Name: "s", JSON: json.RawMessage(signing), Origin: config.Origin{Scope: config.Local}}}},
	} {
		from.Config, from.Env, from.Private = cfg, env, private
		set := Load(from)
		for _, s := range set.Servers {
			if text := fmt.Sprint(s.Command, s.Args, s.Env, s.URL, s.Headers); strings.Contains(text, "sk-") || !s.Keyless {
				t.Errorf("%s: %s", name, text)
			}
		}
		p, _ := set.Get("p")
		if want := map[string]string{"B": "x", "C": "d", "P": "p"}; !maps.Equal(p.Env, want) || p.Args[2] != "none" || p.Problem != "" {
			t.Errorf("%s: %v %v %q", name, p.Env, p.Args, p.Problem)
		}
		if w, _ := set.Get("w"); w.Headers["P"] != "p" || len(w.Headers) != 1 {
			t.Errorf("%s: %v", name, w.Headers)
		}
		if s, _ := set.Get("s"); !strings.Contains(s.Problem, "gets no key of a model provider") {
			t.Errorf("%s: signing in: %q", name, s.Problem)
		}
		if said := fmt.Sprint(set.Problems); name == "a repository" && !strings.Contains(said, "mcpServers.p: ANTHROPIC_API_KEY, MINE is left out") {
			t.Errorf("%s: %s", name, said)
		}
	}
	set := Load(Sources{Config: cfg, Env: env, Private: private, Given: []Given{{Name: "p", JSON: json.RawMessage(program)}}})
	if p, _ := set.Get("p"); p.Env["A"] != "sk-key" || p.Keyless || len(set.Problems) > 0 {
		t.Errorf("a person's own: %+v %v", p, set.Problems)
	}
}

// Who says yes to a server sees what of it comes from the environment, in every form.
func TestShownVariables(t *testing.T) {
	text := Server{Raw: json.RawMessage(`{"command":"c","args":["${A:-b}"],"env":{"K2":"${ANTHROPIC_API_KEY:-d}","K3":"x${B:-}y","K4":"${A}","T_TOKEN":"${A:-abcdefghij0123456789}"}}`)}.Describe()
	for _, want := range []string{"${A:-b} (from your environment)", "${ANTHROPIC_API_KEY:-d} (from your environment)", "x${B:-}y (from your environment)", "${A} (from your environment)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "abcdefghij0123456789") {
		t.Errorf("a secret that stands in for a variable is shown:\n%s", text)
	}
}
