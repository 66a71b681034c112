package programs

import (
	"path"
	"slices"
	"strings"
)

// A check looks at what the flags and operands of a row do not say. It returns why a command
// is not read-only, "" when it is.
type check = func(u *Invocation) string

// all are checks one after the other.
func all(checks ...check) check {
	return func(u *Invocation) string {
		for _, c := range checks {
			if why := c(u); why != "" {
				return why
			}
		}
		return ""
	}
}

// needs asks for one of some flags.
func needs(why string, flags ...string) check {
	return func(u *Invocation) string {
		if u.has(flags...) {
			return ""
		}
		return why
	}
}

// refuses refuses some flags.
func refuses(why string, flags ...string) check {
	return func(u *Invocation) string {
		if u.has(flags...) {
			return why
		}
		return ""
	}
}

// becomes is for flags with which operands are something else.
func becomes(row *command, flags ...string) check {
	return func(u *Invocation) string {
		if u.has(flags...) {
			u.row = row
		}
		return ""
	}
}

// operands refuses operands that are not known, or are bad: "X may name a file".
func operands(why string, bad func(text string) bool) check {
	return func(u *Invocation) string {
		for _, w := range u.args {
			if w.Kind != Exact || bad(w.Text) {
				return w.Source + why
			}
		}
		return ""
	}
}

// values is operands for the values of some flags, or of all.
func values(why string, bad func(text string) bool, flags ...string) check {
	return func(u *Invocation) string {
		for _, f := range u.flags {
			if f.has && (len(flags) == 0 || slices.Contains(flags, f.name)) && (f.val.Kind != Exact || bad(f.val.Text)) {
				return f.val.Source + why
			}
		}
		return ""
	}
}

// holding reports texts with one of some signs.
func holding(signs string) func(text string) bool {
	return func(text string) bool { return strings.ContainsAny(text, signs) }
}

// unsteered refuses where one of some files changes what a program does: in the folder it
// runs in, or above that. own says that those in the home folder do not count.
func unsteered(what string, own bool, names ...string) check {
	return func(u *Invocation) string {
		if u.r.World.Glob == nil || len(u.dirs) != 1 {
			return "whether the project changes " + what + " is not known"
		}
		for d := u.dirs[0]; ; d = path.Dir(d) {
			for _, name := range names {
				if at := path.Join(d, name); (d != u.r.World.Home || !own) && u.r.mayBe(at) {
					return at + " may change " + what
				}
			}
			if d == path.Dir(d) {
				return ""
			}
		}
	}
}
