package programs

import (
	"maps"
	"strings"
	"sync"
)

// A Table is what is known of programs. It is never changed once it is made.
type Table struct {
	reads       map[string]*command // what only reads, by the program and its subcommands
	forms       map[string]*command // the same of forms that say nothing of their program
	git         map[string]*command // the same of git, by its subcommands
	changes     map[string]*changeRow
	subcommands map[string]bool // programs with rows for their subcommands
	handles     map[string]bool // programs that only handle files, see Handles
}

// Standard is the one table there is, made when it is first asked for.
var Standard = sync.OnceValue(func() *Table {
	t := &Table{reads: map[string]*command{}, forms: formRows(), git: gitRows(), changes: changeRows(), subcommands: map[string]bool{}, handles: map[string]bool{}}
	for _, family := range []map[string]*command{printRows(), fileRows(), textRows(), searchRows()} {
		maps.Copy(t.reads, family)
	}
	for name := range t.reads {
		t.handles[name] = true
	}
	for _, family := range []map[string]*command{systemRows(), goRows(), packageRows(), containerRows(), hostRows()} {
		maps.Copy(t.reads, family)
	}
	for name := range t.reads {
		if first, _, sub := strings.Cut(name, " "); sub {
			t.subcommands[first] = true
		}
	}
	return t
})

// Has reports whether something is known of a program.
func (t *Table) Has(name string) bool {
	_, ok := t.reads[name]
	return ok || t.subcommands[name] || name == "git"
}

// Changes reports a program that is known to change files.
func (t *Table) Changes(name string) bool { return t.changes[name] != nil }
