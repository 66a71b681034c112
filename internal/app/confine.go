package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

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

// A confinement is the session's sandbox. It is made with the first command,
// because a run without one should not pay for it.
type confinement struct {
	open func() (*sandbox.Sandbox, error)
	auto bool

	once sync.Once // for the fields below
	box  *sandbox.Sandbox
	err  error
}

func confine(ctx context.Context, o Options, cfg *config.Config, p Paths, roots []string, temp string) *confinement {
	return &confinement{auto: cfg.Sandbox.AutoAllow, open: func() (*sandbox.Sandbox, error) {
		c, err := SandboxConfig(o, cfg, p, roots)
		if err != nil {
			return nil, err
		}
		c.Temp = temp
		return sandbox.New(context.WithoutCancel(ctx), c)
	}}
}

func (c *confinement) ready() {
	c.once.Do(func() { c.box, c.err = c.open() })
}

// wrap puts a command inside; when the sandbox cannot be had, nothing runs.
func (c *confinement) wrap(cmd *proc.Command) error {
	c.ready()
	if c.err != nil {
		return fmt.Errorf("the sandbox cannot start: %w", c.err)
	}
	return c.box.Wrap(cmd)
}

func (c *confinement) active() bool {
	c.ready()
	return c.err != nil || c.box.Level().Strength != sandbox.None
}

// passes says whether confinement is reason enough to run without a question.
func (c *confinement) passes() bool {
	c.ready()
	return c.auto && c.err == nil && c.box.Level().Strength == sandbox.Full
}

func (c *confinement) close() error {
	c.once.Do(func() { c.err = errors.New("the session is over") })
	if c.box == nil {
		return nil
	}
	return c.box.Close()
}

// explain says what was blocked when a command inside failed.
func (c *confinement) explain(exit int, output string) string {
	c.ready()
	if c.box == nil || c.box.Level().Strength == sandbox.None {
		return ""
	}
	why, _ := sandbox.Explain(exit, output, c.box.Policy())
	return why
}
