package conf

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/setting"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// states are the files with which an unfinished rebase, cherry-pick, am or
// bisect goes on, and how each is judged: what in it makes git run a program or
// write elsewhere. Git itself writes them all the time, harmlessly.
var states = map[string]func(b []byte) []string{
	"rebase-merge/strategy":      strategyRuns,
	"rebase-merge/author-script": quotedRuns, // git before 2.20 has a shell read it
	"rebase-apply/author-script": quotedRuns,
	"rebase-apply/apply-opt":     applyRuns,
	"sequencer/opts":             optsRuns,
	"BISECT_NAMES":               quotedRuns, // git before 2.37 has a shell read it
}

func stateRuns(path string, b []byte) []string {
	name := filepath.Base(path)
	if f := states[name]; f != nil {
		return f(b)
	}
	if f := states[filepath.Base(filepath.Dir(path))+"/"+name]; f != nil {
		return f(b)
	}
	return nil
}

func strategyRuns(b []byte) []string {
	name := strings.TrimSpace(string(b))
	if name == "" || setting.Strategy(name) {
		return nil
	}
	return []string{"it runs git-merge-" + name}
}

func optsRuns(b []byte) []string {
	var out []string
	err := parse(b, func(_, _, key, value string) {
		if key == "strategy" {
			out = append(out, strategyRuns([]byte(value))...)
		}
	})
	if err != nil {
		out = append(out, "it cannot be read: "+err.Error())
	}
	return out
}

var (
	// quoted is what git itself writes of words for a shell.
	quoted = pattern.Lazy(`^(?:\s|[A-Z_]+=|'[^']*'|\\'|\\!)*$`)
	// applies are the options that a rebase hands to git apply and that touch
	// nothing beyond the patch.
	applies = pattern.Lazy(`^(?:-[Cp][0-9]+|--(?:whitespace|exclude|include)=[^']*|--ignore-(?:space-change|whitespace)|--reject|--no-reject|)$`)
)

func quotedRuns(b []byte) []string {
	if !quoted().Match(b) {
		return []string{"a shell could read it, and it is not quoted as git does"}
	}
	return nil
}

func applyRuns(b []byte) []string {
	var out []string
	for _, o := range strings.Split(strings.TrimSpace(string(b)), "' '") {
		if o = strings.Trim(o, "'"); !applies().MatchString(o) {
			out = append(out, "it gives "+o+" to git apply")
		}
	}
	return out
}

// odd reports whether git makes nothing of this kind in its folder: links, named
// pipes, devices and sockets, but for the socket of its own watcher.
func odd(name string, mode os.FileMode) bool {
	if mode&os.ModeSocket != 0 && name == "fsmonitor--daemon.ipc" {
		return false
	}
	return !mode.IsRegular() && !mode.IsDir()
}

// Odd reports whether an entry of a git folder is of a kind that git itself
// makes none of: a link, say, through which its next message would be written
// to any file. A folder .git in a git folder is such a thing as well.
func Odd(e os.DirEntry) bool { return e.Name() == ".git" || odd(e.Name(), e.Type()) }

// trial is what git init names the link by which it finds out whether the file
// system has links.
var trial = pattern.Lazy(`^t[A-Za-z0-9]{6}$`)

// isTrial reports whether a link is that of git init, which removes it at once:
// git reads nothing of such a name, and the link stays in its folder.
func isTrial(link string) bool {
	to, err := os.Readlink(link)
	return err == nil && to == "testing" && trial().MatchString(filepath.Base(link))
}

func plainStrange(info os.FileInfo) string {
	switch {
	case info.Name() == ".git":
		return "it is a repository inside git's folder"
	case odd(info.Name(), info.Mode()):
		return "it is no file, and git opens it"
	}
	return ""
}
