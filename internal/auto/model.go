package auto

import (
	"context"
	"errors"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// maxAnswer bounds the reply in tokens, reasoning included.
const maxAnswer = 2_048

// Small answers with a model, in one attempt and without tools.
type Small struct {
	Model llm.Model
	Name  string // the provider's own name
	// Spent, when set, is told what an answer cost.
	Spent func(llm.Usage)
}

// Complete returns the text of the reply. A reply that was cut short or
// declined is an error.
func (s Small) Complete(ctx context.Context, system string, msgs []llm.Message) (string, error) {
	r := llm.Request{Model: s.Name, System: []string{system}, Messages: msgs, MaxTokens: maxAnswer}
	for c, err := range s.Model.Stream(ctx, r) {
		if err != nil {
			return "", err
		}
		f, last := c.(llm.Finished)
		if !last {
			continue
		}
		if s.Spent != nil {
			s.Spent(f.Usage)
		}
		if f.Stop != llm.EndTurn {
			return "", errors.New("the reply stopped early: " + string(f.Stop))
		}
		var b strings.Builder
		for _, p := range f.Message.Parts {
			if t, ok := p.(llm.Text); ok {
				b.WriteString(t.S)
			}
		}
		return b.String(), nil
	}
	return "", errors.New("the reply broke off")
}
