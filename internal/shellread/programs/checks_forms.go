package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// ipForms are flags of ip before what it shows.
func ipForms() rows {
	out := rows{}
	for _, flag := range []string{"-br", "-4", "-6", "-o", "-s", "-j", "-c", "-brief", "-color"} {
		for _, object := range []string{"addr", "address", "a", "link", "route", "r"} {
			out[flag+" "+object] = ipShow
		}
	}
	return out
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
func noMaven(u *Invocation) string { return unsteered("how Maven starts", false, ".mvn")(u) }

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
	return operands(" may name a file", func(text string) bool {
		return strings.Contains(text, "/") || strings.HasSuffix(text, ".pc") || strings.HasSuffix(text, ".deb")
	})(u)
}

// noLocation is noResponse, and refuses what javap would fetch.
func noLocation(u *Invocation) string {
	return all(operands(" may name something elsewhere", holding(":")), noResponse)(u)
}

// namedStyle is noResponse, and refuses a style in another file, whose lines clang-format
// shows where they are none.
func namedStyle(u *Invocation) string {
	return all(values(" may be the style of another file", func(text string) bool { return strings.Contains(text, "file:") }, "--style", "--fallback-style"), noResponse)(u)
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
var systemdRow = &command{flags: "-alr -n=x --no-pager --user --system -t=x --type=x --state=x -p=x --property=x --failed --all --full --lines=x -o=x --output=x --plain --no-legend --value --quiet -q", args: "x*"}

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
	flags: "-1laGxFRTrdDhHimSUuabBgnoZM@ -L=x -s=x -t=x -I=x --oneline --long --all --grid --across --classify? --recurse --tree --level=x --reverse --sort=x --group-directories-first --group-directories-last --git-ignore --ignore-glob=x --only-dirs --only-files --icons? --no-icons --color=x --header --inode --links --modified --created --accessed --bytes --binary --group --numeric --no-permissions --no-filesize --no-user --no-time --time-style=x --no-quotes --width=x --git",
	args:  "d*", here: "d",
}

// yqEval is yq with the name of a command that evaluates.
var yqEval = &command{flags: "-rPCMeNn -o=x -p=x -I=x --output-format=x --input-format=x --indent=x --unwrapScalar --prettyPrint --colors --no-colors --no-doc --exit-status --null-input", args: "x p*", min: 1, check: checkYQ}
