package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// formRows are forms that only show something, of programs that else do anything: they
// are found as rows of the table are, and say nothing of the program as such.
var formRows = sync.OnceValue(func() map[string]*command {
	rows := map[string]*command{
		"ssh -V": {}, "gdb --version": {}, "strace -V": {}, "strace --version": {},
		"docker-compose --version": {}, "docker-compose version": {flags: "--short -f=x --format=x"},
		"tmux -V": {}, "tmux ls": tmuxList, "tmux list-sessions": tmuxList, "tmux lsw": tmuxList, "tmux list-windows": tmuxList, "tmux lsp": tmuxList, "tmux list-panes": tmuxList, "tmux has-session": tmuxList,
		"screen -ls": {args: "x"}, "screen -v": {}, "screen --version": {},

		"gcc -v": {}, "g++ -v": {}, "cc -v": {}, "clang -v": {}, "clang++ -v": {}, "gcc -dumpversion": {}, "g++ -dumpversion": {}, "cc -dumpversion": {}, "gcc -dumpmachine": {}, "g++ -dumpmachine": {}, "cc -dumpmachine": {}, "clang -dumpversion": {}, "clang -dumpmachine": {},
		"gcc -print-search-dirs": {}, "gcc -print-sysroot": {}, "gcc -print-multiarch": {}, "clang -print-target-triple": {}, "clang -print-resource-dir": {},
		"tsc --version": {}, "tsc -v": {}, "clang-format --version": {}, "clang-tidy --version": {}, "protoc --version": {}, "fzf --version": {}, "bat --version": {}, "eza --version": {}, "ninja --version": {},
		"zig version": {}, "ghc --version": {}, "dart --version": {}, "adze --version": {}, "claude --version": {}, "claude -v": {}, "codex --version": {}, "gemini --version": {}, "code --version": {}, "redis-cli --version": {}, "psql -V": {}, "mysql -V": {}, "node -h": {},
		"mvn -v": {check: noMaven}, "mvn --version": {check: noMaven}, "mvn -version": {check: noMaven},

		"npm run": listOnly(noRC), "npm run-script": listOnly(noRC), "npm help": manual(noRC),
		"rustc --print": {args: "x", min: 1, check: rustPrints}, "rustc --explain": {args: "x", min: 1, check: noCargoConfig}, "rustc -vV": rustVersion, "rustc --version --verbose": rustVersion, "cargo -vV": rustVersion, "cargo --version --verbose": rustVersion, "cargo --list": rustVersion,
		"cargo help": manual(noCargoConfig), "cargo fmt --version": rustVersion, "cargo clippy --version": rustVersion,
		"rustup show": {args: "x", check: rustShown}, "rustup toolchain list": {flags: "-v --verbose", check: noCargoConfig}, "rustup target list": {flags: "--installed", check: noCargoConfig}, "rustup component list": {flags: "--installed", check: noCargoConfig}, "rustup which": {args: "x", min: 1, check: noCargoConfig},
		"gem list": {flags: "-ldai --local --details --all --installed --no-versions --versions -e --exact", args: "x*"}, "gem which": {args: "x*", min: 1},

		"man": manual(nil), "man -k": {args: "x*", min: 1}, "man -f": {args: "x*", min: 1}, "man -w": manual(nil), "apropos": {flags: "-e -a -r -w", args: "x*", min: 1}, "whatis": {flags: "-r -w", args: "x*", min: 1},
		"apt show": {flags: "-a --all-versions", args: "x*", min: 1, check: noPath}, "apt search": {flags: "-n --names-only -f --full", args: "x*", min: 1}, "apt policy": {args: "x*", check: noPath},

		"lsof":        {flags: "-nPtlbRUwa -i? -s? -p=x -u=x -c=x", args: "l*", check: lsofAsksNobody},
		"netstat":     {flags: "-tulnpaersWi46", args: "x", check: oneProtocol},
		"ldconfig -p": {}, "ldconfig --print-cache": {}, "lsmod": {}, "lspci": {flags: "-nvktD"}, "lsb_release": {flags: "-aidrcs --all --id --description --release --codename --short"},
		"nvidia-smi":          {flags: "-L --list-gpus"},
		"sysctl":              {flags: "-naNe --all --values --names --ignore", args: "x*", check: noAssignment},
		"systemctl is-active": systemdRow, "systemctl is-enabled": systemdRow, "systemctl is-failed": systemdRow, "systemctl list-units": systemdRow, "systemctl list-unit-files": systemdRow, "systemctl list-timers": systemdRow,
		"pkg-config": {flags: "--list-all --modversion --cflags --libs --exists --static --print-errors --variable=x --atleast-version=x --cflags-only-I --libs-only-l --libs-only-L --version", args: "x*", check: noPath},
		"jar tf":     {args: "p x*", min: 1, check: noResponse}, "jar -tf": {args: "p x*", min: 1, check: noResponse}, "jar tvf": {args: "p x*", min: 1, check: noResponse}, "jar -tvf": {args: "p x*", min: 1, check: noResponse},
		"javap":        {flags: "-c -p -v -s -l -public -protected -package -private -constants -verbose -version", dash: true, args: "p*", check: noLocation},
		"openssl x509": {flags: "-in=p -noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -sha256 -sha1 -pubkey -modulus -purpose -email -ext=x -checkend=x -inform=x -nameopt=x", dash: true, check: onlyShown},
		"shfmt":        {flags: "-l -d -f -i=x -ci -bn -sr -fn -kp -s -mn -p -ln=x --list --diff --find --indent=x --version", dash: true, args: "t*"},
		"shellcheck":   {flags: "-s=x -f=x -S=x -e=x -i=x -C? --shell=x --format=x --severity=x --exclude=x --include=x --norc --color? -V --version", args: "p*", min: 1, check: noSources},
		"clang-format": {flags: "-n --dry-run --Werror --style=x --fallback-style=x --assume-filename=x --lines=x --verbose --output-replacements-xml --dump-config", args: "p*", check: namedStyle},
		"bat":          batRow, "batcat": batRow, "eza": ezaRow, "exa": ezaRow, "scc": {flags: "--by-file --no-complexity -c --no-cocomo -w --wide -s=x --sort=x --exclude-dir=x -i=x --include-ext=x --no-gen --no-min", args: "d*", here: "d"},
		"yq eval": yqEval, "yq e": yqEval, "yq eval-all": yqEval, "yq ea": yqEval,
		"kill -0": {args: "x*", min: 1}, "xmllint": {flags: "-noout -nonet -xpath=x -format -recover -version", dash: true, args: "p*", check: noLocation},
		"python3 -m json.tool": jsonTool, "python -m json.tool": jsonTool,
		"docker compose ps": composed("-aq --all --quiet --format=x --services --filter=x --status=x --no-trunc --orphans", "x*"), "docker compose logs": composed("-tn=x --tail=x --since=x --until=x --timestamps --no-color --no-log-prefix", "x*"),
		"docker compose images": composed("-q --quiet --format=x", "x*"), "docker compose top": composed("", "x*"), "docker compose port": composed("--protocol=x --index=x", "x x"),
		"podman ps": dockerList, "podman images": dockerList, "podman version": {flags: "-f=x --format=x"}, "podman info": {flags: "-f=x --format=x"}, "podman logs": {flags: "-tn=x --tail=x --since=x --until=x --timestamps", args: "x", min: 1}, "podman inspect": {flags: "-s -f=x --format=x --size --type=x", args: "x*", min: 1}, "podman --version": {},
		"docker context show": {}, "docker image history": {flags: "-qH --no-trunc --quiet --human --format=x", args: "x", min: 1}, "docker container logs": {flags: "-tn=x --tail=x --since=x --until=x --timestamps --details", args: "x", min: 1}, "docker container top": {args: "x", min: 1}, "docker container port": {args: "x x", min: 1},
		"kubectl rollout status": {flags: kubeFlags + " --watch? -w --timeout=x --revision=x", args: "x*", min: 1},
		"helm search repo":       {flags: "-lr --versions --regexp --devel --version=x -o=x --output=x --max-col-width=x", args: "x*"}, "helm plugin list": {},
		"gh workflow view": {flags: ghFlags + "-y --yaml -r=x --ref=x", args: "x", min: 1, check: inHost}, "gh variable list": {flags: ghFlags + "-e=x --env=x -o=x --org=x", check: inHost}, "gh secret list": {flags: ghFlags + "-e=x --env=x -o=x --org=x -a=x --app=x", check: inHost}, "gh gist list": {flags: "-L=x --limit=x --public --secret"},
		"gh ruleset list": {flags: ghFlags + "-L=x --limit=x -p --parents -o=x --org=x", check: inHost},
	}
	for program, subs := range helped {
		for sub := range strings.FieldsSeq(subs) {
			rows[program+" "+sub+" --help"] = &command{}
		}
	}
	for name, row := range map[string]*command{"npm": {check: noRC}, "cargo": rustVersion} {
		for sub := range strings.FieldsSeq(helpedOf[name]) {
			rows[name+" "+sub+" --help"] = row
		}
	}
	for _, flag := range []string{"-br", "-4", "-6", "-o", "-s", "-j", "-c", "-brief", "-color"} {
		for object, row := range map[string]*command{"addr": ipShow, "address": ipShow, "a": ipShow, "link": ipShow, "route": ipShow, "r": ipShow} {
			rows["ip "+flag+" "+object] = row
		}
	}
	return rows
})

// helped are subcommands that say what they are with --help, and do nothing.
var helped = map[string]string{
	"docker":         "run exec build pull push ps logs stop start restart rm rmi create cp commit tag images inspect network volume compose image container save load stats system buildx",
	"docker compose": "up down build run exec pull push start stop restart logs ps config top images ls rm create",
	"kubectl":        "apply create delete get describe logs exec run rollout scale patch edit label annotate expose set cp drain top config diff port-forward explain",
	"gh":             "pr issue run release repo workflow api search label gist auth",
	"gh pr":          "create list view checkout diff merge review comment edit close ready checks status reopen", "gh issue": "create list view edit close comment reopen status", "gh run": "list view watch rerun download cancel", "gh release": "create list view upload download edit delete", "gh repo": "clone create fork view list edit", "gh workflow": "run list view",
	"helm": "install upgrade template list uninstall rollback repo pull lint dependency show get history status",
	"pip":  "install uninstall download freeze list show index wheel cache config check", "pip3": "install uninstall download freeze list show index wheel cache config check",
	"uv": "sync add remove run lock pip venv tool init export tree build",
}

// helpedOf are the same of programs that a folder's settings may change.
var helpedOf = map[string]string{
	"npm":   "install ci run test publish audit init update exec uninstall pack version view link outdated dedupe prune start",
	"cargo": "build test run check clippy fmt doc bench add remove update install publish tree new init fix clean metadata package",
}

// tmuxList are lists of what a server of tmux has. A format may run a command: #(…), or
// an option that holds one.
var tmuxList = &command{flags: "-as -t=x -F=x -f=x", check: func(u *Invocation) string {
	for _, f := range u.flags {
		if f.has && (f.val.Kind != Exact || f.name != "-t" && !tmuxFormat().MatchString(f.val.Text)) {
			return f.val.Source + " may make tmux run a command"
		}
	}
	return ""
}}

var tmuxFormat = pattern.Lazy(`^([^#]|#[A-Z]|#\{[a-z_]+\})*$`)

// manual is a program that shows a page of the manual: words that name files, which man
// would show as well, are none.
func manual(more func(u *Invocation) string) *command {
	return &command{args: "x x", min: 1, check: func(u *Invocation) string {
		for _, w := range u.args {
			if w.Kind != Exact || strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+:-") != "" {
				return w.Source + " may be something else than a page of the manual"
			}
		}
		if u.r.Unpinned {
			return "man starts other programs when variables say so"
		}
		if more != nil {
			return more(u)
		}
		return ""
	}}
}

// listOnly is a form that lists what there is, and with any word does something.
func listOnly(check func(u *Invocation) string) *command { return &command{check: check} }

// noMaven refuses where the folder has options for the virtual machine that Maven runs in.
func noMaven(u *Invocation) string {
	if u.r.World.Glob == nil || len(u.dirs) != 1 {
		return "whether the project changes how Maven starts is not known"
	}
	for d := u.dirs[0]; ; {
		if u.r.mayBe(strings.TrimSuffix(d, "/") + "/.mvn") {
			return d + "/.mvn may change how Maven starts"
		}
		i := strings.LastIndexByte(d, '/')
		if i <= 0 {
			return ""
		}
		d = d[:i]
	}
}

// rustPrints lets rustc print what it has built in. KIND=PATH would write a file.
func rustPrints(u *Invocation) string {
	if w := u.args[0]; w.Kind != Exact || !slices.Contains([]string{"sysroot", "target-list", "target-libdir", "host-tuple", "cfg", "target-cpus", "target-features", "deployment-target"}, w.Text) {
		return "rustc --print " + w.Source + " is not known to be read-only"
	}
	return noCargoConfig(u)
}

// rustShown is rustup show, with nothing or with what is to be shown.
func rustShown(u *Invocation) string {
	if len(u.args) > 0 && !u.args[0].Is("home") && !u.args[0].Is("active-toolchain") && !u.args[0].Is("profile") {
		return "rustup show " + u.args[0].Source + " is not known"
	}
	return noCargoConfig(u)
}

// noPath refuses names that may be those of files.
func noPath(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind != Exact || strings.ContainsAny(w.Text, "/") || strings.HasSuffix(w.Text, ".pc") || strings.HasSuffix(w.Text, ".deb") {
			return w.Source + " may name a file"
		}
	}
	return ""
}

// noLocation is noResponse, and refuses what javap would fetch.
func noLocation(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind != Exact || strings.Contains(w.Text, ":") {
			return w.Source + " may name something elsewhere"
		}
	}
	return noResponse(u)
}

// namedStyle is noResponse, and refuses a style in another file, whose lines clang-format
// shows where they are none.
func namedStyle(u *Invocation) string {
	for _, f := range u.flags {
		if strings.HasSuffix(f.name, "style") && (f.val.Kind != Exact || strings.Contains(f.val.Text, "file:")) {
			return f.val.Source + " may be the style of another file"
		}
	}
	return noResponse(u)
}

// noAssignment refuses NAME=VALUE, which sysctl sets also without -w.
func noAssignment(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind != Exact || strings.Contains(w.Text, "=") {
			return w.Source + " may change how the kernel works"
		}
	}
	return ""
}

// lsofAsksNobody refuses hosts behind -i, whose names lsof would have resolved, and words
// that are more flags.
func lsofAsksNobody(u *Invocation) string {
	for _, f := range u.flags {
		if f.name == "-i" && f.has && !lsofPort().MatchString(f.val.Text) {
			return "lsof -i" + f.val.Text + " may look up a name"
		}
	}
	for _, w := range u.args {
		if w.Kind != Exact || strings.HasPrefix(w.Text, "+") || u.has("-i") && !lsofPort().MatchString(w.Text) {
			return w.Source + " may make lsof look up a name, or do something else"
		}
	}
	return ""
}

var lsofPort = pattern.Lazy(`^[46]?(TCP|UDP|tcp|udp)?(:[0-9,-]+)?$`)

// oneProtocol lets netstat have one operand, a protocol: a number makes it go on for ever.
func oneProtocol(u *Invocation) string {
	if len(u.args) > 0 && !u.args[0].Is("tcp") && !u.args[0].Is("udp") {
		return "netstat " + u.args[0].Source + " is not known"
	}
	return ""
}

// systemdRow asks systemd how units are; status would show their logs, too.
var systemdRow = &command{flags: "-alnr -n=x --no-pager --user --system -t=x --type=x --state=x -p=x --property=x --failed --all --full --lines=x -o=x --output=x --plain --no-legend --value --quiet -q", args: "x*"}

// onlyShown is openssl x509 without what it would print of its own accord.
func onlyShown(u *Invocation) string {
	for _, f := range u.flags {
		if f.name == "-in" && (f.val.Kind != Exact || strings.Contains(f.val.Text, ":")) {
			return f.val.Source + " may be another store than a file"
		}
	}
	return ""
}

// batRow copies its files, coloured or not, where there is no terminal.
var batRow = &command{flags: "-ppnASA -r=x -l=x -H=x -m=x --plain --number --show-all --style=x --color=x --decorations=x --paging=x --line-range=x --language=x --highlight-line=x --tabs=x --wrap=x --theme=x --no-pager -P", args: "p*", check: func(u *Invocation) string {
	if u.r.Unpinned {
		return u.name + " may start other programs, unless variables are taken away that say so"
	}
	for _, f := range u.flags {
		if f.name == "--paging" && !f.val.Is("never") && !f.val.Is("auto") {
			return u.name + " may start a pager"
		}
	}
	if len(u.args) > 0 && (u.args[0].Is("cache") || u.args[0].Kind != Exact) {
		return u.args[0].Source + " may be a command of " + u.name
	}
	return ""
}}

// ezaRow lists as ls does.
var ezaRow = &command{
	flags: "-1laGxFRTrdDhHimSUutabBgnoZM@ -L=x -s=x -t=x -I=x --oneline --long --all --grid --across --classify? --recurse --tree --level=x --reverse --sort=x --group-directories-first --group-directories-last --git-ignore --ignore-glob=x --only-dirs --only-files --icons? --no-icons --color? --color=x --header --inode --links --modified --created --accessed --bytes --binary --group --numeric --no-permissions --no-filesize --no-user --no-time --time-style=x --no-quotes --width=x --git",
	args:  "d*", here: "d",
}

// yqEval is yq with the name of a command that evaluates.
var yqEval = &command{flags: "-rPCMeNn -o=x -p=x -I=x --output-format=x --input-format=x --indent=x --unwrapScalar --prettyPrint --colors --no-colors --no-doc --exit-status --null-input", args: "x p*", min: 1, check: checkYQ}
