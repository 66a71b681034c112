package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// results are the texts of the results in a request, by call.
func results(q llm.Request) map[string]string {
	out := map[string]string{}
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(llm.ToolResult); ok {
				out[r.ID] = r.Text
			}
		}
	}
	return out
}

// The results of one reply have a bound together. What is cut for it is
// recorded, all of it can be read, and what is sent stays the same from then on,
// also for a model with another window and in another process.
func TestResultsOfOneReplyAreBoundedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes := map[string]int{"a": 120_000, "b": 30_000, "c": 90_000}
		big := returning(tool.Spec{Name: "big", Limit: tool.NoLimit}, func(env tool.Env) tool.Result {
			return tool.Result{Text: strings.Repeat("é", sizes[env.Call]-1) + "\n"}
		})
		r := newRig(t, []tool.Tool{big}, fake.Use(use("a", "big"), use("b", "big"), use("c", "big")), fake.Use(use("d", "big")), fake.Say("done"))
		kept := map[string]string{}
		r.loop.Spill = func(call, text string) (string, error) {
			if call == "c" {
				return "", errors.New("the disk is full")
			}
			kept["/kept/"+call] = text
			return "/kept/" + call, nil
		}
		sizes["d"] = 10
		r.run(t)
		cuts := said[event.Bounded](r.host)
		if len(cuts) != 1 || len(cuts[0].Results) != 2 || cuts[0].Results[0].Spill != "/kept/a" || cuts[0].Results[1].Spill != "" {
			t.Fatalf("recorded %.300v", cuts)
		}
		if len(kept["/kept/a"]) != 240_000-1 || len(kept) != 1 {
			t.Errorf("%d bytes are kept in %d files", len(kept["/kept/a"]), len(kept))
		}
		reqs := r.model.Requests()
		sent, again := results(reqs[1]), results(reqs[2])
		total := 0
		for _, call := range []string{"a", "b", "c"} {
			total += utf8.RuneCountInString(sent[call])
			if sent[call] != again[call] {
				t.Errorf("the result of %s changed between two requests", call)
			}
		}
		if total > window.MessageChars || total < window.MessageChars*4/5 || utf8.RuneCountInString(sent["b"]) != 30_000 {
			t.Errorf("%d characters were sent, %d of them of the smallest", total, utf8.RuneCountInString(sent["b"]))
		}
		if !strings.Contains(sent["a"], "may have 200,000 characters together; all of it is in /kept/a, to be searched") || !strings.Contains(sent["c"], "ask for a smaller part") {
			t.Errorf("what was cut says\n%s\n%s", lineWith(sent["a"], "left out"), lineWith(sent["c"], "left out"))
		}
		var folded transcript.State // as another process would
		for i, b := range r.host.events {
			folded = folded.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
		}
		raw := func(ms []llm.Message) string { b, _ := json.Marshal(ms); return string(b) }
		if now := window.Build(folded); raw(now[:len(reqs[2].Messages)]) != raw(reqs[2].Messages) {
			t.Error("the log comes to other bytes")
		}
	})
}

func lineWith(text, what string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, what) {
			return line
		}
	}
	return fmt.Sprintf("no line with %q", what)
}

// A smaller window has a smaller bound: what was sent whole is cut, once.
func TestASmallerWindowBoundsWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tool.Tool{keep(20_000)}, fake.Use(use("a", "keep"), use("b", "keep")), fake.Use(use("c", "keep")), fake.Say("done"))
		r.host.target.Window = 200_000
		r.run(t)
		if n := len(said[event.Bounded](r.host)); n != 0 {
			t.Fatalf("%d cuts in a large window", n)
		}
		r.host.target.Window, r.model.Replies = 16_000, []fake.Reply{fake.Say("so"), fake.Say("so")}
		r.cannotCompact()
		_ = r.host.Emit(event.InputAccepted{ID: "p2", Text: "on"})
		r.run(t)
		_ = r.host.Emit(event.InputAccepted{ID: "p3", Text: "on"})
		r.run(t)
		var calls []string
		for _, b := range said[event.Bounded](r.host) {
			for _, c := range b.Results {
				calls = append(calls, c.Call)
			}
		}
		if !slices.Equal(calls, []string{"a", "b"}) {
			t.Errorf("cut %v", calls)
		}
	})
}

// A provider that clears old results is told when, and which stay. The loop leaves
// it to it then; what it left out counts again for a model that is not asked to.
func TestTheProviderClears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edited := func(stop llm.Stop, part llm.Part) fake.Reply {
			return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{part}}
				if fake.Send(yield, m.Parts...) {
					yield(llm.Finished{Message: m, Stop: stop, Usage: llm.Usage{In: 40_000, Out: 10, Cleared: 30_000}}, nil)
				}
			}
		}
		r := newRig(t, []tool.Tool{read(40_000), keep(10)}, append(measured(6, 0, 10_000), edited(llm.WantTools, use("last", "read")), edited(llm.EndTurn, llm.Text{S: "done"}))...)
		r.host.target.Window, r.host.target.Cap, r.host.target.Edits = 80_000, 8000, true
		r.cannotCompact()
		r.run(t)
		if n := len(said[event.Cleared](r.host)); n > 0 {
			t.Errorf("the loop cleared %d times", n)
		}
		want := &llm.Clearing{Trigger: 60_000 - 1, Keep: 5, AtLeast: 9000, Except: []string{"keep"}}
		for i, q := range r.model.Requests() {
			if d := cmp.Diff(want, q.Clear); d != "" {
				t.Fatalf("request %d (-want +got):\n%s", i, d)
			}
		}
		r.host.target.Edits, r.model.Replies = false, []fake.Reply{fake.Say("so")}
		_ = r.host.Emit(event.InputAccepted{ID: "p2", Text: "on"})
		r.run(t)
		if n := len(said[event.Cleared](r.host)); n != 1 || r.last().Clear != nil {
			t.Errorf("for a model that is not asked to clear the loop cleared %d times, and asked for %+v", n, r.last().Clear)
		}
	})
}
