// Package agenda has prompts come by themselves: it keeps the schedules of a session, and
// gives the session what they say when they come. A schedule is a task beside the turns
// (event.TaskSchedule), so that the session's log keeps it: it ends when it was deleted or
// has come for the last time, and not with the process. When one comes, package schedule
// knows. This package decides nothing of what a prompt may do.
package agenda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/transcript"
)

// A Host is the session that prompts come to.
type Host interface {
	Submit(ctx context.Context, o op.Op) error
	Report(b event.Body) error
	State() transcript.State
	Note(text string) error
}

// Waits of an agenda.
const (
	// look is how often it is looked at the clock at least, while there are schedules: the
	// time that a machine sleeps is in no timer.
	look = 30 * time.Second
	// late is how long after its time something counts as missed.
	late = 2 * time.Minute
	// ready is how long it is waited for somebody, looking again after wait.
	ready, wait = 10 * time.Second, 250 * time.Millisecond
)

// wakeupID is the ID of what the model sets for itself: there is one at a time.
const wakeupID = "w1"

// An Agenda is the schedules of one session.
type Agenda struct {
	// Now is the time, in the zone in which schedules are meant.
	Now func() time.Time
	// Refused is why there can be no schedules, "" where there can.
	Refused string
	// Idle: nothing comes in this process. What is set is for the next one.
	Idle bool
	// Folder are the schedules of the folder that the session works in; nil: it has none.
	Folder *Folder
	// Ready reports whether who can answer questions is there, which is waited for a little;
	// nil waits for nobody.
	Ready func() bool

	mu      sync.Mutex // guards the rest; the session never waits for it
	host    Host
	list    []item
	number  int // of the newest ID
	noops   int // wake-ups in a row that came to nothing
	changed chan struct{}
	stop    context.CancelFunc // of what looks at the clock, nil while nothing does
	over    chan struct{}      // closed when that has ended
	closed  bool
	wrong   string // what was told of the folder's files
}

// An item is a schedule, and the time that it was set for when it came last.
type item struct {
	schedule.Entry
	last time.Time
	file string // of the folder, that it stands in; "" is one of the session
}

// sender is the ID by which the session knows what it says.
func (it item) sender() string {
	if it.file != "" {
		return ofFolder + it.ID
	}
	return it.ID
}

// ofFolder stands before the ID of a schedule of the folder.
const ofFolder = "folder:"

// Attend has prompts come to a session, and takes up the schedules that its log has.
func (a *Agenda) Attend(h Host) {
	st := h.State()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.host = h
	number := func(id string) {
		if n, err := strconv.Atoi(strings.TrimPrefix(id, "s")); err == nil {
			a.number = max(a.number, n)
		}
	}
	for _, t := range st.Past {
		number(t.ID)
	}
	for id := range st.Mail {
		number(id)
	}
	for id, t := range st.Background {
		if number(id); t.Schedule != nil {
			a.list = append(a.list, item{Entry: *t.Schedule, last: schedule.Numbered(st.Mail[id])})
		}
	}
	order.By(a.list, func(x, y item) int { return cmp.Compare(x.Created, y.Created) })
	a.wake()
}

// wake has the clock looked at now.
func (a *Agenda) wake() {
	switch {
	case a.closed || a.Idle || a.host == nil || a.stop == nil && len(a.list) == 0 && a.Folder == nil:
		return
	case a.stop == nil:
		var ctx context.Context
		ctx, a.stop = context.WithCancel(context.Background()) // ends with Close, which waits for it
		a.changed, a.over = make(chan struct{}, 1), make(chan struct{})
		go a.run(ctx, a.changed, a.over) // ends with ctx
	}
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// run looks at the clock until ctx ends.
func (a *Agenda) run(ctx context.Context, changed <-chan struct{}, over chan<- struct{}) {
	defer close(over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for waited := time.Duration(0); a.Ready != nil && waited < ready && !a.Ready(); waited += wait {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
		if d := a.tick(ctx); d > 0 {
			timer.Reset(d)
		} else {
			timer.Stop()
		}
	}
}

// Close ends what looks at the clock. The schedules stay in the session's log.
func (a *Agenda) Close() {
	a.mu.Lock()
	a.closed = true
	stop, over := a.stop, a.over
	a.mu.Unlock()
	if stop != nil {
		stop()
		<-over
	}
}

// tick gives the session what has come, and says how long to wait for the next: 0 for
// nothing.
func (a *Agenda) tick(ctx context.Context) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Now()
	var next time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for i := 0; i < len(a.list); i++ {
		it := &a.list[i]
		d, due := it.Due(it.last, now)
		if due && a.waits(it.sender()) {
			sooner(now.Add(look)) // it was not read yet: this one is told with the next
			continue
		}
		if due {
			if !a.come(it, d, now) {
				sooner(now.Add(look))
				continue
			}
			it.last = d.At
		}
		if it.Over(it.last, now) {
			a.ended(*it)
			a.list = slices.Delete(a.list, i, i+1)
			i--
			continue
		}
		sooner(it.Next(it.last, now.Location()))
	}
	if a.Folder != nil {
		sooner(now.Add(look)) // another process may change it
		sooner(a.folder(ctx, now))
	}
	if next.IsZero() {
		return 0
	}
	return min(max(next.Sub(now), time.Millisecond), look)
}

// folder gives the session what has come of the folder's schedules, and says when the next
// comes.
func (a *Agenda) folder(ctx context.Context, now time.Time) time.Time {
	got, next, err := a.Folder.claim(ctx, func(id string) bool { return a.waits(ofFolder + id) })
	if err != nil && ctx.Err() == nil && err.Error() != a.wrong {
		a.wrong = err.Error()
		_ = a.host.Report(event.Noted{Level: "warning", Text: "schedules of this folder: " + clip.Line(clip.Visible(a.wrong), 300)}) // a log that cannot be written says so with the next prompt
	}
	for _, c := range got {
		if a.come(&item{Entry: c.Entry, file: c.file}, c.due, now) {
			a.Folder.done(ctx, c)
		} else {
			a.Folder.unclaim(context.WithoutCancel(ctx), c) // it writes one file
		}
	}
	return next
}

// queued are the inputs of a schedule that the model has not read.
func (a *Agenda) queued(id string) (out []string) {
	for _, q := range a.host.State().Queue {
		if q.From != nil && q.From.Task && q.From.ID == id {
			out = append(out, q.ID)
		}
	}
	return out
}

func (a *Agenda) waits(id string) bool { return len(a.queued(id)) > 0 }

// come gives the session what a schedule says, and reports whether that is done.
func (a *Agenda) come(it *item, d schedule.Due, now time.Time) bool {
	onTime := now.Sub(d.At) <= late+it.Spread(d.At)
	if it.Missed == schedule.Skip {
		if !onTime {
			return true
		}
		d.First, d.Count, d.More = d.At, 1, false
	}
	p := op.Prompt{
		Text: said(*it, d, onTime, now) + "\n\n" + meant(it.Prompt), Verbatim: true, Later: true,
		From: &op.Sender{ID: it.sender(), N: schedule.Number(d.At), Task: true, Why: why(*it, d, onTime, now.Location())},
	}
	if it.By == schedule.ByPerson && strings.HasPrefix(it.Prompt, "/") {
		cmd := p
		cmd.Text, cmd.Command, cmd.With = it.Prompt, true, []op.Text{{Name: "schedule " + it.ID, Text: said(*it, d, onTime, now)}}
		var no *op.Refusal
		if err := a.host.Submit(context.Background(), cmd); !errors.As(err, &no) || no.Code != op.NoCommand {
			return err == nil
		}
	}
	return a.host.Submit(context.Background(), p) == nil
}

// ended records that a schedule comes no more.
func (a *Agenda) ended(it item) {
	e := event.TaskEnded{ID: it.ID, Status: event.TaskCompleted}
	if !it.Once() {
		e.Status, e.Killed = event.TaskStopped, "30 days are over"
		_ = a.host.Note(fmt.Sprintf("The schedule %s (%s) has ended, because it was set 30 days ago. Set it again where it is still needed.", it.ID, it.Human(a.Now().Location()))) // a session that is over needs no more
	}
	_ = a.host.Report(e) // else it is found over at the next start
}

// ErrNone says that there is no such schedule.
var ErrNone = errors.New("there is no such schedule")

// Add sets a schedule of the session, and says its ID. call is what set it, "" for a person.
func (a *Agenda) Add(e schedule.Entry, call string) (Listed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Now()
	e.Created = now.UnixMilli()
	switch err := e.Check(); {
	case a.Refused != "":
		return Listed{}, errors.New(a.Refused)
	case a.closed || a.host == nil:
		return Listed{}, errors.New("the session is over")
	case err != nil:
		return Listed{}, err
	case len(a.list) >= schedule.Most:
		return Listed{}, fmt.Errorf("this session has %d schedules, and can have no more; delete one first", schedule.Most)
	}
	if e.ID == "" {
		a.number++
		e.ID = "s" + strconv.Itoa(a.number)
	}
	it := item{Entry: e}
	if it.Next(time.Time{}, now.Location()).IsZero() {
		return Listed{}, errors.New("it would never come")
	}
	about := it.Human(now.Location()) + ": "
	if e.Wakeup != "" {
		about = "Wake-up " + strings.ToLower(about[:1]) + about[1:] + e.Wakeup + ": "
	}
	if err := a.host.Report(event.TaskStarted{ID: e.ID, Call: call, Kind: event.TaskSchedule, Text: about + clip.Line(clip.Visible(e.Prompt), 200), Schedule: &e}); err != nil {
		return Listed{}, err
	}
	a.list = append(a.list, it)
	a.wake()
	return it.listed(now), nil
}

// Wake sets when the model goes on by itself, and why, in the place of what it set before.
// noop: what it did last came to nothing; the number of times in a row is returned.
func (a *Agenda) Wake(in time.Duration, why, prompt string, noop bool, call string) (l Listed, noops int, err error) {
	if _, err := a.Delete(wakeupID, "another wake-up was set"); err != nil && !errors.Is(err, ErrNone) {
		return l, 0, err
	}
	a.mu.Lock()
	if a.noops++; !noop {
		a.noops = 0
	}
	noops = a.noops
	at := a.Now().Add(in + time.Second - 1).Truncate(time.Second)
	a.mu.Unlock()
	l, err = a.Add(schedule.Entry{ID: wakeupID, At: at.UnixMilli(), Prompt: prompt, Wakeup: why}, call)
	return l, noops, err
}

// Sleep takes back what Wake set, and reports whether there was something.
func (a *Agenda) Sleep() bool {
	_, err := a.Delete(wakeupID, "the model ended its loop")
	return err == nil
}

// Delete ends a schedule of the session for a reason. What it said and the model has not
// read, the model does not read any more. The error is ErrNone where there is none.
func (a *Agenda) Delete(id, why string) (schedule.Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(it item) bool { return it.ID == id })
	if i < 0 {
		return schedule.Entry{}, ErrNone
	}
	e := a.list[i].Entry
	a.unsay(id)
	if err := a.host.Report(event.TaskEnded{ID: id, Status: event.TaskStopped, Killed: why}); err != nil {
		return e, err
	}
	a.list = slices.Delete(a.list, i, i+1)
	return e, nil
}

// unsay takes back what a sender said and the model has not read.
func (a *Agenda) unsay(sender string) {
	for _, p := range a.queued(sender) {
		_ = a.host.Submit(context.Background(), op.Unqueue{ID: p}) // else a turn has just taken it
	}
}

// AddToFolder sets a schedule of the folder, as the person allowed.
func (a *Agenda) AddToFolder(ctx context.Context, e schedule.Entry) (Listed, error) {
	if a.Refused != "" {
		return Listed{}, errors.New(a.Refused)
	}
	if a.Folder == nil {
		return Listed{}, errors.New("this session has no folder for it: leave durable out")
	}
	l, err := a.Folder.Add(ctx, e)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wake()
	return l, err
}

// DeleteFromFolder deletes a schedule of the folder, as Folder.Delete.
func (a *Agenda) DeleteFromFolder(ctx context.Context, id string) (e schedule.Entry, left string, err error) {
	if a.Folder == nil {
		return e, "", ErrNone
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if e, left, err = a.Folder.Delete(ctx, id); err == nil {
		a.unsay(ofFolder + id)
	}
	return e, left, err
}

// A Listed is a schedule, and when it comes next.
type Listed struct {
	schedule.Entry
	Human string
	Next  time.Time
}

func (it item) listed(now time.Time) Listed {
	return Listed{it.Entry, it.Human(now.Location()), it.Next(it.last, now.Location())}
}

// List is the schedules of the session, oldest first.
func (a *Agenda) List() (out []Listed) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, it := range a.list {
		out = append(out, it.listed(a.Now()))
	}
	return out
}
