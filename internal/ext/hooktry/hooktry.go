// Package hooktry runs the hooks of an event on a made input, as a session would, and says
// what each of them said and what would come of it. Nothing but the hooks is run.
package hooktry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hookrun"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Config is where the hooks run.
type Config struct {
	Paths    settings.Paths
	Settings *config.Config
	Set      hook.Set
	Environ  []string
	Version  string
	Out      io.Writer
	// Sandbox is what the settings make of the sandbox, for hooks that are to be confined.
	Sandbox func() (sandbox.Config, error)
	// Ask puts the question of a hook to a model, by name or "" for the small one, and Tool
	// calls a tool of a server.
	Ask  func(ctx context.Context, model, question string) (string, event.Spent, error)
	Tool func(ctx context.Context, server, name string, input json.RawMessage) (string, error)
}

// Try runs the hooks that match. tool and input are the call that the event is about, or
// its fields.
func Try(ctx context.Context, c Config, in hook.Input, tool, input string) error {
	p, cfg, set := c.Paths, c.Settings, c.Set
	at := scene(p, tool, input)
	if len(set.Matching(in, at)) == 0 {
		_, err := fmt.Fprintf(c.Out, "no hook of %s matches\n", in.Event())
		return err
	}
	var after afterwards
	inside := box{open: sync.OnceValues(func() (*sandbox.Sandbox, error) { return c.sandbox(ctx) })}
	defer inside.close()
	r := hookrun.New(hookrun.Config{
		Environ: func(more ...string) []string {
			environ := proc.Scrub(c.Environ, slices.Concat(cfg.ChildEnv, more))
			for k, v := range cfg.Env {
				environ = proc.Set(environ, k+"="+v)
			}
			return environ
		},
		Version: c.Version, Project: p.Root, Now: time.Now,
		Tell: after.tell, Later: after.say, Confine: inside.confine,
		Ask: c.Ask, Tool: c.Tool,
		Agent: func(context.Context, string, string) (string, error) {
			return "", errors.New("its agent runs in sessions alone")
		},
	})
	defer r.Close()
	r.Use(set)
	a := r.Fire(ctx, hook.Common{Session: "test", Dir: p.Dir, Mode: string(cfg.Permissions.Mode())}, in, at)
	r.Settle(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(printRuns(c.Out, r.Runs(in.Event())), printAnswer(c.Out, in.Event(), a, slices.Concat(exports(r.Env()), after.said())))
}

// scene is what a call would do, for hooks with "if".
func scene(p settings.Paths, tool, input string) hook.Scene {
	var args struct {
		Command string `json:"command"`
		File    string `json:"file_path"`
	}
	_ = json.Unmarshal([]byte(input), &args) // what is no object was refused already
	actions, rules := permcheck.Actions(args.Command, permcheck.Options{Rules: policy.Rules{FoldCase: p.FoldCase}, Dir: p.Dir, Home: p.Home})
	switch {
	case args.Command != "":
	case tool == "Read" && args.File != "":
		actions = []policy.Action{policy.Read{Path: args.File}}
	case args.File != "":
		actions = []policy.Action{policy.Write{Path: args.File}}
	}
	return hook.Scene{Actions: actions, Rules: rules}
}

func printRuns(w io.Writer, runs []hookrun.Run) error {
	for _, r := range runs {
		fmt.Fprintf(w, "%s\n  from %s\n", clip.Line(clip.Visible(r.Hook.Name()), 100), clip.Visible(r.Hook.From))
		how := fmt.Sprintf("code %d", r.Code)
		if r.Err != "" {
			how = r.Err
		}
		fmt.Fprintf(w, "  %s, after %s\n", clip.Visible(how), clip.Span(r.Took))
		for _, out := range []struct{ name, text string }{{"stdout", r.Stdout}, {"stderr", r.Stderr}} {
			if s := strings.TrimSpace(out.text); s != "" {
				fmt.Fprintf(w, "  %s: %s\n", out.name, strings.ReplaceAll(clip.VisibleText(s), "\n", "\n    "))
			}
		}
	}
	return nil
}

// box confines hooks that are to run so. It opens with the first of them.
type box struct {
	open   func() (*sandbox.Sandbox, error) // once
	opened atomic.Bool
}

// sandbox opens the sandbox that the settings describe, as a session has it.
func (x Config) sandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	if !x.Settings.Sandbox.Enabled {
		return nil, confine.ErrOff
	}
	c, err := x.Sandbox()
	if err != nil {
		return nil, err
	}
	s, err := sandbox.New(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot start: %w", err)
	}
	return s, nil
}

func (b *box) confine(c *proc.Command) error {
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

func (b *box) close() {
	if !b.opened.Load() {
		return
	}
	if s, err := b.open(); err == nil {
		_ = s.Close() // what it kept from being written is nobody's to hear of here
	}
}
