package ext

import (
	"testing"

	"github.com/adze-agent/adze/internal/ext/mcp"
)

// A question is for the session whose request is open, and one that a server asks of
// its own accord for the root of the tree, never for a child. A session that has ended
// answers nothing, and nobody else does in its place.
func TestAsked(t *testing.T) {
	of := func(id, parent string) *Session {
		return &Session{conf: Config{Hooks: HooksConfig{Session: id}, Parent: parent}}
	}
	child, root, later := of("child", "root"), of("root", ""), of("later", "")
	p := NewProcess(ProcessConfig{})
	w := p.Open(FolderConfig{})
	w.sessions = []*Session{child, root, later}
	for _, c := range []struct {
		by   mcp.Caller
		want *Session
	}{
		{mcp.Caller{Session: "child", Call: "1"}, child}, {mcp.Caller{Session: "later"}, later}, {mcp.Caller{}, root}, {mcp.Caller{Session: "ended", Call: "1"}, nil},
	} {
		if got := w.asked(c.by); got != c.want {
			t.Errorf("%+v: %v", c.by, got)
		}
	}
	elsewhere := p.Open(FolderConfig{})
	elsewhere.sessions = []*Session{of("grandchild", "child")}
	if got := elsewhere.asked(mcp.Caller{}); got != root {
		t.Errorf("who answers for a folder where only children are: %v", got)
	}
	if got := elsewhere.asked(mcp.Caller{Session: "root"}); got != nil {
		t.Errorf("a folder answers for sessions of another: %v", got.id())
	}
	w.sessions = []*Session{child}
	if got := w.asked(mcp.Caller{}); got != nil {
		t.Errorf("a child answers for its root: %v", got.id())
	}
}
