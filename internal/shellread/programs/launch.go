package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// Launches reports a program that is there to run the words behind it as a command.
func Launches(name string) bool {
	return launchers()[name] || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl")
}

var launchers = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`sudo doas su runuser pkexec ssh watch chroot unshare nsenter strace ltrace script flock taskset chrt busybox toybox screen tmux parallel systemd-run at batch bwrap firejail entr setarch linux32 linux64 setpriv prlimit numactl
	rlwrap fakeroot faketime xvfb-run dbus-run-session catchsegv proot unbuffer expect caffeinate gtimeout npx bunx uvx pipx docker-compose nix-shell direnv arch runcon cgexec tsp eatmydata torsocks proxychains torify valgrind gdb
	perf hyperfine sg chronic ifne nocache start-stop-daemon daemonize daemon choom uclampset newgrp dbus-launch ts zzuf with-lock-ex sem mispipe pee setlock cpulimit trickle lxc-attach machinectl runsv supervise multilog mosh rsh
	tsocks aa-exec sandbox-exec pty detach dtach abduco ssh-agent gpg-agent keychain envchain retry wait-for-it dockerize sshpass ccache sccache distcc icecc proxychains4 proxychains-ng graftcp systemd-inhibit systemd-cat lckdo
	lockrun cronic cross-env cross-env-shell env-cmd bear intercept-build compiledb scan-build gdbserver rr heaptrack uftrace nsjail minijail0 cset schedtool run0 please sudo-rs calife s6-envdir execlineb envuidgid pgrphack fghack
	argv0 with-contenv gtime multitime poop watchman-make reflex qemu-x86_64 qemu-aarch64 box64 steam-run apptainer singularity nu elvish xonsh osh ysh yash oil ion rc es murex wsl git-shell capsh tini dumb-init catatonit gosu
	su-exec setuidgid s6-setuidgid chpst softlimit i386 x86_64 uname26 linux26 watchexec nodemon logsave envdir mpirun mpiexec srun torchrun pixie pkgx wine wsl.exe ld.so`) {
		out[w] = true
	}
	return out
})

// Through is how many words stand before the command that a runner starts, when that
// is all there is to say against a rule with a wildcard; else 0.
func (t *Table) Through(name string, ws []Word) int {
	if name == "git" && len(ws) > 1 && ws[1].Kind == Exact && !strings.HasPrefix(ws[1].Text, "-") && !knownToGit(ws[1].Text) {
		return 1
	}
	if len(ws) < 3 {
		return 0
	}
	form := name + " " + ws[1].Text
	if !slices.Contains(namingRunners, form) && (name == "adze" || !slices.Contains(launchWords()[form], "*") || beyondFlags(name, ownFlags(name, ws[1:])) != "") {
		return 0
	}
	from := behindRunnerFlags(form, ws)
	if from >= len(ws) || ws[from].Kind != Exact || strings.HasPrefix(ws[from].Text, "-") {
		return 0
	}
	for i, w := range ws[:min(len(ws), from+4)] { // a further word may be the command: uv tool run find
		if i >= from && w.Kind == Exact && !strings.HasPrefix(w.Text, "-") && t.Beyond(Base(w.Text), ws[i:]) != "" {
			return 0
		}
	}
	return from
}

// runnerFlags are the flags of runners behind which the command stands that they run, and
// that say no more than where.
var runnerFlags = map[string]string{"conda run": "-n=x -p=x -v --name=x --prefix=x --cwd=x --no-capture-output --live-stream --verbose", "bundle exec": "--keep-file-descriptors", "pnpm exec": "-r --recursive --parallel", "pipenv run": "", "poetry run": ""}

// behindRunnerFlags is the place of the first word behind a runner and those flags.
func behindRunnerFlags(form string, ws []Word) int {
	row := &command{flags: runnerFlags[form]}
	i := 2
	for ; i < len(ws) && ws[i].Kind == Exact && strings.HasPrefix(ws[i].Text, "-"); i++ {
		name, _, glued := strings.Cut(ws[i].Text, "=")
		kind, ok := row.flag(name)
		if !ok {
			break
		}
		if kind.value != 0 && !glued {
			i++
		}
	}
	return i
}

// ownFlags are the words in which the flags of a program itself may stand: behind go tool
// NAME they are those of the tool.
func ownFlags(name string, args []Word) []Word {
	if name == "go" && len(args) > 1 && args[0].Is("tool") && args[1].Kind == Exact && !strings.HasPrefix(args[1].Text, "-") {
		return args[:2]
	}
	return args
}

// namingRunners are forms behind which the command stands that they run.
var namingRunners = []string{"bundle exec", "npm exec", "npm x", "pnpm exec", "yarn exec", "poetry run", "pipenv run"}

// elsewhere are runners whose command runs in a container or on another machine.
var elsewhere = map[string]bool{"ssh": true, "mosh": true, "rsh": true, "docker": true, "podman": true, "nerdctl": true, "kubectl": true, "oc": true, "vagrant": true, "heroku": true, "tsh": true, "gcloud": true, "az": true}

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

// RunsText reports a launcher that hands a word to a shell.
func RunsText(name string) bool { return textual[name] }

var textual = map[string]bool{"watch": true, "ssh": true, "su": true, "script": true, "parallel": true, "flock": true, "env": true, "trap": true, "alias": true, "runuser": true, "unbuffer": true, "systemd-run": true, "tmux": true, "screen": true, "hyperfine": true, "nix-shell": true, "sg": true, "at": true, "batch": true, "entr": true, "npx": true, "bunx": true, "gdb": true, "mispipe": true, "pee": true, "sem": true, "machinectl": true, "retry": true, "doas": true, "sudo": true,
	"nu": true, "elvish": true, "xonsh": true, "osh": true, "ysh": true, "yash": true, "oil": true, "ion": true, "rc": true, "es": true, "murex": true, "watchman-make": true, "cross-env-shell": true, "execlineb": true, "wsl": true, "git-shell": true}
