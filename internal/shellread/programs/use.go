package programs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A command is one row of the read-only table: what is provably read-only
// about one program or subcommand. Anything the row does not name is not.
//
// flags lists what is understood, separated by blanks. "-abc" are three short
// flags, "--name" a long one. Behind it, "=x" takes a value that is only data,
// "=p" a file that is read, "=d" a folder whose names are read, "=2" two
// words of data, "=q" a word of data and a file that is read; "?" takes a
// value only when it is attached (-U5, --color=always). In "-abc=x" only c takes
// a value, in "-ab?c" only b.
//
// args are the kinds of the operands in order; the last with "*" repeats:
// x data, p a file that is read, t a folder read with all below it, l a file
// of which only its name and size are seen, d such a folder with all below.
type command struct {
	flags string
	args  string
	// dash: long flags begin with one dash, and short ones are not clustered.
	dash bool
	// digits: -5 is a flag.
	digits bool
	// early: flags only stand before the first operand; behind it they are names.
	early bool
	// verbatim: nothing is a flag; every word is data.
	verbatim bool
	// safe: no flag at all makes it write or run anything, so that a name which
	// may turn out to be a flag does not matter. A flag may still make it read
	// what the table does not see, so that any other text does, unless all
	// operands are data.
	safe bool
	// given: when one of these flags is present the first kind of args is
	// dropped (grep -e PATTERN FILE).
	given string
	// deep: flags that turn p into t, and the folder read by default.
	deep string
	// here is the kind of what is read when there are no operands: the folder
	// itself.
	here string
	// min is the least number of operands.
	min int
	// check looks at the rest and says why it is not read-only.
	check func(u *Invocation) string
}

// reads reports whether the row has operands that are files.
func (c *command) reads() bool { return strings.Trim(c.args, "x* ") != "" }

// A flagKind is what a flag takes.
type flagKind struct {
	value    byte // 0, 'x', 'p', 'd'
	optional bool
}

// A given flag of one use.
type given struct {
	name string
	val  Word
	has  bool
}

// An Invocation is one command line held against its row.
type Invocation struct {
	r     *Recorder
	dirs  []string // the folders it may run in; none means unknown
	moved bool     // git's -C has been applied to them
	name  string   // "git log"
	row   *command
	flags []given
	args  []Word
	// split: -- stood before the last of args; behind is how many.
	split   bool
	behind  int
	Actions []policy.Action
	// visible: files and folders whose names begin with a dot are skipped.
	visible bool
	// pick says which files of a tree are read.
	pick pick
	// Why says what of a change is not known.
	Why string
	// runs is the program that find starts.
	runs string
	// compose are the files that docker compose is given.
	compose []Word
}

// has reports whether one of the flags was given.
func (u *Invocation) has(names ...string) bool {
	for _, f := range u.flags {
		if slices.Contains(names, f.name) {
			return true
		}
	}
	return false
}

// Invoke begins a command line of a program, which may run in any of the folders.
func (r *Recorder) Invoke(program string, dirs []string) *Invocation {
	return &Invocation{r: r, dirs: dirs, name: program}
}

// OperandsBehind are the words behind the flags, which may stand in any order with
// them; why says that one is not among those listed.
func (u *Invocation) OperandsBehind(flags string, ws []Word) (operands []Word, why string) {
	why = u.parse(&command{flags: flags}, ws)
	return u.args, why
}

// ReadOnly finds the row of a command and holds the words against it. It returns
// why the command is not provably read-only, "" when it is.
func (u *Invocation) ReadOnly(ws []Word) string {
	if u.name == "git" {
		return u.git(ws[1:])
	}
	if len(ws) == 2 && (ws[1].Is("--version") || ws[1].Is("--help")) && u.is(speaker) {
		return ""
	}
	ws = u.composeFiles(ws)
	row, rest := u.r.Table.find(u.name, oldStyle(u.name, ws[1:]))
	if row == nil {
		if len(u.r.Table.of(u.name).reads) > 0 {
			return u.r.Table.unknownForm(u.name, ws[1:])
		}
		if u.r.Table.Changes(u.name) {
			return u.name + " changes files"
		}
		return u.name + " is not known to be read-only"
	}
	if n := len(ws) - 1 - len(rest); n > 0 && u.name != "tar" {
		u.name += " " + strings.Join(Literals(ws[1:1+n]), " ")
	}
	return u.hold(row, rest)
}

// unknownForm says which form of a command is not in the table, with all the words that
// name it: docker compose ps, where there are rows for docker compose.
func (t *Table) unknownForm(name string, args []Word) string {
	form := name
	for _, w := range args[:min(len(args), 3)] {
		if w.Kind != Exact || strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyz-") != "" || strings.HasPrefix(w.Text, "-") || !t.group(form) {
			break
		}
		form += " " + w.Text
	}
	return form + " is not known to be read-only"
}

// group reports whether there are rows for subcommands of a form.
func (t *Table) group(form string) bool {
	name, sub, _ := strings.Cut(form, " ")
	for key := range t.of(name).reads {
		if sub == "" || strings.HasPrefix(key, sub+" ") {
			return true
		}
	}
	return false
}

func (u *Invocation) hold(row *command, rest []Word) string {
	u.row = row
	if len(rest) == 1 && !strings.Contains(u.name, " ") && (rest[0].Is("--help") || rest[0].Is("--version")) {
		return ""
	}
	if why := u.parse(row, rest); why != "" {
		return why
	}
	if len(u.args) < row.min {
		return u.name + " is not known to be read-only when nothing is named"
	}
	if row.check != nil {
		if why := row.check(u); why != "" {
			return why
		}
	}
	return u.operands()
}

// find takes the longest run of leading words that has a row.
func (t *Table) find(name string, rest []Word) (row *command, left []Word) {
	p := t.of(name)
	key := ""
	row, left = p.row, rest
	if row == nil {
		row = p.shows[""]
	}
	for i, w := range rest {
		if w.Kind != Exact || i == 3 {
			break
		}
		key = strings.TrimPrefix(key+" "+w.Text, " ")
		if r := cmp.Or(p.reads[key], p.shows[key]); r != nil {
			row, left = r, rest[i+1:]
		}
	}
	return row, left
}

// operands turns the operands into the paths they read.
func (u *Invocation) operands() string {
	kinds := strings.Fields(u.row.args)
	if u.row.given != "" && len(kinds) > 0 && u.has(strings.Fields(u.row.given)...) {
		kinds = kinds[1:]
	}
	deep := u.row.deep != "" && u.has(strings.Fields(u.row.deep)...)
	paths := 0
	for i, w := range u.args {
		kind := ""
		switch {
		case i < len(kinds):
			kind = kinds[i]
		case len(kinds) > 0 && strings.HasSuffix(kinds[len(kinds)-1], "*"):
			kind = kinds[len(kinds)-1]
		default:
			return u.name + " with " + w.Source + " is not known to be read-only"
		}
		if w.Commit && takesCommits[u.name] && !u.has("--no-index") && i < len(u.args)-u.behind {
			continue
		}
		if w.Many && !strings.HasSuffix(kind, "*") {
			return w.Source + " may become several words"
		}
		k := kind[0]
		if w.Found != nil && k == 'x' && u.row.reads() {
			return w.Source + " is the name of a file, which " + u.name + " takes for something else"
		}
		if deep && k == 'p' {
			k = 't'
		}
		if k != 'x' {
			paths++
		}
		if k == 'p' && u.ranged() && u.pathspec(i, w) {
			continue
		}
		if why := u.touch(k, w); why != "" {
			return why
		}
	}
	here := u.row.here
	if here == "" && deep {
		here = "t"
	}
	if paths == 0 && here != "" {
		return u.touch(here[0], Word{Kind: Exact, Text: ".", Source: u.name})
	}
	return ""
}

// takesCommits are commands whose operands are commits before they are files.
var takesCommits = map[string]bool{
	"git diff": true, "git log": true, "git show": true, "git whatchanged": true, "git shortlog": true, "git rev-list": true, "git rev-parse": true, "git diff-tree": true, "git diff-index": true, "git cat-file": true, "git ls-tree": true, "git blame": true, "git annotate": true, "git grep": true,
	"git merge-base": true, "git describe": true, "git name-rev": true, "git range-diff": true, "git cherry": true, "git branch": true, "git tag": true, "git show-branch": true, "git stash show": true, "git reflog": true, "git reflog show": true, "git for-each-ref": true, "git fsck": true,
}

// touch adds the Read for one operand of a kind.
func (u *Invocation) touch(kind byte, w Word) string {
	if kind == 'x' || w.Substitution {
		return ""
	}
	if kind == 'p' && w.Is("-") {
		return ""
	}
	if w.Found != nil && u.touchFound(kind, w.Found) {
		return ""
	}
	if w.Kind != Exact && w.Kind != Pattern {
		return w.Source + " is not known before it runs, and it names a file"
	}
	if kind == 'p' && strings.HasPrefix(u.name, "git ") && w.Kind == Exact && u.folder(w) {
		kind = 't' // a pathspec means all below
	}
	u.pick.tracked = strings.HasPrefix(u.name, "git ") && !u.has("--untracked", "--no-index")
	like := policy.Read{Visible: u.visible, List: kind == 'l' || kind == 'd', Tree: kind == 't' || kind == 'd'}
	read := u.r.apart(func() {
		u.r.Read(w, u.dirs, like)
		if like.Tree && w.Kind == Pattern {
			u.listOnly(w)
		}
	})
	u.pick.visible = u.visible
	u.Actions = append(u.Actions, u.fill(read)...)
	return ""
}

// ReadFound adds what it takes to read a word that is the name of one of some files, or
// with list to look at that file, and reports whether that is all it may be.
func (r *Recorder) ReadFound(w Word, dirs []string, list bool) bool {
	u := r.Invoke("cat", dirs)
	kind := byte('p')
	if list {
		kind = 'l'
	}
	if w.Found == nil || w.Many || !u.touchFound(kind, w.Found) {
		return false
	}
	u.Record()
	return true
}

// touchFound adds the Reads for an operand that is one of some files, and reports whether
// that is all it may be.
func (u *Invocation) touchFound(kind byte, f *Found) bool {
	if kind != 'p' && kind != 'l' || strings.HasPrefix(u.name, "git ") || !f.In(u.dirs) || len(u.r.Wrote) > 0 || u.r.Links() > 0 {
		return false
	}
	for _, r := range f.Reads {
		r.List = kind == 'l'
		u.Actions = append(u.Actions, r)
	}
	return true
}

// listOnly makes the folder that a pattern stands in one that is only listed: what
// matches is read, with all below that. It stays a tree where the shell could hand over
// more than what matches now: the folder itself for a name that begins with a dot,
// nothing at all for a pattern that matches nothing, or what a command before it made.
func (u *Invocation) listOnly(w Word) {
	if !u.r.Matches(w.Text, u.dirs) || u.r.Unsafe || u.r.Unclear || strings.Contains("/"+w.Text, "/.") {
		return
	}
	folders := u.r.foldersOf(w.Text, u.dirs)
	for i, a := range u.r.Actions {
		if r, read := a.(policy.Read); read && folders[r.Named] {
			r.List, r.Tree = true, false
			u.r.Actions[i] = r
		}
	}
}
