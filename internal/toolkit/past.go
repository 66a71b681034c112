package toolkit

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
)

// past are the tasks that ended, as the session's log has them: those of earlier processes,
// and those that nobody else remembers. It implements task.Source.
type past struct {
	of      *atomic.Pointer[session.Session] // nil until it has begun
	scratch string                           // the session's own folder for files, "" when nothing is kept
}

func (p past) all() []transcript.Past {
	if s := p.of.Load(); s != nil {
		return s.State().Past
	}
	return nil
}

func (p past) find(who string) (t transcript.Past, ok bool) {
	for _, t = range slices.Backward(p.all()) {
		if t.ID == who && who != "" {
			return t, true
		}
	}
	return t, false
}

// Background implements task.Source.
func (past) Background(string) (id string, ok bool) { return "", false }

// Stop implements task.Source.
func (p past) Stop(who string) (tool.Result, bool) {
	t, ok := p.find(who)
	return tool.Result{Text: fmt.Sprintf("%s had ended already: it %s", t.ID, how(t))}, ok
}

// how says how a task has ended.
func how(t transcript.Past) string {
	switch {
	case t.End.Status != "":
		return "ended: " + string(t.End.Status)
	case t.End.Killed != "":
		return "was ended: " + t.End.Killed
	}
	return fmt.Sprintf("ended with exit code %d after %s", t.End.Exit, t.End.Took.Round(100*time.Millisecond))
}

// shownPast is how much of the output of such a task the model is shown, in bytes.
const shownPast = 8 << 10

// Look implements task.Source.
func (p past) Look(_ context.Context, who string, l task.Look) (tool.Result, bool) {
	t, ok := p.find(who)
	if !ok {
		return tool.Result{}, false
	}
	text := fmt.Sprintf("[%s %s", t.ID, how(t))
	if t.End.Output != "" {
		text += "; all output: " + t.End.Output
	}
	text += "]"
	b, total, _ := p.Tail(who, shownPast)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(clip.Clean(string(b)), "\n"), "\n") {
		if l.Filter == nil || l.Filter.MatchString(line) {
			lines = append(lines, line)
		}
	}
	if said := strings.Join(append(lines, t.End.Text), "\n"); strings.TrimSpace(said) != "" {
		if total > int64(len(b)) {
			text += fmt.Sprintf("\n[the last %s of it:]", clip.Size(int64(len(b))))
		}
		text += "\n" + strings.TrimRight(said, "\n")
	}
	return tool.Result{Text: text}, true
}

// Tail implements task.Source.
func (p past) Tail(who string, limit int) (b []byte, total int64, ok bool) {
	t, ok := p.find(who)
	if !ok || t.End.Output == "" {
		return []byte(t.End.Text), int64(len(t.End.Text)), ok
	}
	b, total = p.output(t.End.Output, limit)
	return b, total, true
}

// output is the end of a file with the output of a task; nothing where it was removed to
// make room. Others may have written the log, so the file is one in the session's folder.
func (p past) output(path string, limit int) (b []byte, total int64) {
	rel, err := filepath.Rel(p.scratch, path)
	if p.scratch == "" || err != nil || !filepath.IsLocal(rel) {
		return nil, 0
	}
	root, err := os.OpenRoot(p.scratch)
	if err != nil {
		return nil, 0
	}
	defer root.Close()
	f, err := regular.In(root, rel, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0
	}
	total = info.Size()
	b = make([]byte, min(total, int64(limit)))
	n, err := f.ReadAt(b, total-int64(len(b)))
	if err != nil && err != io.EOF {
		return nil, total
	}
	return b[:n], total
}

// Known implements task.Source.
func (p past) Known() (ids []string) {
	for _, t := range p.all() {
		ids = append(ids, t.ID)
	}
	return ids
}
