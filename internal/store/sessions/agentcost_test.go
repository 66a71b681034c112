package sessions_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/store/sessions"
)

// The mean of what agents cost follows those that ended last, and is of one type and model.
func TestAgentCosts(t *testing.T) {
	s := sessions.In(t.TempDir())
	if got := s.AgentCosts("p"); got != nil {
		t.Errorf("%v", got)
	}
	if err := s.Ready("p"); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		s.AddAgentCost("p", "explore", "a/b", 1)
	}
	s.AddAgentCost("p", "explore", "a/c", 5)
	for range 60 {
		s.AddAgentCost("p", "explore", "a/b", 2)
	}
	got := s.AgentCosts("p")
	if len(got) != 2 || got[0].Model != "a/c" || got[0].USD != 5 || got[0].N != 1 {
		t.Fatalf("%+v", got)
	}
	if usd := got[1].USD; usd < 1.9 || usd > 2 {
		t.Errorf("%v", usd)
	}
	for i := range 200 {
		s.AddAgentCost("p", "plan", string(rune('a'+i)), 1)
	}
	if n := len(s.AgentCosts("p")); n != 64 {
		t.Errorf("%d rows", n)
	}
}
