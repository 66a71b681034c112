// Package confine keeps the sandboxes of a session: it makes one with the first
// command, replaces it when settings change, and asks the session what commands
// inside may reach and keep.
package confine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// A Config is what sandboxes are made from beside the settings.
type Config struct {
	Dir     string        // that is worked in: absolute, resolved
	Apart   *policy.Apart // see sandbox.Config
	Home    string
	Folders config.Folders
	Env     func(string) string
	// TempRoot is where temporary files of all programs go, Temp the folder
	// for those of commands inside. Temps, if not "", holds those of all sessions,
	// which commands inside do not see.
	TempRoot, Temp, Temps string
	// Resolve and Dial are how the proxy looks names up and connects to what it
	// checked; nil uses the system's.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Programs are the files in some folders that the settings have adze run; nil
	// names none.
	Programs func(cfg *config.Config, roots []string) []policy.Steer
	// Shown are folders among adze's own that commands inside may read, asked for when
	// a sandbox is prepared; nil names none.
	Shown func() []string
	// Note tells a person what no event says; nil: nobody.
	Note func(string)
	// Bypass: the session began in the mode bypassPermissions.
	Bypass bool
}

// A Set are the sandboxes of a session: the one that counts now, the one that
// counts from the next turn, and those of earlier settings, which commands in
// the background may still run in.
type Set struct {
	conf Config

	mu      sync.Mutex // guards the rest
	session attended   // nil: there is none yet, and nothing ran
	now     *confinement
	next    *confinement // nil: the settings want none
	key     string       // what next was made for, besides its settings
	all     []*confinement
	said    []string // by people, of connections, since a command ended

	// cold is told by sandboxes that are being opened, which Close waits for.
	cold atomic.Pointer[func(why string)]
}

// New makes a set without a sandbox.
func New(c Config) *Set { return &Set{conf: c} }

// Cold has f told, from any goroutine, why commands are each started from nothing,
// where that is so.
func (b *Set) Cold(f func(why string)) {
	b.cold.Store(&f)
}

func (b *Set) isCold(why string) {
	if f := b.cold.Load(); f != nil {
		(*f)(why)
	}
}

// attended is what sandboxes need of the session that they are for.
type attended interface {
	Ask(ctx context.Context, q agent.Question) (agent.Verdict, error)
	Mode() policy.Mode
}

// Attend hands over the session, before it runs anything.
func (b *Set) Attend(s attended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session = s
}

func (b *Set) permit(ctx context.Context, q agent.Question) (agent.Verdict, error) {
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Deny, Reason: "the session has not begun"}}, errors.New("the session has not begun")
	}
	return s.Ask(ctx, q)
}

// lenient says that what commands leave is not judged: in the mode that lets
// everything pass, which a session can only be in when it began in it.
func (b *Set) lenient(string) bool {
	if !b.conf.Bypass {
		return false
	}
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return true
	}
	now := s.Mode()
	return now == policy.Bypass || now == "" // or the session is over
}

// Prepare has these settings count from the next Advance on. roots are the
// folders that may be written. A sandbox that would be the same stays, unless
// rebuild is set. One that only protects other programs, or shows other plugins, counts
// at once: what adze runs by now is not to be changed by the commands of a turn that has
// begun before, and programs of plugins are on their PATH.
func (b *Set) Prepare(ctx context.Context, cfg *config.Config, roots []string, rebuild bool) {
	shown, runs := b.conf.shown(), programs(b.conf, cfg, roots)
	rest := fmt.Sprintf("%q %q %q", roots, deniedDomains(cfg), fileDenials(b.conf, cfg, roots).Key())
	key := fmt.Sprintf("%s %q %q", rest, shown, runs)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !rebuild && key == b.key {
		return
	}
	if b.next, b.key = b.confine(ctx, cfg, roots, shown), key; b.next != nil {
		b.next.rest = rest
	}
	if !rebuild && b.now != nil && b.next != nil && b.now.rest == rest && reflect.DeepEqual(b.now.settings, b.next.settings) {
		b.advance()
	}
}

// Wants are the settings of the sandbox that counts now, and of the one from
// the next turn on; nil for none.
func (b *Set) Wants() (now, next *config.Sandbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		now = &b.now.settings
	}
	if b.next != nil {
		next = &b.next.settings
	}
	return now, next
}

// Advance makes the prepared sandbox count.
func (b *Set) Advance() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.advance()
}

func (b *Set) advance() {
	if b.now == b.next {
		return
	}
	if b.now = b.next; b.now != nil {
		b.all = append(b.all, b.now)
	}
}

func (b *Set) get() *confinement {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// Ahead begins to open the sandbox, because a command is to come.
func (b *Set) Ahead() {
	if c := b.get(); c != nil {
		c.ahead()
	}
}

// Wrap puts a command inside, where the settings want it. When the sandbox
// cannot be had, the command must not run.
func (b *Set) Wrap(cmd *proc.Command, needs policy.Needs) (policy.Kept, error) {
	if c := b.get(); c != nil {
		return c.wrap(cmd, needs)
	}
	return policy.Kept{}, nil
}

// ErrOff is why a command that is to be confined cannot run, in words behind its name.
var ErrOff = errors.New("is to run in the sandbox, which is off (sandbox.enabled)")

// Secrets are the values that are masked in the result of a call of any tool: those in
// files that hold secrets, as the last command found them, but in those that the call
// itself names, and was allowed to.
func (b *Set) Secrets(as []policy.Action) (out []string) {
	shown, masks := policy.Shows(as)
	b.mu.Lock()
	boxes, s := b.all, b.session
	b.mu.Unlock()
	if !masks || len(boxes) == 0 || s != nil && s.Mode() == policy.Bypass {
		return nil
	}
	for _, c := range boxes {
		if box := c.made.Load(); box != nil {
			out = append(out, box.Secrets(shown)...)
		}
	}
	return out
}

// Confine puts a command inside that must not run elsewhere.
func (b *Set) Confine(cmd *proc.Command) error {
	if !b.Active() {
		return ErrOff
	}
	_, err := b.Wrap(cmd, policy.Needs{})
	return err
}

// Active reports whether Wrap confines anything.
func (b *Set) Active() bool {
	c := b.get()
	return c != nil && c.active()
}

// Apart reports whether what a command leaves running ends with it, seen by nobody outside.
func (b *Set) Apart() bool {
	c := b.get()
	return c != nil && c.apart()
}

// Passes reports whether being confined is reason enough to run without a
// question.
func (b *Set) Passes() bool {
	c := b.get()
	return c != nil && c.passes()
}

// Denial says what was blocked when a command inside failed.
func (b *Set) Denial(command string, exit int, output string) string {
	if c := b.get(); c != nil {
		return c.denial(command, exit, output)
	}
	return ""
}

// found are the things that commands left and nobody was asked about.
func (b *Set) found() []left {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []left
	for _, c := range b.all {
		out = append(out, c.found()...)
	}
	return out
}

// Outside has adze itself write protected paths while commands may run.
func (b *Set) Outside(paths []string, f func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.all {
		if box := c.made.Load(); box != nil {
			inner := f
			f = func() error { return box.Outside(paths, inner) }
		}
	}
	return f()
}

// Stays reports whether no command may be run outside.
func (b *Set) Stays() bool {
	c := b.get()
	return c != nil && !c.settings.AllowUnsandboxed
}

// Writes reports whether the sandbox lets every command write at a path, as far as nothing
// there is protected. It waits for the sandbox.
func (b *Set) Writes(path string) bool {
	c := b.get()
	return c != nil && c.active() && c.box != nil && c.box.Writes(path)
}

// Excluded reports whether the settings keep a script out of the sandbox.
func (b *Set) Excluded(actions []policy.Action) bool {
	c := b.get()
	return c != nil && c.excluded != nil && c.excluded(actions)
}

// Release stops the watch of every folder, before Close: see [sandbox.Sandbox.Release].
func (b *Set) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.all {
		if box := c.made.Load(); box != nil {
			box.Release()
		}
	}
}

// Close ends what they began, and waits for it.
func (b *Set) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	for _, c := range b.all {
		err = errors.Join(err, c.close())
	}
	return err
}
