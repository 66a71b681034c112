package hookrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// learns are the events whose hooks set variables for commands.
var learns = []hook.Event{hook.SessionStart, hook.Setup, hook.CwdChanged, hook.FileChanged}

// learn reports whether a hook sets variables for commands. One in the sandbox
// does not: what is confined sets nothing for what is not.
func learn(h hook.Hook) bool { return slices.Contains(learns, h.Event) && !h.Sandbox }

// A program is one hook that runs as a process.
type program struct {
	p      *proc.Process
	out    answer
	stderr limited
	read   chan struct{} // closed when stderr is whole
	dir    string        // it began in
	env    []string
	vars   variables
}

// command runs a program. It has the question on its standard input, and ends
// with all it started when ctx does, or, when it says so, goes on without anybody
// waiting for it.
func (r *Runner) command(ctx context.Context, h hook.Hook, q question) hook.Ran {
	x, err := r.begun(h, q)
	if err != nil {
		return hook.Ran{Err: err, Unstarted: true}
	}
	select {
	case limit := <-x.out.leave:
		if limit <= 0 {
			limit = h.Timeout()
		}
		r.leave(h, q, x, limit)
		return hook.Ran{}
	case <-x.p.Done():
	case <-ctx.Done():
	}
	return r.ended(ctx, h, x)
}

// begun starts the program of a hook.
func (r *Runner) begun(h hook.Hook, q question) (*program, error) {
	c, vars, err := r.prepare(h, q)
	x := &program{vars: vars, read: make(chan struct{}), out: answer{leave: make(chan time.Duration, 1)}}
	if err == nil {
		c.Input, err = proc.Hand(string(q.text))
	}
	if err == nil && h.Sandbox {
		if err = r.confine(&c); err != nil {
			_ = c.Input.Close() // it was only to be read
		}
	}
	if err != nil {
		x.vars.close()
		return nil, err
	}
	er, ew, err := os.Pipe()
	if err != nil {
		x.vars.close()
		return nil, err
	}
	c.Errors = ew
	x.dir, x.env = c.Dir, c.Env
	r.started.Store(true)
	if x.p, err = r.commands().Start(c, &x.out); err != nil {
		er.Close()
		x.vars.close()
		return nil, err
	}
	go func() { // ends when no process has the other end
		defer close(x.read)
		defer er.Close()
		x.stderr.max = maxErrors
		_, _ = io.Copy(&x.stderr, er)
	}()
	return x, nil
}

func (r *Runner) confine(c *proc.Command) error {
	if r.conf.Confine == nil {
		return errors.New("is to run in the sandbox, and there is none here")
	}
	return r.conf.Confine(c)
}

// ended waits for a program, and says how it ended.
func (r *Runner) ended(ctx context.Context, h hook.Hook, x *program) hook.Ran {
	defer x.vars.close()
	select {
	case <-x.p.Done():
	case <-ctx.Done():
		x.p.Stop(proc.Grace)
		<-x.p.Done()
		<-x.read
		return failed(ctx.Err())
	}
	<-x.read
	s := x.p.Status()
	if s.Over != "" {
		return failed(errors.New("was ended: " + s.Over))
	}
	if learn(h) {
		r.learn(x.vars.read())
	}
	if x.out.over {
		return failed(fmt.Errorf("printed more than %s", clip.Size(maxOutput)))
	}
	if s.Signal != "" {
		return failed(errors.New("was ended by a signal: " + s.Signal))
	}
	ran := hook.Ran{Code: s.Code, Stdout: x.out.said(), Stderr: x.stderr.String()}
	if s.Code != 0 {
		ran.Stderr = x.lineEnds(h) + ran.Stderr
	}
	return ran
}

// lineEnds says that the script of a hook that failed has lines that end as on Windows:
// the shell says of that only that there is no such program, or that something is missing.
// It is "" or ends in ": ".
func (x *program) lineEnds(h hook.Hook) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	words := h.Words()
	for i, w := range words {
		if i > 0 && !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "env", "exec"}, filepath.Base(words[i-1])) && !strings.Contains(words[i-1], "=") {
			continue
		}
		path := os.Expand(w, func(name string) string { return proc.Getenv(x.env, name) })
		if !filepath.IsAbs(path) {
			path = filepath.Join(x.dir, path)
		}
		text, err := regular.Read(path, maxScript)
		if line, _, found := bytes.Cut(text, []byte("\n")); err == nil && found && bytes.HasSuffix(line, []byte("\r")) {
			return fmt.Sprintf("its script has the line ends of Windows, which no shell reads; sed -i 's/\\r$//' %s removes them: ", hint.Shell(path))
		}
	}
	return ""
}

// maxScript is how large a script may be that is looked at, in bytes.
const maxScript = 1 << 20

// leave lets a program go on that said that nobody is to wait for it.
func (r *Runner) leave(h hook.Hook, q question, x *program, limit time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := func(ctx context.Context, h hook.Hook, q question) (hook.Ran, hook.Answer) {
		return r.told(ctx, h, q, limit, func(ctx context.Context, h hook.Hook, _ question) hook.Ran { return r.ended(ctx, h, x) })
	}
	if r.closed {
		x.p.Stop(proc.Grace)
		return
	}
	r.wg.Go(func() { r.heard(h, wait, q) }) // ends with limit, or with r.life
}

// limited keeps the first bytes of what is written to it.
type limited struct {
	bytes.Buffer
	max  int
	over bool // there was more
}

// Write implements io.Writer. It never fails, so that nobody hangs on a full pipe.
func (l *limited) Write(b []byte) (int, error) {
	limit := l.max
	if limit == 0 {
		limit = maxOutput
	}
	fits := min(len(b), max(0, limit-l.Len()))
	l.Buffer.Write(b[:fits])
	l.over = l.over || fits < len(b)
	return len(b), nil
}

// An answer is what a program prints. A first line that says so has nobody wait for
// the rest: {"async": true}.
type answer struct {
	limited
	leave chan time.Duration // is sent how long the rest may take, 0 for no bound of its own
	first bool               // the first line was seen
	after int                // what counts of the output begins here
}

// Write implements io.Writer.
func (a *answer) Write(b []byte) (int, error) {
	n, err := a.limited.Write(b)
	end := bytes.IndexByte(a.Bytes(), '\n')
	if a.first || end < 0 {
		a.first = a.first || a.Len() > maxFirst
		return n, err
	}
	a.first = true
	var o struct {
		Async   bool    `json:"async"`
		Timeout float64 `json:"asyncTimeout"` // milliseconds
	}
	if json.Unmarshal(a.Bytes()[:end], &o) == nil && o.Async {
		a.after = end + 1
		a.leave <- time.Duration(o.Timeout * float64(time.Millisecond))
	}
	return n, err
}

// maxFirst bounds a first line that is looked at, in bytes.
const maxFirst = 4096

// said is what counts of the output.
func (a *answer) said() []byte { return a.Bytes()[a.after:] }
