package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A within is the run in whose process a command is given, as /permissions of the
// terminal UI is. The command answers for this run: for the flags of its start, the
// settings as they are now, and the rules and the mode of its session.
type within struct {
	o     invocation
	rules func() (policy.Rules, policy.Mode) // nil: there is no session
}

// options are those of the run, with settings that are given by flags of the command.
// Any other flag of a start would have no effect.
func (in *within) options(cwd string, fs *pflag.FlagSet) (invocation, error) {
	o, bad := in.o, ""
	ofSettings, ofStart := settingFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	(&runFlags{}).add(ofStart)
	fs.Visit(func(fl *pflag.Flag) {
		if _, is := ofSettings[fl.Name]; !is && ofStart.Lookup(fl.Name) != nil {
			bad = fl.Name
		}
	})
	if bad != "" || cwd != "" {
		return o, usagef("give it when you start adze", "--%s counts for a whole run, and this one has begun", cmp.Or(bad, "cwd"))
	}
	if more := given(fs); len(more) > 0 {
		o.Flags, o.Now = append(slices.Clip(o.Flags), more...), nil // read once more, with these
	}
	return o, nil
}

// maxPrinted bounds what a command of the terminal UI shows, in bytes.
const maxPrinted = 4 << 20

// command gives a command of adze in this process, and returns what it prints.
func (h *uiHost) command(ctx context.Context, session string, args ...string) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		return "", errors.Join(err, r.Close(), w.Close())
	}
	defer none.Close()
	printed := make(chan []byte, 1)
	go func() { // ends when the command has
		b, _ := io.ReadAll(io.LimitReader(r, maxPrinted))
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
		printed <- b
	}()
	sys := h.sys
	sys.Args, sys.Stdin, sys.Stdout, sys.InTTY, sys.OutTTY, sys.ErrTTY = args, none, &Output{File: w}, false, false, false
	var said bytes.Buffer
	sys.Stderr = &said
	sys.Environ = append(slices.Clip(sys.Environ), columnsVariable+"="+strconv.Itoa(h.sys.columns()-reportMargin))
	root := newRootOf(sys, &runFlags{in: h.within(session)})
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	err = sys.Stdout.judged(usageError(c, err))
	_ = w.Close()
	return string(<-printed) + said.String(), err
}

// within is the run as a session sees it; "" is none.
func (h *uiHost) within(session string) *within {
	in := &within{o: h.o.quiet()}
	if at := h.desk.Place(); at != nil { // also where the settings are read once more
		in.o.Flags = slices.Concat(in.o.Flags, at.Given())
	}
	in.o.Now = func() (settings.Paths, *config.Config, error) { return h.desk.Loaded() }
	if s, ok := h.desk.Session(session); ok {
		in.rules = func() (policy.Rules, policy.Mode) { return s.Session.Rules(), s.Mode() }
	}
	return in
}

// subcommand gives a command of adze and shows what it prints. With arguments they follow
// its first word.
func (h *uiHost) subcommand(ctx context.Context, session string, words []string, args string) (string, error) {
	line := words
	if args != "" {
		line = append([]string{words[0]}, argumentsOf(words[0], args)...)
	}
	text, err := h.command(ctx, session, line...)
	if err == nil {
		return clip.Fenced(text), nil
	}
	f := sorted(err)
	if f.code != exitUsage { // it says what is wrong
		var b bytes.Buffer
		tellFailure(&b, f)
		return clip.Fenced(text + b.String()), nil
	}
	// What was typed cannot be done, and what can is told in the words of here.
	what := f.hint
	if what == "" || strings.Contains(what, "adze ") {
		what = "/help says what can stand behind /" + words[0]
	}
	return "", hint.With(errors.New(f.cause), what)
}
