package app

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Dry starts a session that is not meant to run: without a key, the
// instructions are those for a model that is not known.
func (w *World) Dry(ctx context.Context, s Spec) (*Running, error) {
	r, err := w.Start(ctx, s)
	if err == nil || w.Config().Model != "" {
		return r, err
	}
	s.Target = &agent.Target{Provider: "no", Name: "model"}
	return w.Start(ctx, s)
}

// A Size is how much of a request a part takes. Tokens are estimated.
type Size struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Instructions are the parts of the system prompt.
func (r *Running) Instructions() []prompt.Part { return slices.Clone(r.parts) }

// Sizes measures the instructions and the tools.
func (r *Running) Sizes() []Size {
	var out []Size
	for _, p := range r.parts {
		out = append(out, Size{p.Name, p.Tokens(), len(p.Text)})
	}
	for _, s := range r.Tools().Specs() {
		n := len(s.Name) + len(s.Description) + len(s.Schema)
		out = append(out, Size{"tool " + s.Name, clip.Tokens(n), n})
	}
	return out
}
