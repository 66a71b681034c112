package bash

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// maxArg is the longest command passed as an argument, in bytes; the kernel's
// limit for one argument is 131,072 (execve(2), MAX_ARG_STRLEN), and quoting
// and our own lines need room. A longer one goes through a descriptor.
const maxArg = 60_000

// Bounds of the state that a command leaves, in bytes. Longer variables would
// keep every later command from starting (execve(2)).
const (
	maxState = 1 << 20 // all of it
	maxVar   = 100_000 // one variable
	maxVars  = 600_000 // all variables
	maxDir   = 4096    // the folder's name
)

// wrapper is the script that runs command and afterwards writes the directory
// and the exported variables to where h says. The command is a
// quoted word for eval: nothing in it, neither an open quote nor a here-document
// without an end, can reach our lines. It writes on every way out that leaves
// the shell alive: the end, exit, set -e, a syntax error; not after exec or a
// kill. set -x and set -v are off before they can show our lines, except that
// set -v with exit shows one.
func wrapper(command string, h *handover, isBash bool) string {
	run := "eval " + quote(command)
	switch {
	case h.script == "":
	case isBash: // read takes it as it is; there is no NUL in it
		run = `IFS= builtin read -r -d '' __adze_c ` + h.script + `; ` + closed(h.script) + `eval "$__adze_c"`
	default:
		run = `__adze_c=$(cat ` + h.script + `); ` + closed(h.script) + `eval "$__adze_c"`
	}
	run = "read __adze_g || exit 125; unset __adze_g; exec </dev/null; " + h.move + run // see proc.Command.Gate; without the line adze is gone
	look := ""
	if h.looks {
		run = "__adze_k=$1; shift; " + run
		look = `__adze_l=; builtin kill -0 -1 && eval "$__adze_k"; `
	}
	if h.state == "" {
		if h.looks {
			run = `trap ` + quote(`{ set +euxv; `+look+`} 2>/dev/null; [ -z "$__adze_l" ] || builtin printf '\n[`+wasLeft+`]\n' "$__adze_l"`) + ` EXIT; ` + run
		}
		return run
	}
	b, ifs := "builtin ", `$' \t\n'` // not a function of that name
	save := `for __adze_n in $(builtin compgen -e); do builtin printf '%s=%s\0' "$__adze_n" "${!__adze_n-}"; done; builtin printf '__adze_left=%s\0' "${__adze_l-}"`
	if !isBash {
		b, save, ifs = "", "env -0", "' '"
	}
	pwd := b + "pwd -P"
	if runtime.GOOS == "windows" { // C:/x, not /c/x
		pwd = b + "pwd -W"
	}
	dir := `"$(` + pwd + ` || ` + b + `printf %s "$PWD")"`
	// All on one line, so that line numbers in messages are the command's own.
	return `__adze_end() { [ -z "${__adze_done-}" ] || return 0; __adze_done=1; ` + look + `IFS=` + ifs + `; set +f; { ` +
		b + `printf '%s\0' ` + dir + `; ` + save + `; ` + b + `printf 'end\0'; } ` + h.state + `; }; ` +
		`trap '{ __adze_s=$?; set +euxv; __adze_end; } 2>/dev/null' EXIT; ` +
		run + `; { __adze_s=$?; set +euxv; __adze_end; } 2>/dev/null; exit $__adze_s`
}

// wasLeft says what ended with its command, in a note.
const wasLeft = "what it left running was ended with it: %s. Use run_in_background for what should stay"

// forked is in the command line of the shell, and so of what it forked that runs no
// other program.
const forked = "__adze_"

// lookAround puts into a variable what still runs of a command whose processes nobody
// outside sees end: all that are in its /proc; in a namespace that others share, those with
// the user namespace of the shell. What ends by itself in a moment, as a process
// substitution does, was not left: there is time for that, by waiting for a process that
// says nothing. One without a command line has ended, or begins another program just now.
// Most commands do without: then no process is left that a signal could reach. So it is
// the shell's argument and not in its script, which is read each time.
const lookAround = `set +f; IFS=; for __adze_i in 1 2 3 4 5 6; do __adze_l= __adze_m=; builtin kill -0 -1 || break; ` +
	`for __adze_p in /proc/[0-9]*; do case ${__adze_p#/proc/} in 1|$$|$PPID|${__adze_h-}) continue;; esac; ` +
	`[ $PPID = 1 ] || [ $__adze_p/ns/user -ef /proc/$$/ns/user ] || continue; ` +
	`__adze_w=; while [ ${#__adze_w} -lt 100 ] && builtin read -r -d '' __adze_a; do __adze_w+="${__adze_a:0:100} "; done <$__adze_p/cmdline; ` +
	`case $__adze_w in '') __adze_m=1; continue;; *` + forked + `*) __adze_w='a subshell ';; esac; ` +
	`__adze_l+="${__adze_l:+; }${__adze_w% }"; done; ` +
	`[ -n "$__adze_l$__adze_m" ] || break; [ -n "${__adze_h-}" ] || { exec 251< <(builtin kill -STOP $BASHPID); __adze_h=$!; }; ` +
	`builtin read -t 0.02 -u 251 __adze_a; done`

// closed is what closes the descriptor that a redirection reads, if it does.
func closed(from string) string {
	if fd, ok := strings.CutPrefix(from, "<&"); ok {
		return "exec " + fd + "<&-; "
	}
	return ""
}

// quote writes s as one word for any POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// An end is what a command left behind.
type end struct {
	dir  string
	vars []string // NAME=value; nil when unknown
	left string   // what still ran, where that ends with the command
}

// errState is a state that no shell of ours left.
var errState = errors.New("what the shell left behind is not what it writes")

// parseState reads what wrapper has the shell write: the folder, NAME=value for
// each exported variable, and "end", each ended by NUL. Anything the command
// started may have written it instead, so it counts as a whole or not at all.
// An empty one is that of a shell which could not write any more.
func parseState(s string) (end, error) {
	if s == "" {
		return end{}, nil
	}
	fields := strings.Split(s, "\x00")
	n := len(fields) - 2
	if len(s) > maxState || n < 1 || fields[n+1] != "" || fields[n] != "end" {
		return end{}, errState
	}
	e := end{dir: fields[0], vars: []string{}}
	if !plainDir(e.dir) {
		return end{}, fmt.Errorf("the folder %s has a name that is not kept", clip.Line(clip.VisibleText(e.dir), 100))
	}
	seen, size := map[string]bool{}, 0
	for _, kv := range fields[1:n] {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || seen[name] {
			return end{}, errState
		}
		seen[name] = true
		if name == "__adze_left" {
			e.left = value
		}
		if !lasting(name) {
			continue
		}
		if size += len(kv); len(kv) > maxVar || size > maxVars {
			return end{}, fmt.Errorf("the variable %s is too long for the commands that follow", clip.Line(name, 100))
		}
		e.vars = append(e.vars, kv)
	}
	return e, nil
}

// plainDir reports whether a folder's name is one to go on with: absolute, and
// nothing in it could be taken for more than a name where it is shown.
func plainDir(dir string) bool {
	return filepath.IsAbs(dir) && len(dir) <= maxDir && utf8.ValidString(dir) && clip.VisibleText(dir) == dir && !strings.ContainsAny(dir, "\n\t")
}

// lasting reports whether a variable of this name is carried to the next
// command: a valid name, not one the shell keeps for itself, and not one that
// makes every later shell run a file.
func lasting(name string) bool {
	switch name {
	case "", "_", "PWD", "OLDPWD", "SHLVL", "IFS", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND":
		return false
	}
	if strings.HasPrefix(name, "__adze_") {
		return false
	}
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// A delta is how commands changed the environment they began with.
type delta struct {
	set   []string // NAME=value, in order
	unset []string // names
}

// diff compares two environments. On Windows bash rewrites what it was given
// (PATH and other paths become /c/…), so there only new names count.
func diff(base, now []string) delta {
	var d delta
	if runtime.GOOS == "windows" {
		now = slices.DeleteFunc(slices.Clone(now), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			_, known := proc.LookupEnv(base, name)
			return known
		})
		return delta{set: now}
	}
	for _, kv := range now {
		name, value, _ := strings.Cut(kv, "=")
		if v, ok := proc.LookupEnv(base, name); !ok || v != value {
			d.set = append(d.set, kv)
		}
	}
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if _, ok := proc.LookupEnv(now, name); !ok && lasting(name) {
			d.unset = append(d.unset, name)
		}
	}
	return d
}

func (d delta) apply(base []string) []string {
	out := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(d.unset, name) {
			return true
		}
		_, changed := proc.LookupEnv(d.set, name)
		return changed
	})
	return append(out, d.set...)
}
