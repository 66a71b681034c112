package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Permissions turns settings into rules and the mode to start in; skip asks
// for the mode bypassPermissions, whatever the settings say. The error is a
// rule or folder that cannot be used, or a mode that is forbidden here.
func Permissions(e Environment, cfg *config.Config, p Paths, skip bool) (policy.Rules, policy.Mode, error) {
	rules, problems, err := Rules(cfg, p)
	if err != nil {
		return rules, "", err
	}
	for _, x := range problems {
		if x.Severity == config.Error { // of the others, adze doctor and adze config check tell
			e.Notef("%s", x)
		}
	}
	mode := cmp.Or(cfg.Permissions.Refused, cfg.Permissions.Mode())
	if skip {
		mode = policy.Bypass
	}
	if refused := bypassRefused(e, cfg); refused != nil && mode == policy.Bypass {
		return rules, mode, refused
	}
	if mode == policy.Auto && bool(cfg.Permissions.DisableAuto) {
		return rules, mode, &hint.Refusal{Why: "the settings of this machine forbid the mode auto", What: "run with --permission-mode default"}
	}
	return rules, mode, nil
}

// bypassRefused says why no session may be in the mode bypassPermissions here,
// nil when one may.
func bypassRefused(e Environment, cfg *config.Config) *hint.Refusal {
	switch {
	case bool(cfg.Permissions.DisableBypass):
		return &hint.Refusal{Why: "the settings of this machine forbid the mode bypassPermissions", What: "run in another mode; rules can allow single commands: --allowed-tools \"Bash(go test:*)\""}
	case os.Geteuid() == 0 && e.Env("ADZE_BYPASS_AS_ROOT") != "1" && !contained():
		return &hint.Refusal{Why: "bypassPermissions is refused as root outside a container", What: "run as a normal user, or set ADZE_BYPASS_AS_ROOT=1 if this machine may be lost"}
	}
	return nil
}

// contained reports whether this looks like a throw-away container.
func contained() bool {
	for _, f := range []string{"/.dockerenv", "/run/.containerenv"} {
		if exists(f) {
			return true
		}
	}
	return false
}

// Rules turns the lists of the settings into rules. When a rule that forbids
// cannot be read, nothing is allowed without a question. The problems are
// those of rules.
func Rules(cfg *config.Config, p Paths) (policy.Rules, []config.Problem, error) {
	var first error
	r, problems := UsableRules(cfg, p, func(err error) {
		if first == nil {
			first = err
		}
	})
	return r, problems, first
}

// UsableRules is Rules without the folders that cannot be used; missing is
// told why.
func UsableRules(cfg *config.Config, p Paths, missing func(error)) (policy.Rules, []config.Problem) {
	r, problems := listed(cfg, p, missing)
	r.Protected = Programs(cfg, p, r.Dirs)
	return r, problems
}

// ReadingRules are UsableRules for what only reads: without what is protected from
// being written, which takes looks at the disk and at the programs of hooks.
func ReadingRules(cfg *config.Config, p Paths) policy.Rules {
	r, _ := listed(cfg, p, func(error) {})
	return r
}

// namedSecrets are policy.NamedSecrets as they are written and resolved.
func namedSecrets(p Paths, env func(string) string) []string {
	out := policy.NamedSecrets(p.Dir, p.Home, env)
	for _, at := range out {
		if real, err := place.Resolve(at); err == nil && real != at {
			out = append(out, real)
		}
	}
	return out
}

func listed(cfg *config.Config, p Paths, missing func(error)) (policy.Rules, []config.Problem) {
	var problems []config.Problem
	perms := cfg.Permissions
	r := policy.Rules{Dir: p.Dir, Repository: p.Around, Home: p.Home, FoldCase: p.FoldCase, ManagedOnly: perms.ManagedOnly, Unsafe: perms.Unsafe, NoBypass: bool(perms.DisableBypass)}
	if e := p.HomeNamed; e != p.Home {
		r.HomeNamed = e
	}
	r.Sealed = place.Named(p.Dir, p.Home, cfg.Sandbox.Filesystem.DenyWrite)
	r.Secrets = append(slices.Clip(p.Secrets), namedSecrets(p, func(name string) string { return cfg.Env[name] })...)
	for _, part := range []struct {
		list   []config.Rule
		effect policy.Effect
	}{{perms.Deny, policy.Deny}, {perms.Ask, policy.Ask}, {perms.Allow, policy.Allow}} {
		for _, c := range part.list {
			rule, err := policy.ParseRule(c.Text, part.effect, c.Scope.Policy(), c.Origin.String(), c.Root)
			if err == nil {
				if why := DeadRule(rule); why != "" {
					if given(c.Origin) {
						missing(unusable(c, why))
					}
					severity := config.Warning
					if part.effect != policy.Allow { // what it was to keep from running runs
						severity = config.Error
						if foreign := strings.Contains(filepath.ToSlash(c.Origin.File), "/.claude/"); namesNoTool(rule.Tool, foreign) {
							r.Unsafe = fmt.Sprintf("the %s rule %q at %s forbids nothing: %s", part.effect, c.Text, c.Origin, why)
						}
					}
					problems = append(problems, config.Problem{Severity: severity, Origin: c.Origin, Key: "permissions." + part.effect.String(), Message: fmt.Sprintf("rule %q: %s", c.Text, why)})
				}
			} else {
				if given(c.Origin) {
					missing(unusable(c, err.Error()))
				}
				severity := config.Warning
				if part.effect != policy.Allow { // without it, more would be allowed than was meant
					severity = config.Error
					r.Unsafe = fmt.Sprintf("the %s rule %q at %s cannot be read: %s", part.effect, c.Text, c.Origin, unread(err, c.Text))
				}
				problems = append(problems, config.Problem{Severity: severity, Origin: c.Origin, Key: "permissions." + part.effect.String(), Rule: c.Text, Message: fmt.Sprintf("rule %q is not used: %s", c.Text, unread(err, c.Text))})
				continue
			}
			if p.Home == "" && part.effect != policy.Allow && policy.NamesHome(rule) {
				r.Unsafe = fmt.Sprintf("the %s rule %q at %s speaks of the home folder, and none is known", part.effect, c.Text, c.Origin)
			}
			if first, whole := r.MeantWhole(rule); whole && part.effect == policy.Allow && !exists(filepath.Join(cmp.Or(rule.Root, p.Dir), first)) {
				problems = append(problems, config.Problem{Severity: config.Warning, Origin: c.Origin, Key: "permissions.allow", Message: fmt.Sprintf("rule %q counts from %s, where there is no %s; the whole path is %s(/%s)", c.Text, cmp.Or(rule.Root, p.Dir), first, rule.Tool, rule.Spec)})
			}
			r.List = append(r.List, rule)
		}
	}
	list, more := dirs(cfg, p, missing)
	r.Dirs = list
	return r, append(problems, more...)
}

// unread is why a rule cannot be read, where its text stands already.
func unread(err error, rule string) string {
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("reading rule %q: ", strings.TrimSpace(rule)))
}

// namesNoTool reports whether a rule that forbids was meant for a tool of adze and
// names none. Settings of another agent may be about a tool that only it has.
func namesNoTool(tool string, foreign bool) bool {
	return !policy.Known(tool) && (!foreign || tool == "*" || near.Hint(tool, policy.Tools()) != "")
}

// Dirs are the folders that sessions work in, those of UsableRules: the one they
// start in and those of the settings that can be used.
func Dirs(cfg *config.Config, p Paths) []string {
	out, _ := dirs(cfg, p, func(error) {})
	return out
}

const dirsKey = "permissions.additionalDirectories"

// dirs returns what is wrong with folders of settings files as problems, and
// tells missing of those that were given for this run: a settings file counts in
// many places, and a folder that is not there grants nothing.
func dirs(cfg *config.Config, p Paths, missing func(error)) (out []string, problems []config.Problem) {
	out = []string{p.Dir}
	for _, d := range cfg.Permissions.Dirs {
		dir, err := folder(d, p)
		switch {
		case err == nil:
			out = append(out, dir)
		case given(d.Origin):
			missing(err)
		default:
			problems = append(problems, config.Problem{Severity: config.Warning, Origin: d.Origin, Key: dirsKey, Message: err.Error()})
		}
	}
	return out, problems
}

// Forbidden are the modes that a session cannot be switched to, and why. It
// may be in the mode it was started in. mayBypass: it was started so that it
// may be switched to bypassPermissions.
func Forbidden(e Environment, cfg *config.Config, started policy.Mode, mayBypass bool) map[policy.Mode]string {
	out := map[policy.Mode]string{}
	switch refused := bypassRefused(e, cfg); {
	case started == policy.Bypass:
	case !mayBypass:
		out[policy.Bypass] = "it needs --dangerously-skip-permissions or --allow-dangerously-skip-permissions at the start"
	case refused != nil:
		out[policy.Bypass] = refused.Why
	}
	if bool(cfg.Permissions.DisableBypass) {
		out[policy.Bypass] = "the settings forbid it"
	}
	if bool(cfg.Permissions.DisableAuto) {
		out[policy.Auto] = "the settings forbid it"
	}
	return out
}

// folder resolves an additional folder.
func folder(d config.Rule, p Paths) (string, error) {
	path := paths.Absolute(cmp.Or(d.Root, p.Dir), p.Home, d.Text)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", &hint.Mistake{Why: fmt.Sprintf("the additional folder %s (%s) does not exist", d.Text, d.Origin), What: "create it, or leave it out"}
	case err != nil:
		return "", fmt.Errorf("look at the additional folder %s: %w", d.Text, err)
	case !info.IsDir():
		return "", &hint.Mistake{Why: fmt.Sprintf("the additional folder %s (%s) is a file", d.Text, d.Origin), What: "give the folder that holds it"}
	}
	return place.Resolve(path)
}
