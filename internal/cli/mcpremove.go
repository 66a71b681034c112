package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func mcpRemove(sys System, f *runFlags) *cobra.Command {
	return scoped("s", "", "from which: local, user or project", &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a server from a settings file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.servers(sys, cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.remove(cmd.Context(), sys, args[0], scopeOf(cmd))
		},
	})
}

func (c *configured) remove(ctx context.Context, sys System, name, scope string) error {
	var found []written
	scopes := []string{"local", "project", "user"}
	if scope != "" {
		scopes = []string{scope}
	}
	for _, s := range scopes {
		t, err := serverTarget(c.Paths, s)
		if err != nil {
			return err
		}
		text, err := confedit.Disk{}.Read(t.Path, config.MaxFile)
		if err != nil {
			continue
		}
		list, err := config.Entries(text, config.Origin{File: t.Path}, "mcpServers")
		if err == nil && slices.ContainsFunc(list, func(e config.Entry) bool { return e.Name == name }) {
			found = append(found, written{s, t})
		}
	}
	switch {
	case len(found) == 0:
		s, err := c.one(name)
		if err != nil {
			return err
		}
		if scope != "" {
			return usagef("adze mcp get "+hint.Shell(name)+" shows where it stands", "the scope %s has no server %s", scope, clip.Visible(name))
		}
		return failf("remove it there", "the server %s stands in %s, which is not for adze to change", clip.Visible(name), clip.Visible(s.Origin.String()))
	case len(found) > 1:
		var in []string
		for _, w := range found {
			in = append(in, w.scope)
		}
		return usagef("add --scope "+strings.Join(in, " or --scope "), "there is a server %s in more than one scope: %s", clip.Visible(name), strings.Join(in, ", "))
	}
	w := found[0]
	notes, err := settings.Write(ctx, c.Paths, w.to, confedit.Edit{Op: confedit.Unset, Key: "mcpServers", Below: []string{name}})
	if err != nil {
		return failf("make the file writable, or correct it", "change %s: %v", w.to.Path, err)
	}
	if _, err := c.Paths.Answers().Forget(ctx, c.Paths.Root, name); err != nil {
		notes = append(notes, err.Error())
	}
	for _, n := range notes {
		fmt.Fprintln(sys.Stderr, "adze: "+oneLine(n))
	}
	fmt.Fprintf(sys.Stdout, "removed %s from %s\n", clip.Visible(name), clip.Visible(w.to.Path))
	return nil
}
