package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Times of a program's end, from when its input is closed.
const (
	closeGrace = 2 * time.Second // then it is asked to end
	termGrace  = 3 * time.Second // then it is killed
	// endWait is how long the end of a program is awaited that does not read.
	endWait = time.Second
)

const (
	maxErrors = 4 << 10 // bytes of a program's standard error that are kept
	maxAside  = 2 << 10 // bytes of a line of its output that is no message
)

// gate has a shell wait until its processes can be told from all others.
const gate = `read -r _ <&3; exec 3<&-; exec "$@"`

// program starts a server and speaks to it over its standard input and output.
func (s *server) program(look *inspector) (w *wire, ended func(), err error) {
	c, err := s.command()
	if err != nil {
		return nil, nil, err
	}
	ir, iw, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	er, ew, err := os.Pipe()
	if err != nil {
		ir.Close()
		iw.Close()
		return nil, nil, err
	}
	c.Input, c.Errors = ir, ew
	w = newWire(look)
	w.patience = discoverWait
	over := make(chan struct{}) // closed when the program's end is known
	w.send = func(b []byte) error {
		_, err := iw.Write(b)
		if err != nil { // it ended, or will; how, says more than that nobody reads
			timer := time.NewTimer(endWait)
			defer timer.Stop()
			select {
			case <-over:
			case <-timer.C:
			case <-w.gone:
			}
		}
		return err
	}
	w.shut = func() { _ = iw.Close() }
	said := &tail{tell: func(line string) { s.debug(line) }}
	p, err := s.hub.table().Start(c, &lines{w: w, aside: said})
	if err != nil {
		iw.Close()
		er.Close()
		return nil, nil, fmt.Errorf("%s could not be started: %w", quote(s.conf.Command), err)
	}
	var wg sync.WaitGroup
	read := make(chan struct{})
	go func() { // ends when no process has the other end
		defer close(read)
		defer er.Close()
		_, _ = er.WriteTo(said)
	}()
	wg.Go(w.write)
	wg.Go(func() { // ends with the program
		defer close(over)
		<-p.Done()
		<-read
		last, all := said.last()
		w.finish(fmt.Errorf("%w: %s%s", errEnded, s.unpassed(c.Env, all, wantsKey()), ending(p.Status(), s.hub.conf.Hide(last))))
	})
	return w, func() {
		defer wg.Wait()
		grace := closeGrace
		if !w.spoke.Load() { // it is still starting, and has nothing to put away
			grace = 0
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.Done():
			return
		case <-timer.C:
		}
		p.Stop(termGrace)
		<-p.Done()
	}, nil
}

// ending says how a program ended.
func ending(s proc.Status, said string) string {
	var b strings.Builder
	switch {
	case s.Over != "":
		b.WriteString("the program was ended: " + s.Over)
	case s.Signal != "":
		b.WriteString("the program was ended by a signal: " + s.Signal)
	case s.Code == 127:
		b.WriteString("the program could not be run")
	default:
		fmt.Fprintf(&b, "the program ended with exit code %d", s.Code)
	}
	if said != "" {
		b.WriteString(" and said “" + line(said, 200) + "”")
	}
	return b.String()
}

// dir is the folder that the server's programs start in.
func (s *server) dir() (string, error) {
	if !s.conf.Apart {
		return s.at.Dir, nil
	}
	at := filepath.Join(s.at.Apart, s.part)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", fmt.Errorf("%s: %w", servers.StartsApart, err)
	}
	return at, nil
}

// command is how the server's program is started: in its folder, with what programs may inherit and the variables of its configuration.
func (s *server) command() (c proc.Command, err error) {
	environ := s.environ()
	dir, err := s.dir()
	if err != nil {
		return c, err
	}
	if s.conf.Apart {
		environ = proc.Set(environ, "PWD="+dir)
	}
	if elsewhere(s.conf) {
		environ = proc.Set(environ, "PYTHONSAFEPATH=1")
	}
	for _, name := range sorted(s.conf.Env) {
		environ = proc.Set(environ, name+"="+s.conf.Env[name])
	}
	path := searchPath(environ)
	file := s.conf.Command
	switch {
	case filepath.IsAbs(file):
	case filepath.Base(file) != file:
		file = filepath.Join(s.at.Dir, file)
	default:
		found, ok := proc.Lookup(file, path, []string{s.at.Dir})
		if !ok {
			return c, &final{fmt.Errorf("there is no program %s in PATH", quote(file))}
		}
		file = found
	}
	if !proc.Executable(file) {
		return c, &final{fmt.Errorf("%s is no program", quote(s.conf.Command))}
	}
	c = proc.Command{Path: file, Args: append([]string{s.conf.Command}, s.conf.Args...), Dir: dir, Env: environ}
	if runtime.GOOS == "windows" {
		return c, nil
	}
	outside := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return paths.Within(s.at.Dir, dir) })
	shell, err := proc.Shell(strings.Join(outside, string(os.PathListSeparator)), nil)
	c.Gate, c.Path, c.Args = true, shell, append([]string{"sh", "-c", gate, "sh", file}, s.conf.Args...)
	return c, err
}

// environ is what a program of the server inherits.
func (s *server) environ() []string {
	environ := proc.Scrub(s.at.Environ())
	if private := s.at.Private; s.conf.Keyless && private != nil {
		environ = slices.DeleteFunc(environ, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return private(name)
		})
	}
	return proc.Quiet(environ)
}

// elsewhere reports whether a server is a module of Python that is installed somewhere:
// "python3 -m name", configured for all folders. Python would look for it, and for
// all that it imports, in the folder of the session first, which may be anybody's.
// Python 3.11 and newer heed PYTHONSAFEPATH, which the server's own env can empty.
func elsewhere(s servers.Server) bool {
	return s.Everywhere() && strings.HasPrefix(filepath.Base(s.Command), "python") && slices.Contains(s.Args, "-m")
}

// searchPath is PATH of an environment.
func searchPath(environ []string) (path string) {
	for _, v := range environ {
		if k, value, _ := strings.Cut(v, "="); k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "path") {
			path = value
		}
	}
	return path
}

// lines hands what a program prints to a wire, line by line. What is no message at all,
// people print in the wrong place: it goes where the program's errors go.
type lines struct {
	w     *wire
	aside io.Writer
	rest  []byte
	dead  bool
}

// meant reports whether a line is meant as a message. One that lacks only the version is,
// and breaks the protocol; an entry of a log is not, whatever its members are.
func meant(line []byte) bool {
	if line[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(line, &list) != nil || len(list) == 0 || !bytes.HasPrefix(list[0], []byte("{")) {
			return false
		}
		line = list[0]
	}
	if line[0] != '{' {
		return false
	}
	if bytes.HasPrefix(line, []byte(`{"jsonrpc"`)) { // as nearly all are
		return true
	}
	versioned, parts, others := false, 0, 0
	err := fastjson.Walk(line, maxDepth, func(depth int, name string) error {
		switch {
		case depth != 1:
		case name == "jsonrpc":
			versioned = true
		case slices.Contains([]string{"id", "method", "params", "result", "error"}, name):
			parts++
		default:
			others++
		}
		return nil
	})
	switch {
	case versioned:
		return true
	case err != nil && !errors.Is(err, fastjson.ErrDeep) && !errors.Is(err, fastjson.ErrTwice):
		return bytes.Contains(line, []byte(`"jsonrpc"`)) // or a line of text that begins with a brace
	}
	return parts > 1 && others == 0
}

// Write implements io.Writer. After the end of the connection it takes and drops
// everything, so that no program hangs on a full pipe.
func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for !l.dead && len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if l.rest = append(l.rest, b...); len(l.rest) > maxMessage {
				l.w.finish(errTooLarge)
				l.dead = true
			}
			l.w.rest.Store(int64(len(l.rest)))
			break
		}
		line := b[:i]
		if len(l.rest) > 0 {
			line = append(l.rest, line...)
		}
		l.rest = nil
		l.w.rest.Store(0)
		switch t := bytes.TrimSpace(line); {
		case len(t) == 0:
		case meant(t):
			l.dead = !l.w.arrive(bytes.Clone(t))
		default:
			l.w.aside.Add(1)
			_, _ = l.aside.Write(append(bytes.Clone(t[:min(len(t), maxAside)]), '\n')) // a tail takes everything
		}
		b = b[i+1:]
	}
	if l.dead {
		l.rest = nil
	}
	return n, nil
}

// tail keeps the end of what a program says, and tells each line.
type tail struct {
	tell func(line string)

	mu   sync.Mutex // guards what follows
	rest []byte
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	t.kept = append([]byte(nil), t.kept[max(0, len(t.kept)-maxErrors):]...)
	t.rest = append(t.rest, b...)
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 && len(t.rest) < maxErrors {
			return len(b), nil
		}
		if i < 0 {
			i = len(t.rest) - 1
		}
		if line := clip.Line(clip.Visible(string(t.rest[:i])), 2000); line != "" {
			t.tell(line)
		}
		t.rest = t.rest[i+1:]
	}
}

// last is the line that says why the program ended, as far as one can tell, and all that
// is kept: the last line that begins with an error, else that speaks of one, else that
// says anything. What a runtime says of the place is passed over.
func (t *tail) last() (line, all string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all = strings.TrimSpace(string(t.kept))
	list := strings.Split(all, "\n")
	for _, wanted := range []*regexp.Regexp{speaksOfError(), mentionsError(), says()} {
		for i, l := range slices.Backward(list) {
			if l = strings.TrimSpace(l); !ofPlace().MatchString(l) && wanted.MatchString(l) {
				for _, more := range list[i+1:] { // "ZodError: [" goes on
					if !strings.HasSuffix(l, "[") && !strings.HasSuffix(l, "{") && !strings.HasSuffix(l, ":") && !strings.HasSuffix(l, ",") || len(l) > 200 {
						break
					}
					l += " " + strings.TrimSpace(more)
				}
				return l, all
			}
		}
	}
	return strings.TrimSpace(list[len(list)-1]), all
}

// What lines of a program's last words are: speaksOfError finds what runtimes begin the
// line with that names an error ("Error: …", "TypeError [CODE]: …", "panic: …"),
// mentionsError a word for one, says words at all, and ofPlace what a runtime says of
// where it was and of itself.
var (
	speaksOfError = pattern.Lazy(`^(?:Uncaught )?(?:[A-Za-z.]*(?:Error|Exception)(?: \[\w+\])?|panic|fatal(?: error)?|error): `)
	mentionsError = pattern.Lazy(`(?i)\b(error|fatal|fail(ed|ure)?|missing|required?|cannot|can't|denied|invalid|not (set|found|installed)|no such|must|unable|usage)\b`)
	says          = pattern.Lazy(`\pL{2}`)
	ofPlace       = pattern.Lazy(`^(at |node:|Node\.js v|file://|File "|\^|[a-z]\w*: ('[^']*'|\[.*\]|-?\d+),?$|Traceback \(|npm (notice|warn|ERR! A complete log))`)
)

// final is what another attempt would not cure.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// permanent reports whether another attempt at a connection makes no sense.
func permanent(err error) bool { return errors.As(err, new(*final)) }

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	order.By(out, cmp.Compare)
	return out
}

// both is a context that ends when either does.
func both(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// askTime bounds a command that says something of a server.
const askTime = 10 * time.Second

// ask runs a command of the configuration with the shell, and returns what it
// prints: at most 64 KB.
func (s *server) ask(ctx context.Context, script string, vars ...string) ([]byte, error) {
	environ := proc.Set(s.environ(), vars...)
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	shell, err := proc.Shell(searchPath(environ), []string{s.at.Dir})
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		script = "read -r _ <&3; exec 3<&-; " + script
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	said, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		null.Close()
		return nil, err
	}
	var out limited
	p, err := s.hub.table().Start(proc.Command{
		Path: shell, Args: []string{"sh", "-c", script}, Dir: dir, Env: environ, Gate: runtime.GOOS != "windows", Input: null, Errors: said,
	}, &out)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(askTime)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop(proc.Grace)
		<-p.Done()
		return nil, ctx.Err()
	case <-timer.C:
		p.Stop(proc.Grace)
		<-p.Done()
		return nil, fmt.Errorf("did not end within %s", clip.Span(askTime))
	}
	if st := p.Status(); st.Code != 0 || st.Signal != "" {
		return nil, errors.New("failed: " + ending(st, ""))
	}
	return out.b, nil
}

// limited keeps the first 64 KB of what is written to it.
type limited struct{ b []byte }

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	l.b = append(l.b, b[:min(len(b), maxSchema-len(l.b))]...)
	return len(b), nil
}
