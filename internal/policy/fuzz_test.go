package policy_test

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// made turns bytes into rules, a mode and a request.
type made struct{ b []byte }

func (m *made) next(n int) int {
	if len(m.b) == 0 {
		return 0
	}
	c := int(m.b[0])
	m.b = m.b[1:]
	return c % n
}

func (m *made) pick(list ...string) string { return list[m.next(len(list))] }

func (m *made) path() string {
	return m.pick("/w", "/w/a", "/w/a/b.go", "/w/.git/config", "/w/.env", "/home/u", "/home/u/.ssh/id_rsa", "/", "", "/etc/passwd", "/w-evil/x", "/w/.github/workflows/x", "/w/a\x00b", "/s/plan.md", "/W/A", "/w/\\..\\x")
}

func (m *made) action() policy.Action {
	flag := func() bool { return m.next(2) == 1 }
	switch m.next(10) {
	case 0, 1:
		e := policy.Exec{ReadOnly: flag(), Edits: flag(), Spellings: policy.Spellings{Loose: flag()}, Dir: m.path()}
		for range m.next(4) {
			e.Argv = append(e.Argv, m.pick("git", "rm", "ls", "/bin/./rm", "add", "-rf", "*", "", "a b", "timeout", "push"))
		}
		if flag() {
			e.Also = [][]string{{"timeout", "5", "rm"}, nil}
		}
		if flag() {
			e.Beyond = "beyond"
		}
		if flag() {
			e.Loses = "loses"
		}
		return e
	case 2:
		return policy.Opaque{Source: "$x", Why: "why"}
	case 3:
		return policy.Read{Path: m.path(), Asked: m.path(), Named: m.path(), Tree: flag(), Visible: flag(), List: flag()}
	case 4:
		return policy.Write{Path: m.path(), Asked: m.path(), Named: m.path(), Tree: flag(), Remove: flag(), Moved: flag(), Blind: flag()}
	case 5:
		return policy.Net{Host: m.pick("a.example", "", "x.a.example", "A.EXAMPLE."), URL: m.pick("", "https://a.example/x")}
	case 6:
		return policy.Call{Server: m.pick("s", "", "t"), Tool: m.pick("x", "y"), ReadOnly: flag()}
	case 7:
		return policy.Spawn{Agent: m.pick("a", "b", "")}
	case 8:
		return policy.Skill{Name: m.pick("k", "k x", "")}
	}
	return m.other(flag())
}

func (m *made) other(person bool) policy.Action {
	if person {
		return policy.Person{Why: "why"}
	}
	return policy.None{}
}

func (m *made) rule() policy.Rule {
	return policy.Rule{
		Tool:   m.pick("Bash", "Read", "Edit", "Write", "WebFetch", "mcp__s", "mcp__s__x", "mcp__s__*", "Agent", "Skill", "", "Glob"),
		Spec:   m.pick("", "*", "rm:*", "git add *", "ls", "git * x", "//w/**", "a/", "*.go", "~/x", "/a", "//**/.env", "domain:a.example", "domain:*", "a", "k *", "[", "\\", ":*", "//etc/*"),
		Effect: policy.Effect(m.next(3)), Scope: policy.Scope(m.pick("user", "managed", "session", "project")), Root: m.path(),
	}
}

func (m *made) rules() policy.Rules {
	r := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/home/u", Readable: []string{"/r"}, Writable: []string{"/s"}}
	r.FoldCase, r.ManagedOnly, r.NoBypass = m.next(4) == 1, m.next(4) == 1, m.next(4) == 1
	if m.next(8) == 1 {
		r.Unsafe = "unsafe"
	}
	for range m.next(6) {
		r.List = append(r.List, m.rule())
	}
	return r
}

func modes() []policy.Mode {
	return []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.DontAsk, policy.Bypass, "", "other"}
}

// FuzzDecide: it never panics; the verdict is the strictest of its parts; a
// deny rule more never loosens, an allow rule more never lifts a deny or what
// holds in every mode; nothing that asks a person is allowed by any of them.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("a0b1c2d3e4f5g6h7i8j9"))
	f.Add([]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &made{b}
		r := m.rules()
		mode := modes()[m.next(len(modes()))]
		q := policy.Request{Tool: m.pick("Bash", "Read", "Edit", "WebFetch", "mcp__s__x", "", "Agent"), Sandboxed: m.next(2) == 1}
		for range m.next(5) {
			q.Actions = append(q.Actions, m.action())
		}
		if m.next(2) == 1 {
			q.Actions = policy.Nested(q.Actions...)
		}
		extra := m.rule()
		v, each := policy.Judge(r, mode, q)
		worst := policy.Allow
		for _, e := range each {
			worst = max(worst, e.Effect)
		}
		if len(each) > 0 && v.Effect != worst {
			t.Fatalf("the verdict is %v, its strictest part %v", v, worst)
		}
		if len(q.Actions) == 0 && v.Effect == policy.Allow {
			t.Fatalf("nothing named, and allowed: %+v", v)
		}
		if v.Reason == "" {
			t.Errorf("no reason: %+v for %+v", v, q)
		}
		if mode == policy.DontAsk && v.Effect == policy.Ask && v.Check != "person" {
			t.Errorf("dontAsk asks: %+v", v)
		}

		with := func(e policy.Effect, at int) policy.Verdict {
			more := extra
			more.Effect = e
			r2 := r
			r2.List = slices.Insert(slices.Clone(r.List), min(at, len(r.List)), more)
			return policy.Decide(r2, mode, q)
		}
		for at := range 2 {
			if got := with(policy.Deny, at*len(r.List)); got.Effect < v.Effect {
				t.Errorf("one more deny rule %s loosens %v to %v: %+v", extra.Text(), v, got, q)
			}
			// permissions.md asks by rule before it looks at the mode.
			if got := with(policy.Ask, at*len(r.List)); got.Effect < v.Effect && !(mode == policy.PlanMode && v.Check == "mode") {
				t.Errorf("one more ask rule %s loosens %v to %v: %+v", extra.Text(), v, got, q)
			}
			got := with(policy.Allow, at*len(r.List))
			if v.Effect == policy.Deny && v.Check == "rule" && got.Effect != policy.Deny {
				t.Errorf("the allow rule %s lifts a deny: %v to %v", extra.Text(), v, got)
			}
			if v.Effect == policy.Ask && (v.Check == "dangerous-removal" || v.Check == "protected-path" && v.Suggest == nil || v.Check == "person" || v.Check == "path") && got.Effect == policy.Allow {
				t.Errorf("the allow rule %s lifts %s: %+v", extra.Text(), v.Check, v)
			}
			if got.Effect > v.Effect && mode != policy.PlanMode {
				t.Errorf("one more allow rule %s tightens %v to %v", extra.Text(), v, got)
			}
		}
	})
}
