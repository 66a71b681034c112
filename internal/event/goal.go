package event

// Durable bodies about the goal of a session.
type (
	// GoalSet says what the session works for from now on. A goal that was set before is
	// replaced.
	GoalSet struct {
		Condition string  `json:"condition"`
		Typed     bool    `json:"typed,omitempty"`  // a person typed it
		Prompt    string  `json:"prompt,omitempty"` // the ID of the prompt that it began with, "" without one
		Turns     int     `json:"turns,omitempty"`  // bounds, as in op.Goal; 0: none
		Tokens    int     `json:"tokens,omitempty"`
		USD       float64 `json:"usd,omitempty"`
	}
	// GoalChanged says how the goal is after it was judged, or after somebody or something
	// else decided that.
	GoalChanged struct {
		Status GoalStatus `json:"status"`
		Why    string     `json:"why,omitempty"` // of a judgement its reason, in one sentence
		By     GoalBy     `json:"by"`
		// Same counts the judgements in a row, this one included, that gave the same reason
		// while nothing was done in between; Still those between which nothing was done,
		// whatever their reasons. Of a judgement.
		Same  int `json:"same,omitempty"`
		Still int `json:"still,omitempty"`
		// Turns, Tokens and USD are its bounds from now on, of a goal that goes on because a
		// person said so; what was used before does not count against them.
		Turns  int     `json:"turns,omitempty"`
		Tokens int     `json:"tokens,omitempty"`
		USD    float64 `json:"usd,omitempty"`
	}
)

// GoalJudging says that it is being judged whether the goal is reached. It is live.
type GoalJudging struct{}

// A GoalStatus is how a goal is. The names are those of thread goals of
// @openai/codex 0.171.0 but for GoalCleared.
type GoalStatus string

// Statuses of goals.
const (
	GoalActive   GoalStatus = "active"
	GoalPaused   GoalStatus = "paused"
	GoalBlocked  GoalStatus = "blocked"       // it cannot be reached, or not without a person
	GoalBudget   GoalStatus = "budgetLimited" // one of its bounds, or of the session's, is reached
	GoalComplete GoalStatus = "complete"
	GoalCleared  GoalStatus = "cleared" // there is none any more
)

// A GoalBy is who changed how a goal is.
type GoalBy string

// Who changes a goal.
const (
	GoalByJudge  GoalBy = "judge"  // whoever judges it after a turn
	GoalByPerson GoalBy = "person" // at a client
	GoalByTurn   GoalBy = "turn"   // how a turn ended
	GoalByBound  GoalBy = "bound"  // a bound, or that nothing was done
)

// String says it in a sentence.
func (b GoalChanged) String() string {
	switch b.Status {
	case GoalActive:
		if b.By == GoalByPerson {
			return "The goal is pursued again."
		}
		return "The goal is not reached yet: " + b.Why
	case GoalPaused:
		return sentence("The goal is paused", b.Why)
	case GoalBlocked:
		return sentence("The goal is given up", b.Why)
	case GoalBudget:
		return sentence("The goal has used up what it may", b.Why)
	case GoalComplete:
		return sentence("The goal is reached", b.Why)
	case GoalCleared:
		return "There is no goal any more."
	}
	return sentence("The goal is "+string(b.Status), b.Why)
}

func sentence(text, why string) string {
	if why == "" {
		return text + "."
	}
	return text + ": " + why
}

func (GoalSet) body()     {}
func (GoalChanged) body() {}
func (GoalJudging) body() {}
func (GoalJudging) live() {}
