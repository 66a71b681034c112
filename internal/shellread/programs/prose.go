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
	names   []string
	alone   string
}

// proses are those of git, gh and npm. A flag whose value is a file (-F, --body-file,
// gh pr create -T) is in none of them, nor is one that takes no value (gh pr review
// --comment), and -m is something else in git branch, am, rebase, revert and cherry-pick.
var proses = map[string]prose{
	"git commit": {"m", []string{"message", "author", "date"}, "aeinopqsvz"}, "git commit-tree": {"m", nil, ""}, "git tag": {"m", []string{"message"}, "aefs"},
	"git merge": {"m", []string{"message"}, "enqv"}, "git stash push": {"m", []string{"message"}, "akpqu"}, "git stash store": {"m", []string{"message"}, "q"},
	"git notes add": {"m", []string{"message"}, "f"}, "git notes append": {"m", []string{"message"}, ""},

	"gh pr create": {"tblarm", []string{"title", "body", "label", "assignee", "reviewer", "milestone"}, "dew"}, "gh pr edit": {"tbm", []string{"title", "body", "milestone"}, ""},
	"gh pr comment": {"b", []string{"body"}, "ew"}, "gh pr review": {"b", []string{"body"}, "acr"}, "gh pr close": {"c", []string{"comment"}, "d"}, "gh pr merge": {"tb", []string{"subject", "body"}, "dmrs"},
	"gh issue create": {"tblam", []string{"title", "body", "label", "assignee", "milestone"}, "ew"}, "gh issue edit": {"tbm", []string{"title", "body", "milestone"}, ""},
	"gh issue comment": {"b", []string{"body"}, "ew"}, "gh issue close": {"c", []string{"comment"}, ""},
	"gh release create": {"tn", []string{"title", "notes"}, "dp"}, "gh release edit": {"tn", []string{"title", "notes"}, ""},

	"npm version": {"m", []string{"message", "preid"}, ""}, "npm publish": {"", []string{"tag", "otp", "access"}, ""},
}

// Prose are the words of a command that are prose.
func (u *Invocation) Prose(ws []Word) (said []string) {
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
	for n := 2; n > 0; n-- {
		if at+n > len(ws) || slices.ContainsFunc(ws[at:at+n], func(w Word) bool { return w.Kind != Exact }) {
			continue
		}
		if row, ok := proses[u.name+" "+strings.Join(Literals(ws[at:at+n]), " ")]; ok {
			return row, at + n
		}
	}
	return prose{}, 0
}

// takes reports whether a word is a flag that takes prose: here, in the same word, or
// in the next one.
func (p prose) takes(text string) (here, next bool) {
	if name, ok := strings.CutPrefix(text, "--"); ok {
		name, _, glued := strings.Cut(name, "=")
		known := slices.Contains(p.names, name)
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
