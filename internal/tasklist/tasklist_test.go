package tasklist_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/view"
)

func ptr(s string) *string { return &s }

// lines are a list in short: ID, status, text, owner and what it waits for.
func lines(l tasklist.List) string {
	var out []string
	for _, t := range l.Tasks {
		s := t.ID + " " + string(t.Status) + " " + t.Subject
		if t.Owner != "" {
			s += " @" + t.Owner
		}
		if t.Step {
			s += " step"
		}
		if len(t.BlockedBy) > 0 {
			s += " after " + strings.Join(t.BlockedBy, ",")
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// Each change is made to the list that the one before left.
func TestChanges(t *testing.T) {
	create := func(subject string) tasklist.Change {
		return tasklist.Change{Create: &tasklist.Task{Subject: subject}}
	}
	update := func(by string, u tasklist.Update) tasklist.Change {
		return tasklist.Change{By: by, Update: &u}
	}
	type step struct {
		c       tasklist.Change
		want    string // the list, or with "no: " why not
		fields  string
		changed string // IDs
	}
	for name, steps := range map[string][]step{
		"a task waits for another": {
			{c: create("parse"), want: "1 pending parse", changed: "1"},
			{c: create("run"), want: "1 pending parse; 2 pending run", changed: "2"},
			{c: update("", tasklist.Update{ID: "2", BlockedBy: []string{"1"}}), want: "1 pending parse; 2 pending run after 1", fields: "blockedBy", changed: "2"},
			{c: update("", tasklist.Update{ID: "2", BlockedBy: []string{"1"}}), want: "1 pending parse; 2 pending run after 1"},
			{c: update("", tasklist.Update{ID: "2", Status: view.InProgress}), want: "no: task 2 waits for 1: do that first"},
			{c: update("", tasklist.Update{ID: "2", Status: view.Completed}), want: "no: task 2 waits for 1: do that first"},
			{c: update("", tasklist.Update{ID: "1", BlockedBy: []string{"2"}}), want: "no: these tasks would wait for each other: 1 waits for 2 waits for 1"},
			{c: update("", tasklist.Update{ID: "2", Blocks: []string{"1"}, Subject: ptr("never")}), want: "no: these tasks would wait for each other: 2 waits for 1 waits for 2"},
			{c: update("", tasklist.Update{ID: "2", BlockedBy: []string{"2"}}), want: "no: these tasks would wait for each other: 2 waits for 2"},
			{c: update("", tasklist.Update{ID: "2", BlockedBy: []string{"9"}}), want: "no: there is no task 9 to wait for"},
			{c: update("", tasklist.Update{ID: "2", Blocks: []string{"9"}}), want: "no: there is no task 9 to block"},
			{c: update("", tasklist.Update{ID: "1", Status: view.Completed}), want: "1 completed parse; 2 pending run after 1", fields: "status", changed: "1"},
			{c: update("", tasklist.Update{ID: "2", Status: view.InProgress}), want: "1 completed parse; 2 in_progress run after 1", fields: "status", changed: "2"},
			{c: update("", tasklist.Update{ID: "1", Status: view.Deleted}), want: "2 in_progress run", fields: "deleted", changed: "1 2"},
			{c: update("", tasklist.Update{ID: "1", Status: view.Pending}), want: "no: there is no task 1"},
			{c: create("again"), want: "2 in_progress run; 3 pending again", changed: "3"},
		},
		"a claim is of one": {
			{c: create("one"), want: "1 pending one", changed: "1"},
			{c: update("ann", tasklist.Update{ID: "1", Status: view.InProgress}), want: "1 in_progress one @ann", fields: "status owner", changed: "1"},
			{c: update("bob", tasklist.Update{ID: "1", Status: view.InProgress, Owner: ptr("bob")}), want: "no: ann works on task 1: choose another one"},
			{c: update("bob", tasklist.Update{ID: "1", Owner: ptr("bob")}), want: "no: ann works on task 1: choose another one"},
			{c: update("ann", tasklist.Update{ID: "1", Status: view.InProgress, Owner: ptr("ann")}), want: "1 in_progress one @ann"},
			{c: update("ann", tasklist.Update{ID: "1", Status: view.InProgress, Owner: ptr("bob")}), want: "no: you are ann, and can start a task only as its owner yourself"},
			{c: update("ann", tasklist.Update{ID: "1", Owner: ptr("")}), want: "1 pending one", fields: "status owner", changed: "1"},
			{c: update("", tasklist.Update{ID: "1", Owner: ptr("bob")}), want: "1 pending one @bob", fields: "owner", changed: "1"},
			{c: update("ann", tasklist.Update{ID: "1", Status: view.InProgress}), want: "no: task 1 is that of bob: choose another one"},
			{c: update("bob", tasklist.Update{ID: "1", Status: view.InProgress}), want: "1 in_progress one @bob", fields: "status", changed: "1"},
			{c: tasklist.Change{Leave: "bob"}, want: "1 pending one", changed: "1"},
			{c: update("", tasklist.Update{ID: "1", Status: view.InProgress}), want: "1 in_progress one", fields: "status", changed: "1"},
			{c: update("bob", tasklist.Update{ID: "1", Status: view.InProgress}), want: "no: the session that started you works on task 1: choose another one"},
		},
		"metadata": {
			{c: tasklist.Change{Create: &tasklist.Task{Subject: "a", Metadata: map[string]json.RawMessage{"n": json.RawMessage("1"), "gone": json.RawMessage("null")}}}, want: "1 pending a", changed: "1"},
			{c: update("", tasklist.Update{ID: "1", Metadata: map[string]json.RawMessage{"m": json.RawMessage("[2]")}}), want: "1 pending a", fields: "metadata", changed: "1"},
			{c: update("", tasklist.Update{ID: "1", Metadata: map[string]json.RawMessage{"n": json.RawMessage(" null"), "m": json.RawMessage("null")}}), want: "1 pending a", fields: "metadata", changed: "1"},
			{c: update("", tasklist.Update{ID: "1", Metadata: map[string]json.RawMessage{"n": json.RawMessage("null")}}), want: "1 pending a"},
		},
		"the whole list at once": {
			{c: tasklist.Change{Replace: &tasklist.Replace{Items: []tasklist.Item{{Subject: "a", Status: view.InProgress}, {Subject: "b", Status: view.Pending}}}}, want: "1 in_progress a; 2 pending b", changed: "1 2"},
			{c: update("", tasklist.Update{ID: "2", BlockedBy: []string{"1"}}), want: "1 in_progress a; 2 pending b after 1", fields: "blockedBy", changed: "2"},
			{c: tasklist.Change{Replace: &tasklist.Replace{Items: []tasklist.Item{{Subject: "b", Status: view.InProgress}, {Subject: "a", Status: view.Pending}}}}, want: "no: task 2 waits for 1: do that first"},
			{c: tasklist.Change{Replace: &tasklist.Replace{Items: []tasklist.Item{{Subject: "c", Status: view.Pending}, {Subject: "b", Status: view.Completed}, {Subject: "a", Status: view.Completed}}}}, want: "3 pending c; 2 completed b after 1; 1 completed a", changed: "3 2 1"},
			{c: tasklist.Change{By: "ann", Replace: &tasklist.Replace{Items: []tasklist.Item{{Subject: "a", Status: view.InProgress}}}}, want: "3 pending c; 2 completed b after 1; 1 completed a; 4 in_progress a @ann step", changed: "4"},
			{c: update("ann", tasklist.Update{ID: "3", Status: view.InProgress}), want: "3 in_progress c @ann; 2 completed b after 1; 1 completed a; 4 in_progress a @ann step", fields: "status owner", changed: "3"},
			{c: update("bob", tasklist.Update{ID: "4", Status: view.Deleted}), want: "no: there is no task 4"},
			{c: tasklist.Change{Replace: &tasklist.Replace{}}, want: "3 in_progress c @ann; 4 in_progress a @ann step", changed: "2 1"},
			{c: tasklist.Change{Leave: "ann"}, want: "3 pending c", changed: "4 3"},
		},
		"the bound": {
			{c: tasklist.Change{Replace: &tasklist.Replace{Items: make([]tasklist.Item, tasklist.MaxTasks+1)}}, want: "no: the list has 200 tasks, and may have no more: delete those that are done"},
		},
	} {
		var l tasklist.List
		for i, s := range steps {
			out := l.Change(s.c)
			got := lines(out.List)
			if out.Refused != "" {
				got = "no: " + out.Refused
				if d := cmp.Diff(l, out.List); d != "" {
					t.Errorf("%s, step %d was refused and changed: %s", name, i, d)
				}
			}
			var changed []string
			for _, c := range out.Changed {
				changed = append(changed, c.ID)
			}
			slices.Sort(changed)
			want := strings.Fields(s.changed)
			slices.Sort(want)
			if got != s.want || strings.Join(out.Fields, " ") != s.fields || !slices.Equal(changed, want) {
				t.Errorf("%s, step %d:\n got %s\nwant %s\nfields %v, changed %v", name, i, got, s.want, out.Fields, changed)
			}
			if d := cmp.Diff(out.List, l.Apply(out.Changed, out.Order), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s, step %d: the changes do not make the list: %s", name, i, d)
			}
			l = out.List
		}
	}
}

func TestViews(t *testing.T) {
	var l tasklist.List
	for _, c := range []tasklist.Change{
		{By: "ann", Replace: &tasklist.Replace{Items: []tasklist.Item{{Subject: "look", Status: view.Pending}}}},
		{Create: &tasklist.Task{Subject: "parse", Active: "parsing"}},
		{Create: &tasklist.Task{Subject: "run"}},
		{Update: &tasklist.Update{ID: "3", BlockedBy: []string{"2"}, Owner: ptr("bob")}},
	} {
		out := l.Change(c)
		if out.Refused != "" {
			t.Fatal(out.Refused)
		}
		l = out.List
	}
	parse, run := view.Task{ID: "2", Text: "parse", Active: "parsing", Status: view.Pending}, view.Task{ID: "3", Text: "run", Status: view.Pending, Owner: "bob", Waits: []string{"2"}}
	look := view.Task{ID: "1", Text: "look", Status: view.Pending, Owner: "ann", Step: true}
	for name, c := range map[string]struct{ got, want []view.Task }{
		"all":  {l.All(), []view.Task{parse, run, look}},
		"root": {l.View(l.For("")), []view.Task{parse, run}},
		"ann":  {l.View(l.For("ann")), []view.Task{look, parse, run}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got := l.Blocks("2"); !slices.Equal(got, []string{"3"}) || l.Free("2") != nil {
		t.Errorf("blocks %v", got)
	}
	l = l.Change(tasklist.Change{Update: &tasklist.Update{ID: "2", Status: view.Completed}}).List
	if got := l.Free("2"); !slices.Equal(got, []string{"3"}) {
		t.Errorf("free %v", got)
	}
	if got := lines(tasklist.Of([]view.Task{{Text: "a", Status: view.Completed}, {Text: "b", Status: view.Pending}})); got != "1 completed a; 2 pending b" {
		t.Error(got)
	}
}

// Whatever agents do, in whatever order: nothing waits for itself, an ID is that of one
// task for ever, nothing starts or is done before what it waits for, a task that somebody
// works on is not somebody else's until it was given up, and the events make the same list.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l, folded tasklist.List
		seen := map[string]bool{}
		agents := []string{"", "ann", "bob"}
		id := rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "id")) })
		status := rapid.SampledFrom([]view.TaskStatus{"", view.Pending, view.InProgress, view.Completed, view.Deleted})
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			c := tasklist.Change{By: rapid.SampledFrom(agents).Draw(t, "by")}
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0, 1, 2:
				c.Create = &tasklist.Task{Subject: fmt.Sprint("s", rapid.IntRange(0, 4).Draw(t, "subject"))}
			case 3:
				r := &tasklist.Replace{}
				for range rapid.IntRange(0, 4).Draw(t, "items") {
					r.Items = append(r.Items, tasklist.Item{Subject: fmt.Sprint("s", rapid.IntRange(0, 4).Draw(t, "subject")), Status: rapid.SampledFrom([]view.TaskStatus{view.Pending, view.InProgress, view.Completed}).Draw(t, "status")})
				}
				c.Replace = r
			case 4:
				c.Leave = rapid.SampledFrom(agents[1:]).Draw(t, "leave")
			default:
				u := &tasklist.Update{ID: id.Draw(t, "id"), Status: status.Draw(t, "status"), BlockedBy: rapid.SliceOfN(id, 0, 2).Draw(t, "after"), Blocks: rapid.SliceOfN(id, 0, 2).Draw(t, "before")}
				if rapid.Bool().Draw(t, "owned") {
					u.Owner = ptr(rapid.SampledFrom(agents).Draw(t, "owner"))
				}
				c.Update = u
			}
			out := l.Change(c)
			if out.Refused != "" {
				if d := cmp.Diff(l, out.List); d != "" {
					t.Fatalf("it was refused and changed: %s", d)
				}
				continue
			}
			folded = folded.Apply(out.Changed, out.Order)
			if d := cmp.Diff(out.List, folded, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("the events make another list: %s", d)
			}
			check(t, c, l, out.List, seen)
			l = out.List
		}
	})
}

func check(t *rapid.T, c tasklist.Change, was, now tasklist.List, seen map[string]bool) {
	there := map[string]bool{}
	for _, x := range now.Tasks {
		old, before := was.Get(x.ID)
		if there[x.ID] || !before && seen[x.ID] {
			t.Fatalf("the ID %s is used again", x.ID)
		}
		there[x.ID], seen[x.ID] = true, true
		for _, b := range x.BlockedBy {
			if _, ok := now.Get(b); !ok {
				t.Fatalf("task %s waits for %s, which is not there", x.ID, b)
			}
		}
		if (x.Status == view.InProgress || x.Status == view.Completed) && (!before || old.Status != x.Status) && c.Replace == nil && len(now.Waits(x)) > 0 {
			t.Fatalf("task %s is %s and waits for %v", x.ID, x.Status, now.Waits(x))
		}
		if before && old.Status == view.InProgress && x.Status == view.InProgress && old.Owner != x.Owner && c.By != "" && c.By != old.Owner {
			t.Fatalf("%s took task %s from %s", c.By, x.ID, old.Owner)
		}
		if x.Status == view.InProgress && c.By != "" && (!before || old.Status != view.InProgress) && x.Owner != c.By {
			t.Fatalf("%s started task %s as %q", c.By, x.ID, x.Owner)
		}
	}
	// Taking away what waits for nothing takes away all, unless some wait for each other.
	left := slices.Clone(now.Tasks)
	for len(left) > 0 {
		n := len(left)
		left = slices.DeleteFunc(left, func(x tasklist.Task) bool {
			return !slices.ContainsFunc(x.BlockedBy, func(b string) bool {
				return slices.ContainsFunc(left, func(y tasklist.Task) bool { return y.ID == b && y.ID != x.ID }) || b == x.ID
			})
		})
		if len(left) == n {
			t.Fatalf("these wait for each other: %v", left)
		}
	}
}
