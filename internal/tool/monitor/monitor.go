// Package monitor has the tool with which a model waits for what happens: Monitor. Its
// command is planned, decided on and confined as one of Bash; who runs it, and tells of
// lines, is a Starter.
package monitor

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/bash"
)

//go:embed monitor.md
var text string

// How long a monitor lasts unless its call says otherwise, and at most; MonitorInput of
// sdk-tools.d.ts. maxOnce is for a run that waits for it and is given nothing more.
const (
	defaultLasts = 300_000 * time.Millisecond
	maxLasts     = 1_800_000 * time.Millisecond
	maxOnce      = 600_000 * time.Millisecond
)

type input struct {
	What    string  `json:"description" jsonschema:"what is waited for, in a few words"`
	Command string  `json:"command,omitempty"`
	Socket  *socket `json:"ws,omitempty"`
	File    string  `json:"file,omitempty"`
	Timeout int     `json:"timeout_ms,omitempty" jsonschema:"300000 unless given, at most 1800000"`
}

type socket struct {
	URL       string   `json:"url"`
	Protocols []string `json:"protocols,omitempty"`
}

// A Starter runs tasks that tell of lines.
type Starter interface {
	PlanCommand(command string, env tool.Env) (tool.Plan, error)
	StartWatch(ctx context.Context, w bash.Watch, env tool.Env) (tool.Result, error)
}

// A Config is what Monitor is made from.
type Config struct {
	Starter Starter
	// Proxy is that of a request; nil uses none.
	Proxy func(*http.Request) (*url.URL, error)
	// Once: the run waits for monitors, and is given no further prompt.
	Once bool
}

type monitors struct {
	Config
	files pin.Calls
}

// New returns Monitor.
func New(c Config) tool.Tool {
	m := &monitors{Config: c}
	spec := tool.Spec{Name: "Monitor", Description: text, Deferrable: true, Seldom: true, Facts: []string{"command", "ws", "file"}}
	return tool.New(spec, m.plan, m.run)
}

func (in input) check() error {
	given := 0
	for _, is := range []bool{in.Command != "", in.Socket != nil, in.File != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("give one of command, ws and file")
	case in.Timeout < 0:
		return fmt.Errorf("field \"timeout_ms\" is %d; give milliseconds from 1 to %d", in.Timeout, maxLasts.Milliseconds())
	case strings.TrimSpace(in.What) == "":
		return errors.New(`field "description" is empty: it says what is told`)
	}
	return nil
}

// lasts is how long the monitor may run; what is above the bound is cut, as its public
// description says.
func (m *monitors) lasts(in input) time.Duration {
	d := defaultLasts
	if in.Timeout > 0 {
		d = time.Duration(min(in.Timeout, int(maxLasts.Milliseconds()))) * time.Millisecond
	}
	if m.Once {
		d = min(d, maxOnce)
	}
	return d
}

func (m *monitors) plan(in input, env tool.Env) (p tool.Plan, err error) {
	if err := in.check(); err != nil {
		return p, err
	}
	switch {
	case in.Command != "":
		if p, err = m.Starter.PlanCommand(in.Command, env); err != nil {
			return p, err
		}
	case in.Socket != nil:
		to, err := address(in.Socket.URL)
		if err != nil {
			return p, err
		}
		p.Actions = []policy.Action{policy.Net{Host: to.Hostname(), URL: to.String()}}
		p.Title = to.String()
	default:
		path, err := place.Locate(env.Dir, env.Home, in.File)
		if err != nil {
			return p, err
		}
		m.files.Plan(env.Call, in.File, path)
		p.Actions = []policy.Action{policy.Read{Path: path, Asked: in.File}}
		p.Title = clip.Visible(paths.Short(env.Dir, path))
	}
	_, what, _ := strings.Cut(p.Title, "Bash: ")
	if in.Command == "" {
		what = p.Title
	}
	p.Title, p.Parallel = "Monitor: "+clip.Line(clip.VisibleText(in.What), 60)+": "+what, false
	return p, nil
}

func (m *monitors) run(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	w := bash.Watch{What: clip.Line(clip.Clean(in.What), 200), Lasts: m.lasts(in), Command: in.Command}
	switch {
	case in.Socket != nil:
		to, err := address(in.Socket.URL)
		if err != nil {
			return tool.Errorf("%s", err), nil
		}
		c, err := dial(ctx, to, in.Socket.Protocols, m.Proxy)
		if err != nil {
			return tool.Errorf("the monitor was not started: %s", err), nil
		}
		w.Work = c.listen
	case in.File != "":
		path, err := place.Locate(env.Dir, env.Home, in.File)
		if err == nil {
			path, err = m.files.Run(env.Call, in.File, path)
		}
		var f *tail
		if err == nil {
			f, err = follow(path)
		}
		if err != nil {
			return tool.Errorf("the monitor was not started: %s", err), nil
		}
		w.Work = func(ctx context.Context, out io.Writer) error { return f.run(ctx, out) }
	}
	return m.Starter.StartWatch(ctx, w, env)
}
