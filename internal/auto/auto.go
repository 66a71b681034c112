// Package auto is the classifier of auto mode: it has a small model rule on
// calls that would otherwise be a question to a person. It sees what people
// wrote and which calls were made, never the result of a call nor what the
// model says about a call, so that neither text from files and pages nor the
// model itself can argue with it. Whatever goes wrong is a
// question to the person. It is never consulted about bypass-immune checks,
// and it decides nothing that a rule decides.
package auto

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

//go:embed instructions.md
var instructions string

// Timeout bounds one ruling, with all attempts at it.
const Timeout = 10 * time.Second

// maxReason bounds the classifier's reason, in characters.
const maxReason = 300

// An Effect is what the classifier says.
type Effect string

// Effects. SoftDeny yields to what a person asked for, which the classifier
// has already weighed; HardDeny does not. Both refuse the call.
const (
	Allow    Effect = "allow"
	SoftDeny Effect = "soft_deny"
	HardDeny Effect = "hard_deny"
	Ask      Effect = "ask"
)

// A Ruling is an effect and why, in one sentence.
type Ruling struct {
	Effect Effect
	Reason string
}

// Over turns the question v into the verdict after the ruling.
func (r Ruling) Over(v policy.Verdict) policy.Verdict {
	switch r.Effect {
	case Allow:
		return policy.Verdict{Effect: policy.Allow, Reason: "auto mode: " + r.Reason, Check: Check, Part: v.Part, Needs: v.Needs}
	case SoftDeny, HardDeny:
		v.Effect, v.Reason, v.Suggest = policy.Deny, "auto mode: "+r.Reason, nil
		return v
	case Ask:
	}
	v.Effect = policy.Ask
	if r.Reason != "" {
		v.Reason += " (auto mode: " + r.Reason + ")"
	}
	return v
}

// Check is the check of a verdict that a classifier may settle.
const Check = policy.CheckAuto

// Applies reports whether a verdict is a question that the classifier may
// settle. Rules that ask, protected paths, dangerous removal and tools that
// need a person are not.
func Applies(v policy.Verdict) bool { return v.Effect == policy.Ask && v.Check == Check }

// Sentences are what settings tell the classifier, in plain language.
type Sentences struct {
	Allow, SoftDeny, HardDeny, Environment []string
}

// A Classifier rules on cases. It keeps nothing between them.
type Classifier struct {
	Model     judge.Model // nil asks about everything
	Sentences Sentences
}

// A Case is a planned call and what led to it.
type Case struct {
	Call    llm.ToolUse
	Tool    string // its own name, when the model may have called it by another
	Actions []policy.Action
	Verdict policy.Verdict // the question that would be asked
	History History
	Dir     string // the working directory
}

// Judge rules on one case within Timeout. It fails closed: an error, a
// timeout, and an answer that is not exactly what was asked for are Ask. spent
// is zero when no model answered.
func (c Classifier) Judge(ctx context.Context, k Case) (r Ruling, spent event.Spent) {
	switch {
	case !Applies(k.Verdict):
		return Ruling{Ask, "a person decides this"}, spent
	case c.Model == nil:
		return Ruling{Ask, "there is no small model to rule on it"}, spent
	}
	text, err := k.document()
	if err != nil {
		return Ruling{Ask, err.Error()}, spent
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, spent, err := judge.Ask(ctx, c.Model, c.system(), text)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Ruling{Ask, fmt.Sprintf("the check took more than %v", Timeout)}, spent
	case ctx.Err() != nil:
		return Ruling{Ask, "the check was given up"}, spent
	case err != nil:
		return Ruling{Ask, "the check failed: " + clip.Line(clip.Clean(err.Error()), maxReason)}, spent
	}
	r, err = parse(out, k.token())
	if err != nil {
		return Ruling{Ask, "the check gave no usable answer: " + err.Error()}, spent
	}
	return r, spent
}

// system are the instructions with the sentences of the settings.
func (c Classifier) system() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructions))
	for _, s := range []struct {
		title string
		list  []string
	}{
		{"The environment", c.Sentences.Environment},
		{"Allowed", c.Sentences.Allow},
		{"Refused unless a person asked for it (soft_deny)", c.Sentences.SoftDeny},
		{"Always refused (hard_deny)", c.Sentences.HardDeny},
	} {
		if len(s.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n\n## %s\n", s.title)
		for _, line := range s.list {
			fmt.Fprintf(&b, "\n* %s", strings.Join(strings.Fields(line), " "))
		}
	}
	return b.String()
}

// token is what the answer must repeat. Text that was written before the call
// existed cannot know it, so an answer planted in a file name or a command
// and echoed by the model is not taken.
func (k Case) token() string { return judge.Token(k.Call.ID, string(k.Call.Input)) }

// parse reads exactly one JSON object of token, ruling and reason.
func parse(s, token string) (Ruling, error) {
	got, err := judge.Read(s, token, "ruling", "reason")
	if err != nil {
		return Ruling{}, err
	}
	r := Ruling{Effect: Effect(got["ruling"]), Reason: clip.Line(judge.Visible(got["reason"]), maxReason)}
	switch r.Effect {
	case Allow, SoftDeny, HardDeny, Ask:
	default:
		return Ruling{}, errors.New("it does not say allow, soft_deny, hard_deny or ask")
	}
	if strings.TrimSpace(r.Reason) == "" {
		return Ruling{}, errors.New("it gives no reason")
	}
	return r, nil
}
