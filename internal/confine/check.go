package confine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a check.
const (
	checkTime = 30 * time.Minute
	checkText = 4000 // characters of its output that are told
)

// Check is the person's check of what is merged (worktree.check), in a worktree: confined to it
// as the commands of an agent there, because one wrote what it runs. o is the sandbox's of that
// worktree, and environ the person's environment. The error says how the check failed.
func Check(ctx context.Context, o Config, cfg *config.Config, environ []string) (err error) {
	shell, err := proc.Shell(o.Env("PATH"), append([]string{o.Apart.Tree}, o.Apart.Tops...))
	if err != nil {
		return err
	}
	conf, err := Settings(o, cfg, []string{o.Apart.Tree})
	if err != nil {
		return err
	}
	box, err := sandbox.New(ctx, conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	environ = proc.Scrub(environ, cfg.ChildEnv)
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own {
			environ = proc.Set(environ, name+"="+v)
		}
	}
	return runCheck(ctx, box, proc.Command{Path: shell, Args: []string{shell, "-c", cfg.Worktree.Check}, Dir: o.Dir, Env: proc.Set(environ, "PWD="+o.Dir)})
}

// runCheck runs a command in a sandbox. The error says how it failed, with the end of what it
// wrote.
func runCheck(ctx context.Context, box *sandbox.Sandbox, c proc.Command) error {
	if _, err := box.Wrap(&c, policy.Needs{}); err != nil {
		return err
	}
	table := proc.New(proc.Config{Guardian: true})
	defer table.Close(proc.Grace)
	ctx, stop := context.WithTimeoutCause(ctx, checkTime, fmt.Errorf("it took longer than %s", checkTime))
	defer stop()
	said := &last{}
	p, err := table.Start(c, said)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop(proc.Grace)
		<-p.Done()
		return context.Cause(ctx)
	}
	st := p.Status()
	if st.Code == 0 && st.Over == "" {
		return nil
	}
	text := strings.TrimSpace(clip.VisibleText(said.String()))
	if st.Over != "" {
		text = strings.TrimSpace(text + "\n" + st.Over)
	}
	return fmt.Errorf("exit code %d\n%s", st.Code, clip.Middle(text, checkText, ""))
}

// last keeps the end of what is written.
type last struct{ b bytes.Buffer }

func (l *last) Write(p []byte) (int, error) {
	l.b.Write(p)
	if n := l.b.Len(); n > 2*8*checkText {
		l.b.Next(n - 8*checkText)
	}
	return len(p), nil
}

func (l *last) String() string { return strings.ToValidUTF8(l.b.String(), "") }
