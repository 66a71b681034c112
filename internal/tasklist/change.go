package tasklist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/view"
)

// A Change is something that is done to a list: at most one of its parts is set. Without
// one it changes nothing, and the outcome is how the list is.
type Change struct {
	By      string   `json:"by,omitempty"` // the agent that makes it, "" is the session at the root
	Create  *Task    `json:"create,omitempty"`
	Update  *Update  `json:"update,omitempty"`
	Replace *Replace `json:"replace,omitempty"`
	// Leave is an agent that has ended: its steps go, and what it had not finished is
	// nobody's again.
	Leave string `json:"leave,omitempty"`
}

// An Update changes one task. What is nil stays.
type Update struct {
	ID          string          `json:"id"`
	Subject     *string         `json:"subject,omitempty"`
	Description *string         `json:"description,omitempty"`
	Active      *string         `json:"active,omitempty"`
	Status      view.TaskStatus `json:"status,omitempty"` // "" stays
	Owner       *string         `json:"owner,omitempty"`  // "" is nobody
	Blocks      []string        `json:"blocks,omitempty"` // tasks that wait for it from now on
	BlockedBy   []string        `json:"blocked_by,omitempty"`
	// Metadata are members to set; null takes one away.
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// A Replace has these be all tasks of who makes the change: of an agent its steps, of the
// session at the root all but the steps and what agents work on. Tasks of the same text
// are the same.
type Replace struct {
	Items []Item `json:"items"`
}

// An Item is a task of a Replace.
type Item struct {
	Subject string          `json:"subject"`
	Active  string          `json:"active,omitempty"`
	Status  view.TaskStatus `json:"status"`
}

// An Outcome is what became of a Change.
type Outcome struct {
	List List `json:"list"` // as it is now
	Was  List `json:"was"`  // before
	// Changed are the tasks that are not as they were: new ones, and those that are gone,
	// with the status view.Deleted. Order is of all, nil where only new ones came behind.
	Changed []Task   `json:"changed,omitempty"`
	Order   []string `json:"order,omitempty"`
	Task    Task     `json:"task,omitzero"` // that was created or updated
	// Fields are those of an update that had an effect, by their public names.
	Fields  []string `json:"fields,omitempty"`
	Refused string   `json:"refused,omitempty"` // why nothing changed, for the model; "" where it did
}

// refusal is why a change is not made.
type refusal string

func (r refusal) Error() string { return string(r) }

func no(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Change makes a change, as a whole or not at all.
func (l List) Change(c Change) Outcome {
	out := Outcome{List: l, Was: l}
	next := List{Tasks: slices.Clone(l.Tasks), Last: l.Last}
	var err error
	switch {
	case c.Create != nil:
		out.Task, err = next.create(*c.Create)
	case c.Update != nil:
		out.Task, out.Fields, err = next.update(c.By, *c.Update)
	case c.Replace != nil:
		err = next.replace(c.By, *c.Replace)
	case c.Leave != "":
		next.leave(c.Leave)
	}
	if err != nil {
		out.Refused, out.Task, out.Fields = err.Error(), Task{}, nil
		return out
	}
	out.List = next
	for _, t := range l.Tasks {
		if next.index(t.ID) < 0 {
			out.Changed = append(out.Changed, Task{ID: t.ID, Subject: t.Subject, Status: view.Deleted})
		}
	}
	for _, t := range next.Tasks {
		if was, ok := l.Get(t.ID); !ok || !reflect.DeepEqual(was, t) {
			out.Changed = append(out.Changed, t)
		}
	}
	if !slices.Equal(ids(l.Apply(out.Changed, nil).Tasks), ids(next.Tasks)) {
		out.Order = ids(next.Tasks)
	}
	return out
}

func ids(tasks []Task) (out []string) {
	for _, t := range tasks {
		out = append(out, t.ID)
	}
	return out
}

// add puts a task behind all others.
func (l *List) add(t Task) Task {
	l.Last++
	t.ID = strconv.Itoa(l.Last)
	l.Tasks = append(l.Tasks, t)
	return t
}

// room reports whether the list, or the steps of an agent, may have n tasks.
func (l *List) room(n int) error {
	if n > MaxTasks {
		return no("the list has %d tasks, and may have no more: delete those that are done", MaxTasks)
	}
	return nil
}

func (l *List) create(t Task) (Task, error) {
	n := 1
	for _, x := range l.Tasks {
		if !x.Step {
			n++
		}
	}
	t.Status, t.Metadata = view.Pending, merged(nil, t.Metadata)
	return l.add(t), l.room(n)
}

// merged are metadata with members set, or taken away where they are null.
func merged(was, with map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	maps.Copy(out, was)
	for k, v := range with {
		if v = bytes.TrimSpace(v); len(v) == 0 || string(v) == "null" {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (l *List) update(by string, u Update) (Task, []string, error) {
	i := l.index(u.ID)
	if i < 0 || l.Tasks[i].Step && l.Tasks[i].Owner != by {
		return Task{}, nil, no("there is no task %s", u.ID)
	}
	was := l.Tasks[i]
	if u.Status == view.Deleted {
		l.remove(u.ID)
		was.Status = view.Deleted
		return was, []string{"deleted"}, nil
	}
	var fields []string
	text := func(name string, to *string, at *string) {
		if to != nil && *to != *at {
			*at, fields = *to, append(fields, name)
		}
	}
	t := was
	text("subject", u.Subject, &t.Subject)
	text("description", u.Description, &t.Description)
	text("activeForm", u.Active, &t.Active)
	for _, b := range u.BlockedBy {
		if !slices.Contains(t.BlockedBy, b) {
			t.BlockedBy = append(slices.Clip(t.BlockedBy), b)
		}
	}
	if len(t.BlockedBy) > len(was.BlockedBy) {
		fields = append(fields, "blockedBy")
	}
	if t.Metadata = merged(was.Metadata, u.Metadata); !reflect.DeepEqual(was.Metadata, t.Metadata) {
		fields = append(fields, "metadata")
	}
	l.Tasks[i] = t
	blocks := false
	for _, id := range u.Blocks {
		j := l.index(id)
		if j < 0 {
			return t, nil, no("there is no task %s to block", id)
		}
		if !slices.Contains(l.Tasks[j].BlockedBy, u.ID) {
			l.Tasks[j].BlockedBy = append(slices.Clip(l.Tasks[j].BlockedBy), u.ID)
			blocks = true
		}
	}
	if blocks {
		fields = append(fields, "blocks")
	}
	if err := l.sound(u); err != nil {
		return t, nil, err
	}
	more, err := l.move(by, i, u.Status, u.Owner)
	return l.Tasks[i], append(fields, more...), err
}

// sound reports whether the edges of an update are of tasks that there are, and in no circle.
func (l *List) sound(u Update) error {
	for _, id := range u.BlockedBy {
		if l.index(id) < 0 {
			return no("there is no task %s to wait for", id)
		}
	}
	if len(u.BlockedBy)+len(u.Blocks) == 0 {
		return nil
	}
	if circle := l.circle(u.ID); circle != nil {
		return no("these tasks would wait for each other: %s", strings.Join(circle, " waits for "))
	}
	return nil
}

// circle is a way from a task over those that it waits for back to itself, nil for none.
func (l *List) circle(id string) []string {
	seen := map[string]bool{}
	var walk func(at string) []string
	walk = func(at string) []string {
		t, _ := l.Get(at)
		for _, b := range t.BlockedBy {
			if b == id {
				return []string{at, id}
			}
			if seen[b] {
				continue
			}
			seen[b] = true
			if rest := walk(b); rest != nil {
				return append([]string{at}, rest...)
			}
		}
		return nil
	}
	return walk(id)
}

// move gives a task another status, another owner, or both: a claim is both at once.
func (l *List) move(by string, i int, to view.TaskStatus, owner *string) (fields []string, err error) {
	was := l.Tasks[i]
	t := was
	taken := was.Status == view.InProgress && was.Owner != by
	if owner != nil {
		if by != "" && taken && *owner != was.Owner {
			return nil, l.others(was)
		}
		t.Owner = *owner
		if *owner == "" && to == "" && was.Status == view.InProgress {
			to = view.Pending // nobody works on it any more
		}
	}
	if to != "" {
		t.Status = to
	}
	if waits := l.Waits(was); len(waits) > 0 && t.Status != was.Status && t.Status != view.Pending {
		return nil, no("task %s waits for %s: do that first", was.ID, strings.Join(waits, ", "))
	}
	if to == view.InProgress && by != "" {
		switch {
		case taken, was.Owner != "" && was.Owner != by:
			return nil, l.others(was)
		case owner != nil && *owner != by:
			return nil, no("you are %s, and can start a task only as its owner yourself", by)
		}
		t.Owner = by
	}
	if t.Status != was.Status {
		fields = append(fields, "status")
	}
	if t.Owner != was.Owner {
		fields = append(fields, "owner")
	}
	l.Tasks[i] = t
	return fields, nil
}

// others says whose a task is.
func (l *List) others(t Task) error {
	who := t.Owner
	if who == "" {
		who = "the session that started you"
	}
	if t.Status == view.InProgress {
		return no("%s works on task %s: choose another one", who, t.ID)
	}
	return no("task %s is that of %s: choose another one", t.ID, who)
}

func (l *List) remove(id string) {
	l.Tasks = slices.DeleteFunc(l.Tasks, func(t Task) bool { return t.ID == id })
	for i, t := range l.Tasks {
		if slices.Contains(t.BlockedBy, id) {
			l.Tasks[i].BlockedBy = slices.DeleteFunc(slices.Clone(t.BlockedBy), func(b string) bool { return b == id })
			if len(l.Tasks[i].BlockedBy) == 0 {
				l.Tasks[i].BlockedBy = nil
			}
		}
	}
}

func (l *List) replace(by string, r Replace) error {
	mine := func(t Task) bool {
		if by != "" {
			return t.Step && t.Owner == by
		}
		return !t.Step
	}
	if err := l.room(len(r.Items)); err != nil {
		return err
	}
	var order []string
	named := map[string]bool{}
	for _, it := range r.Items {
		i := slices.IndexFunc(l.Tasks, func(t Task) bool { return mine(t) && !named[t.ID] && t.Subject == it.Subject })
		if i < 0 {
			t := l.add(Task{Subject: it.Subject, Status: view.Pending})
			if i = len(l.Tasks) - 1; by != "" {
				l.Tasks[i].Step, l.Tasks[i].Owner = true, by
			}
			named[t.ID] = true
		}
		named[l.Tasks[i].ID] = true
		order = append(order, l.Tasks[i].ID)
		l.Tasks[i].Active = it.Active
	}
	for _, t := range slices.Clone(l.Tasks) {
		if mine(t) && !named[t.ID] && (by != "" || t.Owner == "" || t.Status == view.Completed) {
			l.remove(t.ID)
		}
	}
	if err := l.moveAll(by, r.Items, order); err != nil {
		return err
	}
	var others, own []Task
	for _, t := range l.Tasks {
		if named[t.ID] {
			own = append(own, t)
		} else {
			others = append(others, t)
		}
	}
	arrange(own, order)
	if l.Tasks = append(own, others...); by != "" { // steps stay behind what is everybody's
		l.Tasks = append(others, own...)
	}
	return nil
}

// moveAll gives tasks the statuses of items: first what is done, in the order in which it
// can have been done, then what waits, then what begins.
func (l *List) moveAll(by string, items []Item, ids []string) error {
	for left := len(items); ; {
		var err error
		failed := 0
		for n, it := range items {
			if it.Status != view.Completed {
				continue
			}
			if _, e := l.move(by, l.index(ids[n]), it.Status, nil); e != nil {
				err = e
				failed++
			}
		}
		if err == nil {
			break
		}
		if failed == left {
			return err
		}
		left = failed
	}
	for _, status := range []view.TaskStatus{view.Pending, view.InProgress} {
		for n, it := range items {
			if it.Status != status {
				continue
			}
			if _, err := l.move(by, l.index(ids[n]), it.Status, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *List) leave(agent string) {
	for i, t := range l.Tasks {
		if t.Owner != agent || t.Step || t.Status == view.Completed {
			continue
		}
		l.Tasks[i].Owner, l.Tasks[i].Status = "", view.Pending
	}
	for _, t := range slices.Clone(l.Tasks) {
		if t.Step && t.Owner == agent {
			l.remove(t.ID)
		}
	}
}
