package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// RunsWords reports whether a program runs some of the words behind it as a command.
func RunsWords(name string, ws []Word) bool {
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so" {
		return true
	}
	verbs, ok := runners()[name]
	return ok && (verbs == nil || slices.ContainsFunc(ws, func(w Word) bool { return slices.Contains(verbs, w.Text) }))
}

// Through is how many words stand before the command that a runner starts, when that
// is all there is to say against a rule with a wildcard; else 0.
func (t *Table) Through(name string, ws []Word) int {
	if name == "git" && len(ws) > 1 && ws[1].Kind == Exact && !strings.HasPrefix(ws[1].Text, "-") && !knownToGit(ws[1].Text) {
		return 1
	}
	if len(ws) < 3 || !slices.Contains(namingRunners, name+" "+ws[1].Text) || ws[2].Kind != Exact || strings.HasPrefix(ws[2].Text, "-") {
		return 0
	}
	inner := Base(ws[2].Text)
	if policy.Runner(inner) || runners()[inner] != nil || t.Beyond(inner, ws[2:]) != "" {
		return 0
	}
	return 2
}

// namingRunners are forms behind which the command stands that they run.
var namingRunners = []string{"bundle exec", "npm exec", "npm x", "pnpm exec", "yarn exec", "poetry run", "pipenv run"}

// runners are programs that run the words behind one of these as a command; one
// without any does so always.
var runners = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"uv": {"run", "x", "tool"}, "poetry": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "pipenv": {"run"}, "conda": {"run"}, "mamba": {"run"}, "micromamba": {"run"}, "pixi": {"run"},
		"bundle": {"exec"}, "bundler": {"exec"}, "rbenv": {"exec"}, "pyenv": {"exec"}, "nodenv": {"exec"}, "asdf": {"exec"}, "mise": {"exec", "x"}, "rtx": {"exec", "x"}, "volta": {"run"}, "fnm": {"exec"}, "nvm": {"exec", "run"},
		"npm": {"exec", "x"}, "pnpm": {"exec", "dlx", "x"}, "yarn": {"exec", "dlx"}, "bun": {"x"}, "deno": {"task"}, "lerna": {"exec"}, "turbo": {"exec"}, "opam": {"exec"}, "stack": {"exec"}, "cabal": {"exec"}, "rustup": {"run"},
		"nix": {"run", "shell", "develop"}, "devbox": {"run"}, "guix": {"shell"}, "docker": {"run", "exec", "compose"}, "podman": {"run", "exec", "compose"}, "nerdctl": {"run", "exec"}, "kubectl": {"run", "exec"}, "oc": {"exec"}, "vagrant": {"ssh"},
		"capsh": nil, "tini": nil, "dumb-init": nil, "catatonit": nil, "gosu": nil, "su-exec": nil, "setuidgid": nil, "s6-setuidgid": nil, "chpst": nil, "softlimit": nil, "i386": nil, "x86_64": nil, "uname26": nil, "linux26": nil,
		"watchexec": nil, "nodemon": nil, "logsave": nil, "cmake": {"env", "time"}, "dotenv": nil, "doppler": {"run"}, "op": {"run"}, "aws-vault": {"exec"}, "chamber": {"exec"}, "infisical": {"run"}, "heroku": {"run"}, "envdir": nil, "dotenvx": {"run"}, "foreman": {"run"}, "tox": {"exec"}, "coverage": {"run"},
		"ip": {"exec"}, "meson": {"devenv"}, "perf": {"record", "stat", "trace"}, "hub": {"exec"}, "mpirun": nil, "mpiexec": nil, "srun": nil, "torchrun": nil, "accelerate": {"launch"}, "pixie": nil, "devenv": {"shell"}, "flox": {"activate"}, "pkgx": nil, "wine": nil, "wsl.exe": nil, "teleport": nil, "tsh": {"ssh"}, "gcloud": {"ssh"}, "az": {"ssh"},
	}
})

// elsewhere are runners whose command runs in a container or on another machine.
var elsewhere = map[string]bool{"docker": true, "podman": true, "nerdctl": true, "kubectl": true, "oc": true, "vagrant": true, "heroku": true, "tsh": true, "gcloud": true, "az": true}

// RunsHere reports a runner whose command runs on this machine.
func RunsHere(name string) bool { return !elsewhere[name] }

// MayRun reports a program of which nobody knows whether it runs some of its words:
// one that is in no table, and one that runs the code in a file.
func (t *Table) MayRun(name string, ws []Word) bool {
	if !StandardPath(ws[0].Text) || policy.Runner(name) && !editors[name] && !targets[name] {
		return true
	}
	return !t.Has(name) && t.changes[name] == nil && !alone()[name] && !onlyRead[name] && !editors[name] && !writers[name] && !walkers[name] && !targets[name] && !takesNames()[name] && len(wholes()[name]) == 0
}

// targets are programs whose operands are names of their own.
var targets = map[string]bool{"make": true, "gmake": true, "just": true, "docker": true, "podman": true, "kubectl": true, "deno": true, "bun": true, "direnv": true}

// takesNames are programs that take the names of programs, packages or processes.
var takesNames = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`apt apt-get apt-cache aptitude dnf yum apk pacman yay zypper brew port snap flatpak choco winget scoop rpm dpkg dpkg-query pkg emerge xbps-install nix-env mise asdf
	pip-compile pipdeptree gem rustup whereis whatis apropos tldr cheat killall pkill pgrep pidof kill sleep update-alternatives service rc-service launchctl journalctl
	mkfifo mknod export open say notify-send logger figlet cowsay commitlint commitizen cz gitlint svn hg jj bzr fossil cvs darcs pass vault op aws gcloud az heroku fly flyctl doctl`) {
		out[w] = true
	}
	return out
})

// RunFlag reports a flag by whose name its value is a command.
func RunFlag(flag string) bool {
	return flag == "-c" || flag == "-e" || flag == "-x" || slices.ContainsFunc([]string{"run", "exec", "command", "cmd", "shell", "hook", "script"}, func(n string) bool {
		return strings.HasPrefix(flag, "--") && strings.Contains(flag, n)
	})
}

// RunsCode reports a program that may run commands which its words name in a
// language of its own.
func RunsCode(name string) bool { return codes[name] }

var codes = map[string]bool{
	"gdb": true, "lldb": true, "sqlite3": true, "psql": true, "mysql": true, "vim": true, "vi": true, "nvim": true, "view": true, "ex": true, "ed": true, "emacs": true, "less": true, "more": true, "man": true,
	"lftp": true, "smbclient": true, "dc": true, "gnuplot": true, "expect": true, "tclsh": true, "wish": true, "osascript": true, "pwsh": true, "powershell": true, "coreutils": true, "mispipe": true, "pee": true, "octave": true, "m4": true,
	"socat": true, "nc": true, "ncat": true, "netcat": true, "ssh": true, "scp": true, "sftp": true, "rsync": true, "tar": true, "nodemon": true, "watchexec": true, "watchman": true, "chokidar": true, "onchange": true, "concurrently": true,
}

// RunsText reports a launcher that hands a word to a shell.
func RunsText(name string) bool { return textual[name] }

var textual = map[string]bool{"watch": true, "ssh": true, "su": true, "script": true, "parallel": true, "flock": true, "env": true, "trap": true, "alias": true, "runuser": true, "unbuffer": true, "systemd-run": true, "tmux": true, "screen": true, "hyperfine": true, "nix-shell": true, "sg": true, "at": true, "batch": true, "entr": true, "npx": true, "bunx": true, "gdb": true, "mispipe": true, "pee": true, "sem": true, "machinectl": true, "retry": true, "doas": true, "sudo": true,
	"nu": true, "elvish": true, "xonsh": true, "osh": true, "ysh": true, "yash": true, "oil": true, "ion": true, "rc": true, "es": true, "murex": true, "watchman-make": true, "cross-env-shell": true, "execlineb": true, "wsl": true, "git-shell": true}
