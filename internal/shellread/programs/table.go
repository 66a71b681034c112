package programs

import (
	"slices"
	"strings"
	"sync"
)

// A Table is what is known of programs. It is never changed once it is made.
type Table struct{ programs map[string]*program }

// Standard is the one table there is, made when it is first asked for.
var Standard = sync.OnceValue(func() *Table { return newTable(records()) })

// records are those of all families.
func records() []program {
	files := slices.Concat(corePrograms(), searchPrograms())
	for i := range files {
		if p := &files[i]; p.row != nil || p.is&known != 0 {
			p.is |= handles
		}
	}
	return slices.Concat(files, systemPrograms(), gitPrograms(), containerPrograms(), nodePrograms(), pythonPrograms(), buildPrograms(), archivePrograms(), netPrograms(), dataPrograms(), formatPrograms(), launchPrograms(), agentPrograms(), otherPrograms())
}

// newTable is a table of records.
func newTable(records []program) *Table {
	t := &Table{programs: make(map[string]*program, 1200)}
	for i := range records {
		p := &records[i]
		p.speaks("", p.helped)
		for _, f := range p.forms {
			p.speaks(f.words+" ", f.helped)
		}
		for name := range strings.FieldsSeq(p.names) {
			t.programs[name] = p
		}
	}
	return t
}

// speaks adds the rows of subcommands that are helped.
func (p *program) speaks(form, subs string) {
	for sub := range strings.FieldsSeq(subs) {
		if p.shows == nil {
			p.shows = rows{}
		}
		if p.shows[form+sub+" --help"] = p.help; p.help == nil {
			p.shows[form+sub+" --help"] = &command{}
		}
	}
}

var unknown = &program{}

// of is what is known of a program, nothing where it has no record.
func (t *Table) of(name string) *program {
	if p := t.programs[name]; p != nil {
		return p
	}
	return unknown
}

// is reports whether a program has one of some traits.
func (t *Table) is(name string, one trait) bool { return t.of(name).is&one != 0 }

// is is Table.is of the program that is read.
func (u *Invocation) is(one trait) bool { return u.r.Table.is(u.name, one) }

// Has reports whether something is known of a program.
func (t *Table) Has(name string) bool {
	p := t.of(name)
	return p.row != nil || p.is&known != 0 || len(p.reads) > 0
}

// Changes reports a program that is known to change files.
func (t *Table) Changes(name string) bool { return t.of(name).changes != nil }
