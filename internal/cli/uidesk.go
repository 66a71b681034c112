package cli

import (
	"context"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/ui/tui"
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

// asks has the terminal UI ask the desk.
func (h *uiHost) asks(t *tui.Host) {
	d := t.Client
	t.Save = func(key string, value any) error {
		raw, err := fastjson.Append(nil, value)
		if err == nil {
			_, err = d.Ask(context.Background(), "", ask.Save{Key: key, Value: raw})
		}
		return err
	}
	t.Hooks = func(ctx context.Context) (string, error) {
		r, err := d.Ask(ctx, "", ask.Hooks{})
		return r.Text, err
	}
	t.Trust = h.trust
}

// asked is the Data of what answers a question about the run.
func asked[T any](ctx context.Context, d *desk.Desk, q ask.Query) (v T, err error) {
	r, err := d.Ask(ctx, "", q)
	if err != nil {
		return v, err
	}
	return ask.Data[T](r)
}

// trust is what this folder brings and nobody has decided about.
func (h *uiHost) trust(ctx context.Context) (*tui.Trust, error) {
	c, err := asked[ask.Claims](ctx, h.desk, ask.Trust{})
	if err != nil || c.Sum == "" {
		return nil, err
	}
	decide := func(yes bool) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := h.desk.Ask(ctx, "", ask.Decide{Sum: c.Sum, Trust: yes})
			return err
		}
	}
	return &tui.Trust{Claims: c, Grant: decide(true), Decline: decide(false)}, nil
}
