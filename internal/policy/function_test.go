package policy

import "testing"

// A function in a rule is the one that a call defines, whatever its blanks and its name.
func TestFunctionRules(t *testing.T) {
	for _, c := range []struct {
		rule, source string
		want         bool
	}{
		{":(){ :|:& };:", ":(){ :|:& }", true},
		{":(){ :|:& };:", ":(){ :|: & }", true},
		{":(){:|:&};:", ":() { : | : & ; }", true},
		{":(){ :|:& };:*", ":(){ :|:& }", true},
		{":(){ :|:& };:", "ls(){ ls|ls& }", true},
		{"bomb() { bomb | bomb & }; bomb", "bomb", true},
		{":(){ :|:& };:", ":(){ echo; }", false},
		{":(){ :|:& };:", "bomb", false},
		{"ls -l", ":(){ :|:& }", false},
		{":(){ :|:&", ":(){ :|:& }", false},
	} {
		if got := functionOf(c.rule).matches(Opaque{Source: c.source}); got != c.want {
			t.Errorf("%s and %s: %v", c.rule, c.source, got)
		}
	}
	r := Rules{List: []Rule{{Tool: "Bash", Spec: ":(){ :|:& };:", Effect: Deny, Scope: User}}}
	v := Decide(r, Bypass, Request{Tool: "Bash", Actions: []Action{Opaque{Source: ":(){ :|:& }", Why: "a function that stands in for a command"}}})
	if v.Effect != Deny {
		t.Errorf("%+v", v)
	}
}
