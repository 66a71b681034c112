package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/session"
)

// cutCall is a reply that the output limit cuts off inside of its last call.
func cutCall(before ...llm.Part) fake.Reply {
	end := fake.Parts(llm.MaxTokens, append(before, llm.ToolUse{ID: "cut", Name: "act", Input: json.RawMessage(`"{\"s\": \"half"`), Bad: llm.CutCall})...)
	return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		end(ctx, r, func(c llm.Chunk, err error) bool {
			if _, last := c.(llm.Finished); last {
				time.Sleep(time.Second) // of the bubble: what can start has started
			}
			return yield(c, err)
		})
	}
}

// A call that the output limit cuts off raises the limit, is then named as
// what it is, and ends the turn before it is tried for ever.
func TestCapInsideACall(t *testing.T) {
	larger := func(c *session.Config) { c.Target.Cap, c.Target.LargerCap = 8000, 128000 }
	for _, c := range []struct {
		name    string
		change  func(*session.Config)
		replies []fake.Reply
		end     agent.End
		caps    []int
		results int // that name the limit
	}{
		{"raised", larger, []fake.Reply{cutCall(), fake.Use(call("a", "act", "whole", 0)), fake.Say("done")}, agent.Completed, []int{8000, 128000, 128000}, 0},
		{"raised, and cut again", larger, []fake.Reply{cutCall(), cutCall(), fake.Use(call("a", "act", "whole", 0)), fake.Say("done")}, agent.Completed, []int{8000, 128000, 128000, 128000}, 1},
		{"another call has acted", larger, []fake.Reply{cutCall(call("b", "act", "first", 0)), fake.Say("done")}, agent.Completed, []int{8000, 128000}, 1},
		{"another call has looked", larger, []fake.Reply{cutCall(call("b", "look", "first", 0)), fake.Say("done")}, agent.Completed, []int{8000, 128000}, 0},
		{"for ever", nil, slices.Repeat([]fake.Reply{cutCall()}, 9), agent.OutputCap, []int{0, 0, 0, 0}, 4},
		{"not in a row", nil, []fake.Reply{cutCall(), cutCall(), fake.Use(call("a", "act", "x", 0)), cutCall(), cutCall(), fake.Say("done")}, agent.Completed, []int{0, 0, 0, 0, 0, 0}, 4},
	} {
		bubble(c.name, t, func(t *testing.T) {
			r := start(t, nil, c.change, c.replies...)
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, c.end)
			var caps []int
			for _, q := range r.model.Requests() {
				caps = append(caps, q.MaxTokens)
				valid(t, q.Messages)
			}
			if !slices.Equal(caps, c.caps) {
				t.Errorf("caps %v, want %v", caps, c.caps)
			}
			named := 0
			for _, m := range r.State().Messages() {
				for _, p := range m.Parts {
					if res, ok := p.(llm.ToolResult); ok && strings.Contains(res.Text, "output limit") && strings.Contains(res.Text, "smaller pieces") {
						named++
					}
				}
			}
			if named != c.results {
				t.Errorf("%d results name the limit, want %d", named, c.results)
			}
			for _, f := range all[event.ToolFinished](es) {
				if strings.Contains(f.Text, "JSON") {
					t.Errorf("the model reads %q", f.Text)
				}
			}
			r.Close()
		})
	}
}
