package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// Bounds of what is shown of hooks.
const (
	slowHook  = time.Second // a hook that runs longer is named
	hookRuns  = 20          // that are kept of an event
	hookLines = 3           // of each of its outputs
)

// A hookRun is a hook that runs, or ran.
type hookRun struct {
	event.HookStarted
	began time.Time
	ended *event.HookEnded
}

// hooked takes over what a hook does.
func (v *conversation) hooked(e event.Event) {
	switch b := e.Body.(type) {
	case event.HookStarted:
		v.hooks = append(v.hooks, hookRun{HookStarted: b, began: e.Time})
	case event.HookEnded:
		if i := slices.IndexFunc(v.hooks, func(r hookRun) bool { return r.ID == b.ID && r.ended == nil }); i >= 0 {
			v.hooks[i].ended = &b
		}
	default: // not about a hook
	}
	of := 0
	for i := len(v.hooks) - 1; i >= 0; i-- {
		if v.hooks[i].Event == v.hooks[len(v.hooks)-1].Event {
			if of++; of > hookRuns && v.hooks[i].ended != nil {
				v.hooks = slices.Delete(v.hooks, i, i+1)
				return
			}
		}
	}
}

// slowHook is what people see while a hook takes its time, "" when none does.
func (v *conversation) slowHook(now time.Time) string {
	for _, r := range v.hooks {
		if r.ended == nil && now.Sub(r.began) >= slowHook {
			if r.Status != "" {
				return clip.Line(draw.String(r.Status), 60)
			}
			return "Running a hook: " + clip.Line(draw.String(r.Name), 40)
		}
	}
	return ""
}

// delayed is what people see while a prompt waits for its turn to begin, "" for
// as long as that is quick.
func (m *Model) delayed() string {
	if !m.awaited() || m.now.Sub(m.queue[0].at) < slowHook {
		return ""
	}
	if s := m.slowHook(m.now); s != "" {
		return s
	}
	return "Preparing the prompt"
}

// delayDue is when that changes; zero is never.
func (m *Model) delayDue() time.Time {
	switch {
	case !m.awaited():
		return time.Time{}
	case m.delayed() == "":
		return m.queue[0].at.Add(slowHook)
	}
	return m.now.Add(spinEvery)
}

// awaited reports whether a prompt is with the session and no turn took it yet:
// hooks may be looking at it.
func (m *Model) awaited() bool {
	return m.s != nil && !m.turn.running && len(m.queue) > 0 && m.queue[0].sent && !m.queue[0].left
}

// recall takes back the prompt that hooks look at, with those behind it, and ends
// the hooks. Where its turn began meanwhile, that is stopped.
func (m *Model) recall() []effect { return m.stop(slices.Clone(m.queue)) }

// hooksCommand lists the hooks that are set, and what they did in this session.
func (m *Model) hooksCommand(string) []effect {
	ran := m.hookReport(m.now)
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Hooks{})
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err)
			}
			return m.report("hooks", r.Text+ran)
		}
	}}}
}

// hookReport is what hooks did, the newest run of an event first, as Markdown.
func (v *conversation) hookReport(now time.Time) string {
	var b strings.Builder
	for _, r := range slices.Backward(v.hooks) {
		how := "runs since " + clip.Span(now.Sub(r.began))
		said := [][2]string{{"input", r.Input}}
		if e := r.ended; e != nil {
			how = fmt.Sprintf("code %d", e.Code)
			if e.Err != "" {
				how = clip.Line(clip.Visible(e.Err), 80)
			}
			how += ", after " + clip.Span(e.Took)
			said = append(said, [2]string{"stderr", e.Stderr}, [2]string{"stdout", e.Stdout})
		}
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", r.began.Format("15:04:05"), r.Event, clip.Line(clip.Visible(r.Name), 60), how)
		for _, s := range said {
			b.WriteString(hookSaid(s[0], s[1]))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nIn this session:\n\n" + clip.Fenced(b.String())
}

// hookSaid is the beginning of what a hook was asked or said, "" for nothing.
func hookSaid(name, text string) string {
	text = strings.TrimSpace(clip.VisibleText(text))
	if text == "" {
		return ""
	}
	var b strings.Builder
	lines := strings.Split(text, "\n")
	name += ": "
	for _, line := range lines[:min(len(lines), hookLines)] {
		fmt.Fprintf(&b, "          %s%s\n", name, clip.Line(line, 200))
		name = strings.Repeat(" ", len(name))
	}
	if n := len(lines) - hookLines; n > 0 {
		fmt.Fprintf(&b, "          %s[%s more]\n", name, clip.Count(n, "line"))
	}
	return b.String()
}
