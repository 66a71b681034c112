package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
)

// Hooks that a repository has for other agents count as they were trusted, until
// they are trusted otherwise or not at all any more.
func TestHookFilesAreHeld(t *testing.T) {
	const path = ".codex/hooks.json"
	text := func(command string) string {
		return `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + command + `"}]}]}}`
	}
	e := run(t, map[string]string{path: text("first")})
	l := open(t, e, Sources{})
	told := 0
	l.Watch(true, func(_, _ *config.Config) { told++ })
	l.Start()
	counts := func(what, want string) {
		t.Helper()
		l.Reread()
		got := ""
		for _, f := range l.HookFiles() {
			got += f.Path + " " + string(f.Text())
		}
		if want != "" {
			want = path + " " + text(want)
		}
		if got != want {
			t.Errorf("%s: %q", what, got)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(e.Dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant := func() {
		t.Helper()
		v, err := l.Paths.Trust().Check(l.Paths.TrustFolder())
		if err == nil {
			err = l.Paths.Trust().Grant(t.Context(), v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	counts("nobody trusts it", "")
	grant()
	counts("trusted", "first")
	write(text("second"))
	counts("changed", "first")
	if at := l.Untrusted(); len(at) != 1 || at[0].Path != path || !strings.HasSuffix(strings.Join(l.Ignored(), ""), path) {
		t.Errorf("%v, %q", at, l.Ignored())
	}
	write("{}")
	counts("without hooks", "first")
	write(text("second"))
	grant()
	counts("trusted again", "second")
	if _, err := l.Paths.Trust().Revoke(t.Context(), l.Paths.Root); err != nil {
		t.Fatal(err)
	}
	counts("not trusted any more", "")

	for name, s := range map[string]Sources{"bare": {Trusted: true, Bare: true}, "only the person's": {Trusted: true, Only: []string{"user"}}} {
		if list := open(t, e, s).HookFiles(); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
	l = open(t, e, Sources{Trusted: true})
	l.Watch(true, func(_, _ *config.Config) {})
	counts("--trust", "second")
	write(text("third"))
	counts("--trust is for the start", "second")
}

// Commands of hooks name the project's folder in the words of several agents.
func TestProgramsBelowTheProject(t *testing.T) {
	e := run(t, map[string]string{"tools/no.sh": "x"})
	p := open(t, e, Sources{}).Paths
	for _, line := range []string{"$CLAUDE_PROJECT_DIR/tools/no.sh", "sh ${ADZE_PROJECT_DIR}/tools/no.sh", `bash "$GEMINI_PROJECT_DIR"/tools/no.sh`, "${GEMINI_PROJECT_DIR}/tools/no.sh"} {
		runs := p.Runs([]string{p.Dir})
		runs.Line(line, "a hook")
		if want := (policy.Steer{Path: filepath.Join(p.Dir, "tools", "no.sh"), Why: "a hook runs it"}); len(runs.Found) != 1 || runs.Found[0] != want {
			t.Errorf("%s: %+v", line, runs.Found)
		}
	}
}

// A person's settings are protected in a folder to work in whatever the folder that has
// them is called.
func TestSettingsElsewhereAreProtected(t *testing.T) {
	e := run(t, map[string]string{"conf/adze/settings.json": `{}`, "~/.adze/settings.json": `{}`})
	e.Env = func(name string) string {
		return map[string]string{"XDG_CONFIG_HOME": filepath.Join(e.Dir, "conf")}[name]
	}
	p, cfg, err := Load(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(e.Dir, "conf", "adze", "settings.json")
	if list := Programs(cfg, p, []string{e.Dir}); !slices.ContainsFunc(list, func(s policy.Steer) bool { return s.Path == want }) {
		t.Errorf("%s is not among %v", want, list)
	}
}
