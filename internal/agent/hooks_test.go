package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// hooked has programs of a person's answer, by the event; what they were given
// is written down, a line each.
func (r *rig) hooked(answers map[hook.Event]hook.Answer) (given *[]string) {
	given = &[]string{}
	r.host.hook = func(in hook.Input) hook.Answer {
		raw, err := json.Marshal(in)
		if err != nil {
			raw = []byte(err.Error())
		}
		r.host.mu.Lock()
		*given = append(*given, fmt.Sprintf("%s %s", in.Event(), raw))
		r.host.mu.Unlock()
		a := answers[in.Event()]
		a.By = "a.sh"
		return a
	}
	return given
}

// of are those that were given for an event.
func of(given []string, e hook.Event) (out []string) {
	for _, s := range given {
		if rest, ok := strings.CutPrefix(s, string(e)+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// Hooks read what a call came to as it is recorded, and may put something else
// in its place, which is masked, too.
func TestHooksOnResults(t *testing.T) {
	shown := returning(tool.Spec{Name: "show", Limit: tool.NoLimit}, func(tool.Env) tool.Result {
		return tool.Result{Text: "the key is hunter2", View: view.Text{S: "x"}, Effects: []tool.Effect{effect.Saw{Files: []effect.File{{Path: "/w/a"}}}}}
	})
	for name, c := range map[string]struct {
		output string
		text   string
		viewed bool
	}{
		"nothing":        {"", "the key is ***", true},
		"words":          {`"other hunter2"`, "other ***", false},
		"text":           {`{"text":"t","stdout":"s"}`, "t", false},
		"stdout":         {`{"stdout":"s"}`, "s", false},
		"something else": {`{"a":1}`, `{"a":1}`, false},
		"a list":         {`[1]`, `[1]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []tool.Tool{shown}, fake.Use(use("1", "show")), fake.Say("done"))
			r.loop.Mask = func(_ []policy.Action, res tool.Result) tool.Result {
				res.Text = strings.ReplaceAll(res.Text, "hunter2", "***")
				return res
			}
			given := r.hooked(map[hook.Event]hook.Answer{hook.PostToolUse: {Output: json.RawMessage(c.output)}})
			if c.output == "" {
				given = r.hooked(nil)
			}
			if out := r.run(t); out.Reason != agent.Completed {
				t.Fatalf("%+v", out)
			}
			if f := said[event.ToolFinished](r.host)[0]; f.Text != c.text || (f.View != nil) != c.viewed {
				t.Errorf("recorded %q, %v", f.Text, f.View)
			}
			want := `{"tool_name":"show","tool_input":{},"tool_use_id":"1","tool_response":{"filePath":"/w/a","success":true,"text":"the key is ***"},"duration_ms":0}`
			if got := of(*given, hook.PostToolUse); len(got) != 1 || got[0] != want {
				t.Errorf("given %q", got)
			}
			if got := of(*given, hook.PostToolUseFailure); len(got) > 0 {
				t.Errorf("a failure: %q", got)
			}
			if got := of(*given, hook.PostToolBatch); len(got) != 1 || !strings.Contains(got[0], `"tool_use_id":"1"`) || !strings.Contains(got[0], `"tool_response":{`) {
				t.Errorf("of the reply's calls: %q", got)
			}
		})
	}
}

// Calls that failed are another event; of those that never ran there is none,
// and a reply without calls has no batch. Hooks learn of another folder once.
func TestHooksOnCallsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		cd := returning(tool.Spec{Name: "cd"}, func(env tool.Env) tool.Result {
			return tool.Result{Text: "moved", Effects: []tool.Effect{effect.Dir{Path: "/w/sub"}}}
		})
		r := newRig(t, []tool.Tool{j.tool("shell", false, true), cd}, fake.Use(do("a", "shell", job{Fail: true, For: 1})), fake.Use(use("n", "nosuch")), fake.Use(use("c", "cd")), fake.Use(use("d", "cd")), fake.Say("done"))
		given := r.hooked(nil)
		if out := r.run(t); out.Reason != agent.Completed {
			t.Fatalf("%+v", out)
		}
		if got := of(*given, hook.PostToolUseFailure); len(got) != 1 || got[0] != `{"tool_name":"shell","tool_input":{"for":1,"fail":true},"tool_use_id":"a","error":"did a","is_interrupt":false,"duration_ms":1000}` {
			t.Errorf("failed: %q", got)
		}
		batches := of(*given, hook.PostToolBatch)
		if len(batches) != 3 || !strings.Contains(batches[0], `{"interrupted":false,"stderr":"","stdout":"did a","success":false,"text":"did a"}`) {
			t.Errorf("replies: %q", batches)
		}
		if got := of(*given, hook.CwdChanged); !slices.Equal(got, []string{`{"old_cwd":"/w","new_cwd":"/w/sub"}`}) {
			t.Errorf("folders: %q", got)
		}
	})
}

// That commands run elsewhere is told where hooks wait for it, or for files that are
// meant there; and each call's hooks are told what it does.
func TestWhoHearsOfAnotherFolder(t *testing.T) {
	cd := returning(tool.Spec{Name: "cd"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "moved", Effects: []tool.Effect{effect.Dir{Path: "/w/sub"}}}
	})
	for e, want := range map[hook.Event]int{hook.CwdChanged: 1, hook.FileChanged: 1, hook.Stop: 0} {
		r := newRig(t, []tool.Tool{cd}, fake.Use(use("c", "cd")), fake.Say("done"))
		given := r.hooked(nil)
		r.host.heard = []hook.Event{e}
		r.run(t)
		if got := of(*given, hook.CwdChanged); len(got) != want {
			t.Errorf("with hooks of %s: %q", e, got)
		}
	}
	r := newRig(t, []tool.Tool{cd}, fake.Use(use("c", "cd")), fake.Say("done"))
	r.hooked(nil)
	r.host.heard = []hook.Event{hook.PostToolUse}
	r.run(t)
	if len(r.host.acted) != 1 || !slices.Equal(r.host.acted[0], []policy.Action{policy.None{}}) {
		t.Errorf("the hook of the call was told %v", r.host.acted)
	}
}

// What hooks say of calls the model reads behind the step; they may end the turn.
func TestHooksSayAndStop(t *testing.T) {
	for name, c := range map[string]struct {
		answer hook.Answer
		notes  []string
		end    agent.End
		text   string
	}{
		"context":         {hook.Answer{Context: []string{"mind this", "and that"}}, []string{"mind this", "and that"}, agent.Completed, ""},
		"an objection":    {hook.Answer{Block: true, Reason: "not so"}, []string{"A hook (a.sh) objects: not so"}, agent.Completed, ""},
		"the end":         {hook.Answer{Stop: true, Why: "enough"}, nil, agent.HookStopped, "a hook ended the turn: enough"},
		"without a why":   {hook.Answer{Stop: true}, nil, agent.HookStopped, "a hook ended the turn"},
		"nothing is said": {hook.Answer{}, nil, agent.Completed, ""},
	} {
		for _, e := range []hook.Event{hook.PostToolUse, hook.PostToolBatch} {
			t.Run(fmt.Sprint(name, " ", e), func(t *testing.T) {
				r := newRig(t, []tool.Tool{keep(10)}, fake.Use(use("1", "keep")), fake.Say("done"))
				r.hooked(map[hook.Event]hook.Answer{e: c.answer})
				out := r.run(t)
				if c.answer.Block && e == hook.PostToolBatch { // ends the turn there
					c.notes, c.end, c.text = nil, agent.HookStopped, "a hook ended the turn: not so"
				}
				if out.Reason != c.end || out.Text != c.text || !slices.Equal(r.host.notes, c.notes) {
					t.Errorf("%q %q, notes %q", out.Reason, out.Text, r.host.notes)
				}
				if n := len(r.model.Requests()); (n == 1) != (c.end == agent.HookStopped) {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

// At the end of a turn hooks may have it go on, up to a bound, or end it for
// good; they are told what was said last and whether it goes on because of them.
func TestHooksAtTheEnd(t *testing.T) {
	r := newRig(t, nil, slices.Repeat([]fake.Reply{fake.Say("done")}, 20)...)
	given := r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Block: true, Reason: "more", Context: []string{"a note"}}})
	if out := r.run(t); out.Reason != agent.Completed || len(r.model.Requests()) != 11 {
		t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
	}
	got := of(*given, hook.Stop)
	if len(got) != 11 || got[0] != `{"stop_hook_active":false,"last_assistant_message":"done","background_tasks":[],"session_crons":[]}` || !strings.Contains(got[1], `"stop_hook_active":true`) || len(r.host.notes) != 11 {
		t.Errorf("given %d: %q; %d notes", len(got), got[:2], len(r.host.notes))
	}
	if s := words(r.last()); strings.Count(s, "A hook (a.sh) wants you to go on: more") != 10 {
		t.Errorf("sent %q", s)
	}

	if n := said[event.Noted](r.host); len(n) != 1 || n[0].Text != "the turn ends although a hook (a.sh) wants it to go on, after it has 10 times: more" {
		t.Errorf("people are told %+v", n)
	}

	// What a hook has for the model has it go on as well, as often as that.
	r = newRig(t, nil, slices.Repeat([]fake.Reply{fake.Say("done")}, 20)...)
	given = r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Context: []string{"look", "again"}}})
	if out := r.run(t); out.Reason != agent.Completed || len(r.model.Requests()) != 11 || strings.Count(words(r.last()), "A hook says, before you are done:\nlook\nagain") != 10 {
		t.Errorf("%+v after %d requests, the last with %q", out, len(r.model.Requests()), words(r.last()))
	}
	if got := of(*given, hook.Stop); len(got) != 11 || !strings.Contains(got[1], `"stop_hook_active":true`) || !slices.Equal(r.host.notes, []string{"look", "again"}) || len(said[event.Noted](r.host)) > 0 {
		t.Errorf("given %d; notes %q", len(got), r.host.notes)
	}

	// One that ends the turn says the rest of it for the next one.
	r = newRig(t, nil, fake.Say("done"), fake.Say("not asked"))
	r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Stop: true, Why: "enough", Context: []string{"later"}}})
	if out := r.run(t); out.Reason != agent.StopHookPrevented || len(r.model.Requests()) != 1 || !slices.Equal(r.host.notes, []string{"later"}) {
		t.Errorf("%+v, notes %q", out, r.host.notes)
	}
	r = newRig(t, nil, fake.Say("done"), fake.Say("done"))
	r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Context: []string{"look"}}})
	r.host.heard = []hook.Event{hook.Stop}
	r.turn.Budget.Turns = 2
	if out := r.run(t); out.Reason != agent.MaxTurns || !strings.Contains(words(r.last()), "A hook says, before you are done:\nlook") {
		t.Errorf("one text does not have it go on: %+v", out)
	}

	// A turn that ends in another way, or with its answer, is nothing that they look at.
	answer := returning(tool.Spec{Name: "answer"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "taken", Effects: []tool.Effect{effect.Answer{JSON: json.RawMessage(`{}`)}}}
	})
	for name, reply := range map[string]fake.Reply{"answered": fake.Use(use("a", "answer")), "refused": fake.Parts(llm.Refused, llm.Text{S: "no"})} {
		r = newRig(t, []tool.Tool{answer}, reply, fake.Say("not asked"))
		r.loop.Structured = "answer"
		given = r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Block: true, Reason: "more"}})
		if out := r.run(t); len(of(*given, hook.Stop)) > 0 || len(r.model.Requests()) != 1 {
			t.Errorf("%s: %+v, hooks were given %q", name, out, *given)
		}
	}

	r = newRig(t, nil, fake.Say("done"), fake.Say("not asked"))
	r.hooked(map[hook.Event]hook.Answer{hook.Stop: {Stop: true, Why: "enough"}})
	if out := r.run(t); out.Reason != agent.StopHookPrevented || out.Text != "a hook ended the turn: enough" || len(r.model.Requests()) != 1 {
		t.Errorf("%+v", out)
	}

	ctx, cancel := context.WithCancel(t.Context())
	r = newRig(t, nil, fake.Say("done"), fake.Say("not asked"))
	r.host.hook = func(hook.Input) hook.Answer { cancel(); return hook.Answer{Block: true, Reason: "more"} }
	if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != agent.Completed || len(r.model.Requests()) != 1 {
		t.Errorf("an interrupt while hooks look: %+v %v", out, err)
	}

	r = newRig(t, nil, fake.Parts(llm.EndTurn, llm.Thinking{S: "hm"}, llm.Text{S: "one "}, llm.Text{S: "two"}))
	given = r.hooked(nil)
	r.run(t)
	if got := of(*given, hook.Stop); len(got) != 1 || !strings.Contains(got[0], `"last_assistant_message":"one two"`) {
		t.Errorf("%q", got)
	}
}

// Hooks may refuse a compaction, and say what its summary is to mind; behind it
// they are told, and what they say then the model reads.
func TestHooksOnCompactions(t *testing.T) {
	talked := func(t *testing.T, replies ...fake.Reply) *rig {
		r := newRig(t, nil, replies...)
		_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: strings.Repeat("so ", 500)}}}})
		return r
	}
	for name, c := range map[string]struct {
		answer hook.Answer
		why    string
	}{"blocked": {hook.Answer{Block: true, Reason: "not now"}, "a hook (a.sh) refused it: not now"}, "stopped": {hook.Answer{Stop: true, Why: "enough"}, "a hook (a.sh) refused it: enough"}} {
		t.Run(name, func(t *testing.T) {
			r := talked(t, fake.Say("not asked"))
			given := r.hooked(map[hook.Event]hook.Answer{hook.PreCompact: c.answer})
			out, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: event.CauseAsked, Focus: "the tests"})
			if err != nil || out.Reason != agent.ModelError || !strings.Contains(out.Text, c.why) || len(r.model.Requests()) > 0 {
				t.Errorf("%+v %v", out, err)
			}
			if f := said[event.CompactFailed](r.host); len(f) != 1 || f[0].Why != c.why || f[0].Trigger != event.CauseAsked || len(said[event.Compacted](r.host)) > 0 {
				t.Errorf("%+v", f)
			}
			if got := of(*given, hook.PreCompact); !slices.Equal(got, []string{`{"trigger":"manual","custom_instructions":"the tests"}`}) {
				t.Errorf("%q", got)
			}
		})
	}
	for trigger, want := range map[event.Cause]string{event.CauseAsked: "manual", event.CauseFull: "auto"} {
		t.Run(string(trigger), func(t *testing.T) {
			r := talked(t, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
			given := r.hooked(map[hook.Event]hook.Answer{hook.PreCompact: {Context: []string{"mind the docs"}}, hook.PostCompact: {Context: []string{"it is done"}}, hook.SessionStart: {Context: []string{"it begins"}}})
			if out, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: trigger, Focus: "the tests"}); err != nil || out.Reason != agent.Completed {
				t.Fatalf("%+v %v", out, err)
			}
			if s := words(r.last()); !strings.Contains(s, "the tests\nmind the docs") {
				t.Errorf("asked %q", s)
			}
			if got := of(*given, hook.PostCompact); len(got) != 1 || !strings.Contains(got[0], `"trigger":"`+want+`"`) || !strings.Contains(got[0], "the sum") {
				t.Errorf("%q", got)
			}
			if got := of(*given, hook.SessionStart); !slices.Equal(got, []string{`{"source":"compact","model":"fake/m"}`}) {
				t.Errorf("%q", got)
			}
			if !slices.Equal(r.host.notes, []string{"it is done", "it begins"}) {
				t.Errorf("notes %q", r.host.notes)
			}
		})
	}
}

// A call that is interrupted says so to hooks.
func TestHooksOnAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("shell", false, true)}, fake.Use(do("a", "shell", job{For: 60})))
		given := r.hooked(nil)
		r.host.rule = func(agent.Question) agent.Verdict {
			return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != agent.InterruptedTools {
			t.Fatalf("%+v %v", out, err)
		}
		if got := of(*given, hook.PostToolUseFailure); len(got) != 1 || !strings.Contains(got[0], `"is_interrupt":true`) {
			t.Errorf("%q", got)
		}
	})
}
