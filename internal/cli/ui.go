package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/machine"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// wantsUI reports whether this start opens the terminal UI: somebody sits at
// both ends, and nothing asks for print mode.
func (f *runFlags) wantsUI(sys System, fs *pflag.FlagSet) bool {
	return !f.print && sys.InTTY && sys.OutTTY && !fs.Changed("output-format") && !fs.Changed("input-format") && f.schema == ""
}

// whichSession is the value of --resume that asks which session.
const whichSession = "?"

// choosing gives --resume without a name a value, because the flag library
// knows no flag that has one sometimes, and has a negative number of adze config set
// read as a value.
func choosing(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if (a == "--resume" || a == "-r") && (i+1 == len(out) || strings.HasPrefix(out[i+1], "-")) {
			out[i] = "--resume=" + whichSession
		}
		if i > 1 && slices.Contains(out[:i-1], "config") && slices.Contains(out[:i], "set") && len(a) > 1 && a[0] == '-' && strings.Contains("0123456789.", a[1:2]) {
			return append(slices.Delete(out, i, i+1), "--", a)
		}
	}
	return out
}

// runUI is "adze" at a terminal. The prompt box is drawn first; the session is
// opened behind it.
func runUI(ctx context.Context, sys System, f *runFlags, o invocation, text string) error {
	if o.worktree != "" {
		leave, err := o.isolate(ctx)
		if err != nil {
			return err
		}
		defer leave()
		o.Dir, o.worktree = o.spec.Room.Dir, "" // all its sessions work there
	}
	return atTerminal(ctx, sys, f, o, nil, tui.Options{Start: tui.Start{Continue: f.cont, Resume: f.resume, Fork: f.fork, Pick: f.pick}, Prompt: clip.Clean(text)})
}

// atTerminal is the terminal UI: on a session of this process or, with at, on one of another.
func atTerminal(ctx context.Context, sys System, f *runFlags, o invocation, at *live.Session, opts tui.Options) error {
	theme, _ := draw.Named("auto", true)
	plain := f.plain(sys, o)
	profile := term.ProfileOf(sys.Env)
	if plain {
		profile = draw.Profile{}
	}
	t, err := term.Open(term.Options{In: sys.Stdin, Out: sys.Stdout.File, Env: sys.Env, Theme: theme, Profile: profile, Plain: plain, Guard: true})
	if err != nil {
		return failf(`adze -p "…" answers one prompt without it`, "open the terminal: %v", err)
	}
	defer t.Restore()
	o.Lasting, o.Person = true, true
	sys.interrupts.Store(plain)
	h := newHost(sys, f, o)
	host := h.host()
	if at != nil {
		host = h.attached(*at)
	}
	opts.ASCII, opts.Plain, opts.Dark, opts.Colors = term.ASCII(sys.Env), plain, true, profile.Depth >= draw.Colors256
	left := tui.Run(ctx, t, t.Screen, host, opts)
	time.AfterFunc(lastKey, func() { sys.interrupts.Store(false) }) // the Ctrl+C that ended it may be told of only now
	terr := t.Close(false)
	var cerr error
	h.machine.Leave(left)
	switch {
	case left.Session != nil && at != nil:
		h.detached(ctx, *at)
	case left.Session != nil:
		if left.Session.Kept && left.Seq > 0 && left.Signal == "" {
			fmt.Fprintf(sys.Stderr, "adze: go on with: adze --resume %s\n", left.Session.ID)
		}
		why := hook.EndExit
		if left.Signal != "" || ctx.Err() != nil {
			why = hook.EndOther
		}
		cerr = h.close(left.Session.ID, why)
	}
	cerr = errors.Join(cerr, h.desk.Close())
	h.unheard()
	h.machine.Close()
	h.tellRest(sys)
	if code, ended := endedBy(ctx); ended {
		return &failure{code: code, cause: "interrupted"}
	}
	switch {
	case left.Signal != "":
		return &failure{code: exitInterrupted, cause: "ended by " + left.Signal}
	case left.Err != nil:
		return openError(ctx, left.Err)
	}
	return errors.Join(cerr, terr)
}

// lastKey is how long after the terminal UI a Ctrl+C still counts as its own.
const lastKey = 250 * time.Millisecond

// plain reports whether the UI only prints lines: the terminal can do no more,
// or the person wants it so. Settings are read only where a file speaks of it,
// because they would hold up the first frame.
func (f *runFlags) plain(sys System, o invocation) bool {
	if term.Dumb(sys.Env) {
		return true
	}
	for _, g := range o.Flags {
		if g.Key == "ui.plain" {
			return fmt.Sprint(g.Value) != "false"
		}
	}
	if v := o.Env(config.EnvName("plain")); v != "" {
		return v != "0" && v != "false"
	}
	return newHost(sys, f, o).machine.Plain()
}

// A uiHost is what the terminal UI can have done outside of its session.
type uiHost struct {
	sys     System
	f       *runFlags
	o       invocation
	notes   chan string
	desk    *desk.Desk
	machine *machine.Machine
	made    sync.Map // what takes away what was made for a session, by its ID

	heard   sync.Once
	unheard func() // ends what listen began
}

func newHost(sys System, f *runFlags, o invocation) *uiHost {
	h := &uiHost{sys: sys, f: f, o: o, unheard: func() {}, notes: make(chan string, 64)}
	h.o.Note = func(s string) {
		if strings.HasPrefix(s, settings.UntrustedNote) {
			return // the UI asks
		}
		select {
		case h.notes <- s:
		default: // nobody reads that many
		}
	}
	h.desk = h.deskOf()
	h.machine = h.machineOf()
	return h
}

// tellRest says on stderr what came when the screen was gone.
func (h *uiHost) tellRest(sys System) {
	for {
		select {
		case s := <-h.notes:
			tell(sys.Stderr, "adze: ", s)
		default:
			return
		}
	}
}

func (h *uiHost) host() tui.Host {
	t := tui.Host{
		Version: h.sys.Version, Dir: paths.Tilde(h.o.Dir, h.o.Home), NewID: newUUID, Notes: h.notes,
		Client: h.desk, Open: h.open, End: h.end, Reports: h.reports(),
	}
	h.machine.Of(&t)
	return t
}

// machineOf is what the terminal UI has of this machine.
func (h *uiHost) machineOf() *machine.Machine {
	return machine.New(machine.Config{
		Environment: h.o.Environment, Environ: h.o.Environ, Temp: h.o.Temp, In: h.sys.Stdin, Out: h.sys.Stdout.File, Forgets: h.o.spec.Log.None,
		Loaded: h.desk.Loaded, Fresh: h.o.quiet().Load,
		Extensions: func() *ext.Folder {
			if at := h.desk.Place(); at != nil {
				return at.Extensions()
			}
			return nil
		},
	})
}
