package bash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// hostile is what an earlier command exported, or wrote as if it had.
func hostile(dir string) delta {
	return delta{
		set: []string{
			"LD_PRELOAD=" + dir + "/x.so", "DYLD_INSERT_LIBRARIES=x", "GIT_CONFIG_COUNT=0", "GIT_DIR=/x", "GIT_EXTERNAL_DIFF=./x", "BASH_ENV=./x", "ENV=./x",
			"BASH_FUNC_ls%%=() { id; }", "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "PATH=.:" + dir + "/bin:" + dir + "/link:" + os.Getenv("PATH"), "GOFLAGS=-toolexec=./x", "GOTOOLCHAIN=auto",
			"GOPROXY=https://example.com", "PAGER=./x", "LESSOPEN=|./x", "RIPGREP_CONFIG_PATH=x", "TZ=/x", "LC_ALL=/x", "TMPDIR=" + dir, "MANPATH=.", "GREP_OPTIONS=-r", "JQ_COLORS=x", "MINE=1",
		},
		unset: []string{"HOME", "LANG"},
	}
}

// pins are some as app hands them over.
var pins = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GOTOOLCHAIN=local", "GOPROXY=off"}

// notPinned says what of an environment is not as the pins want it.
func notPinned(c proc.Command, r *rig) (bad []string) {
	for _, pin := range pins {
		if !slices.Contains(c.Env, pin) {
			bad = append(bad, "no "+pin)
		}
	}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			for _, dir := range filepath.SplitList(value) {
				if !filepath.IsAbs(dir) || inside(r.env.Roots, dir) || inside([]string{r.bashRunner.Temp}, dir) {
					bad = append(bad, kv)
				}
			}
		case name == "HOME" && value != r.env.Home, name == "TMPDIR" && value == r.env.Dir, strings.HasPrefix(kv, "TZ=/"), strings.HasPrefix(kv, "LC_ALL=/"),
			slices.Contains([]string{"XDG_CONFIG_HOME", "GIT_DIR", "BASH_ENV", "ENV", "GIT_EXTERNAL_DIFF", "GOFLAGS", "LESSOPEN", "MANPATH", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS"}, name),
			strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC"), name == "PAGER" && value != "cat":
			bad = append(bad, kv)
		}
	}
	return bad
}

// readingRows are the commands of the corpus that are allowed without a rule.
func readingRows(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "shellread", "testdata", "shell_cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"go version", "git log --stat", "ls", "env", "git status --short | head -3", "cat go.mod; git -C sub status"}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		f := strings.Split(line, "\t")
		if f[2] == "" && f[3] == "allow" {
			out = append(out, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(f[1]))
		}
	}
	return out
}

// TestWhatReadsIsPinned: whatever stands around a command that is allowed
// because it only reads, the process that is built for it is pinned.
func TestWhatReadsIsPinned(t *testing.T) {
	outside := false
	r := newRig(t, func(c *Config) {
		c.Pins = pins
		c.Wrap = func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
		c.Excluded = func([]policy.Action) bool { return outside }
		c.World = func(d string) world.World {
			safe := func(string) (bool, string) { return true, "" }
			hit := func(string) (bool, string) { return false, "core.fsmonitor is set" }
			return world.World{Dir: d, Git: safe, GitUnpinned: hit, Glob: func(string) []string { return []string{} }}
		}
	})
	if err := os.MkdirAll(filepath.Join(r.env.Dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("bin", filepath.Join(r.env.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]struct {
		around     string
		exported   bool
		background bool
		excluded   bool
		rule       string
	}{
		"plain":                   {around: "%"},
		"a folder before":         {around: "cd sub && %"},
		"a folder after":          {around: "%\ncd sub"},
		"an edit before":          {around: "touch z; %"},
		"an edit and a folder":    {around: "mkdir -p sub && cd sub && %"},
		"a subshell":              {around: "(%)"},
		"a group in a pipe":       {around: "{ %\n} | head"},
		"exported before":         {around: "%", exported: true},
		"exported, in a folder":   {around: "cd sub && %", exported: true},
		"exported, after an edit": {around: "touch z; %", exported: true},
		"background":              {around: "%", exported: true, background: true},
		"kept out of the sandbox": {around: "cd sub; %", exported: true, excluded: true},
		"beside what a rule lets": {around: "npm test && { %\n}", rule: "Bash(npm test)"},
		"the same, exported":      {around: "npm test && { %\n}", rule: "Bash(npm test)", exported: true},
	} {
		for _, mode := range []policy.Mode{policy.Default, policy.PlanMode, policy.DontAsk, policy.AcceptEdits} {
			outside = form.excluded
			r.bashRunner.exports = exports{}
			if form.exported {
				d := hostile(r.env.Dir)
				r.bashRunner.exports = exports{inside: d, outside: d}
			}
			rules := policy.Rules{Dir: r.env.Dir, Dirs: []string{r.env.Dir}, Home: r.env.Home}
			if form.rule != "" {
				rule, err := policy.ParseRule(form.rule, policy.Allow, policy.User, "test", r.env.Dir)
				if err != nil {
					t.Fatal(err)
				}
				rules.List = append(rules.List, rule)
			}
			allowed := 0
			for _, row := range readingRows(t) {
				in := input{Command: strings.Replace(form.around, "%", row, 1), Background: form.background}
				raw, err := json.Marshal(in)
				if err != nil {
					t.Fatal(err)
				}
				p, err := r.tools["Bash"].Plan(raw, r.env)
				if err != nil {
					t.Fatal(err)
				}
				v := policy.Decide(rules, mode, policy.Request{Tool: "Bash", Actions: p.Actions, Sandboxed: p.Sandboxed})
				if v.Effect != policy.Allow {
					continue
				}
				allowed++
				env := r.env
				env.Needs = v.Needs
				in.NoSandbox = outside
				c, _, _, err := r.bashRunner.command(in, env, false)
				if err != nil {
					t.Fatal(err)
				}
				bad := notPinned(c, r)
				if form.rule != "" { // never pinned as a whole: what needs pins is not allowed
					bad = nil
					if strings.Contains(row, "git") || strings.HasPrefix(row, "go ") || form.exported {
						for a := range policy.All(p.Actions) {
							if e, ok := a.(policy.Exec); ok && e.ReadOnly && e.Unpinned != "" {
								bad = append(bad, e.Argv[0]+": "+e.Unpinned)
							}
						}
					}
				}
				if len(bad) > 0 {
					t.Errorf("%s, %s: %q runs with %v", name, mode, in.Command, bad)
				}
			}
			// Each form lets most rows through, else it shows nothing.
			most := 20
			if strings.Contains(form.around, "touch") || strings.Contains(form.around, "mkdir") {
				if most = 20; mode != policy.AcceptEdits {
					most = 0
				}
			}
			if form.rule != "" {
				if most = 10; mode == policy.PlanMode || form.exported {
					most = 0
				}
			}
			if allowed < most {
				t.Errorf("%s, %s: only %d rows are allowed", name, mode, allowed)
			}
		}
	}
}
