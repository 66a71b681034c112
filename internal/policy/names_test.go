package policy

import (
	"slices"
	"testing"
)

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
		"/w/rust-toolchain", "/w/sub/Rust-Toolchain.toml", "/w/my.code-workspace", "/w/a/B.CODE-WORKSPACE", "/w/lefthook.yml", "/w/lefthook-local.toml", "/w/c/commondir", "/w/.yarn/releases/yarn.cjs", "/w/.cargo/config.toml",
		"/home/u/bin/x", "/home/u/.local/bin/x", "/home/u/.config/autostart/x.desktop", "/home/u/.config/systemd/user/x.service", "/home/u/.cargo/env", "/home/u/.bashrc",
	} {
		if got, ci := protected(r, p); got == "" || ci {
			t.Errorf("%s is not protected", p)
		}
	}
	for _, p := range []string{
		"/w/package.json", "/w/Makefile", "/w/AGENTS.md", "/w/CLAUDE.md", "/w/bin/x", "/w/.local/bin/x", "/w/go/bin/x", "/w/Dockerfile", "/w/.gitignore", "/w/.gitattributes",
		"/w/.editorconfig", "/w/tsconfig.json", "/w/.eslintrc.js", "/w/.prettierrc", "/w/.golangci.yml", "/w/.tool-versions", "/w/.nvmrc", "/w/compose.yaml", "/w/code-workspace/x", "/w/.yarn/cache/x", "/home/u/work/x", "/w/workflows/x.yml", "/w/.gitlab/actions/x",
	} {
		if got, _ := protected(r, p); got != "" {
			t.Errorf("%s: %s", p, got)
		}
	}
}

// TestPlaces: what the system and the programs that people use run is protected
// where it lies, and what is beside it or of that name elsewhere is not.
func TestPlaces(t *testing.T) {
	r := Rules{Dir: "/w", Home: "/home/u"}
	for _, p := range []string{
		"/etc/adze/managed.json", "/etc/claude-code/managed-settings.json", "/etc/gitconfig", "/etc/profile", "/etc/profile.d/x.sh", "/etc/bash.bashrc", "/etc/zsh/zshrc", "/private/etc/zshrc",
		"/etc/environment", "/etc/ld.so.preload", "/etc/crontab", "/etc/cron.d/x", "/var/spool/cron/crontabs/root", "/etc/sudoers.d/x", "/etc/systemd/system/x.service", "/usr/local/bin/git", "/bin/sh", "/etc/passwd", "/proc/sys/kernel/core_pattern",
		"/home/u/.claude.json", "/home/u/.config/go/env", "/home/u/.config/Code/User/settings.json", "/home/u/.config/emacs/init.el", "/home/u/.doom.d/x", "/home/u/.hgrc", "/home/u/.config/jj/config.toml", "/home/u/.bazelrc", "/home/u/.screenrc",
		"/home/u/.terraformrc", "/home/u/.lesskey", "/home/u/.mailcap", "/home/u/.forward", "/home/u/.julia/config/startup.jl", "/home/u/.wezterm.lua", "/home/u/.hammerspoon/init.lua", "/home/u/.config/starship.toml", "/home/u/.pythonrc", "/home/u/.Config/GO/env",
	} {
		if got, ci := protected(r, p); got == "" || ci {
			t.Errorf("%s is not protected", p)
		}
	}
	for _, p := range []string{"/etc/profile", "/usr/bin"} {
		if !slices.Contains(SystemPlaces(), p) {
			t.Errorf("%s is not among the system's places", p)
		}
	}
	for _, p := range []string{"/w/.bazelrc", "/w/etc/profile", "/etc/hosts", "/etc/hostname", "/etc/profiles", "/binary", "/usr/share/x", "/opt/x/bin/y", "/home/u/.config/Codex/x", "/srv/bin/x", "/tmp/etc/crontab", "/w/.screenrc", "/home/u/work/.hgrc2"} {
		if got, _ := protected(r, p); got != "" {
			t.Errorf("%s: %s", p, got)
		}
	}
}

// What runs at a start is known at home by what such files are called, whatever the
// program is; not in a project there.
func TestStartsAtHome(t *testing.T) {
	for path, want := range map[string]bool{
		".foorc": true, ".FooRC": true, ".foo_profile": true, ".fooprofile": true, ".foo_login": true, ".foo_logout": true, ".fooenv": true, ".foo_aliases": true, ".bashrc.d/x": true, ".foo.d/x/y": true, ".fooinit": true,
		".foo/init.gradle": true, ".foo/init.d/x.gradle": true, ".foo/foorc": true, ".foo/startup.py": true, ".foo/profile.d": true, ".foo/.foorc": true,
		".config/foorc": true, ".config/foo/init.lua": true, ".config/foo/foorc": true, ".config/foo/conf.d/x": true, ".config/foo/autostart.sh": true,
		".gradle/init.gradle": true, ".gradle/init.gradle.kts": true, ".gradle/init.d/x.gradle": true, ".gradle/gradle.properties": true,
		"foorc": false, "src/.foorc": false, ".env": false, ".src/x": false, ".cache/foo/init.d/x": false, ".foo/data": false, ".foo/x/init.lua": false, ".config/foo/data.json": false, ".foo_history": false, ".gradle/caches/x": false,
		".worktrees/login/main.go": true,
	} {
		r := Rules{Home: "/home/u", Dir: "/w"}
		if why, _ := protected(r, "/home/u/"+path); (why != "") != want {
			t.Errorf("%s: %q", path, why)
		}
		if why, _ := protected(Rules{Home: "/home/u", Dir: "/home/u"}, "/home/u/"+path); (why != "") != want {
			t.Errorf("%s, with the session at home: %q", path, why)
		}
	}
	if why, _ := protected(Rules{Home: "/home/u", Dir: "/home/u/.worktrees/login"}, "/home/u/.worktrees/login/main.go"); why != "" {
		t.Errorf("in a project: %s", why)
	}
}

// TestNameProtects: in a project only what programs read there counts.
func TestNameProtects(t *testing.T) {
	for _, c := range []struct {
		parent, name    string
		project, athome bool
	}{
		{"w", ".vscode", true, true}, {"w", "x.code-workspace", true, true}, {".cargo", "config.toml", true, true}, {"w", ".gdbinit", true, true}, {"w", ".exrc", true, true},
		{"W", ".VSCode", true, true}, {".Cargo", "Config.toml", true, true}, {"w", ".bashrc", false, true}, {"w", ".vimrc", false, true}, {".config", "gh", false, true}, {"w", ".envrc", true, true}, {"w", "Makefile", false, false},
	} {
		if got := NameProtects(c.parent, c.name, false) != ""; got != c.project {
			t.Errorf("%s/%s: %v", c.parent, c.name, got)
		}
		if got := NameProtects(c.parent, c.name, true) != ""; got != c.athome {
			t.Errorf("%s/%s at home: %v", c.parent, c.name, got)
		}
	}
}
