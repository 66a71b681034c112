package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
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
		set, err := o.models(p, cfg)
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

// sandboxForHooks confines hooks that are to run so. It opens with the first of them.
type sandboxForHooks struct {
	open   func() (*sandbox.Sandbox, error) // once
	opened atomic.Bool
}

// hookSandbox opens the sandbox that the settings describe, as a session has it.
func hookSandbox(ctx context.Context, sys System, p settings.Paths, cfg *config.Config) (*sandbox.Sandbox, error) {
	if !cfg.Sandbox.Enabled {
		return nil, confine.ErrOff
	}
	c, err := sandboxConfig(sys, p, cfg)
	if err != nil {
		return nil, err
	}
	s, err := sandbox.New(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot start: %w", err)
	}
	return s, nil
}

func (b *sandboxForHooks) confine(c *proc.Command) error {
	b.opened.Store(true)
	s, err := b.open()
	switch {
	case err != nil:
		return err
	case s.Level().Strength == sandbox.None:
		return confine.ErrOff
	}
	_, err = s.Wrap(c, policy.Needs{})
	return err
}

func (b *sandboxForHooks) close() {
	if !b.opened.Load() {
		return
	}
	if s, err := b.open(); err == nil {
		_ = s.Close() // what it kept from being written is nobody's to hear of here
	}
}
