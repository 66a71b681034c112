package agenda_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agenda"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/transcript"
)

// A host is a session that folds what it is told, as a log would keep it.
type host struct {
	mu    sync.Mutex
	now   func() time.Time
	st    transcript.State
	came  []string // what the model was given, with the time
	busy  bool     // prompts stay in the queue
	notes []string
	no    error // what is submitted is refused
}

func (h *host) apply(b event.Body) {
	h.st = h.st.Apply(event.Event{Seq: h.st.Seq + 1, Time: h.now(), Body: b})
}

func (h *host) Submit(_ context.Context, o op.Op) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch o := o.(type) {
	case op.Prompt:
		if o.Command && !strings.HasPrefix(o.Text, "/known") {
			return &op.Refusal{Code: op.NoCommand, Text: "there is no such command"}
		}
		if h.no != nil {
			return h.no
		}
		if o.From.N <= h.st.Mail[o.From.ID] {
			return nil
		}
		id := fmt.Sprintf("p%d", h.st.Seq)
		h.apply(event.InputQueued{ID: id, Text: o.Text, From: o.From})
		if !h.busy {
			h.read(id, o.Text)
		}
	case op.Unqueue:
		h.apply(event.InputRemoved{ID: o.ID})
	default:
		return fmt.Errorf("%T", o)
	}
	return nil
}

// read gives the model what waits.
func (h *host) read(id, text string) {
	h.came = append(h.came, h.now().Format("15:04:05 ")+text)
	h.apply(event.InputAccepted{ID: id, Text: text})
}

// rest ends what the session works on.
func (h *host) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	for _, q := range h.st.Queue {
		h.read(q.ID, q.Text)
	}
}

func (h *host) Report(b event.Body) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.apply(b)
	return nil
}

func (h *host) State() transcript.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.st
}

func (h *host) Note(text string) error {
	h.notes = append(h.notes, text)
	return nil
}

// heard is what came since it was asked last.
func (h *host) heard() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := strings.Join(h.came, "\n")
	h.came = nil
	return out
}

// begin is an agenda of a new session. In a bubble of synctest it is midnight UTC on
// Saturday, 1 January 2000.
func begin(t *testing.T) (*agenda.Agenda, *host) {
	t.Helper()
	now := func() time.Time { return time.Now().UTC() }
	a, h := &agenda.Agenda{Now: now}, &host{now: now}
	a.Attend(h)
	t.Cleanup(a.Close)
	return a, h
}

func add(t *testing.T, a *agenda.Agenda, e schedule.Entry) agenda.Listed {
	t.Helper()
	l, err := a.Add(e, "call")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// It comes at its times, as often as it is due, and on the right day of the week.
func TestComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		l := add(t, a, schedule.Entry{Cron: "0 9 * * 1", Prompt: "look", Recurring: true})
		if l.Human != "Every Monday at 09:00" || l.Next.Before(time.Date(2000, 1, 3, 9, 0, 0, 0, time.UTC)) || l.Next.After(time.Date(2000, 1, 3, 9, 15, 0, 0, time.UTC)) {
			t.Errorf("%+v", l)
		}
		for week := range 3 {
			pass(time.Until(l.Next.Add(time.Duration(week)*7*24*time.Hour)) - time.Second)
			if got := h.heard(); got != "" {
				t.Errorf("too early: %s", got)
			}
			pass(time.Second)
			want := l.Next.Format("15:04:05 ") + "The schedule s1 (Every Monday at 09:00) has come, which you set. Nobody typed this now. Do what it says:\n\nlook"
			if got := h.heard(); got != want || time.Now().UTC().Weekday() != time.Monday {
				t.Errorf("%q", got)
			}
		}
	})
}

// Once is once, and what a person set for every 90 minutes comes then.
func TestOnceAndEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		add(t, a, schedule.Entry{Cron: "30 1 * * *", Prompt: "once"})
		add(t, a, schedule.Entry{Every: 5400, Prompt: "/known go", Recurring: true, By: schedule.ByPerson})
		pass(5 * time.Hour)
		got := strings.Split(h.heard(), "\n")
		want := []string{
			"01:30:00 The schedule s1 (Once on 2000-01-01 at 01:30:00) has come, which you set. Nobody typed this now. Do what it says:", "", "once", "01:30:00 /known go", "03:00:00 /known go", "04:30:00 /known go",
		}
		if len(got) != len(want) {
			t.Fatalf("%q", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
		if st := h.State(); len(st.Background) != 1 || len(st.Past) != 1 || st.Past[0].End.Status != event.TaskCompleted {
			t.Errorf("%+v %+v", st.Background, st.Past)
		}
	})
}

// What is deleted comes no more, also where it waits already.
func TestDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		h.busy = true
		l := add(t, a, schedule.Entry{Cron: "* * * * *", Prompt: "look", Recurring: true})
		pass(3 * time.Minute)
		if n := len(h.State().Queue); n != 1 {
			t.Fatalf("%d wait", n)
		}
		if r, ok := (agenda.Tasks{Agenda: a}).Stop(l.ID); !ok || r.IsErr {
			t.Fatal(r.Text, ok)
		}
		h.rest()
		pass(time.Hour)
		if got := h.heard(); got != "" || len(h.State().Background) != 0 {
			t.Error(got)
		}
		if _, err := a.Delete(l.ID, ""); err != agenda.ErrNone {
			t.Error(err)
		}
		// a new one has another ID, whose times are its own
		if again := add(t, a, schedule.Entry{Cron: "* * * * *", Prompt: "look again", Recurring: true}); again.ID == l.ID {
			t.Error(again.ID)
		}
		pass(70 * time.Second)
		if got := h.heard(); !strings.HasSuffix(got, "look again") {
			t.Error(got)
		}
	})
}

// A session that works for long is not flooded: one prompt stands for what was due.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		h.busy = true
		add(t, a, schedule.Entry{Cron: "* * * * *", Prompt: "look", Recurring: true})
		pass(20*time.Minute + 10*time.Second)
		h.rest()
		if got := h.heard(); strings.Count(got, "look") != 1 {
			t.Error(got)
		}
		pass(40 * time.Second)
		if got := h.heard(); strings.Count(got, "look") != 1 || !strings.Contains(got, "It was due 19 times, from 00:02 to 00:20, while adze did not run or worked on something else.") {
			t.Error(got)
		}
	})
}

// sleeper is begin with a machine that can sleep: its timers do not know of that.
func sleeper(t *testing.T) (a *agenda.Agenda, h *host, sleep func(time.Duration)) {
	t.Helper()
	var skew atomic.Int64
	now := func() time.Time { return time.Now().UTC().Add(time.Duration(skew.Load())) }
	a, h = &agenda.Agenda{Now: now}, &host{now: now}
	a.Attend(h)
	t.Cleanup(a.Close)
	return a, h, func(d time.Duration) { skew.Add(int64(d)) }
}

// After a night in which the machine slept one turn begins, and with skip none.
func TestSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h, sleep := sleeper(t)
		add(t, a, schedule.Entry{Cron: "*/10 * * * *", Prompt: "look", Recurring: true})
		add(t, a, schedule.Entry{Cron: "*/10 * * * *", Prompt: "skipped", Recurring: true, Missed: schedule.Skip})
		pass(time.Minute)
		sleep(12*time.Hour + 4*time.Minute)
		pass(time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 || !strings.Contains(got, "It was due 72 times, from 00:10 to 12:00, ") || strings.Contains(got, "skipped") {
			t.Error(got)
		}
		pass(7 * time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 || strings.Count(got, "skipped") != 1 || strings.Contains(got, "It was due") {
			t.Error(got)
		}
	})
}

// The next process of the session goes on where the last one was: nothing comes twice, and
// what was missed meanwhile comes once.
func TestResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		add(t, a, schedule.Entry{Cron: "0 * * * *", Prompt: "look", Recurring: true})
		add(t, a, schedule.Entry{Cron: "30 2 * * *", Prompt: "once"})
		pass(90 * time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 {
			t.Error(got)
		}
		a.Close()
		b := &agenda.Agenda{Now: h.now}
		b.Attend(h)
		pass(10 * time.Minute)
		if got := h.heard(); got != "" {
			t.Errorf("twice: %s", got)
		}
		b.Close()
		time.Sleep(3 * time.Hour)
		c := &agenda.Agenda{Now: h.now, Ready: func() bool { return false }}
		c.Attend(h)
		synctest.Wait()
		if got := h.heard(); got != "" {
			t.Errorf("nobody is there yet: %s", got)
		}
		pass(11 * time.Second)
		got := h.heard()
		if strings.Count(got, "\n\nlook") != 1 || strings.Count(got, "\n\nonce") != 1 || !strings.Contains(got, "It was due 3 times, from 02:00 to 04:00, ") || !strings.Contains(got, "It was due at 02:30, ") {
			t.Error(got)
		}
		c.Close()
		d := &agenda.Agenda{Now: h.now, Idle: true}
		d.Attend(h)
		pass(5 * time.Hour)
		if got := h.heard(); got != "" || len(d.List()) != 1 {
			t.Errorf("a run does not wait for schedules: %s", got)
		}
	})
}

// What cannot be given to the session is given when it can.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		h.no = fmt.Errorf("the disk is full")
		add(t, a, schedule.Entry{Cron: "5 * * * *", Prompt: "look"})
		pass(10 * time.Minute)
		h.mu.Lock()
		h.no = nil
		h.mu.Unlock()
		pass(time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 || !strings.Contains(got, "It was due at 00:05, ") {
			t.Error(got)
		}
	})
}

// After 30 days it ends, unless it is kept.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h, sleep := sleeper(t)
		add(t, a, schedule.Entry{Cron: "0 12 * * *", Prompt: "look", Recurring: true})
		add(t, a, schedule.Entry{Cron: "0 12 * * *", Prompt: "kept", Recurring: true, Permanent: true})
		for range 40 {
			sleep(24*time.Hour - time.Minute)
			pass(time.Minute)
		}
		if got := h.heard(); strings.Count(got, "look") != 30 || strings.Count(got, "kept") != 40 {
			t.Errorf("%d %d", strings.Count(got, "look"), strings.Count(got, "kept"))
		}
		if len(h.notes) != 1 || !strings.Contains(h.notes[0], "The schedule s1 (Every day at 12:00) has ended") || len(a.List()) != 1 {
			t.Errorf("%q %+v", h.notes, a.List())
		}
	})
}

// There is one wake-up at a time, and the model is told when it wakes for nothing.
func TestWakeup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := begin(t)
		for i := range 3 {
			_, noops, err := a.Wake(10*time.Minute, "the build takes long", "<<autonomous-loop-dynamic>>", i > 0, "")
			if err != nil || noops != i {
				t.Fatal(noops, err)
			}
			pass(time.Minute)
		}
		pass(8 * time.Minute)
		if got := h.heard(); got != "" {
			t.Error(got)
		}
		pass(time.Minute)
		if got := h.heard(); !strings.HasPrefix(got, "00:12:00 The wake-up has come that you set at 00:02 (the build takes long). Do what it says:\n\nGo on with the loop") {
			t.Error(got)
		}
		if a.Sleep() {
			t.Error("it had come")
		}
		if _, _, err := a.Wake(time.Hour, "later", "go on", false, ""); err != nil || !a.Sleep() {
			t.Error(err)
		}
		pass(2 * time.Hour)
		if got := h.heard(); got != "" {
			t.Error(got)
		}
	})
}

// Bounds, and what is refused.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := begin(t)
		for range schedule.Most {
			add(t, a, schedule.Entry{Cron: "0 12 * * *", Prompt: "look", Recurring: true})
		}
		if _, err := a.Add(schedule.Entry{Cron: "0 12 * * *", Prompt: "look"}, ""); err == nil || !strings.Contains(err.Error(), "has 50 schedules") {
			t.Error(err)
		}
		b := &agenda.Agenda{Now: time.Now, Refused: "not here"}
		if _, err := b.Add(schedule.Entry{Cron: "0 12 * * *", Prompt: "look"}, ""); err == nil || err.Error() != "not here" {
			t.Error(err)
		}
		l := task.List{agenda.Tasks{Agenda: a}}
		if r := l.Look(t.Context(), "s1", task.Look{}); !strings.HasPrefix(r.Text, "Every day at 12:00, next at 2000-01-01 12:") {
			t.Error(r.Text)
		}
		if b, n, err := l.Tail("s1", 5); string(b) != "look\n" || n < 50 || err != nil {
			t.Errorf("%q %d %v", b, n, err)
		}
	})
}
