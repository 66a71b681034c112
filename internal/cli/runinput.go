package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/trust"
	"github.com/adze-agent/adze/internal/ui/print"
)

// Bounds of a prompt and of waiting for one.
const (
	maxStdin  = 10 << 20        // bytes
	quietWait = 3 * time.Second // for the first byte beside a prompt: those who start adze often leave a pipe open
)

// inputs starts the source of prompts. done yields one error, or nil, when
// the source has ended.
func (f *runFlags) inputs(ctx context.Context, sys System, text string) (<-chan print.Input, <-chan error, error) {
	ch, done := make(chan print.Input, 1), make(chan error, 1)
	if f.input == "stream-json" {
		go func() { // ends with its input, or with ctx
			defer close(ch)
			err := print.Read(ctx, newInput(ctx, sys.Stdin), ch)
			if ctx.Err() != nil {
				err = nil // it was told to stop
			}
			done <- err
		}()
		if strings.TrimSpace(text) != "" {
			return nil, nil, usagef("send the prompt on stdin, or leave --input-format out", "with --input-format stream-json the prompt comes on stdin, not as an argument")
		}
		return ch, done, nil
	}
	text, typed, err := withStdin(ctx, sys, clip.Clean(text))
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(text) == "" && (f.cont || f.resume != "") { // it may go on with a call that was put off
		f.noPrompt = true
		ch <- print.Input{Op: op.Prompt{}}
		close(ch)
		done <- nil
		return ch, done, nil
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil, errNoPrompt
	}
	in, err := slash(text, typed)
	if err != nil {
		return nil, nil, err
	}
	ch <- in
	close(ch)
	done <- nil
	return ch, done, nil
}

var errNoPrompt = usagef(`adze -p "what does this code do?"`, "there is no prompt")

// elsewhere says which command of adze shows what a slash command does.
var elsewhere = map[string]string{
	"context": "adze context", "cost": "adze stats", "diff": "adze diff", "rewind": "adze rewind", "resume": "adze --resume", "fork": "adze --resume SESSION --fork-session",
	"model": "adze models", "memory": "adze prompt", "help": "adze help",
	"mcp": "adze mcp list", "skills": "adze skills list", "agents": "adze agents list", "plugin": "adze plugin list", "output-style": "adze config set output_style NAME",
	"config": "adze config list", "permissions": "adze permissions list", "sandbox": "adze sandbox explain", "doctor": "adze doctor", "stats": "adze stats", "usage": "adze stats",
	"login": "adze login", "logout": "adze logout", "export": "adze export", "add-dir": "--add-dir",
}

// slash is what a prompt asks for: a command of adze's own in its place, or the
// prompt as it is, which may be a command that extensions bring.
func slash(text string, typed op.Span) (print.Input, error) {
	as := print.Input{Op: op.Prompt{Text: text, Typed: typed}}
	word, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, ok := strings.CutPrefix(word, "/")
	all := op.Commands()
	i := slices.IndexFunc(all, func(c op.Command) bool { return c.Name == name })
	args = strings.TrimSpace(args)
	if _, answered := looked[name]; ok && answered || word == "/" || word == "/clear" || word == "/goal" && args == "" {
		return as, nil // print.Options.Own answers it
	}
	if _, shown := (&uiHost{}).reports()[name]; ok && shown {
		return as, onlyShown(name)
	}
	if !ok || i < 0 {
		return as, nil
	}
	if all[i].Make == nil {
		return as, onlyShown(name)
	}
	o, err := all[i].Make(args)
	if err != nil {
		return as, usagef("", "%v", err)
	}
	if g, ok := o.(op.Goal); ok { // what a pipe brought, nobody typed
		g.Typed = typed == op.All(text)
		o = g
	}
	as.Op, as.Command = o, true
	return as, nil
}

func onlyShown(name string) error {
	return usagef("use "+cmp.Or(elsewhere[name], "the terminal UI: adze")+"; a command of your own with this name is /user:"+name+", or /project:"+name, "/%s is a command of the terminal UI, and does nothing in print mode", name)
}

// looksCommand matches the first word of a prompt that is meant as a slash command.
var looksCommand = pattern.Lazy(`^/([a-z0-9][a-z0-9:_-]*)$`)

// noCommand refuses a prompt whose first word is a slash command that is not there;
// it is nil for other words, and for a path that exists. why says what is not there.
func (i invocation) noCommand(text string, why error) (answer string, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", nil
	}
	m := looksCommand().FindStringSubmatch(words[0])
	if m == nil {
		return "", nil
	}
	if _, err := os.Lstat(words[0]); err == nil {
		return "", nil
	}
	said, what := why.Error(), "adze skills list shows those there are; a prompt that is none begins with another word"
	if !strings.Contains(said, "did you mean") {
		names := slices.Collect(maps.Keys(elsewhere))
		for _, c := range op.Commands() {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		said += near.Hint(m[1], slices.Compact(names))
	}
	if live, err := settings.Open(i.quiet().Environment, i.Sources); err == nil {
		defer live.Close()
		if slices.ContainsFunc(live.Untrusted(), func(f trust.File) bool { return f.Kind == trust.Skill || f.Kind == trust.Command }) {
			said += "; this folder's own skills and commands are not read until it is trusted"
			what = "adze trust shows what the folder brings"
		}
	}
	return "", usagef(what, "%s", said)
}

// withStdin appends what comes on stdin to the prompt. Only the prompt was typed: who
// wrote what a pipe brings, nobody knows.
func withStdin(ctx context.Context, sys System, text string) (all string, typed op.Span, err error) {
	typed = op.All(text)
	if sys.InTTY || sys.Stdin == nil {
		return text, typed, nil
	}
	all, err = piped(ctx, sys.Stdin, sys.Stderr, text)
	return all, typed, err
}

// piped is the prompt with what comes through a pipe behind it.
func piped(ctx context.Context, r io.Reader, stderr io.Writer, text string) (string, error) {
	stdin := newInput(ctx, r)
	if text != "" {
		wait, stop := context.WithTimeout(ctx, quietWait)
		begun := stdin.begins(wait)
		stop()
		if !begun && ctx.Err() == nil {
			fmt.Fprintln(stderr, "adze: nothing came on stdin for 3s, and the prompt goes without it; hint: start it with </dev/null, or put in a file what takes longer")
			return text, nil
		}
		said := make(chan struct{})
		slow := time.AfterFunc(quietWait, func() {
			defer close(said)
			fmt.Fprintln(stderr, "adze: waiting for the end of stdin")
		})
		defer func() {
			if !slow.Stop() {
				<-said
			}
		}()
	}
	b, err := io.ReadAll(io.LimitReader(stdin, maxStdin+1))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, syscall.EBADF), errors.Is(err, os.ErrClosed):
		return text, nil // started with stdin closed
	case err != nil:
		return "", failf("give the text as an argument, or through a file", "read stdin: %v", hint.Cause(err))
	case len(b) > maxStdin:
		return "", usagef("put it in a file and name the file in the prompt", "more than %s came on stdin", clip.Size(maxStdin))
	case clip.Binary(b):
		return "", usagef("put it in a file and name the file in the prompt", "what came on stdin is not text (it has NUL bytes)")
	}
	in := print.Piped(b)
	switch {
	case in == "":
		return text, nil
	case text == "":
		return in, nil
	}
	return text + "\n\n" + in, nil
}

// input is a reader that a context can end.
type input struct {
	ctx  context.Context
	data chan chunk
	rest []byte
	err  error // behind rest
}

type chunk struct {
	b   []byte
	err error
}

// newInput reads r in a goroutine of its own, which ends with r: a read that
// blocks cannot be taken back, so it may outlive the reader, but not the
// process.
func newInput(ctx context.Context, r io.Reader) *input {
	in := &input{ctx: ctx, data: make(chan chunk)}
	go func() {
		for {
			b := make([]byte, 64<<10)
			n, err := r.Read(b)
			select {
			case in.data <- chunk{b[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return in
}

// begins waits for the first bytes, or the end, and reports whether they came before the
// context was over.
func (in *input) begins(ctx context.Context) bool {
	select {
	case c := <-in.data:
		in.rest, in.err = c.b, c.err
		return true
	case <-ctx.Done():
		return false
	}
}

func (in *input) Read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		if in.err != nil {
			return 0, in.err
		}
		if !in.begins(in.ctx) {
			return 0, in.ctx.Err()
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}
