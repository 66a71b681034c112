package cli

import (
	"context"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/op"
)

// deskOf answers for the sessions of the terminal UI.
func (h *uiHost) deskOf() *desk.Desk {
	return desk.New(desk.Config{
		Surroundings: h.o.Surroundings, Sources: h.o.Sources, Front: h.o.Front, Report: h.report,
		Pick: func(ctx context.Context, q ask.Pick) ([]ask.Choice, error) {
			if r := h.reports()[q.Name]; r.choose != nil {
				return r.choose(ctx)
			}
			return nil, nil
		},
	})
}

// report gives the command of adze that a slash command stands for.
func (h *uiHost) report(ctx context.Context, session string, q ask.Report) (string, error) {
	r, ok := h.reports()[q.Name]
	switch {
	case q.Name == "hooks":
		r.run = h.subcommand("hooks", "list")
	case !ok || r.here != nil && r.here(q.Args):
		return "", &op.Refusal{Code: op.Unsupported, Text: "/" + q.Name + " needs the terminal that adze runs in"}
	}
	return r.run(ctx, session, q.Args)
}
