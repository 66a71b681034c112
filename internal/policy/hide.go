package policy

// Hide says how files of the session's folders that hold secrets are kept from what a call
// in the sandbox shows.
type Hide string

// The ways.
const (
	HideNothing   Hide = ""
	HideValues    Hide = "values"    // its programs may need them, or it reads none: what is in them is masked in what it prints
	HideUntracked Hide = "untracked" // it cannot read those that git does not track: git needs the rest
	HideAll       Hide = "all"       // it cannot read them
	// hideNone: they would have to be hidden, but the call writes one of them, so that it
	// asks instead.
	hideNone Hide = "none"
)

// Kept is what the sandbox kept of files that hold secrets, when it ran a call by its Needs.
type Kept struct {
	// Hidden are those that the call could not read, because it only handles files.
	Hidden []string
	// Masked are the values in all that it does not read by name: none is to be in what
	// it prints, as another command may have written them elsewhere.
	Masked []string
	// Closed are paths that the call may change and the sandbox does not open for it, each
	// with the reason.
	Closed []string
}

// maxHidden bounds the secrets in a tree that are hidden one by one.
const maxHidden = 500

// hiding is how secrets are kept from a call. One of programs that only handle files cannot
// read what no action of it names, and need not be asked about. Whatever else a call runs
// may need its secrets.
func hiding(r Rules, m Mode, q Request) Hide {
	if !q.Sandboxed || m == Bypass {
		return HideNothing
	}
	git, shows, writes := false, false, false
	for a := range All(q.Actions) {
		switch a := a.(type) {
		case Exec:
			exact := a.ReadOnly || a.Edits
			if a.Sure < Possible && !exact && a.Handles == NoHandling {
				return HideValues
			}
			git = git || len(a.Argv) > 0 && a.Argv[0] == "git"
			shows = shows || handlesUnnamed(a)
		case Opaque:
			if a.Runs {
				return HideValues
			}
			shows = shows || readsUnseen(a)
		case Read:
			shows = shows || !a.List && a.Sure < Possible && (a.Tree || a.Elsewhere)
		case Write:
			writes = writes || a.Sure < Possible && r.holdsSecrets(a.Path)
		case Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
		}
	}
	switch {
	case !shows:
		return HideValues
	case writes:
		return hideNone
	case git:
		return HideUntracked
	}
	return HideAll
}

// handlesUnnamed reports a command that may show what is in files that no action names.
func handlesUnnamed(a Exec) bool {
	return a.Sure < Possible && !a.ReadOnly && !a.Edits && a.Handles == HandlesAny
}

// readsUnseen reports a part that may read files which no action names, in a redirect say.
func readsUnseen(a Opaque) bool { return !a.Runs && !a.Whole }

// hides reports whether a file that an action reads without naming it is hidden.
func (c *call) hides(p Place) bool {
	return c.hide == HideAll || c.hide == HideUntracked && !p.Tracked
}

// given reports whether a secret of the session's folders goes to a program in the
// sandbox, and is masked in what the program prints.
func (c *call) given(a Read) bool {
	return a.Given && c.hide == HideValues && c.inDirs(a.Path)
}

// keep says how secrets are kept from a call.
func (n *Needs) keep(r Rules, hide Hide, all []Judged) {
	switch hide {
	case HideNothing:
		return
	case HideUntracked, HideAll:
		n.Confined = true
	case hideNone:
		hide = HideValues
	case HideValues:
	}
	n.Hide, n.Shown = hide, shown(r, all)
}

// Shows are the secrets whose values the result of a call may hold: those that it reads or
// writes by name. masks is false for a command, whose output is masked by its Needs, and
// for what touches no file.
func Shows(as []Action) (named []string, masks bool) {
	for a := range All(as) {
		switch a := a.(type) {
		case Exec, Opaque:
			return nil, false
		case Read:
			masks = true
			if (Rules{}).secret(a) {
				named = append(named, a.Path)
			}
		case Write:
			masks = true
			if HoldsSecrets(a.Path) || HoldsSecrets(a.Named) {
				named = append(named, a.Path)
			}
		case Call, Net:
			masks = true
		case Spawn, Tell, Workflow, Skill, Person, None:
		}
	}
	return named, masks
}

// shown are the secrets that a call reads by name, or by a rule: whoever allows the call
// lets it see them.
func shown(r Rules, all []Judged) (out []string) {
	for _, j := range all {
		m, ok := j.Action.(Read)
		switch {
		case !ok || m.List || m.Sure == Possible || m.Elsewhere || m.Given:
		case !m.Tree && r.secret(m), m.Tree && j.Check == CheckRule:
			out = append(out, m.Path)
		}
	}
	return out
}
