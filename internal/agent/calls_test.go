package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// job is the input of jobs.
type job struct {
	For  int    `json:"for,omitempty"` // seconds
	Fail bool   `json:"fail,omitempty"`
	Deaf bool   `json:"deaf,omitempty"` // does not heed its context
	Plan string `json:"plan,omitempty"` // an error of the plan
}

// A log of what jobs did, in order: "+a" began, "-a" ended.
type jobs struct {
	mu  sync.Mutex // guards did
	did []string
}

func (j *jobs) note(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.did = append(j.did, s)
}

func (j *jobs) tool(name string, parallel, shell bool) tool.Tool {
	return tool.New(tool.Spec{Name: name, Shell: shell},
		func(in job, _ tool.Env) (tool.Plan, error) {
			if in.Plan != "" {
				return tool.Plan{}, fmt.Errorf("%s", in.Plan)
			}
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: parallel, Title: name, Fold: "job"}, nil
		},
		func(ctx context.Context, in job, env tool.Env) (tool.Result, error) {
			j.note("+" + env.Call)
			defer j.note("-" + env.Call)
			wait := time.Duration(in.For) * time.Second
			if in.Deaf {
				time.Sleep(wait)
			} else if err := agent.Sleep(ctx, wait); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Text: "did " + env.Call, IsErr: in.Fail}, nil
		})
}

func do(id, name string, in job) llm.ToolUse { return fake.Call(id, name, in) }

// How calls of one reply run: in which order, beside each other or alone, and
// what a failure or an interrupt means for the others.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name      string
		calls     []llm.ToolUse
		interrupt time.Duration
		refuse    string // a call that the host refuses
		unasked   string // one that it is not asked about
		did       string
		took      time.Duration
		texts     map[string]string // what results begin with, of those that are told
		left      int
		end       agent.End
	}{
		{name: "readers run together", calls: []llm.ToolUse{do("a", "look", job{For: 2}), do("b", "look", job{For: 1}), do("c", "look", job{For: 3})}, did: "+a+b+c-b-a-c", took: 3 * time.Second},
		{name: "writers run alone, in order", calls: []llm.ToolUse{do("a", "act", job{For: 2}), do("b", "act", job{For: 1})}, did: "+a-a+b-b", took: 3 * time.Second},
		{name: "a writer waits for readers, and readers for a writer", calls: []llm.ToolUse{do("a", "look", job{For: 2}), do("b", "act", job{For: 1}), do("c", "look", job{For: 1})}, did: "+a-a+b-b+c-c", took: 4 * time.Second},
		{name: "a failed command cancels its siblings", calls: []llm.ToolUse{do("a", "shell", job{For: 1, Fail: true}), do("b", "shell", job{For: 5}), do("c", "act", job{For: 5})}, did: "+a+b-a-b", took: time.Second,
			texts: map[string]string{"a": "did a", "b": "This call was cancelled, because another command", "c": "This call was not run, because another command"}},
		{name: "a failed command ends the words of its siblings", calls: []llm.ToolUse{do("a", "shell", job{For: 1, Fail: true}), do("b", "shell", job{For: 2, Deaf: true, Fail: true})}, did: "+a+b-a-b", took: 2 * time.Second,
			texts: map[string]string{"a": "did a", "b": "did b\nThis call was cancelled, because another command"}},
		{name: "one that works does not", calls: []llm.ToolUse{do("a", "shell", job{For: 1}), do("b", "shell", job{For: 5})}, did: "+a+b-a-b", took: 5 * time.Second, texts: map[string]string{"a": "did a", "b": "did b"}},
		{name: "another failure does not", calls: []llm.ToolUse{do("a", "look", job{For: 1, Fail: true}), do("b", "look", job{For: 5})}, did: "+a+b-a-b", took: 5 * time.Second, texts: map[string]string{"b": "did b"}},
		{name: "a refused command does not", refuse: "a", calls: []llm.ToolUse{do("a", "shell", job{}), do("b", "look", job{For: 1})}, did: "+b-b", took: time.Second, texts: map[string]string{"a": "This call was refused: because.", "b": "did b"}},
		{name: "a command without a plan does not", calls: []llm.ToolUse{do("a", "shell", job{Plan: "no such thing"}), do("b", "look", job{For: 1})}, did: "+b-b", took: time.Second, texts: map[string]string{"a": "shell: no such thing", "b": "did b"}},
		{name: "interrupted", interrupt: time.Second, calls: []llm.ToolUse{do("a", "look", job{For: 5}), do("b", "act", job{For: 5})}, did: "+a-a", took: time.Second, end: agent.InterruptedTools,
			texts: map[string]string{"a": "The person interrupted", "b": "This call was not run: the person"}},
		{name: "interrupted, and what waits for a writer is not planned", interrupt: time.Second, calls: []llm.ToolUse{do("a", "act", job{For: 5}), do("b", "look", job{For: 5})}, did: "+a-a", unasked: "b", took: time.Second, end: agent.InterruptedTools,
			texts: map[string]string{"a": "The person interrupted", "b": "This call was not run: the person"}},
		{name: "interrupted, and it is done all the same", interrupt: 900 * time.Millisecond, calls: []llm.ToolUse{do("a", "look", job{For: 1, Deaf: true})}, did: "+a-a", took: time.Second, end: agent.InterruptedTools, texts: map[string]string{"a": "did a"}},
		{name: "interrupted, and one does not stop", interrupt: time.Second, calls: []llm.ToolUse{do("a", "look", job{For: 5, Deaf: true}), do("b", "look", job{For: 5}), do("c", "look", job{For: 6, Deaf: true})}, did: "+a+b+c-b", took: 1120 * time.Millisecond, left: 2, end: agent.InterruptedTools,
			texts: map[string]string{"a": "The person interrupted", "b": "The person interrupted", "c": "The person interrupted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j jobs
				r := newRig(t, []tool.Tool{j.tool("look", true, false), j.tool("act", false, false), j.tool("shell", true, true)}, fake.Use(c.calls...), fake.Say("done"))
				r.host.target.Cap, r.host.target.LargerCap = 8000, 64_000 // which no whole reply is asked for again with
				asked := map[string]bool{}
				r.host.rule = func(q agent.Question) agent.Verdict {
					j.mu.Lock()
					asked[q.Call.ID] = true
					j.mu.Unlock()
					if q.Call.ID == c.refuse {
						return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Deny, Reason: "because"}}
					}
					return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow, Reason: "why not"}}
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.interrupt > 0 {
					time.AfterFunc(c.interrupt, cancel)
				}
				began := time.Now()
				out, err := r.loop.Run(ctx, r.turn)
				took := time.Since(began)
				j.mu.Lock()
				did := strings.Join(j.did, "")
				j.mu.Unlock()
				end := c.end
				if end == "" {
					end = agent.Completed
				}
				// Calls that begin at one moment may do so in any order.
				if err != nil || out.Reason != end || took != c.took || sorted(did) != sorted(c.did) || r.host.left != c.left {
					t.Errorf("%v, %q after %v, left %d: %s; want %s", err, out.Reason, took, r.host.left, did, c.did)
				}
				if c.unasked != "" && asked[c.unasked] {
					t.Errorf("%s was asked about", c.unasked)
				}
				got := map[string]event.ToolFinished{}
				for _, f := range said[event.ToolFinished](r.host) {
					if _, twice := got[f.Call]; twice {
						t.Errorf("%s has two results", f.Call)
					}
					got[f.Call] = f
				}
				failing := map[string]bool{}
				for _, u := range c.calls {
					failing[u.ID] = strings.Contains(string(u.Input), `"fail":true`)
				}
				for id, text := range c.texts {
					if f := got[id]; !strings.HasPrefix(f.Text, text) || f.IsErr != (!strings.HasPrefix(f.Text, "did") || failing[id]) {
						t.Errorf("%s: %+v, want %q", id, f, text)
					}
				}
				for _, s := range said[event.ToolStarted](r.host) {
					if s.Title != s.Name || s.Fold != "job" || len(s.Input) == 0 || got[s.Call].Verdict.Reason == "" && c.left == 0 {
						t.Errorf("%+v; %+v", s, got[s.Call])
					}
				}
				time.Sleep(time.Minute) // those that were left end
			})
		})
	}
}

// Of parallel calls so many run at once as may, in whatever order they begin.
func TestSoManyCallsAtOnce(t *testing.T) {
	for most, want := range map[int]time.Duration{1: 4 * time.Second, 2: 2 * time.Second, 3: 2 * time.Second, 4: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var j jobs
			var calls []llm.ToolUse
			for _, id := range []string{"a", "b", "c", "d"} {
				calls = append(calls, do(id, "look", job{For: 1}))
			}
			r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(calls...), fake.Say("done"))
			r.loop.MaxCalls = most
			began := time.Now()
			r.run(t)
			if took := time.Since(began); took != want || len(j.did) != 8 {
				t.Errorf("at most %d: it took %v, did %v", most, took, j.did)
			}
		})
	}
}

// sorted orders what began at one moment.
func sorted(did string) string {
	var out []string
	for i, part := range strings.Split(did, "-") {
		end, began, _ := strings.Cut(part, "+")
		ids := strings.Split(began, "+")
		slices.Sort(ids)
		if i == 0 {
			end = ""
		}
		out = append(out, end+"+"+strings.Join(ids, "+"))
	}
	return strings.Join(out, "-")
}

// An interrupt while the reply streams keeps what was said; one before
// anything was said keeps nothing.
func TestInterruptedReply(t *testing.T) {
	for name, c := range map[string]struct {
		reply fake.Reply
		said  string
		calls int
	}{
		"in the middle":    {fake.Hang(llm.Text{S: "half"}), "half", 0},
		"with a call":      {fake.Hang(llm.Text{S: "half"}, use("a", "read")), "half", 1},
		"before the first": {fake.Hang(), "", 0},
		"in an open part": {func(ctx context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			y(llm.TextDelta{S: "ha"}, nil)
			<-ctx.Done()
			y(nil, ctx.Err())
		}, "ha", 0},
		"and what it cost is known": {func(ctx context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			y(llm.Progress{Usage: llm.Usage{In: 7}}, nil)
			<-ctx.Done()
			y(nil, ctx.Err())
		}, "", 7},
		"and the model ends": {func(ctx context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			y(llm.TextDelta{S: "ha"}, nil)
			<-ctx.Done()
		}, "ha", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tool.Tool{read(100)}, c.reply)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				out, err := r.loop.Run(ctx, r.turn)
				if err != nil || out.Reason != agent.InterruptedStreaming {
					t.Errorf("%+v %v", out, err)
				}
				got := said[event.Replied](r.host)
				if c.said == "" {
					d := said[event.Dropped](r.host)
					if len(got) != 0 || (len(d) == 1) != (c.calls == 7) || len(d) == 1 && d[0].Usage.In != 7 {
						t.Errorf("%+v; dropped %+v", got, d)
					}
					return
				}
				if len(got) != 1 || got[0].Stop != "interrupted" || !strings.Contains(fmt.Sprint(got[0].Message.Parts[0]), c.said) || len(said[event.ToolFinished](r.host)) != c.calls {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// What calls may change of the turn: its answer, its context, its mode.
func TestEffectsOnTheTurn(t *testing.T) {
	with := func(name string, effects ...tool.Effect) tool.Tool {
		return returning(tool.Spec{Name: name}, func(tool.Env) tool.Result { return tool.Result{Text: "the plan", Effects: effects} })
	}
	t.Run("the last word", func(t *testing.T) {
		r := newRig(t, []tool.Tool{with("end", effect.Final{Text: "that was it"})}, fake.Use(use("a", "end")))
		if out := r.run(t); out.Reason != agent.Completed || out.Final != "that was it" {
			t.Errorf("%+v", out)
		}
	})
	t.Run("a fresh context", func(t *testing.T) {
		r := newRig(t, []tool.Tool{read(100), with("anew", effect.Fresh{})}, fake.Use(use("r", "read")), fake.Use(use("r2", "read"), use("a", "anew")), fake.Say("done"))
		if out := r.run(t); out.Reason != agent.Completed {
			t.Errorf("%+v", out)
		}
		c := said[event.Compacted](r.host)
		if len(c) != 1 || c[0].Trigger != event.CausePlan || c[0].Text != "the plan" || c[0].Tokens == 0 || words(r.last()) != "the plan\n" {
			t.Errorf("%+v; sent %q", c, words(r.last()))
		}
	})
	t.Run("another mode", func(t *testing.T) {
		r := newRig(t, []tool.Tool{with("tighten", effect.Mode{To: policy.PlanMode})}, fake.Use(use("a", "tighten")), fake.Say("done"))
		r.run(t)
		if m := said[event.ModeChanged](r.host); len(m) != 1 || m[0] != (event.ModeChanged{Mode: policy.PlanMode, Cause: event.CauseTool, Why: "tighten"}) {
			t.Errorf("%+v", m)
		}
	})
}

// A tool may be called by its other name; it may panic; its question is asked
// under its own name, and rewritten arguments are planned anew.
func TestCallsByOtherNames(t *testing.T) {
	bad := returning(tool.Spec{Name: "bad"}, func(tool.Env) tool.Result { panic("oh") })
	echo := tool.New(tool.Spec{Name: "echo"},
		func(in job, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Title: fmt.Sprint(in.For), Parallel: in.For == 1}, nil
		},
		func(_ context.Context, in job, env tool.Env) (tool.Result, error) {
			return tool.Result{Text: fmt.Sprintf("%d %t %t %s", in.For, env.Answer != nil, env.Needs.Pinned, env.Mode)}, nil
		})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tool.Tool{bad, echo}, fake.Use(use("a", "bad"), do("b", "say", job{For: 1})), fake.Say("done"))
		r.loop.Aliases = map[string]string{"say": "echo", "lost": "nosuch"}
		asked := 0
		r.host.rule = func(q agent.Question) agent.Verdict {
			v := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow, Needs: policy.Needs{Pinned: true}}}
			if q.Call.ID != "b" {
				return v
			}
			asked++
			if q.Tool != "echo" || q.Call.Name != "say" {
				t.Errorf("asked about %s (%s)", q.Tool, q.Call.Name)
			}
			switch asked {
			case 1:
				v.Answer, v.By = &tool.Answer{Input: json.RawMessage(`{"for":2}`)}, event.Client("one")
				if q.Rewritten != nil || q.Plan.Title != "1" {
					t.Errorf("%+v", q)
				}
			case 2:
				if q.Rewritten == nil || q.Rewritten.Name != "one" || q.Plan.Title != "2" || q.Plan.Parallel || string(q.Call.Input) != `{"for":2}` {
					t.Errorf("%+v", q)
				}
			}
			return v
		}
		r.run(t)
		got := map[string]string{}
		for _, f := range said[event.ToolFinished](r.host) {
			got[f.Call] = f.Text
		}
		if !strings.Contains(got["a"], "bad failed in a way it should not: oh") || got["b"] != "[The person changed the arguments of this call to {\"for\":2}]\n2 true true default" || asked != 2 {
			t.Errorf("%q, asked %d times", got, asked)
		}
	})
}

// A call that ended because another of its reply failed says so to people, too.
func TestEndedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := tool.New(tool.Spec{Name: "shell", Shell: true},
			func(job, tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: true}, nil
			},
			func(ctx context.Context, in job, _ tool.Env) (tool.Result, error) {
				note := "interrupted"
				if agent.Sleep(ctx, time.Duration(in.For)*time.Second) == nil {
					note = "exit code 1"
				}
				return tool.Result{IsErr: true, View: view.Terminal{Note: note}}, nil
			})
		r := newRig(t, []tool.Tool{shell}, fake.Use(do("a", "shell", job{For: 9}), do("b", "shell", job{For: 1})), fake.Say("done"))
		r.run(t)
		got := map[string]string{}
		for _, f := range said[event.ToolFinished](r.host) {
			v, _ := f.View.(view.Terminal)
			got[f.Call] = v.Note
		}
		if got["a"] != "cancelled: another command of the same reply failed" || got["b"] != "exit code 1" {
			t.Errorf("%q", got)
		}
	})
}

// Of an interrupted call stays what it says itself, unless that is nothing or an error.
func TestWhatAnInterruptedCallSays(t *testing.T) {
	for name, c := range map[string]struct {
		res  tool.Result
		err  error
		want string
	}{
		"half":           {tool.Result{Text: "half of it"}, nil, "half of it"},
		"nothing":        {tool.Result{}, nil, "The person interrupted this call before it finished."},
		"an error":       {tool.Result{Text: "half of it"}, errTest, "The person interrupted this call before it finished."},
		"only an error":  {tool.Result{}, errTest, "The person interrupted this call before it finished."},
		"its own excuse": {tool.Result{Text: "I was stopped", IsErr: true}, nil, "I was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			replied := make(chan struct{})
			slow := tool.New(tool.Spec{Name: "slow"},
				func(struct{}, tool.Env) (tool.Plan, error) {
					return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
				},
				func(ctx context.Context, _ struct{}, _ tool.Env) (tool.Result, error) {
					<-replied // a call begins while its reply still comes
					cancel()
					<-ctx.Done()
					return c.res, c.err
				})
			r := newRig(t, []tool.Tool{slow}, fake.Use(use("a", "slow")))
			r.host.refuse = func(b event.Body) error {
				if _, ok := b.(event.Replied); ok {
					close(replied)
				}
				return nil
			}
			if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != agent.InterruptedTools {
				t.Errorf("%+v %v", out, err)
			}
			if got := texts(r.host)["a"]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A name stands for another tool only where there is none of it.
func TestAnAliasOfAToolThatIsThere(t *testing.T) {
	var j jobs
	r := newRig(t, []tool.Tool{j.tool("look", true, false), read(10)}, fake.Use(do("a", "look", job{})), fake.Say("done"))
	r.loop.Aliases = map[string]string{"look": "read"}
	r.run(t)
	if got := texts(r.host)["a"]; got != "did a" {
		t.Errorf("%q", got)
	}
}

// A hook's words are a hook's, and arguments that make no sense are no call.
func TestRewrittenByAHook(t *testing.T) {
	for input, want := range map[string]string{`{"for":0}`: "[hook:check changed the arguments of this call to {\"for\":0}]\ndid a", `{"plan":"no such thing"}`: "look: no such thing"} {
		synctest.Test(t, func(t *testing.T) {
			var j jobs
			r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{})), fake.Say("done"))
			r.host.rule = func(q agent.Question) agent.Verdict {
				v := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
				if q.Rewritten == nil {
					v.Answer, v.By = &tool.Answer{Input: json.RawMessage(input)}, event.By{Kind: event.ByHook, Name: "check"}
				}
				return v
			}
			r.run(t)
			if f := said[event.ToolFinished](r.host); len(f) != 1 || f[0].Text != want {
				t.Errorf("%+v, want %q", f, want)
			}
		})
	}
}

// A yes with a comment leaves the arguments as they are, and the model reads the comment.
func TestAnswersWithoutArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{})), fake.Say("done"))
		r.host.rule = func(agent.Question) agent.Verdict {
			return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}, Answer: &tool.Answer{Comment: " mind\x1b[2J the gap\n"}, By: event.Client("tui")}
		}
		r.run(t)
		if f := said[event.ToolFinished](r.host); len(f) != 1 || f[0].Text != "[The person allowed this call, and adds: mind the gap]\ndid a" {
			t.Errorf("%+v", f)
		}
	})
}

// Arguments that a person wrote are planned anew, also for how the call runs:
// one that only looked and now acts runs alone.
func TestRewrittenCallsRunAsTheirPlanSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		either := tool.New(tool.Spec{Name: "either"},
			func(in job, _ tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{policy.None{}}, Parallel: in.For == 1}, nil
			},
			func(ctx context.Context, in job, env tool.Env) (tool.Result, error) {
				j.note("+" + env.Call)
				defer j.note("-" + env.Call)
				return tool.Result{Text: "ok"}, agent.Sleep(ctx, time.Duration(in.For)*time.Second)
			})
		r := newRig(t, []tool.Tool{either, j.tool("look", true, false)}, fake.Use(do("a", "either", job{For: 1}), do("b", "look", job{For: 1})), fake.Say("done"))
		r.host.rule = func(q agent.Question) agent.Verdict {
			v := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
			if q.Call.ID == "a" && q.Rewritten == nil {
				v.Answer, v.By = &tool.Answer{Input: json.RawMessage(`{"for":2}`)}, event.Client("tui")
			}
			return v
		}
		r.run(t)
		if did := strings.Join(j.did, ""); did != "+a-a+b-b" && did != "+b-b+a-a" {
			t.Errorf("%s", did)
		}
	})
}

// A reader that was asked about while a writer ran waits for the writer.
func TestAnswerWhileAWriterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false), j.tool("act", false, false)}, fake.Use(do("a", "look", job{For: 1}), do("b", "act", job{For: 3})), fake.Say("done"))
		r.host.rule = func(q agent.Question) agent.Verdict {
			if q.Call.ID == "a" {
				q.Waits()
				time.Sleep(time.Second)
			}
			return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
		}
		r.run(t)
		if did := strings.Join(j.did, ""); did != "+b-b+a-a" {
			t.Errorf("%s", did)
		}
	})
}

// A streaming model says a call letter by letter, as real ones do.
type streaming struct{ *fake.Model }

func (s streaming) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for c, err := range s.Model.Stream(ctx, r) {
			if p, ok := c.(llm.PartDone); ok {
				if u, ok := p.Part.(llm.ToolUse); ok {
					for _, letter := range string(u.Input) {
						if !yield(llm.ToolInputDelta{ID: u.ID, Name: u.Name, S: string(letter)}, nil) {
							return
						}
					}
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A tool hears of a call before it has come, and once.
func TestAToolHearsThatACallBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		var heard []int // of each time, how many calls had come
		spec := tool.Spec{Name: "slow", Ahead: func() { heard = append(heard, len(said[event.PartDone](r.host))) }}
		r = newRig(t, []tool.Tool{returning(spec, func(tool.Env) tool.Result { return tool.Result{Text: "did"} }), returning(tool.Spec{Name: "quick"}, func(tool.Env) tool.Result { return tool.Result{Text: "did"} })},
			fake.Use(use("a", "quick"), use("b", "slow"), use("c", "nosuch"), use("d", "slow")), fake.Say("done"))
		r.host.target.Model = streaming{r.model}
		r.run(t)
		if !slices.Equal(heard, []int{1, 3}) {
			t.Errorf("heard after %v calls", heard)
		}
	})
}
