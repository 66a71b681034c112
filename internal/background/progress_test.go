package background

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
)

// What a session does is put into one line, from what is new since the last one; nothing is
// asked where nothing is.
func TestProgress(t *testing.T) {
	p := begin(t, []fake.Reply{cached("a walrus"), cached("a dodo")}, []fake.Reply{fake.Say("“Reading about the walrus.”"), fake.Say("Looking\nat two lines"), fake.Say("Reading about the dodo")}, func(p *place) { p.c.Notes = func() string { return "" } })
	p.say("one")
	line, through := Progress(t.Context(), p.c, "", 0)
	if line != "Reading about the walrus" || through == 0 {
		t.Errorf("%q, through %d of %d", line, through, p.s.State().Seq)
	}
	p.say("two")
	if again, _ := Progress(t.Context(), p.c, line, through); again != "" {
		t.Errorf("of two lines: %q", again)
	}
	next, end := Progress(t.Context(), p.c, line, through)
	if next != "Reading about the dodo" || end <= through {
		t.Errorf("%q, through %d", next, end)
	}
	r := p.small.Requests()[2].Messages[0].Text()
	if !strings.Contains(r, "dodo") || strings.Contains(r, "[agent]\na walrus") || !strings.Contains(r, "Reading about the walrus") {
		t.Error(r)
	}
	if h := p.s.State().Helpers[event.ForProgress]; h.Helped != 3 {
		t.Errorf("%+v", h)
	}
	if again, same := Progress(t.Context(), p.c, next, p.s.State().Seq); again != "" || same != p.s.State().Seq || len(p.small.Requests()) != 3 {
		t.Errorf("nothing new: %q, %d requests", again, len(p.small.Requests()))
	}
}
