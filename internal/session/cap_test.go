package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
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

// counted reports as many tokens as a provider would count.
func counted(reply fake.Reply) fake.Reply {
	return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		reply(ctx, r, func(c llm.Chunk, err error) bool {
			if f, ok := c.(llm.Finished); ok {
				f.Usage = llm.Usage{In: size(r) / 4, Out: 50}
				c = f
			}
			return yield(c, err)
		})
	}
}

// In a window of 32,000 tokens results are cleared in time, and no request is
// larger than it, nor asks for more than is left.
func TestSmallWindow(t *testing.T) {
	for _, chars := range []int{4_000, 12_000, 40_000} {
		bubble(fmt.Sprint(chars), t, func(t *testing.T) {
			const window = 32_000
			var replies []fake.Reply
			for i := range 40 {
				replies = append(replies, counted(fake.Use(call(fmt.Sprint("c", i), "Read", "", 0))))
			}
			r := start(t, nil, func(c *session.Config) {
				set, err := tool.NewSet(tool.New(tool.Spec{Name: "Read", Again: true, Limit: tool.NoLimit},
					func(in, tool.Env) (tool.Plan, error) {
						return tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: true}, nil
					},
					func(context.Context, in, tool.Env) (tool.Result, error) {
						return tool.Result{Text: strings.Repeat("x", chars)}, nil
					}))
				if err != nil {
					t.Fatal(err)
				}
				c.Tools, c.Target.Window, c.Target.Cap = set, window, 16_000
			}, append(replies, counted(fake.Say("done")))...)
			r.prompt("go")
			r.last(r.turns(1, nil), agent.Completed)
			for i, q := range r.model.Requests() {
				if n := size(q)/4 + q.MaxTokens; n > window {
					t.Errorf("request %d: %d tokens with its reply", i, n)
				}
			}
			r.Close()
		})
	}
}
