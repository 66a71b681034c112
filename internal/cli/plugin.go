package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

func newPlugin(sys System, f *runFlags) *cobra.Command {
	return group("plugin", "Install plugins, and the marketplaces they come from",
		pluginInstall(sys, f), pluginUninstall(sys, f), pluginEnable(sys, f), pluginDisable(sys, f), pluginUpdate(sys, f), pluginList(sys, f),
		pluginValidate(sys, f), pluginNew(sys, f), pluginMarketplace(sys, f))
}

// A shop is the plugins of a run here.
type shop struct {
	sys   System
	paths settings.Paths
	cfg   *config.Config
	store *market.Store
	pol   market.Policy
	bare  invocation
}

func (f *runFlags) shop(sys System, cmd *cobra.Command) (*shop, error) {
	o, p, cfg, err := f.loaded(sys, cmd)
	if err != nil {
		return nil, err
	}
	via := netproxy.Of(cfg.Network.Proxy, cfg.Over(sys.Env))
	environ := slices.Clone(o.Environ)
	for name, value := range via.Variables() {
		if environ = proc.Unset(environ, name); value != "" {
			environ = proc.Set(environ, name+"="+value)
		}
	}
	return &shop{sys, p, cfg, ext.Market(p, sys.Env, environ, sys.Version, via.Proxy), market.PolicyOf(cfg), o}, nil
}

// installed is a shop and the plugin of this name in it.
func (f *runFlags) installed(sys System, cmd *cobra.Command, name string) (*shop, market.Installed, error) {
	s, err := f.shop(sys, cmd)
	if err != nil {
		return nil, market.Installed{}, err
	}
	in, err := s.store.Find(name)
	return s, in, err
}

// write changes the settings file of a scope, and reads all anew.
func (s *shop) write(ctx context.Context, scope string, edits ...confedit.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	t, err := settingsFile(s.paths, scope)
	if err != nil {
		return err
	}
	notes, err := settings.Write(ctx, s.paths, t, edits...)
	if err != nil {
		return failf("adze config check shows what is wrong with it", "change %s: %v", t.Path, err)
	}
	for _, n := range notes {
		fmt.Fprintln(s.sys.Stderr, "adze: "+oneLine(n))
	}
	if _, cfg, err := s.bare.Load(); err == nil {
		s.cfg = cfg
	}
	return nil
}

func set(key string, value any) (confedit.Edit, error) {
	b, err := fastjson.Append(nil, value)
	return confedit.Edit{Op: confedit.Set, Key: key, Value: b}, err
}

// told writes what of a plugin is not used.
func (s *shop) told(id string, problems []plugin.Problem) {
	for _, p := range problems {
		fmt.Fprintf(s.sys.Stderr, "adze: %s: %s\n", id, p)
	}
}

func pluginInstall(sys System, f *runFlags) *cobra.Command {
	var yes bool
	var values []string
	c := scoped("", "user", "whose settings enable it: user, project or local", &cobra.Command{
		Use: "install NAME[@MARKETPLACE]", Short: "Show what a plugin would bring, ask, and install it", Args: cobra.ExactArgs(1),
		Long: `install fetches a plugin, shows everything it would run or allow, and asks. It is
pinned then: it changes only with adze plugin update, which shows the difference.

  adze plugin marketplace add OWNER/REPO    where plugins come from
  adze plugin install NAME
  adze plugin install NAME --set url=http://localhost --set token=- <token.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			if _, err := settingsFile(s.paths, scopeOf(cmd)); err != nil {
				return err
			}
			ctx := cmd.Context()
			if err := s.offered(ctx, args[0], yes); err != nil {
				return err
			}
			plan, err := s.store.Prepare(ctx, args[0], s.pol)
			if err != nil {
				return err
			}
			return errors.Join(s.install(ctx, plan, scopeOf(cmd), values, yes), plan.Close())
		},
	})
	c.Flags().BoolVar(&yes, "yes", false, "install without a question")
	c.Flags().StringArrayVar(&values, "set", nil, "an option of the plugin; - reads it from stdin")
	return c
}

// offered adds the marketplace that settings offer for a plugin, once a person
// said yes to where it is.
func (s *shop) offered(ctx context.Context, id string, yes bool) error {
	_, name := market.SplitID(id)
	if name == "" {
		return nil
	}
	known, err := s.store.Markets()
	if err != nil || slices.ContainsFunc(known, func(m market.Market) bool { return m.Name == name }) {
		return err
	}
	src, ok := market.Offered(s.cfg, name)
	if !ok {
		return nil
	}
	by := "It is"
	if at, ok := s.cfg.Setting("extraKnownMarketplaces." + name); ok {
		by = "Settings say where it is (" + clip.Visible(at.Origin.String()) + ")"
	}
	fmt.Fprintf(s.sys.Stdout, "The marketplace %s was not added yet. %s:\n  %s\n", clip.Visible(name), by, src)
	if err := confirm(ctx, s.sys, yes, "Add it?", "the marketplace was not added"); err != nil {
		return err
	}
	_, err = s.add(ctx, src)
	return err
}

func (s *shop) install(ctx context.Context, plan *market.Plan, scope string, values []string, yes bool) error {
	asks, same := false, true
	for _, st := range plan.Steps {
		asks, same = asks || st.Asks(), same && st.Same()
		s.show(st)
		s.told(st.Plugin.ID(), st.Problems)
	}
	if asks {
		if err := confirm(ctx, s.sys, yes, "Install this?", "nothing was installed"); err != nil {
			return err
		}
	}
	given, err := s.given(ctx, values)
	if err != nil {
		return err
	}
	var todo []options
	for _, st := range plan.Steps {
		mine := map[string]string{}
		if !st.Needed {
			mine = given
		}
		o, err := s.options(ctx, st.Plugin, mine, yes)
		if err != nil {
			return err
		}
		todo = append(todo, o)
	}
	if err := plan.Commit(ctx); err != nil {
		return err
	}
	var edits []confedit.Edit
	for i, st := range plan.Steps {
		if err := s.keep(ctx, st.Plugin.ID(), todo[i]); err != nil {
			return err
		}
		e, err := set("enabledPlugins."+st.Plugin.ID(), true)
		if err != nil {
			return err
		}
		edits = append(edits, e)
	}
	if err := s.write(ctx, scope, edits...); err != nil {
		return err
	}
	for _, st := range plan.Steps {
		word := "installed"
		if same {
			word = "already installed, and enabled:"
		}
		fmt.Fprintf(s.sys.Stderr, "%s %s%s\n", word, st.Plugin.ID(), s.unless(st.Plugin.ID(), true))
	}
	return nil
}

// unless says why a plugin is in spite of what was just written not what a
// person wants.
func (s *shop) unless(id string, on bool) string {
	if s.cfg.EnabledPlugins[id] == on {
		return ""
	}
	if at, ok := s.cfg.Setting("enabledPlugins." + id); ok && string(at.Value) != "null" {
		return fmt.Sprintf(", but %s says otherwise", clip.Visible(at.Origin.String()))
	}
	return ", but the settings it was written to do not count here: adze trust"
}

// show writes what a step brings, or how that differs from what is there.
func (s *shop) show(st market.Step) {
	w := s.sys.Stdout
	about := st.Plugin.ID()
	if v := st.Plugin.Version; v != "" {
		about += " " + v
	}
	if st.Needed {
		about += " (another plugin needs it)"
	}
	fmt.Fprintf(w, "%s, from %s, pinned to %s\n", about, st.Source(), st.Pin())
	if st.Old != nil {
		if st.Same() {
			fmt.Fprintln(w, "  is installed as it is there")
			return
		}
		if len(st.Changes) == 0 {
			fmt.Fprintln(w, "  only its texts change")
		}
		for _, c := range st.Changes {
			mark := " "
			if c.Asks() {
				mark = "!"
			}
			writeItem(w, fmt.Sprintf("%s %-8s", mark, c.How), c.Item)
			if c.Was != "" && c.Was != c.Text {
				fmt.Fprintf(w, "%14s before: %s\n", "", strings.ReplaceAll(c.Was, "\n", "\n"+strings.Repeat(" ", 23)))
			}
		}
		return
	}
	if st.Plugin.About != "" {
		fmt.Fprintln(w, "  "+st.Plugin.About)
	}
	writeItems(w, st.Brings)
}

func writeItems(w io.Writer, items []market.Item) {
	for i, b := range items {
		if i == 0 && b.Runs {
			fmt.Fprintln(w, "It runs, or allows:")
		}
		if !b.Runs && (i == 0 || items[i-1].Runs) {
			fmt.Fprintln(w, "It brings:")
		}
		writeItem(w, "", b)
	}
	if len(items) == 0 {
		fmt.Fprintln(w, "It brings nothing.")
	}
}

func writeItem(w io.Writer, mark string, i market.Item) {
	line := i.Kind + " " + i.Name
	if i.Text != "" {
		line += ": " + i.Text
	}
	fmt.Fprintf(w, "  %s%s\n", strings.TrimPrefix(mark+" ", " "), strings.ReplaceAll(line, "\n", "\n      "))
}

func pluginUninstall(sys System, f *runFlags) *cobra.Command {
	var data, force bool
	c := &cobra.Command{
		Use: "uninstall NAME[@MARKETPLACE]", Short: "Remove a plugin", Args: cobra.ExactArgs(1), Aliases: []string{"remove"},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, in, err := f.installed(sys, cmd, args[0])
			if err != nil {
				return err
			}
			if err := s.store.Uninstall(cmd.Context(), in.ID(), data, force); err != nil {
				return err
			}
			for _, scope := range []string{"user", "local"} {
				t, ok := s.paths.File(scope)
				if !ok {
					continue
				}
				if _, err := os.Stat(t.Path); err != nil {
					continue
				}
				edits := []confedit.Edit{{Op: confedit.Unset, Key: "enabledPlugins." + in.ID()}}
				if data && scope == "user" {
					edits = append(edits, confedit.Edit{Op: confedit.Unset, Key: "pluginConfigs." + in.ID() + ".options"})
				}
				if err := s.write(cmd.Context(), scope, edits...); err != nil {
					return err
				}
			}
			fmt.Fprintf(sys.Stderr, "uninstalled %s; sessions that run do without it from now on\n", in.ID())
			if at, ok := s.cfg.Setting("enabledPlugins." + in.ID()); ok && string(at.Value) == "true" {
				fmt.Fprintf(sys.Stderr, "%s still wants it\n", clip.Visible(at.Origin.String()))
			}
			if _, err := os.Stat(s.store.Data(in)); err == nil {
				fmt.Fprintf(sys.Stderr, "what it kept stays in %s\n", clip.Visible(s.store.Data(in)))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&data, "remove-data", false, "also what it kept, and its secret options")
	c.Flags().BoolVar(&force, "force", false, "also when other plugins need it")
	return c
}

func pluginEnable(sys System, f *runFlags) *cobra.Command {
	var values []string
	c := scoped("", "user", "whose settings enable it: user, project or local", &cobra.Command{
		Use: "enable NAME[@MARKETPLACE]", Short: "Use an installed plugin, and set its options", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, in, err := f.installed(sys, cmd, args[0])
			if err != nil {
				return err
			}
			p, err := s.store.Plugin(in, s.cfg)
			if err != nil {
				return err
			}
			given, err := s.given(cmd.Context(), values)
			if err != nil {
				return err
			}
			o, err := s.options(cmd.Context(), p, given, false)
			if err != nil {
				return err
			}
			if err := s.keep(cmd.Context(), in.ID(), o); err != nil {
				return err
			}
			return s.turn(cmd.Context(), in.ID(), scopeOf(cmd), true)
		},
	})
	c.Flags().StringArrayVar(&values, "set", nil, "an option of the plugin; - reads it from stdin")
	return c
}

func pluginDisable(sys System, f *runFlags) *cobra.Command {
	return scoped("", "user", "whose settings disable it: user, project or local", &cobra.Command{
		Use: "disable NAME[@MARKETPLACE]", Short: "Do not use an installed plugin", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, in, err := f.installed(sys, cmd, args[0])
			if err != nil {
				return err
			}
			return s.turn(cmd.Context(), in.ID(), scopeOf(cmd), false)
		},
	})
}

// turn writes whether a plugin is used.
func (s *shop) turn(ctx context.Context, id, scope string, on bool) error {
	e, err := set("enabledPlugins."+id, on)
	if err != nil {
		return err
	}
	if err := s.write(ctx, scope, e); err != nil {
		return err
	}
	word := map[bool]string{true: "enabled ", false: "disabled "}[on]
	fmt.Fprintf(s.sys.Stderr, "%s%s%s\n", word, id, s.unless(id, on))
	return nil
}
