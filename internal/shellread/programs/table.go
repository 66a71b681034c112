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
	flags       map[*command]map[string]flagKind
}

// Standard is the one table there is, made when it is first asked for.
var Standard = sync.OnceValue(func() *Table {
	t := &Table{reads: map[string]*command{}, forms: formRows(), git: gitRows(), changes: changeRows(), subcommands: map[string]bool{}, handles: map[string]bool{}, flags: map[*command]map[string]flagKind{}}
	for _, family := range []map[string]*command{printRows(), fileRows(), textRows(), searchRows()} {
		maps.Copy(t.reads, family)
	}
	for name := range t.reads {
		t.handles[name] = true
	}
	for _, family := range []map[string]*command{systemRows(), goRows(), packageRows(), containerRows(), hostRows()} {
		maps.Copy(t.reads, family)
	}
	for name, row := range t.reads {
		if first, _, sub := strings.Cut(name, " "); sub {
			t.subcommands[first] = true
		}
		t.compile(row)
	}
	for _, row := range t.forms {
		t.compile(row)
	}
	for _, row := range t.git {
		t.compile(row)
	}
	for _, row := range t.changes {
		t.compile(&row.command)
	}
	return t
})

// compile reads a row's flags, once for all its names.
func (t *Table) compile(row *command) {
	if row != nil && t.flags[row] == nil {
		t.flags[row] = parseFlags(row)
	}
}

// flagsOf are the flags of a row, which may be one that is not in the table.
func (t *Table) flagsOf(row *command) map[string]flagKind {
	if got, ok := t.flags[row]; ok {
		return got
	}
	return parseFlags(row)
}

// Has reports whether something is known of a program.
func (t *Table) Has(name string) bool {
	_, ok := t.reads[name]
	return ok || t.subcommands[name] || name == "git"
}

// Changes reports a program that is known to change files.
func (t *Table) Changes(name string) bool { return t.changes[name] != nil }
