package policy

import "slices"

// Needs are the conditions that a verdict rests on. They travel with it to
// what runs the call, which sees to them or does not run it: nothing else works
// out anew what was decided.
//
// They hold for an Allow, whoever gave it. Those of a question are what will
// hold when it is approved.
type Needs struct {
	// Pinned: every command of the call was read as one that only reads, or
	// only changes the paths it names. That is true in an environment without
	// what could make those programs do more, so the call runs in such a one.
	Pinned bool `json:"pinned,omitempty"`
	// Confined: a part of the call is allowed only because it runs inside the
	// sandbox.
	Confined bool `json:"confined,omitempty"`
	// Writable are the protected paths (resolved) that the call writes, and may
	// once it is allowed; the sandbox opens them for this call alone.
	Writable []string `json:"writable,omitempty"`
}

// IsZero reports whether nothing is needed.
func (n Needs) IsZero() bool { return !n.Pinned && !n.Confined && len(n.Writable) == 0 }

// needs are those of the whole call.
func needs(r Rules, as []Action, vs []Verdict) Needs {
	n := Needs{Pinned: readOrEdits(as)}
	looked := map[string]bool{} // a long script writes the same paths over and over
	for i, a := range as {
		if vs[i].Effect == Allow && vs[i].Check == "sandbox" {
			n.Confined = true
		}
		if w, ok := a.(Write); ok && !w.Maybe && !looked[w.Path] {
			looked[w.Path] = true
			if why, _ := protected(r, w.Path); why != "" {
				n.Writable = append(n.Writable, w.Path)
			}
		}
		if m, ok := a.(Read); ok && vs[i].Check == CheckProtected && !slices.Contains(n.Writable, m.Path) {
			n.Writable = append(n.Writable, m.Path)
		}
	}
	return n
}

// readOrEdits reports whether all commands of a call only read, or only change
// the paths they name.
func readOrEdits(as []Action) bool {
	commands := false
	for _, a := range as {
		switch a := a.(type) {
		case Exec:
			if !a.Maybe && !a.ReadOnly && !a.Edits {
				return false
			}
			commands = true
		case Opaque:
			return false
		case Read, Write, Net, Call, Spawn, Skill, Person, None:
		}
	}
	return commands
}
