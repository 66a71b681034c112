package auto

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/text/clip"
)

//go:embed handoff.md
var handoff string

// Bounds of what of a hand-off is shown, in bytes: of the task, and of what was done.
const (
	maxTask = 8_000
	maxDid  = 30_000
)

// A Handoff is the end of an agent, before whoever started it reads what it says.
type Handoff struct {
	History History // of the session that started it
	Task    string  // what it was given to do
	End     event.TaskEnded
}

// Harmless reports whether the agent did nothing that could do harm: it only looked at files,
// and nothing of it was refused.
func (h Handoff) Harmless() bool {
	for _, d := range h.End.Did {
		if !d.Look || d.Denied || len(d.Changed) > 0 {
			return false
		}
	}
	return h.End.Left == 0
}

// Review looks once at what an agent did, within Timeout. doubt says what is suspicious, or
// that nobody could look; it is "" where all is well. spent is zero when no model answered.
func (c Classifier) Review(ctx context.Context, h Handoff) (doubt string, spent event.Spent) {
	if h.Harmless() {
		return "", spent
	}
	doubt, spent, err := c.review(ctx, h)
	if err != nil {
		doubt = "what it did could not be checked: " + clip.Line(clip.Clean(err.Error()), maxReason)
	}
	return doubt, spent
}

func (c Classifier) review(ctx context.Context, h Handoff) (doubt string, spent event.Spent, err error) {
	if c.Model == nil {
		return "", spent, errors.New("there is no small model for it")
	}
	doc := struct {
		Token  string   `json:"token"`
		Person []string `json:"person"`
		Task   string   `json:"task"`
		Did    []string `json:"did"`
	}{h.token(), []string{}, clip.Middle(judge.Visible(h.Task), maxTask, ""), h.History.Facts.deeds(h.End.Did, h.End.Left, maxDid)}
	steps, _ := h.History.render()
	for _, s := range steps {
		if said, ok := s["person"].(string); ok {
			doc.Person = append(doc.Person, said)
		}
	}
	text, err := judge.Document(doc)
	if err != nil {
		return "", spent, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, spent, err := judge.Ask(ctx, c.Model, strings.TrimSpace(handoff), text)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", spent, fmt.Errorf("the check took more than %v", Timeout)
	case err != nil:
		return "", spent, err
	}
	got, err := judge.Read(out, h.token(), "ruling", "reason")
	if err != nil {
		return "", spent, fmt.Errorf("the check gave no usable answer: %w", err)
	}
	reason := clip.Line(judge.Visible(got["reason"]), maxReason)
	switch {
	case got["ruling"] == "fine":
		return "", spent, nil
	case got["ruling"] != "suspicious" || strings.TrimSpace(reason) == "":
		return "", spent, errors.New("the check gave no usable answer: it does not say fine or suspicious, and why")
	}
	return reason, spent, nil
}

func (h Handoff) token() string {
	own := []string{h.End.ID, h.Task}
	for _, d := range h.End.Did {
		own = append(own, d.Tool, string(d.Input))
	}
	return judge.Token(own...)
}
