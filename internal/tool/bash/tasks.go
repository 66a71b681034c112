package bash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pace"
	"github.com/adze-agent/adze/internal/tool"
)

// maxBackground is how many tasks may run in the background at once.
const maxBackground = 32

// keepFinished is how many finished tasks can still be read.
const keepFinished = 64

// A State is where a task stands.
type State string

// States of a task.
const (
	Running State = "running"
	Exited  State = "exited"
	Killed  State = "killed"
)

// A Task is a command in the background as it stands now.
type Task struct {
	ID      string // "b1", "b2", …; of a monitor "m3"
	Kind    string // event.TaskShell or event.TaskMonitor
	Call    string // the call that started it
	Command string // of a monitor, what is waited for
	State   State
	Exit    int    // once it is not running
	Note    string // why it was killed
	Stopped bool   // somebody asked for that
	Closed  bool   // it ended with the session
	Late    bool   // its time was over
	Started time.Time
	Ended   time.Time // zero while it runs
	Size    int64     // bytes written so far
	Path    string    // the file with its output, "" when there is none
	Tells   int       // how often it told of lines
}

// Tasks knows every command that runs, and those in the background also after
// their end.
type Tasks struct {
	conf   Config
	runner *runner // of the commands
	table  *proc.Table
	disk   *proc.Disk
	wg     sync.WaitGroup // one for each job that is not over

	mu      sync.Mutex   // guards the fields below
	jobs    []*job       // foreground jobs leave when they end
	spilled []proc.Saved // what foreground jobs left, oldest first
	last    int          // number of the last background id
	dir     string
	ownDir  bool
	closed  bool
	watcher Watcher
}

// A Watcher is told of tasks in the background: of their start, what they
// write from then on, and their end, each after the one before it. None of it
// may block or call back. Started is told while no task can end.
type Watcher interface {
	Started(Task)
	Output(id, s string)
	// Told gets lines of a monitor, in a text that is clean and bounded.
	Told(t Task, lines string)
	Ended(Task)
}

// Watch has w told of what comes from now on.
func (t *Tasks) Watch(w Watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watcher = w
}

// A process is what a job waits for: a command, or work of this process.
type process interface {
	Done() <-chan struct{}
	Stop(grace time.Duration)
	Status() proc.Status
	Keep()
}

// A job is one started command.
type job struct {
	tasks   *Tasks
	kind    string // as of event.TaskStarted
	call    string
	command string
	watched *Watch // nil: its lines are told to nobody
	pace    *pace.Pacer
	errs    chan struct{} // closed when its standard error has ended; nil where that is no stream of its own
	started time.Time
	out     *proc.Output
	masked  func(io.Writer) io.Writer
	mask    io.Writer
	p       process
	ready   chan struct{} // closed when p is set, or the start went wrong
	hand    *handover
	state   end           // what the shell left behind; set before over
	lost    error         // why it cannot be used; set before over
	over    chan struct{} // closed when it ended and its output is complete

	// Guarded by tasks.mu.
	id    string        // "" in the foreground
	moved chan struct{} // closed when it goes to the background
	// reported is closed when all that it wrote there was told; nil when nobody is told.
	reported chan struct{}
	ended    time.Time
	lasts    time.Duration // that it may run in the background
	deadline *time.Timer   // of that, nil in the foreground
	note     string        // why it was killed
	read     int64         // how far it was looked at
	left     []string      // what became of what it left; told with its end
	tells    int           // how often it told of lines
	size     int           // of what it told, in bytes
	// blocked says what the sandbox blocked when it failed; nil once that was told,
	// and for a command outside.
	blocked func(exit int, output string) string
}

func newTasks(c Config) *Tasks {
	return &Tasks{conf: c, table: proc.New(proc.Config{Limits: c.Limits, Account: c.Account, Guardian: c.Guardian, Groups: c.Groups}), disk: proc.NewDisk(proc.DiskMax), dir: c.Temp}
}

// temp is the private folder, made when first needed.
func (t *Tasks) temp() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		dir, err := os.MkdirTemp("", "adze-")
		if err != nil {
			return "", err
		}
		t.dir, t.ownDir = dir, true
	}
	return t.dir, nil
}

// start runs c as a job; the values are masked in what it prints.
func (t *Tasks) start(c proc.Command, h *handover, in input, env tool.Env, masked []string) (*job, error) {
	j := t.newJob(h, in, env)
	if err := t.enter(j, in, env, masked); err != nil {
		refuse(c, h)
		return nil, err
	}
	if in.watch != nil {
		if err := j.apart(&c); err != nil {
			refuse(c, h)
			t.leave(j)
			return nil, err
		}
	}
	p, err := t.table.Start(c, j.mask)
	if err != nil {
		h.drop()
		t.leave(j)
		return nil, startError(err)
	}
	t.begin(j, p, in)
	return j, nil
}

func (t *Tasks) newJob(h *handover, in input, env tool.Env) *job {
	return &job{
		tasks: t, kind: event.TaskShell, call: env.Call, command: in.shown(), started: t.conf.Now(), hand: h, watched: in.watch,
		ready: make(chan struct{}), over: make(chan struct{}), moved: make(chan struct{}),
	}
}

// enter gives a job its place among the others, and its output.
func (t *Tasks) enter(j *job, in input, env tool.Env, masked []string) error {
	temp, err := t.temp()
	if err != nil {
		return err
	}
	t.room()
	base := cmp.Or(env.Scratch, temp)
	path := filepath.Join(base, "tool-results", fileName(env.Call)+".txt")
	t.mu.Lock()
	defer t.mu.Unlock()
	if in.Background {
		if t.running() >= maxBackground {
			return fmt.Errorf("%d tasks run in the background already; end one with TaskStop first", maxBackground)
		}
		j.id = t.nextID(in.watch != nil)
		path = filepath.Join(base, "tasks", j.id+".output")
		if env.Call != "" {
			path = filepath.Join(base, "tasks", j.id+"-"+fileName(env.Call)+".output")
		}
	}
	if t.closed {
		return proc.ErrClosed
	}
	j.out = proc.NewOutput(proc.OutputConfig{Path: path, Disk: t.disk, Over: j.tooMuch})
	if in.Background {
		j.out.Save()
	}
	j.masked = func(w io.Writer) io.Writer {
		if t.conf.Mask == nil {
			return w
		}
		return t.conf.Mask(w, masked)
	}
	if in.watch != nil {
		j.watching()
	}
	j.mask = j.masked(j.sink())
	t.wg.Add(1)
	t.jobs = append(t.jobs, j)
	return nil
}

// leave takes back what enter did, of a job that was not started.
func (t *Tasks) leave(j *job) {
	close(j.ready)
	t.mu.Lock()
	t.jobs = slices.DeleteFunc(t.jobs, func(x *job) bool { return x == j })
	t.mu.Unlock()
	if j.errs != nil {
		<-j.errs
	}
	j.told()
	t.wg.Done()
	j.out.Close()
	_ = j.out.Remove()
}

// begin has a job run with its process.
func (t *Tasks) begin(j *job, p process, in input) {
	t.mu.Lock()
	j.p = p
	if in.Background {
		j.bound(in.lasts())
		j.announce(0)
	}
	t.mu.Unlock()
	close(j.ready)
	j.hand.collect()
	go j.watch() // ends when the command does
}

// refuse lets go of a command that is not started.
func refuse(c proc.Command, h *handover) {
	for _, f := range c.Files {
		_ = f.Close()
	}
	h.drop()
	if c.After != nil {
		c.After()
	}
}

// startError says what is wrong in plain words.
func startError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("starting %s: %w", pe.Path, pe.Err)
	}
	return err
}

// fileName makes a call's id, which a provider chose, safe as a file name.
func fileName(call string) string {
	b := []byte(call)
	for i, c := range b {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "output-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	return string(b[:min(len(b), 100)])
}

// nextID returns the next background id; t.mu is held.
func (t *Tasks) nextID(monitor bool) string {
	t.last++
	if monitor {
		return "m" + strconv.Itoa(t.last)
	}
	return "b" + strconv.Itoa(t.last)
}

// tooMuch ends a job whose output has no end.
func (j *job) tooMuch() {
	j.kill(fmt.Sprintf("killed: it wrote more than %s", clip.Size(proc.OutputMax)), 0)
}

// kill ends j and notes why, unless it has ended.
func (j *job) kill(why string, grace time.Duration) {
	<-j.ready
	t := j.tasks
	t.mu.Lock()
	if j.ended.IsZero() && j.note == "" {
		j.note = why
	}
	t.mu.Unlock()
	if j.p != nil {
		j.p.Stop(grace)
	}
}

// announce tells that j is in the background, and from then on what it writes
// behind its first bytes; tasks.mu is held, so that its end is not told before.
func (j *job) announce(first int64) {
	if w, id := j.tasks.watcher, j.id; w != nil {
		w.Started(j.task())
		j.reported = make(chan struct{})
		j.tasks.wg.Go(func() { // ends when the command does
			defer close(j.reported)
			j.report(first, func(s string) { w.Output(id, s) })
		})
	}
}

// report shows what j writes behind its first bytes, until it is over.
func (j *job) report(first int64, show func(string)) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	feed := feed{out: j.out, show: show, at: first}
	for {
		select {
		case <-tick.C:
			feed.send()
		case <-j.over:
			feed.send()
			return
		}
	}
}

// watch waits for the end.
func (j *job) watch() {
	t := j.tasks
	defer t.wg.Done()
	<-j.p.Done()
	flush(j.mask)
	if j.errs != nil {
		<-j.errs
	}
	j.told()
	j.out.Close()
	if j.state, j.lost = j.hand.finish(); j.p.Status().Signal != "" {
		j.state, j.lost = end{}, nil // a shell that was killed wrote nothing
	}
	t.mu.Lock()
	if j.deadline != nil {
		j.deadline.Stop()
	}
	j.ended = t.conf.Now()
	if over := j.p.Status().Over; j.note == "" && over != "" {
		j.note = "killed: " + over
	}
	if j.id == "" {
		t.jobs = slices.DeleteFunc(t.jobs, func(x *job) bool { return x == j })
		if left, ok := j.out.Saved(); ok {
			t.spilled = append(t.spilled, left)
		}
	}
	task, w, reported := j.task(), t.watcher, j.reported
	t.mu.Unlock()
	close(j.over)
	if task.ID != "" && t.conf.Quarantined != nil {
		left := t.conf.Quarantined(context.Background()) // ends with the turn in which it asks
		t.mu.Lock()
		j.left = left
		t.mu.Unlock()
	}
	if task.ID != "" && w != nil {
		if reported != nil {
			<-reported // its last words come before its end
		}
		w.Ended(task)
	}
}

// task describes j; tasks.mu is held.
func (j *job) task() Task {
	k := Task{
		ID: j.id, Kind: j.kind, Call: j.call, Command: j.command, State: Running, Tells: j.tells,
		Started: j.started, Ended: j.ended, Size: j.out.Total(), Path: j.out.Kept().Path, Note: j.note,
	}
	if !j.ended.IsZero() {
		k.State, k.Exit = Exited, j.p.Status().Code
		if j.note != "" {
			k.State, k.Stopped, k.Closed, k.Late = Killed, j.note == onRequest, j.note == atClose, j.note == j.atDeadline()
		}
	}
	return k
}

// List returns the background tasks in the order they were started.
func (t *Tasks) List() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Task
	for _, j := range t.jobs {
		if j.id != "" {
			out = append(out, j.task())
		}
	}
	return out
}

// Running returns the background tasks that run.
func (t *Tasks) Running() []Task {
	return slices.DeleteFunc(t.List(), func(k Task) bool { return k.State != Running })
}

// get finds a background job.
func (t *Tasks) get(id string) (*job, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.jobs {
		if j.id == id && id != "" {
			return j, true
		}
	}
	return nil, false
}

// Why a task ended that Stop ended, or Close.
const (
	onRequest = "killed on request"
	atClose   = "killed: the session ended"
)

// Number has the next task in the background be numbered higher than these are, of earlier
// processes: no ID means two tasks of a session.
func (t *Tasks) Number(ids iter.Seq[string]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range ids {
		if n, err := strconv.Atoi(strings.TrimLeft(id, "bm")); err == nil && n > 0 {
			t.last = max(t.last, n)
		}
	}
}

// Close ends everything and waits until nothing is left: grace is the time
// between TERM and KILL. Nothing starts afterwards.
func (t *Tasks) Close(grace time.Duration) {
	t.mu.Lock()
	t.closed = true
	for _, j := range t.jobs {
		if j.ended.IsZero() && j.note == "" {
			j.note = atClose
		}
	}
	t.mu.Unlock()
	t.table.Close(grace)
	t.wg.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ownDir {
		_ = os.RemoveAll(t.dir)
	}
}

// room deletes the oldest outputs until a new one fits on disk, and forgets
// the oldest finished tasks.
func (t *Tasks) room() {
	t.mu.Lock()
	defer t.mu.Unlock()
	finished := 0
	for _, j := range t.jobs {
		if j.id != "" && !j.ended.IsZero() {
			finished++
		}
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool {
		if finished <= keepFinished || j.id == "" || j.ended.IsZero() {
			return false
		}
		finished--
		_ = j.out.Remove() // a file that is gone already is fine
		return true
	})
	for t.disk.Left() < proc.FileSize && len(t.spilled) > 0 {
		_ = t.spilled[0].Remove()
		t.spilled = t.spilled[1:]
	}
	for _, j := range t.jobs {
		if t.disk.Left() >= proc.FileSize {
			return
		}
		if j.id != "" && !j.ended.IsZero() {
			_ = j.out.Remove()
		}
	}
}
