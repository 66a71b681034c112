package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/trust"
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
	left := tui.Run(ctx, t, t.Screen, h.host(), tui.Options{
		Start: tui.Start{Continue: f.cont, Resume: f.resume, Fork: f.fork, Pick: f.pick}, Prompt: clip.Clean(text),
		ASCII: term.ASCII(sys.Env), Plain: plain, Dark: true, Colors: profile.Depth >= draw.Colors256,
	})
	time.AfterFunc(lastKey, func() { sys.interrupts.Store(false) }) // the Ctrl+C that ended it may be told of only now
	terr := t.Close(false)
	var cerr error
	h.leave(left)
	if left.Session != nil {
		if left.Session.Kept && left.Seq > 0 && left.Signal == "" {
			fmt.Fprintf(sys.Stderr, "adze: go on with: adze --resume %s\n", left.Session.ID)
		}
		why := hook.EndExit
		if left.Signal != "" || ctx.Err() != nil {
			why = hook.EndOther
		}
		cerr = left.Session.Close(why)
	}
	cerr = errors.Join(cerr, h.close())
	if h.seen != nil {
		h.seen.Close()
	}
	h.work.Wait()
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
	h := uiHost{o: o} // there is no World yet
	raw, err := regular.Read(filepath.Join(h.configDir(), "settings.json"), config.MaxFile)
	if err != nil || !bytes.Contains(raw, []byte("plain")) {
		return false
	}
	_, cfg, err := h.loaded()
	return err == nil && cfg.UI.Plain
}

// A uiHost is what the terminal UI can have done outside of its session.
type uiHost struct {
	sys   System
	f     *runFlags
	o     invocation
	notes chan string
	stale chan struct{} // has a token when keys or themes may be others
	watch func()        // starts to look at their files, once
	seen  *watch.Watcher
	work  sync.WaitGroup // what is written to the history
	shared
}

func newHost(sys System, f *runFlags, o invocation) *uiHost {
	h := &uiHost{sys: sys, f: f, o: o, notes: make(chan string, 64), stale: make(chan struct{}, 1)}
	h.watch = sync.OnceFunc(func() {
		dir := h.configDir()
		h.seen = watch.Start(watch.Config{Files: []string{filepath.Join(dir, keysFile)}, Dirs: []string{filepath.Join(dir, "themes")}, Changed: func() {
			select {
			case h.stale <- struct{}{}:
			default: // it is known
			}
		}})
	})
	h.o.Note = func(s string) {
		if strings.HasPrefix(s, settings.UntrustedNote) {
			return // the UI asks
		}
		select {
		case h.notes <- s:
		default: // nobody reads that many
		}
	}
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
		Version: h.sys.Version, Dir: tilde(h.o.Dir, h.o.Home), NewID: newUUID, Notes: h.notes, Stale: h.stale,
		Open: h.open, Models: h.models, Sessions: h.sessions, Find: h.find, Search: h.search, Preview: h.preview, Diff: h.diff, Rename: h.rename, Files: h.files, Resources: h.resources, Arguments: h.arguments,
		Look: h.look, Save: h.save, Forget: h.forget, Theme: h.theme, Themes: h.themes, Edit: h.edit, EditFile: h.editFile, ReadFile: textOf, Copy: h.copy, Browse: h.browse, Image: h.image, Picture: h.picture,
		Memory: h.memory, Note: h.note, Reports: h.reports(), Hooks: h.hooks, First: h.first, Keyless: keyless, Unkeyed: unkeyed, Taken: taken, Trust: h.trust,
	}
	h.withHistory(&t)
	if !h.o.spec.Log.None {
		t.Keep, t.Lost = h.keep, h.lost
	}
	return t
}

// first reports whether there are no settings of this person yet.
func (h *uiHost) first() bool {
	return !exists(filepath.Join(h.configDir(), "settings.json"))
}

func keyless(err error) bool {
	var none *choose.NoModelError
	return errors.As(err, &none)
}

func unkeyed(err error) bool { return errors.Is(err, choose.ErrNoKey) }

func taken(err error) bool { return errors.Is(err, store.ErrLocked) }

// trust is what this folder brings and nobody has decided about.
func (h *uiHost) trust(ctx context.Context) (*tui.Trust, error) {
	p, _, err := h.loaded()
	if err != nil || h.o.Trusted || h.o.Bare {
		return nil, err
	}
	v, err := p.Trust().Check(p.TrustFolder())
	if err != nil || v.State == trust.Trusted {
		return nil, err
	}
	var kept []string
	switch {
	case v.State == trust.Nothing: // it matters where something of the person's waits for it
		if p.Trust().Declined(v) {
			return nil, nil
		}
		live, err := settings.Open(h.quiet().Environment, h.o.Sources)
		if err != nil {
			return nil, nil //nolint:nilerr // the session's own reading tells it
		}
		defer live.Close()
		if kept = live.ForTrust(settings.Servers{Given: h.o.Extensions.Servers, Strict: h.o.Extensions.Strict}); len(kept) == 0 {
			return nil, nil
		}
	case len(v.Files) == 0 && len(v.Refused) == 0: // all of it is gone, and nothing can be asked about
		return nil, p.Trust().Grant(ctx, v)
	case p.Trust().Declined(v):
		return nil, nil
	}
	t := &tui.Trust{
		Folder: tilde(p.Root, p.Home), Kept: kept, Grant: func(ctx context.Context) error { return p.Trust().Grant(ctx, v) },
		Decline: func(ctx context.Context) error { return p.Trust().Decline(ctx, v) },
	}
	if len(v.Refused) > 0 {
		t.Refused = v.Refused[0]
	}
	if v.State == trust.Changed {
		t.Changed = p.Trust().Diff(v)
	}
	for _, c := range v.Claims() {
		t.Claims = append(t.Claims, fmt.Sprintf("%s: %s: %s", c.File, c.What, c.Text))
	}
	return t, nil
}

func (h *uiHost) models(ctx context.Context) ([]tui.Choice, error) {
	p, cfg, err := h.loaded()
	if err != nil {
		return nil, err
	}
	ch, err := h.o.models(p, cfg)
	if err != nil {
		return nil, err
	}
	var out []tui.Choice
	for _, r := range ch.List(ctx) {
		if !r.Usable {
			continue
		}
		c := tui.Choice{ID: r.Provider + "/" + r.Model, Name: r.Provider + "/" + r.Model, About: strings.Join(r.Aliases, ", "), Also: r.Aliases}
		if r.Facts.Window > 0 {
			c.Right = tokens(r.Facts.Window)
		}
		if p := r.Facts.Price; p != nil {
			c.Right += fmt.Sprintf("  %s in, %s out", usd(p.In), usd(p.Out))
		}
		out = append(out, c)
	}
	order.By(out, func(a, b tui.Choice) int { return newest(a.ID, b.ID) })
	return out, nil
}

// newest sorts names of models: families by their letters, and of each the newest
// version before older ones, and before the same one of a date.
func newest(a, b string) int {
	x, y := versioned.FindAllString(a, -1), versioned.FindAllString(b, -1)
	for i := range max(len(x), len(y)) {
		m, n := namePart(x, i), namePart(y, i)
		v, vok := versionPart(m)
		w, wok := versionPart(n)
		switch {
		case vok && wok && v != w:
			return cmp.Compare(w, v)
		case vok != wok && (m != "" && n != ""):
			return cmp.Compare(m, n)
		case !(vok && wok) && m != n:
			return cmp.Compare(m, n)
		}
	}
	return cmp.Compare(a, b)
}

var versioned = regexp.MustCompile(`[0-9]+|[^0-9./:_-]+`)

func namePart(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// versionPart is a part of a name as a number: 0 where there is none, and less for a
// date.
func versionPart(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	n, err := strconv.Atoi(s)
	if err == nil && len(s) >= 6 {
		n = -1
	}
	return n, err == nil
}
