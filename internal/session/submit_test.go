package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
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
