// Package store says what a session's log is. It holds no log itself: store/mem
// keeps one in memory, store/jsonl in a file.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Log is append-only. It has one writer and any number of readers, in any
// goroutines.
type Log interface {
	// Append adds a durable event. Its Seq is above that of every event
	// before it. When Append returns nil after an event that Durable names,
	// the event and all before it survive a power cut, with what they name that
	// is kept beside the log; the others survive the end of the process. After an error the event is not in the log,
	// and the same Seq may be appended again.
	Append(ctx context.Context, e event.Event) error
	// After yields every event above seq, in order, to the end of the log as
	// it is when the end is reached.
	After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error]
	// Close writes out what is pending. The log cannot be used afterwards.
	Close() error
}

// Durable reports whether an event must be on disk before anything else is
// done: what a person said or decided, what is about to change the world, and
// the ends of turns.
func Durable(b event.Body) bool {
	switch b.(type) {
	case event.SessionStarted, event.InputQueued, event.InputRemoved,
		event.Answered, event.ToolStarted, event.Ran, event.RewindBegan, event.Rewound, event.MessageSent, event.GoalSet, event.GoalChanged, event.TurnEnded:
		return true
	case event.Resumed, event.Situated, event.InputAccepted, event.TurnStarted, event.Replied, event.Dropped, event.Spent, event.Asked, event.ToolFinished,
		event.ModelChanged, event.ModeChanged, event.Titled, event.ToolsChanged, event.Extended, event.ServerChanged, event.Cleared, event.Bounded, event.Stripped, event.Compacted, event.NotesKept, event.TodoChanged, event.FilesChanged, event.CompactFailed, event.TaskStarted, event.TaskEnded, event.MessageSettled, event.Noted,
		event.SettingsChanged, event.Unknown:
		return false
	case event.ReplyStarted, event.TextDelta, event.ThinkingDelta, event.ToolInputDelta, event.PartDone,
		event.Retracted, event.Waiting, event.ToolOutput, event.HookStarted, event.HookEnded, event.Compacting, event.GoalJudging, event.Suggested, event.TaskOutput, event.TaskProgress, event.Queued, event.RewindPlan, event.Rewinding: // never stored
		return false
	}
	return false
}

// ErrClosed is returned by a log that was closed.
var ErrClosed = errors.New("the session log is closed")

// ErrReadOnly is returned by Append of a log that was opened for reading.
var ErrReadOnly = errors.New("this session is open for reading only")

// ErrLost is returned by Append when another process took the session over.
var ErrLost = errors.New("another process took over this session")

// ErrRemoved is returned by Append when the session's log was removed while it was open.
var ErrRemoved = hint.With(errors.New("the session's folder was removed while it ran, and nothing can be recorded in it"), "begin a new session: /clear in the terminal UI, or adze; nothing more runs in this one")

// ErrLocked is what a LockedError wraps.
var ErrLocked = errors.New("another process has this session open")

// A LockedError says who writes a session.
type LockedError struct {
	PID   int
	Host  string
	Since time.Time
}

func (e *LockedError) Error() string {
	if e.PID == 0 { // its lock is not written yet
		return "another process is opening this session just now"
	}
	return fmt.Sprintf("%v: process %d on %s, since %s",
		ErrLocked, e.PID, e.Host, e.Since.Local().Format("2006-01-02 15:04"))
}

// Hint is what a person can do.
func (e *LockedError) Hint() string {
	if e.PID == 0 {
		return "try again"
	}
	return "open it read-only, or go on in a copy with --fork-session"
}

// Unwrap makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Unwrap() error { return ErrLocked }

// A WriteError says that something could not be recorded. Nothing that was on
// disk before is damaged, and Append works again once the cause is gone.
type WriteError struct {
	Path string
	Why  string // in plain words: "the disk is full"
	Err  error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("the session cannot be recorded in %s: %s", e.Path, e.Why)
}

// Hint is what a person can do.
func (e *WriteError) Hint() string {
	return "make room, or make that folder writable; --no-session keeps nothing on disk"
}

// Unwrap gives the cause.
func (e *WriteError) Unwrap() error { return e.Err }
