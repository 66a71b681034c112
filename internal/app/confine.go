package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
)

// SandboxConfig is what the settings make of the sandbox. roots are the
// folders that may be written, resolved.
func SandboxConfig(o Options, cfg *config.Config, p Paths, roots []string) (sandbox.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return sandbox.Config{}, fmt.Errorf("find this program: %w", err)
	}
	return sandbox.Config{
		Dir: p.Dir, Roots: roots, Home: p.Home, State: []string{p.Folders.State, p.Folders.Config, p.Folders.Cache},
		Cache: p.Folders.Cache, Run: filepath.Join(p.Folders.State, "sandbox"),
		Path: o.Env("PATH"), Self: self, Settings: cfg.Sandbox,
	}, nil
}

// A confinement is the session's sandbox. It is made ready in the background,
// because the first request should not wait for it; the first command does.
type confinement struct {
	ready chan struct{} // closed when the rest is set
	box   *sandbox.Sandbox
	err   error
	auto  bool
}

// confine begins to make the sandbox ready.
func confine(ctx context.Context, o Options, cfg *config.Config, p Paths, roots []string, temp string) *confinement {
	c := &confinement{ready: make(chan struct{}), auto: cfg.Sandbox.AutoAllow}
	go func() { // ends when the sandbox is there, or cannot be
		defer close(c.ready)
		sc, err := SandboxConfig(o, cfg, p, roots)
		if err != nil {
			c.err = err
			return
		}
		sc.Temp = temp
		c.box, c.err = sandbox.New(context.WithoutCancel(ctx), sc)
	}()
	return c
}

// wrap puts a command inside; when the sandbox cannot be had, nothing runs.
func (c *confinement) wrap(cmd *proc.Command) error {
	<-c.ready
	if c.err != nil {
		return fmt.Errorf("the sandbox cannot start: %w", c.err)
	}
	return c.box.Wrap(cmd)
}

func (c *confinement) active() bool {
	<-c.ready
	return c.err != nil || c.box.Level().Strength != sandbox.None
}

// passes says whether confinement is reason enough to run without a question.
func (c *confinement) passes() bool {
	<-c.ready
	return c.auto && c.err == nil && c.box.Level().Strength == sandbox.Full
}

func (c *confinement) close() error {
	<-c.ready
	if c.box == nil {
		return nil
	}
	return c.box.Close()
}

// explain says what was blocked when a command inside failed.
func (c *confinement) explain(exit int, output string) string {
	<-c.ready
	if c.box == nil || c.box.Level().Strength == sandbox.None {
		return ""
	}
	why, _ := sandbox.Explain(exit, output, c.box.Policy())
	return why
}
