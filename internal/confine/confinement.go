package confine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// NetworkTool is the name under which connections from inside the sandbox are
// asked about: hosts that drive adze know it from other agents.
const NetworkTool = "SandboxNetworkAccess"

// connect has the session rule on a host that a command inside wants to reach
// and no list names.
func (b *Set) connect(ctx context.Context, host string, port int) netproxy.Answer {
	input, err := json.Marshal(map[string]any{"host": host, "port": port})
	if err != nil {
		return netproxy.Answer{Why: err.Error()}
	}
	where := net.JoinHostPort(host, strconv.Itoa(port))
	v, err := b.permit(ctx, agent.Question{
		Call: llm.ToolUse{Name: NetworkTool, Input: input}, Tool: NetworkTool,
		Plan: tool.Plan{
			Actions: []policy.Action{policy.Net{Host: host}}, Title: "Connect to " + where,
			View: view.Text{S: "A command in the sandbox connects to " + where + "."},
		},
	})
	if err != nil && v.Reason == "" {
		v.Verdict = policy.Verdict{Effect: policy.Deny, Reason: err.Error()}
	}
	if words := remark(where, v); words != "" {
		b.mu.Lock()
		b.said = append(b.said, words)
		b.mu.Unlock()
	}
	return netproxy.Answer{Allow: v.Effect == policy.Allow, Why: v.Reason, Brief: err != nil}
}

// remark is what the model reads, beside what a command wrote, of the answer of a person
// about a connection: that it was a no, and the words that came with it. Most programs do
// not show why they were refused.
func remark(where string, v agent.Verdict) string {
	const most = 20_000 // runes of what is passed on
	switch {
	case !v.By.Person() || v.By.Name == "": // nobody was asked
	case v.Effect != policy.Allow:
		return "the person refused the connection to " + where + ": " + clip.Middle(clip.Clean(v.Reason), most, "")
	case v.Answer != nil && strings.TrimSpace(v.Answer.Comment) != "":
		return "the person allowed the connection to " + where + ", and adds: " + clip.Middle(clip.Clean(strings.TrimSpace(v.Answer.Comment)), most, "")
	}
	return ""
}

// Settings is what the settings make of the sandbox. roots are the folders
// that may be written, resolved.
func Settings(o Config, cfg *config.Config, roots []string) (sandbox.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return sandbox.Config{}, fmt.Errorf("find this program: %w", err)
	}
	set := cfg.Sandbox
	set.Network.DeniedDomains = append(slices.Clip(set.Network.DeniedDomains), deniedDomains(cfg)...)
	state := []string{o.Folders.State, o.Folders.Config, o.Folders.Cache}
	if o.Folders.Further != "" {
		state = append(state, o.Folders.Further)
	}
	if o.Temps != "" {
		state = append(state, o.Temps)
	}
	return sandbox.Config{
		Dir: o.Dir, Roots: roots, Home: o.Home, Apart: o.Apart, State: state,
		Cache: o.Folders.Cache, Env: o.Env, TempRoot: o.TempRoot, Run: filepath.Join(o.Folders.State, "sandbox"),
		Secrets: policy.NamedSecrets(o.Dir, o.Home, o.Env, func(name string) string { return cfg.Env[name] }), Denials: fileDenials(o, cfg, roots), Programs: programs(o, cfg, roots),
		Path: o.Env("PATH"), Self: self, Settings: set, Processes: cmp.Or(cfg.Bash.MaxProcesses, proc.MaxProcesses), Upstream: upstream(o, cfg),
	}, nil
}

// programs are the files that settings have adze run.
func programs(o Config, cfg *config.Config, roots []string) (out []string) {
	if o.Programs == nil {
		return nil
	}
	for _, s := range o.Programs(cfg, append([]string{o.Dir}, roots...)) {
		out = append(out, s.Path)
	}
	return out
}

// upstream is the proxy that commands reach the world through, behind the
// sandbox's own: that of the settings, else of the environment.
func upstream(o Config, cfg *config.Config) netproxy.Upstream {
	return netproxy.Of(cfg.Network.Proxy, func(name string) string {
		if v, ok := cfg.Env[name]; ok {
			return v
		}
		return o.Env(name)
	})
}

// fileDenials are the deny rules of the settings about files, which hold for
// what commands do inside, too.
func fileDenials(o Config, cfg *config.Config, roots []string) policy.Denials {
	r := policy.Rules{Dir: o.Dir, Dirs: roots, Home: o.Home}
	if o.Env != nil {
		if home := o.Env("HOME"); home != o.Home && filepath.IsAbs(home) {
			r.HomeNamed = filepath.Clean(home)
		}
	}
	for _, c := range cfg.Permissions.Deny {
		if rule, err := policy.ParseRule(c.Text, policy.Deny, c.Scope.Policy(), c.Origin.String(), c.Root); err == nil {
			r.List = append(r.List, rule)
		}
	}
	return policy.FileDenials(r)
}

// deniedDomains are those that permission rules deny, which commands must not
// reach either.
func deniedDomains(cfg *config.Config) []string {
	var out []string
	for _, r := range cfg.Permissions.Deny {
		host, ok := strings.CutPrefix(r.Text, "WebFetch(domain:")
		if host, closed := strings.CutSuffix(host, ")"); ok && closed {
			host = strings.TrimSpace(host)
			out = append(out, host)
			if !strings.HasPrefix(host, "*") {
				out = append(out, "*."+host)
			}
		}
	}
	return out
}

// A confinement is the session's sandbox. It is made with the first command,
// because a run without one should not pay for it.
type confinement struct {
	open     func() (*sandbox.Sandbox, error)
	settings config.Sandbox
	rest     string                     // what it was made for, besides its settings and the programs it protects
	excluded func([]policy.Action) bool // nil: no script is kept out

	once sync.Once // for the fields below
	box  *sandbox.Sandbox
	err  error
	// opening is what ahead began, begun that it did.
	opening sync.WaitGroup
	begun   sync.Once
	// made is box once it is there, for who must not wait for it.
	made atomic.Pointer[sandbox.Sandbox]
}

func (c Config) shown() []string {
	if c.Shown == nil {
		return nil
	}
	return c.Shown()
}

// confine is a sandbox of these settings, nil when they want none.
func (b *Set) confine(ctx context.Context, cfg *config.Config, roots, shown []string) *confinement {
	if !cfg.Sandbox.Enabled {
		return nil
	}
	return &confinement{settings: cfg.Sandbox, excluded: excluded(cfg.Sandbox.ExcludedCommands), open: func() (*sandbox.Sandbox, error) {
		c, err := Settings(b.conf, cfg, roots)
		if err != nil {
			return nil, err
		}
		c.Shown = shown
		c.Temp, c.Ask, c.Stays, c.Took, c.Cold, c.Note, c.Resolve, c.Dial = b.conf.Temp, b.connect, b.lenient, b.took, b.isCold, b.conf.Note, b.conf.Resolve, b.conf.Dial
		return sandbox.New(context.WithoutCancel(ctx), c)
	}}
}

func (c *confinement) ready() {
	c.once.Do(func() {
		if c.box, c.err = c.open(); c.err == nil {
			c.made.Store(c.box)
		}
	})
}

// ahead begins to make the sandbox, which close waits for.
func (c *confinement) ahead() {
	c.begun.Do(func() { c.opening.Go(c.ready) })
}

// wrap puts a command inside; when the sandbox cannot be had, nothing runs.
func (c *confinement) wrap(cmd *proc.Command, needs policy.Needs) (policy.Kept, error) {
	c.ready()
	if c.err != nil {
		return policy.Kept{}, fmt.Errorf("the sandbox cannot start: %w", c.err)
	}
	return c.box.Wrap(cmd, needs)
}

func (c *confinement) active() bool {
	c.ready()
	return c.err != nil || c.box.Level().Strength != sandbox.None
}

// apart says whether commands have processes of their own, which the sandbox ends with them.
func (c *confinement) apart() bool {
	c.ready()
	return c.err == nil && c.box.Level().Name == "bwrap"
}

// passes says whether confinement is reason enough to run without a question.
func (c *confinement) passes() bool {
	c.ready()
	return c.settings.AutoAllow && c.err == nil && c.box.Level().Strength == sandbox.Full
}

func (c *confinement) close() error {
	c.begun.Do(func() {}) // none begins any more
	c.opening.Wait()
	c.once.Do(func() { c.err = errors.New("the session is over") })
	if c.box == nil {
		return nil
	}
	return c.box.Close()
}

// denial says what was blocked when a command inside failed.
func (c *confinement) denial(command string, exit int, output string) string {
	c.ready()
	if c.box == nil || c.box.Level().Strength == sandbox.None {
		return ""
	}
	why, _ := c.box.Denial(command, exit, output)
	return why
}

// excluded tells scripts whose every command the settings keep out of the
// sandbox, by patterns as in Bash rules.
func excluded(patterns []string) func([]policy.Action) bool {
	var rules policy.Rules
	for _, p := range patterns {
		if r, err := policy.ParseRule("Bash("+p+")", policy.Allow, policy.User, "sandbox.excluded_commands", ""); err == nil {
			rules.List = append(rules.List, r)
		}
	}
	if len(rules.List) == 0 {
		return nil
	}
	return func(actions []policy.Action) bool {
		commands := 0
		for a := range policy.All(actions) {
			switch a := a.(type) {
			case policy.Exec:
				commands++
				a.Touches = nil // paths are judged by permissions
				v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{a}})
				if v.Effect != policy.Allow || v.Rule == "" {
					return false
				}
			case policy.Opaque:
				return false
			default:
			}
		}
		return commands > 0
	}
}
