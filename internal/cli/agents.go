package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

func newAgents(sys System, f *runFlags) *cobra.Command {
	return group("agents", "List, check and begin definitions of agents", agentsList(sys, f), agentsCheck(sys, f),
		begins(sys, f, skill.Agents, &cobra.Command{Use: "new NAME", Short: "Begin a definition of an agent, with all its fields in comments", Args: cobra.ExactArgs(1)}))
}

// An agentRow is a definition in a list.
type agentRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools,omitempty"`
	Model       string   `json:"model,omitempty"`
	File        string   `json:"file,omitempty"`
	From        string   `json:"from"`
	Scope       string   `json:"scope"`
	HiddenBy    string   `json:"hidden_by,omitempty"`
	Denied      bool     `json:"denied,omitzero"` // a rule has no model start it
	Problems    []string `json:"problems,omitempty"`
}

func agentsList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the definitions of agents, and where they are from", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		lib, err := f.library(sys, cmd, trust.Agent)
		if err != nil {
			return nil, err
		}
		p, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		rows, rules := []agentRow{}, settings.ReadingRules(cfg, p)
		for _, a := range lib.Agents() {
			rows = append(rows, agentRow{a.Name, a.Description, a.Tools, a.Model, a.File, a.From, a.Scope, "", rules.DeniesAgent(a.Name), a.Unknown()})
		}
		for _, h := range lib.Hidden() {
			if h.Kind == skill.Agents {
				rows = append(rows, agentRow{Name: h.Name, Description: h.Description, File: h.File, From: h.From, Scope: h.Scope, HiddenBy: h.By})
			}
		}
		list := listing[agentRow]{rows: rows, none: "no agents are defined", row: func(t *table, r agentRow) {
			about := clip.Line(r.Description, 60)
			switch {
			case r.HiddenBy != "":
				about = "hidden by " + r.HiddenBy
			case r.Denied:
				about = "(a rule denies it) " + about
			}
			t.row(r.Name, about, r.Model, cmp.Or(r.File, r.From))
		}}
		return both{rows, func() error {
			if err := list.print(sys, false); err != nil {
				return err
			}
			for _, r := range rows {
				for _, x := range r.Problems {
					fmt.Fprintln(sys.Stderr, "adze: "+x)
				}
			}
			return nil
		}}, nil
	})
}

func agentsCheck(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "check [FILE | DIR]", Short: "Look for mistakes in definitions of agents", Args: cobra.MaximumNArgs(1),
		Long: `check reads a definition, or every one in a folder, and says with its line what keeps it
from counting, and what in it is written wrongly. What adze does nothing with is advice.
Without an argument it reads those of this project and your own, of all programs.
Advice alone is no failure.`,
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		var at []string
		if len(args) == 1 {
			path, err := filepath.Abs(args[0])
			if err == nil {
				_, err = os.Stat(path)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, usagef("name a file, or a folder that holds some", "there is no file %s", clip.Visible(args[0]))
			case err != nil:
				return nil, failf("name a file, or a folder that holds some", "%s: %v", clip.Visible(args[0]), hint.Cause(err))
			}
			at = []string{path}
		} else {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return nil, err
			}
			g := skill.Ground{Config: p.Folders.Config, Home: p.Home, Claude: p.Folders.Claude, Homes: skill.Homes(sys.Env), Root: p.Root, Dir: p.Dir, Trusted: func(string, []byte) bool { return true }}
			at = skill.Folders(g.Places(skill.Agents))
		}
		rows, n, wrong := []checkRow{}, 0, 0
		for _, path := range at {
			k, problems := skill.CheckAgents(path)
			n += k
			for _, p := range problems {
				rows = append(rows, checkRow{p.File, p.Line, p.Text, p.Used})
				if !p.Used {
					wrong++
				}
			}
		}
		count := clip.Count(n, "agent")
		said := checks(sys, rows, wrong, count)
		switch {
		case wrong > 0:
			return failing{said, failf("mend them, and look again with: adze agents check", "%s to mend in %s", clip.Count(wrong, "thing"), count)}, nil
		case n == 0 && len(args) == 1:
			return failing{checks(sys, rows, wrong, ""), failf("a definition is a Markdown file with name and description at its top; adze agents new NAME begins one", "there is no agent in %s", clip.Visible(args[0]))}, nil
		}
		return said, nil
	})
}
