package policy

import (
	"path"
	"slices"
	"strings"
)

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
	// Settings are protected paths in which programs of the call keep their settings
	// (git config). The sandbox opens them as it does Writable; when the call ends,
	// it keeps of them what the program writes every day, and what the call itself
	// names.
	Settings []Setting `json:"settings,omitempty"`
	// Folders are those that the call works on as a whole, and what it changes outside of the
	// session's folders, as far as it may once it is allowed. The sandbox opens them for this
	// call alone, and of a call that is Pinned the nearest folder of what is not there.
	Folders []Folder `json:"folders,omitempty"`
	// Sealed: the call names a path to write that the settings of the sandbox deny, so that
	// what is there when it ends is of its making, also where the call is Pinned.
	Sealed bool `json:"sealed,omitempty"`
	// Hide says how the sandbox keeps files of the session's folders that hold secrets
	// from what the call shows, but for those of Shown, with all below, which it reads
	// by name or by a rule.
	Hide  Hide     `json:"hide,omitempty"`
	Shown []string `json:"shown,omitempty"`
}

// A Folder is one, or a file, that a call may write although it is none of the session's, resolved.
// What is protected or denied in it stays so.
type Folder struct {
	Path string `json:"path"`
	// Gone: it is taken away with all that is in it. Nothing in it is kept in its place but
	// what rules deny.
	Gone bool `json:"gone,omitempty"`
	// Shut: it stays as it is, because a program of the same call that nobody allowed would
	// have it open, too.
	Shut bool `json:"shut,omitempty"`
}

// A Setting is a path in which a program keeps its settings, resolved.
type Setting struct {
	Path string `json:"path"`
	// Sets are the settings that the call itself names: NAME=value or, where one is
	// removed, NAME.
	Sets []string `json:"sets,omitempty"`
}

// IsZero reports whether nothing is needed.
func (n Needs) IsZero() bool {
	return !n.Pinned && !n.Confined && len(n.Writable) == 0 && len(n.Settings) == 0 && len(n.Folders) == 0 && !n.Sealed && n.Hide == HideNothing
}

// needs are those of the whole call, whose verdict is effect.
func needs(r Rules, q Request, all []Judged, effect Effect) Needs {
	n := Needs{Pinned: readOrEdits(q.Actions)}
	var outside []Folder
	beside := effect == Allow && unasked(all, CheckSandbox) // it would have open what others may write
	looked := map[string]bool{}                             // a long script writes the same paths over and over
	for _, j := range all {
		a, v := j.Action, j.Verdict
		if v.Effect == Allow && v.Check == CheckSandbox {
			n.Confined = true
		}
		if w, ok := a.(Write); ok {
			n.Sealed = n.Sealed || w.sealed(r)
		}
		if w, ok := a.(Write); ok && (w.Opens || w.takesRepository(v)) {
			n.Folders = append(n.Folders, Folder{Path: w.Path, Gone: w.Remove})
		}
		if w, ok := a.(Write); ok && shellTool(q.Tool) && w.outside(r, v, n.Pinned) {
			outside = append(outside, Folder{Path: w.opened(n.Pinned), Shut: beside && !n.Pinned && !v.namesPath()})
		}
		if w, ok := a.(Write); ok && w.Sure == Certain && (w.Own || !looked[w.Path]) {
			why, _ := protected(r, w.Path)
			switch {
			case why != "" && w.Own:
				n.set(w)
			case why != "":
				n.Writable = append(n.Writable, w.Path)
			}
			looked[w.Path] = looked[w.Path] || !w.Own
		}
		if w, ok := a.(Write); ok && w.Below != nil && !w.Within && w.Sure != Guessed {
			for _, p := range w.Below.Paths { // what git brings, or an archive holds
				if why, _ := protected(r, p.Path); why != "" && !looked[p.Path] {
					n.Writable = append(n.Writable, p.Path)
					looked[p.Path] = true
				}
			}
		}
		if m, ok := a.(Read); ok && v.Check == CheckProtected && !slices.Contains(n.Writable, m.Path) {
			n.Writable = append(n.Writable, m.Path)
		}
	}
	if beside {
		n.Writable, n.Settings, n.Folders = nil, nil, nil
	}
	for _, at := range outside {
		if !slices.ContainsFunc(n.Folders, func(f Folder) bool { return f.Path == at.Path }) {
			n.Folders = append(n.Folders, at)
		}
	}
	return n
}

// sealed reports whether a write is, or may be, to a path that the settings of the sandbox deny.
func (w Write) sealed(r Rules) bool {
	return slices.ContainsFunc(r.Sealed, func(at string) bool {
		return Within(at, w.Path, r.FoldCase) || Within(w.Path, at, r.FoldCase)
	})
}

// outside reports whether somebody allows to change a path that commands cannot change
// otherwise: a person who is asked, a rule, or a mode that allows all of a call that was read.
func (w Write) outside(r Rules, v Verdict, exact bool) bool {
	here := func(dir string) bool { return Within(dir, w.Path, r.FoldCase) }
	switch {
	case w.Sure != Certain, w.Opens, w.Own, w.Path == path.Dir(w.Path), v.Check == CheckSandbox, v.Check == CheckMode && !exact:
		return false
	}
	return !slices.ContainsFunc(r.Dirs, here) && !slices.ContainsFunc(r.Writable, here)
}

// opened is what has to be open for a write: the folder that the path is in, because files
// are made, replaced and removed there. It is the path alone where others may use it, too.
func (w Write) opened(exact bool) string {
	if in := path.Dir(w.Path); exact && !w.Within && in != path.Dir(in) {
		return in
	}
	return w.Path
}

// namesPath reports whether a rule for files allows it, by the path.
func (v Verdict) namesPath() bool {
	tool, _, spec := strings.Cut(v.Rule, "(")
	return v.Effect == Allow && v.Check == CheckRule && spec && !shellTool(tool)
}

// unasked reports whether a program runs that one of these checks allowed: no rule and no
// person spoke of it.
func unasked(all []Judged, by ...Check) bool {
	for _, j := range all {
		if j.Effect == Allow && slices.Contains(by, j.Check) && foreignProgram(j.Action) {
			return true
		}
	}
	return false
}

// takesRepository reports whether a folder with a git repository is removed by somebody's
// leave, of whom it was asked or whose rule names it.
func (w Write) takesRepository(v Verdict) bool {
	return w.Remove && w.Tree && !w.Moved && w.Sure == Certain && (v.Check == CheckRemoval || v.Check == CheckRule) && w.repository() != ""
}

// set adds what a program writes of its settings.
func (n *Needs) set(w Write) {
	i := slices.IndexFunc(n.Settings, func(s Setting) bool { return s.Path == w.Path })
	if i < 0 {
		i = len(n.Settings)
		n.Settings = append(n.Settings, Setting{Path: w.Path})
	}
	if w.Sets != "" {
		n.Settings[i].Sets = append(n.Settings[i].Sets, strings.Split(w.Sets, "\n")...)
	}
}

// foreignProgram reports whether an action runs a program other than git, or may, that does
// more than read.
func foreignProgram(a Action) bool {
	switch a := a.(type) {
	case Exec:
		return a.Sure < Possible && !(a.ReadOnly && a.Beyond == "" && a.Unpinned == "") && (len(a.Argv) == 0 || a.Argv[0] != "git" || a.Unseen != "")
	case Opaque:
		return true
	case Read, Write, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return false
}

// readOrEdits reports whether all commands of a call only read, or only change
// the paths they name.
func readOrEdits(as []Action) bool {
	commands := false
	for a := range All(as) {
		switch a := a.(type) {
		case Exec:
			if a.Sure < Possible && !a.ReadOnly && !a.Edits {
				return false
			}
			commands = true
		case Opaque:
			return false
		case Read, Write, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
		}
	}
	return commands
}
