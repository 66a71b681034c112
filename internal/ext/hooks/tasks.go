package hooks

import (
	"context"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// tasks asks hooks about the tasks that a call would put on the list of what is to be
// done, and about those that it would tick off. over: a hook refused one, and with
// it the call. The steps of an agent in this session's stead are nobody's to ask about.
func (g *Gate) tasks(ctx context.Context, q agent.Question, v agent.Verdict) (_ agent.Verdict, over bool) {
	list, ok := q.Plan.View.(view.Tasks)
	if _, other := ctx.Value(whoKey{}).(Who); !ok || other || !g.Hooked(hook.TaskCreated) && !g.Hooked(hook.TaskCompleted) {
		return v, false
	}
	was := g.conf.Root().State().Todo()
	for _, t := range list.Items {
		in := hook.TaskInput{ID: t.ID, Text: t.Text, About: t.About, Owner: t.Owner}
		old, there := was.Get(t.ID)
		var ask []hook.Input
		if !there {
			ask = append(ask, hook.TaskCreatedInput{TaskInput: in})
		}
		if t.Status == view.Completed && old.Status != view.Completed {
			ask = append(ask, hook.TaskCompletedInput{TaskInput: in})
		}
		for _, in := range ask {
			if !g.Hooked(in.Event()) {
				continue
			}
			a := g.Hook(ctx, in, nil)
			g.say(in.Event(), a)
			by := event.By{Kind: event.ByHook, Name: a.By}
			switch {
			case ctx.Err() != nil:
				return v, true
			case a.Stop:
				v.Verdict, v.By, v.Ends = v.Denied(hook.Check, endedByHook), by, whyEnded(a)
				return v, true
			case a.Block:
				v.Verdict = v.Denied(hook.Check, a.Reason+" (the "+string(in.Event())+" hook "+clip.Line(a.By, 80)+" of "+clip.Line(t.Text, 80)+")")
				v.By = by
				return v, true
			}
		}
	}
	return v, false
}
