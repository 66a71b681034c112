package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/ui/print"
)

// options gathers what every command that loads settings needs.
func (f *runFlags) options(sys System, fs *pflag.FlagSet) (invocation, error) {
	if f.in != nil {
		return f.in.options(f.cwd, fs)
	}
	o := invocation{Invocation: app.Invocation{Surroundings: app.Surroundings{
		Environment: settings.Environment{Env: sys.Env, Note: func(s string) { tell(sys.Stderr, "adze: ", s) }},
		Version:     sys.Version, Environ: sys.Environ,
		Record: sys.Record, Memory: &choose.Memory{}, Near: live.Near,
	}}}
	if err := f.fill(sys, fs); err != nil {
		return o, err
	}
	o.Trusted, o.Bare, o.Inline, o.Betas = f.trust, f.bare, f.settings, f.clients.betas
	o.spec.Skip, o.spec.MayBypass = f.skip, f.clients.mayBypass
	dir, err := workDir(f.cwd)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	if f.debug != "" && f.logFile != "" {
		if o.LogFile, err = filepath.Abs(f.logFile); err != nil {
			return o, err
		}
	}
	if o.Extensions, err = f.extensions.read(dir); err != nil {
		return o, err
	}
	for _, line := range f.extensions.notes {
		o.Note(line)
	}
	f.extensions.notes = nil
	g := sys.ground(dir)
	apply(g, &o.Surroundings)
	for _, line := range g.Notes {
		o.Note(line)
	}
	if fs.Changed("setting-sources") {
		o.Only = policy.SplitList(f.sources) // none, when it is empty
	}
	o.Flags = append(given(fs), f.clients.given(fs)...)
	for _, x := range []struct{ flag, path, key string }{
		{"system-prompt-file", f.systemFile, "system_prompt"}, {"append-system-prompt-file", f.appendFile, "append_system_prompt"},
	} {
		if x.path == "" {
			continue
		}
		text, err := readText(x.flag, x.path)
		if err != nil {
			return o, err
		}
		o.Flags = append(o.Flags, configGiven(x.key, text, "--"+x.flag))
	}
	o.Lasting = f.input == "stream-json"
	o.Transcripts = transcripts{sdk: f.startedBySDK(sys), note: o.Note}
	if f.maintenance && (f.init || f.initOnly) {
		return o, usagef("give one of them", "--init and --maintenance are two triggers of Setup hooks")
	}
	o.spec.Setup, o.worktree = f.setup(), f.worktree
	o.spec.Log = sessions.Choice{Continue: f.cont, Resume: f.resume, Fork: f.fork, At: f.clients.resumeAt, ID: f.sessionID, None: f.noSession}
	if f.schema != "" {
		if o.spec.Schema, err = schema(f.schema); err != nil {
			return o, err
		}
	}
	return o, nil
}

// workDir is the folder to work in; a folder that was deleted under the shell
// has a message of its own.
func workDir(flag string) (string, error) {
	if flag != "" {
		info, err := os.Stat(flag)
		switch {
		case err != nil:
			return "", usagef("give a folder that exists", "--cwd %s: %v", clip.Visible(flag), hint.Cause(err))
		case !info.IsDir():
			return "", usagef("give the folder that holds it", "--cwd: %s is not a folder", flag)
		}
		if err := os.Chdir(flag); err != nil {
			return "", usagef("give a folder that you may enter", "--cwd %s: %v", clip.Visible(flag), hint.Cause(err))
		}
	}
	dir, err := os.Getwd()
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return "", failf("go to a folder that exists: cd ~", "the folder this shell stands in was deleted or cannot be read (%v)", hint.Cause(err))
	}
	return dir, nil
}

// maxSchema bounds the file of --json-schema, in bytes.
const maxSchema = 4 << 20

// schema reads --json-schema: JSON text, or the path of a file with it.
func schema(s string) (json.RawMessage, error) {
	raw := []byte(s)
	if !strings.HasPrefix(strings.TrimSpace(s), "{") {
		b, err := regular.Given(s, maxSchema)
		if err != nil {
			return nil, usagef("give a JSON Schema object, or the path of a file with one", "--json-schema: %v", err)
		}
		raw = b
	}
	if err := json.Unmarshal(raw, new(map[string]any)); err != nil {
		return nil, usagef("give a JSON Schema object, or the path of a file with one", "--json-schema is not a JSON object: %v", fastjson.InWords(err))
	}
	return raw, nil
}

var toolWord = pattern.Lazy(`^(mcp__\S+|[A-Z]\w*\(.*\)|Bash|Read|Write|Edit|NotebookEdit|Glob|Grep|WebFetch|WebSearch|TodoWrite|Skill|Task)$`)

// listOfTools refuses words behind a flag that takes tools, where they look like
// more of them: other programs take a list there, and a rule would become a part
// of the prompt.
func listOfTools(fs *pflag.FlagSet, args []string) error {
	for _, name := range []string{"allowed-tools", "disallowed-tools", "tools"} {
		if !fs.Changed(name) || fs.ArgsLenAtDash() >= 0 {
			continue
		}
		if n := slices.IndexFunc(args, toolWord().MatchString); n >= 0 {
			return usagef(fmt.Sprintf("give --%s one value: \"A,B\"; before a prompt that is meant so, put --", name), "%q looks like one more tool for --%s", args[n], name)
		}
	}
	return nil
}

// lingers is how long a run waits for commands in the background when its prompts are
// answered, as Claude Code 2.1.163 and later do.
const lingers = 5 * time.Second

// runPrompt is "adze [prompt]".
func runPrompt(ctx context.Context, sys System, f *runFlags, root *cobra.Command, args []string) error {
	fs := root.Flags()
	o, err := f.options(sys, fs)
	if err != nil {
		return err
	}
	if err := listOfTools(fs, args); err != nil {
		return err
	}
	text := strings.Join(args, " ")
	if !f.print && fs.ArgsLenAtDash() != 0 {
		if err := meantCommand(root, args); err != nil {
			return err
		}
	}
	if f.initOnly {
		return f.onlySetUp(ctx, o)
	}
	if f.wantsUI(sys, fs) {
		return runUI(ctx, sys, f, o, text)
	}
	o.Print, o.Person, o.Host = true, f.asker != "", f.asker != ""
	if sys.ErrTTY { // what adze says of itself stands above the line of what runs
		sys.Stderr = &above{to: sys.Stderr}
		o.Note = func(s string) { tell(sys.Stderr, "adze: ", s) }
	}
	inputs, done, err := f.inputs(ctx, sys, text)
	if err != nil {
		return err
	}
	if f.input == "stream-json" {
		if inputs, err = setUp(ctx, sys, &o, inputs); err != nil {
			return err
		}
	}
	f.clients.unused, f.clients.foreign = o.unused, ignoredPublished(fs)
	a, err := o.start(ctx)
	if err != nil {
		return err
	}
	abort := a.process.Abort
	sys.abort.Store(&abort)
	debugged, err := f.debugTo(sys, a)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if code, ended := endedBy(ctx); ended { // while adze started
		return errors.Join(&failure{code: code, cause: "interrupted"}, a.Close(), debugged())
	}
	if f.name != "" {
		if err := a.Submit(ctx, op.Rename{Title: f.name}); err != nil {
			return errors.Join(usagef("give it a name of one line", "--name: %v", err), a.Close(), debugged())
		}
	}
	if f.noPrompt && a.State().Deferred() == nil {
		return errors.Join(errNoPrompt, a.Close(), debugged())
	}
	stop := interrupting(ctx, a)
	d := desk.Around(desk.Config{Surroundings: o.Surroundings, Sources: o.Sources, Front: o.Front}, a.Running)
	opts := print.Options{
		Format: print.Format(f.output), Partial: f.partial, Replay: f.replay, Hooks: f.clients.hookEvents, About: a.about(d), After: a.After,
		Out: sys.Stdout, Err: sys.Stderr, Agents: a.FollowAgent, Chatty: f.verbose || sys.ErrTTY && f.output == "text", Inputs: inputs, Host: o.Person, Callbacks: o.callbacks,
		Suggest: a.Suggest, Suggests: f.clients.suggests(), TellProgress: a.TellProgress,
	}
	if a.Place().Config().Bash.Wake {
		opts.Linger = lingers
	}
	own := ownCommands{running: a, desk: d, programs: f.output != "text"}
	if opts.PDF = a.PDFText; !o.Extensions.NoCommands {
		opts.Own, opts.NoCommand = own.do, o.noCommand
		if own.programs {
			opts.NoCommand = own.unknown
		}
	}
	if f.input == "stream-json" {
		opts.Ready = o.ready(ctx, a)
	}
	if strings.HasPrefix(f.asker, "mcp__") {
		opts.Approve = approver(a, f.asker)
	}
	unheard := f.listen(ctx, sys, d, a.Place().Paths.State, func(string) {}) // nobody looks on
	w := watching(sys)
	if w != nil && f.output == "text" {
		opts.Watch, opts.Answer = w.see, w.answer
	}
	res, err := print.Run(context.WithoutCancel(ctx), a, opts)
	a.Settle(ctx) // a hook that says that the run failed would otherwise end with it
	w.stop()
	stop()
	cerr := a.Close()
	unheard()
	cerr = errors.Join(cerr, debugged())
	if code, ended := endedBy(ctx); ended {
		return &failure{code: code, cause: "interrupted", hint: resumeHint(a)}
	}
	return errors.Join(outcome(sys, f, a, res, err), cerr, <-done)
}

// onlySetUp runs the hooks of the setup and of the start, and nothing else.
func (f *runFlags) onlySetUp(ctx context.Context, o invocation) error {
	o.Print, o.spec.Log = true, sessions.Choice{None: true}
	a, err := o.start(ctx)
	if err != nil {
		return err
	}
	select {
	case <-a.Began():
	case <-ctx.Done():
	}
	err = a.Close()
	if code, ended := endedBy(ctx); ended {
		return errors.Join(&failure{code: code, cause: "interrupted"}, err)
	}
	return err
}

// setUp waits for the first input, and puts what a host decides with it before
// the session begins into the options. It returns the inputs, this one first.
func setUp(ctx context.Context, sys System, o *invocation, in <-chan print.Input) (<-chan print.Input, error) {
	out := make(chan print.Input, 1)
	x, ok := <-in // ends with ctx
	if !ok {
		close(out)
		return out, nil
	}
	s, err := x.Request.Setup()
	if err != nil {
		x.Request.Refuse(sys.Stdout, err)
		return nil, usagef("leave it out, or write it as docs/print-protocol.md has it", "%v", err)
	}
	for _, v := range []struct{ key, text string }{{"system_prompt", s.System}, {"append_system_prompt", s.Append}} {
		if v.text != "" {
			o.Flags = append(o.Flags, configGiven(v.key, v.text, "initialize"))
		}
	}
	if err := o.inside(s); err != nil {
		x.Request.Refuse(sys.Stdout, err)
		return nil, usagef("leave it out, or write it as docs/print-protocol.md has it", "%v", err)
	}
	o.callbacks = print.NewCallbacks()
	o.Extensions.Host = o.callbacks.Message
	o.spec.Hooks, o.spec.Callback = s.Hooks, o.callbacks.Ask
	if o.spec.Schema == nil {
		o.spec.Schema = s.Schema
	}
	out <- x
	go func() { // ends with the input, or with ctx
		defer close(out)
		for x := range in {
			select {
			case out <- x:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// interrupting interrupts what runs when ctx ends, and what begins after that,
// because a signal may come at any moment. The returned function ends it.
func interrupting(ctx context.Context, a interface {
	Submit(context.Context, op.Op) error
	StopAgents()
}) func() {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends with over
		for {
			_ = a.Submit(context.WithoutCancel(ctx), op.Interrupt{}) // nothing runs, or it is interrupted
			a.StopAgents()
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() { stop(); close(over) }
}

// debugTo starts --debug. The returned function ends it.
func (f *runFlags) debugTo(sys System, a running) (func() error, error) {
	if f.debug == "" {
		return func() error { return nil }, nil
	}
	areas := f.areas()
	if f.logFile == "" {
		f.noteIgnored(sys.Stderr)
		wait := a.Debug(sys.Stderr, areas)
		return func() error { wait(); return nil }, nil
	}
	file, err := os.OpenFile(f.logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, usagef("give a file in a folder that you may write to", "--log-file: %v", err)
	}
	f.noteIgnored(file)
	wait := a.Debug(file, areas)
	return func() error { wait(); return file.Close() }, nil
}

// noteIgnored says which flags do nothing here.
func (f *runFlags) noteIgnored(w io.Writer) {
	for _, s := range f.clients.ignored() {
		fmt.Fprintf(w, "%s cli flag %s\n", time.Now().Format("15:04:05.000"), oneLine(s))
	}
}

// resumeHint says how to go on with a session that was kept.
func resumeHint(a running) string {
	if !a.Kept {
		return ""
	}
	return "go on with: adze --resume " + a.ID + " -p \"…\""
}

// outcome turns what a run came to into an error for people, or none.
func outcome(sys System, f *runFlags, a running, res print.Outcome, err error) error {
	switch {
	case errors.Is(err, print.ErrNothing) && res.Bad != nil:
		return badInput(res)
	case errors.Is(err, print.ErrNothing):
		return usagef(`{"type":"user","message":{"role":"user","content":"…"}} is a prompt`, "there is no prompt on stdin")
	case err != nil:
		return err
	case res.Lost != nil && errors.Is(res.Lost, syscall.EPIPE):
		return nil // whoever read the answer has seen enough
	case res.Lost != nil:
		return failf("the session is kept; "+resumeHint(a), "write the answer: %v", hint.Cause(res.Lost))
	}
	if res.Stopped {
		return nil // as the host wanted
	}
	e := res.Ended
	if e.How == "" && res.Bad == nil {
		return nil // no prompt wanted an answer
	}
	switch e.How {
	case event.Done:
		if res.Bad != nil {
			return badInput(res)
		}
		if e.Reason == event.ToolDeferred && f.output == "text" {
			tell(sys.Stderr, "adze: ", "a hook put the last call off; go on with it with: adze -p --resume "+a.ID)
		}
		if len(res.Refused) > 0 && f.output != "stream-json" { // there the wire wants 0, and permission_denials says it
			err := refusedCalls(res.Refused)
			if a.Place().Config().Print.StrictExit {
				return err
			}
			tellFailure(sys.Stderr, sorted(err)) // there is an answer
		}
		return nil
	case event.Interrupted:
		return &failure{exitInterrupted, "interrupted", resumeHint(a)}
	case event.Stopped:
		if app.Mistaken(e) {
			return &failure{exitUsage, e.Err, e.Hint}
		}
		if app.ByHook(e) {
			return &failure{exitRefused, e.Err, cmp.Or(e.Hint, "adze hooks list shows the hooks and where they stand")}
		}
		return &failure{exitBudget, e.Err, e.Hint}
	case event.Failed:
	}
	code := exitFailed
	if e.Kind == event.KeyRefused {
		code = exitAuth
	}
	hint := e.Hint
	if hint == "" {
		hint = resumeHint(a)
	}
	if e.Kind == "invalid_request" && e.Hint == "" && hint != "" {
		hint = "the same request would be refused again: change the prompt, the tools or --model, then " + hint
	}
	if res.Withdrawn && e.Reason != event.InstructionsTooLong {
		hint = "the prompt is not part of the conversation: make it shorter, or " + hint
	}
	return &failure{code, e.Err, hint}
}

// badInput says at the end that not all of the input was understood.
func badInput(res print.Outcome) error {
	more := ""
	if res.Worse > 0 {
		more = ", nor could " + clip.Count(res.Worse, "other")
	}
	return usagef(`a prompt is a line like {"type":"user","message":{"role":"user","content":"…"}}`, "%v; the line could not be used%s", res.Bad, more)
}

// openError sorts errors of a start by exit code.
func openError(ctx context.Context, err error) error {
	var r *hint.Refusal
	if errors.As(err, &r) {
		return &failure{exitRefused, r.Why, r.What}
	}
	var m *hint.Mistake
	if errors.As(err, &m) {
		return &failure{exitUsage, m.Why, m.What}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
