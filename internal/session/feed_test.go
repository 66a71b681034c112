package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
)

// Of what a slow reader has not taken, deltas of one thing become one, in
// front of others they do not, and the first of the next one stays apart.
func TestFeedJoinsDeltas(t *testing.T) {
	text := func(at int, s string) event.Body { return event.TextDelta{At: at, S: s} }
	thought := func(at int, s string) event.Body { return event.ThinkingDelta{At: at, S: s} }
	in := func(call string, at int, s string) event.Body { return event.ToolInputDelta{Call: call, At: at, S: s} }
	out := func(call, s string) event.Body { return event.ToolOutput{Call: call, S: s} }
	task := func(id, s string) event.Body { return event.TaskOutput{ID: id, S: s} }
	for name, c := range map[string]struct{ push, want []event.Body }{
		"text":                {[]event.Body{text(0, "a"), text(1, "b"), text(2, "c")}, []event.Body{text(0, "abc")}},
		"the next text":       {[]event.Body{text(0, "a"), text(0, "b"), text(1, "c")}, []event.Body{text(0, "a"), text(0, "bc")}},
		"thoughts":            {[]event.Body{thought(0, "a"), thought(1, "b")}, []event.Body{thought(0, "ab")}},
		"the next thought":    {[]event.Body{thought(0, "a"), thought(0, "b")}, []event.Body{thought(0, "a"), thought(0, "b")}},
		"text after thoughts": {[]event.Body{thought(0, "a"), text(1, "b")}, []event.Body{thought(0, "a"), text(1, "b")}},
		"thoughts after text": {[]event.Body{text(0, "a"), thought(1, "b")}, []event.Body{text(0, "a"), thought(1, "b")}},
		"arguments":           {[]event.Body{in("1", 0, "a"), in("1", 1, "b")}, []event.Body{in("1", 0, "ab")}},
		"of another call":     {[]event.Body{in("1", 0, "a"), in("2", 1, "b")}, []event.Body{in("1", 0, "a"), in("2", 1, "b")}},
		"from the beginning":  {[]event.Body{in("1", 0, "a"), in("1", 0, "b")}, []event.Body{in("1", 0, "a"), in("1", 0, "b")}},
		"after text":          {[]event.Body{text(0, "a"), in("1", 1, "b")}, []event.Body{text(0, "a"), in("1", 1, "b")}},
		"output":              {[]event.Body{out("1", "a"), out("1", "b"), out("2", "c")}, []event.Body{out("1", "ab"), out("2", "c")}},
		"output after text":   {[]event.Body{text(0, "a"), out("1", "b")}, []event.Body{text(0, "a"), out("1", "b")}},
		"a task's output":     {[]event.Body{task("1", "a"), task("1", "b"), task("2", "c")}, []event.Body{task("1", "ab"), task("2", "c")}},
		"a task after a call": {[]event.Body{out("1", "a"), task("1", "b")}, []event.Body{out("1", "a"), task("1", "b")}},
		"what is between":     {[]event.Body{text(0, "a"), event.Noted{Text: "n"}, text(1, "b")}, []event.Body{text(0, "a"), event.Noted{Text: "n"}, text(1, "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(event.Everything)
			for _, b := range c.push {
				f.push(event.Event{Body: b})
			}
			var got []event.Body
			es, behind := f.take()
			for _, e := range es {
				got = append(got, e.Body)
			}
			if d := cmp.Diff(c.want, got); d != "" || behind {
				t.Errorf("(-want +got)\n%s, behind: %t", d, behind)
			}
			if es, _ := f.take(); len(es) != 0 {
				t.Errorf("taken twice: %v", es)
			}
		})
	}
}

// Output is joined up to a size, so that no line of it grows without bound.
func TestFeedBoundsOutput(t *testing.T) {
	half := string(make([]byte, 1<<19))
	for _, b := range []event.Body{event.ToolOutput{Call: "1", S: half}, event.TaskOutput{ID: "1", S: half}, event.TextDelta{At: 1, S: half}} {
		f := newFeed(event.Everything)
		for range 4 {
			f.push(event.Event{Body: b})
		}
		es, _ := f.take()
		var sizes []int
		for _, e := range es {
			switch b := e.Body.(type) {
			case event.ToolOutput:
				sizes = append(sizes, len(b.S))
			case event.TaskOutput:
				sizes = append(sizes, len(b.S))
			case event.TextDelta:
				sizes = append(sizes, len(b.S))
			}
		}
		if d := cmp.Diff([]int{1 << 20, 1 << 20}, sizes); d != "" {
			t.Errorf("%T: %s", b, d)
		}
	}
}

// What a reader does not take is kept up to a number of events, and then the
// reader is told to read the log.
func TestFeedIsBounded(t *testing.T) {
	f := newFeed(event.Everything)
	for i := range maxBehind + 1 {
		if es := f.items; len(es) > maxBehind {
			t.Fatalf("%d events are kept", len(es))
		}
		f.push(event.Event{Seq: event.Seq(i + 1), Body: event.Noted{Text: "n"}})
	}
	if es, behind := f.take(); !behind || len(es) != 1 || es[0].Seq != maxBehind+1 {
		t.Errorf("%d events, behind: %t", len(es), behind)
	}
	f.push(event.Event{Seq: maxBehind + 2, Body: event.Noted{Text: "n"}})
	if es, behind := f.take(); behind || len(es) != 1 {
		t.Errorf("afterwards %d events, behind: %t", len(es), behind)
	}
}

func TestOnlyAsks(t *testing.T) {
	ask, run := policy.Person{}, policy.Exec{}
	for _, c := range []struct {
		in   []policy.Action
		want bool
	}{{nil, false}, {[]policy.Action{ask}, true}, {[]policy.Action{run}, false}, {[]policy.Action{ask, run}, false}} {
		if got := onlyAsks(c.in); got != c.want {
			t.Errorf("%v: %t", c.in, got)
		}
	}
}

// A reply streams from its beginning to whatever ends it; the number is that of the
// newest event that readers find in the log.
func TestReplying(t *testing.T) {
	f := fan{feeds: map[*feed]struct{}{}}
	for _, c := range []struct {
		send event.Event
		want bool
	}{
		{event.Event{Seq: 1, Body: event.TurnStarted{}}, false},
		{event.Event{Body: event.ReplyStarted{}}, true},
		{event.Event{Body: event.TextDelta{}}, true},
		{event.Event{Seq: 2, Body: event.Noted{}}, true},
		{event.Event{Seq: 3, Body: event.Replied{}}, false},
		{event.Event{Body: event.ReplyStarted{}}, true},
		{event.Event{Seq: 4, Body: event.Dropped{}}, false},
		{event.Event{Body: event.ReplyStarted{}}, true},
		{event.Event{Seq: 5, Body: event.TurnEnded{}}, false},
	} {
		f.send(c.send)
		last, got := f.replying()
		if _, live := c.send.Body.(event.Live); got != c.want || !live && last != c.send.Seq {
			t.Errorf("behind %T: %d, %t", c.send.Body, last, got)
		}
	}
}
