package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	pixels "image"
	image "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/transcript"
)

// A host is a session as small as a turn needs it: a fold, and a list of what
// was said.
type host struct {
	mu      sync.Mutex // guards the rest
	st      transcript.State
	events  []event.Body
	target  agent.Target
	tools   tool.Set
	noTools error
	notes   []string
	left    int
	wish    *agent.Compaction
	steered int
	rule    func(agent.Question) agent.Verdict
	still   func(agent.Question, agent.Verdict) agent.Verdict // nil: what was allowed is
	broken  error                                             // of each ruling
	proceed func(context.Context) error
	refuse  func(event.Body) error // nil records everything
	hook    func(hook.Input) hook.Answer
	heard   []hook.Event // that have hooks; nil is all, when hook is set
	acted   [][]policy.Action
	looked  int                       // how often files were looked at
	look    map[string]event.Attached // of files that are not just there
}

func (h *host) Hooked(e hook.Event) bool {
	return h.hook != nil && (h.heard == nil || slices.Contains(h.heard, e))
}

func (h *host) Hook(_ context.Context, in hook.Input, actions []policy.Action) hook.Answer {
	h.mu.Lock()
	h.acted = append(h.acted, actions)
	h.mu.Unlock()
	return h.hook(in)
}

func (h *host) Emit(b event.Body) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		if err := h.refuse(b); err != nil {
			return err
		}
	}
	h.events = append(h.events, b)
	h.st = h.st.Apply(event.Event{Seq: h.st.Seq + 1, Time: time.Now(), Body: b})
	return nil
}

func (h *host) State() transcript.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.st
}

func (h *host) Rule(_ context.Context, q agent.Question) (agent.Verdict, error) {
	if h.broken != nil {
		return agent.Verdict{}, h.broken
	}
	if h.rule != nil {
		return h.rule(q), nil
	}
	return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}, nil
}

func (h *host) Begin(q agent.Question, v agent.Verdict, start event.ToolStarted) (agent.Verdict, error) {
	if h.still != nil {
		v = h.still(q, v)
	}
	if v.Effect != policy.Allow {
		return v, nil
	}
	return v, h.Emit(start)
}

func (h *host) Steer(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steered++
	return nil
}

func (h *host) Tools() (tool.Set, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools, h.noTools
}

func (h *host) Note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, text)
}

func (h *host) Model() agent.Target {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.target
}

func (h *host) Switch(to agent.Target, why event.Cause) error {
	if err := h.Emit(event.ModelChanged{Model: to.ID(), Cause: why}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.target = to
	return nil
}

func (h *host) Wanted() (agent.Compaction, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.wish
	h.wish = nil
	if c == nil {
		return agent.Compaction{}, false
	}
	return *c, true
}

func (h *host) Look(_ context.Context, paths []string) (out []event.Attached) {
	h.looked++
	for _, p := range paths {
		if a, ok := h.look[p]; ok {
			out = append(out, a)
			continue
		}
		out = append(out, event.Attached{Name: p, Text: "<file path=\"" + p + "\">\nwhat is in it\n</file>"})
	}
	return out
}

func (h *host) Proceed(ctx context.Context) error {
	if h.proceed == nil {
		return nil
	}
	return h.proceed(ctx)
}

func (h *host) Leave(<-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left++
}

// said are the events of a kind.
func said[B event.Body](h *host) (out []B) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if b, ok := e.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// A rig is a turn that can be run once.
type rig struct {
	host  *host
	model *fake.Model
	loop  agent.Loop
	turn  agent.Turn
	waits []time.Duration // that it slept
}

// newRig makes a turn of the prompt "go" in the folder /w.
func newRig(t *testing.T, tools []tool.Tool, replies ...fake.Reply) *rig {
	t.Helper()
	set, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{model: &fake.Model{Replies: replies}}
	r.host = &host{tools: set, target: agent.Target{Model: r.model, Provider: "fake", Name: "m", Images: true}}
	r.loop = agent.Loop{
		Env: tool.Env{Dir: "/w"}, Now: time.Now, Jitter: func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.waits = append(r.waits, d)
			return agent.Sleep(ctx, d)
		},
	}
	r.turn = agent.Turn{ID: "t1", Host: r.host}
	for _, b := range []event.Body{
		event.SessionStarted{ID: "s1", Dir: "/w"}, event.InputAccepted{ID: "p1", Text: "go"}, event.TurnStarted{ID: "t1", Model: "fake/m", Mode: policy.Default},
	} {
		if err := r.host.Emit(b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// cannotCompact makes the next compaction one too many.
func (r *rig) cannotCompact() {
	for range 3 {
		_ = r.host.Emit(event.CompactFailed{Trigger: event.CauseFull, Why: "the test wants it"})
	}
}

// run runs the turn. What it leaves must be a conversation that a provider
// accepts.
func (r *rig) run(t *testing.T) agent.Outcome {
	t.Helper()
	out, err := r.loop.Run(t.Context(), r.turn)
	if err != nil {
		t.Fatal(err)
	}
	if open := r.host.State().Open(); len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
	return out
}

// last is the newest request.
func (r *rig) last() llm.Request {
	all := r.model.Requests()
	return all[len(all)-1]
}

// words are the texts and results of a request, joined.
func words(q llm.Request) string {
	var b strings.Builder
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				fmt.Fprintln(&b, p.S)
			case llm.ToolResult:
				fmt.Fprintln(&b, p.Text)
			}
		}
	}
	return b.String()
}

// returning is a tool that runs beside others and returns what f says.
func returning(spec tool.Spec, f func(tool.Env) tool.Result) tool.Tool {
	return tool.New(spec,
		func(struct{}, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: true}, nil
		},
		func(_ context.Context, _ struct{}, env tool.Env) (tool.Result, error) { return f(env), nil })
}

func use(id, name string) llm.ToolUse {
	return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(`{}`)}
}

func overloaded() fake.Reply {
	return fake.Fail(llm.Error{Kind: llm.Overloaded, Status: 529, Err: errTest})
}

var errTest = fmt.Errorf("as the test wants it")

// What a model takes is asked for with each call: after a fallback to a model
// without images in the middle of a turn, and after a person changed it, a
// call answers as for the model that reads its result.
func TestFactsOfTheModelFollowAFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type facts struct {
			images bool
			window int
		}
		var seen []facts
		look := returning(tool.Spec{Name: "look"}, func(env tool.Env) tool.Result {
			seen = append(seen, facts{env.Images, env.Window})
			return tool.Result{Text: "ok"}
		})
		r := newRig(t, []tool.Tool{look}, slices.Concat([]fake.Reply{fake.Use(use("a", "look"))}, slices.Repeat([]fake.Reply{overloaded()}, 4))...)
		third := agent.Target{Provider: "fake", Name: "third", Images: true, Window: 7000}
		other := &fake.Model{}
		third.Model = other
		other.Replies = []fake.Reply{
			fake.Use(use("b", "look")),
			func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				if err := r.host.Switch(third, event.CauseAsked); err != nil {
					t.Error(err)
				}
				fake.Use(use("c", "look"))(ctx, q, yield)
			},
			fake.Say("done"),
		}
		r.host.target.Window = 200_000
		r.loop.Fallbacks = []agent.Target{{Model: other, Provider: "fake", Name: "other", Window: 50_000}}
		if out := r.run(t); out.Reason != agent.Completed {
			t.Errorf("ended with %q: %s", out.Reason, out.Text)
		}
		want := []facts{{true, 200_000}, {false, 50_000}, {true, 7000}}
		if !slices.Equal(seen, want) {
			t.Errorf("calls were told %v, want %v", seen, want)
		}
		if got := said[event.ModelChanged](r.host); len(got) != 2 || got[0] != (event.ModelChanged{Model: "fake/other", Cause: event.CauseFallback}) {
			t.Errorf("changes of the model: %v", got)
		}
		attempts := 0
		for _, b := range said[event.Replied](r.host) {
			attempts += b.Attempts
		}
		if all := len(r.model.Requests()) + len(other.Requests()); attempts != all {
			t.Errorf("%d attempts are told of %d requests", attempts, all)
		}
	})
}

// How full the window is, is measured with the window of the model that is
// asked next.
func TestThresholdsFollowAFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		much := returning(tool.Spec{Name: "much", Limit: tool.NoLimit}, func(tool.Env) tool.Result { return tool.Result{Text: strings.Repeat("word ", 8000)} })
		r := newRig(t, []tool.Tool{much}, slices.Concat([]fake.Reply{used(4000, use("a", "much"))}, slices.Repeat([]fake.Reply{overloaded()}, 4))...)
		r.host.target.Window, r.host.target.Cap = 200_000, 4000
		r.cannotCompact()
		small := &fake.Model{Replies: []fake.Reply{fake.Say("so")}}
		r.loop.Fallbacks = []agent.Target{{Model: small, Provider: "fake", Name: "small", Window: 8000, Cap: 1000}}
		if out := r.run(t); out.Reason != agent.Completed {
			t.Errorf("ended with %q: %s", out.Reason, out.Text)
		}
		if q := small.Requests(); len(q) != 1 || len(results(q[0])["a"]) > 14_000 {
			t.Errorf("the small model was asked %d times", len(q))
		}
	})
}

// An image that is read after a fallback to a model without images is no image
// for that model.
func TestReadOfAnImageAfterAFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var png bytes.Buffer
		if err := image.Encode(&png, pixels.NewGray(pixels.Rect(0, 0, 4, 4))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x.png"), png.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		read := func(id string) fake.Reply {
			return fake.Use(fake.Call(id, "Read", map[string]string{"file_path": filepath.Join(dir, "x.png")}))
		}
		tools := file.New(file.Config{Ledger: file.NewLedger()})
		r := newRig(t, tools, slices.Concat([]fake.Reply{read("a")}, slices.Repeat([]fake.Reply{overloaded()}, 4))...)
		r.loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: []fake.Reply{read("b"), fake.Say("done")}}, Provider: "fake", Name: "blind"}}
		r.run(t)
		got := said[event.ToolFinished](r.host)
		if len(got) != 2 || got[0].IsErr || len(got[0].Images) != 1 {
			t.Fatalf("before: %+v", got)
		}
		if len(got[1].Images) != 0 || !strings.Contains(got[1].Text, "The model in use takes no images") {
			t.Errorf("after: %+v", got[1])
		}
	})
}
