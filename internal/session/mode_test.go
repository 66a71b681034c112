package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

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
)

// A mode that a client sets counts from the next decision on.
func TestModeDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		risk := fake.Use(call("c1", "risk", "", 0))
		r := start(t, nil, nil, risk, fake.Say("refused"), fake.Use(call("c2", "risk", "", 0)), fake.Say("done"))
		r.prompt("in the mode default, where nobody can be asked")
		es := r.turns(1, nil)
		if f := all[event.ToolFinished](es)[0]; !f.Denied {
			t.Errorf("before: %+v", f)
		}
		if err := r.Submit(t.Context(), op.SetMode{Mode: "bypass"}); err != nil {
			t.Fatal(err)
		}
		r.prompt("again")
		es = r.turns(2, nil)
		if f := all[event.ToolFinished](es)[1]; f.Denied || f.Verdict.Check != "mode" {
			t.Errorf("after: %+v", f)
		}
		if b := all[event.TurnStarted](es); b[1].Mode != policy.Bypass || !es[0].Time.Equal(r.cfg.Now()) {
			t.Errorf("the turn started in %q, the first event is of %v", b[1].Mode, es[0].Time)
		}
		r.Close()
	})
}

// A mode that a tool sets counts from the next call on.
func TestModeOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		tighten := tool.New(tool.Spec{Name: "tighten"},
			func(in, tool.Env) (tool.Plan, error) { return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil },
			func(context.Context, in, tool.Env) (tool.Result, error) {
				return tool.Result{Effects: []tool.Effect{effect.Mode{To: policy.PlanMode}}}, nil
			})
		write := tool.New(tool.Spec{Name: "write"},
			func(in, tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{policy.Write{Path: "/w/x"}}}, nil
			},
			func(context.Context, in, tool.Env) (tool.Result, error) {
				ran++
				return tool.Result{Text: "written"}, nil
			})
		r := start(t, nil, func(c *session.Config) {
			c.Mode, c.Rules = policy.AcceptEdits, policy.Rules{Dir: "/w", Dirs: []string{"/w"}}
			c.Tools, _ = tool.NewSet(tighten, write)
		}, fake.Use(call("a", "write", "", 0)), fake.Use(call("b", "tighten", "", 0)), fake.Use(call("c", "write", "", 0)), fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		fs := all[event.ToolFinished](es)
		if ran != 1 || fs[0].Denied || !fs[2].Denied || fs[2].Verdict.Check != "mode" {
			t.Errorf("%d writes; %+v", ran, fs)
		}
		r.Close()
	})
}

// unmoded is a log that takes no change of the mode.
type unmoded struct{ *mem.Log }

func (u unmoded) Append(ctx context.Context, e event.Event) error {
	if _, is := e.Body.(event.ModeChanged); is {
		return errDisk
	}
	return u.Log.Append(ctx, e)
}

// A mode that is not on disk is not in force.
func TestModeThatCannotBeRecorded(t *testing.T) {
	loosen := tool.New(tool.Spec{Name: "loosen"},
		func(in, tool.Env) (tool.Plan, error) { return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil },
		func(context.Context, in, tool.Env) (tool.Result, error) {
			return tool.Result{Effects: []tool.Effect{effect.Mode{To: policy.AcceptEdits}}}, nil
		})
	r := start(t, nil, func(c *session.Config) {
		c.Log = unmoded{c.Log.(*mem.Log)}
		c.Tools, _ = tool.NewSet(loosen)
	}, fake.Use(call("a", "loosen", "", 0)), fake.Say("ok"))
	if err := r.Submit(t.Context(), op.SetMode{Mode: "acceptEdits"}); !errors.Is(err, errDisk) || r.Mode() != policy.Default {
		t.Errorf("%v, the mode is %s", err, r.Mode())
	}
	r.prompt("go")
	r.turns(1, nil)
	if m := r.Mode(); m != policy.Default {
		t.Errorf("the mode is %s", m)
	}
	r.Close()
}

// A turn that gives the model nothing to read, because it only compacts or its
// prompt was refused, does not count as having told it of another mode: the
// next one does, also after a restart.
func TestModeIsToldWithTheNextPrompt(t *testing.T) {
	for name, between := range map[string]op.Op{"compaction": op.Compact{}, "refused prompt": op.Prompt{Text: "a secret"}} {
		for _, restart := range []bool{false, true} {
			bubble(fmt.Sprint(name, ", restart: ", restart), t, func(t *testing.T) {
				telling := func(c *session.Config) {
					c.Remind = func(told, now policy.Mode) string { return fmt.Sprint(told, " became ", now) }
					c.Hooks = hooks{prompt: func(_ context.Context, p event.InputQueued) (session.Admission, error) {
						if strings.Contains(p.Text, "secret") {
							return session.Admission{Refused: "no secrets"}, nil
						}
						return session.Admission{}, nil
					}}
				}
				r := start(t, nil, telling, slices.Repeat([]fake.Reply{fake.Say("ok")}, 4)...)
				r.prompt("one")
				r.turns(1, nil)
				for _, o := range []op.Op{op.SetMode{Mode: "acceptEdits"}, between} {
					if err := r.Submit(t.Context(), o); err != nil {
						t.Fatal(err)
					}
				}
				r.turns(2, nil)
				if restart {
					r.Close()
					r = start(t, again(t, r.log), func(c *session.Config) { telling(c); c.Mode = policy.AcceptEdits }, fake.Say("ok"))
				}
				r.prompt("two")
				var told []string
				for _, in := range all[event.InputAccepted](r.turns(3, nil)) {
					if in.Hidden {
						told = append(told, in.Text)
					}
				}
				if last := told[len(told)-1]; last != "default became acceptEdits" {
					t.Errorf("told %q", told)
				}
				r.Close()
			})
		}
	}
}

// What settings of a repository name is protected as it is when a call is
// decided on, in a turn and for a command in the background.
func TestSteersAreProtected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steers []policy.Steer
		r := start(t, nil, func(c *session.Config) {
			c.Mode, c.Rules = policy.AcceptEdits, policy.Rules{Dir: "/w", Dirs: []string{"/w"}}
			c.Steers = func() []policy.Steer { return steers }
			c.Tools, _ = tool.NewSet(tool.New(tool.Spec{Name: "write"}, func(in, tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{policy.Write{Path: "/w/hooks/x", Asked: "hooks/x"}}}, nil
			}, func(context.Context, in, tool.Env) (tool.Result, error) {
				steers = []policy.Steer{{Path: "/w/hooks", Why: "git runs what is in it"}} // before the next call is decided on
				return tool.Result{Text: "written"}, nil
			}))
		}, fake.Use(call("a", "write", "", 0)), fake.Use(call("b", "write", "", 0)), fake.Say("ok"))
		write := agent.Question{Tool: "write", Plan: tool.Plan{Actions: []policy.Action{policy.Write{Path: "/w/hooks/x"}}}}
		if v, err := r.Permit(t.Context(), write); err != nil || v.Effect != policy.Allow {
			t.Errorf("%+v %v", v, err)
		}
		r.prompt("go")
		es := r.turns(1, nil)
		fs := all[event.ToolFinished](es)
		if fs[0].Denied || !fs[1].Denied || fs[1].Verdict.Check != policy.CheckProtected {
			t.Errorf("%+v", fs)
		}
		if v, err := r.Permit(t.Context(), write); err == nil || v.Check != policy.CheckProtected {
			t.Errorf("%+v %v", v, err)
		}
		r.Close()
	})
}

// What is forbidden at the start stays forbidden without any change of
// settings.
func TestForbiddenModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Forbidden = map[policy.Mode]string{policy.Bypass: "as the test says"}
		})
		err := r.Submit(t.Context(), op.SetMode{Mode: "bypassPermissions"})
		if !errors.Is(err, &op.Refusal{Code: op.Forbidden}) {
			t.Errorf("bypassPermissions: %v", err)
		}
		r.Close()
	})
}

// Arguments that a person wrote need no second question, and rules that come
// with a refusal grant nothing.
func TestAnswersGrantWhatTheySay(t *testing.T) {
	for name, c := range map[string]struct {
		answer op.Answer
		kept   int
		text   string
	}{
		"rewritten":            {op.Answer{Allow: true, By: "one", Input: []byte(`{"s":"mine"}`)}, 0, "risk:mine"},
		"allowed with rules":   {op.Answer{Allow: true, By: "one", Rules: []string{"risk"}}, 1, "risk:"},
		"refused with rules":   {op.Answer{By: "one", Rules: []string{"risk"}}, 0, ""},
		"refused with folders": {op.Answer{By: "one", Folders: []op.FolderChange{{Dirs: []string{"/x"}}}}, 0, ""},
	} {
		bubble(name, t, func(t *testing.T) {
			kept, asked, moved := 0, 0, 0
			r := start(t, nil, func(cfg *session.Config) {
				cfg.Folders = func(context.Context, []op.FolderChange) error { moved++; return nil }
				cfg.Keep = func(context.Context, string, op.Keep, []string) error { kept++; return nil }
			}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"), fake.Use(call("c2", "risk", "", 0)), fake.Say("ok")).attend()
			on := func(e event.Event) {
				if a, ok := e.Body.(event.Asked); ok && e.Seq > event.Seq(asked) {
					asked = int(e.Seq)
					answer := c.answer
					answer.Call = a.Call
					if err := r.Submit(t.Context(), answer); err != nil {
						t.Error(err)
					}
				}
			}
			r.prompt("go")
			es := r.turns(1, on)
			if n := len(all[event.Asked](es)); n != 1 {
				t.Errorf("%d questions", n)
			}
			if f := all[event.ToolFinished](es)[0]; f.Denied != !c.answer.Allow || c.answer.Allow && !strings.HasSuffix(f.Text, c.text) {
				t.Errorf("%+v", f)
			}
			if kept != c.kept || moved != 0 {
				t.Errorf("%d rules were kept, want %d; folders were changed %d times", kept, c.kept, moved)
			}
			r.prompt("again")
			es = r.turns(2, on)
			if n := len(all[event.Asked](es)); n != 2-c.kept {
				t.Errorf("%d questions after the second call", n)
			}
			r.Close()
		})
	}
}

// A turn with a budget completes while there is money, and a model without a
// price is only a matter for those who set a budget.
func TestBudgetThatSuffices(t *testing.T) {
	for name, change := range map[string]func(*session.Config){
		"enough": func(c *session.Config) {
			c.Budget.USD = 1
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 0.1, true }
		},
		"no price, no budget": func(c *session.Config) {
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 0, false }
		},
	} {
		bubble(name, t, func(t *testing.T) {
			r := start(t, nil, change, fake.Use(call("a", "look", "", 0)), fake.Say("ok"))
			r.prompt("go")
			r.last(r.turns(1, nil), agent.Completed)
			r.Close()
		})
	}
}
