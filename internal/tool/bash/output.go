package bash

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// readMax bounds what one look reads, in bytes; more stays for the next.
const readMax = 1 << 20

// Look implements task.Source: it returns what came since the last look.
func (t *Tasks) Look(ctx context.Context, id string, l task.Look) (tool.Result, bool) {
	j, ok := t.get(id)
	if !ok {
		return tool.Result{}, false
	}
	if l.Wait > 0 {
		timer := time.NewTimer(l.Wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return tool.Errorf("interrupted; %s goes on, and nothing of its output was skipped", id), true
		case <-timer.C:
		case <-j.over:
		}
	}
	return t.news(j, l.Filter), true
}

// Stop implements task.Source: TERM, and after 2 s KILL.
func (t *Tasks) Stop(id string) (tool.Result, bool) {
	j, ok := t.get(id)
	if !ok {
		return tool.Result{}, false
	}
	t.mu.Lock()
	k := j.task()
	t.mu.Unlock()
	if k.State != Running {
		return tool.Result{Text: fmt.Sprintf("%s had ended already: %s", id, k.status())}, true
	}
	j.kill(onRequest, proc.Grace)
	return tool.Result{
		Text: fmt.Sprintf("%s was told to end (%s); what is left after 2 s is killed.", id, clip.Line(clip.Clean(k.Command), 200)),
		View: view.Terminal{Command: clip.VisibleText(k.Command), Note: "killed " + id},
		Data: func() any { // hosts know a monitor as a command
			return map[string]any{"message": "It was told to end.", "task_id": id, "task_type": "local_bash", "command": k.Command}
		},
	}, true
}

// Tail implements task.Source.
func (t *Tasks) Tail(id string, max int) (b []byte, total int64, ok bool) {
	j, ok := t.get(id)
	if !ok {
		return nil, 0, false
	}
	total = j.out.Total()
	b, _, _ = j.out.From(total-min(total, int64(max)), max)
	return b, total, true
}

// Known implements task.Source.
func (t *Tasks) Known() (ids []string) {
	for _, k := range t.List() {
		ids = append(ids, k.ID)
	}
	return ids
}

// news reads and formats what j wrote since the last read.
func (t *Tasks) news(j *job, re *regexp.Regexp) tool.Result {
	t.mu.Lock()
	k := j.task() // before reading, so that "ended" means the output is complete
	b, gone, next := t.take(j, k.State == Running)
	left := j.left
	j.left = nil // told once
	if k.State != Running && k.Exit != 0 && j.blocked != nil {
		if why := j.blocked(k.Exit, string(b)); why != "" {
			left = append(left, why)
		}
		j.blocked = nil
	}
	t.mu.Unlock()
	more := k.Size - next
	text := ""
	b = inUnicode(proc.Kept{Head: b}).Head
	if binary(b) {
		text = hexPreview(proc.Kept{Head: b, Total: int64(len(b))}, k.Path)
	} else {
		text = clean(b)
		if re != nil {
			text = keep(text, re)
		}
		text = clip.Middle(text, limit-2000, "all of it is in "+k.Path)
	}
	head := fmt.Sprintf("[%s %s", k.ID, k.status())
	if k.Path != "" {
		head += "; all output: " + k.Path
	}
	head += "]"
	if gone > 0 {
		head += fmt.Sprintf("\n[%s since the last read were not kept]", clip.Size(gone))
	}
	switch {
	case text != "":
		text = head + "\n" + text
	case re != nil && len(b) > 0:
		text = head + "\n(no new line matches the filter)"
	default:
		text = head + "\n(no new output)"
	}
	if err := j.out.Kept().FileErr; err != nil {
		left = append(left, fmt.Sprintf("the output file is not complete: %v", err))
	}
	if more > 0 && len(b) >= readMax/2 {
		text = join(text, []string{clip.Size(more) + " more; read again"})
	}
	text = join(text, left)
	_, shown, _ := strings.Cut(text, "\n")
	return tool.Result{Text: text, View: view.Terminal{Command: clip.VisibleText(k.Command), Output: shown, Exit: k.Exit, Note: k.ID + " " + k.status()}}
}

// take moves the read position of j; t.mu is held. While it runs, the start
// of a line that is not complete is left for the next read, unless it is all
// there is (a prompt, a progress bar).
func (t *Tasks) take(j *job, running bool) (b []byte, gone, next int64) {
	for len(b) < readMax {
		piece, lost, n := j.out.From(j.read, readMax-len(b))
		if len(piece) == 0 {
			break
		}
		b, gone, j.read = append(b, piece...), gone+lost, n
	}
	if running || j.read < j.out.Total() {
		ready, held := whole(b)
		if len(ready) > 0 {
			b = ready
			j.read -= int64(held)
		}
	}
	return b, gone, j.read
}

// keep returns the lines that match.
func keep(text string, re *regexp.Regexp) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if re.MatchString(line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// status says in a few words where a task stands.
func (k Task) status() string {
	switch k.State {
	case Running:
		return "is running"
	case Killed:
		return k.Note
	case Exited:
	}
	return fmt.Sprintf("ended with exit code %d after %s", k.Exit, k.Ended.Sub(k.Started).Round(100*time.Millisecond))
}
