package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newSandbox(sys System, f *runFlags) *cobra.Command {
	return group("sandbox", "Try the sandbox that commands run in, and see what it allows",
		sandboxRun(sys, f), sandboxExplain(sys, f), sandboxCheck(sys, f))
}

// sandboxConfig is what the settings make of the sandbox.
func sandboxConfig(sys System, p settings.Paths, cfg *config.Config) (sandbox.Config, error) {
	rules, _, err := settings.Rules(cfg, p)
	if err != nil {
		return sandbox.Config{}, err
	}
	return app.Surroundings{Environment: settings.Environment{Env: sys.Env}, Temp: sys.ground(p.Dir).Temp}.Sandbox(p, cfg, rules.Dirs)
}

// openSandbox starts the sandbox that the settings describe. A person who
// runs a sandbox command wants one, so none is an error.
func openSandbox(sys System, f *runFlags, cmd *cobra.Command, mechanism string) (*sandbox.Sandbox, settings.Paths, *config.Config, error) {
	p, cfg, err := loadSettings(sys, f, cmd)
	if err != nil {
		return nil, p, nil, err
	}
	c, err := sandboxConfig(sys, p, cfg)
	if err != nil {
		return nil, p, nil, err
	}
	c.Mechanism = mechanism
	c.Settings.Enabled, c.Settings.FailIfUnavailable = true, true
	s, err := sandbox.New(cmd.Context(), c)
	return s, p, cfg, err
}

func sandboxCheck(sys System, f *runFlags) *cobra.Command {
	mechanism := ""
	c := answering(sys, &cobra.Command{
		Use: "check", Short: "Try to get out of the sandbox, and say what became of each attempt", Args: cobra.NoArgs,
		Long: `Runs every known way out against the mechanism in use, in a scratch project.
Nothing of yours is touched. Exit code 1 when one succeeds that should not.`,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		p, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		sc, err := sandboxConfig(sys, p, cfg)
		if err != nil {
			return nil, err
		}
		sc.Mechanism = mechanism
		sc.Settings.Enabled, sc.Settings.FailIfUnavailable = true, true
		level, tries, err := sandbox.Check(cmd.Context(), sc)
		if err != nil {
			return nil, err
		}
		escaped := 0
		for _, t := range tries {
			if t.Result == sandbox.Escaped {
				escaped++
			}
		}
		said := both{map[string]any{"level": level, "tries": tries, "escaped": escaped}, func() error { printTries(sys.Stdout, level, tries); return nil }}
		if escaped > 0 {
			return failing{said, failf("adze sandbox explain shows what it should keep", "%d of %d attempts got out", escaped, len(tries))}, nil
		}
		return said, nil
	})
	mechanismFlag(c, &mechanism, "try")
	return c
}

func printTries(w io.Writer, level sandbox.Level, tries []sandbox.Try) {
	count := map[sandbox.Result]int{}
	for _, t := range tries {
		count[t.Result]++
		mark := "pass"
		switch t.Result {
		case sandbox.Blocked:
		case sandbox.Escaped:
			mark = "FAIL"
		case sandbox.Known:
			mark = "weak"
		case sandbox.Skipped:
			mark = "skip"
		}
		fmt.Fprintf(w, "%s  %-22s %s: %s\n", mark, t.Name, t.What, oneLine(t.Detail))
	}
	fmt.Fprintf(w, "%s (%s): %d blocked, %d known weaknesses, %d skipped, %d escaped\n",
		level.Name, level.Strength, count[sandbox.Blocked], count[sandbox.Known], count[sandbox.Skipped], count[sandbox.Escaped])
}

func sandboxExplain(sys System, f *runFlags) *cobra.Command {
	mechanism := ""
	c := answering(sys, &cobra.Command{
		Use: "explain", Short: "Show what the sandbox allows here, and what enforces it", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		p, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		sc, err := sandboxConfig(sys, p, cfg)
		if err != nil {
			return nil, err
		}
		// As a session where somebody can be asked; nothing is connected here.
		sc.Ask = func(context.Context, string, int) netproxy.Answer { return netproxy.Answer{} }
		sc.Mechanism, sc.Temp = mechanism, filepath.Join(sys.ground(p.Dir).Temp, "adze-…")
		level, pol := sandbox.Probe(cmd.Context(), sc), sandbox.NewPolicy(sc)
		var packages []string
		if pol.Network.Registries {
			for _, h := range pol.Registries(sc) {
				packages = append(packages, h.String())
			}
		}
		return both{map[string]any{"level": level, "policy": pol, "enabled": cfg.Sandbox.Enabled, "registries": packages}, func() error {
			explainLevel(sys.Stdout, cfg.Sandbox, level)
			explainPolicy(sys.Stdout, pol, packages)
			if via := sc.Upstream.Host(); via != "" && !pol.Network.Off() {
				fmt.Fprintf(sys.Stdout, "%-10s behind it: %s, which looks the names up\n", "", clip.Visible(via))
			}
			return nil
		}}, nil
	})
	mechanismFlag(c, &mechanism, "look at")
	return c
}

func explainLevel(w io.Writer, c config.Sandbox, l sandbox.Level) {
	fmt.Fprintf(w, "mechanism  %s (%s)", l.Name, l.Strength)
	if l.Detail != "" {
		fmt.Fprintf(w, ", %s", clip.Visible(l.Detail))
	}
	fmt.Fprintln(w)
	if !c.Enabled {
		fmt.Fprintln(w, "           the settings turn it off (sandbox.enabled)")
	}
	for _, s := range l.Weaker {
		fmt.Fprintf(w, "           weaker: %s\n", oneLine(s))
	}
	if l.Cold != "" {
		fmt.Fprintf(w, "           slower: each command is started by bubblewrap, because there is no zygote: %s\n", oneLine(l.Cold))
	}
	if l.Why != "" {
		fmt.Fprintf(w, "           not better because %s\n", oneLine(l.Why))
	}
	if l.Hint != "" {
		fmt.Fprintf(w, "           hint: %s\n", oneLine(l.Hint))
	}
}

// explainPolicy tells of a policy; packages are the hosts that it lets package managers
// fetch from.
func explainPolicy(w io.Writer, p sandbox.Policy, packages []string) {
	list := func(name string, items []string, none string) {
		if len(items) == 0 {
			items = []string{none}
		}
		for _, it := range items {
			fmt.Fprintf(w, "%-10s %s\n", name, clip.Visible(it))
			name = ""
		}
	}
	list("readable", []string{"everything but what is hidden"}, "")
	list("hidden", there(p.Hidden), "nothing")
	if len(p.Env) > 0 {
		list("variables", []string{"kept out: " + strings.Join(p.Env, ", ")}, "")
	}
	writable := slices.Clone(p.Writable)
	for i, w := range writable {
		if _, err := os.Lstat(w); err != nil && w != p.Temp && w != p.Cache {
			writable[i] += " (not there: make it outside of the sandbox first)"
		}
	}
	list("writable", writable, "nothing")
	list("protected", there(p.Protected), "nothing that exists")
	list("git", there(p.Git), "no repository")
	n := p.Network
	switch {
	case n.Off():
		list("network", []string{"nothing can leave"}, "")
	case n.Ask:
		list("network", append([]string{"through adze's proxy; a new domain is asked about"}, n.Allowed...), "")
	default:
		list("network", append([]string{"through adze's proxy, only to:"}, n.Allowed...), "")
	}
	var more []string
	for _, host := range packages {
		more = append(more, "and to fetch packages, no uploads: "+host)
	}
	if n.Registries && len(packages) == 0 {
		more = append(more, "no host of a package registry was found in the settings of npm, pip, cargo, go or apt")
	}
	for _, port := range n.Ports {
		more = append(more, fmt.Sprintf("and localhost:%d of this machine", port))
	}
	if len(more) > 0 {
		list("", more, "")
	}
	if n.AllUnix {
		list("sockets", []string{"all unix sockets"}, "")
	} else {
		list("sockets", n.Unix, "no unix socket")
	}
}

// there keeps the paths that exist, and counts the others.
func there(paths []string) []string {
	var out []string
	absent := 0
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil {
			out = append(out, p)
		} else {
			absent++
		}
	}
	if absent > 0 {
		out = append(out, "and "+clip.Count(absent, "path")+" not there now")
	}
	return out
}
