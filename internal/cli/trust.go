package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

func newTrust(sys System, f *runFlags) *cobra.Command {
	var list, yes bool
	revoke := ""
	c := answering(sys, &cobra.Command{
		Use: "trust [DIR]", Short: "Show what a folder brings that could run or steer, and trust it", Args: cobra.MaximumNArgs(1),
		Long: `A folder may bring hooks, servers, allow rules, skills and agents. adze uses none of
them until you trust the folder, and asks again when they change.

  adze trust              show what this folder brings, and ask
  adze trust --list       the folders you trust
  adze trust --revoke .   trust it no longer`,
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		dir := revoke
		switch {
		case list && revoke != "":
			return nil, usagef(usageHint(cmd), "--list and --revoke cannot be together")
		case list && len(args) > 0:
			return nil, usagef(usageHint(cmd), "adze trust --list takes no argument, such as %q", clip.Line(args[0], 80))
		case revoke != "" && len(args) > 0:
			return nil, usagef(usageHint(cmd), "an argument too many: %q", clip.Line(args[0], 80))
		}
		if len(args) == 1 {
			dir = args[0]
		}
		if dir != "" && f.cwd != "" && !filepath.IsAbs(dir) {
			dir = filepath.Join(f.cwd, dir)
		}
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		if dir != "" {
			if o.Dir, err = filepath.Abs(dir); err != nil {
				return nil, failf("give the folder's whole path", "%v", err)
			}
		}
		if info, err := os.Stat(o.Dir); revoke == "" && !list && (err != nil || !info.IsDir()) {
			return nil, usagef("give the path of a folder", "there is no folder %s", o.Dir)
		}
		o.Note = nil
		p, err := trustPaths(cmd.Context(), o, revoke != "" || list)
		if err != nil {
			return nil, err
		}
		store := p.Trust()
		switch {
		case list:
			return trusted(store, p)
		case revoke != "":
			return nil, revokeTrust(cmd.Context(), sys, store, p)
		}
		return nil, trustFolder(cmd.Context(), sys, store, p, yes, wantsJSON(cmd))
	})
	c.Flags().BoolVar(&list, "list", false, "list the trusted folders")
	c.Flags().BoolVar(&yes, "yes", false, "trust it without a question")
	c.Flags().StringVar(&revoke, "revoke", "", "trust this folder no longer")
	c.Flags().Lookup("json").Usage = "as JSON; asks nothing"
	return c
}

// trustPaths finds the folders. What may be gone needs no settings.
func trustPaths(ctx context.Context, o invocation, gone bool) (settings.Paths, error) {
	want := o.Dir
	if gone && !settings.Leads(want) {
		o.Dir = o.Home
	}
	p, _, err := o.Load()
	if err != nil {
		return p, openError(ctx, err)
	}
	if o.Dir != want {
		p.Dir, p.Root = want, want
	}
	return p, nil
}

func trustFolder(ctx context.Context, sys System, store trust.Store, p settings.Paths, yes, asJSON bool) error {
	v, err := store.Check(p.TrustFolder())
	if err != nil {
		return failf("repair it, or move it away and trust your folders again", "%v", err)
	}
	if asJSON {
		if err := printJSON(sys, trustJSON(v)); err != nil || !yes {
			return err
		}
	} else {
		printTrust(sys, store, v)
	}
	switch {
	case v.State == trust.Trusted:
		return nil
	case len(v.Refused) > 0:
		return &failure{exitRefused, fmt.Sprintf("%s cannot be trusted: %s", p.Root, v.Refused[0]), "remove it or replace it by a plain file; until then nothing of the above is used"}
	case yes:
	case v.State == trust.Nothing && (asJSON || !sys.InTTY || !sys.ErrTTY):
		return nil // there is nothing to answer
	case !sys.InTTY || !sys.ErrTTY:
		return &failure{exitRefused, p.Root + " is not trusted, and nobody is here to ask", "look at the list above, then: adze trust --yes"}
	default:
		ok, err := agrees(ctx, sys, "Trust "+clip.Visible(p.Root)+" with this?")
		if err != nil {
			return err
		}
		if !ok {
			if v.State == trust.Nothing {
				return nil
			}
			return &failure{exitRefused, "not trusted; nothing of the above is used", ""}
		}
	}
	if err := store.Grant(ctx, v); err != nil {
		return failf("make "+filepath.Dir(store.Path)+" writable, or set ADZE_HOME to a folder that is", "%v", err)
	}
	fmt.Fprintf(sys.Stderr, "trusted %s\n", clip.Visible(p.Root))
	return nil
}

// printTrust shows everything that the answer is about.
func printTrust(sys System, store trust.Store, v trust.Verdict) {
	out := sys.Stdout
	switch v.State {
	case trust.Nothing:
		fmt.Fprintf(out, "%s brings nothing that needs trust\nTrusting it has MCP servers of yours that npx, uvx and the like start run in it (adze trust --yes); what it brings later is asked about.\n", clip.Visible(v.Folder.Root))
	case trust.Trusted:
		if len(v.Files) == 0 {
			fmt.Fprintf(out, "%s is trusted; it brings nothing that needs trust\n", clip.Visible(v.Folder.Root))
			break
		}
		fmt.Fprintf(out, "%s is trusted with:\n", clip.Visible(v.Folder.Root))
	case trust.Untrusted:
		fmt.Fprintf(out, "%s brings:\n", clip.Visible(v.Folder.Root))
	case trust.Changed:
		fmt.Fprintf(out, "%s changed since you trusted it:\n%s\nIt brings now:\n", clip.Visible(v.Folder.Root), sys.painter().marked(store.Diff(v)))
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, c := range v.Claims() {
		at := c.File
		if c.Line > 0 {
			at = fmt.Sprintf("%s:%d", c.File, c.Line)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", at, c.What, c.Text)
	}
	for _, r := range v.Refused {
		fmt.Fprintf(w, "  refused\t%s\n", clip.Visible(r))
	}
	for _, r := range v.Left {
		fmt.Fprintf(w, "  left out\t%s\n", clip.Visible(r))
	}
	_ = w.Flush() // stdout is reported when the command ends
	if len(v.Steering) > 0 {
		fmt.Fprintf(out, "texts that a model will read (they need no trust): %s\n", clip.Visible(strings.Join(v.Steering, ", ")))
	}
}

func trustJSON(v trust.Verdict) any {
	type change struct {
		File string `json:"file"`
		How  string `json:"how"`
	}
	changes := []change{}
	for _, c := range v.Changes {
		changes = append(changes, change{c.Path, c.How})
	}
	claims := v.Claims()
	if claims == nil {
		claims = []trust.Claim{}
	}
	return map[string]any{
		"dir": v.Folder.Root, "state": v.State, "claims": claims, "changes": changes,
		"steering": append([]string{}, v.Steering...), "refused": append([]string{}, v.Refused...), "left_out": append([]string{}, v.Left...),
	}
}

// trusted are the folders that are trusted, and how each stands now.
func trusted(store trust.Store, p settings.Paths) (answer, error) {
	list, err := store.List()
	if err != nil {
		return nil, failf("repair it, or move it away and trust your folders again", "%v", err)
	}
	return listing[trust.Entry]{rows: list, note: "no folder is trusted", row: func(t *table, e trust.Entry) {
		state := "gone"
		if v, err := store.Check(trust.Folder{Root: e.Path, Dir: e.Path, Home: p.Home}); err == nil && exists(e.Path) {
			state = string(v.State)
		}
		t.row(e.Path, e.Since.Local().Format(time.DateOnly), state, clip.Count(len(e.Files), "file"))
	}}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func revokeTrust(ctx context.Context, sys System, store trust.Store, p settings.Paths) error {
	had, err := store.Revoke(ctx, p.Root)
	if err == nil && !had && p.Root != p.Dir {
		had, err = store.Revoke(ctx, p.Dir)
	}
	if err != nil {
		return failf("make "+filepath.Dir(store.Path)+" writable", "%v", err)
	}
	if !had {
		return failf("adze trust --list shows the trusted folders", "%s was not trusted", p.Root)
	}
	fmt.Fprintf(sys.Stderr, "%s is no longer trusted\n", clip.Visible(p.Root))
	return nil
}
