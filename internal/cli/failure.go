package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/adze-agent/adze/internal/clip"
	"github.com/adze-agent/adze/internal/llm"
)

// Exit codes (cli.md).
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitAuth        = 4
	exitBudget      = 5
	exitInterrupted = 130
	exitTerminated  = 143
)

// A failure is an error for people: the cause, then the next command. An
// empty cause says nothing and only sets the exit code.
type failure struct {
	code  int
	cause string
	hint  string
}

func (f *failure) Error() string { return f.cause }

func usagef(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

func failf(hint, format string, args ...any) error {
	return &failure{exitFailed, fmt.Sprintf(format, args...), hint}
}

// hinter is an error that knows what a person can do about it.
type hinter interface{ Hint() string }

// report writes an error for people and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) { // whoever read stdout has seen enough
		return exitDone
	}
	f := &failure{code: exitFailed, cause: err.Error()}
	var own *failure
	var model *llm.Error
	var h hinter
	switch {
	case errors.As(err, &own):
		f = own
	case errors.As(err, &model):
		f.hint = model.Hint
		if model.Kind == llm.Unauthorized {
			f.code = exitAuth
		}
	case errors.As(err, &h):
		f.hint = h.Hint()
	}
	if cause, hint, ok := strings.Cut(f.cause, "\nhint: "); ok {
		f = &failure{f.code, cause, first(f.hint, hint)}
	}
	if f.cause != "" {
		fmt.Fprintf(w, "adze: %s\n", oneLine(f.cause))
	}
	if f.hint != "" {
		fmt.Fprintf(w, "hint: %s\n", oneLine(f.hint))
	}
	return f.code
}

// oneLine keeps a message from taking over the screen.
func oneLine(s string) string {
	return clip.Line(clip.Clean(strings.TrimSpace(s)), 600)
}
