package task

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/tool"
)

// A Source has tasks of one kind. Its methods may be called by several goroutines. A task
// is asked for by its ID, or by a name that it was given; ok is false when none of the
// source's is meant.
type Source interface {
	// Background moves a call that runs to the background.
	Background(call string) (id string, ok bool)
	// Stop ends a task, and returns at once. The result is for the model; it is an error
	// where there is nothing to end.
	Stop(who string) (r tool.Result, ok bool)
	// Look says to the model how a task is, and what it wrote since the last look. With
	// l.Wait it waits for the task's end until ctx ends, or for so long.
	Look(ctx context.Context, who string, l Look) (r tool.Result, ok bool)
	// Tail is the end of what a task wrote, at most max bytes, and how much it wrote in
	// all. It does not count as a look.
	Tail(who string, max int) (b []byte, total int64, ok bool)
	// Known are the tasks that can be asked about.
	Known() []string
}

// A Look is how a task is looked at.
type Look struct {
	Filter *regexp.Regexp // of lines to show; nil shows all
	Wait   time.Duration  // for its end, 0 does not wait
}

// A List is all tasks beside the turns of one session.
type List []Source

// Background moves a call that runs to the background.
func (l List) Background(call string) (id string, ok bool) {
	for _, s := range l {
		if id, ok = s.Background(call); ok {
			return id, ok
		}
	}
	return "", false
}

// Kill ends a task, and returns at once.
func (l List) Kill(who string) error {
	if r := l.Stop(who); r.IsErr {
		return errors.New(r.Text)
	}
	return nil
}

// Stop ends a task, and returns at once. The result is for the model.
func (l List) Stop(who string) tool.Result {
	for _, s := range l {
		if r, ok := s.Stop(who); ok {
			return r
		}
	}
	return tool.Errorf("%s", l.unknown(who))
}

// Look says to the model how a task is.
func (l List) Look(ctx context.Context, who string, k Look) tool.Result {
	for _, s := range l {
		if r, ok := s.Look(ctx, who, k); ok {
			return r
		}
	}
	return tool.Errorf("%s", l.unknown(who))
}

// Tail is the end of what a task wrote. The error says that there is no such task.
func (l List) Tail(who string, max int) (b []byte, total int64, err error) {
	for _, s := range l {
		if b, total, ok := s.Tail(who, max); ok {
			return b, total, nil
		}
	}
	return nil, 0, l.unknown(who)
}

// maxKnown bounds the tasks that an error names.
const maxKnown = 20

// Known are the tasks that can be asked about, each once.
func (l List) Known() (ids []string) {
	for _, s := range l {
		for _, id := range s.Known() {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (l List) unknown(who string) error {
	ids := l.Known()
	who = who[:min(len(who), 200)]
	if len(ids) == 0 {
		return fmt.Errorf("there is no background task %q, and no other one", who)
	}
	more := ""
	if n := len(ids) - maxKnown; n > 0 {
		ids, more = slices.Clone(ids[n:]), fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("there is no background task %q; there are %s%s", who, strings.Join(ids, ", "), more)
}
