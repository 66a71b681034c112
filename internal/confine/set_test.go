package confine

import (
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/sandbox"
)

// A sandbox counts from the next turn on: the last of those that settings
// wanted until then, and the same one while nothing of it changes.
func TestTheLastPreparedCounts(t *testing.T) {
	b := New(Config{Dir: "/w"})
	cfg := func(enabled bool, deny ...string) *config.Config {
		c := &config.Config{}
		c.Sandbox.Enabled = enabled
		for _, d := range deny {
			c.Permissions.Deny = append(c.Permissions.Deny, config.Rule{Text: d})
		}
		return c
	}
	b.Prepare(t.Context(), cfg(false), []string{"/w"}, true)
	b.Advance()
	b.Prepare(t.Context(), cfg(true), []string{"/w"}, true)
	if now, next := b.Wants(); now != nil || next == nil {
		t.Errorf("before the next turn: %v %v", now, next)
	}
	b.Prepare(t.Context(), cfg(true), []string{"/w"}, false) // something else changed
	b.Advance()
	first, _ := b.Wants()
	if first == nil {
		t.Fatal("a later change of something else took the sandbox away")
	}
	b.Prepare(t.Context(), cfg(true, "Bash(x)"), []string{"/w"}, false)
	b.Advance()
	if now, _ := b.Wants(); now != first {
		t.Error("a rule about commands made another sandbox")
	}
	for _, change := range []struct {
		deny  string
		roots []string
	}{{"Read(secret)", []string{"/w"}}, {"WebFetch(domain:x.example)", []string{"/w"}}, {"", []string{"/w", "/x"}}} {
		c := cfg(true)
		if change.deny != "" {
			c = cfg(true, change.deny)
		}
		b.Prepare(t.Context(), c, change.roots, false)
		b.Advance()
		now, _ := b.Wants()
		if now == first {
			t.Errorf("%v makes no other sandbox", change)
		}
		first = now
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// Another program that adze runs is protected in the turn that has begun, other
// settings are not brought forward for it.
func TestProgramsCountAtOnce(t *testing.T) {
	var runs []policy.Steer
	b := New(Config{Dir: "/w", Env: func(string) string { return "" }, Programs: func(*config.Config, []string) []policy.Steer { return runs }})
	cfg := &config.Config{}
	cfg.Sandbox.Enabled = true
	b.Prepare(t.Context(), cfg, []string{"/w"}, true)
	b.Advance()
	first := b.get()
	runs = append(runs, policy.Steer{Path: "/w/server.js"})
	b.Prepare(t.Context(), cfg, []string{"/w"}, false)
	second := b.get()
	if second == first || second == nil {
		t.Error("another program waits for the next turn")
	}
	wider := &config.Config{}
	wider.Sandbox.Enabled, wider.Sandbox.AllowUnsandboxed = true, true
	b.Prepare(t.Context(), wider, []string{"/w"}, true)
	runs = append(runs, policy.Steer{Path: "/w/other.js"})
	b.Prepare(t.Context(), wider, []string{"/w"}, false)
	if b.get() != second {
		t.Error("other settings count before the next turn")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A sandbox that is opened ahead is waited for, and closed; none is opened
// once it is closed.
func TestAhead(t *testing.T) {
	opened := 0
	begun, go_ := make(chan struct{}), make(chan struct{})
	open := func() (*sandbox.Sandbox, error) {
		opened++
		close(begun)
		<-go_
		return sandbox.New(t.Context(), sandbox.Config{})
	}
	b := New(Config{Dir: "/w"})
	b.Ahead() // nothing is confined
	c := &confinement{open: open}
	b.next = c
	b.Advance()
	b.Ahead()
	b.Ahead()
	<-begun
	closed := make(chan error)
	go func() { closed <- b.Close() }()
	close(go_)
	if err := <-closed; err != nil || c.box == nil || opened != 1 {
		t.Errorf("%v, opened %d times", err, opened)
	}
	b.Ahead()
	late := &confinement{open: open}
	if err := late.close(); err != nil {
		t.Error(err)
	}
	late.ahead()
	late.opening.Wait()
	if opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}
