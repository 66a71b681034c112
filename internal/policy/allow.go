package policy

import "cmp"

func (c *call) byMode(a Action) (Verdict, bool) {
	switch c.mode {
	case Bypass:
		return Verdict{Effect: Allow, Reason: "the mode is bypassPermissions", Check: CheckMode, Part: part(a)}, true
	case AcceptEdits:
		w, ok := a.(Write)
		if ok && !w.Blind && c.inDirs(w.Path) && (!c.owned || c.pure) && (!w.Remove || !w.Tree || w.Moved) {
			return Verdict{Effect: Allow, Reason: "the mode accepts edits inside the session's folders", Check: CheckMode, Part: w.Path}, true
		}
	case Default, Auto, DontAsk, PlanMode:
	}
	return Verdict{}, false
}

// inPlan lets research pass to the other checks and denies the rest.
func (c *call) inPlan(a Action) (Verdict, bool) {
	denied := func(why string) (Verdict, bool) {
		if rule := c.find(Allow, a); rule != nil {
			why += "; the rule " + rule.Text() + " counts in other modes"
		}
		return Verdict{Effect: Deny, Reason: "plan mode only reads: " + why, Check: CheckMode, Part: part(a)}, true
	}
	switch a := a.(type) {
	case Exec:
		switch {
		case a.ReadOnly && a.Loses == "":
		case a.Loses == "" && a.Edits:
			return denied("this changes files")
		default:
			return denied(cmp.Or(a.Loses, a.Beyond, a.Why, "no rule covers this command"))
		}
	case Opaque:
		return denied(unclear(a))
	case Write:
		if !c.inAny(c.rules.Writable, a.Path) {
			return denied("this writes " + c.show(a.Asked, a.Path))
		}
	case Call:
		if !a.ReadOnly {
			return denied("the tool may change things")
		}
	case Read, Net, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return Verdict{}, false
}

// allowed are allow rules and the things that are safe by themselves.
func (c *call) allowed(a Action) (Verdict, bool) {
	if rule := c.find(Allow, a); rule != nil && !c.deniedBelow(a) {
		return byRule(Allow, rule, a, "a rule allows it"), true
	}
	switch a := a.(type) {
	case None:
		return Verdict{Effect: Allow, Reason: "touches nothing", Check: CheckNone}, true
	case Call:
		if a.ReadOnly {
			return Verdict{Effect: Allow, Reason: "the MCP server " + a.Server + " says that this only reads, and the settings trust it", Check: CheckReadOnly, Part: part(a)}, true
		}
	case Spawn:
		return Verdict{Effect: Allow, Reason: "what the agent does is decided call by call", Check: CheckSpawn, Part: a.Agent}, true
	case Tell:
		if a.Own {
			return Verdict{Effect: Allow, Reason: "it is said to an agent of this session", Check: CheckNone, Part: a.To}, true
		}
	case Exec:
		if c.mixed && a.Unpinned != "" {
			break
		}
		if a.Sure == Inside {
			return Verdict{Effect: Allow, Reason: "no rule speaks against it", Check: CheckMaybe, Part: part(a)}, true
		}
		if a.ReadOnly && a.Beyond == "" {
			return Verdict{Effect: Allow, Reason: "it provably only reads", Check: CheckReadOnly, Part: part(a)}, true
		}
		if c.hide == hideNone && handlesUnnamed(a) {
			return Verdict{}, false // it may read what the call writes
		}
		if a.Edits && a.Beyond == "" {
			return Verdict{Effect: Allow, Reason: "the paths it changes are judged one by one", Check: CheckEdits, Part: part(a)}, true
		}
	case Read:
		if v, ok := c.readable(a); ok {
			return v, true
		}
		if c.given(a) {
			break
		}
		if c.rules.secret(a) {
			return Verdict{}, false // the sandbox keeps nothing from the model
		}
	case Write:
		if c.inAny(c.rules.Writable, a.Path) {
			return Verdict{Effect: Allow, Reason: "the folder belongs to this session", Check: CheckScratch, Part: a.Path}, true
		}
		if c.note(a) {
			return Verdict{Effect: Allow, Reason: "it is a note of the model's own", Check: CheckScratch, Part: a.Path}, true
		}
		if c.covered != nil && (!c.flagged || c.inDirs(a.Path) || c.covered.says(a.Asked)) {
			return byRule(Allow, c.covered, a, "the command's rule covers it"), true
		}
	case Skill:
		if a.Plain {
			return Verdict{Effect: Allow, Reason: "it brings nothing but words", Check: CheckNone, Part: a.Name}, true
		}
	case Opaque:
		if c.hide == hideNone && readsUnseen(a) {
			return Verdict{}, false // it may read what the call writes
		}
	case Net, Workflow, Person:
	}
	if c.req.Sandboxed && !c.attended(a) && !c.wouldFail(a) {
		return Verdict{Effect: Allow, Reason: "it runs inside the sandbox", Check: CheckSandbox, Part: part(a)}, true
	}
	return Verdict{}, false
}

// wouldFail reports whether a call that was read, and runs nothing that could be more, cannot
// do in the sandbox what it is for: a question comes first, as a yes opens the path for it.
func (c *call) wouldFail(a Action) bool {
	w, ok := a.(Write)
	return ok && w.Barred && !c.mixed && !c.inDirs(w.Path)
}

// attended reports whether a person is asked about an action that the sandbox alone
// would be reason enough for: not about reading, which the sandbox keeps within bounds.
func (c *call) attended(a Action) bool {
	if _, reads := a.(Read); reads {
		return false
	}
	return c.rules.Attended && (c.mode == Default || c.mode == AcceptEdits || c.mode == PlanMode)
}

func (c *call) readable(a Read) (Verdict, bool) {
	if c.rules.secret(a) {
		return Verdict{}, false
	}
	if c.deniedBelow(a) {
		return Verdict{}, false
	}
	around := c.rules.Repository != "" && !shellTool(c.req.Tool) && Within(c.rules.Repository, a.Path, c.rules.FoldCase)
	if !public[a.Path] && !around && !c.inDirs(a.Path) && !c.inAny(c.rules.Readable, a.Path) && !c.inAny(c.rules.Writable, a.Path) && !c.inAny(c.rules.Notes, a.Path) {
		if c.covered != nil {
			return byRule(Allow, c.covered, a, "the command's rule covers it"), true
		}
		return Verdict{}, false
	}
	return Verdict{Effect: Allow, Reason: "it reads inside the session's folders", Check: CheckReadOnly, Part: a.Path}, true
}

// public are files of the system that say what it is, and nothing of who uses it.
var public = map[string]bool{
	"/etc/os-release": true, "/usr/lib/os-release": true, "/etc/lsb-release": true, "/etc/debian_version": true, "/etc/redhat-release": true, "/etc/alpine-release": true,
	"/proc/cpuinfo": true, "/proc/meminfo": true, "/proc/version": true, "/proc/loadavg": true, "/proc/uptime": true,
}

// deniedBelow reports whether an action reads all of a folder, and a rule may
// deny some of that. No rule that allows it speaks of what another one denies.
func (c *call) deniedBelow(a Action) bool {
	r, ok := a.(Read)
	if !ok || !r.Tree || r.List {
		return false
	}
	for i := range c.rules.by[Deny] {
		rule := &c.rules.by[Deny][i]
		if rule.family() == "Read" && !(r.Visible && rule.hidden()) && rule.matchBelow(c.rules.Rules, r.Path) {
			return true
		}
	}
	return false
}

// readsWritten is why a call asks that has to see a secret which it may show.
const readsWritten = "it may read a file that the call writes, and that may hold secrets"

// nothing is the answer when nothing matched.
func (c *call) nothing(a Action) Verdict {
	v := Verdict{Effect: Ask, Check: CheckNoRule, Part: part(a), Reason: "no rule allows this", Suggest: c.suggest(a)}
	switch a := a.(type) {
	case Exec:
		v.Reason = cmp.Or(c.uncovered(a.Argv, a.Beyond), c.uncovered(a.Argv, c.strayed(a)), noRule(a))
		v.Check = CheckNotReadOnly
		if c.hide == hideNone && handlesUnnamed(a) {
			v.Reason, v.Check = readsWritten, CheckSecret
		}
		if c.mixed && a.Unpinned != "" {
			v.Reason, v.Check = "beside a command that does more than read, it runs with all settings, and then may do more itself: "+a.Unpinned, CheckUnpinned
		}
	case Opaque:
		v.Reason, v.Check = unclear(a), CheckOpaque
		if a.Of != nil {
			v.Reason = cmp.Or(c.uncovered(a.Of.Argv, v.Reason), v.Reason)
		}
		if c.hide == hideNone && readsUnseen(a) {
			v.Reason, v.Check = readsWritten, CheckSecret
		}
	case Read:
		switch {
		case c.rules.secret(a):
			v.Reason, v.Check = c.show(cmp.Or(a.Asked, a.Named), a.Path)+" may hold secrets", CheckSecret
		case c.deniedBelow(a):
			v.Reason, v.Check, v.Suggest = "it may read files below "+c.show(a.Asked, a.Path)+" that a rule denies", CheckDeniedBelow, nil
		default:
			v.Reason, v.Check = c.show(a.Asked, a.Path)+" is outside the folders that may be read", CheckOutside
		}
	case Write:
		v.Reason, v.Check = c.unruled(a), CheckWrite
		if !c.inDirs(a.Path) {
			v.Check = CheckOutside
		}
	case Net:
		v.Reason = "no rule allows connections to " + a.Host
	case Call:
		v.Reason = "no rule allows this tool of the MCP server " + a.Server
	case Skill:
		v.Reason = "no rule allows the skill " + a.Name
	case Tell:
		v.Reason = "no rule allows messages to the session " + a.To
	case Workflow:
		v.Reason = "no rule allows the workflow " + a.Name + ", which starts agents as often as its script says"
		if a.Inline {
			v.Reason = "the model wrote the workflow " + a.Name + " for this call, and it starts agents as often as it says"
		}
	case Spawn, Person, None:
	}
	if c.mode == Auto {
		v.Check = CheckAuto
		return v
	}
	return c.unlessDontAsk(v)
}
