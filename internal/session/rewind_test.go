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

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/transcript"
)

// takenBack notes what it is asked to take back.
type takenBack struct {
	changes []effect.Change
	seen    []effect.File
	known   bool
	cut     effect.Changed
	late    []string // told one by one
	fail    error
	during  func() // while files are written
}

func (f *takenBack) Preview(_ context.Context, cs []effect.Change) ([]event.FileChange, []string) {
	var out []event.FileChange
	for _, c := range cs {
		out = append(out, event.FileChange{Path: c.Path, Kind: "changed"})
	}
	return out, []string{"one is lost"}
}

func (*takenBack) Join(first, then []effect.Change) []effect.Change {
	return append(slices.Clip(first), then...)
}

func (f *takenBack) Unfinished(b event.RewindBegan) event.Rewound {
	return event.Rewound{To: b.To, ID: b.ID, Code: true, Cut: "adze ended meanwhile", Changes: b.Changes[:1]}
}

func (f *takenBack) TakeBack(ctx context.Context, cs []effect.Change, begin func([]effect.Change) error, progress func(done, of int)) (session.TakenBack, error) {
	if f.fail != nil {
		return session.TakenBack{}, f.fail
	}
	if err := begin(cs); err != nil {
		return session.TakenBack{}, err
	}
	if f.changes = cs; f.during != nil {
		f.during()
	}
	var done []effect.Change
	progress(1, 2)
	for _, c := range cs {
		done = append(done, effect.Change{Path: c.Path, Before: c.After, After: c.Before})
	}
	return session.TakenBack{Done: done, Problems: []string{"a problem"}}, ctx.Err()
}

func (f *takenBack) Late(context.Context) (out effect.Changed) {
	if len(f.late) > 0 {
		out.Missed, f.late = f.late[:1], f.late[1:]
	}
	return out
}

func (f *takenBack) Cut(context.Context) effect.Changed { return f.cut }

func (f *takenBack) Seen(files []effect.File) { f.seen, f.known = files, true }

func words(ms []llm.Message) (out []string) {
	for _, m := range ms {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				out = append(out, t.S)
			}
		}
	}
	return out
}

// folded is the state that the log alone comes to.
func (r *rig) folded() (st transcript.State) {
	r.t.Helper()
	for e, err := range r.log.After(r.t.Context(), 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		st = st.Apply(e)
	}
	return st
}

func (r *rig) ids() (out []string) {
	for e := range r.log.After(r.t.Context(), 0) {
		if b, ok := e.Body.(event.InputAccepted); ok && !b.Hidden {
			out = append(out, b.ID)
		}
	}
	return out
}

func TestRewindOfTheConversation(t *testing.T) {
	files := &takenBack{}
	r := start(t, nil, func(c *session.Config) { c.Files = files }, fake.Say("A1"), fake.Say("A2"), fake.Say("A3"), fake.Say("A4"))
	for i, q := range []string{"Q1", "Q2", "Q3"} {
		r.prompt(q)
		r.turns(i+1, nil)
	}
	before := r.State().Messages()
	if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[1], Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"Q1", "A1"}, words(r.State().Messages())); d != "" {
		t.Error(d)
	}
	if st := r.State(); st.Last != "Q1" || !files.known {
		t.Errorf("the newest prompt is %q, files known %t", st.Last, files.known)
	}
	// the rewind is taken back, word for word
	if err := r.Submit(t.Context(), op.Rewind{Undo: true, Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, r.State().Messages()); d != "" {
		t.Error(d)
	}
	if err := r.Submit(t.Context(), op.Rewind{Undo: true, Conversation: true}); code(err) != op.NoPrompt {
		t.Errorf("a rewind was taken back twice: %v", err)
	}
	// back to the very beginning, and on from there
	if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Conversation: true}); err != nil {
		t.Fatal(err)
	}
	r.prompt("Q4")
	r.turns(4, nil)
	if got := words(r.State().Messages()); got[0] != "Q4" && !strings.Contains(got[0], "went back") || !slices.Contains(got, "A4") || slices.Contains(got, "A1") {
		t.Errorf("%q", got)
	}
	valid(t, r.State().Messages())
	if d := cmp.Diff(r.State().Messages(), r.folded().Messages()); d != "" {
		t.Errorf("the log says something else:\n%s", d)
	}
	var st transcript.State // and it survives a codec
	for e := range r.log.After(t.Context(), 0) {
		line, err := event.AppendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := event.ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		st = st.Apply(again)
	}
	if d := cmp.Diff(r.State().Messages(), st.Messages()); d != "" {
		t.Error(d)
	}
}

// What a compaction took out of the conversation comes back when a person goes
// back to before it.
func TestRewindToBeforeABoundary(t *testing.T) {
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"), fake.Say("A2"))
	r.prompt("Q1")
	r.turns(1, nil)
	r.prompt("Q2")
	r.turns(2, nil)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	second := r.ids()[1]
	log = reopened(t, log, event.Compacted{Text: "what was"})
	r = start(t, log, nil)
	if d := cmp.Diff([]string{"what was"}, words(r.State().Messages())); d != "" {
		t.Fatal(d)
	}
	if err := r.Submit(t.Context(), op.Rewind{To: second, Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"Q1", "A1"}, words(r.State().Messages())); d != "" {
		t.Error(d)
	}
}

// A conversation that is empty again is empty, also when a compaction had taken
// its beginning out.
func TestRewindToNothing(t *testing.T) {
	r := start(t, nil, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	first := r.ids()[0]
	r.Close()
	r = start(t, reopened(t, r.log, event.Compacted{Text: "what was"}), nil)
	if err := r.Submit(t.Context(), op.Rewind{To: first, Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if ms := r.State().Messages(); len(ms) != 0 {
		t.Errorf("%q", words(ms))
	}
	r.Close()
}

// A session that was opened only to go back begins no turn, also when a process
// that was killed left a prompt in its queue.
func TestRewindLeavesPromptsToTheNextStart(t *testing.T) {
	r := start(t, nil, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	first := r.ids()[0]
	r.Close()
	log := reopened(t, r.log, event.InputQueued{ID: "q", Text: "Q2"})
	s, err := session.Start(t.Context(), session.Config{Record: session.Record{Log: log, Again: event.Resumed{}}, Hands: session.Hands{Files: &takenBack{}}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Submit(t.Context(), op.Rewind{To: first, Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if st := s.State(); len(st.Messages()) != 0 || len(st.Queue) != 1 || st.Running != "" {
		t.Errorf("%q, queue %v, running %q", words(st.Messages()), st.Queue, st.Running)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// reopened copies a log and adds to it.
func reopened(t *testing.T, from *mem.Log, more ...event.Body) *mem.Log {
	t.Helper()
	out := &mem.Log{}
	var last event.Event
	for e := range from.After(t.Context(), 0) {
		last = e
		if err := out.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range more {
		last = event.Event{Seq: last.Seq + 1, Time: last.Time, Body: b}
		if err := out.Append(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRewindOfFiles(t *testing.T) {
	files := &takenBack{}
	change := func(path string) effect.Changed {
		return effect.Changed{Files: []effect.Change{{Path: path, After: effect.Version{Kind: effect.IsFile, Hash: path}}}}
	}
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"), fake.Say("A2"))
	r.prompt("Q1")
	r.turns(1, nil)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	log = reopened(t, log, event.ToolFinished{Call: "1", Effects: []effect.Effect{change("/w/a")}}, event.InputAccepted{ID: "second", Text: "Q2"},
		event.ToolFinished{Call: "2", Effects: []effect.Effect{change("/w/b"), effect.Dir{Path: "/w"}}}, event.ToolFinished{Call: "3", Effects: []effect.Effect{change("/w/c")}})
	r = start(t, log, func(c *session.Config) { c.Files = files })
	events := r.Follow(t.Context(), r.State().Seq, event.Everything)
	if err := r.Submit(t.Context(), op.Rewind{To: "second", Code: true, Preview: true}); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if plan, ok := e.Body.(event.RewindPlan); ok {
			if len(plan.Files) != 2 || plan.ID != "second" || len(plan.Lost) != 1 || files.changes != nil {
				t.Errorf("%+v, %v", plan, files.changes)
			}
			break
		}
	}
	if err := r.Submit(t.Context(), op.Rewind{To: "second", Code: true}); err != nil {
		t.Fatal(err)
	}
	if len(files.changes) != 2 || files.changes[0].Path != "/w/b" || files.changes[1].Path != "/w/c" || files.known {
		t.Errorf("%+v", files)
	}
	if got := words(r.State().Messages()); !slices.Contains(got, "Q2") {
		t.Errorf("the conversation changed, too: %q", got)
	}
	// the model is told with the next prompt
	r.model.Replies = append(r.model.Replies, fake.Say("A3"))
	r.prompt("Q3")
	r.turns(2, nil) // of which the log has one already
	if got := strings.Join(words(r.State().Messages()), "\n"); !strings.Contains(got, "took back changes on disk") || !strings.Contains(got, ": b, c.") {
		t.Errorf("%s", got)
	}
	// nothing is recorded when nothing could be done
	files.fail, files.changes = errors.New("no disk"), nil
	seq := r.State().Seq
	if err := r.Submit(t.Context(), op.Rewind{To: "nobody", Code: true}); code(err) != op.NoPrompt || r.State().Seq != seq {
		t.Errorf("%v", err)
	}
	if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[2], Code: true}); !errors.Is(err, files.fail) || r.State().Seq != seq {
		t.Errorf("%v", err)
	}
}

// A rewind is on disk before the first file changes. One that is interrupted says what
// became of files, and one that its process did not end is told of at the next start,
// with what it had changed; the same rewind again finishes it, and one undo takes both back.
func TestARewindThatIsCutOff(t *testing.T) {
	changed := event.ToolFinished{Call: "c", Name: "Write", Effects: []effect.Effect{effect.Changed{Files: []effect.Change{
		{Path: "/w/a", Before: version("a1"), After: version("a2")}, {Path: "/w/b", Before: version("b1"), After: version("b2")},
	}}}}
	bubble("interrupted", t, func(t *testing.T) {
		files := &takenBack{}
		ctx, stop := context.WithCancel(t.Context())
		r := start(t, nil, func(c *session.Config) { c.Files = files }, fake.Say("A1"))
		var log []string
		files.during = func() {
			log = append(log, fmt.Sprint(r.State().Rewinding != nil))
			stop()
		}
		r.prompt("Q1")
		r.turns(1, nil)
		err := r.Submit(ctx, op.Rewind{To: r.ids()[0], Code: true})
		if !errors.Is(err, session.ErrCutRewind) || !errors.Is(err, context.Canceled) || !slices.Equal(log, []string{"true"}) || r.State().Rewinding != nil {
			t.Errorf("%v; recorded before files changed: %v", err, log)
		}
		r.Close()
	})
	bubble("stopped", t, func(t *testing.T) {
		files := &takenBack{}
		r := start(t, nil, func(c *session.Config) { c.Files = files }, fake.Say("A1"))
		if err := r.Submit(t.Context(), op.Interrupt{}); !errors.Is(err, session.ErrIdle) {
			t.Errorf("nothing to interrupt: %v", err)
		}
		files.during = func() {
			time.Sleep(time.Second) // so that it is told how far it is
			if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
				t.Error(err)
			}
		}
		r.prompt("Q1")
		r.turns(1, nil)
		events := r.Follow(t.Context(), r.State().Seq, event.Everything)
		err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Code: true})
		if !errors.Is(err, session.ErrCutRewind) || r.State().Rewinding != nil {
			t.Errorf("it was stopped: %v", err)
		}
		var far event.Rewinding
		for e := range events {
			switch b := e.Body.(type) {
			case event.Rewinding:
				far = b
				continue
			case event.Rewound:
				if b.Cut != "interrupted" || far != (event.Rewinding{Done: 1, Of: 2}) {
					t.Errorf("%+v after %+v", b, far)
				}
			default:
				continue
			}
			break
		}
		if err := r.Submit(t.Context(), op.Interrupt{}); !errors.Is(err, session.ErrIdle) {
			t.Errorf("nothing to interrupt any more: %v", err)
		}
		r.Close()
	})
	bubble("the process ended", t, func(t *testing.T) {
		files := &takenBack{}
		log := &mem.Log{}
		for i, b := range []event.Body{
			event.SessionStarted{Dir: "/w"}, event.InputAccepted{ID: "p1", Text: "go"}, event.TurnStarted{ID: "t1"}, changed, event.TurnEnded{ID: "t1"},
			event.RewindBegan{To: 2, ID: "p1", Changes: []effect.Change{{Path: "/w/a", Before: version("a2"), After: version("a1")}, {Path: "/w/b", Before: version("b2"), After: version("b1")}}},
		} {
			if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Time: time.Now(), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := session.Start(t.Context(), session.Config{Record: session.Record{Log: log}, Hands: session.Hands{Files: files}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if st := s.State(); st.Rewinding != nil || len(st.Trail) != 1 {
			t.Fatalf("%+v, %d rewinds", st.Rewinding, len(st.Trail))
		}
		if err := s.Submit(t.Context(), op.Rewind{To: "p1", Code: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.Submit(t.Context(), op.Rewind{Undo: true, Code: true}); err != nil {
			t.Fatal(err)
		}
		if first := files.changes[0]; first.Path != "/w/a" || first.Before != version("a2") {
			t.Errorf("the undo begins with %+v", first)
		}
		_ = s.Close()
	})
}

func version(hash string) effect.Version { return effect.Version{Kind: effect.IsFile, Hash: hash} }

// What the model is told of files that a person took back is bounded, and when
// the conversation went back with them there is nothing to tell.
func TestTheModelIsToldOfFilesTakenBack(t *testing.T) {
	for _, c := range []struct {
		files        int
		conversation bool
		told         string
	}{
		{1, false, ": 0."}, {20, false, ", 18, 19."}, {21, false, ", 18, 19 and 1 more."}, {0, false, ""}, {1, true, ""}, {21, true, ""},
	} {
		bubble(fmt.Sprintf("%d %t", c.files, c.conversation), t, func(t *testing.T) {
			var changed effect.Changed
			for i := range c.files {
				changed.Files = append(changed.Files, effect.Change{Path: fmt.Sprint("/w/", i)})
			}
			log := &mem.Log{}
			for i, b := range []event.Body{event.SessionStarted{Dir: "/w"}, event.InputAccepted{ID: "p1", Text: "go"}, event.TurnStarted{ID: "t1"}, event.TurnEnded{ID: "t1"}, event.ToolFinished{Call: "1", Effects: []effect.Effect{changed}}} {
				if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Body: b}); err != nil {
					t.Fatal(err)
				}
			}
			r := start(t, log, func(cfg *session.Config) { cfg.Files = &takenBack{} }, fake.Say("ok"))
			if err := r.Submit(t.Context(), op.Rewind{To: "p1", Code: true, Conversation: c.conversation}); err != nil {
				t.Fatal(err)
			}
			r.prompt("on")
			told := ""
			for _, in := range all[event.InputAccepted](r.turns(2, nil)) {
				if in.Hidden {
					told += in.Text
				}
			}
			if (c.told == "") != (told == "") || !strings.HasSuffix(told, c.told) {
				t.Errorf("told %q", told)
			}
			r.Close()
		})
	}
}

// While a session goes back, prompts wait and nothing else goes back; then the
// prompts have their turn.
func TestPromptsWaitForARewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &takenBack{}
		r := start(t, nil, func(c *session.Config) {
			c.Files = files
			c.Shell = func(ctx context.Context, _ session.Command, _ func(string)) event.Ran {
				<-ctx.Done()
				return event.Ran{}
			}
		}, fake.Say("A1"), fake.Say("A2"))
		r.prompt("Q1")
		r.turns(1, nil)
		files.during = func() {
			r.prompt("Q2")
			r.refused(op.Rewind{To: r.ids()[0], Code: true}, op.Busy)
			r.refused(op.Compact{}, op.Busy)
			r.refused(op.Compact{Undo: true}, op.Busy)
			synctest.Wait()
			if st := r.State(); st.Running != "" || len(st.Queue) != 1 {
				t.Errorf("running %q, queue %v", st.Running, st.Queue)
			}
		}
		if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Code: true}); err != nil {
			t.Fatal(err)
		}
		r.last(r.turns(2, nil), agent.Completed)
		if err := r.Submit(t.Context(), op.Shell{ID: "s", Command: "wait"}); err != nil {
			t.Fatal(err)
		}
		files.during = nil
		r.refused(op.Rewind{To: r.ids()[0], Code: true}, op.Busy)
		r.refused(op.Compact{Undo: true}, op.Busy)
		r.Close()
	})
}

func code(err error) op.Code {
	var refused *op.Refusal
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func TestRewindIsRefused(t *testing.T) {
	r := start(t, nil, nil, fake.Use(call("1", "act", "x", 100000)))
	if err := r.Submit(t.Context(), op.Rewind{To: "x", Code: true}); code(err) != op.Unsupported {
		t.Errorf("without files: %v", err)
	}
	if err := r.Submit(t.Context(), op.Rewind{To: "x"}); code(err) != op.Unsupported {
		t.Errorf("of nothing: %v", err)
	}
	if err := r.Submit(t.Context(), op.Rewind{To: "x", Conversation: true}); code(err) != op.NoPrompt {
		t.Errorf("to nothing: %v", err)
	}
	r.prompt("Q1")
	for e := range r.watch {
		if _, ok := e.Body.(event.ToolStarted); ok {
			break
		}
	}
	if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Conversation: true}); code(err) != op.Busy {
		t.Errorf("in a turn: %v", err)
	}
	if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
		t.Fatal(err)
	}
}

// What a call changed that the end of its process cut off is recorded with it, once.
func TestCutCallIsRecorded(t *testing.T) {
	changed := effect.Changed{Files: []effect.Change{{Path: "/w/a", After: effect.Version{Kind: effect.IsFile, Hash: "a"}}}}
	calls := func(id string) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id, Name: "Bash", Input: []byte(`{}`)}}}, Stop: "tool_use"}
	}
	for name, x := range map[string]struct {
		log  []event.Body
		cut  effect.Changed
		want []string // calls with changes
	}{
		"a call ran":                {[]event.Body{calls("c1"), event.ToolStarted{Call: "c1", Name: "Bash"}}, changed, []string{"c1"}},
		"it changed nothing":        {[]event.Body{calls("c1"), event.ToolStarted{Call: "c1", Name: "Bash"}}, effect.Changed{}, nil},
		"it was asked about":        {[]event.Body{calls("c1")}, changed, nil},
		"it had ended":              {[]event.Body{calls("c1"), event.ToolStarted{Call: "c1", Name: "Bash"}, event.ToolFinished{Call: "c1", Name: "Bash", Text: "ok"}}, changed, nil},
		"the turn was over by then": {[]event.Body{calls("c1"), event.ToolStarted{Call: "c1", Name: "Bash"}, event.TurnEnded{ID: "t2", How: event.Done}}, changed, nil},
	} {
		log := &mem.Log{}
		r := start(t, log, nil, fake.Say("A1"))
		r.prompt("Q1")
		r.turns(1, nil)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		log = reopened(t, log, append([]event.Body{event.InputAccepted{ID: "second", Text: "Q2"}, event.TurnStarted{ID: "t2"}}, x.log...)...)
		for range 2 { // it is the result then
			r = start(t, log, func(c *session.Config) { c.Files = &takenBack{cut: x.cut} })
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			log = reopened(t, log)
		}
		var got []string
		for e, err := range log.After(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if f, ok := e.Body.(event.ToolFinished); ok {
				if c, ok := effect.Of[effect.Changed](f.Effects); ok && cmp.Diff(c, x.cut) == "" {
					got = append(got, f.Call)
				}
			}
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A prompt that waited when the process ended begins nothing because somebody
// looks at what a rewind would do, or does it; the next prompt takes it along.
func TestRewindBeginsNothingThatWaited(t *testing.T) {
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	log = reopened(t, log, event.InputQueued{ID: "left", Text: "left over"})
	r = start(t, log, func(c *session.Config) { c.Files = &takenBack{} }, fake.Say("A2"))
	for _, preview := range []bool{true, false} {
		if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Code: true, Preview: preview}); err != nil {
			t.Fatal(err)
		}
		if st := r.State(); st.Running != "" || len(st.Queue) != 1 {
			t.Errorf("preview %v: turn %q, %d wait", preview, st.Running, len(st.Queue))
		}
	}
}
