package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

func newWorkflow(sys System, f *runFlags) *cobra.Command {
	return group("workflow", "Run, list and check workflows", workflowRun(sys, f), workflowList(sys, f), workflowCheck(sys, f))
}

// A workflowRow is a workflow in a list.
type workflowRow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	When        string `json:"when_to_use,omitempty"`
	File        string `json:"file,omitempty"`
	From        string `json:"from"`
	Scope       string `json:"scope"`
}

func workflowList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the workflows that can be run by their names, and where they are from", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		lib, err := f.library(sys, cmd, trust.Workflow)
		if err != nil {
			return nil, err
		}
		rows := []workflowRow{}
		for _, w := range lib.Workflows() {
			rows = append(rows, workflowRow{w.Name, w.Description, w.When, w.File, w.From, w.Scope})
		}
		return listing[workflowRow]{rows: rows, none: "there are no workflows", row: func(t *table, r workflowRow) {
			t.row(r.Name, clip.Line(r.Description, 60), r.From)
		}}, nil
	})
}

func workflowCheck(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "check NAME|FILE.js", Short: "Say what is wrong with a workflow, without running it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := f.library(sys, cmd, trust.Workflow)
			if err != nil {
				return err
			}
			s, err := lib.ScriptOf(args[0])
			if err != nil {
				return failf("adze workflow list shows those there are; a file ends in .js", "%v", err)
			}
			if err := s.Check(cmd.Context()); err != nil {
				return failf("scripts are JavaScript without types and modules", "%s: %v", clip.Visible(args[0]), err)
			}
			fmt.Fprintf(sys.Stdout, "%s: nothing wrong\n", s.Name)
			return nil
		},
	}
}

func workflowRun(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "run NAME|FILE.js [ARGS]", Short: "Run a workflow, and print its result", Args: cobra.RangeArgs(1, 2),
		Long: `run has a workflow run without a conversation: no model decides whether it
runs. Its agents work in this folder with the permissions of a run with -p.
ARGS is JSON, or else a text. What the script says goes to stderr, and its
result as JSON to stdout.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := f.library(sys, cmd, trust.Workflow)
			if err != nil {
				return err
			}
			s, err := lib.ScriptOf(args[0])
			if err != nil {
				return failf("adze workflow list shows those there are; a file ends in .js", "%v", err)
			}
			var given json.RawMessage
			if len(args) > 1 {
				if given = json.RawMessage(args[1]); !json.Valid(given) {
					given, _ = json.Marshal(args[1]) // a text always has a form
				}
			}
			o, err := f.options(sys, cmd.Flags())
			if err != nil {
				return err
			}
			o.Front.Print = true
			r, err := o.start(cmd.Context())
			if err != nil {
				return err
			}
			value, err := r.RunWorkflow(cmd.Context(), s, given, func(line string) { fmt.Fprintln(sys.Stderr, line) })
			if err != nil {
				return errors.Join(failf("adze sessions show names the folder with what its agents did", "the workflow %s: %v", s.Name, err), r.Close())
			}
			fmt.Fprintln(sys.Stdout, string(value))
			return r.Close()
		},
	}
}
