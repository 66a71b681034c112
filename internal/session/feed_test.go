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
	mb := string(make([]byte, 1<<20))
	for _, b := range []event.Body{event.ToolOutput{Call: "1", S: mb}, event.TaskOutput{ID: "1", S: mb}} {
		f := newFeed(event.Everything)
		for range 4 {
			f.push(event.Event{Body: b})
		}
		if es, _ := f.take(); len(es) != 2 {
			t.Errorf("%T: %d items", b, len(es))
		}
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
