package shellread

import (
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// A state is what is known at one point of a script. Values are never changed
// in place once shared: with and without copy.
type state struct {
	// dirs are the folders the shell may stand in here; none means unknown.
	dirs []string
	old  []string // what OLDPWD may be
	vars map[string]value
	// crowded means that variables were set that vars has no room for, so that
	// one that is not in it may be set all the same.
	crowded bool
	// defs are the functions that are surely defined here.
	defs map[string]bool
	// linked means that cd went through a link, so that names and places differ.
	linked bool
	// fds are the descriptors above 2 that the script itself has open here. Others
	// are those of the program that started the shell.
	fds descriptors
}

// descriptors is a set of numbers from 3 to 9; zsh knows no larger ones.
type descriptors uint16

func (d descriptors) has(n string) bool { return d&bit(n) != 0 }

// bit is the set of one descriptor, empty for one that no set holds.
func bit(n string) descriptors {
	if len(n) != 1 || n[0] < '3' || n[0] > '9' {
		return 0
	}
	return 1 << (n[0] - '0')
}

// A value is what is known of a variable.
type value struct {
	kind valueKind
	text string
	head string
	tail string
	// gone: the number may be nothing at all.
	gone bool
	// job: the number is that of a process which the script itself started, or nothing.
	job bool
	// commit: it is the number of a commit, or nothing.
	commit bool
	// found: it is the name of one of these files, or with lines of any of them, one a line.
	found *programs.Found
	lines bool
	// or, with ors, is what a value that is not known most likely is.
	or  string
	ors bool
	// each is the program whose output, name by name, it is.
	each string
}

// define notes a function.
func (s state) define(name string) state {
	s.defs = maps.Clone(s.defs)
	if s.defs == nil {
		s.defs = map[string]bool{}
	}
	s.defs[name] = true
	return s
}

// maxVars bounds the variables that are followed; each new one copies the rest.
const maxVars = 200

func (s state) with(name string, v value) state {
	if _, known := s.vars[name]; !known && len(s.vars) >= maxVars {
		s.crowded = true
		return s
	}
	s.vars = maps.Clone(s.vars)
	s.vars[name] = v
	return s
}

// merge is what is known when either of two ways was taken.
func merge(a, b state) state {
	out := state{vars: map[string]value{}, linked: a.linked || b.linked, crowded: a.crowded || b.crowded, fds: a.fds & b.fds}
	out.dirs = mergeDirs(a.dirs, b.dirs)
	out.old = mergeDirs(a.old, b.old)
	for name := range a.defs {
		if b.defs[name] {
			out = out.define(name)
		}
	}
	for name, v := range a.vars {
		if w, both := b.vars[name]; both {
			out.vars[name] = join(v, w)
		} else {
			out.vars[name] = join(v, value{})
		}
	}
	for name, v := range b.vars {
		if _, both := a.vars[name]; !both {
			out.vars[name] = join(v, value{})
		}
	}
	return out
}

// equal reports whether the same is known in both.
func (s state) equal(t state) bool {
	return slices.Equal(s.dirs, t.dirs) && slices.Equal(s.old, t.old) && s.linked == t.linked && s.crowded == t.crowded && s.fds == t.fds && maps.Equal(s.vars, t.vars) && maps.Equal(s.defs, t.defs)
}

// join is what is known of a variable that is either of two values.
func join(a, b value) value {
	digits := func(v value) bool { return v.kind == number || v.kind == exact && scan.Number(v.text) }
	switch {
	case a == b:
		return a
	case digits(a) && digits(b):
		return value{kind: number, gone: a.gone || b.gone}
	}
	out := value{kind: unknown}
	for _, v := range []value{b, a} { // the one that was there first, so that a loop comes to an end
		if w, ok := supposedly(v); ok && w.ors {
			out.or, out.ors = w.or, true
		}
		if v.each != "" {
			out.each = v.each
		}
	}
	return out
}

func mergeDirs(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > 8 {
		return nil
	}
	return out
}

// parameters is the state in which a function with these arguments begins.
func (s state) parameters(args []word) state {
	s.vars = maps.Clone(s.vars)
	known := true
	for i := range 9 {
		v := value{kind: unknown}
		if i < len(args) && known {
			known = !args[i].Many
			switch or := args[i].Or; {
			case args[i].Kind == pattern:
				v = value{kind: pattern, text: args[i].Text, head: args[i].Head}
			case !known:
			case args[i].Kind == exact:
				v = value{kind: exact, text: args[i].Text}
			case len(or) == 1 && or[0].Kind == exact:
				v.or, v.ors = or[0].Text, true
			}
		}
		s.vars[string(rune('1'+i))] = v
	}
	all := value{kind: unknown}
	if or, more := alternatively(args); more || !slices.ContainsFunc(args, func(w word) bool { return w.Kind != exact }) {
		all.or, all.ors = strings.Join(programs.Literals(or), " "), true
	}
	s.vars["@"], s.vars["*"] = all, all
	return s
}

// shifted is the state behind shift.
func (s state) shifted(n int) state {
	s.vars = maps.Clone(s.vars)
	for i := range 9 {
		v, ok := s.vars[string(rune('1'+i+n))]
		if !ok || i+n >= 9 {
			v = value{kind: unknown}
		}
		s.vars[string(rune('1'+i))] = v
	}
	for _, name := range []string{"@", "*"} {
		if v, ok := s.vars[name]; ok {
			fields := strings.Fields(v.or)
			v.or = strings.Join(fields[min(n, len(fields)):], " ")
			s.vars[name] = v
		}
	}
	return s
}

// parametersOf gives back the parameters that t has.
func (s state) parametersOf(t state) state {
	s.vars = maps.Clone(s.vars)
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"} {
		if v, ok := t.vars[name]; ok {
			s.vars[name] = v
		} else {
			delete(s.vars, name)
		}
	}
	return s
}

// forget makes variables unknown.
func (s state) forget(names []string) state {
	if len(names) == 0 {
		return s
	}
	s.vars = maps.Clone(s.vars)
	for _, n := range names {
		if _, known := s.vars[n]; !known && len(s.vars) >= maxVars {
			s.crowded = true
			continue
		}
		s.vars[n] = value{kind: unknown}
	}
	return s
}
