package session_test

import (
	"context"
	"errors"
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
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// While a session is being closed it takes what people say, and begins no turn with
// it: neither with a prompt, nor a compaction, nor a call that a hook put off.
func TestNothingBeginsWhileItCloses(t *testing.T) {
	for name, c := range map[string]struct {
		o      op.Op
		defers bool
	}{
		"a prompt": {op.Prompt{ID: "late", Text: "late"}, false}, "a compaction": {op.Compact{}, false}, "a call that was put off": {op.Prompt{ID: "late"}, true},
	} {
		bubble(name, t, func(t *testing.T) {
			slow := func(ctx context.Context, _ session.Command, _ func(string)) event.Ran {
				<-ctx.Done()
				time.Sleep(time.Second)
				return event.Ran{}
			}
			r := start(t, nil, func(cfg *session.Config) {
				cfg.Shell = slow
				cfg.Hooks = hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
					v.Defers = c.defers
					return v, nil
				}}
			}, fake.Use(call("c1", "look", "", 0)), fake.Say("ok"), fake.Say("too late"))
			r.prompt("go")
			r.turns(1, nil)
			if err := r.Submit(t.Context(), op.Shell{ID: "s", Command: "x"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			before := len(r.model.Requests())
			closed := make(chan error)
			go func() { closed <- r.Close() }()
			synctest.Wait() // for the command
			if err := r.Submit(t.Context(), c.o); err != nil {
				t.Errorf("not taken: %v", err)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			st := r.folded()
			if _, prompt := c.o.(op.Prompt); st.Turns != 1 || len(r.model.Requests()) != before || prompt != (len(st.Queue) == 1) {
				t.Errorf("%d turns, %d requests, %d prompts wait", st.Turns, len(r.model.Requests()), len(st.Queue))
			}
		})
	}
}

// A session that is closed waits a while for calls that do not end, however many
// there are.
func TestCloseWaitsOnceForCallsThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := func(id string) llm.ToolUse { return fake.Call(id, "look", in{Deaf: true, Wait: 3_600_000}) }
		r := start(t, nil, nil, fake.Use(deaf("a"), deaf("b")))
		r.prompt("go")
		synctest.Wait()
		began := time.Now()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 2*time.Second || took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
		synctest.Wait()
		time.Sleep(time.Hour) // they end
	})
}

// Who asks what a text names is told when the session is over, or when they are.
func TestNamesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Attach = func(context.Context, session.Naming) []event.Attached { return []event.Attached{{Name: "a"}} }
		})
		if a, err := r.Names(t.Context(), "see @a"); len(a) != 1 || err != nil {
			t.Errorf("%v, %v", a, err)
		}
		r.Close()
		if a, err := r.Names(t.Context(), "see @a"); len(a) != 0 || !errors.Is(err, session.ErrClosed) {
			t.Errorf("%v, %v", a, err)
		}
	})
}

// A question that Permit asks is a no when who asked has gone, and it is closed.
func TestPermitIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "act", "", 60_000)), fake.Say("ok")).attend()
		r.prompt("go")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		v, err := r.Permit(ctx, connection())
		if v.Effect != policy.Deny || v.Reason != "the question was withdrawn" || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", v, err)
		}
		if p := r.State().Pending; len(p) != 0 {
			t.Errorf("still asked: %v", p)
		}
		if a := recorded[event.Answered](r); len(a) != 1 || a[0].Allow || a[0].By.Kind != event.ByInterrupt {
			t.Errorf("%+v", a)
		}
		r.Close()
	})
}

// A session tells its readers of what servers do, and the log has it, once there is one.
func TestReportsAfterTheFirstPrompt(t *testing.T) {
	r := start(t, nil, nil, fake.Say("ok"))
	r.prompt("go")
	r.turns(1, nil)
	if err := r.Report(event.ServerChanged{Name: "a", State: event.ServerConnected}); err != nil {
		t.Fatal(err)
	}
	if got := recorded[event.ServerChanged](r); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("%+v", got)
	}
	r.Close()
	if err := r.Report(event.ServerChanged{Name: "a"}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// Servers and extensions may be there before the first reader is: a reader who comes before
// the log begins is told the newest of each, once.
func TestReadersComeLateToWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("ok"))
		for _, b := range []event.Body{
			event.ServerChanged{Name: "a", State: event.ServerConnecting}, event.ServerChanged{Name: "b", State: event.ServerFailed},
			event.Extended{}, event.ServerChanged{Name: "a", State: event.ServerNeedsAuth},
		} {
			if err := r.Report(b); err != nil {
				t.Fatal(err)
			}
		}
		told := func() (out []string) {
			ctx, stop := context.WithCancel(t.Context())
			events := r.Follow(ctx, 0, event.Durable)
			go func() { synctest.Wait(); stop() }()
			for e, err := range events {
				if err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case event.ServerChanged:
					out = append(out, fmt.Sprintf("%d %s %s", e.Seq, b.Name, b.State))
				case event.Extended:
					out = append(out, fmt.Sprintf("%d extended", e.Seq))
				default:
				}
			}
			return out
		}
		if got, want := told(), []string{"0 b failed", "0 extended", "0 a needs-auth"}; !slices.Equal(got, want) {
			t.Errorf("before the log: %q, not %q", got, want)
		}
		r.prompt("go")
		r.turns(1, nil)
		if got, want := told(), []string{"2 b failed", "3 extended", "4 a needs-auth"}; !slices.Equal(got, want) {
			t.Errorf("from the log: %q, not %q", got, want)
		}
		r.Close()
	})
}

// A reader who has all there is needs nothing of the log.
func TestReadersReadOnlyWhatTheyLack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &unreadable{Log: &mem.Log{}}
		r := start(t, nil, func(c *session.Config) { c.Log = log }, fake.Say("one"), fake.Say("two"))
		r.prompt("go")
		r.turns(1, nil)
		synctest.Wait()
		log.on = true
		seq := r.State().Seq
		events := r.Follow(t.Context(), seq, event.Durable)
		r.prompt("again")
		for e, err := range events {
			if err != nil || e.Seq != seq+1 {
				t.Fatalf("event %d behind %d, %v", e.Seq, seq, err)
			}
			if seq = e.Seq; e.Body == nil {
				t.Fatal("no event")
			}
			if _, over := e.Body.(event.TurnEnded); over {
				break
			}
		}
		r.Close()
	})
}

// An op that the session does not know is refused by name.
func TestUnknownOp(t *testing.T) {
	r := start(t, nil, nil)
	r.refused(nil, op.Unsupported)
	r.Close()
}

// lagging is a keeper whose log is not yet on disk up to its end, or not at all.
type lagging struct {
	*keeper
	at store.Place
}

func (l lagging) Place() store.Place { return l.at }

// A snapshot is of what is on disk: as long as the log's end is not, none is made.
func TestNoSnapshotOfWhatIsNotOnDisk(t *testing.T) {
	for _, at := range []store.Place{{}, {Seq: 2, Off: 1 << 30}} {
		synctest.Test(t, func(t *testing.T) {
			k := lagging{&keeper{Log: &mem.Log{}}, at}
			r := start(t, nil, func(c *session.Config) { c.Log, c.Keeper = k, k }, fake.Say("one"))
			r.prompt("go")
			r.turns(1, nil)
			r.Close()
			if len(k.kept) != 0 {
				t.Errorf("with %+v on disk there are snapshots at %v", at, k.kept)
			}
		})
	}
}

// A command whose prompt a hook refused is not run.
func TestRefusedCommandIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := false
		r := start(t, nil, func(c *session.Config) {
			c.Hooks = hooks{prompt: func(context.Context, event.InputQueued) (session.Admission, error) {
				return session.Admission{Refused: "not today"}, nil
			}}
			c.Commands = commands(func(string, string) (session.Expansion, error) {
				ran = true
				return session.Expansion{Text: "x"}, nil
			})
		})
		if err := r.Submit(t.Context(), op.Prompt{Text: "/fmt", Command: true}); err != nil {
			t.Fatal(err)
		}
		if e := r.last(r.turns(1, nil), agent.HookStopped); ran || !strings.Contains(e.Err, "not today") {
			t.Errorf("run: %t, %q", ran, e.Err)
		}
		r.Close()
	})
}

// watching are hooks that look at some events, and note which they were shown.
type watching struct {
	hooks
	of    []hook.Event
	again bool // what they say of calls that the classifier refused
	shown *[]hook.Event
}

func (w watching) Hooked(e hook.Event) bool { return slices.Contains(w.of, e) }

func (w watching) Refused(context.Context, agent.Question, agent.Verdict) bool {
	*w.shown = append(*w.shown, hook.PermissionDenied)
	return w.again
}

func (w watching) Hook(_ context.Context, in hook.Input, _ []policy.Action) hook.Answer {
	*w.shown = append(*w.shown, in.Event())
	return hook.Answer{Context: []string{"a hook saw " + string(in.Event())}}
}

// Hooks are shown the calls that the classifier refused, and no others; only where one
// says so does the model read that it may try again.
func TestHooksSeeWhatTheClassifierRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		ruling string
		of     []hook.Event
		again  bool
		shown  int
		text   string
	}{
		"refused":             {"soft_deny", []hook.Event{hook.PermissionDenied}, false, 1, "too risky. Do not"},
		"refused, once more":  {"soft_deny", []hook.Event{hook.PermissionDenied}, true, 1, "too risky. A hook says that you may try it once more. Do not"},
		"refused, not hooked": {"soft_deny", nil, true, 0, "too risky. Do not"},
		"allowed":             {"allow", []hook.Event{hook.PermissionDenied}, true, 0, "risk:"},
	} {
		bubble(name, t, func(t *testing.T) {
			var shown []hook.Event
			r := start(t, nil, func(cfg *session.Config) {
				autoMode(&fake.Model{Replies: []fake.Reply{rule(c.ruling, "too risky")}})(cfg)
				cfg.Hooks = watching{of: c.of, again: c.again, shown: &shown}
			}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"))
			r.prompt("go")
			if got := result(r.turns(1, nil), "c1"); len(shown) != c.shown || !strings.Contains(got, c.text) {
				t.Errorf("shown %v, the model reads %q", shown, got)
			}
			r.Close()
		})
	}
}

// What begins to apply with a file that a call read, and what hooks say of the call, the
// model reads behind the call's result.
func TestTheModelReadsWhatACallBrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []hook.Event
		read := tool.New(tool.Spec{Name: "read"},
			func(in, tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
			},
			func(context.Context, in, tool.Env) (tool.Result, error) {
				return tool.Result{Text: "the file", Effects: []tool.Effect{effect.Saw{Files: []effect.File{{Path: "/w/a.go", Hash: "h"}}}}}, nil
			})
		set, err := tool.NewSet(read)
		if err != nil {
			t.Fatal(err)
		}
		r := start(t, nil, func(c *session.Config) {
			c.Tools = set
			c.Hooks = watching{of: []hook.Event{hook.PostToolUse}, shown: &shown}
			c.Loop.Touched = func(_ event.Seq, paths []string) []string { return []string{"rules of " + paths[0]} }
		}, fake.Use(call("c1", "read", "", 0)), fake.Say("ok"))
		r.prompt("go")
		r.turns(1, nil)
		said := spoken(r.model.Requests()[1].Messages)
		if !slices.Equal(shown, []hook.Event{hook.PostToolUse}) || !strings.Contains(said, "rules of /w/a.go\n") || !strings.Contains(said, "a hook saw PostToolUse\n") {
			t.Errorf("shown %v, the model reads %q", shown, said)
		}
		r.Close()
	})
}

// A session that is taken up again says that its turn, and what ran beside it, ended, or
// it does not begin.
func TestTakenUpOnlyWhenItsEndIsRecorded(t *testing.T) {
	calls := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c1", Name: "Bash", Input: []byte(`{}`)}}}, Stop: "tool_use"}
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	r.Close()
	log = reopened(t, log, event.InputAccepted{ID: "second", Text: "Q2"}, event.TurnStarted{ID: "t2"}, event.TaskStarted{ID: "b1", Kind: "shell"}, calls, event.ToolStarted{Call: "c1", Name: "Bash"})
	cfg := r.cfg
	cfg.Files = &takenBack{cut: effect.Changed{Files: []effect.Change{{Path: "/w/a", After: effect.Version{Kind: effect.IsFile, Hash: "a"}}}}}
	for n := 1; ; n++ { // of Resumed, InputQueued, TaskEnded, ToolFinished, TurnEnded the n-th is lost
		lossy := &once{Log: again(t, log), n: n}
		cfg.Log = lossy
		s, err := session.Start(t.Context(), cfg)
		if (err != nil) != (lossy.missing != nil) || err != nil && !errors.Is(err, errDisk) {
			t.Fatalf("without a %T: %v", lossy.missing, err)
		}
		if err != nil {
			continue
		}
		if st := s.State(); st.Running != "" || len(st.Background) != 0 || len(st.Open()) != 0 || len(st.Queue) != 1 || n != 6 {
			t.Errorf("running %q, %v, open %v, %d events", st.Running, st.Background, st.Open(), n-1)
		}
		s.Close()
		return
	}
}

// A reader may ask for what comes behind an event that is still to come.
func TestReadersOfWhatIsToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("go")
		r.turns(1, nil)
		synctest.Wait()
		seq := r.State().Seq
		events := r.Follow(t.Context(), seq+2, event.Durable)
		for _, title := range []string{"one", "two", "three"} {
			if err := r.Submit(t.Context(), op.Rename{Title: title}); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		var got []string
		for e, err := range events {
			if b, ok := e.Body.(event.Titled); ok && err == nil {
				got = append(got, b.Title)
			}
		}
		if !slices.Equal(got, []string{"three"}) {
			t.Errorf("%v", got)
		}
	})
}

// What something beside the session has for the model is told with the next prompt.
func TestNotesForTheModel(t *testing.T) {
	r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
	if err := r.Note("the build is green"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r.prompt("go")
		r.turns(i+1, nil)
		if n := strings.Count(spoken(r.model.Requests()[i].Messages), "the build is green"); n != 1 {
			t.Errorf("request %d says it %d times", i, n)
		}
	}
	r.Close()
	if err := r.Note("too late"); !errors.Is(err, session.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// A session that is over takes no changes on disk back.
func TestNoRewindAfterTheEnd(t *testing.T) {
	files := &takenBack{}
	log := &mem.Log{}
	r := start(t, log, func(c *session.Config) { c.Files = files }, fake.Say("A1"))
	r.prompt("go")
	r.turns(1, nil)
	id := r.ids()[0]
	r.Close()
	if err := r.Submit(t.Context(), op.Rewind{To: id, Code: true}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("%v", err)
	}
	files.during = func() { t.Error("files were changed") }
}

// laggard is a log that takes its time for each event.
type laggard struct{ *mem.Log }

func (l laggard) Append(ctx context.Context, e event.Event) error {
	time.Sleep(time.Minute)
	return l.Log.Append(ctx, e)
}

// Who submits something waits for a session that is busy no longer than they want to,
// and it is not taken then.
func TestSubmitDoesNotWaitForABusySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := laggard{&mem.Log{}}
		r := start(t, nil, func(c *session.Config) { c.Log = log })
		named := make(chan error)
		go func() { named <- r.Submit(t.Context(), op.Rename{Title: "one"}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Submit(ctx, op.Rename{Title: "two"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if err := <-named; err != nil {
			t.Error(err)
		}
		r.Close()
		if got := foldOf(t, log).Title; got != "one" {
			t.Errorf("it is called %q", got)
		}
	})
}

// A session that was opened only to go back takes prompts, which wait for the next start.
func TestPromptsWaitWithoutALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &mem.Log{}
		s, err := session.Start(t.Context(), session.Config{Record: session.Record{Log: log}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := s.State(); st.Running != "" || len(st.Queue) != 1 {
			t.Errorf("running %q, %d wait", st.Running, len(st.Queue))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
