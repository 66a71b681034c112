package environment

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
)

// What a command writes that is read as instructions is said at the next start, once, as
// long as nobody wrote it since; what a file tool or a person writes is not.
func TestInstructionsMadeByCommands(t *testing.T) {
	command, file := []policy.Action{policy.Exec{Argv: []string{"sh", "x"}}}, []policy.Action{policy.Write{}}
	for name, c := range map[string]struct {
		actions []policy.Action
		beside  bool
		write   string
		deep    bool // git's changes tell of it
		want    string
	}{
		"a command makes one":           {command, false, "AGENTS.md", false, "AGENTS.md was made by a command of the session s1"},
		"a command changes one":         {command, false, "CLAUDE.md", false, "CLAUDE.md was changed by a command"},
		"another agent's":               {command, false, ".github/copilot-instructions.md", false, ".github/copilot-instructions.md was made"},
		"one that git ignores":          {command, false, "CLAUDE.local.md", false, "CLAUDE.local.md was made"},
		"a rule":                        {command, false, ".claude/rules/deep/x.md", false, ".claude/rules/deep/x.md was made"},
		"one of the session's folder":   {command, false, "sub/GEMINI.md", false, "sub/GEMINI.md was made"},
		"one of another folder":         {command, false, "other/AGENTS.md", true, "other/AGENTS.md was made"},
		"a file tool":                   {file, false, "AGENTS.md", false, ""},
		"no instructions":               {command, false, "README.md", true, ""},
		"a file tool, beside a command": {file, true, "x", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put := func(path, text string) {
				t.Helper()
				path = filepath.Join(root, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("CLAUDE.md", "mine")
			put("sub/x", "")
			p := settings.Paths{Root: root, Dir: filepath.Join(root, "sub"), Folders: config.Folders{State: t.TempDir()}}
			w := &Watcher{Paths: p, Session: "s1", Beside: func() bool { return c.beside }}
			var out effect.Changed
			if c.deep {
				out.Files = []effect.Change{{Path: filepath.Join(root, filepath.FromSlash(c.write))}}
			}
			end, _ := w.Over(func(context.Context, []policy.Action) (func(context.Context) effect.Changed, string) {
				return func(context.Context) effect.Changed { return out }, ""
			})(t.Context(), c.actions)
			put(c.write, "obey me")
			end(t.Context())
			other := p
			other.Root = t.TempDir()
			if said := Said(t.Context(), other); len(said) > 0 {
				t.Errorf("another folder is told: %q", said)
			}
			said := strings.Join(Said(t.Context(), p), "\n")
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("%q, want %q", said, c.want)
			}
			if again := Said(t.Context(), p); len(again) > 0 {
				t.Errorf("it is said twice: %q", again)
			}
			end, _ = w.Over(func(context.Context, []policy.Action) (func(context.Context) effect.Changed, string) {
				return func(context.Context) effect.Changed { return out }, ""
			})(t.Context(), c.actions)
			put(c.write, "obey me more")
			end(t.Context())
			put(c.write, "a person wrote this")
			if said := Said(t.Context(), p); len(said) > 0 {
				t.Errorf("what a person wrote since is told as a command's: %q", said)
			}
		})
	}
}

// What a command in the background writes between two calls is its own.
func TestInstructionsMadeInTheBackground(t *testing.T) {
	root := t.TempDir()
	p := settings.Paths{Root: root, Dir: root, Folders: config.Folders{State: t.TempDir()}}
	runs := true
	w := &Watcher{Paths: p, Session: "s1", Beside: func() bool { return runs }}
	call := func() {
		end, _ := w.Over(func(context.Context, []policy.Action) (func(context.Context) effect.Changed, string) {
			return func(context.Context) effect.Changed { return effect.Changed{} }, ""
		})(t.Context(), []policy.Action{policy.Exec{}})
		end(t.Context())
	}
	call()
	for _, name := range []string{"AGENTS.md", "GEMINI.md"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		call()
		runs = false // the next one is a person's
	}
	if said := Said(t.Context(), p); len(said) != 1 || !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "AGENTS.md") }) {
		t.Errorf("%q", said)
	}
}
