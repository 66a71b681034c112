package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// Flags that make the diff family of git print contents, and those that make it
// print names and counts instead. The former win: their order decides in git.
var (
	gitPatchFlags = []string{"-p", "-u", "-U", "-W", "-S", "-G", "-L", "-c", "--cc", "--patch", "--unified", "--patch-with-raw", "--patch-with-stat", "--function-context", "--word-diff", "--word-diff-regex", "--color-words", "--binary", "--check", "--diff-merges"}
	gitShortFlags = []string{"-s", "--no-patch", "--raw", "--stat", "--numstat", "--shortstat", "--dirstat", "-X", "--summary", "--compact-summary", "--name-only", "--name-status", "--quiet", "--cumulative"}
)

// gitPrinters say when a git command prints contents of files that it was not
// told one by one.
var gitPrinters = sync.OnceValue(func() map[string]func(u *Invocation) bool {
	return map[string]func(u *Invocation) bool{
		"diff": gitPatch(true), "show": gitPatch(true), "range-diff": gitPatch(true),
		"log": gitPatch(false), "whatchanged": gitPatch(false), "diff-tree": gitPatch(false), "diff-index": gitPatch(false), "diff-files": gitPatch(false),
		"stash show": gitPatch(false), "stash list": gitPatch(false), "reflog": gitPatch(false), "reflog show": gitPatch(false),
		"status":   func(u *Invocation) bool { return u.has("-v", "--verbose") },
		"grep":     func(u *Invocation) bool { return !u.has("--untracked", "--no-index") },
		"cat-file": func(u *Invocation) bool { return !u.has("-t", "-s", "-e", "--batch-check") || u.has("--batch") },
		"am":       func(*Invocation) bool { return true },
	}
})

func gitPatch(plain bool) func(u *Invocation) bool {
	return func(u *Invocation) bool {
		if u.has("--no-index") {
			return false // its operands are files, and read as such
		}
		return u.has(gitPatchFlags...) || plain && (!u.has(gitShortFlags...) || u.name == "git show" && slices.ContainsFunc(u.args, mayBeBlob))
	}
}

// ranged reports whether the operands are pathspecs, whose files gitPrints adds.
func (u *Invocation) ranged() bool {
	command, git := strings.CutPrefix(u.name, "git ")
	return git && gitPrinters()[command] != nil && !u.has("--no-index", "--untracked")
}

// pathspec takes an operand for what it is to git: a folder stands for the files
// below it, and what begins with a colon is no path.
func (u *Invocation) pathspec(i int, w Word) bool {
	if u.folder(w) && w.Kind == Exact {
		u.get(w, policy.Read{Tree: true, Below: &policy.Below{}})
		return true
	}
	return w.Kind == Exact && strings.HasPrefix(w.Text, ":") && i >= len(u.args)-u.behind
}

// gitPrints adds what a git command that prints contents may read of the files
// the repository tracks: their state now stands for that in every commit. It
// says what is not known, "" when nothing.
func (u *Invocation) gitPrints(command string, literal bool) string {
	prints := gitPrinters()[command]
	if prints == nil || !prints(u) {
		return ""
	}
	if u.has("-L") {
		return u.gitLines()
	}
	specs, some := u.gitRange(command)
	if !some {
		return ""
	}
	if literal || u.has("--full-diff") {
		specs = nil // no pathspec excludes anything
	}
	for _, d := range u.dirs {
		u.gitTracked(command, d, specs)
	}
	return ""
}

// gitLines adds the files that -L FROM,TO:FILE and -L :FUNCTION:FILE name. What
// stands before the file may hold a colon too.
func (u *Invocation) gitLines() string {
	for _, f := range u.flags {
		if f.name != "-L" {
			continue
		}
		for i, c := range f.val.Text {
			if c == ':' && i+1 < len(f.val.Text) {
				if why := u.touch('p', Lit(f.val.Text[i+1:])); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// gitRange are the pathspecs of a command; none mean all files. some is false
// when it prints no files but those that its operands name one by one.
func (u *Invocation) gitRange(command string) (specs []Word, some bool) {
	before, behind := u.args[:len(u.args)-u.behind], u.args[len(u.args)-u.behind:]
	if command == "grep" && !u.has("-e", "-f") && len(before) > 0 {
		before = before[1:]
	}
	if command == "cat-file" {
		typed := len(before) == 2 && (before[0].Is("commit") || before[0].Is("tree") || before[0].Is("tag"))
		return nil, u.has("--batch") || !typed && slices.ContainsFunc(before, mayBeBlob)
	}
	if command == "grep" && len(before)+len(behind) == 0 {
		return nil, false // its row says what it reads
	}
	objects, blob := 0, false
	for _, w := range before {
		switch {
		case gitBlobName(w):
			continue
		case !u.split && u.gitPathspec(w) && command != "status" && command != "range-diff" && command != "stash show":
			specs = append(specs, w)
		default:
			objects, blob = objects+1, blob || mayBeBlob(w)
		}
	}
	switch {
	case command == "show" && blob:
		return nil, true
	case len(behind) > 0:
		return behind, true
	case len(before) > 0 && len(specs)+objects == 0 && !u.has("--full-diff"):
		return nil, false
	}
	return specs, true
}

// gitBlobName reports REV:PATH and :PATH, which name one file.
func gitBlobName(w Word) bool {
	_, file, ok := strings.Cut(w.Text, ":")
	return w.Kind == Exact && ok && file != "" && !strings.ContainsAny(w.Text, "{}") && !strings.HasPrefix(w.Text, ":/") && !strings.HasPrefix(w.Text, ":(") && !strings.HasPrefix(w.Text, ":!") && !strings.HasPrefix(w.Text, ":^")
}

// mayBeBlob reports whether a word may name the content of a file by its number,
// or by what leads there.
func mayBeBlob(w Word) bool {
	if w.Kind != Exact {
		return true
	}
	name, _, peeled := strings.Cut(w.Text, "^{")
	if peeled && strings.Contains(w.Text, ":") {
		return true
	}
	if i := strings.LastIndex(name, "-g"); i >= 0 {
		name = name[i+2:]
	}
	return len(name) >= 4 && strings.Trim(name, "0123456789abcdefABCDEF") == ""
}

// gitPathspec reports whether git takes a word before -- for a file: it is there,
// or holds what no name of a commit does. Where it could be both, git refuses.
func (u *Invocation) gitPathspec(w Word) bool {
	if w.Kind == Pattern {
		return true
	}
	if w.Kind != Exact || strings.ContainsAny(w.Text, ":@^~{}") {
		return false
	}
	return strings.ContainsAny(w.Text, "*?[") || u.r.there(w, u.dirs)
}

// gitTracked adds the tracked files that pathspecs name from a folder.
func (u *Invocation) gitTracked(command, dir string, specs []Word) {
	if u.r.World.Repo != nil {
		if _, _, ok := u.r.Repo(dir); !ok {
			return // git finds nothing to print
		}
	}
	top := u.r.GitTop(dir)
	root := top
	if (command == "grep" || u.has("--relative")) && len(specs) == 0 {
		root = dir
	}
	files, ok := u.r.Tracked(top)
	if !ok {
		p := pick{tracked: true}
		u.Actions = append(u.Actions, policy.Read{Path: dir, Named: dir, Asked: "git " + command, Tree: true, Below: u.r.below(root, root, p)})
		return
	}
	match, below := newPathspecs(specs, dir, top), &policy.Below{}
	for _, f := range files {
		if policy.Within(root, f, false) && match.names(f) {
			below.Paths = append(below.Paths, policy.Place{Path: f, Tracked: true})
		}
	}
	if len(below.Paths) > 0 {
		u.Actions = append(u.Actions, policy.Read{Path: dir, Named: dir, Asked: "git " + command, Tree: true, Below: below})
	}
}

// Pathspecs of one command, each made absolute and in lower case: every form
// matches at least what git's does. A form that is not known matches everything.
type pathspecs struct {
	all     bool
	named   []string // wildcards are *, any run of characters, and ?
	without []string // literal, as git compares them
}

func newPathspecs(ws []Word, dir, top string) pathspecs {
	var p pathspecs
	for _, w := range ws {
		if w.Kind != Exact && w.Kind != Pattern {
			return pathspecs{all: true}
		}
		p.add(w, dir, top)
	}
	p.all = p.all || len(p.named) == 0
	return p
}

func (p *pathspecs) add(w Word, dir, top string) {
	text, from, exclude, plain := w.Text, dir, false, w.Kind == Exact
	switch {
	case text == ":":
		p.all = true
		return
	case strings.HasPrefix(text, ":("):
		magic, rest, ok := strings.Cut(text[2:], ")")
		if !ok {
			p.all = true
			return
		}
		text = rest
		for m := range strings.SplitSeq(magic, ",") {
			switch m {
			case "top":
				from = top
			case "exclude":
				exclude = true
			case "glob", "icase", "literal", "":
				plain = plain && m != "icase"
			default:
				p.all = true
				return
			}
		}
	case strings.HasPrefix(text, ":"):
		n := 1
		for ; n < len(text) && strings.IndexByte("/!^", text[n]) >= 0; n++ {
			if text[n] == '/' {
				from = top
			} else {
				exclude = true
			}
		}
		if n < len(text) && text[n] == ':' {
			n++
		}
		text = text[n:]
	}
	switch {
	case strings.ContainsAny(text, "\\["):
		p.all = p.all || !exclude
	case exclude:
		if plain && !strings.ContainsAny(text, "*?") {
			p.without = append(p.without, path.Join(from, text))
		}
	default:
		text = strings.ReplaceAll(text, "**/", "*")
		if !path.IsAbs(text) {
			text = path.Join(from, text)
		}
		p.named = append(p.named, strings.ToLower(path.Clean(text)))
	}
}

// names reports whether a file may be meant.
func (p pathspecs) names(file string) bool {
	for _, w := range p.without {
		if policy.Within(w, file, false) {
			return false
		}
	}
	if p.all {
		return true
	}
	low := strings.ToLower(file)
	return slices.ContainsFunc(p.named, func(n string) bool {
		return policy.Within(n, low, false) || strings.ContainsAny(n, "*?") && runs(n, low)
	})
}

// runs matches a pattern in which * is any run of characters, slashes too, and ?
// one. What stands behind the match in the name counts as below it.
func runs(pattern, name string) bool {
	pi, si, mark, back := 0, 0, -1, 0
	for si < len(name) {
		switch {
		case pi == len(pattern) && name[si] == '/':
			return true
		case pi < len(pattern) && pattern[pi] == '*':
			mark, back = pi, si
			pi++
		case pi < len(pattern) && (pattern[pi] == name[si] || pattern[pi] == '?'):
			pi++
			si++
		case mark >= 0:
			back++
			pi, si = mark+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[pi:], "*") == ""
}

// gitDumps adds the tracked files for a git command that is not read exactly and
// prints contents, for rules that forbid.
func (u *Invocation) gitDumps(rest []Word) {
	command := rest[0].Text
	given := func(flags []string) bool {
		return slices.ContainsFunc(rest[1:], func(w Word) bool { return slices.Contains(flags, w.Text) })
	}
	switch f := gitFlags(Literals(rest[1:])); command {
	case "checkout-index":
		if !f.has("--prefix", "--temp") {
			return // each file to its own place
		}
	case "read-tree":
		if !f.has("--prefix") {
			return
		}
	case "subtree":
		if !f.has("split") {
			return
		}
	case "archive", "format-patch", "fast-export", "request-pull", "send-email", "difftool", "show", "grep":
	case "diff":
		if given(gitShortFlags) && !given(gitPatchFlags) {
			return
		}
	case "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "reflog", "stash", "add", "checkout", "restore", "reset":
		if !given(gitPatchFlags) {
			return
		}
	case "commit", "status":
		if !given([]string{"-v", "-vv", "--verbose", "-p", "--patch"}) {
			return
		}
	case "cat-file":
		if given([]string{"-t", "-s", "-e"}) {
			return
		}
	default:
		return
	}
	for _, d := range u.dirs {
		u.gitTracked(command, d, nil)
	}
}
