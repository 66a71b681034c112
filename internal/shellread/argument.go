package shellread

import (
	"path"
	"strings"
)

type valueKind int

// A word is one argument as far as it is known before it runs.
type word struct {
	kind valueKind // exact, pattern, number or unknown
	text string    // exact: the argument; pattern: the glob, literals escaped
	head string    // pattern, unknown: how it surely begins
	src  string    // as written
	many bool      // it may become no word or several
	fd   bool      // it names a process substitution: harmless to read
	bare bool      // an exact word without any quoting
	made bool      // it came out of a brace expansion
}

// lit is an exact word.
func lit(s string) word { return word{kind: exact, text: s, src: s} }

func (w word) is(s string) bool { return w.kind == exact && w.text == s }

// flagLike reports whether the word is, or may turn out to be, a flag.
func (w word) flagLike() bool {
	switch w.kind {
	case exact:
		return len(w.text) > 1 && w.text[0] == '-'
	case number:
		return false
	case unset, pattern, unknown:
	}
	if w.fd {
		return false
	}
	return w.head == "" || w.head[0] == '-'
}

// base is the name of a program without its folders.
func base(name string) string { return path.Base(path.Clean(name)) }

// standardPath reports whether a name is looked up in PATH or stands in a
// folder of the system.
func standardPath(name string) bool {
	if !strings.Contains(name, "/") {
		return true
	}
	switch path.Dir(name) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin":
		return name == path.Clean(name)
	}
	return false
}

// literals are the words as an argv; what is not known stands as written.
func literals(ws []word) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		if out[i] = w.src; w.kind == exact {
			out[i] = w.text
		}
	}
	return out
}

// verbs are programs that take flags before their subcommand.
var verbs = map[string]bool{"docker": true, "podman": true, "kubectl": true, "helm": true, "npm": true, "pnpm": true, "yarn": true, "cargo": true, "gh": true, "uv": true, "pip": true, "terraform": true}

// openWord names an argument that may turn out to be a flag, or several words.
func openWord(ws []word) string {
	for i, w := range ws[1:] {
		if messageFlag(ws[i]) && !w.many && (ws[0].is("git") || ws[0].is("gh")) {
			continue
		}
		if w.kind == exact || w.fd || w.kind == number && !w.many {
			continue
		}
		if w.kind == pattern && !w.flagLike() {
			continue
		}
		if w.many || w.flagLike() {
			return w.src + " may become any argument"
		}
	}
	return ""
}

// messageFlag knows the flags of git and gh whose value is prose.
func messageFlag(w word) bool {
	return w.is("-m") || w.is("--message") || w.is("--title") || w.is("--body")
}

const (
	unset   valueKind = iota
	exact             // text is the value
	pattern           // one match of the glob text
	number            // digits, not known which
	unknown           // anything; begins with head
)
