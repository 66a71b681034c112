package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// probed is the best mechanism and how to start it.
type probed struct {
	level Level
	start func(ctx context.Context, s *Sandbox) (mechanism, error)
	early *helper // nil: nothing was started yet
}

// drop ends what was started early, when start is not called.
func (p probed) drop() { p.early.drop() }

// probeAll finds the best mechanism. open says that it is to be started then:
// bubblewrap is not tried before, because its first zygote, or what stands in for
// that, shows whether it works (see bubblewrap.works).
func probeAll(ctx context.Context, c Config, open bool) probed {
	why, hint := "", ""
	if c.Mechanism == "" || c.Mechanism == "bwrap" {
		path := findTool(c, "bwrap")
		switch {
		case path == "":
			why, hint = "bubblewrap (bwrap) is not installed", "install the package bubblewrap"
		case open:
			if mounts, _ := os.ReadFile("/proc/self/mountinfo"); procCovered(string(mounts)) {
				if err := tryBwrap(ctx, path); err != nil {
					why, hint = fmt.Sprintf("%s does not work here: %v", path, err), bwrapHint(err)
					break
				}
			}
			early := startEarly(ctx, c, path)
			return probed{Level{Name: "bwrap", Strength: Full, Detail: path}, func(ctx context.Context, s *Sandbox) (mechanism, error) { return startBwrap(ctx, s, path, early) }, early}
		default:
			version, err := lookAtBwrap(ctx, path)
			if err == nil {
				l := Level{Name: "bwrap", Strength: Full, Detail: version}
				if err := tryZygote(path); err != nil {
					l.Cold = err.Error()
				}
				return probed{level: l, start: func(ctx context.Context, s *Sandbox) (mechanism, error) { return startBwrap(ctx, s, path, nil) }}
			}
			why, hint = fmt.Sprintf("%s does not work here: %v", path, err), bwrapHint(err)
		}
	}
	if c.Mechanism == "" || c.Mechanism == "landlock" {
		abi, err := landlockABI()
		if err == nil {
			abi = min(abi, knownLandlock)
			l := Level{Name: "landlock", Strength: Partial, Detail: fmt.Sprintf("Landlock version %d with a system call filter", abi), Weaker: landlockWeaker(abi, c.Settings.Network), Why: why, Hint: hint}
			return probed{level: l, start: func(ctx context.Context, s *Sandbox) (mechanism, error) { return startLandlock(ctx, s, abi) }}
		}
		if why != "" {
			why += "; "
		}
		why += err.Error()
	}
	if why == "" {
		why = fmt.Sprintf("there is no %q on this system", c.Mechanism)
	}
	return probed{level: Level{Name: "none", Strength: None, Why: why, Hint: hint}}
}

// procCovered reports whether something is mounted over a part of /proc, as containers do:
// then the kernel may let nobody mount a new one (mount_too_revealing, fs/namespace.c), which
// a zygote need not and each command must. What it reads is /proc/self/mountinfo (proc(5)).
func procCovered(mounts string) bool {
	whole := false
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		whole = whole || f[4] == "/proc" && f[3] == "/" && strings.HasPrefix(f[5], "rw")
		if strings.HasPrefix(f[4], "/proc/") && f[4] != "/proc/sys/fs/binfmt_misc" { // an empty folder of its own
			return true
		}
	}
	return !whole
}

// knownLandlock is the newest version whose rights are known here.
const knownLandlock = 7

// lookAtBwrap says which bubblewrap it is, and tries it meanwhile.
func lookAtBwrap(ctx context.Context, path string) (version string, err error) {
	var both sync.WaitGroup
	both.Go(func() { version = bwrapVersion(ctx, path) })
	both.Go(func() { err = tryBwrap(ctx, path) })
	both.Wait()
	return version, err
}

// startEarly starts the helper that most sandboxes need, nil where this one may
// not. A failure is told when it is needed.
func startEarly(ctx context.Context, c Config, path string) *helper {
	n := c.Settings.Network
	if c.Cache == "" && c.Ask == nil && len(n.AllowedDomains)+len(n.LocalPorts) == 0 && !n.Registries {
		return nil
	}
	enter := findTool(c, "nsenter")
	if enter == "" {
		return nil
	}
	h := &helper{}
	h.space, h.err = startNetspace(ctx, path, c.Self, enter)
	return h
}

// A helper is one that was started before it was known to be needed.
type helper struct {
	space *netspace
	err   error
}

// take hands it over, once. ok is false when there is none.
func (h *helper) take() (n *netspace, err error, ok bool) {
	if h == nil || h.space == nil && h.err == nil {
		return nil, nil, false
	}
	n, err = h.space, h.err
	h.space, h.err = nil, nil
	return n, err, true
}

// drop ends it, if nobody has taken it.
func (h *helper) drop() {
	if n, _, _ := h.take(); n != nil {
		_ = n.close()
	}
}

func bwrapVersion(ctx context.Context, path string) string {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{}
	out, err := cmd.Output()
	if err != nil {
		return path
	}
	return strings.TrimSpace(string(out)) + ", " + path
}

// bwrapHint knows the usual reasons.
func bwrapHint(err error) string {
	s := err.Error()
	switch {
	case strings.Contains(s, "uid map"), strings.Contains(s, "RTM_NEWADDR"), strings.Contains(s, "Creating new namespace"), strings.Contains(s, "No permissions to create"):
		return "let users make namespaces: sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0"
	case strings.Contains(s, "user namespaces"), strings.Contains(s, "max_"), strings.Contains(s, "No space left"):
		return "sysctl user.max_user_namespaces must not be 0"
	case strings.Contains(s, "proc"):
		return "in a container: start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
	case strings.Contains(s, "Unknown option"), strings.Contains(s, "disable-userns"):
		return "install bubblewrap 0.8 or later"
	}
	return "run: bwrap --ro-bind / / --unshare-all true"
}
