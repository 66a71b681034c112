// Package programs is the table of what is known about programs: which command
// lines provably only read, what others would change, which start further
// programs, and which destroy something. It holds the words of one command
// against the table and answers with actions; it knows no shell, and whatever the
// table does not name is not known to be harmless.
package programs

import (
	"path"
	"strings"
)

// A ValueKind says how much is known of a text before the script runs.
type ValueKind int

// A Word is one argument as far as it is known before it runs.
type Word struct {
	Kind         ValueKind // exact, pattern, number or unknown
	Text         string    // exact: the argument; pattern: the glob, literals escaped
	Head         string    // pattern, unknown: how it surely begins
	Tail         string    // unknown: how it surely ends
	Source       string    // as written
	Many         bool      // it may become no word or several
	Job          bool      // number: of a process that the script itself started
	Gone         bool      // number: it may be no word at all
	Digits       bool      // unknown: what is not known of it are the digits of a number, or nothing
	Commit       bool      // unknown: it names one commit, or vanishes; the rest of it is known
	Substitution bool      // it names a process substitution: harmless to read
	Loose        bool      // pattern: the shell was told to match more, such as names with a dot
	Made         bool      // it came out of a brace expansion
	Or           []Word    // unknown: the words that it most likely is, nil when nobody can say
	Each         string    // unknown: the program whose output, name by name, it is
	Found        *Found    // unknown: it is one of these files, or with Many some of them
	Fields       []string  // unknown: the words that it becomes where a shell splits it at blanks
}

// Lit is an exact word.
func Lit(s string) Word { return Word{Kind: Exact, Text: s, Source: s} }

// Is reports whether the word is known to be s.
func (w Word) Is(s string) bool { return w.Kind == Exact && w.Text == s }

// FlagLike reports whether the word is, or may turn out to be, a flag.
func (w Word) FlagLike() bool {
	switch w.Kind {
	case Exact:
		return len(w.Text) > 1 && w.Text[0] == '-'
	case Number:
		return false
	case Unset, Pattern, Unknown:
	}
	if w.Substitution || w.Commit || w.Found != nil {
		return false
	}
	return w.Head == "" || w.Head[0] == '-'
}

// Base is the name of a program without its folders.
func Base(name string) string { return path.Base(path.Clean(name)) }

// StandardPath reports whether a name is looked up in PATH or stands in a
// folder of the system.
func StandardPath(name string) bool {
	if !strings.Contains(name, "/") {
		return true
	}
	switch path.Dir(name) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin":
		return name == path.Clean(name)
	}
	return false
}

// Literals are the words as an argv; what is not known stands as written.
func Literals(ws []Word) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		if out[i] = w.Source; w.Kind == Exact {
			out[i] = w.Text
		}
	}
	return out
}

// OpenWord names an argument that may turn out to be a flag, or several words.
func OpenWord(ws []Word) string {
	for i, w := range ws[1:] {
		if messageFlag(ws[i]) && !w.Many && (ws[0].Is("git") || ws[0].Is("gh")) {
			continue
		}
		if w.Kind == Exact || w.Substitution || w.Commit && ws[0].Is("git") || w.Kind == Number && !w.Many {
			continue
		}
		if w.Kind == Pattern && !w.FlagLike() {
			continue
		}
		if w.Many || w.FlagLike() || w.Found != nil { // which of the files, rules about paths cannot tell
			return w.Source + " may become any argument"
		}
	}
	return ""
}

// Closed are words with a stand-in for the value of a flag that is not known before it
// runs: what stands behind -j or --name= in one word stays in that word, and is no other
// flag.
func Closed(ws []Word) []Word {
	out := ws
	for i, w := range ws {
		value := ""
		switch name := strings.TrimSuffix(w.Head, "="); {
		case i == 0 || w.Kind != Unknown || w.Tail != "" || w.Found != nil || len(name) < 2 || name[0] != '-':
		case w.Digits && len(w.Head) == 2 && name[1] != '-', w.Digits && strings.HasSuffix(w.Head, "="):
			value = "1"
		case !w.Many && strings.HasPrefix(name, "--") && strings.HasSuffix(w.Head, "="):
			value = "a/b c" // as it may be a path, or a command
		}
		if value == "" {
			continue
		}
		if len(out) > 0 && &out[0] == &ws[0] {
			out = append([]Word(nil), ws...)
		}
		out[i] = Word{Kind: Exact, Text: w.Head + value, Source: w.Source}
	}
	return out
}

// messageFlag knows the flags of git and gh whose value is prose.
func messageFlag(w Word) bool {
	return w.Is("-m") || w.Is("--message") || w.Is("--title") || w.Is("--body")
}

const (
	Unset   ValueKind = iota
	Exact             // text is the value
	Pattern           // one match of the glob text
	Number            // digits, not known which
	Unknown           // anything; begins with head
)
