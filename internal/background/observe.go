package background

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/tool/find"
)

//go:embed observe.md
var observeText string

// Bounds of observers: how many calls of the session they look after, how long one look takes,
// how many requests it makes, what they are shown in bytes, how long a report is in bytes, and how
// often they look and one of them reports in the life of a session.
const (
	observeCalls = 10
	observeTime  = time.Minute
	observeTurns = 6
	observeShown = 16_000
	maxReport    = 4_000
	maxLooks     = 60
	maxReports   = 10
)

// An Observer watches over the work of a session.
type Observer struct {
	Name, Prompt string
	Target       agent.Target
}

// Observers look at what a session does, and say to it what it has to know.
type Observers struct {
	c       Config
	message string
	list    func(ctx context.Context) []Observer

	mu      sync.Mutex // held while they look
	after   event.Seq
	looks   int
	reports map[string]int
}

// Observe has observers look at the session of c each time that it has made some calls, until
// stop. message is what its definition says to them; list is asked for each look.
func Observe(c Config, message string, list func(ctx context.Context) []Observer) (o *Observers, stop func()) {
	o = &Observers{c: c, message: message, list: list, after: c.After, reports: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	events, done := c.Session.Follow(ctx, c.After, event.Durable), make(chan struct{})
	go func() { // ends with the session, or with ctx
		defer close(done)
		calls := 0
		for e, err := range events {
			if err != nil {
				return
			}
			if _, ok := e.Body.(event.ToolFinished); ok {
				calls++
			}
			if calls == observeCalls {
				calls = 0
				o.Look(ctx)
			}
		}
	}()
	return o, func() {
		cancel()
		<-done
	}
}

// Look has them look at what is new, and returns when each has. What they report waits for the
// session as messages do.
func (o *Observers) Look(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, observeTime)
	defer cancel()
	st := o.c.Session.State()
	es, through := complete(st)
	es = since(es, o.after)
	if len(es) == 0 || through <= o.after || o.looks == maxLooks {
		return
	}
	o.looks++
	o.after = through
	said := "The one who works has this to say to you:\n" + o.message
	if o.message == "" {
		said = ""
	}
	text := fill(observeText, "{message}", said, "{source}", news(es, observeShown))
	list := o.list(ctx)
	reports := make([]string, len(list))
	var all sync.WaitGroup
	for i, x := range list {
		if o.reports[x.Name] < maxReports {
			all.Go(func() { reports[i] = o.asks(ctx, x, st.Dir, text) }) // ends with ctx
		}
	}
	all.Wait()
	for i, x := range list {
		if reports[i] == "" {
			continue
		}
		o.reports[x.Name]++
		id := "observer-" + x.Name
		_ = o.c.Session.Submit(ctx, op.Prompt{ // a session that has ended needs none
			Text: reports[i], Verbatim: true, From: &op.Sender{ID: id, Name: x.Name, N: o.c.Session.State().Mail[id] + 1, As: "the observer " + x.Name + ", who watches over this work"},
		})
	}
}

// asks is what one of them has to say, "" for nothing.
func (o *Observers) asks(ctx context.Context, x Observer, dir, text string) string {
	w := &Watch{Config: o.c}
	budget, ok := w.budget(x.Target)
	set, err := tool.NewSet(append(file.New(file.Config{}), find.New()...)...)
	if !ok || err != nil {
		return ""
	}
	budget.Turns = observeTurns
	r, err := miniagent.Run(ctx, miniagent.Spec{
		For: event.ForObserver, Target: x.Target, System: []string{x.Prompt}, Prompt: text, Budget: budget, Rules: o.c.Rules(), Mode: policy.DontAsk,
		Tools: set.Only(func(name string) bool { return name == "Read" || name == "Glob" || name == "Grep" }),
		Env:   tool.Env{Dir: dir, Roots: []string{dir}, Home: o.c.Home}, Mask: o.c.Mask,
		Spent: func(e event.Spent) error { return o.c.Session.Report(e) },
	})
	if err != nil {
		if ctx.Err() == nil {
			w.giveUp(fmt.Sprintf("The observer %s has nothing to say: %%v.", clip.Visible(x.Name)), err)
		}
		return ""
	}
	said := strings.TrimSpace(r.Text)
	if _, after, ok := strings.Cut(said, "</think>"); ok {
		said = strings.TrimSpace(after)
	}
	if strings.ToLower(strings.TrimRight(said, ".! ")) == "nothing" {
		return ""
	}
	return o.c.Hide(clip.Middle(clip.Clean(said), maxReport, ""))
}
