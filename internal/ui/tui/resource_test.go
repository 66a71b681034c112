package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// After "@" resources of MCP servers stand behind the files, once a server is
// connected, and what is taken is the whole name.
func TestResourcesAreCompleted(t *testing.T) {
	r := newRig(t, 80, 24)
	asked := 0
	r.desk.Resources = func(_ context.Context, part string, _ int) []Choice {
		asked++
		if !strings.HasPrefix("docs:mem://a/", part) {
			return nil
		}
		return []Choice{{ID: "docs:mem://a/", Name: "docs:mem://a/", About: "Notes"}}
	}
	r.open().keys("'@doc")
	if r.m.list != nil || asked != 0 {
		t.Fatalf("without a server, %d questions and the list %+v", asked, r.m.list)
	}
	r.keys("backspace").event(event.ServerChanged{Name: "docs", State: event.ServerConnected}).keys("'c")
	if r.m.list == nil || len(r.m.list.Found) != 1 {
		t.Fatalf("the list is %+v", r.m.list)
	}
	r.keys("tab")
	if got := r.m.box.Text(); got != "@docs:mem://a/ " {
		t.Errorf("the prompt is %q", got)
	}
}

// A server that fails, or wants a person, is told of once and not at each try;
// what connects is not.
func TestServersInTroubleAreToldOnce(t *testing.T) {
	r := newRig(t, 80, 24)
	r.open()
	for range 3 {
		r.event(event.ServerChanged{Name: "db", State: event.ServerConnecting}, event.ServerChanged{Name: "db", State: event.ServerFailed, Why: "it ended"})
	}
	r.event(event.ServerChanged{Name: "web", State: event.ServerNeedsAuth}, event.ServerChanged{Name: "ok", State: event.ServerConnected})
	text := r.pass(time.Second).text()
	if n := strings.Count(text, "the MCP server db failed: it ended"); n != 1 {
		t.Errorf("told %d times:\n%s", n, text)
	}
	if !strings.Contains(text, "/mcp login web") || strings.Contains(text, "server ok") {
		t.Errorf("told:\n%s", text)
	}
}

// What is chosen of a template goes on with its values; addresses are shown with
// their ends.
func TestTemplatesAreCompleted(t *testing.T) {
	r := newRig(t, 80, 24)
	var parts []string
	r.desk.Resources = func(_ context.Context, part string, _ int) []Choice {
		if parts = append(parts, part); part == "docs:mem://a/" {
			return []Choice{{ID: "docs:mem://a/1", Name: "docs:mem://a/1", About: "One"}}
		}
		return []Choice{{ID: "docs:mem://a/", Name: "docs:mem://a/where/it/is/long/enough/{id}", About: "Notes", Part: true}}
	}
	r.open().event(event.ServerChanged{Name: "docs", State: event.ServerConnected}).keys("'@docs")
	if text := r.text(); !strings.Contains(text, "docs:mem:…it/is/long/enough/{id}  Notes") {
		t.Errorf("shown:\n%s", text)
	}
	r.keys("tab")
	if got := r.m.box.Text(); got != "@docs:mem://a/" || parts[len(parts)-1] != got[1:] {
		t.Fatalf("the prompt is %q, asked for %q", got, parts)
	}
	if r.keys("tab"); r.m.box.Text() != "@docs:mem://a/1 " {
		t.Errorf("the prompt is %q", r.m.box.Text())
	}
}

// Values of arguments are completed one after the other; Enter sends what is
// written, whatever the list has.
func TestArgumentsAreCompleted(t *testing.T) {
	r := newRig(t, 80, 24)
	r.desk.Arguments = func(_ context.Context, command, args string) []Choice {
		switch {
		case command != "mcp__docs__find":
			return nil
		case args == "":
			return []Choice{{ID: "red", Name: "red"}, {ID: "\"light blue\"", Name: "light blue"}}
		}
		return []Choice{{ID: "small", Name: "small"}}
	}
	r.open().event(event.Extended{Commands: []event.Offer{{Name: "mcp__docs__find", Args: "<colour> [size]"}}})
	r.keys("'/mcp__docs__find ")
	if text := r.text(); !strings.Contains(text, "❯ red") || !strings.Contains(text, "light blue") {
		t.Fatalf("shown:\n%s", text)
	}
	r.keys("down", "tab")
	if got := r.m.box.Text(); got != "/mcp__docs__find \"light blue\" " || r.m.list == nil {
		t.Fatalf("the prompt is %q, the list %+v", got, r.m.list)
	}
	r.keys("tab")
	if got := r.m.box.Text(); got != "/mcp__docs__find \"light blue\" small " {
		t.Errorf("the prompt is %q", got)
	}
}

// The spinner says how far a call is.
func TestSpinnerSaysProgress(t *testing.T) {
	r := newRig(t, 80, 24)
	r.open().event(event.TurnStarted{}, event.ToolStarted{Call: "c", Name: "x", Title: "docs index (Index all of it)"}, event.ToolOutput{Call: "c", S: "\rreading (1 of 3)"}, event.ToolOutput{Call: "c", S: "\rwriting (2 of 3)"})
	if text := r.text(); !strings.Contains(text, "docs: writing (2 of 3)") || strings.Contains(text, "reading") {
		t.Errorf("shown:\n%s", text)
	}
}
