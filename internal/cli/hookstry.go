package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

// askForHook puts the question of a hook that is tried to a model, by name or "" for
// the small one.
func (f *runFlags) askForHook(sys System, cmd *cobra.Command, p settings.Paths, cfg *config.Config) func(ctx context.Context, model, question string) (string, event.Spent, error) {
	return func(ctx context.Context, model, question string) (string, event.Spent, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return "", event.Spent{}, err
		}
		set, err := o.Models(p.Folders, cfg, !o.Print, nil)
		if err != nil {
			return "", event.Spent{}, err
		}
		return set.Answer(ctx, cmp.Or(model, cfg.SmallModel), set.Wish(), question)
	}
}

// toolForHook calls a tool of a server that is connected for the call alone. Its
// questions are for nobody.
func (f *runFlags) toolForHook(sys System, cmd *cobra.Command) func(ctx context.Context, server, name string, input json.RawMessage) (string, error) {
	sys.InTTY = false
	return func(ctx context.Context, server, name string, input json.RawMessage) (text string, err error) {
		err = f.within(ctx, sys, cmd, &useFlags{}, server, func(h *hub, s servers.Server) error {
			t, err := h.tool(s, name)
			if err != nil {
				return err
			}
			env, done := h.env(sys, f, true)
			defer done()
			res, err := t.Run(ctx, input, env)
			if err == nil && res.IsErr {
				err = errors.New(clip.Line(clip.Visible(res.Text), 500))
			}
			text = res.Text
			return err
		})
		return text, err
	}
}
