package programs

import (
	"slices"
	"strings"
)

// A prose row says which flags of a subcommand take text that is no file: letters
// of one, and names of long ones. Behind alone no value stands; they may be put
// together with a letter that takes one (-am text).
type prose struct {
	letters string
	names   string // divided by blanks
	alone   string
}

// Prose are the words of a command that are prose.
func (u *Invocation) Prose(ws []Word) (said []string) {
	if (u.name == "python" || u.name == "python3") && len(ws) > 2 && ws[1].Is("-c") && ws[2].Kind == Exact && InertPython(ws[2].Text) {
		return []string{ws[2].Text}
	}
	rest := u.notProse(ws)
	for _, w := range ws {
		if len(rest) > 0 && rest[0].Kind == w.Kind && rest[0].Source == w.Source && rest[0].Text == w.Text {
			rest = rest[1:]
		} else {
			said = append(said, Literals([]Word{w})...)
		}
	}
	return said
}

// InertPython reports code that starts no program, whatever texts stand in it: it names
// nothing by which Python reaches beyond plain values. An underscore begins the names of an
// object's insides, by which all else is found.
func InertPython(code string) bool {
	for _, c := range code {
		if c == '_' || c > '~' || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return !slices.ContainsFunc([]string{"import", "exec", "eval", "compile", "open", "file", "attr", "globals", "locals", "vars", "breakpoint", "input", "help", "reload"}, func(word string) bool {
		return strings.Contains(code, word)
	})
}

// notProse are the words without the flags that take prose and what they take: a
// message that reads like the name of a file names none.
func (u *Invocation) notProse(ws []Word) []Word {
	row, at := u.proseRow(ws)
	if at == 0 {
		return ws
	}
	out := slices.Clone(ws[:at])
	open := false // the word before may take this one as its value
	for i := at; i < len(ws); i++ {
		w := ws[i]
		if w.Kind != Exact {
			open = w.FlagLike() || w.Many
			out = append(out, w)
			continue
		}
		if w.Text == "--" {
			return append(out, ws[i:]...)
		}
		here, next := row.takes(w.Text)
		switch {
		case open || !here && !next:
			open = !open && len(w.Text) > 1 && w.Text[0] == '-' && !row.closed(w.Text)
			out = append(out, w)
		case next && i+1 < len(ws):
			i++
		}
	}
	return out
}

// proseRow is the row of a command, and where the words behind its subcommand begin;
// 0 where there is none.
func (u *Invocation) proseRow(ws []Word) (prose, int) {
	at := 1
	if u.name == "git" {
		rests := gitRests(ws[1:])
		if len(rests) != 1 {
			return prose{}, 0
		}
		at = len(ws) - len(rests[0])
	}
	best, n := prose{}, 0
	p := u.r.Table.of(u.name)
	for i := range p.forms {
		if f := &p.forms[i]; f.says != nil && f.begins(ws[at:]) > n {
			best, n = *f.says, f.begins(ws[at:])
		}
	}
	if n == 0 {
		return best, 0
	}
	return best, at + n
}

// takes reports whether a word is a flag that takes prose: here, in the same word, or
// in the next one.
func (p prose) takes(text string) (here, next bool) {
	if name, ok := strings.CutPrefix(text, "--"); ok {
		name, _, glued := strings.Cut(name, "=")
		known := slices.Contains(strings.Fields(p.names), name)
		return known && glued, known && !glued
	}
	if len(text) < 2 || text[0] != '-' {
		return false, false
	}
	for i := 1; i < len(text); i++ {
		if strings.IndexByte(p.letters, text[i]) >= 0 {
			return i+1 < len(text), i+1 == len(text)
		}
		if strings.IndexByte(p.alone, text[i]) < 0 {
			break
		}
	}
	return false, false
}

// closed reports a flag that does not take the next word.
func (p prose) closed(text string) bool {
	if name, long := strings.CutPrefix(text, "--"); long {
		return strings.Contains(name, "=") || slices.Contains(switches, name)
	}
	return text == "-S" || strings.Trim(text[1:], p.alone) == "" // -S takes a value in its own word alone
}

// switches are long flags of these commands without a value.
var switches = []string{
	"all", "amend", "signoff", "quiet", "verbose", "no-verify", "no-edit", "edit", "allow-empty", "only", "include", "patch", "gpg-sign", "no-gpg-sign", "reset-author",
	"annotate", "sign", "force", "no-ff", "ff-only", "ff", "squash", "commit", "no-commit", "keep-index", "include-untracked", "staged",
	"draft", "web", "fill", "approve", "comment", "request-changes", "merge", "rebase", "prerelease", "latest", "no-git-tag-version",
}
