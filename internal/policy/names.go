package policy

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// What a protected name means: why a person is asked before it is written.
const (
	agents    = "an agent's settings"
	editors   = "an editor's settings, which can run programs"
	starts    = "a program runs it when it is started in its folder"
	hooks     = "git hooks"
	packages  = "a package manager's settings"
	shells    = "a shell start file"
	private   = "settings that can run programs" // read from a home folder only
	toolchain = "it names the folder of the programs that cargo and rustc stand for"
	container = "a container's settings, which can run programs"
)

// protectedNames are path components, in lower case, whose files steer this
// program, other agents, editors or git: writing them needs a person in every
// mode. What a model edits daily and a program runs only when it is told to
// (package.json, a Makefile) is not among them, nor are instructions for agents
// that every agent is told to mistrust (AGENTS.md).
var protectedNames = map[string]string{
	".git": "git's own files can make git run programs", ".gitmodules": "git's list of submodules", ".lfsconfig": "where git sends large files",
	".hg": "mercurial's own files can make it run programs", ".jj": "jujutsu's own files can make it run programs", ".sl": "sapling's own files can make it run programs",
	".adze":   "adze's own settings",
	".claude": agents, ".claude-plugin": agents, ".codex": agents, ".gemini": agents, ".cursor": agents, ".windsurf": agents, ".opencode": agents,
	".continue": agents, ".kiro": agents, ".goose": agents, ".agents": agents, ".crush": agents, ".roo": agents, ".qwen": agents, ".amazonq": agents,
	".factory": agents, ".trae": agents, ".augment": agents, ".junie": agents, ".cline": agents, ".kilocode": agents, ".tabnine": agents,
	".copilot": agents, ".pi": agents, ".amp": agents, ".codebuddy": agents, ".iflow": agents, ".kilo": agents, ".grok": agents, ".vibe": agents,
	"opencode.json": agents, "opencode.jsonc": agents, "crush.json": agents, ".crush.json": agents, ".aider.conf.yml": agents, ".continuerc.json": agents,
	".clinerules": agents, ".cursorrules": agents, ".windsurfrules": agents, ".roorules": agents,
	".mcp.json": "the list of MCP servers, which are programs",
	".vscode":   editors, ".idea": editors, ".zed": editors, ".fleet": editors, ".helix": editors, ".vs": editors,
	".nvim.lua": editors, ".nvimrc": editors, ".exrc": editors, ".lvimrc": editors, ".dir-locals.el": editors, ".dir-locals-2.el": editors,
	".nvim": editors, ".lite_project.lua": editors, ".bsp": editors, "buildserver.json": editors, "hie.yaml": editors, ".luarc.json": editors, ".luarc.jsonc": editors,
	"rust-analyzer.toml": editors, ".rust-analyzer.toml": editors, ".neoconf.json": editors, ".nlsp-settings": editors, ".latexmkrc": starts, "latexmkrc": starts,
	".devcontainer": container, ".devcontainer.json": container,
	".gdbinit": starts, ".lldbinit": starts, ".pdbrc": starts, ".irbrc": starts, ".pryrc": starts, ".rprofile": starts, ".iex.exs": starts, ".ghci": starts, ".ocamlinit": starts,
	".renviron": starts, ".octaverc": starts, ".perldb": starts,
	".mvn":       "a build tool's settings, which can load programs",
	".mise.toml": "a shell runs it in its folder", "mise.toml": "a shell runs it in its folder", ".mise": "a shell runs it in its folder",
	".mise.local.toml": "a shell runs it in its folder", "mise.local.toml": "a shell runs it in its folder", ".envrc": shells, ".envrc.local": shells,
	"mise.dev.toml": "a shell runs it in its folder", ".mise.dev.toml": "a shell runs it in its folder",
	".husky": hooks, ".pre-commit-config.yaml": hooks, "lefthook.yml": hooks, "lefthook.yaml": hooks, ".lefthook.yml": hooks, ".lefthook.yaml": hooks,
	"lefthook-local.yml": hooks, "lefthook-local.yaml": hooks, "lefthook-local.toml": hooks, "lefthook-local.json": hooks, ".direnv": shells, ".lefthook": hooks, ".lefthook-local.yml": hooks, ".overcommit.yml": hooks,
	"lefthook.toml": hooks, "lefthook.json": hooks, ".lefthook.toml": hooks, ".lefthook.json": hooks, "prek.toml": hooks, ".pre-commit-config.yml": hooks, "captainhook.json": hooks,
	".npmrc": packages, ".yarnrc": packages, ".yarnrc.yml": packages, ".pnpmrc": packages, ".pypirc": packages, ".gemrc": packages,
	"rust-toolchain": toolchain, "rust-toolchain.toml": toolchain,
	".bunfig.toml": packages, "bunfig.toml": packages, ".condarc": packages, ".pnpmfile.cjs": "a package manager's hooks", ".pnpmfile.mjs": "a package manager's hooks",

	".gitconfig": "git's settings, which can run programs", ".ssh": "keys and settings of ssh", ".aws": "cloud credentials", ".gnupg": "keys", ".kube": "cluster credentials",
	".netrc": "credentials", ".pam_environment": "environment of every login",
	".bashrc": shells, ".bash_profile": shells, ".bash_login": shells, ".bash_logout": shells, ".bash_aliases": shells, ".profile": shells,
	".zshrc": shells, ".zshenv": shells, ".zprofile": shells, ".zlogin": shells, ".zlogout": shells, ".kshrc": shells,
	".cshrc": shells, ".tcshrc": shells, ".login": shells, ".inputrc": shells, ".xprofile": shells, ".xinitrc": shells, ".xsessionrc": shells, ".xsession": shells, ".direnvrc": shells,
	".ripgreprc": private, ".tmux.conf": private, ".vimrc": private, ".emacs": private, ".psqlrc": private, ".sqliterc": private, ".wgetrc": private, ".curlrc": private,
}

// protectedSuffixes are ends of names, in lower case.
var protectedSuffixes = map[string]string{".code-workspace": editors, ".sublime-project": editors}

// protectedPairs are a folder and a name directly in it.
var protectedPairs = map[string]string{
	".yarn/releases": "programs of a package manager", ".yarn/plugins": "programs of a package manager",
	".cargo/config": "a package manager's settings", ".cargo/config.toml": "a package manager's settings",
	".cargo/credentials": "credentials", ".cargo/credentials.toml": "credentials",
	".pip/pip.conf": "a package manager's settings", ".docker/config.json": "credentials", ".m2/settings.xml": "a package manager's settings",
	".gradle/init.gradle": "a build tool's start file", ".gradle/gradle.properties": "a build tool's settings",
	".config/mise": "a shell runs it in its folder", "mise/config.toml": "a shell runs it in its folder", ".vim/coc-settings.json": editors, ".github/hooks": agents, ".github/agents": agents,
	"etc/gitconfig":    "git's settings of the machine, which can run programs",
	".emacs.d/init.el": "settings that can run programs", ".vim/vimrc": "settings that can run programs",
}

// protectedConfig are folders of ~/.config that hold credentials or start programs.
var protectedConfig = map[string]bool{
	"gh": true, "hub": true, "git": true, "gcloud": true, "fish": true, "pip": true, "uv": true, "nvim": true,
	"autostart": true, "systemd": true, "configstore": true, "op": true, "rclone": true, "adze": true,
	"claude": true, "opencode": true, "goose": true, "crush": true, "environment.d": true, "direnv": true, "yarn": true,
	"containers": true, "helm": true, "doctl": true, "fly": true, "stripe": true, "heroku": true, "kitty": true, "zsh": true,
}

// nameWhy says why a name, in lower case, is protected wherever it is; "" when
// it is not.
func nameWhy(name string) string {
	if why, ok := protectedNames[name]; ok {
		return why
	}
	return protectedSuffixes[filepath.Ext(name)]
}

// loginPlaces are what a login, a shell or a desktop runs, below a home folder.
var loginPlaces = []string{
	"bin", ".local/bin", ".local/lib", ".local/share/applications", ".local/share/dbus-1", ".local/share/systemd", ".cargo/bin", ".cargo/env", "go/bin", ".bun/bin", ".deno/bin",
	".nvm", ".pyenv", ".rbenv", ".asdf", ".sdkman", ".nix-profile", ".oh-my-zsh", ".zsh", ".vim", ".emacs.d", ".xmonad",
	".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace", ".config/hypr", ".config/sway", ".config/i3", ".config/awesome", ".config/mise",
	"Library/LaunchAgents", "Library/Application Scripts",
}

// userPlaces are settings below a home folder by which the programs that people
// use all day run others. Most of these names mean nothing elsewhere, or are
// edited every day there.
var userPlaces = []string{
	".claude.json", ".config/go", "Library/Application Support/go", ".hgrc", ".config/hg", ".config/jj", ".bazelrc", ".terraformrc", ".screenrc", ".lesskey", ".lessfilter", ".config/lesskey", ".config/tmux",
	".config/Code", ".config/Code - OSS", ".config/VSCodium", ".config/Cursor", ".config/Windsurf", ".config/zed", ".config/helix", ".config/sublime-text", ".config/emacs", ".doom.d", ".config/doom", ".spacemacs", ".spacemacs.d", ".nanorc", ".config/micro",
	"Library/Application Support/Code", "Library/Application Support/Cursor", "Library/Application Support/VSCodium", "Library/Application Support/Windsurf", "Library/Preferences",
	".mailcap", ".forward", ".procmailrc", ".muttrc", ".mutt", ".config/mutt", ".config/neomutt", ".rvmrc", ".asdfrc", ".julia/config", ".pythonrc", ".pythonrc.py", ".ipython", ".jupyter", ".config/ipython", ".node_repl_history.js",
	".wezterm.lua", ".config/wezterm", ".config/alacritty", ".alacritty.toml", ".config/ghostty", ".config/foot", ".hammerspoon", ".config/karabiner", ".config/skhd", ".skhdrc", ".config/yabai", ".yabairc",
	".config/starship.toml", ".config/nushell", ".config/powershell", ".config/elvish", ".config/xonsh", ".xonshrc", ".bash_completion", ".local/share/bash-completion", ".config/bash", ".config/shell", ".xsessionrc", ".dmrc",
	".config/bspwm", ".config/sxhkd", ".config/openbox", ".config/qtile", ".config/river", ".config/niri", ".config/labwc", ".config/waybar", ".config/polybar", ".config/rofi", ".config/dunst", ".config/mako",
	".config/ranger", ".config/lf", ".config/yazi", ".config/mpv", ".config/lazygit", ".config/tig", ".tigrc", ".config/ripgrep", ".config/bat", ".config/fd", ".config/npm", ".config/pypoetry", ".config/nix", ".config/home-manager", ".config/pre-commit",
	".gdbearlyinit", ".config/gdb", ".radare2rc", ".sbclrc", ".guile", ".clojure", ".lein/profiles.clj", ".sbt", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/init.d", ".gradle/gradle.properties", ".m2/extensions.xml", ".bundle/config", ".cmake", ".conan", ".conan2",
}

// systemPlaces are what the system, or whoever logs in, runs or takes settings
// from that can run programs. Only root may write most of them.
var systemPlaces = []string{
	"/etc/adze", "/etc/claude-code", "/Library/Application Support/adze", "/Library/Application Support/ClaudeCode",
	"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/bash.bash_logout", "/etc/bash_completion.d", "/etc/inputrc", "/etc/zsh", "/etc/zshrc", "/etc/zshenv", "/etc/zprofile", "/etc/zlogin",
	"/etc/csh.cshrc", "/etc/csh.login", "/etc/fish", "/etc/environment", "/etc/environment.d", "/etc/skel", "/etc/shells", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.cache",
	"/etc/gitconfig", "/etc/gitattributes", "/etc/npmrc", "/etc/pip.conf", "/etc/mercurial", "/etc/vim", "/etc/vimrc", "/etc/emacs", "/etc/tmux.conf", "/etc/screenrc", "/etc/lesskey", "/etc/sysless", "/etc/mailcap", "/etc/bazel.bazelrc", "/etc/xdg",
	"/etc/crontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/anacrontab", "/var/spool/cron", "/var/spool/at", "/var/spool/anacron", "/var/at",
	"/etc/systemd", "/usr/lib/systemd", "/lib/systemd", "/run/systemd", "/usr/local/lib/systemd", "/etc/init.d", "/etc/init", "/etc/inittab", "/etc/rc.local", "/etc/rc.d", "/etc/runit", "/etc/sv", "/etc/s6", "/etc/openrc", "/etc/conf.d",
	"/etc/shadow", "/etc/gshadow", "/etc/subuid", "/etc/sudoers", "/etc/sudoers.d", "/etc/sudo.conf", "/etc/doas.conf", "/etc/pam.d", "/etc/pam.conf", "/etc/security", "/etc/login.defs", "/etc/nsswitch.conf", "/etc/polkit-1", "/usr/share/polkit-1", "/etc/dbus-1", "/usr/share/dbus-1",
	"/etc/ssh", "/etc/udev", "/lib/udev", "/usr/lib/udev", "/etc/modprobe.d", "/etc/modules", "/etc/modules-load.d", "/etc/sysctl.conf", "/etc/sysctl.d", "/etc/X11", "/etc/NetworkManager", "/etc/network", "/etc/dhcp", "/etc/ppp", "/etc/logrotate.conf", "/etc/logrotate.d", "/etc/update-motd.d", "/etc/acpi", "/etc/pm",
	"/etc/apt", "/etc/dpkg", "/etc/yum.conf", "/etc/yum.repos.d", "/etc/dnf", "/etc/pacman.conf", "/etc/pacman.d", "/etc/apk", "/etc/zypp", "/etc/alternatives", "/etc/ca-certificates", "/etc/docker", "/etc/containerd", "/etc/containers", "/etc/kubernetes", "/etc/nix", "/etc/binfmt.d",
	"/boot", "/proc/sys", "/proc/sysrq-trigger",
	"/Library/LaunchDaemons", "/Library/LaunchAgents", "/Library/StartupItems", "/System", "/etc/launchd.conf", "/etc/periodic", "/etc/paths.d", "/etc/manpaths.d", "/usr/lib/cron",
}

// programPlaces are what system places are, too, and so often given to programs
// that read them (CC=/usr/bin/gcc) that a word alone says nothing.
var programPlaces = []string{
	"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/local/bin", "/snap/bin", "/etc/passwd", "/etc/group", "/sys",
}

// LoginPlaces are the paths below a home folder from which a login, a shell, a
// desktop or what people use all day runs programs, besides those that are
// protected by their name.
func LoginPlaces(home string) []string {
	var out []string
	for _, p := range slices.Concat(loginPlaces, userPlaces) {
		out = append(out, filepath.Join(home, filepath.FromSlash(p)))
	}
	return out
}

// HomePlaces are LoginPlaces, and everything in a home folder that is known to
// steer programs by its name.
func HomePlaces(home string) []string {
	names := homeNames()
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, filepath.Join(home, name))
	}
	return out
}

// homeNames are HomePlaces below a home folder, sorted.
var homeNames = sync.OnceValue(func() []string {
	out := slices.Concat(loginPlaces, userPlaces)
	out = slices.AppendSeq(out, maps.Keys(protectedNames))
	out = slices.AppendSeq(out, maps.Keys(protectedPairs))
	for name := range protectedConfig {
		out = append(out, ".config/"+name)
	}
	for i, name := range out {
		out[i] = filepath.FromSlash(name)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// SystemPlaces are the paths from which the system, or whoever logs in, runs
// programs.
func SystemPlaces() []string { return slices.Concat(systemPlaces, programPlaces) }

// HoldsPrograms reports whether a folder is one of the system's for programs, or in one:
// what is in it is protected wherever a session works.
func HoldsPrograms(dir string) bool { return firstAbove(programPlaces, filepath.ToSlash(dir)) != "" }

// RunAtLogin says why writing file needs a person when it is in one of
// LoginPlaces or SystemPlaces; "" when it is not.
func RunAtLogin(home, file string) string {
	file = filepath.ToSlash(file)
	plain := strings.TrimPrefix(file, "/private") // where macOS has /etc and /var
	if p := cmp.Or(firstAbove(systemPlaces, plain), firstAbove(programPlaces, plain)); p != "" {
		return "the system, or whoever logs in, runs programs by what is in " + p
	}
	rel, ok := below(filepath.ToSlash(home), file)
	if home == "" || !ok {
		return ""
	}
	if strings.EqualFold(rel, ".config") {
		return "programs take their settings from what is in it"
	}
	if p := firstAbove(loginPlaces, rel); p != "" {
		return "a login, a shell or the desktop runs what is in ~/" + p
	}
	if p := firstAbove(userPlaces, rel); p != "" {
		return "programs that people use take settings from ~/" + p + ", which can run others"
	}
	return ""
}

// firstAbove is the first of the places that path is or lies in, "" for none.
// Names are compared without regard to case: some file systems do.
func firstAbove(places []string, path string) string {
	for _, p := range places {
		if n := len(p); len(path) >= n && strings.EqualFold(path[:n], p) && (len(path) == n || path[n] == '/') {
			return p
		}
	}
	return ""
}

// ciPaths are the files that tell build servers what to run.
var ciNames = map[string]bool{
	".gitlab-ci.yml": true, "azure-pipelines.yml": true, "jenkinsfile": true, ".travis.yml": true,
	"bitbucket-pipelines.yml": true, ".circleci": true, ".buildkite": true, ".drone.yml": true, "appveyor.yml": true, ".woodpecker.yml": true,
}

var gitHooks = map[string]bool{
	"pre-commit": true, "post-commit": true, "pre-push": true, "post-checkout": true, "post-merge": true,
	"prepare-commit-msg": true, "commit-msg": true, "pre-rebase": true, "post-rewrite": true, "pre-receive": true,
	"update": true, "post-receive": true, "post-update": true, "fsmonitor-watchman": true, "applypatch-msg": true,
	"pre-applypatch": true, "post-applypatch": true, "reference-transaction": true, "post-index-change": true, "pre-merge-commit": true,
}
