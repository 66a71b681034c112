package confine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// answering is a session in which this is the answer.
type answering struct {
	v   agent.Verdict
	err error
}

func (a answering) Ask(context.Context, agent.Question) (agent.Verdict, error) { return a.v, a.err }
func (a answering) Mode() policy.Mode                                          { return policy.Default }

// What a person says of a connection is read with the result of the command, each time.
func TestWordsOfAConnection(t *testing.T) {
	deny := func(reason string, by event.By) agent.Verdict {
		return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Deny, Reason: reason}, By: by}
	}
	person := event.Client("terminal")
	allow := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}, By: person, Answer: &op.Answer{Allow: true}}
	minded := allow
	minded.Answer = &op.Answer{Allow: true, Comment: " only once "}
	for name, c := range map[string]struct {
		answering
		want []string
	}{
		"a no":           {answering{v: deny("the person said no", person)}, []string{"the person refused the connection to example.com:443: the person said no"}},
		"a no in words":  {answering{v: deny("the person said no: use the package manager", person)}, []string{"the person refused the connection to example.com:443: the person said no: use the package manager"}},
		"a yes":          {answering{v: allow}, nil},
		"a yes in words": {answering{v: minded}, []string{"the person allowed the connection to example.com:443, and adds: only once"}},
		"a rule":         {answering{v: deny("a rule denies it", event.By{})}, nil},
		"a hook":         {answering{v: deny("a hook (h) said no", event.By{Kind: event.ByHook, Name: "h"})}, nil},
		"withdrawn":      {answering{err: errors.New("the session is over")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Config{})
			b.Attend(c.answering)
			for range 2 {
				if a := b.connect(t.Context(), "example.com", 443); a.Allow != (c.v.Effect == policy.Allow && c.err == nil) {
					t.Errorf("%+v", a)
				}
				if got := b.Quarantined(t.Context()); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}
