package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func pluginMarketplace(sys System, f *runFlags) *cobra.Command {
	return group("marketplace", "Add, list, update and remove marketplaces", marketAdd(sys, f), marketList(sys, f), marketUpdate(sys, f), marketRemove(sys, f))
}

func marketAdd(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "add OWNER/REPO|URL|PATH", Short: "Add a marketplace: a repository, an address or a folder", Args: cobra.ExactArgs(1),
		Long: `add fetches the list of plugins of a marketplace. Nothing of it is installed.

  OWNER/REPO              on GitHub
  https://HOST/x.git      any git repository, also git@HOST:x
  https://HOST/x.git#v1   its branch or tag
  https://HOST/m.json     a list alone
  ./folder                a folder, which is read where it is`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			src, err := market.GivenSource(args[0], s.paths.Dir, s.paths.Home)
			if err != nil {
				return usagef("OWNER/REPO, an https or ssh address, or a folder", "%v", err)
			}
			_, err = s.add(cmd.Context(), src)
			return err
		},
	}
}

// add adds a marketplace and says what came of it.
func (s *shop) add(ctx context.Context, src market.Source) (market.Market, error) {
	m, c, err := s.store.Add(ctx, src, s.pol)
	if err != nil {
		return m, err
	}
	for _, p := range c.Problems {
		fmt.Fprintf(s.sys.Stderr, "adze: %s: %s\n", m.Name, p)
	}
	fmt.Fprintf(s.sys.Stderr, "added the marketplace %s with %s: adze plugin list --available\n", m.Name, clip.Count(len(c.Plugins), "plugin"))
	return m, nil
}

// A marketRow is a marketplace in a list.
type marketRow struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Pin     string `json:"pin,omitempty"`
	Updated string `json:"updated"`
	Plugins int    `json:"plugins"`
	Problem string `json:"problem,omitempty"`
}

func marketList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{Use: "list", Short: "List the marketplaces", Args: cobra.NoArgs}, func(cmd *cobra.Command, _ []string) (answer, error) {
		s, err := f.shop(sys, cmd)
		if err != nil {
			return nil, err
		}
		known, err := s.store.Markets()
		if err != nil {
			return nil, err
		}
		var rows []marketRow
		for _, m := range known {
			r := marketRow{Name: m.Name, Source: m.Source.String(), Pin: m.Pin, Updated: m.Updated.Format("2006-01-02")}
			c, err := s.store.Catalogue(m)
			if err == nil {
				err = s.pol.Allows(m.Source)
			}
			if r.Plugins = len(c.Plugins); err != nil {
				r.Problem = err.Error()
			}
			rows = append(rows, r)
		}
		return listing[marketRow]{rows: rows, none: "no marketplaces; adze plugin marketplace add OWNER/REPO", row: func(t *table, r marketRow) {
			t.row(r.Name, r.Source, r.Updated, cmp.Or(oneLine(r.Problem), clip.Count(r.Plugins, "plugin")))
		}}, nil
	})
}

func marketUpdate(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "update [NAME…]", Short: "Fetch the lists of marketplaces anew; nothing that is installed changes",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			known, err := s.store.Markets()
			if err != nil {
				return err
			}
			byName := map[string]market.Market{}
			var names []string
			for _, m := range known {
				byName[m.Name] = m
				names = append(names, m.Name)
			}
			todo := args
			if len(args) == 0 {
				todo = names
			}
			var bad []error
			for _, name := range todo {
				m, ok := byName[name]
				if !ok {
					return noMarket(name, names)
				}
				_, c, err := s.store.Update(cmd.Context(), m, s.pol)
				if err != nil {
					if len(todo) == 1 {
						return err
					}
					tellError(sys.Stderr, err)
					bad = append(bad, err)
					continue
				}
				fmt.Fprintf(sys.Stderr, "%s has %s\n", name, clip.Count(len(c.Plugins), "plugin"))
			}
			if len(bad) > 0 {
				return &failure{code: exitFailed, cause: "not everything was updated; see above"}
			}
			return nil
		},
	}
}

func marketRemove(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Forget a marketplace; plugins that came from it stay", Args: cobra.ExactArgs(1), Aliases: []string{"rm"},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			left, err := s.store.Remove(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(sys.Stderr, "removed the marketplace %s\n", clip.Visible(args[0]))
			if len(left) > 0 {
				fmt.Fprintf(sys.Stderr, "still installed from it: %s\n", strings.Join(left, ", "))
			}
			return nil
		},
	}
}

func pluginValidate(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "validate [DIR]", Short: "Say what of a plugin or a marketplace cannot be used, and what it would run", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			dir := s.paths.Dir
			if len(args) == 1 {
				dir = args[0]
			}
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(s.paths.Dir, dir)
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return usagef("give the folder of a plugin", "there is no folder %s", clip.Visible(dir))
			}
			p, items, problems, err := s.store.LookAll(dir)
			var lines []string
			c, noMarket := s.store.Catalogue(market.Market{Name: filepath.Base(dir), Source: market.Source{Kind: market.Folder, Path: dir}})
			if noMarket == nil && p.Format == plugin.Bare { // what looks like parts of one is for the plugins of its list
				err = plugin.ErrNone
			}
			switch {
			case errors.Is(err, plugin.ErrNone) && noMarket != nil && !errors.Is(noMarket, market.ErrNoList):
				return failf("mend it, and look again", "%v", noMarket)
			case err != nil && (noMarket != nil || !errors.Is(err, plugin.ErrNone)):
				return failf("adze plugin new NAME makes one that works", "%v", err)
			case noMarket == nil:
				fmt.Fprintf(sys.Stdout, "the marketplace %s with %s\n", c.Name, clip.Count(len(c.Plugins), "plugin"))
				lines = append(lines, c.Problems...)
			case !errors.Is(noMarket, market.ErrNoList):
				lines = append(lines, noMarket.Error())
			}
			if err == nil {
				fmt.Fprintf(sys.Stdout, "%s (%s)\n", strings.TrimSpace(p.Name+" "+p.Version), cmp.Or(p.Manifest, "no manifest"))
				writeItems(sys.Stdout, items)
				for _, x := range problems {
					if x.Note {
						fmt.Fprintln(sys.Stdout, "note: "+x.String())
						continue
					}
					lines = append(lines, x.String())
				}
				lines = append(lines, ext.HookProblems(p)...)
			}
			for _, l := range lines {
				fmt.Fprintln(sys.Stdout, "wrong: "+l)
			}
			if len(lines) > 0 {
				return failf("mend them, and look again", "%s to mend", clip.Count(len(lines), "thing"))
			}
			return nil
		},
	}
}

func pluginNew(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Make a folder with a plugin that works, to begin with", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			name := args[0]
			if !plugin.NameOK(name) || strings.ToLower(name) != name {
				return usagef("adze plugin new NAME", "%q cannot be a plugin's name: small letters, digits and -", clip.Visible(name))
			}
			dir := filepath.Join(s.paths.Dir, name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				return failf("choose another name, or another folder", "%v", err)
			}
			for _, file := range [][2]string{
				{".claude-plugin/plugin.json", fmt.Sprintf("{\n  \"name\": %q,\n  \"version\": \"0.1.0\",\n  \"description\": \"What it is for\"\n}\n", name)},
				{"skills/hello/SKILL.md", "---\nname: hello\ndescription: Greets the project. Use it when somebody asks whether this plugin works.\n---\n\nSay in one sentence what this project is, and that the plugin " + name + " works.\n"},
				{"hooks/hooks.json", "{\n  \"hooks\": {}\n}\n"},
				{"README.md", "# " + name + "\n\nCheck it with `adze plugin validate`.\n"},
			} {
				path := filepath.Join(dir, filepath.FromSlash(file[0]))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(file[1]), 0o644)); err != nil {
					return failf("", "%v", err)
				}
			}
			fmt.Fprintf(sys.Stderr, "made %s; next: adze plugin validate %s\n", clip.Visible(dir), hint.Shell(name))
			return nil
		},
	}
}

// noMarket says that no marketplace has that name, and which there are.
func noMarket(name string, names []string) error {
	if len(names) == 0 {
		return usagef("adze plugin marketplace add OWNER/REPO, or an address or a folder", "no marketplace was added yet")
	}
	return usagef("there are: "+strings.Join(names, ", "), "there is no marketplace %q", clip.Visible(name))
}
