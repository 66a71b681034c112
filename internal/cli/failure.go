package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	xterm "golang.org/x/term"

	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
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

// Hint implements hint.Hinter.
func (f *failure) Hint() string { return f.hint }

func usagef(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

func failf(hint, format string, args ...any) error {
	return &failure{exitFailed, fmt.Sprintf(format, args...), hint}
}

// tellError writes an error for people and returns the exit code.
func tellError(w io.Writer, err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) { // whoever read stdout has seen enough
		return exitDone
	}
	f := sorted(err)
	tellFailure(w, f)
	return f.code
}

// tellFailure writes the cause, and below it what to do.
func tellFailure(w io.Writer, f *failure) {
	tell(w, "adze: ", f.cause)
	tell(w, "hint: ", f.hint)
}

// sorted finds the exit code and the hint of an error.
func sorted(err error) *failure { return ofDisk(kindOf(err)) }

func kindOf(err error) *failure {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	var signal caught
	if errors.As(err, &signal) { // whatever it was doing: the person wanted it to end
		f := &failure{code: exitOf(signal.sig), cause: signal.Error()}
		if f.code == exitInterrupted {
			f.cause = "interrupted"
		}
		return f
	}
	f := &failure{code: exitFailed, cause: err.Error(), hint: hint.Of(err)}
	var name *choose.NameError
	var none *choose.NoModelError
	var refused *hint.Refusal
	var mistake *hint.Mistake
	switch {
	case choose.Unauthorized(err):
		f.code = exitAuth
	case errors.As(err, &refused):
		f.code = exitRefused
	case errors.As(err, &none):
		f.code = exitAuth
	case errors.As(err, &name), errors.As(err, &mistake):
		f.code = exitUsage
	}
	return f
}

// maxLines bounds what a message takes of the screen.
const maxLines = 12

// tell writes a message behind its name. Further lines stand below the first, and at a
// terminal what does not fit into one.
func tell(w io.Writer, name, text string) {
	width := widthOf(w)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		switch {
		case strings.TrimSpace(l) == "":
			continue
		case i == maxLines:
			fmt.Fprintf(w, "%*s… and %s more\n", len(name), "", clip.Count(len(lines)-i, "line"))
			return
		}
		fmt.Fprintf(w, "%s%s\n", name, wrapBelow(shown(l), len(name), width))
		name = strings.Repeat(" ", len(name))
	}
}

// widthOf is how many columns w has, 0 where it is no terminal.
func widthOf(w io.Writer) int {
	if a, ok := w.(*above); ok {
		w = a.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	cols, _, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return cols
}

// shown is a line as it may stand on a screen: with its blanks, since columns
// are made of them.
func shown(line string) string {
	r := []rune(clip.VisibleText(strings.TrimRight(line, " \t\r\n")))
	if len(r) > maxLineLen {
		r = append(r[:maxLineLen], '…')
	}
	return string(r)
}

// maxLineLen bounds a line of a message, in characters.
const maxLineLen = 600

// oneLine keeps a message from taking over the screen.
func oneLine(s string) string {
	return clip.Line(clip.VisibleText(strings.TrimSpace(s)), maxLineLen)
}
