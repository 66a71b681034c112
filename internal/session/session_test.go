package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
)

// in is the input of the test tools.
type in struct {
	S    string `json:"s,omitempty"`
	Wait int    `json:"wait,omitempty"` // milliseconds
	Deaf bool   `json:"deaf,omitempty"` // does not heed its context
}

// bench counts what runs at once.
type bench struct{ now, most, started atomic.Int32 }

func (b *bench) tool(name string, parallel, shell bool, actions ...policy.Action) tool.Tool {
	return tool.New(tool.Spec{Name: name, Shell: shell, Again: name == "Read"},
		func(in in, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: actions, Parallel: parallel, Title: name + " " + in.S}, nil
		},
		func(ctx context.Context, in in, env tool.Env) (tool.Result, error) {
			b.started.Add(1)
			if n := b.now.Add(1); n > b.most.Load() {
				b.most.Store(n)
			}
			defer b.now.Add(-1)
			switch {
			case in.S == "panic":
				panic("as asked")
			case in.S == "fail":
				time.Sleep(time.Duration(in.Wait) * time.Millisecond)
				return tool.Errorf("failed as asked"), nil
			case in.S == "needs":
				return tool.Result{Text: strings.Join(env.Needs.Writable, " ")}, nil
			case in.S == "where":
				return tool.Result{Text: env.Dir}, nil
			case in.Deaf:
				time.Sleep(time.Duration(in.Wait) * time.Millisecond)
			case agent.Sleep(ctx, time.Duration(in.Wait)*time.Millisecond) != nil:
				return tool.Result{}, ctx.Err()
			}
			return tool.Result{Text: name + ":" + in.S, Effects: []tool.Effect{effect.Dir{Path: strings.TrimPrefix(in.S, "cd ")}}}, nil
		})
}

type rig struct {
	*session.Session
	t     *testing.T
	log   *mem.Log
	model *fake.Model
	bench bench
	cfg   session.Config
	watch iter.Seq2[event.Event, error] // from the very start
	// written is what files of settings say and the session does not know yet; nil: nothing.
	written atomic.Pointer[func()]
}

func (r *rig) wrote(apply func()) { r.written.Store(&apply) }

func (r *rig) fresh() {
	if apply := r.written.Swap(nil); apply != nil {
		(*apply)()
	}
}

// start runs a session on log (nil: a new one) against these replies.
func start(t *testing.T, log *mem.Log, change func(*session.Config), replies ...fake.Reply) *rig {
	t.Helper()
	r := &rig{t: t, log: log, model: &fake.Model{Replies: replies}}
	if log == nil {
		r.log = &mem.Log{}
	}
	set, err := tool.NewSet(
		r.bench.tool("look", true, false, policy.None{}), r.bench.tool("act", false, false, policy.None{}), r.bench.tool("conf", false, false, policy.Write{Path: "/w/.git/config", Asked: ".git/config"}),
		r.bench.tool("shell", true, true, policy.None{}), r.bench.tool("risk", false, false, policy.Exec{Argv: []string{"danger"}}), r.bench.tool("peek", true, false, policy.Exec{Argv: []string{"danger"}}))
	if err != nil {
		t.Fatal(err)
	}
	r.cfg = session.Config{
		Record: session.Record{Log: r.log, Begin: event.SessionStarted{ID: "s1", Schema: event.Schema, Dir: "/w"}, Again: event.Resumed{Dir: "/w"}},
		Turns: session.Turns{Target: agent.Target{Model: r.model, Provider: "fake", Name: "m"}, Loop: &agent.Loop{
			Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }, Env: tool.Env{Dir: "/w"},
		}},
		Hands:       session.Hands{Tools: set},
		Permissions: session.Permissions{Mode: policy.Default},
		Now:         time.Now,
		Fresh:       r.fresh,
	}
	if change != nil {
		change(&r.cfg)
	}
	s, err := session.Start(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Session = s
	r.watch = s.Events(t.Context(), 0)
	return r
}

// attend puts a person there who can be asked.
func (r *rig) attend() *rig {
	r.t.Helper()
	if err := r.Submit(r.t.Context(), op.Attach{Client: "one"}); err != nil {
		r.t.Fatal(err)
	}
	return r
}

func (r *rig) prompt(text string) {
	r.t.Helper()
	if err := r.Submit(r.t.Context(), op.Prompt{Text: text, Typed: op.All(text)}); err != nil {
		r.t.Fatal(err)
	}
}

// turns reads events up to the end of the n-th turn.
func (r *rig) turns(n int, on func(event.Event)) []event.Event {
	r.t.Helper()
	var got []event.Event
	watch := r.watch
	if r.watch = nil; watch == nil {
		watch = r.Events(r.t.Context(), 0)
	}
	for e, err := range watch {
		if err != nil {
			r.t.Fatal(err)
		}
		got = append(got, e)
		if on != nil {
			on(e)
		}
		if _, ok := e.Body.(event.TurnEnded); ok {
			if n--; n == 0 {
				return got
			}
		}
	}
	r.t.Fatalf("the session ended with %d turns to go; got %v", n, kinds(got))
	return nil
}

func kinds(es []event.Event) []string {
	var out []string
	for _, e := range es {
		if _, live := e.Body.(event.Live); !live {
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", e.Body), "event."))
		}
	}
	return out
}

func all[B event.Body](es []event.Event) (out []B) {
	for _, e := range es {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// last is how the newest turn ended; the conversation must be one that a
// provider accepts.
func (r *rig) last(es []event.Event, reason agent.End) event.TurnEnded {
	r.t.Helper()
	ends := all[event.TurnEnded](es)
	e := ends[len(ends)-1]
	if e.Reason != string(reason) {
		r.t.Errorf("ended with %q (%s), want %q", e.Reason, e.Err, reason)
	}
	var st transcript.State
	for e := range r.log.After(r.t.Context(), 0) {
		st = st.Apply(e)
	}
	if len(st.Open()) != 0 || st.Running != "" {
		r.t.Errorf("left open: %v, running %q", st.Open(), st.Running)
	}
	valid(r.t, st.Messages())
	return e
}

// valid checks that roles alternate and that every call has one result.
func valid(t *testing.T, ms []llm.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range ms {
		if i > 0 && ms[i-1].Role == m.Role {
			t.Errorf("message %d repeats role %s", i, m.Role)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				open[p.ID] = true
			case llm.ToolResult:
				if !open[p.ID] {
					t.Errorf("message %d: a result for %s, which is not open", i, p.ID)
				}
				delete(open, p.ID)
			}
		}
		if m.Role == llm.User && len(open) > 0 {
			t.Errorf("message %d leaves calls without a result: %v", i, open)
		}
	}
}

func bubble(name string, t *testing.T, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func call(id, name, s string, wait int) llm.ToolUse { return fake.Call(id, name, in{S: s, Wait: wait}) }

func TestOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "act", "x", 0)), fake.Say("done"))
		r.prompt("go")
		es := r.turns(1, nil)
		want := []string{"SessionStarted", "InputQueued", "InputAccepted", "TurnStarted"}
		got := kinds(es)
		if !slices.Equal(got[:4], want) || got[len(got)-1] != "TurnEnded" {
			t.Errorf("events: %v", got)
		}
		r.last(es, agent.Completed)
		// The fold of the log is exactly what the model was shown.
		var st transcript.State
		for e := range r.log.After(t.Context(), 0) {
			st = st.Apply(e)
		}
		sent := r.model.Requests()[1].Messages
		if folded := st.Messages()[:len(sent)]; !reflect.DeepEqual(sent, folded) {
			t.Errorf("sent   %+v\nfolded %+v", sent, folded)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestScheduling(t *testing.T) {
	bubble("parallel calls run together", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "look", "1", 1000), call("b", "look", "2", 1000), call("c", "look", "3", 1000)), fake.Say("ok"))
		began := time.Now()
		r.prompt("go")
		es := r.turns(1, nil)
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("at most ten", t, func(t *testing.T) {
		var calls []llm.ToolUse
		for i := range 25 {
			calls = append(calls, call(fmt.Sprint("c", i), "look", "x", 100))
		}
		r := start(t, nil, nil, fake.Use(calls...), fake.Say("ok"))
		r.prompt("go")
		r.last(r.turns(1, nil), agent.Completed)
		if most := r.bench.most.Load(); most != 10 {
			t.Errorf("%d ran at once", most)
		}
		r.Close()
	})
	bubble("a call that acts runs alone and holds up the queue", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "look", "1", 100), call("b", "act", "2", 100), call("c", "look", "3", 100), call("d", "look", "4", 100)), fake.Say("ok"))
		began := time.Now()
		r.prompt("go")
		es := r.turns(1, nil)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if order := callsOf(all[event.ToolStarted](es)); order[0] != "a" || order[1] != "b" {
			t.Errorf("order %v", order)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("a call that waits for an answer holds up nobody", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "peek", "1", 0), call("b", "act", "2", 100)), fake.Say("ok")).attend()
		r.prompt("go")
		es := r.turns(1, func(e event.Event) {
			if f, ok := e.Body.(event.ToolFinished); ok && f.Call == "b" {
				if err := r.Submit(t.Context(), op.Answer{Call: "a", Allow: true, By: "test"}); err != nil {
					t.Error(err)
				}
			}
		})
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("results are fed back in the order of the calls", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("slow", "look", "1", 500), call("fast", "look", "2", 1)), fake.Say("ok"))
		r.prompt("go")
		r.last(r.turns(1, nil), agent.Completed)
		ms := r.model.Requests()[1].Messages
		res := ms[len(ms)-1].Parts
		if res[0].(llm.ToolResult).ID != "slow" || res[1].(llm.ToolResult).ID != "fast" {
			t.Errorf("results: %+v", res)
		}
		r.Close()
	})
	bubble("a call starts while the reply still streams", t, func(t *testing.T) {
		late := func(ctx context.Context, req llm.Request, yield func(llm.Chunk, error) bool) {
			c := call("a", "look", "1", 100)
			fake.Send(yield, c)
			_ = agent.Sleep(ctx, time.Second)
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{c}}, Stop: llm.WantTools}, nil)
		}
		r := start(t, nil, nil, late, fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		k := kinds(es)
		if slices.Index(k, "ToolFinished") > slices.Index(k, "Replied") {
			t.Errorf("the call waited for the reply: %v", k)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("a failed command cancels its running siblings", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "look", "1", 5000), call("b", "shell", "fail", 10)), fake.Say("ok"))
		began := time.Now()
		r.prompt("go")
		es := r.turns(1, nil)
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if txt := result(es, "a"); !strings.Contains(txt, "another command of the same reply failed") {
			t.Errorf("sibling: %q", txt)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("a failed command cancels what has not started", t, func(t *testing.T) {
		late := func(ctx context.Context, req llm.Request, yield func(llm.Chunk, error) bool) {
			parts := []llm.Part{call("a", "shell", "fail", 10), call("b", "act", "deploy", 1), call("c", "look", "x", 1), call("d", "act", "late", 1)}
			for _, p := range parts[:3] {
				fake.Send(yield, p)
			}
			_ = agent.Sleep(ctx, time.Second)
			fake.Send(yield, parts[3])
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: llm.WantTools}, nil)
		}
		r := start(t, nil, nil, late, fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		for _, id := range []string{"b", "c", "d"} {
			if txt := result(es, id); !strings.Contains(txt, "another command of the same reply failed") {
				t.Errorf("%s: %q", id, txt)
			}
		}
		if n := r.bench.started.Load(); n != 1 {
			t.Errorf("%d calls ran", n)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("a failed command withdraws the question of a sibling", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("q", "peek", "x", 1), call("a", "shell", "fail", 10)), fake.Say("ok")).attend()
		r.prompt("go")
		es := r.turns(1, nil)
		if txt := result(es, "q"); !strings.Contains(txt, "was not run, because another command") {
			t.Errorf("%q", txt)
		}
		if len(r.State().Pending) > 0 {
			t.Errorf("still asked: %v", r.State().Pending)
		}
		r.Close()
	})
	for name, input := range map[string]string{"an approval": "", "arguments that a person rewrote": `{"s":"needs"}`} {
		bubble(name+" keeps what the verdict needs", t, func(t *testing.T) {
			r := start(t, nil, nil, fake.Use(call("q", "conf", "needs", 1)), fake.Say("ok")).attend()
			r.prompt("go")
			es := r.turns(1, func(e event.Event) {
				if a, ok := e.Body.(event.Asked); ok {
					if err := r.Submit(t.Context(), op.Answer{Call: a.Call, Allow: true, By: "one", Input: json.RawMessage(input)}); err != nil {
						t.Error(err)
					}
				}
			})
			if txt := result(es, "q"); !strings.HasSuffix(txt, "/w/.git/config") {
				t.Errorf("%q", txt)
			}
			r.Close()
		})
	}
	bubble("a call runs in the folder it was judged in", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("q", "peek", "where", 1), call("a", "act", "cd /w/sub", 0)), fake.Say("ok")).attend()
		r.prompt("go")
		es := r.turns(1, func(e event.Event) {
			if f, ok := e.Body.(event.ToolFinished); ok && f.Call == "a" {
				if err := r.Submit(t.Context(), op.Answer{Call: "q", Allow: true, By: "one"}); err != nil {
					t.Error(err)
				}
			}
		})
		if txt := result(es, "q"); txt != "/w" {
			t.Errorf("%q", txt)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("a directory change holds for later calls", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "act", "cd /w/sub", 0)), fake.Say("ok"))
		r.prompt("go")
		r.last(r.turns(1, nil), agent.Completed)
		if d := r.State().Dir; d != "/w/sub" {
			t.Errorf("dir %q", d)
		}
		r.Close()
	})
}

func callsOf(es []event.ToolStarted) (out []string) {
	for _, e := range es {
		out = append(out, e.Call)
	}
	return out
}

func result(es []event.Event, call string) string {
	for _, f := range all[event.ToolFinished](es) {
		if f.Call == call {
			return f.Text
		}
	}
	return ""
}

// A rule about a tool binds every name that a model may call it by.
func TestAliasesAreJudgedByTheToolsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Loop.Aliases = map[string]string{"gaze": "look"}
			c.Rules.List = []policy.Rule{{Tool: "look", Effect: policy.Deny, Scope: policy.User}}
		}, fake.Use(call("c1", "gaze", "x", 0)), fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		if f := all[event.ToolFinished](es)[0]; !f.Denied || r.bench.started.Load() != 0 {
			t.Errorf("%+v, %d started", f, r.bench.started.Load())
		}
		r.Close()
	})
}

func TestWrongCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := llm.ToolUse{ID: "bad", Name: "act", Input: json.RawMessage(`"{\"s\": "`), Bad: "unexpected end"}
		odd := llm.ToolUse{ID: "odd", Name: "act", Input: json.RawMessage(`{"t": 1}`)}
		r := start(t, nil, nil, fake.Use(bad, odd, call("none", "akt", "", 0), call("boom", "act", "panic", 0)), fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		for id, want := range map[string]string{
			"bad": "not valid JSON: unexpected end", "odd": `unknown field "t"`, "none": `no tool named "akt" (did you mean act?)`, "boom": "as asked",
		} {
			if txt := result(es, id); !strings.Contains(txt, want) {
				t.Errorf("%s: %q lacks %q", id, txt, want)
			}
		}
		r.last(es, agent.Completed)
		r.Close()
	})
}

// Whatever runs, the turn is over within 200 ms of an interrupt, every call
// has its result, and the next prompt works.
func TestInterrupt(t *testing.T) {
	for name, first := range map[string]fake.Reply{
		"while streaming":           fake.Hang(llm.Text{S: "let me"}),
		"before the first byte":     fake.Hang(),
		"while a tool runs":         fake.Use(call("a", "act", "x", 60_000)),
		"while a deaf tool runs":    fake.Use(fake.Call("a", "look", in{Wait: 2000, Deaf: true}), fake.Call("b", "look", in{Wait: 2000, Deaf: true})),
		"while a question is open":  fake.Use(call("a", "risk", "", 0)),
		"while waiting for a retry": fake.Fail(llm.Error{Kind: llm.RateLimited, RetryAfter: time.Minute, Provider: "fake", Err: errors.New("busy")}),
		"a tool of an open reply":   fake.Hang(call("a", "act", "x", 60_000)),
	} {
		bubble(name, t, func(t *testing.T) {
			r := start(t, nil, nil, first, fake.Say("again")).attend()
			r.prompt("go")
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			began := time.Now()
			if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
				t.Fatal(err)
			}
			es := r.turns(1, nil)
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("took %v", took)
			}
			e := all[event.TurnEnded](es)[0]
			if e.How != event.Interrupted {
				t.Errorf("ended %q: %s", e.How, e.Err)
			}
			r.last(es, agent.End(e.Reason))
			if err := r.Submit(t.Context(), op.Interrupt{}); err != session.ErrIdle {
				t.Errorf("a second interrupt: %v", err)
			}
			r.prompt("again")
			r.last(r.turns(2, nil), agent.Completed)
			r.Close()
		})
	}
}

func TestInterruptKeepsWhatWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Hang(llm.Text{S: "half a thought"}), fake.Say("ok"))
		r.prompt("go")
		synctest.Wait()
		_ = r.Submit(t.Context(), op.Interrupt{})
		r.last(r.turns(1, nil), agent.InterruptedStreaming)
		r.prompt("and?")
		r.last(r.turns(2, nil), agent.Completed)
		if s := fmt.Sprint(r.model.Requests()[1].Messages); !strings.Contains(s, "half a thought") {
			t.Errorf("the model forgot: %s", s)
		}
		r.Close()
	})
}

func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "act", "x", 1000)), fake.Say("first"), fake.Say("unused"))
		r.prompt("go")
		time.Sleep(100 * time.Millisecond)
		_ = r.Submit(t.Context(), op.Prompt{ID: "p2", Text: "mind the gap"})
		_ = r.Submit(t.Context(), op.Prompt{ID: "p3", Text: "never mind"})
		if err := r.Submit(t.Context(), op.Unqueue{ID: "p3"}); err != nil {
			t.Error(err)
		}
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		var shown []string
		for _, q := range all[event.Queued](es) {
			shown = append(shown, strings.Join(q.IDs, " "))
		}
		if want := []string{"p2", "p2 p3", "p2", ""}; !slices.Equal(shown, want) {
			t.Errorf("shown as waiting: %q, want %q", shown, want)
		}
		ms := r.model.Requests()[1].Messages
		parts := ms[len(ms)-1].Parts
		if len(parts) != 2 || !reflect.DeepEqual(parts[1], llm.Part(llm.Text{S: "mind the gap"})) {
			t.Errorf("after the step the model got %+v", parts)
		}
		if err := r.Submit(t.Context(), op.Unqueue{ID: "p2"}); err != session.ErrNoPrompt {
			t.Errorf("taking back a prompt that was given: %v", err)
		}
		r.Close()
	})
}

// A prompt for later joins no turn, and those that came after it do.
func TestLaterPromptsBeginATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "act", "x", 1000)), fake.Say("first"), fake.Say("second"))
		r.prompt("go")
		time.Sleep(100 * time.Millisecond)
		_ = r.Submit(t.Context(), op.Prompt{ID: "p2", Text: "then this", Later: true})
		_ = r.Submit(t.Context(), op.Prompt{ID: "p3", Text: "mind the gap"})
		es := r.turns(2, nil)
		r.last(es, agent.Completed)
		var steered []string
		for _, e := range all[event.InputAccepted](es) {
			steered = append(steered, fmt.Sprint(e.ID, e.Steer))
		}
		if want := []string{"p3true", "p2false"}; !reflect.DeepEqual(steered[len(steered)-2:], want) {
			t.Errorf("given in the order %q", steered)
		}
		if s := fmt.Sprint(r.model.Requests()[1].Messages); strings.Contains(s, "then this") || !strings.Contains(s, "mind the gap") {
			t.Errorf("with the next step the model got %s", s)
		}
		r.Close()
	})
}

// A client that does not know whether its prompt was taken says it once more: that is no
// second prompt, neither while it waits nor when the model has it. One that was taken
// back may be said again.
func TestNoPromptIsTakenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "act", "x", 1000)), fake.Say("first"), fake.Say("second"))
		submit := func(list ...op.Op) {
			t.Helper()
			for _, o := range list {
				if err := r.Submit(t.Context(), o); err != nil {
					t.Error(err)
				}
			}
		}
		one, two, three := op.Prompt{ID: "1", Text: "one"}, op.Prompt{ID: "2", Text: "two", Later: true}, op.Prompt{ID: "3", Text: "three"}
		submit(one, one)
		time.Sleep(100 * time.Millisecond)
		submit(two, two, three, op.Unqueue{ID: "3"}, three, one)
		es := r.turns(2, nil)
		submit(two, one)
		var given []string
		for _, e := range all[event.InputAccepted](es) {
			given = append(given, e.ID+e.Text)
		}
		if want := []string{"1one", "3three", "2two"}; !reflect.DeepEqual(given, want) {
			t.Errorf("given were %q", given)
		}
		if n := len(r.model.Requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
		r.Close()
	})
}

func TestQueuedPromptRunsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Hang(), fake.Say("two"))
		r.prompt("one")
		r.prompt("two")
		synctest.Wait()
		_ = r.Submit(t.Context(), op.Interrupt{})
		r.last(r.turns(2, nil), agent.Completed)
		r.Close()
	})
}

func TestQuestions(t *testing.T) {
	ask := fake.Use(call("c1", "risk", "", 0))
	bubble("answered once", t, func(t *testing.T) {
		r := start(t, nil, nil, ask, fake.Say("ok")).attend()
		r.prompt("go")
		es := r.turns(1, func(e event.Event) {
			if a, ok := e.Body.(event.Asked); ok {
				if err := r.Submit(t.Context(), op.Answer{Call: a.Call, Allow: true, By: "one"}); err != nil {
					t.Error(err)
				}
				if err := r.Submit(t.Context(), op.Answer{Call: a.Call, Allow: false, By: "two"}); err != session.ErrNoAsk {
					t.Errorf("second answer: %v", err)
				}
			}
		})
		if txt := result(es, "c1"); txt != "risk:" {
			t.Errorf("result %q", txt)
		}
		r.last(es, agent.Completed)
		r.Close()
	})
	bubble("refused with a comment", t, func(t *testing.T) {
		r := start(t, nil, nil, ask, fake.Say("ok")).attend()
		r.prompt("go")
		es := r.turns(1, func(e event.Event) {
			if a, ok := e.Body.(event.Asked); ok {
				_ = r.Submit(t.Context(), op.Answer{Call: a.Call, By: "one", Comment: "use make"})
			}
		})
		f := all[event.ToolFinished](es)[0]
		if !f.Denied || !strings.Contains(f.Text, "use make") || r.bench.started.Load() != 0 {
			t.Errorf("%+v, %d started", f, r.bench.started.Load())
		}
		r.Close()
	})
	bubble("nobody there", t, func(t *testing.T) {
		r := start(t, nil, nil, ask, fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		if f := all[event.ToolFinished](es)[0]; !f.Denied || r.bench.started.Load() != 0 {
			t.Errorf("%+v, %d started", f, r.bench.started.Load())
		}
		if d := r.State().Turn.Denials; len(d) != 1 || d[0].Tool != "risk" {
			t.Errorf("denials %+v", d)
		}
		r.Close()
	})
}

func TestRecovery(t *testing.T) {
	busy := llm.Error{Kind: llm.Overloaded, Provider: "fake", Status: 529, Err: errors.New("overloaded")}
	cut := llm.Error{Kind: llm.Cut, Provider: "fake", Err: errors.New("cut off")}
	capped := fake.Parts(llm.MaxTokens, llm.Text{S: "part"})
	type row struct {
		name    string
		change  func(*session.Config)
		replies []fake.Reply
		end     agent.End
		check   func(t *testing.T, r *rig, es []event.Event)
	}
	for _, c := range []row{
		{name: "Fault45: five times 529, then fine", replies: []fake.Reply{fake.Fail(busy), fake.Fail(busy), fake.Fail(busy), fake.Fail(busy), fake.Fail(busy), fake.Say("ok")}, end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				var sum time.Duration
				for _, w := range all[event.Waiting](es) {
					sum += w.For
				}
				if want := 15500 * time.Millisecond; sum != want {
					t.Errorf("waited %v, want %v", sum, want)
				}
			}},
		{name: "overloaded for good", replies: slices.Repeat([]fake.Reply{fake.Fail(busy)}, 11), end: agent.ModelError},
		{name: "overloaded, other model", change: withFallback(fake.Say("from the other")), replies: slices.Repeat([]fake.Reply{fake.Fail(busy)}, 4), end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if m := all[event.ModelChanged](es); len(m) != 1 || m[0].Model != "fake/other" {
					t.Errorf("%+v", m)
				}
			}},
		{name: "Fault49: cut midway, retracted, retried", replies: []fake.Reply{fake.Fail(cut, llm.Text{S: "half"}), fake.Say("whole")}, end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if len(all[event.Retracted](es)) != 1 || len(all[event.Dropped](es)) != 1 {
					t.Errorf("events: %v", kinds(es))
				}
				if s := fmt.Sprint(r.State().Messages()); strings.Contains(s, "half") {
					t.Errorf("the broken reply stayed: %s", s)
				}
			}},
		{name: "cut midway with a running call", replies: []fake.Reply{fake.Fail(cut, call("a", "act", "x", 300)), fake.Say("whole")}, end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if d := all[event.Dropped](es); len(d) != 1 || len(d[0].Calls) > 1 {
					t.Errorf("%+v", d)
				}
				if n := len(r.State().Messages()); n != 2 {
					t.Errorf("%d messages", n)
				}
			}},
		{name: "cut midway four times", replies: slices.Repeat([]fake.Reply{fake.Fail(cut, llm.Text{S: "half"})}, 4), end: agent.ModelError},
		{name: "stream without an end", replies: []fake.Reply{func(_ context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			fake.Send(y, llm.Text{S: "half"})
		}, fake.Say("whole")}, end: agent.Completed},
		{name: "output cap raised", change: func(c *session.Config) { c.Target.Cap, c.Target.LargerCap = 8000, 64000 }, replies: []fake.Reply{capped, fake.Say("whole")}, end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				q := r.model.Requests()
				if q[0].MaxTokens != 8000 || q[1].MaxTokens != 64000 || len(q[1].Messages) != 1 {
					t.Errorf("caps %d %d, %d messages", q[0].MaxTokens, q[1].MaxTokens, len(q[1].Messages))
				}
			}},
		{name: "output resumed", replies: []fake.Reply{capped, capped, capped, fake.Say("end")}, end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if n := len(r.model.Requests()[3].Messages); n != 7 {
					t.Errorf("%d messages", n)
				}
			}},
		{name: "output cap for good", replies: []fake.Reply{capped, capped, capped, capped}, end: agent.OutputCap},
		{name: "prompt too long", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.TooLong, Provider: "fake", Err: errors.New("too long")})}, end: agent.PromptTooLong},
		{name: "wrong key", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.Unauthorized, Status: 401, Provider: "fake", Err: errors.New("wrong key")})}, end: agent.ModelError,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if e := all[event.TurnEnded](es)[0]; e.Kind != "authentication_failed" || e.Status != 401 {
					t.Errorf("%+v", e)
				}
			}},
		{name: "max turns", change: func(c *session.Config) { c.Budget.Turns = 1 }, replies: []fake.Reply{fake.Use(call("a", "look", "", 0))}, end: agent.MaxTurns},
		{name: "price not known", change: func(c *session.Config) {
			c.Budget.USD = 1
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 0, false }
		}, end: agent.MaxBudget},
		{name: "money spent", change: func(c *session.Config) {
			c.Budget.USD = 1
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 2, true }
		}, replies: []fake.Reply{fake.Use(call("a", "look", "", 0))}, end: agent.MaxBudget},
		{name: "token budget nudges", change: func(c *session.Config) { c.Budget.Tokens = 1000 }, replies: slices.Repeat([]fake.Reply{fake.Say("more")}, 5), end: agent.Completed,
			check: func(t *testing.T, r *rig, es []event.Event) {
				if n := len(r.model.Requests()); n != 4 {
					t.Errorf("%d requests", n)
				}
			}},
		{name: "refused", replies: []fake.Reply{fake.Parts(llm.Refused, llm.Text{S: "no"})}, end: agent.Refused},
	} {
		bubble(c.name, t, func(t *testing.T) {
			r := start(t, nil, c.change, c.replies...)
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, c.end)
			if c.check != nil {
				c.check(t, r, es)
			}
			r.Close()
		})
	}
}

func withFallback(replies ...fake.Reply) func(*session.Config) {
	return func(c *session.Config) {
		c.Loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: replies}, Provider: "fake", Name: "other"}}
	}
}

func TestSpill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := strings.Repeat("0123456789\n", 20_000)
		r := start(t, nil, func(c *session.Config) {
			c.Loop.Spill = func(call, text string) (string, error) {
				if call != "a" || !strings.Contains(text, big) {
					t.Errorf("spilled %d bytes of %s", len(text), call)
				}
				return "/s/a.txt", nil
			}
		}, fake.Use(call("a", "act", big, 0)), fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		f := all[event.ToolFinished](es)[0]
		if f.Spill != "/s/a.txt" || len(f.Text) > 2500 || !strings.Contains(f.Text, "/s/a.txt") || !strings.Contains(f.Text, "220.0 KB") {
			t.Errorf("%q: %d bytes: %.200s", f.Spill, len(f.Text), f.Text)
		}
		r.Close()
	})
}

// Fault52: a process died mid-turn; the next one closes what was open.
func TestFault52CrashIsClosedOnReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &mem.Log{}
		for i, b := range []event.Body{
			event.SessionStarted{ID: "s1", Dir: "/w"}, event.InputAccepted{ID: "p1", Text: "x"}, event.TurnStarted{ID: "t1"},
			event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{call("c9", "act", "", 0)}}, Stop: llm.WantTools},
			event.ToolStarted{Call: "c9", Name: "act"}, event.InputQueued{ID: "p2", Text: "waiting"},
		} {
			if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		r := start(t, log, nil, fake.Say("ok"), fake.Say("ok"))
		es := r.turns(1, nil)
		e := r.last(es, agent.InterruptedTools)
		if e.How != event.Interrupted {
			t.Errorf("%+v", e)
		}
		r.prompt("go on")
		r.last(r.turns(3, nil), agent.Completed)
		if s := fmt.Sprint(r.model.Requests()[1].Messages); !strings.Contains(s, "waiting") || !strings.Contains(s, "go on") {
			t.Errorf("a prompt was lost: %s", s)
		}
		r.Close()
	})
}

// A turn that died without an open call was not interrupted in one.
func TestCrashWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &mem.Log{}
		for i, b := range []event.Body{event.SessionStarted{ID: "s1", Dir: "/w"}, event.InputAccepted{ID: "p1", Text: "x"}, event.TurnStarted{ID: "t1"}} {
			if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		r := start(t, log, nil)
		r.last(r.turns(1, nil), agent.InterruptedStreaming)
		r.Close()
	})
}

// full is a log whose disk is full after n events.
type full struct {
	*mem.Log
	n int
}

func (f *full) Append(ctx context.Context, e event.Event) error {
	if f.n--; f.n < 0 {
		return errors.New("no space left on device")
	}
	return f.Log.Append(ctx, e)
}

// Fault10: what cannot be recorded is not done, and people are told.
func TestFault10NothingRunsUnrecorded(t *testing.T) {
	for n := range 7 {
		bubble(fmt.Sprint(n), t, func(t *testing.T) {
			r := start(t, nil, func(c *session.Config) { c.Log = &full{c.Log.(*mem.Log), n} }, fake.Use(call("a", "act", "", 0)), fake.Say("ok"))
			err := r.Submit(t.Context(), op.Prompt{Text: "go"})
			if n < 2 {
				if err == nil {
					t.Error("the prompt was taken without being on disk")
				}
				r.Close()
				return
			}
			for e, err := range r.watch {
				if err != nil {
					t.Fatal(err)
				}
				if end, ok := e.Body.(event.TurnEnded); ok {
					if end.Kind != "storage" || !strings.Contains(end.Err, "no space left") {
						t.Errorf("ended %+v", end)
					}
					break
				}
			}
			started := 0
			for e := range r.log.After(t.Context(), 0) {
				if _, ok := e.Body.(event.ToolStarted); ok {
					started++
				}
			}
			if ran := int(r.bench.started.Load()); ran > started {
				t.Errorf("%d calls ran, %d are on disk", ran, started)
			}
			r.Close()
		})
	}
}

func TestSlowReaderLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 6000
		var chunks fake.Reply = func(_ context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			for i := range n {
				y(llm.TextDelta{S: fmt.Sprint(i, " ")}, nil)
			}
			y(llm.Finished{Message: llm.Message{Role: llm.Assistant}, Stop: llm.EndTurn}, nil)
		}
		r := start(t, nil, nil, chunks)
		text := ""
		r.prompt("go")
		r.turns(1, func(e event.Event) {
			if d, ok := e.Body.(event.TextDelta); ok {
				if d.At != len(text) {
					t.Fatalf("a delta at %d after %d bytes", d.At, len(text))
				}
				text += d.S
			}
			time.Sleep(time.Millisecond)
		})
		r.Close()
	})
}

// The end of a task that cannot be recorded is told to whoever watches: they would wait for
// it for ever, and without a turn nothing else says what is wrong.
func TestEndOfATaskWithoutRoom(t *testing.T) {
	bubble("", t, func(t *testing.T) {
		const room = 3 // the session, a task, and one more
		r := start(t, nil, func(c *session.Config) { c.Log = &full{c.Log.(*mem.Log), room} })
		if err := r.Report(event.TaskStarted{ID: "b1", Text: "make"}); err != nil {
			t.Fatal(err)
		}
		var bad error
		for range room {
			if bad = r.Report(event.Noted{Text: "fills the log"}); bad != nil {
				break
			}
		}
		if bad == nil {
			t.Fatal("the log is not full")
		}
		if err := r.Report(event.TaskEnded{ID: "b1"}); err == nil {
			t.Error("it was recorded")
		}
		ended := false
		for e, err := range r.watch {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case event.TaskEnded:
				ended = b.ID == "b1" && e.Seq == 0
			case event.TurnEnded:
				if !ended || b.How != event.Failed || b.Kind != "storage" || !strings.Contains(b.Err, "no space left") {
					t.Errorf("%t, %+v", ended, b)
				}
				r.Close()
				return
			}
		}
		t.Error("nothing was told")
	})
}
