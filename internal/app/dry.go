package app

import (
	"context"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Dry opens a session that is not meant to run: without a key, the
// instructions are those for a model that is not known.
func Dry(ctx context.Context, o Options) (*App, error) {
	a, err := Open(ctx, o)
	if err == nil {
		return a, nil
	}
	if _, cfg, serr := Settings(o); serr != nil || cfg.Model != "" {
		return nil, err
	}
	o.Target = &agent.Target{Provider: "no", Name: "model"}
	return Open(ctx, o)
}

// A Size is how much of a request a part takes. Tokens are estimated.
type Size struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Sizes measures the instructions and the tools.
func (a *App) Sizes() []Size {
	var out []Size
	for _, p := range a.Parts {
		out = append(out, Size{p.Name, p.Tokens(), len(p.Text)})
	}
	for _, s := range a.Tools.Specs() {
		n := len(s.Name) + len(s.Description) + len(s.Schema)
		out = append(out, Size{"tool " + s.Name, clip.Tokens(n), n})
	}
	return out
}
