package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/text/hint"
)

func pluginUpdate(sys System, f *runFlags) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "update [NAME[@MARKETPLACE]…]", Short: "Show what newer versions of plugins would change, and ask",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(sys, cmd)
			if err != nil {
				return err
			}
			var list []market.Installed
			for _, id := range args {
				in, err := s.store.Find(id)
				if err != nil {
					return err
				}
				list = append(list, in)
			}
			if len(args) == 0 {
				if list, err = s.store.Installed(); err != nil {
					return err
				}
			}
			bad := s.refresh(cmd.Context(), list)
			for _, in := range list {
				if slices.Contains(bad, in.Market) {
					continue // it was said
				}
				if err := s.update(cmd.Context(), in, yes); err != nil {
					if len(list) == 1 || cmd.Context().Err() != nil {
						return err
					}
					tellError(sys.Stderr, err)
					bad = append(bad, in.ID())
				}
			}
			if len(bad) > 0 {
				return &failure{code: exitFailed, cause: "not everything was updated; see above"}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "update without a question")
	return c
}

// refresh updates the marketplaces of plugins, and returns those that could not
// be.
func (s *shop) refresh(ctx context.Context, list []market.Installed) (bad []string) {
	known, err := s.store.Markets()
	if err != nil {
		tellError(s.sys.Stderr, err)
		return nil
	}
	for _, m := range known {
		if !slices.ContainsFunc(list, func(in market.Installed) bool { return in.Market == m.Name }) {
			continue
		}
		if _, _, err := s.store.Update(ctx, m, s.pol); err != nil {
			tellError(s.sys.Stderr, err)
			bad = append(bad, m.Name)
		}
	}
	return bad
}

func (s *shop) update(ctx context.Context, in market.Installed, yes bool) error {
	plan, err := s.store.Prepare(ctx, in.ID(), s.pol)
	if err != nil {
		return err
	}
	return errors.Join(s.updateTo(ctx, plan, in, yes), plan.Close())
}

func (s *shop) updateTo(ctx context.Context, plan *market.Plan, in market.Installed, yes bool) error {
	if !slices.ContainsFunc(plan.Steps, func(st market.Step) bool { return !st.Same() }) && s.store.Verify(in) == nil {
		fmt.Fprintf(s.sys.Stderr, "%s is up to date\n", in.ID())
		return nil
	}
	asks := false
	var edits []confedit.Edit
	for _, st := range plan.Steps {
		s.show(st)
		s.told(st.Plugin.ID(), st.Problems)
		asks = asks || st.Asks()
		if st.Old == nil { // newly needed
			e, err := set("enabledPlugins."+st.Plugin.ID(), true)
			if err != nil {
				return err
			}
			edits = append(edits, e)
		}
	}
	if asks {
		if err := confirm(ctx, s.sys, yes, "Update to this?", in.ID()+" stays as it is"); err != nil {
			return err
		}
	}
	if err := plan.Commit(ctx); err != nil {
		return err
	}
	if err := s.write(ctx, "user", edits...); err != nil {
		return err
	}
	for _, st := range plan.Steps {
		miss, err := s.missing(st.Plugin, options{})
		if err != nil {
			return err
		}
		if len(miss) > 0 {
			id := st.Plugin.ID()
			fmt.Fprintf(s.sys.Stderr, "adze: %s needs the option %s now, and is not used before it is set\nhint: adze plugin enable %s --set %s\n", id, strings.Join(miss, ", "), hint.Shell(id), setting(st.Plugin, miss[0]))
		}
	}
	fmt.Fprintf(s.sys.Stderr, "updated %s; sessions that run keep the old version until settings change, or they begin anew\n", in.ID())
	return nil
}
