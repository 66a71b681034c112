package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
)

// run is a folder to work in and a home, and the settings files in them
// ("~/…" is the home's).
func run(t *testing.T, files map[string]string) Environment {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := Environment{Dir: filepath.Join(root, "project"), Home: filepath.Join(root, "home"), Env: func(string) string { return "" }}
	for _, d := range []string{e.Dir, e.Home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(e.Dir, name)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			path = filepath.Join(e.Home, rest)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func TestAllowedRulesAreSavedWhereTheyAreRead(t *testing.T) {
	own := map[string]string{".adze/settings.json": `{"permissions":{"allow":["Bash(x)"]}}`}
	for name, test := range map[string]struct {
		files   map[string]string
		scope   string
		domains bool
		rule    string
		file    string // below the project's or the home's folder
		key     string
		value   string
		refused string
	}{
		"for the person":            {scope: "user", rule: "Bash(ls)", file: "home/.adze/settings.json", key: "permissions.allow", value: `"Bash(ls)"`},
		"for the project":           {scope: "project", rule: "Bash(ls)", file: "project/.adze/settings.json", key: "permissions.allow", value: `"Bash(ls)"`},
		"for this copy of it":       {scope: "local", rule: "Bash(ls)", file: "project/.adze/settings.local.json", key: "permissions.allow", value: `"Bash(ls)"`},
		"a domain of the sandbox":   {scope: "local", domains: true, rule: "WebFetch(domain:a.b)", file: "project/.adze/settings.local.json", key: "sandbox.network.allowed_domains", value: `"a.b"`},
		"a domain of a tool":        {scope: "local", rule: "WebFetch(domain:a.b)", file: "project/.adze/settings.local.json", key: "permissions.allow", value: `"WebFetch(domain:a.b)"`},
		"a folder that counts not":  {files: own, scope: "project", rule: "Bash(ls)", refused: "not used until it is trusted"},
		"the person's count anyway": {files: own, scope: "user", rule: "Bash(ls)", file: "home/.adze/settings.json", key: "permissions.allow", value: `"Bash(ls)"`},
		"no scope":                  {scope: "managed", rule: "Bash(ls)", refused: `"managed"`},
	} {
		t.Run(name, func(t *testing.T) {
			e := run(t, test.files)
			p, _, err := Load(e, Sources{})
			if err != nil {
				t.Fatal(err)
			}
			to, edits, err := Allow(p, test.scope, []string{test.rule}, test.domains)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("not refused: %v", err)
				}
				return
			}
			if err != nil || len(edits) != 1 {
				t.Fatal(edits, err)
			}
			if want := filepath.Join(filepath.Dir(e.Dir), test.file); to.Path != want {
				t.Errorf("written to %s, not to %s", to.Path, want)
			}
			if edits[0].Key != test.key || string(edits[0].Value) != test.value {
				t.Errorf("%s: %s", edits[0].Key, edits[0].Value)
			}
		})
	}
}

// A rule that cannot be read allows nothing more than was meant.
func TestRulesThatCannotBeUsed(t *testing.T) {
	for list, unsafe := range map[string]bool{"deny": true, "ask": true, "allow": false} {
		p, cfg, err := Load(run(t, map[string]string{"~/.adze/settings.json": `{"permissions":{"` + list + `":["Bash("]}}`}), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		rules, problems, err := Rules(cfg, p)
		if err != nil || len(problems) != 1 || len(rules.List) != 0 || (rules.Unsafe != "") != unsafe {
			t.Errorf("%s: %d rules, unsafe %q, problems %v, %v", list, len(rules.List), rules.Unsafe, problems, err)
		}
	}
	p, cfg, err := Load(run(t, nil), Sources{Flags: []config.Given{{Key: "permissions.additionalDirectories", Value: "gone", From: "--add-dir"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Rules(cfg, p); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if rules, _ := UsableRules(cfg, p, func(error) {}); len(rules.Dirs) != 1 {
		t.Errorf("folders: %q", rules.Dirs)
	}
}

// Settings of features that this version lacks are said to have no effect, each with its
// place. Those that what runs depends on are named at the start, too.
func TestSettingsWithoutEffect(t *testing.T) {
	e := run(t, map[string]string{"~/.adze/settings.json": `{"web":{"search":"brave","search_url":"http://x"},"lsp":{"go":{}},"worktree":{"baseRef":"main"}}`})
	var told []string
	e.Note = func(s string) { told = append(told, s) }
	_, cfg, err := Load(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range config.Table() {
		if k.Absent == "" {
			continue
		}
		found := slices.ContainsFunc(cfg.Problems, func(p config.Problem) bool { return p.Key == k.Name && p.Absent && p.Line == 1 })
		if loud := strings.Contains(strings.Join(told, "\n"), k.Name+" ("); !found || loud == k.Quiet {
			t.Errorf("%s: it is a problem: %v, it is said at the start: %v", k.Name, found, loud)
		}
	}
}

// Where an administrator says that only managed rules allow, the rules know it: what a
// session is given later does not count either.
func TestOnlyManagedRulesAllow(t *testing.T) {
	p, cfg, err := Load(run(t, nil), Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range []bool{false, true} {
		c := *cfg
		c.Permissions.ManagedOnly = only
		rules, _, err := Rules(&c, p)
		if err != nil {
			t.Fatal(err)
		}
		rules.List = append(rules.List, policy.Rule{Tool: "Bash", Effect: policy.Allow, Scope: policy.Session})
		call := policy.Request{Tool: "Bash", Actions: []policy.Action{policy.Exec{Argv: []string{"make"}}}}
		if v := policy.Decide(rules, policy.Default, call); (v.Effect == policy.Allow) == only {
			t.Errorf("only managed rules: %v, and one of the session says %s", only, v.Effect)
		}
	}
}

// Where names that differ in case alone lead to the same file, a rule names it
// however it is written.
func TestRulesWhereCaseDoesNotMatter(t *testing.T) {
	p, cfg, err := Load(run(t, map[string]string{"~/.adze/settings.json": `{"permissions":{"deny":["Read(keys/prod.txt)"]}}`}), Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if p.FoldCase != place.FoldsCase(p.Dir) {
		t.Errorf("case does not matter in %s: %v", p.Dir, p.FoldCase)
	}
	for _, fold := range []bool{false, true} {
		p.FoldCase = fold
		rules, _, err := Rules(cfg, p)
		if err != nil {
			t.Fatal(err)
		}
		read := policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: filepath.Join(p.Dir, "Keys", "PROD.txt")}}}
		if v := policy.Decide(rules, policy.Default, read); (v.Effect == policy.Deny) != fold {
			t.Errorf("case does not matter: %v, and the verdict is %s", fold, v.Effect)
		}
	}
}

// What links of a home folder lead to in the session's folders is protected, at any
// depth, whatever else is in the home.
func TestWhereLinksOfAHomeLead(t *testing.T) {
	e := run(t, map[string]string{"dots/zshrc": "", "dots/config/git/config": "", "dots/apps/x": "", "~/.local/share/x": "", "~/.profile": "", "free": ""})
	for at, to := range map[string]string{".zshrc": "dots/zshrc", ".config": "dots/config", ".local/share/applications": "dots/apps", ".bashrc": "dots/not-yet", ".nothing-known": "free"} {
		if err := os.Symlink(filepath.Join(e.Dir, to), filepath.Join(e.Home, at)); err != nil {
			t.Fatal(err)
		}
	}
	p, cfg, err := Load(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, s := range Programs(cfg, p, []string{e.Dir}) {
		if rel, ok := strings.CutPrefix(s.Path, e.Dir+string(filepath.Separator)); ok {
			found[filepath.ToSlash(rel)] = true
		}
	}
	for _, want := range []string{"dots/zshrc", "dots/config/git", "dots/config/systemd", "dots/apps", "dots/not-yet"} {
		if !found[want] {
			t.Errorf("%s is not protected: %v", want, found)
		}
	}
	if found["free"] || found["dots"] {
		t.Errorf("too much is protected: %v", found)
	}
	for i := range maxNames { // too many to read
		if err := os.WriteFile(filepath.Join(e.Home, fmt.Sprint("n", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if again := Programs(cfg, p, []string{e.Dir}); len(again) < len(found) {
		t.Errorf("of a full home, %d places are protected instead of %d", len(again), len(found))
	}
}

func TestModesThatAreForbidden(t *testing.T) {
	_, cfg, err := Load(run(t, map[string]string{"~/.adze/settings.json": `{"permissions":{"disableAutoMode":"disable"}}`}), Sources{})
	if err != nil {
		t.Fatal(err)
	}
	root := Environment{Env: func(string) string { return "1" }} // where root may, too
	for name, test := range map[string]struct {
		started   policy.Mode
		mayBypass bool
		bypass    bool
	}{
		"began without":     {policy.Default, false, true},
		"may be switched":   {policy.Default, true, false},
		"began in the mode": {policy.Bypass, false, false},
	} {
		no := Forbidden(root, cfg, test.started, test.mayBypass)
		if _, is := no[policy.Bypass]; is != test.bypass {
			t.Errorf("%s: %v", name, no)
		}
		if _, is := no[policy.Auto]; !is {
			t.Errorf("%s: auto is allowed", name)
		}
	}
}
