package policy

// A settling is one step of a decision: what it looks for, as a sentence goes on behind a
// number, and the function that may settle an action.
type settling struct {
	what   string
	settle func(*call, Action) (Verdict, bool)
}

// settlings are the steps in their order: the first one that settles an action counts.
// The doc comment of Decide and the table in docs/permissions.md are written from them.
func settlings() []settling {
	return []settling{
		{"in a worktree of its own, a session is denied what is of another checkout", (*call).apart},
		{"a path that code or a flag only names: protected paths, deny rules, secrets; nothing else counts", (*call).mentioned},
		{"a deny rule denies", (*call).denied},
		{"a deny or ask rule that may mean the command, of which not all words are known, asks", (*call).mayBeDenied},
		{"a deny or ask rule that means a command which stands in this one decides", (*call).heldIn},
		{"a deny rule for a path that the command may change asks", (*call).mayEdit},
		{"a path with a NUL character is denied", (*call).malformed},
		{"the mode plan denies what does more than read", (*call).planned},
		{"a deny rule for something below a folder of which not all is known asks", (*call).mayHold},
		{"settings that could not be read ask about everything", (*call).unsafe},
		{"an ask rule asks", (*call).ruleAsks},
		{"what needs a person asks", (*call).person},
		{"protected paths, devices and what would be lost for good ask", (*call).protects},
		{"what a command only may mean is allowed: nothing forbids it", (*call).possible},
		{"the mode bypassPermissions asks, where a rule denies commands, about one that nobody could read", (*call).unseenInBypass},
		{"the mode allows: bypassPermissions everything, acceptEdits changes inside the folders", (*call).byMode},
		{"where a rule denies commands, one that nobody could read asks", (*call).unseen},
		{"allow rules, what provably only reads, and the sandbox allow", (*call).allowed},
		{"nothing matched: it asks, and the mode dontAsk denies", func(c *call, a Action) (Verdict, bool) { return c.nothing(a), true }},
	}
}

// one judges an action by its own path, whatever stands below that.
func (c *call) one(a Action) (v Verdict) {
	for _, s := range c.steps {
		if v, ok := s.settle(c, a); ok {
			return v
		}
	}
	return v
}

func (c *call) mentioned(a Action) (Verdict, bool) {
	r, ok := a.(Read)
	if !ok || r.Sure == Certain {
		return Verdict{}, false
	}
	if v, ok := c.immune(r); ok {
		return c.unlessDontAsk(v), true
	}
	if v, ok := c.deniedMention(r); ok {
		return c.unlessDontAsk(v), true
	}
	if r.Code && c.mode != Bypass && c.hide != HideAll && !c.given(r) && c.rules.secret(r) && c.find(Allow, Read{Path: r.Path, Named: r.Named, Asked: r.Asked}) == nil {
		return c.classifiable(Verdict{Effect: Ask, Reason: "the command names " + c.show(r.Asked, r.Path) + ", which may hold secrets", Check: CheckSecret, Part: r.Path}), true
	}
	return Verdict{Effect: Allow, Reason: "no check speaks against it", Check: CheckMaybe, Part: r.Path}, true
}

func (c *call) denied(a Action) (Verdict, bool) {
	rule := c.find(Deny, a)
	if rule == nil {
		return Verdict{}, false
	}
	if e, ok := a.(Exec); ok && e.Sure == Guessed {
		return c.unlessDontAsk(byRule(Ask, rule, a, "whether this program runs the command that its words are is not known, and a rule denies that")), true
	}
	return byRule(Deny, rule, a, c.denies(rule, a)), true
}

func (c *call) heldIn(a Action) (Verdict, bool) {
	e, ok := a.(Exec)
	if !ok {
		return Verdict{}, false
	}
	return c.held(e)
}

func (c *call) mayEdit(a Action) (Verdict, bool) {
	r, ok := a.(Read)
	if !ok || !r.Edits || c.req.Sandboxed {
		return Verdict{}, false
	}
	rule := c.deniedEdit(r)
	if rule == nil {
		return Verdict{}, false
	}
	return c.unlessDontAsk(byRule(Ask, rule, a, "a rule denies to edit "+c.show(r.Asked, r.Path)+", and whether this command does is not known")), true
}

func (c *call) planned(a Action) (Verdict, bool) {
	if c.mode != PlanMode || maybe(a) { // a yes would run it all the same
		return Verdict{}, false
	}
	return c.inPlan(a)
}

func (c *call) unsafe(a Action) (Verdict, bool) {
	if _, none := a.(None); none || c.rules.Unsafe == "" {
		return Verdict{}, false
	}
	return c.unlessDontAsk(Verdict{Effect: Ask, Reason: c.rules.Unsafe, Check: CheckUnsafe, Part: part(a)}), true
}

func (c *call) ruleAsks(a Action) (Verdict, bool) {
	rule := c.find(Ask, a)
	if rule == nil {
		return Verdict{}, false
	}
	return c.unlessDontAsk(byRule(Ask, rule, a, "a rule asks about it")), true
}

func (c *call) person(a Action) (Verdict, bool) {
	p, ok := a.(Person)
	if !ok {
		return Verdict{}, false
	}
	if p.Soft && (c.mode == Bypass || c.ruled()) {
		return Verdict{Effect: Allow, Reason: "what allows the command allows it", Check: CheckPerson}, true
	}
	return Verdict{Effect: Ask, Reason: p.Why, Check: CheckPerson}, true
}

func (c *call) protects(a Action) (Verdict, bool) {
	v, ok := c.immune(a)
	return c.unlessDontAsk(v), ok
}

func (c *call) possible(a Action) (Verdict, bool) {
	return Verdict{Effect: Allow, Reason: "no rule speaks against it", Check: CheckMaybe, Part: part(a)}, maybe(a)
}

func (c *call) unseenInBypass(a Action) (Verdict, bool) {
	if c.mode != Bypass {
		return Verdict{}, false
	}
	return c.unseen(a)
}
