package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/usage"
)

// A Goal is what a session works for, as it is now.
type Goal struct {
	event.GoalSet
	Status event.GoalStatus
	Why    string        // of the newest judgement, or why it has this status
	Set    time.Time     // when it was set
	Since  event.Seq     // of its GoalSet
	From   event.Seq     // the InputAccepted that it began with, 0 before it
	Judged int           // how often it was judged
	Same   int           // as in event.GoalChanged
	Still  int           // likewise
	Used   int           // turns since it was set, or a person had it go on
	Worked time.Duration // of the turns that ended while it was pursued
	// Tokens and cost of the session at that time.
	WasTokens int
	WasUSD    float64
}

// Pursued is the goal that the session works for, nil when there is none or it is not
// pursued.
func (s State) Pursued() *Goal {
	if s.Goal == nil || s.Goal.Status != event.GoalActive {
		return nil
	}
	return s.Goal
}

// spentOf are all tokens of what was spent.
func spentOf(u usage.Spent) int { return u.Usage.Prompt() + u.Usage.Out }

// GoalUse is what was used for the goal since it was set, or a person had it go on.
func (s State) GoalUse() (turns, tokens int, usd float64) {
	if s.Goal == nil {
		return 0, 0, 0
	}
	return s.Goal.Used, spentOf(s.Total) - s.Goal.WasTokens, s.Total.Cost - s.Goal.WasUSD
}

// GoalText says how the goal is, in a few lines of Markdown.
func (s State) GoalText() string {
	g := s.Goal
	if g == nil {
		return "No goal is set. `/goal CONDITION` sets one: the session works until that is so."
	}
	turns, tokens, usd := s.GoalUse()
	of := func(used string, bound any, set bool) string {
		if set {
			return fmt.Sprintf("%s of %v", used, bound)
		}
		return used
	}
	lines := []string{"**" + string(g.Status) + "**: " + clip.Visible(g.Condition)}
	if g.Why != "" {
		lines = append(lines, "* "+clip.Visible(g.Why))
	}
	used := []string{of(clip.Count(turns, "turn"), g.Turns, g.Turns > 0), of(clip.Count(tokens, "token"), clip.Thousands(g.Tokens), g.Tokens > 0)}
	if usd > 0 || g.USD > 0 {
		used = append(used, of(fmt.Sprintf("$%.2f", usd), fmt.Sprintf("$%.2f", g.USD), g.USD > 0))
	}
	if g.Worked >= time.Second {
		used = append(used, clip.Span(g.Worked))
	}
	lines = append(lines, "* "+strings.Join(used, ", ")+"; judged "+clip.Count(g.Judged, "time"))
	switch g.Status {
	case event.GoalActive:
		lines = append(lines, "* `/goal pause` and `/goal clear` end that")
	case event.GoalPaused, event.GoalBlocked, event.GoalBudget:
		lines = append(lines, "* `/goal resume` goes on with it")
	case event.GoalComplete, event.GoalCleared:
	}
	return strings.Join(lines, "\n")
}

// goal applies what happens to the goal.
func (s State) goal(e event.Event) State {
	switch b := any(e.Body).(type) {
	case event.GoalSet:
		s.Goal = &Goal{GoalSet: b, Status: event.GoalActive, Set: e.Time, Since: e.Seq, WasTokens: spentOf(s.Total), WasUSD: s.Total.Cost}
	case event.GoalChanged:
		if s.Goal == nil {
			return s
		}
		if b.Status == event.GoalCleared {
			s.Goal = nil
			return s
		}
		g := *s.Goal
		g.Status, g.Why, g.Same, g.Still = b.Status, b.Why, b.Same, b.Still
		if b.By == event.GoalByJudge {
			g.Judged++
		}
		if b.By == event.GoalByPerson && b.Status == event.GoalActive {
			g.Used, g.WasTokens, g.WasUSD = 0, spentOf(s.Total), s.Total.Cost
			g.Turns, g.Tokens, g.USD = b.Turns, b.Tokens, b.USD
		}
		s.Goal = &g
	default:
		panic(fmt.Sprintf("transcript: %T is not about a goal", b))
	}
	return s
}

// toward changes the goal that is pursued, if there is one.
func (s State) toward(change func(*Goal)) State {
	if s.Pursued() == nil {
		return s
	}
	g := *s.Goal
	change(&g)
	s.Goal = &g
	return s
}
