package app

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/text/clip"
)

// observed has observers look at what the session does, where its definition wants some. stop
// ends them.
func (r *Running) observed() (stop func()) {
	if r.main == nil || len(r.main.Observers) == 0 || r.forks() || r.spec.dry {
		return func() {}
	}
	var known []ext.Agent
	for _, name := range r.main.Observers {
		a, err := r.ext.Agent(name)
		if err != nil || a == nil {
			_ = r.Report(event.Noted{Level: "warning", Text: fmt.Sprintf("the observer %s of the agent %s is not there: adze agents list shows those there are", clip.Visible(name), clip.Visible(r.main.Name))}) // a session that cannot record says so itself
			continue
		}
		known = append(known, *a)
	}
	c := r.company()
	r.watching, stop = background.Observe(c, r.main.ToObservers, func(ctx context.Context) (out []background.Observer) {
		for _, a := range known {
			o := background.Observer{Name: a.Name, Prompt: a.Prompt, Target: r.Target()}
			if small := c.Models(ctx).Small; a.Model == "" && small != nil {
				o.Target = *small
			}
			if a.Model != "" {
				if t, err := r.named(ctx, a.Model); err == nil {
					o.Target = t
				}
			}
			out = append(out, o)
		}
		return out
	})
	return stop
}

// ends is called by the goroutine of a turn that has come to its end.
func (r *Running) ends(ctx context.Context) {
	if r.watching != nil {
		r.watching.Look(ctx)
	}
	r.verifies(ctx)
}
