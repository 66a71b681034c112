package auto

import (
	"context"
	"errors"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// maxAnswer bounds the reply in tokens, reasoning included.
const maxAnswer = 2_048

// Small answers with a model, in one attempt and without tools.
type Small struct {
	Model llm.Model
	Name  string // the provider's own name
	ID    string // provider/model
	// Cost prices a usage in USD; nil knows no price.
	Cost func(llm.Usage) (usd float64, known bool)
}

// Complete returns the text of the reply and what it cost, as far as that is
// known. A reply that was cut short or declined is an error.
func (s Small) Complete(ctx context.Context, system string, msgs []llm.Message) (text string, spent event.Spent, err error) {
	r := llm.Request{Model: s.Name, System: []string{system}, Messages: msgs, MaxTokens: maxAnswer}
	for c, err := range s.Model.Stream(ctx, r) {
		if err != nil {
			return "", spent, err
		}
		if p, ok := c.(llm.Progress); ok { // billed, whatever comes of it
			spent = s.spent(p.Usage)
		}
		f, last := c.(llm.Finished)
		if !last {
			continue
		}
		spent = s.spent(f.Usage)
		if f.Stop != llm.EndTurn {
			return "", spent, errors.New("the reply stopped early: " + string(f.Stop))
		}
		var b strings.Builder
		for _, p := range f.Message.Parts {
			if t, ok := p.(llm.Text); ok {
				b.WriteString(t.S)
			}
		}
		return b.String(), spent, nil
	}
	return "", spent, errors.New("the reply broke off")
}

func (s Small) spent(u llm.Usage) event.Spent {
	if u == (llm.Usage{}) {
		return event.Spent{}
	}
	out := event.Spent{For: event.ForRuling, Model: s.ID, Usage: u}
	if s.Cost != nil {
		out.Cost, out.Priced = s.Cost(u)
	}
	return out
}
