package policy

// stableForms are the beginnings of commands that build, test or record the
// project whatever follows. What a flag could make of them is
// Exec.Beyond, and no rule with a wildcard covers that.
var stableForms = map[string]bool{
	"go build": true, "go test": true, "go vet": true,
	"cargo build": true, "cargo test": true, "cargo check": true, "cargo clippy": true, "cargo fmt": true,
	"npm test": true, "npm run test": true, "npm run build": true, "npm run lint": true, "pnpm test": true, "pnpm run test": true, "pnpm run build": true, "pnpm run lint": true,
	"yarn test": true, "yarn build": true, "yarn lint": true,
	"pytest": true, "python -m pytest": true, "python3 -m pytest": true,
	"mvn test": true, "mvn compile": true, "gradle test": true, "gradle build": true, "dotnet build": true, "dotnet test": true, "ctest": true, "rspec": true,
	"git add": true, "git commit": true, "git switch": true, "git stash push": true,
}

// lesserForms are forms that do nothing which this one does not do as well: go
// build compiles whatever go vet compiles, cgo included, and cargo build runs
// the build scripts that cargo check runs.
var lesserForms = map[string][]string{"go build": {"go vet"}, "cargo build": {"cargo check"}}

// runners are programs that run what their arguments say: interpreters,
// wrappers, launchers. A wildcard behind one allows everything.
var runners = map[string]bool{
	"bunx": true, "emacs": true, "vim": true, "vi": true, "nvim": true, "ed": true, "ex": true, "gdb": true, "lldb": true,
	"env": true, "xargs": true, "parallel": true, "sudo": true, "doas": true, "su": true, "runuser": true, "pkexec": true, "ssh": true, "nohup": true, "nice": true,
	"timeout": true, "time": true, "stdbuf": true, "setsid": true, "chroot": true, "unshare": true, "nsenter": true, "watch": true, "strace": true, "ltrace": true,
	"script": true, "flock": true, "ionice": true, "taskset": true, "chrt": true, "exec": true, "eval": true, "command": true, "builtin": true, "source": true, ".": true,
	"npx": true, "pnpx": true, "uvx": true, "pipx": true, "busybox": true, "toybox": true, "screen": true, "tmux": true, "entr": true,
	"systemd-run": true, "at": true, "batch": true, "docker": true, "podman": true, "kubectl": true, "bwrap": true, "firejail": true, "direnv": true, "nix-shell": true, "rlwrap": true,
	"faketime": true, "fakeroot": true, "dbus-run-session": true, "xvfb-run": true, "make": true, "just": true,
}

// interpreters are the runners that run the script which their first operand names, or
// what comes through a pipe.
var interpreters = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "fish": true, "csh": true, "tcsh": true, "ash": true, "mksh": true,
	"python": true, "python2": true, "python3": true, "pypy": true, "pypy3": true, "node": true, "nodejs": true, "deno": true, "bun": true, "tsx": true, "ts-node": true,
	"perl": true, "ruby": true, "php": true, "lua": true, "luajit": true, "tclsh": true, "expect": true, "osascript": true, "pwsh": true,
	"powershell": true, "cmd": true, "rscript": true, "julia": true, "java": true, "groovy": true, "scala": true, "erl": true, "elixir": true, "irb": true, "ipython": true,
	"ghci": true, "guile": true, "racket": true, "sbcl": true, "m4": true, "awk": true, "gawk": true, "mawk": true, "nawk": true,
}

// runnerForms are subcommands of other programs that run their arguments.
var runnerForms = map[string]bool{
	"npm exec": true, "npm x": true, "pnpm exec": true, "pnpm dlx": true, "yarn exec": true, "yarn dlx": true,
	"uv run": true, "uv tool": true, "poetry run": true, "pipenv run": true, "conda run": true, "go run": true, "cargo run": true, "git submodule": true,
	"bundle exec": true, "mise exec": true, "rye run": true, "hatch run": true, "dotnet run": true, "mix run": true, "deno run": true,
	"gh api": true, "gh alias": true, "gh extension": true, "find": true, "fd": true,
}
