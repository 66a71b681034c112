package app

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/title"
)

// accompany does after turns what nobody waits for: the session gets a title,
// and the search learns what is new. In print mode it does nothing: its sessions
// are found all the same, by who searches.
func (r *Running) accompany() {
	r.beside = func() {}
	if r.world.front.Print || !r.Kept {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	events := r.Follow(ctx, r.After, event.Durable)
	done := make(chan struct{})
	r.beside = func() {
		stop()
		<-done
	}
	go func() { // ends with the session, or with ctx
		defer close(done)
		c := companion{Running: r}
		for e, err := range events {
			if err != nil {
				return
			}
			c.see(ctx, e.Body)
		}
	}()
}

// A companion is what accompany knows of the session.
type companion struct {
	*Running
	prompt, reply string
	tries         int // titles that were asked for
}

// maxTitleTries bounds how often a title is asked for.
const maxTitleTries = 2

func (c *companion) see(ctx context.Context, b event.Body) {
	switch b := b.(type) {
	case event.InputAccepted:
		if c.prompt == "" && !b.Hidden {
			c.prompt = b.Text
		}
	case event.Replied:
		for _, p := range b.Message.Parts {
			if t, ok := p.(llm.Text); ok && strings.TrimSpace(t.S) != "" {
				c.reply = t.S
			}
		}
	case event.TurnEnded:
		c.entitle(ctx)
		w := c.world
		_ = fulltext.In(w.Paths.State, w.hide.String).Update(ctx, sessions.In(w.Paths.State), nil) // else the next search does it
	default: // nothing to do
	}
}

// entitle has the session named, unless it has a name.
func (c *companion) entitle(ctx context.Context) {
	w := c.world
	if !w.Config().Titles || c.prompt == "" || c.tries == maxTitleTries || c.State().Title != "" {
		return
	}
	m, ok := w.models.Load().Titles(ctx, c.Target().ID())
	if !ok {
		return
	}
	c.tries++
	name, spent, err := title.Make(ctx, m, c.prompt, c.reply)
	if err != nil {
		name = ""
	}
	_ = c.Entitle(context.WithoutCancel(ctx), w.hide.String(name), spent) // it fails when the session has ended, or cannot write and says so itself
}
