package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

const hashFlags = "-btz --binary --text --tag --zero"

// archive asks for one zip archive that is there: another name is tried with a
// suffix, and taken for a pattern.
func archive(u *Invocation) string {
	w := u.args[0]
	if w.Kind != Exact || strings.ContainsAny(w.Text, "*?[") || !u.r.there(w, u.dirs) && !strings.HasSuffix(w.Text, ".zip") {
		return w.Source + " may be another archive"
	}
	return ""
}

// packed asks for archives that are there: for another name these programs look
// for the name with a suffix.
func packed(u *Invocation) string {
	for _, w := range u.args {
		suffix := slices.Contains([]string{".gz", ".bz2", ".xz", ".zst", ".lzma", ".Z"}, path.Ext(w.Text))
		if w.Kind == Exact && w.Text != "-" && !suffix && !u.r.there(w, u.dirs) {
			return "there is no " + w.Source + ", and " + u.name + " would look for another name"
		}
	}
	return ""
}

// toStdout lets a packer list, test and print; its last mode counts, so that
// unpacking must not stand beside the others.
func toStdout(u *Invocation) string {
	prints := u.has("-c", "--stdout", "--to-stdout")
	looks := u.has("-l", "--list", "-t", "--test") && !u.has("-d", "--decompress", "--uncompress")
	if len(u.args) > 0 && !prints && !looks {
		return u.name + " replaces its files"
	}
	return packed(u)
}

// noResponse refuses @file, from which the binary utilities take more
// arguments, plugins among them.
func noResponse(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind == Exact && strings.HasPrefix(w.Text, "@") || w.Kind != Exact && strings.HasPrefix(w.Head, "@") {
			return w.Source + " names a file with more arguments"
		}
	}
	return values(" names a file with more arguments", func(text string) bool { return strings.HasPrefix(text, "@") })(u)
}

// checkTar lets tar only list.
func checkTar(u *Invocation) string {
	if !u.has("-t", "--list") {
		return "tar writes what it packs or unpacks"
	}
	if !u.has("-f", "--file") {
		return ""
	}
	for _, f := range u.flags {
		if f.name == "-f" || f.name == "--file" {
			if f.val.Kind != Exact || strings.Contains(f.val.Text, ":") {
				return "tar may fetch an archive whose name holds a colon"
			}
		}
	}
	return ""
}

// checkPs refuses the forms that print environments.
func checkPs(u *Invocation) string {
	const why = "ps e prints environments, which may hold secrets"
	// Where a value is refused, ps reads the whole line again in BSD's way: then
	// every e in it may be that one.
	e := u.has("-e")
	// Flags of threads and of trees conflict, and then the line is read again.
	retried := u.has("-T", "-L", "-m", "-M") && u.has("-H", "-f", "--forest", "-T", "-L", "-m", "-M")
	for _, f := range u.flags {
		text := f.val.Text
		if f.has && f.val.Kind != Exact && f.val.Kind != Number {
			return f.val.Source + " is not known before it runs"
		}
		switch f.name {
		case "-o", "--format":
			if strings.Contains(text, "env") {
				return why
			}
		case "-u", "-U", "-t", "-p", "--user", "--pid", "--ppid":
			retried = retried || strings.Trim(text, "0123456789,") != ""
			e = e || strings.Contains(text, "e")
		}
	}
	if e && retried {
		return why
	}
	for _, w := range u.args {
		if w.Kind != Exact || strings.ContainsAny(w.Text, "eE") && !scan.Number(w.Text) || retried {
			return why
		}
	}
	return ""
}

// ipShow is ip where it only prints: nothing behind the object, or the word for it.
var ipShow = &command{args: "x*", check: func(u *Invocation) string {
	if len(u.args) > 0 && !u.args[0].Is("show") && !u.args[0].Is("list") && !u.args[0].Is("ls") {
		return "ip may change the network"
	}
	return ""
}}

// publicVariables say where and how a command runs, and are never secrets.
var publicVariables = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"PATH": true, "HOME": true, "PWD": true, "OLDPWD": true, "USER": true, "LOGNAME": true, "SHELL": true, "TERM": true, "LANG": true, "LC_ALL": true, "TZ": true, "EDITOR": true, "PAGER": true, "TMPDIR": true,
		"HOSTNAME": true, "CI": true, "NODE_ENV": true, "GOPATH": true, "GOROOT": true, "GOFLAGS": true, "JAVA_HOME": true, "VIRTUAL_ENV": true, "CONDA_PREFIX": true, "PYTHONPATH": true, "CARGO_HOME": true, "RUSTUP_HOME": true,
		"XDG_CONFIG_HOME": true, "XDG_CACHE_HOME": true, "XDG_DATA_HOME": true, "XDG_RUNTIME_DIR": true, "DISPLAY": true,
	}
})
