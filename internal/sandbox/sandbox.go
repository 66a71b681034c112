// Package sandbox confines commands with what the system offers: bubblewrap
// or Landlock on Linux, Seatbelt on macOS. It owns the policy (what may be
// read, written and reached), the mechanisms that enforce it, and what they
// leave on disk. It never decides whether a command may run, and it never
// runs one less confined than it says: a mechanism that cannot be set up is
// an error, not a weaker one.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
)

// HelperArg is the first argument with which this program, started again by
// the sandbox, must call Helper before anything else.
const HelperArg = "__sandbox"

// Config is what a sandbox is made from.
type Config struct {
	Dir   string   // where the session started: absolute, resolved
	Roots []string // further folders a person gave: absolute, resolved
	Home  string
	// Apart: the session works in a worktree of its own, and commands write in no other
	// checkout; nil for none.
	Apart *policy.Apart
	// Secrets are files and folders that variables name as holding secrets, hidden inside.
	Secrets []string
	// State are adze's own folders, hidden inside.
	State []string
	// Shown are folders that can be read inside although they lie in something
	// hidden, unless a person's settings hide them.
	Shown []string
	// Cache is a folder for private caches of build tools, which are then
	// not shared with what runs outside; "" keeps them in the session's
	// temporary folder.
	Cache string
	// Env is the person's environment, which says where their own caches are;
	// nil takes them where they are by default.
	Env func(name string) string
	// Run is a folder of adze's own, shared by all sessions of a person: for
	// what must be seen to after a crash, and for the quarantine.
	Run string
	// Stays says that what commands make at a path that steers programs is
	// left alone, unjudged; nil leaves nothing.
	Stays func(path string) bool
	// Took is told at once of what is moved to quarantine while a command goes
	// on: it may be somebody else's, as the kernel does not say who made a file.
	// It must be quick. nil tells nobody before the command ends.
	Took func(Found)
	// Cold is told at once, and at most once, why each command is started from
	// nothing, which takes longer. It must be quick. nil tells nobody.
	Cold func(why string)
	// Note is told at once what of the settings cannot be had here. It must be quick.
	// nil tells nobody.
	Note func(text string)
	// Temp is the session's temporary folder; "" makes one that Close removes.
	Temp string
	// TempRoot is where that one is made; "" asks the system.
	TempRoot string
	// Path is the PATH where bubblewrap is looked for.
	Path string
	// Self is this program.
	Self     string
	Settings config.Sandbox
	// Programs are files that stay as they are because settings have adze run
	// them unconfined, there or not.
	Programs []string
	// Denials are what permission rules deny of files, inside too.
	Denials policy.Denials
	// Processes is how many processes and threads a command may have; 0 is
	// the person's own limit.
	Processes int
	// Mechanism asks for one mechanism by name; "" takes the best.
	Mechanism string
	// Ask decides about a domain no rule names; nil refuses. What it says holds
	// for all connections until a command ends.
	Ask netproxy.Ask
	// Upstream is the proxy that this machine needs to reach the world.
	Upstream netproxy.Upstream
	// Resolve and Dial stand in for the system's; nil uses those.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)

	cold bool // each command is started from nothing; for tests
}

// credentials are those of the settings that could be read; New has refused
// the others.
func (c Config) credentials() Credentials {
	out, _ := readCredentials(c.Settings.Credentials)
	return out
}

// A Level says how strong the confinement is.
type Level struct {
	Name     string   `json:"name"`     // bwrap, landlock, seatbelt, none
	Strength Strength `json:"strength"` // full, partial, none
	Detail   string   `json:"detail"`   // versions
	Weaker   []string `json:"weaker,omitempty"`
	// Cold is why each command is started from nothing, which takes longer. Only
	// Probe finds it out.
	Cold string `json:"cold,omitempty"`
	Why  string `json:"why,omitempty"`  // why it is not better
	Hint string `json:"hint,omitempty"` // how to get better
}

// Strength orders levels.
type Strength string

// The strengths. Only Full keeps all promises of the policy.
const (
	Full    Strength = "full"
	Partial Strength = "partial"
	None    Strength = "none"
)

// errUnavailable is returned when a sandbox was demanded and none can start.
var errUnavailable = errors.New("no sandbox can start on this system")

// A Sandbox confines the commands of one session. Make one with New and end
// it with Close.
type Sandbox struct {
	config Config
	policy Policy
	level  Level
	mech   mechanism
	temp   string // made by New; "" when it was given
	run    string // made by New, in place of a folder that cannot be made; "" else
	proxy  *netproxy.Proxy
	// auditor is nil without a mechanism.
	auditor *auditor
	told    struct { // of what was refused, also where nothing failed
		sync.Mutex
		once map[string]bool
	}
	names *watch.Names            // of the folders that are surveyed; nil without a mechanism
	hears atomic.Pointer[auditor] // what names asks; nil until there is one
	// running counts the commands inside; only for messages.
	running atomic.Int32

	mu     sync.Mutex // guards closed
	closed bool
}

// mechanism is one way to confine.
type mechanism interface {
	// wrap confines c to p.
	wrap(c *proc.Command, p Policy, h held) error
	close() error
}

// held is what a mechanism is to hold for a command, or to tell of.
type held struct {
	// itself: what starts the command knows its Path and Args only.
	itself bool
	// lock, when it is not nil, is a descriptor that is kept open for as long
	// as anything of the command lives, where that can be.
	lock *os.File
	// mounted is told what is mounted, and which links are held: both go with
	// what they are mounted over when another program replaces that.
	mounted func(steps []step, links []string)
}

// New finds the best mechanism and makes it ready. Without any it returns a
// sandbox of strength None, whose Wrap changes nothing, or an error when the
// settings demand one. Any other error means that a mechanism is there and could
// not be set up.
func New(ctx context.Context, c Config) (*Sandbox, error) {
	s := &Sandbox{config: c}
	if !c.Settings.Enabled && !c.Settings.FailIfUnavailable {
		s.level = Level{Name: "none", Strength: None, Why: "the settings turn it off", Hint: "adze config set sandbox.enabled true"}
		return s, nil
	}
	if _, err := readCredentials(c.Settings.Credentials); err != nil {
		return nil, err
	}
	var probe probed
	var planned error
	var both sync.WaitGroup
	both.Go(func() { probe = probeAll(ctx, c, true) })
	both.Go(func() { planned = s.plan() })
	both.Wait()
	err := planned
	if probe.level.Strength == None {
		err = nil // nothing needs the plan
	}
	if err != nil {
		probe.drop()
	} else if err = s.prepare(ctx, probe); errors.Is(err, errBroken) {
		_ = s.mech.close() // the next best
		s.mech = nil
		err = s.prepare(ctx, probeAll(ctx, c, false))
	}
	if err == nil && s.level.Strength == None {
		if s.temp != "" {
			_ = safe.RemoveAll(s.temp) // nothing ran in it
		}
		if s.run != "" {
			_ = safe.RemoveAll(s.run)
		}
		s.temp, s.run, s.policy = "", "", Policy{}
		s.silence()
		if c.Settings.FailIfUnavailable {
			return nil, unavailable{s.level}
		}
		return s, nil
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	return s, nil
}

// errBroken is why a mechanism that seemed to be there cannot be had.
var errBroken = errors.New("it does not work here")

type unavailable struct{ Level }

func (u unavailable) Error() string { return errUnavailable.Error() + ": " + u.Why }
func (u unavailable) Hint() string  { return u.Level.Hint }
func (u unavailable) Unwrap() error { return errUnavailable }

// plan works out the policy.
func (s *Sandbox) plan() error {
	temp := s.config.Temp
	if temp == "" {
		dir, err := os.MkdirTemp(s.config.TempRoot, "adze-") // 0700, a random name
		if err != nil {
			return err
		}
		s.temp = dir
		temp = dir
	}
	temp, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return err
	}
	s.config.Temp = temp
	if err := s.places(); err != nil {
		return err
	}
	s.names = watch.WatchNames(maxStirred, func(path string) bool {
		t := s.hears.Load()
		return t != nil && t.matters(path)
	})
	s.policy = newPolicy(s.config, s.names)
	return nil
}

// places makes the folders that adze keeps for sandboxes. Where a home folder cannot be
// written (a container's), temporary ones stand in: caches start anew, and what a crash
// leaves is not settled by the next start.
func (s *Sandbox) places() error {
	if c := s.config.Cache; c != "" && !takes(filepath.Join(real(c), "sandbox", key(s.config.Dir))) {
		s.config.Cache = ""
	}
	if takes(s.config.Run) {
		return nil
	}
	dir, err := os.MkdirTemp(s.config.TempRoot, "adze-run-")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	s.run, s.config.Run = dir, dir
	s.config.State = append(slices.Clone(s.config.State), dir)
	return nil
}

// takes makes a folder, and reports whether it takes files.
func takes(dir string) bool {
	if os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, ".adze-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// prepare starts the mechanism, when there is one; errBroken is that there is none
// after all.
func (s *Sandbox) prepare(ctx context.Context, p probed) (err error) {
	if s.level = p.level; s.level.Strength == None {
		return nil
	}
	for _, dir := range s.policy.caches() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			p.drop()
			return err
		}
	}
	if s.mech, err = p.start(ctx, s); err != nil {
		return err
	}
	return s.auditing()
}

// auditing makes the auditor ready, and settles what a crash left.
func (s *Sandbox) auditing() (err error) {
	if err := os.MkdirAll(s.config.Run, 0o700); err != nil {
		return err
	}
	dir := filepath.Join(s.config.Run, "quarantine")
	sweepQuarantine(dir)
	sweepCovers(s.config.Run)
	t := newAuditor(s.policy, dir, s.config.Stays)
	t.took = s.config.Took
	t.untold = recoverFrom(s.config.Run, dir)
	if t.journal, err = newJournal(s.config.Run); err != nil {
		return err
	}
	t.names = s.names
	s.auditor = t
	s.hears.Store(t)
	return nil
}

// Probe says which mechanism would be used, and why not a better one. It
// starts a command that does nothing.
func Probe(ctx context.Context, c Config) Level { return probeAll(ctx, c, false).level }

// Level is the confinement in force.
func (s *Sandbox) Level() Level { return s.level }

// serve starts the proxy on l.
func (s *Sandbox) serve(l net.Listener) {
	n := s.policy.Network
	c := netproxy.Config{Rules: netproxy.Rules{Allowed: n.Allowed, Denied: n.Denied}, Upstream: s.config.Upstream, Resolve: s.config.Resolve, Dial: s.config.Dial}
	if n.Ask {
		c.Ask = s.config.Ask
	}
	if n.Registries {
		c.Reads = s.policy.registries(s.config).Has
	}
	s.proxy = netproxy.Serve(l, c)
}

func (s *Sandbox) proxyAddress() string {
	if s.proxy == nil {
		return ""
	}
	return s.proxy.Address()
}

// Release stops the watch of every folder, before Close: see [watch.Watcher.Release].
// Commands should be over.
func (s *Sandbox) Release() {
	if s.auditor != nil {
		s.auditor.release()
	}
}

// silence ends the watch of folders where nobody hears of it.
func (s *Sandbox) silence() {
	if s.names != nil && s.auditor == nil {
		s.names.Close()
		s.names = nil
	}
}

// Close ends what runs for the sandbox and removes what it left on disk.
// Commands must be over.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	var settled sync.WaitGroup
	if s.auditor != nil {
		settled.Go(s.auditor.close) // the kernel takes its time with a watch
	}
	s.silence()
	var errs []error
	if s.mech != nil {
		errs = append(errs, s.mech.close())
	}
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	settled.Wait()
	if s.run != "" {
		errs = append(errs, safe.RemoveAll(s.run))
	}
	if s.temp != "" {
		errs = append(errs, safe.RemoveAll(s.temp))
	}
	return errors.Join(errs...)
}
