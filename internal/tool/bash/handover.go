package bash

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/proc"
)

// Descriptors that the shell moves what it writes its state to: children of a
// command inherit it, so it is one that scripts do not use. Only bash has such.
const (
	stateBash = 250
	stateSh   = 9
)

// lastState is how long is waited for the state when the command is over and
// something that could not be ended still holds the other end.
const lastState = 100 * time.Millisecond

// A handover is how the script of one command gets in, when it is too long for
// an argument, and how its state comes out: by descriptors, which no other
// command can open. Commands inherit none on Windows, where none is confined
// either; there, files in the private folder stand in. There a script is never an
// argument: bash has its own rules of reading a command line, by which "\\" is "\",
// and what would run is not what was judged.
type handover struct {
	base   []string   // the environment the command's own changes are told from
	files  []*os.File // for the command
	script string     // how the shell reads the command: "<&3"; "" when it is an argument
	move   string     // what the shell does first, to keep its descriptors apart
	state  string     // how the shell writes its state: ">&250"; "" when it need not
	apart  bool       // what the command leaves running ends with its shell
	looks  bool       // the shell looks around for that: lookAround is its argument

	paths []string // on Windows, what to remove
	back  *os.File // what the state comes from
	got   []byte   // belongs to collect until done is closed
	done  chan struct{}
}

// newHandover prepares one. keep: the state is wanted.
func newHandover(command, temp string, keep, isBash bool) (h *handover, err error) {
	h = &handover{}
	defer func() {
		if err != nil {
			h.drop()
		}
	}()
	if runtime.GOOS == "windows" {
		return h, h.byFile(command, temp, keep)
	}
	if len(command) > maxArg {
		f, err := proc.Hand(command)
		if err != nil {
			return h, err
		}
		h.script = "<&" + strconv.Itoa(h.give(f))
	}
	if keep {
		r, w, err := os.Pipe()
		if err != nil {
			return h, err
		}
		n, to := strconv.Itoa(h.give(w)), strconv.Itoa(stateSh)
		if isBash {
			to = strconv.Itoa(stateBash)
		}
		h.back, h.move, h.state = r, "exec "+to+">&"+n+" "+n+">&-; ", ">&"+to
	}
	return h, nil
}

// give adds a file for the command and returns its number there.
func (h *handover) give(f *os.File) int {
	h.files = append(h.files, f)
	return 2 + len(h.files)
}

// byFile is newHandover on Windows.
func (h *handover) byFile(command, temp string, keep bool) error {
	path := filepath.Join(temp, "script-"+rand.Text())
	h.paths = append(h.paths, path)
	if err := os.WriteFile(path, []byte(command), 0o600); err != nil {
		return err
	}
	h.script = "<" + quote(filepath.ToSlash(path))
	if keep {
		path := filepath.Join(temp, "state-"+rand.Text())
		h.paths = append(h.paths, path)
		f, err := safe.New(path)
		if err != nil {
			return err
		}
		h.back, h.state = f, ">|"+quote(filepath.ToSlash(path))
	}
	return nil
}

// drop is for a command that is not started; its files may be closed already.
func (h *handover) drop() {
	for _, f := range h.files {
		_ = f.Close()
	}
	h.close()
}

func (h *handover) close() {
	if h.back != nil {
		_ = h.back.Close()
	}
	for _, p := range h.paths {
		_ = os.Remove(p) // the command may have done so
	}
}

// collect begins to take in the state, so that who writes it never waits.
func (h *handover) collect() {
	if h.back == nil || h.paths != nil {
		return
	}
	h.done = make(chan struct{})
	go func() { // ends when nobody can write any more, at the latest with finish
		defer close(h.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := h.back.Read(buf)
			if len(h.got) <= maxState {
				h.got = append(h.got, buf[:n]...)
			}
			if err != nil {
				return
			}
		}
	}()
}

// finish is what the shell left behind, when all processes of the command are
// over. It is what any of them wrote.
func (h *handover) finish() (end, error) {
	defer h.close()
	switch {
	case h.back == nil:
		return end{}, nil
	case h.done != nil:
		_ = h.back.SetReadDeadline(time.Now().Add(lastState))
		<-h.done
	default:
		b, err := io.ReadAll(io.LimitReader(h.back, maxState+1))
		if err != nil && !errors.Is(err, io.EOF) {
			return end{}, err
		}
		h.got = b
	}
	return parseState(string(h.got))
}
