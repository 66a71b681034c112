package policy

// Decide returns the strictest verdict over all actions. A request that
// names no action is Ask.
func Decide(r Rules, m Mode, q Request) Verdict {
	if len(q.Actions) == 0 {
		return Verdict{Effect: Ask, Reason: "the tool did not say what it would do", Check: "no-action"}
	}
	out := one(r, m, q, q.Actions[0])
	for _, a := range q.Actions[1:] {
		out = Strictest(out, one(r, m, q, a))
	}
	return out
}

func one(_ Rules, m Mode, _ Request, a Action) Verdict {
	if _, ok := a.(None); ok || m == Bypass {
		return Verdict{Effect: Allow, Reason: "touches nothing", Check: "none"}
	}
	return Verdict{Effect: Ask, Reason: "no rule covers this", Check: "default"}
}
