// Package shellread reads a shell script into the actions it would do. It
// never runs anything, never guesses, and answers policy.Opaque for whatever
// it does not fully understand.
package shellread

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

// Bounds of what is read exactly (permissions.md). Past them a script is
// still searched, so that deny rules see its commands.
const (
	MaxChars    = 10_000  // characters
	MaxCommands = 50      // simple commands
	maxSearch   = 200_000 // bytes of a longer script that are still searched
	maxDepth    = 12      // scripts within scripts, functions within functions
	maxActions  = 4_000
	maxMatched  = 3_000 // files that patterns name, each time they do
	maxSteps    = 1_500 // statements walked before loops and functions are no longer followed
)

// A World is what a script's meaning depends on. Its functions may look at
// the file system but never change it and never run anything.
type World struct {
	Dir  string // where the script starts: absolute, resolved
	Home string
	// Real resolves every symlink of an absolute path, also when its last
	// components do not exist yet. nil cleans the path lexically.
	Real func(path string) (string, error)
	// Glob lists what a pattern (absolute; a backslash makes the next
	// character literal) matches now, as bash does: a wildcard never matches a
	// leading dot. nil, as function or result, means unknown.
	Glob func(pattern string) []string
	// Git says whether git in this folder runs nothing but git, and if not, why.
	// nil means it was not looked at, and git is not read-only.
	Git func(dir string) (ok bool, why string)
	// GitUnpinned is Git for one that runs without pinned settings. nil means it
	// was not looked at.
	GitUnpinned func(dir string) (ok bool, why string)
	// Repo is the git folder that a folder belongs to, and the one that it shares
	// with other worktrees; ok is false where there is none. nil means unknown.
	Repo func(dir string) (common, git string, ok bool)
	// Program says why the program that a name stands for in an environment
	// which is not pinned may be another one than the system's, "" when it is that.
	// nil means that the environment is a plain one.
	Program func(name string) (why string)
	// Tree lists what stands below a folder (resolved) now, without following
	// links; a folder that is not there, or that may not be listed, is empty. ok
	// is false when there are more than most entries. nil means unknown.
	Tree func(dir string, most int) (l Listing, ok bool)
	// Tracked lists the files below a folder that its git repository tracks, as
	// absolute paths; ok is false when that is not known. nil means unknown.
	Tracked func(dir string, most int) (files []string, ok bool)
}

// A Listing is what stands below a folder.
type Listing struct {
	Entries []Entry
	// Unhides means that an ignore file in the folder, above or below it may
	// make a search look at names that begin with a dot.
	Unhides bool
}

// An Entry is one file, folder or link. Name is its path below the folder of
// the Listing, with slashes.
type Entry struct {
	Name      string
	Dir, Link bool
}

// A Script is what was read.
type Script struct {
	Actions []policy.Action
	// ReadOnly is true when every command is provably read-only and every
	// redirect harmless; the Read actions still have to be allowed.
	ReadOnly bool
	// Dir is where the shell would stand at the end, "" when unknown.
	Dir string
}

// Read takes script apart as bash would.
func Read(script string, w World) Script {
	r := &reader{w: w, src: script, funcs: map[string]*syntax.Stmt{}}
	why := precheck(script)
	if why != "" {
		r.opaque(clip(script), why)
	}
	if len(script) > maxSearch {
		script = script[:maxSearch]
		r.src = script
	}
	st := state{vars: map[string]value{}}
	if w.Dir != "" {
		st.dirs = []string{w.Dir}
	}
	end := r.guarded(script, st)
	return r.finish(end)
}

// guarded is script, and unclear where the reader itself gives up.
func (r *reader) guarded(script string, st state) (end state) {
	defer func() {
		if recover() != nil {
			r.opaque(clip(script), "the reader gave up")
			end = state{}
		}
	}()
	return r.script(script, st)
}

// A reader walks one script. It belongs to one call of Read.
type reader struct {
	w        World
	src      string
	acts     []policy.Action
	seen     map[string]bool
	unclear  bool // something was Opaque
	unsafe   bool // something is not read-only
	cmds     int
	steps    int
	braced   int // words that brace expansions made
	matched  int // files that patterns named
	depth    int
	outer    [][]string // the wrappers and shells around what is being read
	env      []string   // assignments around it
	unpinned bool       // variables are taken away, maybe those that keep git from running programs
	piped    bool       // its input comes from a pipe
	fed      bool       // its arguments come from elsewhere (xargs)
	funcs    map[string]*syntax.Stmt
	ints     map[string]bool // variables that arithmetic has set
	calling  []string        // functions being read, against recursion
	jumped   *state          // what is known where break, continue or return was read
	// What the World said, asked once for each path.
	globs map[string][]string
	reals map[string]resolved
	gits  map[string]string // why git is not safe there, "" when it is
	trees map[string]listed
	// indexes are the files that repositories track.
	indexes map[string]indexed
	// walked is how many entries of trees were listed so far.
	walked int
	wrote  []string // what commands so far write, resolved
}

// script parses and walks one text: the whole, or the argument of bash -c.
// What stands before a syntax error is walked too, for deny rules.
func (r *reader) script(text string, st state) state {
	stmts, err := parse(text)
	if err != nil {
		r.opaque(clip(text), "it is not valid shell: "+plainError(err))
		if msg := plainError(err); !strings.Contains(msg, "without closing") && !strings.Contains(msg, "unclosed") {
			r.mentions(text, st) // shells may accept what the parser does not
		}
	} else if why := misread(text, stmts); why != "" {
		r.opaque(clip(text), why)
		r.mentions(text, st)
	}
	saved := r.src
	r.src = text
	st = r.stmts(stmts, st)
	r.src = saved
	return st
}

// parse returns the statements before the first error, and the error. The
// parser can panic on text that is not shell; that is an error like any other.
func parse(text string) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for s, err := range p.StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			return stmts, err
		}
		stmts = append(stmts, s)
	}
	return stmts, nil
}

func plainError(err error) string {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return pe.Text
	}
	return "the parser gave up"
}

func (r *reader) finish(end state) Script {
	if r.cmds > MaxCommands {
		r.opaque(clip(r.src), "it holds more than 50 commands")
	}
	if len(r.acts) == 0 {
		r.acts = []policy.Action{policy.None{}}
	}
	r.settlePins()
	s := Script{Actions: r.acts, ReadOnly: !r.unclear && !r.unsafe}
	if len(end.dirs) == 1 {
		s.Dir = end.dirs[0]
	}
	return s
}

// add appends an action once.
func (r *reader) add(a policy.Action) {
	switch a := a.(type) {
	case policy.Exec:
		if !a.ReadOnly {
			r.unsafe = true
		}
	case policy.Opaque:
		r.unclear = true
	case policy.Write:
		r.unsafe = true
		r.wrote = append(r.wrote, a.Path)
	case policy.Read, policy.Net, policy.Call, policy.Spawn, policy.Skill, policy.Person, policy.None:
	}
	if len(r.acts) >= maxActions {
		if !r.unclear {
			r.unclear = true
			r.acts = append(r.acts, policy.Opaque{Source: clip(r.src), Why: "it does too many things"})
		}
		// Commands are still listed: a deny rule must see them.
		if _, exec := a.(policy.Exec); !exec || len(r.acts) >= 4*maxActions {
			return
		}
	}
	r.acts = append(r.acts, a)
}

// opaque notes a part that cannot be read exactly.
func (r *reader) opaque(source, why string) {
	key := source + "\x00" + why
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	r.add(policy.Opaque{Source: source, Why: why})
}

// source is the text of a node, for a person to see.
func (r *reader) source(n syntax.Node) string { return clip(r.text(n)) }

// text is the whole text of a node.
func (r *reader) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(r.src) || from >= to {
		return r.src
	}
	return r.src[from:to]
}

// clip bounds a piece of source for messages.
func clip(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
