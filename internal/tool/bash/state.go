package bash

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxArg is the longest command passed as an argument, in bytes; the kernel's
// limit for one argument is 131,072 (execve(2), MAX_ARG_STRLEN), and quoting
// and our own lines need room. A longer one goes through a file.
const maxArg = 60_000

// maxState bounds the file a command leaves its environment in, in bytes.
const maxState = 1 << 20

// files are what one command needs in the private folder; "" is none.
type files struct {
	script string   // the command, when it is too long for an argument
	state  string   // what the shell leaves behind
	base   []string // the environment the command's own changes are told from
}

func (fs files) remove() {
	for _, f := range []string{fs.script, fs.state} {
		if f != "" {
			_ = os.Remove(f) // often it was never made
		}
	}
}

// wrapper is the script that runs command and afterwards writes the directory
// and the exported variables to fs.state. The command is a
// quoted word for eval: nothing in it, neither an open quote nor a here-document
// without an end, can reach our lines. It writes on every way out that leaves
// the shell alive: the end, exit, set -e, a syntax error; not after exec or a
// kill. set -x and set -v are off before they can show our lines, except that
// set -v with exit shows one.
func wrapper(command string, fs files, isBash bool) string {
	run := "eval " + quote(command)
	if fs.script != "" {
		run = `eval "$(cat ` + quote(filepath.ToSlash(fs.script)) + `)"`
	}
	run = "read __adze_g || exit 125; unset __adze_g; exec </dev/null; " + run // see proc.Command.Gate; without the line adze is gone
	if fs.state == "" {
		return run
	}
	b, ifs := "builtin ", `$' \t\n'` // not a function of that name
	save := `for __adze_n in $(builtin compgen -e); do builtin printf '%s=%s\0' "$__adze_n" "${!__adze_n-}"; done`
	if !isBash {
		b, save, ifs = "", "env -0", "' '"
	}
	pwd := b + "pwd -P"
	if runtime.GOOS == "windows" { // C:/x, not /c/x
		pwd = b + "pwd -W"
	}
	dir := `"$(` + pwd + ` || ` + b + `printf %s "$PWD")"`
	// All on one line, so that line numbers in messages are the command's own.
	return `__adze_end() { [ -z "${__adze_done-}" ] || return 0; __adze_done=1; IFS=` + ifs + `; set +f; { ` +
		b + `printf '%s\0' ` + dir + `; ` + save + `; ` + b + `printf 'end\0'; } >|` + quote(filepath.ToSlash(fs.state)) + `; }; ` +
		`trap '{ __adze_s=$?; set +euxv; __adze_end; } 2>/dev/null' EXIT; ` +
		run + `; { __adze_s=$?; set +euxv; __adze_end; } 2>/dev/null; exit $__adze_s`
}

// quote writes s as one word for any POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// An end is what a command left behind.
type end struct {
	dir  string
	vars []string // NAME=value; nil when unknown
}

// readState reads what wrapper wrote. The file is data a command could have
// written itself: it is bounded, must be a regular file, and is never run.
func readState(path string) (end, bool) {
	if path == "" {
		return end{}, false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxState {
		return end{}, false
	}
	f, err := os.Open(path)
	if err != nil {
		return end{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return end{}, false
	}
	return parseState(string(b))
}

func parseState(s string) (end, bool) {
	fields := strings.Split(s, "\x00")
	if len(fields) < 3 || fields[len(fields)-1] != "" || fields[len(fields)-2] != "end" {
		return end{}, false
	}
	e := end{dir: fields[0]}
	for _, kv := range fields[1 : len(fields)-2] {
		name, _, ok := strings.Cut(kv, "=")
		if ok && lasting(name) {
			e.vars = append(e.vars, kv)
		}
	}
	return e, true
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
			_, known := find(base, name)
			return known
		})
		return delta{set: now}
	}
	for _, kv := range now {
		name, value, _ := strings.Cut(kv, "=")
		if v, ok := find(base, name); !ok || v != value {
			d.set = append(d.set, kv)
		}
	}
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if _, ok := find(now, name); !ok && lasting(name) {
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
		_, changed := find(d.set, name)
		return changed
	})
	return append(out, d.set...)
}

func find(environ []string, name string) (string, bool) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func lookup(environ []string, name string) string {
	v, _ := find(environ, name)
	return v
}
