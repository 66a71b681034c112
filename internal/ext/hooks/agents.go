package hooks

import (
	"cmp"
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/hook"
)

// Who is an agent that works for the session. Name is the one that it was given, "" for none.
type Who struct{ ID, Type, Name string }

type whoKey struct{}

// As has hooks that are asked with the context told whose doing it is.
func As(ctx context.Context, who Who) context.Context { return context.WithValue(ctx, whoKey{}, who) }

// Begins tells hooks that an agent begins, and returns what they have for it.
func (g *Gate) Begins(ctx context.Context, who Who) []string {
	if !g.Hooked(hook.SubagentStart) {
		return nil
	}
	return told(hook.SubagentStart, g.Hook(As(ctx, who), hook.SubagentStartInput{ID: who.ID, Type: who.Type}, nil).Context)
}

// idle asks hooks whether an agent with a name may have nothing more to do, once those of its
// end have let it. One that blocks has it go on.
func (g *Gate) idle(ctx context.Context, a hook.Answer) hook.Answer {
	if a.Block || a.Stop || !g.member() || !g.run.Any(hook.TeammateIdle) {
		return a
	}
	team := "default"
	if g.conf.Team != nil {
		team = cmp.Or(g.conf.Team(), team)
	}
	b := g.Hook(ctx, hook.IdleInput{Name: g.conf.Who.Name, Team: team}, nil)
	b.Context = append(a.Context, b.Context...)
	return b
}

// member reports whether the session is that of an agent with a name.
func (g *Gate) member() bool { return g.conf.Of != "" && g.conf.Who.Name != "" }

// transcript is the file of an agent's own session, "" without one.
func (g *Gate) transcript() string {
	if g.conf.Transcript == nil {
		return ""
	}
	return g.conf.Transcript()
}

// Ends asks hooks about an agent that would end. transcript is its file.
func (g *Gate) Ends(ctx context.Context, who Who, in hook.StopInput, transcript string) hook.Answer {
	return g.Hook(As(ctx, who), hook.SubagentStopInput{StopInput: in, ID: who.ID, Type: who.Type, Transcript: transcript}, nil)
}

// Expands asks hooks about a slash command that is about to become what the model
// reads. refused says why it may not.
func (g *Gate) Expands(ctx context.Context, in hook.ExpansionInput) (refused string) {
	if !g.Hooked(hook.UserPromptExpansion) {
		return ""
	}
	a := g.Hook(ctx, in, nil)
	switch {
	case a.Stop:
		return whyEnded(a)
	case a.Block:
		return a.Reason
	}
	for _, s := range told(hook.UserPromptExpansion, a.Context) {
		_ = g.s.Note(s) // a session that has ended needs none
	}
	return ""
}

// Asked asks hooks about something beside a turn, for as long as the session lasts;
// over: it does not any more.
func (g *Gate) Asked(in hook.Input) (a hook.Answer, over bool) {
	g.mu.Lock()
	ctx := g.life
	g.mu.Unlock()
	if ctx == nil {
		return a, true
	}
	a = g.Hook(ctx, in, nil)
	g.say(in.Event(), a)
	return a, ctx.Err() != nil
}

// Hears tells hooks of something that nobody waits for, one event after the other.
func (g *Gate) Hears(list ...hook.Input) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(list) == 0 || g.dead || g.life == nil || !slices.ContainsFunc(list, func(in hook.Input) bool { return g.Hooked(in.Event()) }) {
		return
	}
	ctx := g.life
	g.hears.Add(1)
	g.wg.Go(func() { // ends with ctx
		defer g.hears.Done()
		for _, in := range list {
			for _, s := range told(in.Event(), g.Hook(ctx, in, nil).Context) {
				_ = g.s.Note(s) // a session that has ended needs none
			}
		}
	})
}
