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
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of what is read exactly (permissions.md). Past them a script is
// still searched, so that deny rules see its commands.
const (
	MaxChars    = 10_000  // characters
	maxCommands = 50      // simple commands
	maxSearch   = 200_000 // bytes of a longer script that are still searched
	maxDepth    = 12      // scripts within scripts, functions within functions
	maxSteps    = 1_500   // statements walked before loops and functions are no longer followed
)

// A Script is what was read.
type Script struct {
	Actions []policy.Action
	// ReadOnly is true when every command is provably read-only and every
	// redirect harmless; the Read actions still have to be allowed.
	ReadOnly bool
	// Dir is where the shell would stand at the end, "" when unknown.
	Dir string
	// Sets are the variables of the shell that the script may leave with another
	// value, as it was read; Any means that they may be others as well. A program
	// that the script runs changes none of them.
	Sets map[string]bool
	Any  bool
	// Pulls are the git pull commands that were read.
	Pulls []programs.Pull
}

// Read takes script apart as bash would.
func Read(script string, w world.World) Script { return read(script, w, programs.Standard()) }

func read(script string, w world.World, t *programs.Table) Script {
	r := &reader{funcs: map[string]*syntax.Stmt{}}
	r.World, r.Table, r.Source = w, t, script
	why := precheck(script)
	if why != "" {
		r.Opaque(programs.Clip(script), why)
	}
	if len(script) > maxSearch {
		script = script[:maxSearch]
		r.Source = script
	}
	st := state{vars: map[string]value{}}
	if w.Dir != "" {
		st.dirs = []string{w.Dir}
	}
	end := r.recovered(script, st)
	return r.finish(end)
}

// recovered is script, and unclear where the reader itself gives up.
func (r *reader) recovered(script string, st state) (end state) {
	defer func() {
		if recover() != nil {
			r.OpaqueRuns(programs.Clip(script), "the reader gave up")
			end = state{}
		}
	}()
	return r.script(script, st)
}

// A reader walks one script. It belongs to one call of Read.
type reader struct {
	programs.Recorder
	cmds         int
	pipes        int                 // pipelines so far
	line         *policy.Line        // the script, where it is nothing but simple commands
	places       map[syntax.Node]int // their places in it
	steps        int
	tried        int // commands in others that were read
	quiet        int // bytes that were worked out beside being read
	braced       int // words that brace expansions made
	depth        int
	outer        [][]string // the wrappers and shells around what is being read
	env          []string   // assignments around it
	shell        int        // how many of outer are around the shell that is being read
	readIFS      string     // what read splits at, "" for blanks
	envValues    []value    // their values
	exported     []string   // variables with settings of git that may be exported
	funcs        map[string]*syntax.Stmt
	ints         map[string]bool // variables that arithmetic has set
	calling      []string        // functions being read, against recursion
	remote       bool            // what is searched runs on another machine
	jumped       *state          // what is known where break, continue or return was read
	started      bool            // it has started something in the background
	looseGlobs   bool            // a pattern may match more than it does as a rule
	alternatives int             // commands that were read once more, as they may be meant
	input        input           // what stands on the standard input
	sets         map[string]bool // names of variables that anything in it sets
	sourced      bool            // it reads another script into the shell
	trapped      bool            // a trap runs text later
}

// script parses and walks one text: the whole, or the argument of bash -c.
// What stands before a syntax error is walked too, for deny rules.
func (r *reader) script(text string, st state) state {
	stmts, err := parse(text)
	if err != nil {
		r.Opaque(programs.Clip(text), "it is not valid shell: "+plainError(err))
		if msg := plainError(err); !strings.Contains(msg, "without closing") && !strings.Contains(msg, "unclosed") {
			r.unread(text, st) // shells may accept what the parser does not
		}
	} else if why := misread(text, stmts); why != "" {
		r.Opaque(programs.Clip(text), why)
		r.unread(text, st)
	}
	saved := r.Source
	r.Source = text
	if err == nil && len(r.outer) == 0 && r.depth == 0 && r.line == nil {
		r.line, r.places = lineOf(stmts)
	}
	st = r.stmts(stmts, st)
	if err == nil && len(r.outer) == 0 && r.depth == 0 {
		r.given(stmts)
	}
	r.Source = saved
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
	if r.cmds > maxCommands {
		r.OpaqueListed(programs.Clip(r.Source), "it holds more than 50 commands")
	}
	if len(r.Actions) == 0 {
		r.Actions = []policy.Action{policy.None{}}
	}
	r.reportUnpinned()
	r.bar(r.Actions)
	s := Script{Actions: r.Actions, ReadOnly: !r.Unclear && !r.Unsafe, Sets: r.sets, Pulls: r.Pulls}
	s.Any = r.sourced
	for a := range policy.All(r.Actions) {
		o, unclear := a.(policy.Opaque)
		s.Any = s.Any || unclear && !o.Listed
	}
	if len(end.dirs) == 1 {
		s.Dir = end.dirs[0]
	}
	return s
}

// bar marks what commands in the sandbox cannot write.
func (r *reader) bar(as []policy.Action) {
	for i, a := range as {
		if e, ok := a.(policy.Exec); ok {
			r.bar(e.Touches)
		}
		if w, ok := a.(policy.Write); ok && r.World.Writes != nil && !r.World.Writes(w.Path) && !r.private(w.Path) {
			w.Barred = true
			as[i] = w
		}
	}
}

// private reports whether a path is one of which commands in the sandbox have their own: a
// device, or a temporary file. A failure says where those go, which needs nobody's answer.
func (r *reader) private(at string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/"} {
		if rest, in := strings.CutPrefix(at, dir); in {
			name, _, _ := strings.Cut(rest, "/")
			return len(r.Glob(world.EscapeGlob(dir+name))) == 0
		}
	}
	return paths.WithinAny([]string{"/dev", "/proc"}, at)
}

// leaves notes a variable that is set, wherever: in a shell of its own it is nobody
// else's, but its name does no harm.
func (r *reader) leaves(name string) {
	if r.sets == nil {
		r.sets = map[string]bool{}
	}
	r.sets[name] = true
}

// source is the text of a node, for a person to see.
func (r *reader) source(n syntax.Node) string { return programs.Clip(r.text(n)) }

// text is the whole text of a node.
func (r *reader) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(r.Source) || from >= to {
		return r.Source
	}
	return r.Source[from:to]
}

// Steers reports whether NAME=text may change what programs do that only read, beyond how
// they print.
func Steers(name, text string) bool { return programs.Steers(name, text) }
