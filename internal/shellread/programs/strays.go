package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// maxStrays bounds how many pieces of one command's words are looked at.
const maxStrays = 400

// Strays are the paths in the words of a command that do not lie below the folder it runs in,
// as far as nobody knows that the program only reads them, or makes nothing of them: whether
// a rule that allows the program means them is for the rule to say.
func (u *Invocation) Strays(ws []Word) (out []policy.Stray) {
	if u.r.Table.Changes(u.name) { // which of its words it writes is known
		for _, a := range u.Actions {
			if w, ok := a.(policy.Write); ok && !w.Own && w.Sure <= policy.Possible {
				out = append(out, policy.Stray{Word: w.Asked, Asked: w.Asked, Path: w.Path})
			}
		}
		return out
	}
	if len(u.dirs) == 0 || u.OnlyReads() && StandardPath(ws[0].Text) || runsCode(u.name) {
		return nil
	}
	end := len(ws)
	if words, _ := u.r.Table.Starts(u.name, ws); words > 0 && !RunsHere(u.name) {
		end = words // the rest is done in a container, or on another machine
	}
	at := u.dirs
	words := u.notProse(ws[:end])
	own := len(words)
	if u.name == "git" {
		_, rest, _ := gitSplit(words[1:])
		own -= len(rest)
	}
	left, meant := maxStrays, 0
	if own == 1 && len(words) > 2 && words[1].Is("worktree") && words[2].Is("add") {
		meant = 3 // a work tree has its place beside the one it is of
	}
	for i, w := range words {
		if i == own { // git's -C does not move what stands before
			moved := u.r.Invoke(u.name, u.dirs)
			if moved.moveAll(words) {
				at = moved.dirs
			}
		}
		if i == 0 || w.Kind != Exact && w.Kind != Pattern || len(w.Text) > maxNamed {
			continue
		}
		if u.harmless(words, i) {
			continue
		}
		for _, piece := range u.strayPieces(w) {
			if left--; left < 0 {
				return append(out, policy.Stray{Word: w.Text, Asked: Clip(w.Text)}) // what else there is nobody looks at
			}
			named := Word{Kind: w.Kind, Text: piece, Source: w.Source}
			for _, real := range u.resolved(named, at) {
				if !u.ownGround(real, at, words[min(own, len(words)-1)].Text) {
					out = append(out, policy.Stray{Word: w.Text, Asked: piece, Path: real, Meant: meant})
				}
			}
		}
	}
	return out
}

// harmless reports a word whose path the program only reads, or runs: what a compiler, a test
// runner and the like are given without a flag.
func (u *Invocation) harmless(ws []Word, i int) bool {
	before, text := ws[i-1].Text, ws[i].Text
	flag, _, glued := strings.Cut(before, "=")
	if strings.IndexByte(taken(u.r.Table.of(u.name).takes, flag), takesRead) >= 0 || u.excluded(ws, i) {
		return true
	}
	if !u.is(checker) || u.name == "curl" || u.is(container) && slices.ContainsFunc(ws[:i], func(w Word) bool { return w.Is("cp") }) {
		return false
	}
	behind := i > 1 && strings.HasPrefix(before, "-") && before != "--" && !glued
	return !behind && !strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "=@")
}

// runsCode reports a program that is there to run any code: a rule for it means that it does
// whatever a program can do.
func runsCode(name string) bool {
	t := Standard()
	return policy.Runner(name) && !t.is(name, ownNames|takesTexts|checker|starter|manager)
}

// strayPieces are the parts of a word that are spelled as a path which may lead out of a
// folder: all of it, or what stands behind a sign, or behind the letter of a flag.
func (u *Invocation) strayPieces(w Word) (out []string) {
	text := w.Text
	ends := "=@:,"
	name, val, assigned := strings.Cut(text, "=")
	switch {
	case !strings.ContainsAny(text, " \t\n\"'"):
	case u.is(takesTexts) || !assigned || strings.ContainsAny(name, " \t\n\"'"):
		return nil // a text, and no path
	default:
		text, ends = val, "=@:, \t\n\"'`()<>|&;{}[]"
	}
	if !strings.Contains(text, "/") && !strings.Contains(text, "..") && !strings.Contains(text, "~") {
		return nil
	}
	for len(text) > 0 {
		at := strings.IndexAny(text, ends)
		if at < 0 {
			at = len(text)
		}
		piece := text[:at]
		if strings.HasPrefix(text[at:], "://") { // an address, and all behind it
			_, piece, _ = strings.Cut(text[at+3:], "/")
			if !strings.HasSuffix(strings.ToLower(text[:at]), "file") {
				return out
			}
			return append(out, "/"+piece)
		}
		if text = text[min(at+1, len(text)):]; strings.HasPrefix(piece, "-") { // -I../x, -qo/x
			if i := strings.IndexAny(piece, "./~"); i > 0 {
				piece = piece[i:]
			}
		}
		if leadsOut(piece) {
			out = append(out, piece)
		}
	}
	return out
}

// leadsOut reports a path that is spelled as one outside of the folder in which it counts.
func leadsOut(piece string) bool {
	return strings.HasPrefix(piece, "/") || piece == "~" || strings.HasPrefix(piece, "~/") || strings.HasPrefix(piece+"/", "../") || strings.Contains(piece+"/", "/../")
}

// systemFolders are those that stand below the root of most systems.
var systemFolders = map[string]bool{"Applications": true, "Library": true, "System": true, "Users": true, "Volumes": true, "bin": true, "boot": true, "dev": true, "etc": true, "home": true, "lib": true, "media": true, "mnt": true, "opt": true, "private": true, "proc": true, "root": true, "run": true, "sbin": true, "srv": true, "sys": true, "tmp": true, "usr": true, "var": true}

// resolved are the paths that a word names from some folders, links followed, as far as they
// can be there: below the root, what stands in a folder that is there.
func (u *Invocation) resolved(w Word, dirs []string) (out []string) {
	if rest, home := strings.CutPrefix(w.Text, "~"); home {
		w.Text = u.r.World.Home + rest
	}
	if strings.HasPrefix(w.Text, "/") {
		top, _, _ := strings.Cut(strings.TrimLeft(path.Clean(w.Text), "/"), "/")
		if w.Kind == Exact && (top == "" || safeDevice(w.Text) || !systemFolders[top] && u.r.World.Glob != nil && len(u.r.Glob(world.EscapeGlob("/"+top))) == 0) {
			return nil
		}
	}
	u.r.apart(func() {
		for _, t := range u.r.Resolve(w, dirs) {
			out = append(out, t.Real)
		}
	})
	return out
}

// stages are the subcommands of git that take files of all of a work tree into the index.
var stages = map[string]bool{"add": true, "commit": true, "reset": true, "stage": true}

// ownGround reports what a command may name wherever it runs: the streams of the process,
// and what git takes into the index of its work tree.
func (u *Invocation) ownGround(real string, dirs []string, sub string) bool {
	if strings.HasPrefix(real, "/dev/std") || strings.HasPrefix(real, "/dev/fd/") || strings.HasPrefix(real, "/dev/pts/") {
		return true
	}
	return u.name == "git" && stages[sub] && slices.ContainsFunc(dirs, func(d string) bool { return policy.Within(u.r.GitTop(d), real, false) })
}
