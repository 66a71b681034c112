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
	r.m.host.Resources = func(_ context.Context, part string, _ int) []Choice {
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
	if r.m.list == nil || len(r.m.list.found) != 1 {
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
	if !strings.Contains(text, "adze mcp login web") || strings.Contains(text, "server ok") {
		t.Errorf("told:\n%s", text)
	}
}
