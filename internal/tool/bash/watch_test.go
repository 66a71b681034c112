//go:build unix

package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/tool"
)

// teller collects what is told of tasks.
type teller struct {
	told  chan string
	ended chan Task
}

func (teller) Started(Task)          {}
func (teller) Output(string, string) {}
func (w teller) Ended(t Task)        { w.ended <- t }
func (w teller) Told(t Task, lines string) {
	w.told <- fmt.Sprintf("%s %s %d: %s", t.Kind, t.ID, t.Tells, lines)
}

func watches(t *testing.T, change func(*Config)) (*rig, teller) {
	r := newRig(t, change)
	w := teller{make(chan string, 100), make(chan Task, 1)}
	r.tasks.Watch(w)
	r.env.Call = "c1"
	return r, w
}

func (r *rig) watch(w Watch) tool.Result {
	r.t.Helper()
	if w.Lasts == 0 {
		w.Lasts = time.Minute
	}
	res, err := r.tasks.StartWatch(r.t.Context(), w, r.env)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// Lines of the standard output are told, those of the standard error are in the file alone,
// and the end says how it ended.
func TestWatchCommand(t *testing.T) {
	r, w := watches(t, func(c *Config) { c.Mask = func(w io.Writer, _ []string) io.Writer { return &masker{w: w} } })
	res := r.watch(Watch{What: "the build", Command: "echo one secret; echo oops >&2; read x <&0; echo two; exit 3"})
	path := r.env.Scratch + "/tasks/m1-c1.output"
	if want := "The monitor m1 runs, for at most 1m0s. You are told of each line, and of its end; TaskStop ends it. All of its output goes to " + path + "."; res.Text != want || res.IsErr {
		t.Errorf("%+v", res)
	}
	if d := res.Data().(map[string]any); d["taskId"] != "m1" || d["timeoutMs"] != int64(60_000) {
		t.Errorf("%v", d)
	}
	k := <-w.ended
	close(w.told)
	var all []string
	for s := range w.told {
		all = append(all, s)
	}
	if got := strings.Join(all, "\n"); strings.Count(got, "monitor m1 ") != len(all) || !strings.Contains(got, "one ******") || !strings.Contains(got, "two") || strings.Contains(got, "oops") {
		t.Errorf("%q", all)
	}
	if k.ID != "m1" || k.Kind != event.TaskMonitor || k.Command != "the build" || k.Exit != 3 || k.Tells != len(all) || k.Late {
		t.Errorf("%+v", k)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "oops") || strings.Contains(string(b), "secret") {
		t.Errorf("%q %v", b, err)
	}
}

// A monitor ends with its deadline, and with its first word about what it is not allowed.
func TestWatchEnds(t *testing.T) {
	r, w := watches(t, nil)
	r.watch(Watch{What: "nothing", Command: "sleep 1000", Lasts: 1200 * time.Millisecond})
	if k := <-w.ended; !k.Late || k.Stopped || k.Note != "timed out after 1.2s" {
		t.Errorf("%+v", k)
	}
	r.watch(Watch{What: "more", Command: "sleep 1000"})
	if res := r.call(t.Context(), "TaskStop", map[string]any{"task_id": "m2"}); res.IsErr {
		t.Errorf("%+v", res)
	}
	if k := <-w.ended; !k.Stopped || k.Late {
		t.Errorf("%+v", k)
	}
	if _, err := r.tasks.PlanCommand("sleep 1000", r.env); err != nil {
		t.Error(err)
	}
	if _, err := r.tasks.PlanCommand("", r.env); err == nil {
		t.Error("an empty command is planned")
	}
}

// Work of this process is a task as a command is.
func TestWatchWork(t *testing.T) {
	r, w := watches(t, nil)
	r.watch(Watch{What: "a file", Work: func(ctx context.Context, out io.Writer) error {
		fmt.Fprintln(out, "first")
		<-ctx.Done()
		return errors.New("it was ended")
	}})
	if got := <-w.told; got != "monitor m1 1: first" {
		t.Error(got)
	}
	if res := r.call(t.Context(), "TaskOutput", map[string]any{"task_id": "m1"}); !strings.HasPrefix(res.Text, "[m1 is running; all output: ") || !strings.HasSuffix(res.Text, "]\nfirst") {
		t.Errorf("%q", res.Text)
	}
	r.call(t.Context(), "TaskStop", map[string]any{"task_id": "m1"})
	if k := <-w.ended; !k.Stopped || k.Exit != 0 {
		t.Errorf("%+v", k)
	}
	r.watch(Watch{What: "a socket", Work: func(context.Context, io.Writer) error { return errors.New("it broke off") }})
	if k := <-w.ended; k.Exit != 1 || k.State != Exited {
		t.Errorf("%+v", k)
	}
	if got := <-w.told; got != "monitor m2 1: it broke off" {
		t.Error(got)
	}
}

// What tells too much ends, and says so.
func TestWatchTellsTooMuch(t *testing.T) {
	r, w := watches(t, nil)
	line := strings.Repeat("x", 900) + "\n"
	r.watch(Watch{What: "a flood", Work: func(ctx context.Context, out io.Writer) error {
		for ctx.Err() == nil {
			_, _ = io.WriteString(out, line)
		}
		return nil
	}})
	if testing.Short() {
		t.Skip("takes as long as its pauses")
	}
	limit := time.After(time.Minute)
	for {
		select {
		case <-w.told:
		case k := <-w.ended:
			if k.State != Killed || !strings.HasPrefix(k.Note, "killed: it wrote more than") && !strings.HasPrefix(k.Note, "it told more than 64.0 KB") {
				t.Errorf("%+v", k)
			}
			return
		case <-limit:
			t.Fatal("it goes on")
		}
	}
}
