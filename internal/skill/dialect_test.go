package skill

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What other agents keep in their own folders is read from there: the person's from
// below the home folder or where a variable says, a repository's once it is trusted.
func TestForeignPlaces(t *testing.T) {
	dir := write(t, map[string]string{
		"home/.codex/skills/a/SKILL.md": md("a"), "home/.codex/skills/group/b/SKILL.md": md("b"), "home/.codex/skills/.system/own/SKILL.md": md("own"),
		"home/.codex/prompts/fix.md": "---\ndescription: mend it\nargument-hint: FILE\n---\nmend $1", "home/.codex/prompts/a/deep.md": "x",
		"home/.config/opencode/commands/team/review.md": "---\ndescription: look\nagent: plan\nmodel: p/m#high\n---\nreview $1 then $2",
		"home/.config/opencode/skill/c/SKILL.md":        md("c"), "home/.config/crush/skills/d/SKILL.md": md("d"), "home/.config/agents/skills/e/SKILL.md": md("e"),
		"home/.crush/commands/note.md":    "note $TITLE",
		"moved/skills/f/SKILL.md":         md("f"),
		"repo/.codex/skills/g/h/SKILL.md": md("h"), "repo/.opencode/skills/i/SKILL.md": md("i"), "repo/.opencode/command/j.md": "x", "repo/.crush/commands/k.md": "x", "repo/.crush/skills/l/SKILL.md": md("l"),
		"repo/.codex/prompts/no.md": "x",
	})
	at := func(s string) string { return filepath.Join(dir, filepath.FromSlash(s)) }
	g := Ground{Config: at("home/.adze"), Home: at("home"), Root: at("repo"), Dir: at("repo"), Trusted: func(string, []byte) bool { return true }}
	lib, bad := load(g.Places(Skills, Commands))
	if got := strings.Join(names(lib), " "); got != "a b c d e h i j k l note prompts:fix team:review" {
		t.Error(got)
	}
	if len(bad) != 1 || !strings.Contains(bad[0].Text, "opencode's agents") {
		t.Error(bad)
	}
	if r, _ := lib.Find("team:review"); r.Model != "p/m" || r.Effort != "high" || r.Agent != "" || !r.NoModel {
		t.Errorf("%+v", r)
	}
	if f, _ := lib.Find("prompts:fix"); f.Description != "mend it" || f.Hint != "FILE" || !f.NoModel {
		t.Errorf("%+v", f)
	}
	g.Trusted = nil
	g.Homes = Homes(func(name string) string {
		return map[string]string{"CODEX_HOME": at("moved"), "XDG_CONFIG_HOME": "relative"}[name]
	})
	lib, _ = load(g.Places(Skills, Commands))
	if got := strings.Join(names(lib), " "); got != "c d e f note team:review" {
		t.Error(got)
	}
	g.Home, g.Config, g.Homes = "", "", nil
	if got := g.Places(Skills, Commands); len(got) != 0 {
		t.Error(got)
	}
}

// Arguments stand where the agent puts them that a command was written for.
func TestForeignArguments(t *testing.T) {
	for _, c := range []struct {
		of               Dialect
		text, args, want string
	}{
		{Prompts, "mend $1 and $2, $$1 of $1", "a.go b.go c", "mend a.go and b.go, $1 of a.go"},
		{Prompts, "mend $2.", "a", "mend ."},
		{Prompts, "all: $ARGUMENTS", `a "b c"`, `all: a "b c"`},
		{Prompts, "draft $TITLE in $BODY_FILE for $HOME", `TITLE="a b" BODY_FILE=x.md`, "draft a b in x.md for $HOME"},
		{Prompts, "issue $NUMBER by $WHO", "12 me and you", "issue 12 by me and you"},
		{Prompts, "issue $NUMBER", "", "issue $NUMBER"},
		{Prompts, "no place", "a b", "no place\n\nArguments: a b"},
		{Prompts, "run !`id` and\n```!\nid\n```", "", "run !`id` and\n```!\nid\n```"},
		{OpenCode, "$1 then $2", "a b c d", "a then b c d"},
		{OpenCode, "$1 then $2", "a", "a then "},
		{OpenCode, "all: $ARGUMENTS", "a b", "all: a b"},
		{OpenCode, "$1.", `"a b"`, "a b."},
		{"", "$0 then $1", "a b", "a then b"},
	} {
		got := ""
		for _, p := range (Skill{of: c.of}).Expand(c.text, Use{Args: c.args}) {
			w, ok := p.(Words)
			if !ok {
				t.Errorf("%s %q: %T", c.of, c.text, p)
			}
			got += string(w)
		}
		if got != c.want {
			t.Errorf("%s %q with %q: %q, want %q", c.of, c.text, c.args, got, c.want)
		}
	}
	if got := Runs((Skill{of: OpenCode}).Expand("see !`git log -$1`", Use{Args: "3"})); !slices.Equal(got, []string{"git log -3"}) {
		t.Error(got)
	}
}
