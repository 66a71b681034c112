// Package bash is the shell for a model: Bash runs a command, and Tasks are those that
// run in the background. It reads commands with shellread to say what they would do; it never decides whether they may, and
// knows no sandbox but the hook it is given.
package bash

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Limits of tools.md.
const (
	defaultTimeout = 120_000 * time.Millisecond
	maxTimeout     = 600_000 * time.Millisecond
	limit          = 30_000 // characters of a result
)

// How long a command may run in the background, unless its call says otherwise and at
// most; BashInput of sdk-tools.d.ts.
const (
	defaultLasts = 1_800_000 * time.Millisecond
	maxLasts     = 7_200_000 * time.Millisecond
)

//go:embed bash.md
var bashText string

// Config is what the tools of one session are made from.
type Config struct {
	// Environ is our own environment; commands get what proc.Scrub leaves of
	// it. Allow is the user's list of further names.
	Environ, Allow []string
	// Vars, when set, is asked for both before each command, because settings
	// may change while a session runs.
	Vars func() (environ, allow []string)
	// Pins are variables (NAME=value) for commands that were read as read-only,
	// which keep git and others from more than that.
	Pins []string
	// World tells shellread about the file system; nil knows only the folder.
	World func(dir string) world.World
	// Writes is world.World.Writes.
	Writes func(path string) bool
	// Wrap puts a command into the sandbox as its verdict needs it, and says what it
	// keeps from it; nil means there is none. When it fails the command does not run.
	Wrap func(c *proc.Command, needs policy.Needs) (policy.Kept, error)
	// Active says whether Wrap confines anything; nil means it does.
	Active func() bool
	// Apart says whether what a wrapped command leaves running ends with its shell, and
	// is not seen from outside; nil means that it is.
	Apart func() bool
	// Ahead is told that a command is to come, and returns at once; nil tells nobody.
	Ahead func()
	// Passes says whether a command may run without a question because it is
	// wrapped; nil means it may not.
	Passes func() bool
	// Excluded says that a script never runs inside; nil excludes none. Stays
	// says whether dangerously_disable_sandbox is refused; nil means it is not.
	Excluded func(actions []policy.Action) bool
	Stays    func() bool
	// Denial says what the sandbox blocked when a wrapped command failed, ""
	// when it was not the sandbox. nil explains nothing.
	Denial func(command string, exit int, output string) string
	// Quarantined is called when a command that was wrapped is over, before its
	// result is given: it sees to what the command left where the sandbox lets
	// nothing stay, and says what became of it. A question it asks ends with
	// ctx. nil sees to nothing.
	Quarantined func(ctx context.Context) []string
	// Mask wraps the writer of a command's output to hide secrets, before
	// anything is kept, and with them more values; a Flush() error method, if it has
	// one, is called at the end. nil hides nothing.
	Mask func(w io.Writer, values []string) io.Writer
	// EndLate: a command that runs into its time limit is ended, and does not go on in the
	// background.
	EndLate bool
	// Ends: what runs in the background ends with the model's last answer.
	Ends bool
	// Temp is a private folder for output that does not fit elsewhere; "" makes
	// one. Commands in the sandbox must not be able to write there.
	Temp string
	// Confined is the folder for temporary files of commands in the sandbox.
	Confined string
	// Limits are what commands may use. Memory is shared with others that have the
	// same Account; nil shares it with nobody.
	Limits  proc.Limits
	Account *proc.Account
	// Guardian and Groups are those of proc.Config.
	Guardian, Groups bool
	Now              func() time.Time // nil is time.Now
}

// New returns the tools, and the registry of what runs. Close the registry at the end.
func New(c Config) (tools []tool.Tool, tasks *Tasks) {
	b := newRunner(c)
	return b.tools(), b.tasks
}

func newRunner(c Config) *runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Vars == nil {
		c.Vars = func() ([]string, []string) { return c.Environ, c.Allow }
	}
	b := &runner{Config: c, tasks: newTasks(c)}
	b.tasks.runner = b
	return b
}

type input struct {
	Command     string `json:"command" jsonschema:"the command to run"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"milliseconds; 120000 unless given, at most 600000; in the background 1800000 and 7200000"`
	Description string `json:"description,omitempty" jsonschema:"what the command does, in 5 to 10 words"`
	Background  bool   `json:"run_in_background,omitempty" jsonschema:"return an id at once and let it run"`
	NoSandbox   bool   `json:"dangerously_disable_sandbox,omitempty" jsonschema:"ask to run outside the sandbox, after the sandbox made it fail"`

	watch *Watch // it is a monitor
}

// runner is the Bash tool of one session. What lasts from one command to the
// next are the working directory (kept by the session, in Env.Dir) and the
// exported variables (kept here). Functions, aliases, shell options and
// variables that are not exported last for one command.
type runner struct {
	Config
	tasks   *Tasks
	mu      sync.Mutex // guards the fields below
	exports exports
	failed  struct{ command, why string } // the last one that the sandbox made fail
	resumed sync.Once                     // fills exports with those of the first Env
	shell   string
}

func (b *runner) tools() []tool.Tool {
	spec := tool.Spec{
		Name: "Bash", Again: true, Description: bashText, Limit: limit, Shell: true, Ahead: b.ahead,
		Facts: []string{"command", "timeout", "run_in_background", "dangerously_disable_sandbox"},
	}
	return []tool.Tool{tool.New(spec, b.plan, b.run)}
}

// ahead begins what a command needs while its call still arrives.
func (b *runner) ahead() {
	if b.Ahead != nil {
		b.Ahead()
	}
	b.tasks.table.Ahead()
}

func (b *runner) plan(in input, env tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	s := b.read(in.Command, env)
	if d := sleeps(s.Actions); d > maxSleep && !in.Background {
		return tool.Plan{}, fmt.Errorf("sleep alone holds everything up for %s, and nothing can reach you meanwhile. Wait for a task in the background with TaskOutput and block, for a line, a file or an event with Monitor, and for time with Sleep, which ends when something arrives", d)
	}
	p := tool.Plan{
		Actions:  s.Actions,
		View:     view.Terminal{Command: clip.VisibleText(in.Command)},
		Title:    "Bash: " + clip.Line(clip.VisibleText(in.Command), 100),
		Parallel: s.ReadOnly && s.Dir == env.Dir && !in.Background,
	}
	if s.ReadOnly && len(p.Actions) == 0 { // nothing but comments
		p.Actions = []policy.Action{policy.None{}}
	}
	if b.excluded(s) {
		return p, nil
	}
	if in.NoSandbox && b.confined(input{}) {
		if b.Stays != nil && b.Stays() {
			return tool.Plan{}, errors.New("the settings of this machine let no command run outside the sandbox; leave dangerously_disable_sandbox out")
		}
		p.Actions = append(p.Actions, policy.Person{Why: "the model wants it to run outside the sandbox" + b.before(in.Command), Soft: true})
	}
	p.Sandboxed = b.Wrap != nil && !in.NoSandbox && b.Passes != nil && b.Passes()
	return p, nil
}

// excluded reports whether the settings keep a script out of the sandbox.
func (b *runner) excluded(s shellread.Script) bool {
	return b.Wrap != nil && b.Excluded != nil && b.Excluded(s.Actions)
}

func (in input) check() error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return errors.New(`field "command" is empty`)
	case strings.ContainsRune(in.Command, 0):
		return errors.New(`field "command" holds a NUL character, which no shell can read`)
	case in.Timeout < 0:
		return fmt.Errorf("field \"timeout\" is %d; give milliseconds from 1 to %d", in.Timeout, maxTimeout.Milliseconds())
	case in.Background && in.Timeout > int(maxLasts.Milliseconds()):
		return fmt.Errorf("field \"timeout\" is %d ms; in the background at most %d ms (2 hours) is possible", in.Timeout, maxLasts.Milliseconds())
	case in.Background:
	case in.Timeout > int(maxTimeout.Milliseconds()):
		return fmt.Errorf("field \"timeout\" is %d ms; at most %d ms (10 minutes) is possible. Use run_in_background for a longer command",
			in.Timeout, maxTimeout.Milliseconds())
	}
	return nil
}

func (in input) timeout() time.Duration {
	if in.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(in.Timeout) * time.Millisecond
}

// lasts is how long the command may run in the background.
func (in input) lasts() time.Duration {
	if in.Timeout == 0 || !in.Background {
		return defaultLasts
	}
	return time.Duration(in.Timeout) * time.Millisecond
}

func (b *runner) read(command string, env tool.Env) shellread.Script {
	w := world.World{Dir: env.Dir, Home: env.Home}
	if b.World != nil {
		w = b.World(env.Dir)
	}
	w.Program, w.Dirs, w.Writes = b.program(env), env.Roots, b.Writes
	return shellread.Read(command, w)
}

func (b *runner) run(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	if ctx.Err() != nil {
		return tool.Errorf("the command was not run: it was interrupted before"), nil
	}
	if r, gone := goneDir(env); gone {
		return r, nil
	}
	s := b.read(in.Command, env)
	in.NoSandbox = in.NoSandbox || b.excluded(s)
	if env.Needs.Confined && (in.NoSandbox || b.Wrap == nil || b.Passes == nil || !b.Passes()) {
		return tool.Errorf("the command was not run: it is allowed only inside the sandbox, which is not there any more. Try it again, so that it is judged anew"), nil
	}
	confined := b.confined(in)
	if confined {
		if r, stop := b.fetched(ctx, s, in, env); stop {
			return r, nil
		}
	}
	c, h, kept, err := b.command(in, env, s.ReadOnly && s.Dir == env.Dir)
	if err != nil {
		return tool.Errorf("the command was not run: %s", err), nil
	}
	j, err := b.tasks.start(c, h, in, env, kept.Masked)
	if err != nil {
		return tool.Errorf("the command was not run: %s", err), nil
	}
	if confined && b.Denial != nil {
		b.tasks.mu.Lock()
		j.blocked = func(exit int, output string) string { return b.blocked(in.Command, exit, output) }
		b.tasks.mu.Unlock()
	}
	shut := notOpened(kept.Closed)
	if in.Background {
		return j.backgroundResult(in, shut...), nil
	}
	how := b.await(ctx, j, in.timeout(), env.Session == "" || b.EndLate, env.Progress)
	switch {
	case how == moved:
		return j.backgroundResult(in, shut...), nil
	case how == goesOn:
		if s.Dir != env.Dir {
			shut = append(shut, "the working directory is still "+env.Dir+": a command that goes on in the background does not change it")
		}
		return j.lateResult(in, shut...), nil
	}
	r := j.result(in, how)
	if how == ended {
		b.takeOver(j, s, c.Env, confined, env, &r)
		b.blame(in, &r)
	}
	leftOut(kept.Hidden, env.Dir, &r)
	r.Text = join(r.Text, shut)
	if confined && how != interrupted && b.Quarantined != nil {
		r.Text = join(r.Text, b.Quarantined(ctx))
	}
	return r, nil
}

// confined reports whether a command runs inside the sandbox.
func (b *runner) confined(in input) bool {
	return b.Wrap != nil && !in.NoSandbox && (b.Active == nil || b.Active())
}

// blame says what the sandbox blocked, when that is why a command failed.
func (b *runner) blame(in input, r *tool.Result) {
	t, ok := r.View.(view.Terminal)
	if !ok || !b.confined(in) || b.Denial == nil {
		return
	}
	if t.Exit != 0 && seeksProcess(in.Command, t.Output) && len(b.tasks.Running()) > 0 {
		r.Text = join(r.Text, []string{ownProcesses})
		return
	}
	if !r.IsErr && t.Exit != 0 {
		return
	}
	why := b.Denial(in.Command, t.Exit, t.Output)
	if why == "" {
		return
	}
	if r.Text = join(r.Text, []string{b.goOn(in.Command, why)}); t.Note != "" && t.Note != fmt.Sprintf("exit code %d", t.Exit) {
		t.Note += "; "
	} else {
		t.Note = ""
	}
	t.Note += Blocked + why
	r.View = t
}

// Blocked begins what is said of a command that the sandbox made fail.
const Blocked = "the sandbox blocked this: "

// blocked says what the sandbox blocked when a command failed, and how to go on;
// "" when that is not why.
func (b *runner) blocked(command string, exit int, output string) string {
	if why := b.Denial(command, exit, output); why != "" {
		return b.goOn(command, why)
	}
	return ""
}

// goOn says what the sandbox blocked, and what the model can do.
func (b *runner) goOn(command, why string) string {
	b.mu.Lock()
	b.failed.command, b.failed.why = command, why
	b.mu.Unlock()
	if b.Stays != nil && b.Stays() {
		return Blocked + why + ". Here no command can run outside the sandbox; if it is needed, tell the user"
	}
	return Blocked + why + ". If it is needed, say why, and ask to run it with dangerously_disable_sandbox"
}

// before says what the sandbox kept a command from when it ran last; "" when it did not.
func (b *runner) before(command string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed.why == "" || b.failed.command != command {
		return ""
	}
	why, _, _ := strings.Cut(b.failed.why, ";")
	return ", which blocked it before: " + why
}

// goneDir reports a working directory that was deleted.
func goneDir(env tool.Env) (tool.Result, bool) {
	if isDir(env.Dir) {
		return tool.Result{}, false
	}
	r := tool.Errorf("the command was not run: the working directory %s no longer exists.", env.Dir)
	if len(env.Roots) > 0 && isDir(env.Roots[0]) {
		r.Effects = append(r.Effects, effect.Dir{Path: env.Roots[0]})
		r.Text += " The working directory is now " + env.Roots[0] + "; run the command again if it still makes sense there."
	} else {
		r.Text += " Create it again, with an absolute path, before anything else."
	}
	return r, true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// command builds the process for in, as its verdict needs it. still: it leaves
// no state behind, so that calls like it may run side by side.
func (b *runner) command(in input, env tool.Env, still bool) (c proc.Command, h *handover, kept policy.Kept, err error) {
	base := proc.Quiet(proc.Scrub(b.Vars())) // the environment before any command changed it
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shell == "" {
		shell, err := proc.Shell(proc.Getenv(base, "PATH"), env.Roots)
		if err != nil {
			return proc.Command{}, nil, kept, err
		}
		b.shell = shell
	}
	temp, err := b.tasks.temp()
	if err != nil {
		return proc.Command{}, nil, kept, err
	}
	isBash := strings.HasPrefix(filepath.Base(b.shell), "bash")
	h, err = newHandover(in.Command, temp, !still && !in.Background, isBash)
	if err != nil {
		return proc.Command{}, nil, kept, err
	}
	h.base = base
	h.apart = !in.Background && b.confined(in) && b.Apart != nil && b.Apart()
	h.looks = h.apart && isBash
	args := []string{filepath.Base(b.shell)}
	if isBash {
		args = append(args, "--noprofile", "--norc")
	}
	c = proc.Command{
		Path: b.shell, Dir: env.Dir, Keep: in.Background, Gate: true, Files: h.files,
		Args: append(args, "-c", wrapper(in.Command, h, isBash), "bash"),
	}
	if h.looks {
		c.Args = append(c.Args, lookAround)
	}
	b.resume(env.Exports)
	vars := b.exports.of(base, b.confined(in))
	if env.Needs.Pinned {
		vars = b.pinned(base, diff(base, vars), b.avoid(env))
	}
	c.Env = proc.Set(vars, "PWD="+env.Dir)
	if b.Wrap != nil && !in.NoSandbox {
		if kept, err = b.Wrap(&c, env.Needs); err != nil {
			h.drop()
			return proc.Command{}, nil, kept, err
		}
	}
	return c, h, kept, nil
}

// takeOver takes over the directory a command ended with, and what it changed of
// the environment it was begun with: what the sandbox put there is not its own.
func (b *runner) takeOver(j *job, s shellread.Script, begun []string, confined bool, env tool.Env, r *tool.Result) {
	if j.lost != nil {
		r.Text += fmt.Sprintf("\n[the folder and the variables are as before the command: %s]", j.lost)
	}
	if j.state.left != "" {
		r.Text = join(r.Text, []string{fmt.Sprintf(wasLeft, clip.Line(clip.Clean(j.state.left), noteText))})
	}
	dir := firstOf(j.state.dir, env.Dir)
	if j.state.vars != nil {
		now, odd := mayLeave(s, env.Needs.Pinned, begun, j.state.vars)
		if len(odd) > 0 {
			r.Text += fmt.Sprintf("\n[variables that nothing in the command sets are as before it: %s]", clip.Line(strings.Join(odd, " "), noteText))
		}
		b.mu.Lock()
		base := j.hand.base
		b.exports.add(base, begun, now, confined)
		b.mu.Unlock()
		if vars := recorded(diff(begun, now)); len(vars) > 0 {
			r.Effects = append(r.Effects, effect.Exported{Vars: vars, Confined: confined})
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && plainDir(real) {
		dir = real
	}
	back := env.Dir
	if !isDir(back) && len(env.Roots) > 0 {
		back = env.Roots[0]
	}
	switch {
	case !isDir(dir):
		r.Effects = append(r.Effects, effect.Dir{Path: back})
		r.Text += fmt.Sprintf("\n[the working directory %s no longer exists; it is now %s]", dir, back)
	case dir == env.Dir:
	case paths.WithinAny(env.Roots, dir):
		r.Effects = append(r.Effects, effect.Dir{Path: dir})
	default:
		if back != env.Dir {
			r.Effects = append(r.Effects, effect.Dir{Path: back})
		}
		r.Text += fmt.Sprintf("\n[the working directory was reset to %s: %s is outside the allowed folders]", back, dir)
	}
}

func firstOf(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}
