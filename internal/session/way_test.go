package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/transcript"
)

// A talk is what a conversation must be: its prompts, and the compactions that
// are in force in it.
type talk struct {
	said []string
	sums []sum
}

// A sum is a compaction: after how many prompts it came, and how many of them it
// sums up.
type sum struct{ at, up int }

// A wayBack is a rewind that can be taken back: to a talk, and the ways back
// that there were.
type wayBack struct {
	talk
	ways []wayBack
}

func anyReply(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
	if strings.Contains(spoken(q.Messages), "under these nine headings") {
		fake.Say("SUMMARY")(ctx, q, yield)
		return
	}
	fake.Say("done"+strings.Repeat(" and done", 300))(ctx, q, yield)
}

// promptsIn are the prompts of a person that stand word for word in messages.
func promptsIn(st transcript.State) (out []string) {
	for _, text := range words(st.Messages()) {
		if strings.HasPrefix(text, "say ") {
			out = append(out, text)
		}
	}
	return out
}

// newest is the last event of a kind in the log.
func newest[B event.Body](r *rig) (out B) {
	for e := range r.log.After(r.t.Context(), 0) {
		if b, ok := e.Body.(B); ok {
			out = b
		}
	}
	return out
}

// times counts the events of a kind in the log.
func times[B event.Body](r *rig) (n int) {
	for e := range r.log.After(r.t.Context(), 0) {
		if _, ok := e.Body.(B); ok {
			n++
		}
	}
	return n
}

func (r *rig) inConversation() (out []string) {
	for _, p := range r.State().Said {
		if p.Gone == 0 {
			out = append(out, p.Text)
		}
	}
	return out
}

// Whatever a person says, takes back, brings back and sums up: the prompts that
// can be gone back to are those of the conversation, and what an undo drops,
// the next brings back.
func TestWaysBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var steps []string
		for range rapid.IntRange(3, 14).Draw(rt, "steps") {
			steps = append(steps, rapid.SampledFrom([]string{"prompt", "prompt", "rewind", "undo", "compact", "uncompact", "resume"}).Draw(rt, "what"))
		}
		walk(t, rt, steps, func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "to") })
	})
	for name, steps := range map[string]string{
		"a compaction comes back with a rewind":        "prompt prompt compact rewind undo uncompact",
		"what is back has a compaction to take back":   "prompt prompt compact prompt prompt compact rewind uncompact",
		"two compactions are taken back":               "prompt prompt prompt compact prompt compact uncompact uncompact rewind undo",
		"an undo drops, and so does the next":          "prompt prompt rewind prompt undo prompt undo undo undo resume undo",
		"rewinds in rewinds":                           "prompt prompt prompt rewind prompt rewind undo undo undo",
		"a compaction that was taken back comes again": "prompt prompt prompt compact prompt uncompact prompt compact rewind uncompact undo uncompact",
	} {
		for to := range 3 {
			t.Run(name, func(t *testing.T) {
				walk(t, t, strings.Fields(steps), func(n int) int { return min(to, n-1) })
			})
		}
	}
}

// A failer is told what is wrong.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// walk takes these steps; pick chooses one of n prompts.
func walk(t *testing.T, rt failer, steps []string, pick func(n int) int) {
	replies := slices.Repeat([]fake.Reply{anyReply}, 100)
	r := start(t, nil, nil, replies...)
	defer func() { r.Close() }()
	var now talk
	var ways []wayBack
	prompts, turns := 0, 0
	then := map[string][]sum{} // what was in force before a prompt
	submit := func(o op.Op) error { return r.Submit(t.Context(), o) }
	ended := func() {
		turns++
		r.watch = nil
		r.turns(turns, nil)
	}
	for _, what := range steps {
		switch what {
		case "prompt":
			prompts++
			then[fmt.Sprint("say ", prompts)] = now.sums
			text := fmt.Sprint("say ", prompts)
			if err := submit(op.Prompt{ID: text, Text: text}); err != nil {
				rt.Fatal(err)
			}
			ended()
			now.said = append(slices.Clone(now.said), text)
		case "rewind":
			if len(now.said) == 0 {
				continue
			}
			i := pick(len(now.said))
			if err := submit(op.Rewind{To: now.said[i], Conversation: true}); err != nil {
				rt.Fatal(err)
			}
			ways = append(slices.Clone(ways), wayBack{now, ways})
			sums := now.sums
			if slices.ContainsFunc(sums, func(s sum) bool { return s.at > i }) {
				sums = then[now.said[i]]
			}
			now = talk{said: now.said[:i], sums: sums}
		case "undo":
			err := submit(op.Rewind{Undo: true, Conversation: true})
			if len(ways) == 0 {
				if code(err) != op.NoPrompt {
					rt.Fatalf("no rewind to undo: %v", err)
				}
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			way, was := ways[len(ways)-1], wayBack{now, ways}
			now, ways = way.talk, way.ways
			told := newest[event.Rewound](r)
			dropped := 0
			for _, p := range was.said {
				if !slices.Contains(now.said, p) {
					dropped++
				}
			}
			if told.Dropped != dropped {
				rt.Fatalf("told of %d prompts dropped, not of %d", told.Dropped, dropped)
			}
			if dropped > 0 {
				ways = append(slices.Clone(ways), was)
			}
		case "compact":
			if len(promptsIn(r.State())) == 0 {
				continue
			}
			if err := submit(op.Compact{}); err != nil {
				rt.Fatal(err)
			}
			failed := times[event.CompactFailed](r)
			ended()
			if times[event.CompactFailed](r) > failed { // it would have been no shorter
				continue
			}
			up, from := 0, newest[event.Compacted](r).From
			for _, p := range r.State().Said {
				if p.Gone == 0 && p.Seq < from {
					up++
				}
			}
			now.sums = append(slices.Clone(now.sums), sum{len(now.said), up})
		case "uncompact":
			err := submit(op.Compact{Undo: true})
			if len(now.sums) == 0 {
				if code(err) != op.NoPrompt {
					rt.Fatalf("no compaction to undo: %v", err)
				}
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			now.sums = now.sums[:len(now.sums)-1]
		case "resume":
			r.Close()
			r = start(t, again(t, r.log), func(c *session.Config) {}, replies...)
		}
		st := r.State()
		if got := r.inConversation(); !slices.Equal(got, now.said) {
			rt.Fatalf("after %s: the prompts are %q, not %q", what, got, now.said)
		}
		summed := 0
		if n := len(now.sums); n > 0 {
			summed = now.sums[n-1].up
		}
		if got := promptsIn(st); !slices.Equal(got, now.said[summed:]) {
			rt.Fatalf("after %s: the model sees %q, not %q", what, got, now.said[summed:])
		}
		// each prompt that the model sees can be named, to compact from there
		for _, e := range st.Entries() {
			for i, p := range e.Parts {
				if text, ok := p.(llm.Text); ok && strings.HasPrefix(text.S, "say ") && !slices.ContainsFunc(st.Said, func(s transcript.Said) bool { return s.Seq == e.From[i] && s.Text == text.S }) {
					rt.Fatalf("after %s: %q comes from event %d", what, text.S, e.From[i])
				}
			}
		}
	}
}

// A rewind goes back to prompts of the conversation alone; an undo takes back
// what its rewind went back in, and nothing else.
func TestUndoOfAPart(t *testing.T) {
	files := &takenBack{}
	r := start(t, nil, func(c *session.Config) { c.Files = files }, slices.Repeat([]fake.Reply{anyReply}, 9)...)
	defer func() { r.Close() }()
	say := func(n int) {
		if err := r.Submit(t.Context(), op.Prompt{ID: fmt.Sprint("say ", n), Text: fmt.Sprint("say ", n)}); err != nil {
			t.Fatal(err)
		}
		r.watch = nil
		r.turns(n, nil)
	}
	say(1)
	if err := r.Submit(t.Context(), op.Rewind{To: "say 1", Code: true}); err != nil {
		t.Fatal(err)
	}
	say(2)
	if err := r.Submit(t.Context(), op.Rewind{Undo: true, Conversation: true}); code(err) != op.NoPrompt {
		t.Errorf("the conversation of a rewind of files: %v", err)
	}
	if err := r.Submit(t.Context(), op.Rewind{Undo: true, Conversation: true, Code: true}); err != nil {
		t.Fatal(err)
	}
	if got := newest[event.Rewound](r); got.Conversation || !got.Code || !slices.Equal(r.inConversation(), []string{"say 1", "say 2"}) {
		t.Errorf("%+v: %q", got, r.inConversation())
	}
	if err := r.Submit(t.Context(), op.Rewind{To: "say 2", Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Submit(t.Context(), op.Rewind{To: "say 2", Conversation: true, Code: true}); code(err) != op.NoPrompt || !strings.Contains(err.Error(), "not in the conversation any more") {
		t.Errorf("to a prompt that is gone: %v", err)
	}
}

// Who looks at what it would be to take back a rewind of the conversation is told of no files.
func TestPreviewOfAnUndo(t *testing.T) {
	for name, c := range map[string]struct {
		o     op.Rewind
		files int
	}{
		"back, the conversation": {op.Rewind{To: "two", Conversation: true, Preview: true}, 1}, "back, the files": {op.Rewind{To: "two", Code: true, Preview: true}, 1},
		"undo, the conversation": {op.Rewind{Undo: true, Conversation: true, Preview: true}, 0}, "undo, both": {op.Rewind{Undo: true, Conversation: true, Code: true, Preview: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			log := &mem.Log{}
			r := start(t, log, nil, fake.Say("A1"))
			r.prompt("Q1")
			r.turns(1, nil)
			r.Close()
			change := []effect.Change{{Path: "/w/a", After: effect.Version{Kind: effect.IsFile, Hash: "a"}}}
			more := []event.Body{event.InputAccepted{ID: "two", Text: "Q2", Changed: &effect.Changed{Files: change}}}
			if c.o.Undo {
				more = append(more, event.Rewound{To: r.folded().Seq + 1, Conversation: true, Code: true, Changes: change})
			}
			r = start(t, reopened(t, log, more...), func(cfg *session.Config) { cfg.Files = &takenBack{} })
			events := r.Follow(t.Context(), r.State().Seq, event.Everything)
			if err := r.Submit(t.Context(), c.o); err != nil {
				t.Fatal(err)
			}
			for e := range events {
				if plan, ok := e.Body.(event.RewindPlan); ok {
					if len(plan.Files) != c.files {
						t.Errorf("%+v", plan)
					}
					break
				}
			}
			r.Close()
		})
	}
}
