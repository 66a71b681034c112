package policy

import "testing"

// Of .claude only what steers is protected: not the state that plugins keep there.
func TestDataBesideAgentSettings(t *testing.T) {
	r := Rules{Dir: "/w", Home: "/home/u"}
	for path, want := range map[string]bool{
		"/w/.claude/lp.local.md": false, "/w/sub/.claude/hookify.block-rm.local.md": false, "/w/.claude/session.log": false, "/w/.claude/PLAN.md": false, "/w/.claude/notes.txt": false, "/w/.claude/events.jsonl": false,
		"/w/.claude": true, "/w/.claude/settings.json": true, "/w/.claude/settings.local.json": true, "/w/.claude/Settings.md": true, "/w/.claude/CLAUDE.md": true, "/w/.claude/CLAUDE.local.md": true, "/w/.claude/loop.md": true, "/w/.claude/launch.json": true,
		"/w/.claude/state.json": true, "/w/.claude/statusline.sh": true, "/w/.claude/run": true, "/w/.claude/x.py": true, "/w/.claude/.mcp.json": true, "/w/.claude/skills/a/SKILL.md": true, "/w/.claude/commands/a.local.md": true, "/w/.claude/agents/a.md": true,
		"/w/.claude/hooks/a.log": true, "/w/.claude/rules/a.md": true, "/w/.claude/output-styles/a.md": true, "/w/.claude/plugins/a.md": true, "/w/.claude/unknown/a.local.md": true, "/home/u/.claude/a.local.md": true, "/w/.codex/a.local.md": true, "/w/.claude/.git/a.local.md": true,
	} {
		if why, _ := protected(r, path); (why != "") != want {
			t.Errorf("%s: %q", path, why)
		}
	}
	for what, w := range map[string]Write{"made": {Path: "/w/.claude", Makes: true}, "removed": {Path: "/w/.claude", Remove: true, Tree: true}, "made at home": {Path: "/home/u/.claude", Makes: true}} {
		v := Decide(r, AcceptEdits, Request{Tool: "Bash", Actions: []Action{w}})
		if (v.Check == CheckProtected) == (what == "made") {
			t.Errorf(".claude %s: %+v", what, v)
		}
	}
}
