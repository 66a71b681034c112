package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
)

// DebugAreas are what --debug can be narrowed to.
var DebugAreas = []string{"session", "tool", "model", "hooks", "mcp"}

// Debug writes a line for each event of these areas ("all" for every one) to
// w, with secrets masked, until the session ends; and, for the area tool, why
// commands start more slowly than they could, for mcp what servers log. The returned function waits
// for the last line.
func (r *Running) Debug(w io.Writer, areas []string) (wait func()) {
	var mu sync.Mutex // guards w
	write := func(when time.Time, area, text string) {
		if !slices.Contains(areas, area) && !slices.Contains(areas, "all") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "%s %-7s %s\n", when.Format("15:04:05.000"), area, r.place.process.hide.String(clip.Line(clip.Clean(text), 400)))
	}
	r.sandboxes.Cold(func(why string) {
		write(time.Now(), "tool", "sandbox: each command is started by bubblewrap, which takes longer, because there is no zygote: "+why)
	})
	r.place.ext.Logged(func(server, line string) { write(time.Now(), "mcp", server+": "+line) })
	events := r.Follow(context.Background(), r.After, event.Notices)
	done := make(chan struct{})
	go func() { // ends with the session
		defer close(done)
		for e, err := range events {
			if err != nil {
				return
			}
			write(e.Time, areaOf(e.Body), describe(e))
		}
	}()
	return func() { <-done }
}

func areaOf(b event.Body) string {
	switch b.(type) {
	case event.ToolStarted, event.ToolFinished, event.Asked, event.Answered, event.ToolOutput, event.Cleared, event.Bounded:
		return "tool"
	case event.HookStarted, event.HookEnded:
		return "hooks"
	case event.ServerChanged:
		return "mcp"
	case event.Replied, event.Dropped, event.Spent, event.Waiting, event.Retracted, event.ModelChanged, event.ReplyStarted:
		return "model"
	default:
		return "session"
	}
}

// describe is an event on one line: its name, and its fields as they are logged.
func describe(e event.Event) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", e.Body), "event.")
	switch b := e.Body.(type) {
	case event.Replied:
		return fmt.Sprintf("%s %s stop=%s in=%d out=%d cached=%d first=%s took=%s attempts=%d", name, b.Model, b.Stop, b.Usage.In, b.Usage.Out, b.Usage.CacheRead, b.First, b.Took, b.Attempts)
	case event.ToolFinished:
		return fmt.Sprintf("%s %s %s error=%t denied=%t took=%s bytes=%d", name, b.Name, b.Call, b.IsErr, b.Denied, b.Took, len(b.Text))
	case event.ToolStarted:
		return fmt.Sprintf("%s %s %s %s", name, b.Name, b.Call, b.Input)
	case event.HookEnded:
		return fmt.Sprintf("%s %s %s code=%d took=%s error=%q stdout=%q stderr=%q", name, b.Event, b.Name, b.Code, b.Took, b.Err, b.Stdout, b.Stderr)
	default:
		return fmt.Sprintf("%s %+v", name, e.Body)
	}
}
