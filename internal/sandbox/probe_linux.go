package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// probed is the best mechanism and how to start it.
type probed struct {
	level Level
	start func(ctx context.Context, s *Sandbox) (mechanism, error)
}

func probeAll(ctx context.Context, c Config) probed {
	why, hint := "", ""
	if c.Mechanism == "" || c.Mechanism == "bwrap" {
		path := findTool(c, "bwrap")
		if path == "" {
			why, hint = "bubblewrap (bwrap) is not installed", "install the package bubblewrap"
		} else if version, err := lookAtBwrap(ctx, path); err != nil {
			why, hint = fmt.Sprintf("%s does not work here: %v", path, err), bwrapHint(err)
		} else {
			l := Level{Name: "bwrap", Strength: Full, Detail: version}
			return probed{l, func(ctx context.Context, s *Sandbox) (mechanism, error) { return startBwrap(ctx, s, path) }}
		}
	}
	if c.Mechanism == "" || c.Mechanism == "landlock" {
		abi, err := landlockABI()
		if err == nil {
			abi = min(abi, knownLandlock)
			l := Level{Name: "landlock", Strength: Partial, Detail: fmt.Sprintf("Landlock version %d with a system call filter", abi), Weaker: landlockWeaker(abi, c.Settings.Network.LocalBinding), Why: why, Hint: hint}
			return probed{l, func(ctx context.Context, s *Sandbox) (mechanism, error) { return startLandlock(ctx, s, abi) }}
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
