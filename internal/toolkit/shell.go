package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/bash"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of a command of the person's own: how long it may run, and how much
// of its output the model reads.
const (
	shellMillis = 600_000
	shellText   = 30_000
)

// Shell runs commands of the person's own as the Bash tool runs those of the
// model: with the settings' sandbox, limits and variables. Nothing asks.
func (k Kit) Shell() func(ctx context.Context, c session.Command, progress func(string)) event.Ran {
	t, ok := k.All.Get("Bash")
	if !ok {
		return nil
	}
	return func(ctx context.Context, c session.Command, progress func(string)) event.Ran {
		in, err := json.Marshal(map[string]any{"command": c.Text, "timeout": shellMillis})
		if err != nil {
			return event.Ran{IsErr: true, Text: err.Error()}
		}
		env := tool.Env{Dir: cmp.Or(c.Dir, k.conf.Dir), Roots: []string{k.conf.Dir}, Home: k.conf.Home, Scratch: k.conf.Scratch, Call: c.ID, Mode: policy.Bypass, Exports: c.Exports, Progress: progress}
		began := time.Now()
		res, err := t.Run(ctx, in, env)
		if err != nil {
			res = tool.Errorf("the command was not run: %v", err)
		}
		res = k.conf.Hide.Result(res)
		b := event.Ran{View: res.View, IsErr: res.IsErr, Took: time.Since(began)}
		if d, ok := effect.Of[effect.Dir](res.Effects); ok {
			b.Dir = d.Path
		}
		if b.View == nil {
			b.View = view.Text{S: res.Text}
		}
		b.View = outside(b.View)
		b.Text = fmt.Sprintf("The person ran a command in this folder. It is for you to know; it asks nothing.\n$ %s\n%s", clip.Clean(c.Text), clip.Middle(res.Text, shellText, ""))
		return b
	}
}

// outside adds to a command that the sandbox made fail where it would run.
func outside(b view.Block) view.Block {
	if t, ok := b.(view.Terminal); ok && strings.Contains(t.Note, bash.Blocked) {
		t.Note += ". A ! command runs in the sandbox, like those of the model; in a terminal of your own it does not"
		return t
	}
	return b
}
