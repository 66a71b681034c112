package policy

import (
	"fmt"
	"slices"
)

// A Below lists the paths below a folder that an action on all of it touches.
// It is kept behind a pointer, so that actions stay comparable.
type Below struct {
	Paths []Place
	// Short, when set, says why paths are missing.
	Short string
}

// A Place is one path: resolved, and as it is reached when that differs. Tracked means
// that git has its content.
type Place struct {
	Path, Named string
	Tracked     bool
}

// tree judges an action on a whole tree path by path; ok is false for any
// other action.
func (c *call) tree(a Action) (v Verdict, ok bool) {
	switch a := a.(type) {
	case Read:
		switch {
		case a.Below == nil || !a.Tree || a.List:
		case a.Sure >= Possible:
			if v, ok := c.kept(a); ok {
				return v, true
			}
			return c.mayName(a, a.Path, a.Below, func(p, named string) Action { return Read{Path: p, Named: named} }), true
		default:
			return c.readTree(a), true
		}
	case Write:
		switch {
		case a.Sure == Guessed && a.Below != nil:
			return c.mayName(a, a.Path, a.Below, func(p, named string) Action { return Write{Path: p, Named: named} }), true
		case a.Within:
			return c.writeWithin(a), true
		case a.Below != nil:
			return c.writeTree(a), true
		case a.Moved && a.Tree && a.Sure == Certain:
			return c.moveUnseen(a), true
		}
	case Exec, Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return Verdict{}, false
}

// readTree is the verdict on reading every file that is listed. A file that a
// rule denies is a question in every mode: the command can be asked for again
// without it.
func (c *call) readTree(a Read) Verdict {
	below := a.Below
	a.Below = nil
	if below.Short != "" {
		v := c.judge(a)
		if v.Effect == Allow && v.Check == CheckReadOnly && c.covered == nil {
			return c.classifiable(Verdict{Effect: Ask, Reason: "whether it reads secrets below " + c.show(a.Asked, a.Path) + " is not known: " + below.Short, Check: CheckTree, Part: a.Path})
		}
		return v
	}
	if rule := c.find(Deny, a); rule != nil {
		return byRule(Deny, rule, a, "a rule denies it")
	}
	a.Tree = false
	v := c.judge(a)
	hidden := 0
	for _, p := range below.Paths {
		one := Read{Path: p.Path, Named: p.Named}
		if rule := c.find(Deny, one); rule != nil {
			return graver(v, c.unlessDontAsk(byRule(Ask, rule, one, "it would read "+p.Path+", which a rule denies")))
		}
		asks := c.find(Ask, one) != nil
		if secret := c.rules.secret(one); secret && !asks && c.hides(p) && hidden < maxHidden {
			hidden++
		} else if secret || asks {
			of := c.judge(one)
			if a.Elsewhere && of.Check == CheckSecret {
				of.Reason = "which files it reads is not known, and " + of.Reason
			}
			v = graver(v, of)
		}
	}
	return v
}

// kept asks about secrets that a command takes into the repository, unless it cannot read them.
func (c *call) kept(a Read) (Verdict, bool) {
	if !a.Kept || c.mode == Bypass {
		return Verdict{}, false
	}
	for _, p := range a.Below.Paths {
		if one := (Read{Path: p.Path, Named: p.Named}); c.rules.secret(one) && !c.hides(p) && c.find(Allow, one) == nil && c.find(Deny, one) == nil {
			return c.classifiable(Verdict{Effect: Ask, Reason: a.Asked + " would put " + p.Path + ", which may hold secrets, into the repository", Check: CheckSecret, Part: p.Path, Suggest: c.suggest(one)}), true
		}
	}
	return Verdict{}, false
}

// mayName asks about files that a command may mean and a rule denies. In the
// sandbox it can do nothing to them.
func (c *call) mayName(a Action, folder string, below *Below, touch func(path, named string) Action) Verdict {
	if c.req.Sandboxed {
		return Verdict{Effect: Allow, Reason: "it runs inside the sandbox", Check: CheckMaybe, Part: folder}
	}
	for _, p := range below.Paths {
		if rule := c.find(Deny, touch(p.Path, p.Named)); rule != nil {
			return c.unlessDontAsk(byRule(Ask, rule, a, "what it reads or writes is not known, and may be "+p.Path+", which a rule denies"))
		}
	}
	if below.Short != "" {
		for i := range c.rules.by[Deny] {
			rule := &c.rules.by[Deny][i]
			if matchesFamily(rule, touch("", "")) && rule.matchBelow(c.rules.Rules, folder) {
				return c.unlessDontAsk(byRule(Ask, rule, a, "what it reads or writes is not known, and a rule may deny it: "+below.Short))
			}
		}
	}
	return Verdict{Effect: Allow, Reason: "no rule speaks against it", Check: CheckMaybe, Part: folder}
}

// matchesFamily reports whether a rule is about reading, or about writing, as a is.
func matchesFamily(rule *compiledRule, a Action) bool {
	if _, read := a.(Read); read {
		return rule.family() == "Read"
	}
	return rule.family() == "Edit"
}

// writeTree is the strictest verdict on the paths that are written or removed.
func (c *call) writeTree(a Write) Verdict {
	below := a.Below
	a.Below = nil
	v := c.one(a)
	for _, p := range below.Paths {
		one := a
		one.Path, one.Named, one.Asked, one.Tree = p.Path, p.Named, "", false
		v = graver(v, c.judge(one))
		if a.Moved { // under another name the rule would not know it
			if rule := c.find(Deny, Read{Path: one.Path, Named: one.Named}); rule != nil {
				v = graver(v, byRule(Deny, rule, one, "it moves "+p.Path+", which a rule denies"))
			}
			if r := (Read{Path: one.Path, Named: one.Named}); c.rules.secret(r) { // nor would anybody know what it holds
				v = graver(v, c.judge(r))
			}
		}
		if v.Effect == Deny {
			break
		}
	}
	return v
}

// moveUnseen is the verdict on moving a folder whose content is not listed: a
// rule that may forbid to read some of it makes it a question in every mode.
func (c *call) moveUnseen(a Write) Verdict {
	v := c.one(a)
	for i := range c.rules.by[Deny] {
		rule := &c.rules.by[Deny][i]
		if rule.family() == "Read" && rule.Spec != "" && rule.matchBelow(c.rules.Rules, a.Path) {
			return graver(v, c.unlessDontAsk(byRule(Ask, rule, a, "it may move what a rule denies to read below "+c.show(a.Asked, a.Path))))
		}
	}
	return v
}

// writeWithin is the verdict on writing somewhere below a folder: a rule that
// forbids some of it makes it a question in every mode.
func (c *call) writeWithin(a Write) Verdict {
	below := a.Below
	a.Within, a.Tree, a.Below = false, false, nil
	v := c.judge(a)
	speaks := func(rule *compiledRule) bool { _, sure := c.stands(rule, a); return sure != not }
	if below != nil {
		speaks = func(rule *compiledRule) bool {
			return slices.ContainsFunc(below.Paths, func(p Place) bool { return rule.matchPath(c.rules.Rules, p.Path) })
		}
	}
	for _, e := range []Effect{Deny, Ask} {
		for i := range c.rules.by[e] {
			rule := &c.rules.by[e][i]
			if rule.family() == "Edit" && speaks(rule) {
				return graver(v, c.unlessDontAsk(byRule(Ask, rule, a, fmt.Sprintf("what it writes below %s is not known, and a rule speaks about some of it", c.show(a.Asked, a.Path)))))
			}
		}
	}
	return v
}

// classifiable is a question that the classifier of auto mode may answer.
func (c *call) classifiable(v Verdict) Verdict {
	if c.mode == Auto {
		v.Check = CheckAuto
		return v
	}
	return c.unlessDontAsk(v)
}

// A Cover says why a file is left out of what a search prints.
type Cover int

// Covers.
const (
	Uncovered Cover = iota
	Denied          // a rule denies reading it
	Asked           // a rule asks about reading it
	Secret          // it may hold secrets, and no rule allows it
)

// Covers tells which files a search leaves out that walks a folder, because to
// read one of them would be refused or asked about. The function it returns
// takes a resolved path and the one it was reached by, and may be called by
// several goroutines.
func Covers(r Rules) func(m Mode, path, named string) Cover {
	rules := compileRules(r)
	var read [3][]compiledRule // those about reading, by effect
	for e, list := range rules.by {
		for _, rule := range list {
			if rule.family() == "Read" {
				read[e] = append(read[e], rule)
			}
		}
	}
	speaks := func(e Effect, path, named string) bool {
		for i := range read[e] {
			rule := &read[e][i]
			if rule.Spec == "" || rule.matchPath(rules.Rules, path) || named != path && rule.matchPath(rules.Rules, named) {
				return true
			}
		}
		return false
	}
	return func(m Mode, path, named string) Cover {
		switch {
		case speaks(Deny, path, named):
			return Denied
		case speaks(Ask, path, named):
			return Asked
		case (m != Bypass || r.NoBypass) && (r.holdsSecrets(path) || named != path && r.holdsSecrets(named)) && !speaks(Allow, path, named):
			return Secret
		}
		return Uncovered
	}
}
