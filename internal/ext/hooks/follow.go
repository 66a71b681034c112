package hooks

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
)

// follow tells hooks of what they can only hear of: questions, failures, and that
// nobody says anything.
func (g *Gate) follow(ctx context.Context, after event.Seq) {
	defer g.reach(math.MaxInt64)
	if !slices.ContainsFunc([]hook.Event{hook.Notification, hook.StopFailure, hook.MessageDisplay}, g.Hooked) {
		return
	}
	var idle *time.Timer
	turn := ""
	defer func() {
		if idle != nil {
			idle.Stop()
		}
	}()
	for e, err := range g.s.Follow(ctx, after, event.Durable) {
		if err != nil {
			return
		}
		if idle != nil {
			idle.Stop()
		}
		switch b := e.Body.(type) {
		case event.Asked:
			text := "adze needs your permission to use " + b.Tool
			if b.About == event.AboutCost {
				text = "adze asks whether to go on: " + b.Title
			}
			g.notify(ctx, "permission_prompt", text)
		case event.TurnStarted:
			turn = b.ID
		case event.Replied:
			if text := b.Message.Text(); text != "" && g.Hooked(hook.MessageDisplay) {
				g.Hook(ctx, hook.MessageInput{Turn: turn, Message: fmt.Sprintf("m%d", e.Seq), Final: true, Text: text}, nil)
			}
		case event.TurnEnded:
			if b.How == event.Failed {
				g.Hook(ctx, hook.StopFailureInput{Error: b.Reason, Details: b.Err}, nil)
			}
			if g.conf.Of == "" {
				idle = time.AfterFunc(idleAfter, func() {
					g.notify(ctx, "idle_prompt", "adze is waiting for your input")
				})
			}
		default: // nothing that hooks hear of in this way
		}
		g.reach(e.Seq)
	}
}

// reach notes up to where hooks have heard.
func (g *Gate) reach(at event.Seq) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = max(g.heard, at)
	close(g.step)
	g.step = make(chan struct{})
}

// Settle waits until hooks have heard of all that happened by now, each of which ends by
// its own time, or until ctx ends. Those of the start, and those that are async, are not
// waited for.
func (g *Gate) Settle(ctx context.Context) {
	if g.s == nil {
		return
	}
	last := g.s.State().Seq
	for {
		g.mu.Lock()
		over, step := g.heard >= last, g.step
		g.mu.Unlock()
		if over {
			break
		}
		select {
		case <-step:
		case <-ctx.Done():
			return
		}
	}
	g.lookNow()
	done := make(chan struct{})
	go func() { g.hears.Wait(); close(done) }() // ends with them, which Close sees to
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// notify tells hooks that a person is called.
func (g *Gate) notify(ctx context.Context, kind, message string) {
	g.say(hook.Notification, g.Hook(ctx, hook.NotificationInput{Message: message, Title: "adze", Type: kind}, nil))
}
