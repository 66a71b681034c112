package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A ruling is how a plan is approved or refused: the text of a message in this form
// (SendMessage of Claude Code, 2026-11).
type ruling struct {
	Type     string `json:"type"`
	Approve  bool   `json:"approve"`
	Feedback string `json:"feedback"`
}

// rulingType is the type of a ruling, and approval one that says yes.
const (
	rulingType = "plan_approval_response"
	approval   = `{"type":"` + rulingType + `","approve":true}`
)

// rules puts a letter that approves a plan, or refuses one, into words, with the mode that
// begins with it. Any other is as it was.
func (t *Tree) rules(from string, l Letter, to []address) (Letter, error) {
	var r ruling
	if !strings.HasPrefix(strings.TrimSpace(l.Text), "{") || json.Unmarshal([]byte(l.Text), &r) != nil || r.Type != rulingType {
		return l, nil
	}
	if len(to) != 1 {
		return l, refused("a plan is approved or refused for one agent at a time")
	}
	t.mu.Lock()
	m := t.of(to[0].session)
	var of, label string
	if m != nil {
		of, label = m.Order.Of, m.Label()
	}
	planner := m != nil && m.Plans
	t.mu.Unlock()
	switch {
	case !planner:
		return l, refused("%s has no plan that could be approved: it was not started with the mode plan", to[0].label)
	case from != of && from != t.root:
		return l, refused("the plan of the agent %s is approved by the session that started it, or by the main session", label)
	}
	lead, open := t.host.Look(of)
	if !open && of != t.root {
		lead, open = t.host.Look(t.root)
	}
	l.Typed = op.Span{}
	switch {
	case !r.Approve:
		l.Text = "Your plan was not approved. Change it and submit it again."
	case !open:
		return l, errOver
	case lead.Mode == policy.PlanMode:
		return l, refused("this session is in plan mode itself: nothing can be carried out before that ends")
	default:
		l.Text, l.Mode = "Your plan is approved, and plan mode is over. Carry it out.", lead.Mode
	}
	if r.Feedback != "" {
		l.Text += "\n" + r.Feedback
	}
	l.Summary = cmp.Or(l.Summary, clip.Line(l.Text, 80))
	return l, nil
}

// Submit sends the plan of an agent to the session that started it. told is for the agent.
func (t *Tree) Submit(ctx context.Context, from, call, plan string) (told string, err error) {
	t.mu.Lock()
	m := t.of(from)
	var name string
	if m != nil {
		name = m.called()
	}
	t.mu.Unlock()
	if m == nil {
		return "", errors.New("this session has nobody to approve a plan")
	}
	text := fmt.Sprintf("This is my plan. I do nothing before it is approved or refused, with SendMessage to %s and the message %s, or with \"approve\": false and \"feedback\".\n\n%s", name, approval, plan)
	got, err := t.Send(ctx, from, Letter{To: Parent, Text: text, Summary: "a plan to approve", Call: call})
	if err != nil {
		return "", err
	}
	if r := got[0]; r.How == event.MessageReturned {
		return "", r.Err
	}
	return fmt.Sprintf("Your plan was sent to %s. End your turn now, with one line; the answer begins your next one. Until then you only read.", got[0].To), nil
}

// maxTeam bounds the name of a team, in characters.
const maxTeam = 60

// Found implements team.Post: the team has a name from now on.
func (c Crew) Found(name string) (team, lead string) {
	t := c.Tree
	t.mu.Lock()
	defer t.mu.Unlock()
	t.team = clip.Line(clip.Clean(name), maxTeam)
	return t.team, t.root
}

// Team is what the agents of the tree are called together, "" for nothing.
func (t *Tree) Team() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.team
}

// Disband implements team.Post. works are the agents that still do.
func (c Crew) Disband() (team string, works []string) {
	for _, m := range c.Tree.List("") {
		if m.Works() {
			works = append(works, m.Label())
		}
	}
	t := c.Tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if team = t.team; len(works) == 0 {
		t.team = ""
	}
	return team, works
}
