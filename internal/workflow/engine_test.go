package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/workflow"
)

// a runner runs scripts with agents that answer at once.
type runner struct {
	workflow.Config
	mu      sync.Mutex
	said    []string // what the run told
	journal strings.Builder
	asked   []workflow.Call
}

const meta = "export const meta = {name: 'w', description: 'd'}\n"

// answers has agents answer with what f returns; an error is that of the agent.
func answers(f func(c workflow.Call) (any, error)) func(context.Context, workflow.Call) workflow.Outcome {
	return func(_ context.Context, c workflow.Call) workflow.Outcome {
		v, err := f(c)
		if err != nil {
			return workflow.Outcome{Agent: "a", Status: "failed", Err: err.Error()}
		}
		raw, _ := json.Marshal(v)
		return workflow.Outcome{Agent: fmt.Sprint("a", c.Index), Status: workflow.Completed, Value: raw, Out: 10}
	}
}

// echo answers with the prompt, and fails where that says so.
func echo(c workflow.Call) (any, error) {
	if strings.HasPrefix(c.Prompt, "fail") {
		return nil, errors.New("the model is gone")
	}
	return c.Prompt + "!", nil
}

func (r *runner) run(t *testing.T, source string) workflow.Result {
	t.Helper()
	s, err := workflow.Read(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	r.Script, r.said, r.asked = s, nil, nil
	r.journal.Reset()
	agent := r.Agent
	if agent == nil {
		agent = answers(echo)
	}
	c := r.Config
	c.Agent = func(ctx context.Context, c workflow.Call) workflow.Outcome {
		r.mu.Lock()
		r.asked = append(r.asked, c)
		r.mu.Unlock()
		return agent(ctx, c)
	}
	c.Tell = func(e workflow.Event) {
		r.journal.Write(workflow.Line(e))
		switch e := e.(type) {
		case workflow.Said:
			r.said = append(r.said, e.Text)
		case workflow.Entered:
			r.said = append(r.said, "# "+e.Title)
		case workflow.Began, workflow.Ended:
		}
	}
	if c.AtOnce == 0 {
		c.AtOnce = 4
	}
	return workflow.Run(t.Context(), c)
}

// value runs a script and returns what it came to, as a text.
func (r *runner) value(t *testing.T, body string) string {
	t.Helper()
	res := r.run(t, meta+body)
	if res.Err != nil {
		return "error: " + res.Err.Error()
	}
	return string(res.Value)
}

func TestScripts(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return await agent("a")`, `"a!"`},
		{`return args`, `null`},
		{``, `null`},
		{`return [await agent("a"), await agent("fail")]`, `["a!",null]`},
		{`return parallel([() => agent("a"), () => { throw new Error("no") }, async () => 1])`, `["a!",null,1]`},
		{`return parallel([agent("a")])`, "error: TypeError: parallel() takes a list of functions: parallel([() => agent(…), …])"},
		{`return parallel("x")`, "error: TypeError: parallel() takes a list"},
		{`return pipeline([1, 2, 3], (p, x, i) => p + x + i, (p, x, i) => { if (x == 2) throw 1; return [p, x, i] })`, `[[2,1,0],null,[8,3,2]]`},
		{`return pipeline([], x => x)`, `[]`},
		{`return parallel(Array(4097).fill(() => 1))`, "error: RangeError: parallel() takes at most 4096 items, and this list has 4097: split it"},
		{`return pipeline(Array(4097).fill(1), x => x)`, "error: RangeError: pipeline() takes at most 4096 items, and this list has 4097: split it"},
		{`return (await parallel(Array(4096).fill(() => 1))).length`, `4096`},
		{`return agent("")`, "error: TypeError: agent() takes a prompt: a text that is not empty"},
		{`return agent({prompt: "x"})`, "error: TypeError: agent() takes a prompt: a text that is not empty"},
		{`return agent("x", {model: 1})`, "error: agent(): model: expected a text, found a number"},
		{`return agent("x", {effort: "hard"})`, `error: agent(): effort is "hard"; it is low, medium, high, xhigh or max`},
		{`return agent("x", {isolation: "container"})`, `error: agent(): isolation is "container"; it can only be worktree`},
		{`return agent("x", {schema: {type: "string"}})`, `error: agent(): the schema of an answer begins with type: 'object'`},
		{`return agent("x", {schema: {type: "object", required: ["a"], additionalProperties: false}})`, `error: agent(): schema cannot be met: the field "a" is required, and additionalProperties: false rules it out`},
		{`return agent("x", {schema: null})`, `"x!"`},
		{`const agents = 1; const args = 2; return agents + args`, `3`},
		{`x = 1; return x`, `1`},
		{`return [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof host, typeof console]`, `["undefined","undefined","undefined","undefined","undefined","undefined"]`},
		{`return Date.now()`, "error: Date.now() is not there, because a run that goes on later has to come to the same: hand in what it needs as args"},
		{`return new Date()`, "error: new Date() is not there, because a run that goes on later has to come to the same: hand in what it needs as args"},
		{`return Math.random()`, "error: Math.random() is not there, because a run that goes on later has to come to the same: hand in what it needs as args"},
		{`return [new Date("2026-11-30").toISOString(), new Date(0) instanceof Date, Date.UTC(2026, 0), new (class extends Date {})(5).getTime()]`, `["2026-11-30T00:00:00.000Z",true,1767225600000,5]`},
		{`return new Date(0).constructor.now()`, "error: Date.now() is not there, because a run that goes on later has to come to the same: hand in what it needs as args"},
		{`throw new TypeError("no")`, "error: TypeError: no"},
		{`throw "no"`, "error: no"},
		{`await new Promise(() => {})`, "error: the script waits for something that never comes"},
		{`const a = []; a.push(a); return a`, "error: what the script returned cannot be written as JSON: TypeError: circular reference"},
		{`return 1n`, "error: what the script returned cannot be written as JSON: TypeError: Do not know how to serialize a BigInt"},
		{`return undefined`, "null"},
		{`return {a: undefined, b: [undefined], c: "é\u0000"}`, `{"b":[null],"c":"é\u0000"}`},
		{`return nothing`, "error: ReferenceError: 'nothing' is not defined"},
		{`return [budget.total, budget.spent(), budget.remaining() === Infinity]`, `[null,0,true]`},
		{`return workflow("other")`, "error: no other workflows can be run here"},
		{`return workflow(1)`, "error: TypeError: workflow() takes the name of a workflow, or {scriptPath: '…'}"},
		{`JSON.parse = null; Promise.all = null; return agent("x")`, "error: the script's own"},
		{`agent("not awaited"); return 1`, `1`},
		{`return __proto__`, `{}`},
	} {
		got := strings.TrimSuffix((&runner{}).value(t, tc.body), " (w.js:2)")
		if got != tc.want && !(strings.HasPrefix(tc.want, "error: the script's own") && strings.HasPrefix(got, "error: ")) {
			t.Errorf("%s:\n got %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// Lines of errors are those of the script.
func TestLines(t *testing.T) {
	got := (&runner{}).value(t, "\n\nconst f = () => { throw new Error('x') }\nf()")
	if got != "error: x (w.js:4)" {
		t.Error(got)
	}
	s, err := workflow.Read(meta + "\nlet a = ;")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || err.Error() != "SyntaxError: unexpected token in expression: ';' (w.js:3)" {
		t.Error(err)
	}
	for _, bad := range []string{"const x: number = 1", "interface A { b: string }", "function f<T>(x: T) {}", "return 1 as any"} {
		if s, err = workflow.Read(meta + bad); err != nil || s.Check(t.Context()) == nil {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestProgress(t *testing.T) {
	r := &runner{}
	r.Agent = answers(func(c workflow.Call) (any, error) { return c.Phase + "/" + c.Label, nil })
	got := r.value(t, `phase("One"); log("a", 1, {b: 2}); const x = await agent("p", {label: "l"}); phase("Two"); const y = await agent("p", {phase: "Other", colour: 1}); const z = await agent("p");
		await parallel([() => { throw new Error("boom") }]); return [x, y, z]`)
	if got != `["One/l","Other/","Two/"]` {
		t.Error(got)
	}
	want := []string{"# One", `a 1 {"b":2}`, "# Two", `agent(): there is no option "colour", and it has no effect`, "parallel(): item 0 is null: boom"}
	if strings.Join(r.said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", r.said)
	}
}

func TestWithin(t *testing.T) {
	r := &runner{Config: workflow.Config{Find: func(name, path string) (workflow.Script, error) {
		switch {
		case name == "child":
			return workflow.Read("export const meta = {name: 'child', description: 'd'}\nphase('of the child'); return [args, await agent('c')]")
		case name == "thrower":
			return workflow.Read("export const meta = {name: 'thrower', description: 'd'}\nthrow new Error('in it')")
		case name == "nests":
			return workflow.Read("export const meta = {name: 'nests', description: 'd'}\nreturn workflow('child')")
		case name == "broken":
			return workflow.Read("export const meta = {name: 'broken', description: 'd'}\nlet = = 1")
		case path == "x.js":
			return workflow.Read("export const meta = {name: 'other', description: 'd'}\nreturn 'by path'")
		}
		return workflow.Script{}, errors.New("there is no workflow " + name)
	}}}
	for body, want := range map[string]string{
		`return [await workflow("child", {a: 1}), await workflow("child"), await workflow("child", null)]`: `[[{"a":1},"c!"],[null,"c!"],[null,"c!"]]`,
		`return await workflow({scriptPath: "x.js"})`:                                                      `"by path"`,
		`return await workflow("thrower")`:                                                                 "error: in it (thrower.js:2)",
		`return await workflow("nests")`:                                                                   "error: a workflow within a workflow runs no other workflow",
		`return await workflow("none")`:                                                                    "error: there is no workflow none",
		`return workflow("broken").catch(e => e.message.slice(0, 11))`:                                     `"SyntaxError"`,
		`phase("mine"); await workflow("child"); return (await agent("x")) + 1`:                            `"x!1"`,
	} {
		if got := r.value(t, body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	if r.value(t, `phase("mine"); await workflow("child"); return agent("x")`); r.asked[0].Phase != "of the child" || r.asked[0].Within != "child" || r.asked[1].Phase != "mine" || r.asked[1].Within != "" {
		t.Errorf("%+v", r.asked)
	}
}

// At most so many agents work at a time, and they begin in the order of the calls.
func TestAtOnce(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	var order []int
	gate := make(chan struct{})
	r := &runner{Config: workflow.Config{AtOnce: 3}}
	r.Agent = func(_ context.Context, c workflow.Call) workflow.Outcome {
		mu.Lock()
		now++
		most = max(most, now)
		if order = append(order, c.Index); len(order) == 3 {
			close(gate)
		}
		mu.Unlock()
		<-gate
		mu.Lock()
		now--
		mu.Unlock()
		return workflow.Outcome{Status: workflow.Completed, Value: json.RawMessage("1")}
	}
	if got := r.value(t, `return (await parallel(Array(20).fill(() => agent("x")))).length`); got != "20" || most != 3 {
		t.Errorf("%s, %d at once", got, most)
	}
	slices.Sort(order[:3])
	if fmt.Sprint(order[:3]) != "[0 1 2]" {
		t.Error(order)
	}
}

func TestMost(t *testing.T) {
	r := &runner{}
	got := r.value(t, `let n = 0; try { for (;;) { await agent("x"); n++ } } catch (e) { return [n, e.message] }`)
	if got != `[1000,"agent(): the run has started 1000 agents, and no more may be"]` {
		t.Error(got)
	}
	if !slices.Contains(r.said, "this run has started more than 25 agents") {
		t.Error(r.said)
	}
}

func TestBudget(t *testing.T) {
	r := &runner{Config: workflow.Config{Total: 30, Before: 5}}
	got := r.value(t, `const a = [budget.total, budget.spent(), budget.remaining()]; try { for (;;) await agent("x") } catch (e) { return [...a, budget.spent(), budget.remaining(), e.message] }`)
	if got != `[30,5,25,35,0,"agent(): the budget of 30 tokens is used up"]` {
		t.Error(got)
	}
}

// What the script did not wait for is stopped when it has returned, and a run that is
// stopped ends its agents.
func TestStop(t *testing.T) {
	began := make(chan struct{}, 10)
	r := &runner{}
	r.Agent = func(ctx context.Context, c workflow.Call) workflow.Outcome {
		began <- struct{}{}
		<-ctx.Done()
		return workflow.Outcome{Status: "stopped", Err: "interrupted"}
	}
	res := r.run(t, meta+`agent("a"); await workflow("x").catch(() => 0); return 1`)
	if string(res.Value) != "1" || len(res.Calls) != 1 || res.Calls[0].Status != "stopped" {
		t.Errorf("%+v", res)
	}
	<-began
	ctx, stop := context.WithCancelCause(t.Context())
	go func() { <-began; stop(errors.New("a person stopped it")) }()
	s, _ := workflow.Read(meta + `return agent("a")`)
	res = workflow.Run(ctx, workflow.Config{Script: s, Agent: r.Agent, AtOnce: 1, Tell: func(workflow.Event) {}})
	if res.Err == nil || res.Err.Error() != "a person stopped it" || len(res.Calls) != 1 {
		t.Errorf("%+v", res)
	}
}
