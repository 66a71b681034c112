package hooktry

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/clip"
)

// afterwards is what hooks say that nobody waits for.
type afterwards struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (a *afterwards) add(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// say takes words for the model, or, with wake, a prompt.
func (a *afterwards) say(text string, wake bool) {
	if wake {
		a.add("later, a turn would begin with the prompt: %s", text)
		return
	}
	a.add("later, the model would be told: %s", text)
}

// tell takes words for people.
func (a *afterwards) tell(b event.Body) {
	if n, ok := b.(event.Noted); ok {
		a.add("people would be told: %s", n.Text)
	}
}

func (a *afterwards) said() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.lines) // which of them came first means nothing
	return a.lines
}

// exports says what hooks set for commands.
func exports(env []string) (out []string) {
	for _, v := range env {
		out = append(out, "commands would have "+v)
	}
	return out
}

// printAnswer says what would come of what hooks said, and of more.
func printAnswer(w io.Writer, e hook.Event, a hook.Answer, more []string) error {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, s := range slices.Concat(a.Failed, a.Unheard) {
		say("%s", s)
	}
	if a.Stop {
		say("the turn would end: %s", a.Why)
	}
	if a.Block {
		say("%s: %s", blocked(e), a.Reason)
	}
	if a.Permission != "" {
		say("the call would get the ruling %q: %s", a.Permission, a.PermissionReason)
	}
	if a.Decision != "" {
		say("the question would be answered with %q: %s", a.Decision, a.Message)
		if a.Interrupt && a.Decision == hook.Deny {
			say("the turn would be interrupted")
		}
	}
	if a.Decision == hook.Allow {
		for _, u := range a.Updates {
			say("it asks for a change of the permissions: %s", update(u))
		}
	}
	if a.Action != "" {
		say("%s", strings.TrimSpace(fmt.Sprintf("the server would be answered with %q %s", a.Action, a.Content)))
	}
	if a.Retry {
		say("the model would be told that it may try the call again")
	}
	if a.Input != nil {
		say("the call would have the arguments %s, and be judged with them", a.Input)
	}
	if a.Output != nil {
		say("the model would read in place of the result: %s", a.Output)
	}
	if a.Title != "" {
		say("the session would be called %q", clip.Line(a.Title, 200))
	}
	if a.First != "" {
		say("the session would begin with the prompt: %s", a.First)
	}
	if a.Reload {
		say("skills would be looked for anew")
	}
	if a.Watch != nil {
		say("FileChanged hooks would be told of these files besides those that their matchers name: %s", strings.Join(a.Watch, ", "))
	}
	for _, s := range a.Context {
		if (e == hook.Stop || e == hook.SubagentStop) && !a.Block && !a.Stop {
			say("%s: %s", blocked(e), s)
			continue
		}
		say("the model would be told: %s", s)
	}
	for _, s := range a.System {
		say("people would be told: %s", s)
	}
	if a.Terminal != "" {
		say("a terminal would be sent: %q", a.Terminal)
	}
	if out = append(out, more...); len(out) == 0 {
		say("nothing would come of it")
	}
	_, err := fmt.Fprintln(w, clip.VisibleText(strings.Join(out, "\n")))
	return err
}

// blocked says what a hook that blocks does at an event.
func blocked(e hook.Event) string {
	switch e {
	case hook.PostToolUse, hook.PostToolUseFailure:
		return "the model would be told"
	case hook.PostToolBatch:
		return "the turn would end"
	case hook.Stop:
		return "the turn would go on"
	case hook.SubagentStop, hook.TeammateIdle:
		return "the agent would go on"
	default:
		return "it would be refused"
	}
}

// update is a change of the permissions, in words.
func update(u hook.Update) string {
	words := append([]string{u.Type, u.Behavior, u.Mode}, u.Directories...)
	for _, r := range u.Rules {
		if r.Spec != "" {
			r.Tool += "(" + r.Spec + ")"
		}
		words = append(words, r.Tool)
	}
	if u.Destination != "" {
		words = append(words, "to "+u.Destination)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
