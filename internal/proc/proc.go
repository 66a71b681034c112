// Package proc runs commands and owns every process they leave behind: each
// command is a session of its own without a terminal, its output is one
// bounded stream, and when it is over nothing of it is alive, also not what
// double-forked away. It never parses a command, never decides whether one
// may run, and knows no tool.
package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Times of a command's end.
const (
	// Grace is what a command has between the request to end and the kill.
	Grace = 2 * time.Second
	// drain is how long output is still awaited after the command itself
	// ended while processes it started hold the pipe.
	drain = 250 * time.Millisecond
	// leftoverGrace is what forgotten children get between TERM and KILL.
	leftoverGrace = 200 * time.Millisecond
	// watch is the pace at which dead orphans of a running command are reaped,
	// and rarely the one at which they are looked for where the system tells of
	// each death.
	watch  = time.Second
	rarely = time.Minute
	// stuck bounds the wait for killed processes to disappear; one in an
	// uninterruptible system call is left to the next sweep.
	stuck = 2 * time.Second
)

// A Command is what to run.
type Command struct {
	Path string   // absolute
	Args []string // with argument 0
	Dir  string
	Env  []string // complete; nothing is inherited
	// Keep lets processes that outlive the command itself run on: the command
	// is over when the last of them is. Otherwise they are ended.
	Keep bool
	// Gate says that the command reads one line from its standard input
	// before it starts anything; that line comes when its processes can be
	// told from all others. Without it, a child started in the first
	// microseconds that also leaves the session may be missed. What follows
	// the line is the end; a shell should then open /dev/null itself. With an
	// Input the line comes on descriptor 3, before Files.
	Gate bool
	// Input is the command's standard input, nil is an empty one; Errors is its
	// standard error, nil is where its output goes. Start closes both.
	Input, Errors *os.File
	// Files become descriptors 3, 4, … of the command. Start closes them.
	Files []*os.File
	// Keeper says that the command itself only holds others in a place of
	// their own (a sandbox) and takes them with it when it ends: when it is
	// asked to end, only they are.
	Keeper bool
	// Launch, when it is not nil, has something else start the command in the
	// stead of Path and Args: with files as its descriptors 0, 1, 2, …. When it
	// fails, Otherwise makes the command ready for an ordinary start.
	Launch    func(files []*os.File) (Launched, error)
	Otherwise func(c *Command) error
	// Helpers are children of this process with which whoever made the command
	// ready confines it. What a command started is never a child of theirs. They
	// take the place of those that were given before; nil leaves these.
	Helpers []int
	// Halt, when it is not nil, ends the command at once when something comes:
	// the reason, which is then Status.Over.
	Halt <-chan string
	// Estate is what the guardian hands to its caller when this process is killed
	// before it closed its table; "" is nothing.
	Estate string
	// After is called once, when no process is left or none was started.
	After func()
}

// A Launched is a child of this process that something else started. It does nothing
// until Begin is called, and ends when Begin is called with false. With its end the
// kernel ends all that it started in its turn; where that is not so, End is called once
// when it has ended, ends that within a second or two, and says what ended it all, if
// that was something else: see Status.Over.
type Launched struct {
	Pid   int
	Begin func(bool)
	End   func() string
}

// A Status is how a command ended.
type Status struct {
	Code   int    // exit code; 128+n after signal n
	Signal string // "killed", "segmentation fault", …; "" after an exit
	// Left are the commands of processes that were still alive when the
	// command itself ended, and were ended with it.
	Left []string
	// Over says which limit it was killed for, or what came on Halt; "" when for
	// none: "it had more than 4096 processes".
	Over string
}

// A Table starts commands and answers for their processes. Make one with
// NewTable and end it with Close.
type Table struct {
	mu      sync.Mutex // guards the fields below
	procs   map[*Process]struct{}
	closed  bool
	guards  bool           // guard runs
	swept   time.Time      // when orphans were reaped last
	wg      sync.WaitGroup // one for each process that is not Done, and for guard
	os      tableOS
	limits  Limits
	account *Account      // Config.Account
	ward    bool          // Config.Guardian
	groups  bool          // Config.Groups
	poke    chan struct{} // wakes guard: a process came or went
	buffers sync.Pool     // what output is read into, for one command after another
}

// A Config says how a table treats its commands; the zero value is of use.
type Config struct {
	Limits Limits
	// Account is that of the tables which share Limits.Memory; nil: this one has
	// it for itself.
	Account *Account
	// Guardian has commands ended even when this process is killed: it starts
	// this program once more, which must then call Guardian. Commands of a
	// Keeper do without, because that takes them with it, unless they have an
	// Estate. Windows needs none.
	Guardian bool
	// Groups makes the limits the kernel's where this process has a control
	// group for itself (Linux). Only one table of a process can have that.
	Groups bool
}

// NewTable is New with a Config of zero.
func NewTable() *Table { return New(Config{}) }

// New returns an empty table. On Linux it makes this process the subreaper of
// everything it starts.
func New(c Config) *Table {
	if c.Limits.Processes == 0 {
		c.Limits.Processes = MaxProcesses
	}
	t := &Table{procs: map[*Process]struct{}{}, limits: c.Limits, account: c.Account, ward: c.Guardian, groups: c.Groups, poke: make(chan struct{}, 1)}
	t.buffers.New = func() any { return new([64 << 10]byte) }
	t.os.init()
	return t
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("start command: adze is shutting down")

// A Process is a command that was started, with everything it started.
type Process struct {
	Pid    int
	table  *Table
	after  func()
	halt   <-chan string
	ward   bool // the guardian knows it
	clean  bool // it ended and left nothing; used by own only, like others
	others bool // this process had other children when it ended
	first  bool // Keeper: the first process is not asked to end
	whole  bool // Launched: when the first process is gone, and rest was called, all are
	rest   func() string
	cmd    *exec.Cmd
	child  *os.Process // the command itself, cmd's where it has one
	out    *os.File    // our end of the output pipe
	os     processOS

	exited chan struct{} // the command itself ended
	eof    chan struct{} // the output ended
	done   chan struct{} // no process is left
	stop   chan time.Duration

	mu     sync.Mutex // guards the fields below
	keep   bool
	reaped bool // its pid may belong to another process now
	status Status
}

// Ahead begins what the first command would wait for, because one is to come: with
// Config.Guardian it starts that.
func (t *Table) Ahead() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ward && !t.closed {
		t.wg.Go(t.os.guardian.ahead)
	}
}

// Start runs c. Its standard input is empty; what it writes to standard
// output and standard error goes to w as it comes, from one goroutine, until
// Done.
func (t *Table) Start(c Command, w io.Writer) (*Process, error) {
	defer func() { // also those that Otherwise adds
		for _, f := range append(c.Files, c.Input, c.Errors) {
			if f != nil {
				_ = f.Close()
			}
		}
	}()
	started := false
	defer func() {
		if !started && c.After != nil {
			c.After()
		}
	}()
	if err := Batch(c.Path, c.Args[min(1, len(c.Args)):]); err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	in, open, err := c.input()
	if err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	if in != c.Input {
		defer in.Close()
	}
	defer open() // after the processes are known, or the start went wrong
	r, pw, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	defer pw.Close()
	p := &Process{
		table: t, keep: c.Keep, out: r,
		exited: make(chan struct{}), eof: make(chan struct{}), done: make(chan struct{}),
		stop: make(chan time.Duration, 1),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		r.Close()
		return nil, ErrClosed
	}
	begin, err := p.start(&c, in, pw)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start command: %w", err)
	}
	started = true
	p.Pid, p.after, p.halt, p.first = p.child.Pid, c.After, c.Halt, c.Keeper
	if c.Helpers != nil {
		t.os.aside(c.Helpers)
	}
	p.os.started(p, &t.os)
	if p.ward = t.ward && !c.Keeper; p.ward {
		p.os.guard(p)
	}
	if t.ward && c.Estate != "" {
		t.os.guardian.inherit(c.Estate)
	}
	begin()
	t.procs[p] = struct{}{}
	t.wg.Add(1)
	t.watched()
	go p.read(w) // ends at the end of the pipe, which finish forces
	go p.wait()  // ends when the command itself does
	go p.own()   // ends when no process is left
	return p, nil
}

// start starts the command, in a group of its own where that can be. It does
// nothing before begin is called where something else starts it.
func (p *Process) start(c *Command, in, out *os.File) (begin func(), err error) {
	if c.Launch != nil {
		l, err := c.Launch(append([]*os.File{in, out, cmp.Or(c.Errors, out)}, c.Files...))
		if err == nil {
			return p.adopt(l)
		}
		if err := c.Otherwise(c); err != nil {
			return nil, err
		}
	}
	cmd := func() *exec.Cmd {
		return &exec.Cmd{
			Path: c.Path, Args: c.Args, Dir: c.Dir, Env: append([]string{}, c.Env...),
			Stdin: in, Stdout: out, Stderr: cmp.Or(c.Errors, out), ExtraFiles: c.Files, SysProcAttr: attributes(),
		}
	}
	p.cmd = cmd()
	if p.table.groups && p.os.enclose(p) {
		if err = p.cmd.Start(); err != nil {
			p.os.disclose() // the kernel is too old, or the group was taken away
			p.cmd = cmd()
			err = p.cmd.Start()
		}
	} else {
		err = p.cmd.Start()
	}
	p.child = p.cmd.Process
	return func() {}, err
}

// adopt takes over a command that something else started.
func (p *Process) adopt(l Launched) (begin func(), err error) {
	if p.child, err = os.FindProcess(l.Pid); err != nil {
		l.Begin(false)
		if l.End != nil {
			l.End()
		}
		return nil, err
	}
	if p.table.groups && !p.os.admit(p, l.Pid) {
		p.os.disclose()
	}
	p.whole, p.rest = true, l.End
	return func() { l.Begin(true) }, nil
}

// input is the standard input and what opens the gate.
func (c *Command) input() (in *os.File, open func(), err error) {
	if c.Input != nil && !c.Gate {
		return c.Input, func() {}, nil
	}
	if !c.Gate {
		in, err = os.OpenFile(os.DevNull, os.O_RDONLY, 0)
		return in, func() {}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if in = r; c.Input != nil {
		in, c.Files = c.Input, append([]*os.File{r}, c.Files...)
	}
	return in, func() {
		_, _ = w.WriteString("\n") // a command that ended already does not read
		_ = w.Close()
	}, nil
}

// Done is closed when the output is complete and no process is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status is how it ended; complete once Done is closed.
func (p *Process) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Keep is Command.Keep for a command that runs already.
func (p *Process) Keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep = true
}

func (p *Process) kept() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keep
}

func (p *Process) read(w io.Writer) {
	defer close(p.eof)
	b := p.table.buffers.Get().(*[64 << 10]byte)
	defer p.table.buffers.Put(b)
	buf := b[:]
	for {
		n, err := p.out.Read(buf)
		if n > 0 {
			_, _ = w.Write(buf[:n]) // the writer bounds and reports for itself
		}
		if err != nil {
			return
		}
	}
}

func (p *Process) wait() {
	defer close(p.exited)
	ended(p.Pid)
	state, _ := p.child.Wait() // the state says it all
	p.os.reaped(p)
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	if p.rest != nil {
		if why := p.rest(); why != "" {
			p.exceeded(why)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Code, p.status.Signal = exitStatus(state)
}

// own sees the command to its end: it carries out Stop, ends forgotten
// children, and closes Done.
func (p *Process) own() {
	defer p.table.forget(p)
	defer close(p.done)
	if p.after != nil {
		defer p.after()
	}
	var look *time.Timer // Launched: it leaves no orphans to this process
	var tick <-chan time.Time
	var deaths, died <-chan os.Signal
	asked := false // for deaths: most commands are over before that
	if !p.whole {
		look = time.NewTimer(watch)
		defer look.Stop()
		tick = look.C
	}
	exited := p.exited
	var eof chan struct{} // looked at only after the command itself ended
	for {
		select {
		case grace := <-p.stop:
			p.end(grace)
			p.finish()
			return
		case why := <-p.halt:
			p.exceeded(why)
			p.end(0)
			p.finish()
			return
		case <-exited:
			if !p.whole && p.kept() && p.alive() {
				exited, eof = nil, p.eof // from now on its children count
				continue
			}
			p.leave()
			return
		case <-eof:
			eof = nil
			if !p.alive() {
				p.leave()
				return
			}
		case <-died: // of those that come close together, one look takes care
			died = nil
			look.Reset(watch)
		case <-tick:
			if !asked {
				told, stop := childDeaths()
				defer stop()
				deaths, asked = told, true
			}
			if died = deaths; died != nil {
				look.Reset(rarely)
			} else {
				look.Reset(watch)
			}
			if exited != nil {
				p.table.reap()
			} else if !p.alive() {
				p.leave()
				return
			}
		}
	}
}

// reap reaps dead orphans, once in a while for all commands that run: it looks
// at every process of the machine.
func (t *Table) reap() {
	now := time.Now()
	t.mu.Lock()
	if now.Sub(t.swept) < watch/2 {
		t.mu.Unlock()
		return
	}
	t.swept = now
	t.mu.Unlock()
	t.os.sweep()
}
