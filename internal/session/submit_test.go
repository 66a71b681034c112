package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

// A model whose key takes long to come holds up nobody but who asked for it.
func TestSlowModelHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &fake.Model{Replies: []fake.Reply{fake.Say("from the other")}}
		r := start(t, nil, func(c *session.Config) {
			c.Resolve = func(ctx context.Context, name string) (agent.Target, error) {
				return agent.Target{Model: other, Provider: "fake", Name: name}, agent.Sleep(ctx, 10*time.Second)
			}
		}, fake.Say("from the first"))
		changed := make(chan error, 1)
		go func() { changed <- r.Submit(t.Context(), op.SetModel{Name: "other"}) }()
		synctest.Wait()
		began := time.Now()
		r.prompt("meanwhile")
		r.last(r.turns(1, nil), agent.Completed)
		if took := time.Since(began); took > 0 {
			t.Errorf("a prompt waited %v", took)
		}
		if err := <-changed; err != nil {
			t.Fatal(err)
		}
		r.prompt("again")
		es := r.turns(2, nil)
		r.last(es, agent.Completed)
		if m := all[event.ModelChanged](es); len(m) != 1 || m[0].Model != "fake/other" || len(other.Requests()) != 1 {
			t.Errorf("changes %v, and the other model was asked %d times", m, len(other.Requests()))
		}
		r.Close()
	})
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Resolve = func(ctx context.Context, _ string) (agent.Target, error) {
				return agent.Target{}, agent.Sleep(ctx, time.Hour)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Submit(ctx, op.SetModel{Name: "other"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a model that never comes: %v", err)
		}
		r.Close()
	})
}

func TestRefusalsHaveCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("there is no such model")
		r := start(t, nil, func(c *session.Config) {
			c.Resolve = func(context.Context, string) (agent.Target, error) { return agent.Target{}, cause }
		})
		for _, x := range []struct {
			op   op.Op
			code op.Code
		}{
			{op.Interrupt{}, op.Idle},
			{op.Answer{Call: "c9"}, op.NoQuestion},
			{op.Unqueue{ID: "p9"}, op.NoPrompt},
			{op.SetMode{Mode: "yolo"}, op.UnknownMode},
			{op.SetEffort{Level: "loud"}, op.Unsupported},
			{op.Revoke{Rules: []string{"Bash"}}, op.BadRule},
			{op.SetModel{Name: "x"}, op.BadModel},
		} {
			err := r.Submit(t.Context(), x.op)
			if !errors.Is(err, &op.Refusal{Code: x.code}) {
				t.Errorf("%T: %v, want the code %s", x.op, err, x.code)
			}
			if x.code == op.BadModel && (!errors.Is(err, cause) || err.Error() != cause.Error()) {
				t.Errorf("the cause is lost: %v", err)
			}
		}
		r.Close()
		if err := r.Submit(t.Context(), op.Interrupt{}); !errors.Is(err, &op.Refusal{Code: op.Closed}) {
			t.Errorf("after close: %v", err)
		}
	})
}

// What was granted to the session is taken back, in it and for when it is resumed;
// rules of settings, and those that refuse, stay.
func TestRevoke(t *testing.T) {
	rule := func(e policy.Effect, s policy.Scope) policy.Rule {
		return policy.Rule{Tool: "Bash", Spec: "ls:*", Effect: e, Scope: s}
	}
	synctest.Test(t, func(t *testing.T) {
		var unkept []string
		wrong := error(nil)
		r := start(t, nil, func(c *session.Config) {
			c.Rules.List = []policy.Rule{rule(policy.Allow, policy.User), rule(policy.Allow, policy.Session), rule(policy.Deny, policy.Session)}
			c.Revoke = func(_ context.Context, rules []string) error { unkept = append(unkept, rules...); return wrong }
		})
		before := r.Rules()
		if err := r.Submit(t.Context(), op.Revoke{Rules: []string{"Bash(ls:*)"}}); err != nil {
			t.Fatal(err)
		}
		if got := r.Rules().List; len(got) != 2 || got[0].Scope != policy.User || got[1].Effect != policy.Deny || len(unkept) != 1 {
			t.Errorf("left are %+v, and kept is all but %q", got, unkept)
		}
		if len(before.List) != 3 || before.List[1].Effect != policy.Allow {
			t.Errorf("what was read before changed: %+v", before.List)
		}
		if err := r.Submit(t.Context(), op.Revoke{Rules: []string{"Bash(ls:*)"}}); !errors.Is(err, &op.Refusal{Code: op.BadRule}) {
			t.Errorf("twice: %v", err)
		}
		unkept = nil
		if err := r.Submit(t.Context(), op.Revoke{Rules: []string{"Bash(ls:*)"}, Effect: policy.Deny}); err != nil {
			t.Fatal(err)
		}
		if got := r.Rules().List; len(got) != 1 || got[0].Scope != policy.User || len(unkept) != 0 {
			t.Errorf("without what denied, left are %+v, and kept is all but %q", got, unkept)
		}
		r.Close()

		wrong = errors.New("disk full")
		r = start(t, nil, func(c *session.Config) {
			c.Rules.List = []policy.Rule{rule(policy.Allow, policy.Session)}
			c.Revoke = func(context.Context, []string) error { return wrong }
		})
		if err := r.Submit(t.Context(), op.Revoke{Rules: []string{"Bash(ls:*)"}}); err != nil || len(r.Rules().List) != 0 {
			t.Errorf("%v, %+v", err, r.Rules().List)
		}
		var said []string
		for e := range r.Events(t.Context(), 0) {
			if n, ok := e.Body.(event.Noted); ok {
				said = append(said, n.Level+": "+n.Text)
				break
			}
		}
		if len(said) != 1 || !strings.Contains(said[0], "warning: taken back: this session may not do any more what Bash(ls:*) allows") || !strings.Contains(said[0], "disk full") {
			t.Errorf("%q", said)
		}
		r.Close()
	})
}

// The next step thinks as it was asked for, and then again as the settings say.
func TestEffortOverModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fake.Model{Replies: []fake.Reply{fake.Say("1"), fake.Say("2"), fake.Say("3")}}
		r := start(t, nil, func(c *session.Config) {
			c.Target = agent.Target{Model: model, Provider: "fake", Name: "m", Effort: llm.EffortLow}
		})
		for i, o := range []op.SetEffort{{Tokens: 2000}, {Level: "high"}, {}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			r.prompt("go")
			r.last(r.turns(i+1, nil), agent.Completed)
		}
		var got []string
		for _, q := range model.Requests() {
			got = append(got, fmt.Sprintf("%s %d", q.Effort, q.ThinkingTokens))
		}
		if want := []string{" 2000", "high 0", "low 0"}; !slices.Equal(got, want) {
			t.Errorf("requests asked for %q, want %q", got, want)
		}
		r.Close()
	})
}

// Nothing is taken from a client that has gone.
func TestNothingOfAClientThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		synctest.Wait() // it would take one at any time
		for range 100 {
			if err := r.Submit(ctx, op.SetMode{Mode: "plan"}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if m := r.Mode(); m != policy.Default {
			t.Errorf("the mode is %s", m)
		}
		r.Close()
	})
}

// Images are made as small as the model takes them; what is none stays as it
// is, and so does what the client has.
func TestImagesOfAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Target.ImageEdge = 10 }, fake.Say("ok"))
		var wide bytes.Buffer
		if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
			t.Fatal(err)
		}
		mine := []op.Image{{Media: "image/png", Data: wide.Bytes()}, {Media: "image/png", Data: []byte("none")}}
		if err := r.Submit(t.Context(), op.Prompt{Text: "look", Images: mine}); err != nil {
			t.Fatal(err)
		}
		got := all[event.InputAccepted](r.turns(1, nil))[0].Images
		if c, err := png.DecodeConfig(bytes.NewReader(got[0].Data)); err != nil || c.Width != 10 || c.Height != 5 {
			t.Errorf("%dx%d (%v)", c.Width, c.Height, err)
		}
		if string(got[1].Data) != "none" || !bytes.Equal(mine[0].Data, wide.Bytes()) {
			t.Errorf("changed: %q, %d bytes", got[1].Data, len(mine[0].Data))
		}
		r.Close()
	})
}

// What looks like the name of a file is nothing but text where nobody reads
// files.
func TestNamesWithoutAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("ok"))
		r.prompt("read @notes.md")
		es := r.turns(1, nil)
		if in := all[event.InputAccepted](es); len(in) != 1 || len(in[0].Attached) > 0 {
			t.Errorf("%+v", in)
		}
		r.Close()
	})
}

// What a prompt names is read unless it is to be taken as it is written.
func TestVerbatimPrompts(t *testing.T) {
	for _, verbatim := range []bool{false, true} {
		r := start(t, nil, func(c *session.Config) {
			c.Attach = func(context.Context, session.Naming) []event.Attached {
				return []event.Attached{{Name: "a", Text: "the file"}}
			}
		}, fake.Say("ok"))
		if err := r.Submit(t.Context(), op.Prompt{Text: "see @a", Verbatim: verbatim}); err != nil {
			t.Fatal(err)
		}
		if in := all[event.InputAccepted](r.turns(1, nil)); (len(in[0].Attached) == 0) != verbatim {
			t.Errorf("verbatim %t: %+v", verbatim, in[0].Attached)
		}
		r.Close()
	}
}
