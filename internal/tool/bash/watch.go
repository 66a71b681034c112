package bash

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pace"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// A Watch is a task that tells of lines while it runs: what the tool Monitor starts.
type Watch struct {
	What  string        // what is waited for, in a few words
	Lasts time.Duration // then it ends
	// Command is run by the shell, and each line of its standard output is told. "": Work
	// is done, and each line that it writes is.
	Command string
	// Work ends with ctx, or when there is nothing more to tell. Its error says why.
	Work func(ctx context.Context, w io.Writer) error
}

// Bounds of what a task tells of its lines. The pauses grow, so that one of half an hour
// tells at most some 80 times.
const (
	maxLines  = 20       // of a notice; more are counted
	maxNotice = 4 << 10  // bytes of a notice
	maxTold   = 64 << 10 // bytes of all notices; then it ends
)

// shown is the command or, of a monitor, what is waited for.
func (in input) shown() string {
	if in.watch != nil {
		return in.watch.What
	}
	return in.Command
}

// pauses are those behind the n-th notice.
func pauses(n int) time.Duration {
	switch {
	case n < 10:
		return time.Second
	case n < 20:
		return 5 * time.Second
	}
	return 30 * time.Second
}

// PlanCommand says what a command of a Watch would do: what a call of Bash with it would.
func (t *Tasks) PlanCommand(command string, env tool.Env) (tool.Plan, error) {
	return t.runner.plan(input{Command: command, Background: true}, env)
}

// StartWatch starts a task that tells of lines. The result is for the model.
func (t *Tasks) StartWatch(ctx context.Context, w Watch, env tool.Env) (tool.Result, error) {
	in := input{Command: w.Command, Background: true, Timeout: int(w.Lasts.Milliseconds()), watch: &w}
	if w.Command != "" {
		return t.runner.run(ctx, in, env)
	}
	j := t.newJob(&handover{}, in, env)
	if err := t.enter(j, in, env, nil); err != nil {
		return tool.Errorf("the monitor was not started: %s", err), nil
	}
	life, stop := context.WithCancel(context.Background())
	p := &working{stop: stop, done: make(chan struct{})}
	t.begin(j, p, in)
	go func() { // ends with life, which Stop ends
		defer stop()
		p.err = w.Work(life, j.mask)
		if life.Err() != nil {
			p.err = nil
		}
		if p.err != nil {
			fmt.Fprintf(j.mask, "%s\n", p.err)
		}
		close(p.done)
	}()
	return j.watchResult(), nil
}

// working is work of this process, in the place of a command.
type working struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // set before done
}

func (p *working) Done() <-chan struct{} { return p.done }

func (p *working) Stop(time.Duration) { p.stop() }

func (p *working) Keep() {}

// Status is 1 where the work did not come to its end as it should.
func (p *working) Status() (s proc.Status) {
	if p.err != nil {
		s.Code = 1
	}
	return s
}

// watching has the lines of a job be told; tasks.mu is held.
func (j *job) watching() {
	j.kind = event.TaskMonitor
	j.pace = pace.New(pace.Config{Pause: pauses, Lines: maxLines, Bytes: maxNotice, Tell: j.tell})
}

// sink is where the standard output of a job goes, when secrets are hidden in it.
func (j *job) sink() io.Writer {
	if j.pace == nil {
		return j.out
	}
	return io.MultiWriter(j.out, j.pace) // neither fails
}

// apart has the standard error of a command go to the output alone: its lines are not told.
func (j *job) apart(c *proc.Command) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	c.Errors, j.errs = w, make(chan struct{})
	go func() { // ends when nobody can write there any more, which is soon after the command's end
		defer close(j.errs)
		defer r.Close()
		<-j.ready
		if j.p != nil {
			go func() {
				<-j.p.Done()
				_ = r.SetReadDeadline(time.Now().Add(lastState))
			}()
		}
		mask := j.masked(j.out)
		_, _ = io.Copy(mask, r) // the output never fails
		flush(mask)
	}()
	return nil
}

// told ends what tells of the lines of a job, which writes no more.
func (j *job) told() {
	if j.pace != nil {
		j.pace.Close(true)
	}
}

// tell tells of lines.
func (j *job) tell(lines string) {
	<-j.ready
	t := j.tasks
	t.mu.Lock()
	j.tells++
	j.size += len(lines)
	task, w, full := j.task(), t.watcher, j.size > maxTold
	t.mu.Unlock()
	if w == nil {
		return
	}
	w.Told(task, lines)
	if full {
		t.wg.Go(func() { // ends with the job, which waits for this
			j.kill(fmt.Sprintf("it told more than %s: start one that tells of less", clip.Size(maxTold)), proc.Grace)
		})
	}
}

// watchResult is the result of a call that started a Watch, in the shape of MonitorOutput of
// sdk-tools.d.ts.
func (j *job) watchResult(notes ...string) tool.Result {
	t := j.tasks
	t.mu.Lock()
	id, path, lasts := j.id, j.out.Kept().Path, j.lasts
	t.mu.Unlock()
	text := fmt.Sprintf("The monitor %s runs, for at most %s. You are told of each line, and of its end; TaskStop ends it.", id, lasts)
	if path != "" {
		text += " All of its output goes to " + path + "."
	}
	return tool.Result{
		Text: join(text, notes), View: view.Terminal{Command: clip.VisibleText(j.command), Note: "monitor " + id},
		Data: func() any { return map[string]any{"taskId": id, "timeoutMs": lasts.Milliseconds()} },
	}
}

// flush writes what a writer that hides secrets holds back.
func flush(w io.Writer) {
	if f, ok := w.(interface{ Flush() error }); ok {
		_ = f.Flush()
	}
}
