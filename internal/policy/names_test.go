package policy

import "testing"

// TestNames: each name is protected for a reason, wherever it is and however it
// is written; what a model edits every day is not.
func TestNames(t *testing.T) {
	r := Rules{Dir: "/w", Home: "/home/u"}
	for name, why := range protectedNames {
		if got, _ := protected(r, "/w/a/"+name); got == "" || why == "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, p := range []string{
		"/w/.hg/hgrc", "/w/.jj/repo/config.toml", "/w/.sl/config", "/w/sub/opencode.json", "/w/crush.json", "/w/.devcontainer.json", "/w/.devcontainer/devcontainer.json",
		"/w/.mise.toml", "/w/.helix/config.toml", "/w/.nvim.lua", "/w/.lvimrc", "/w/.roo/mcp.json", "/w/.qwen/settings.json", "/w/.Rprofile", "/w/.mvn/extensions.xml",
		"/w/my.code-workspace", "/w/a/B.CODE-WORKSPACE", "/w/lefthook.yml", "/w/.yarn/releases/yarn.cjs", "/w/.cargo/config.toml",
		"/home/u/bin/x", "/home/u/.local/bin/x", "/home/u/.config/autostart/x.desktop", "/home/u/.config/systemd/user/x.service", "/home/u/.cargo/env", "/home/u/.bashrc",
	} {
		if got, ci := protected(r, p); got == "" || ci {
			t.Errorf("%s is not protected", p)
		}
	}
	for _, p := range []string{
		"/w/package.json", "/w/Makefile", "/w/AGENTS.md", "/w/CLAUDE.md", "/w/bin/x", "/w/.local/bin/x", "/w/go/bin/x", "/w/Dockerfile", "/w/.gitignore", "/w/.gitattributes",
		"/w/.editorconfig", "/w/tsconfig.json", "/w/.eslintrc.js", "/w/.prettierrc", "/w/.golangci.yml", "/w/.tool-versions", "/w/.nvmrc", "/w/compose.yaml", "/w/code-workspace/x", "/w/.yarn/cache/x", "/home/u/work/x",
	} {
		if got, _ := protected(r, p); got != "" {
			t.Errorf("%s: %s", p, got)
		}
	}
}

// TestNameProtects: in a project only what programs read there counts.
func TestNameProtects(t *testing.T) {
	for _, c := range []struct {
		parent, name    string
		project, athome bool
	}{
		{"w", ".vscode", true, true}, {"w", "x.code-workspace", true, true}, {".cargo", "config.toml", true, true}, {"w", ".gdbinit", true, true}, {"w", ".exrc", true, true},
		{"w", ".bashrc", false, true}, {"w", ".vimrc", false, true}, {".config", "gh", false, true}, {"w", ".envrc", true, true}, {"w", "Makefile", false, false},
	} {
		if got := NameProtects(c.parent, c.name, false) != ""; got != c.project {
			t.Errorf("%s/%s: %v", c.parent, c.name, got)
		}
		if got := NameProtects(c.parent, c.name, true) != ""; got != c.athome {
			t.Errorf("%s/%s at home: %v", c.parent, c.name, got)
		}
	}
}
