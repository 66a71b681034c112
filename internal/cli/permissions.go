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

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newPermissions(sys System, f *runFlags) *cobra.Command {
	return group("permissions", "Check, list and change permission rules",
		permissionsCheck(sys, f), permissionsList(sys, f), permissionsChange(sys, f, "add"), permissionsChange(sys, f, "rm"))
}

// rules are the rules and the mode of the run: those of its session, where it has one.
func (f *runFlags) rules(ctx context.Context, cfg *config.Config, p settings.Paths) (policy.Rules, policy.Mode, error) {
	if f.in != nil && f.in.rules != nil {
		r, m := f.in.rules()
		return r, m, nil
	}
	r, _, err := settings.Rules(cfg, p)
	if err != nil {
		return r, "", openError(ctx, err)
	}
	return r, cfg.Permissions.Mode(), nil
}

type checkFlags struct {
	allow, deny, ask []string
	mode, dir, batch string
}

func permissionsCheck(sys System, f *runFlags) *cobra.Command {
	var o checkFlags
	c := answering(sys, &cobra.Command{
		Use: "check [COMMAND | -- COMMAND ARGUMENT…]", Short: "Say how a shell command would be judged, and why; runs nothing",
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		if o.dir != "" {
			f.cwd = o.dir
		}
		p, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		rules, mode, err := f.rules(cmd.Context(), cfg, p)
		if err != nil {
			return nil, err
		}
		opts := permcheck.Options{Rules: rules, Mode: mode, Dir: p.Dir, Home: p.Home, Sandbox: cfg.Sandbox.Enabled && cfg.Sandbox.AutoAllow}
		if err := o.addRules(&opts.Rules, p); err != nil {
			return nil, err
		}
		if o.mode != "" {
			m, ok := policy.ParseMode(o.mode)
			if !ok {
				return nil, usagef("one of "+strings.Join(policy.ModeNames(), ", "), "--mode cannot be %q", o.mode)
			}
			opts.Mode = m
		}
		if o.batch != "" {
			return nil, checkBatch(sys, o.batch, opts)
		}
		if len(args) == 0 {
			return nil, usagef(`adze permissions check "git status"`, "there is no command to check")
		}
		command := args[0]
		if len(args) > 1 {
			command = policy.QuoteCommand(args) // as they are, whatever a shell would make of them
		}
		r := permcheck.Check(command, opts)
		return both{r, func() error { printCheck(sys.Stdout, sys.painter(), r); return nil }}, nil
	})
	c.Flags().StringArrayVar(&o.allow, "allow", nil, "a further allow rule")
	c.Flags().StringArrayVar(&o.deny, "deny", nil, "a further deny rule")
	c.Flags().StringArrayVar(&o.ask, "ask", nil, "a further ask rule")
	c.Flags().StringVar(&o.mode, "mode", "", "judge in this mode")
	c.Flags().StringVar(&o.dir, "dir", "", "judge in this folder (as --cwd)")
	c.Flags().StringVar(&o.batch, "batch", "", "judge every row of this file (- is stdin): TSV or JSON lines")
	return c
}

func (o checkFlags) addRules(r *policy.Rules, p settings.Paths) error {
	for _, x := range []struct {
		flag   string
		texts  []string
		effect policy.Effect
	}{{"allow", o.allow, policy.Allow}, {"deny", o.deny, policy.Deny}, {"ask", o.ask, policy.Ask}} {
		for _, t := range x.texts {
			rule, err := policy.ParseRule(t, x.effect, policy.CLI, "--"+x.flag, p.Dir)
			if err != nil {
				return usagef(`rules look like "Bash(go test:*)" or "Edit(src/**)"`, "--%s: %v", x.flag, err)
			}
			if why := settings.DeadRule(rule); why != "" {
				return usagef(`rules look like "Bash(go test:*)" or "Edit(src/**)"`, "--%s: the rule %q is of no use: %s", x.flag, t, why)
			}
			r.List = append(r.List, rule)
		}
	}
	return nil
}

func checkBatch(sys System, path string, o permcheck.Options) error {
	in := io.Reader(sys.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return usagef("give a TSV file or JSON lines, or - for stdin", "--batch: %v", err)
		}
		defer f.Close()
		in = f
	}
	return permcheck.Batch(in, sys.Stdout, o)
}

func printCheck(w io.Writer, color painter, r permcheck.Report) {
	fmt.Fprintf(w, "%s  %s\n", color.paint(effectRole(r.Verdict.Effect.String()), r.Verdict.Effect.String()), clip.Visible(r.Command))
	fmt.Fprintf(w, "why: %s\n", oneLine(r.Verdict.Why()))
	if r.Sandboxed != nil {
		fmt.Fprintln(w, "in the sandbox, where it works: allow, because sandbox.auto_allow is on (adze sandbox explain)")
	}
	for _, p := range r.Parts {
		effect, indent := p.Effect.String(), "  "
		if p.Of != "" { // what the command above does
			indent = "    "
		}
		fmt.Fprintf(w, "%s%s %-7s %s", indent, color.cell(effectRole(effect), effect, len("allow")), p.Kind, clip.Visible(p.Text))
		if p.Kind.OfFile() && p.Path != p.Text {
			fmt.Fprintf(w, " -> %s", clip.Visible(p.Path))
		}
		fmt.Fprintf(w, "  (%s)\n", oneLine(p.Why()))
	}
	if len(r.Verdict.Suggest) > 0 {
		fmt.Fprintf(w, "to allow it always: %s\n", clip.Visible(strings.Join(r.Verdict.Suggest, ", ")))
	}
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", oneLine(s))
	}
}

func permissionsList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the rules in force and where each comes from", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		p, cfg, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		rules, mode, err := f.rules(cmd.Context(), cfg, p)
		if err != nil {
			return nil, err
		}
		type row struct {
			Effect  policy.Effect `json:"effect"`
			Rule    string        `json:"rule"`
			Source  string        `json:"source"`
			Warning string        `json:"warning,omitempty"`
		}
		rows := []row{}
		for _, effect := range []policy.Effect{policy.Deny, policy.Ask, policy.Allow} { // the strictest first
			for _, r := range rules.List {
				if r.Effect == effect {
					rows = append(rows, row{effect, r.Text(), r.Source, policy.Lint(r)})
				}
			}
		}
		return both{map[string]any{"mode": mode, "rules": rows, "folders": rules.Dirs, "unsafe": rules.Unsafe}, func() error {
			fmt.Fprintf(sys.Stdout, "mode %s, folders %s\n", mode, clip.Visible(strings.Join(rules.Dirs, ", ")))
			if rules.Unsafe != "" {
				fmt.Fprintf(sys.Stdout, "nothing is allowed without a question: %s\n", oneLine(rules.Unsafe))
			}
			color := sys.painter()
			for _, r := range rows {
				fmt.Fprintf(sys.Stdout, "%s %s  (%s)\n", color.cell(effectRole(r.Effect.String()), r.Effect.String(), len("allow")), clip.Visible(r.Rule), clip.Visible(r.Source))
				if r.Warning != "" {
					fmt.Fprintf(sys.Stdout, "      warning: %s\n", oneLine(r.Warning))
				}
			}
			return nil
		}}, nil
	})
}

// permissionsChange is add and rm: a rule in a settings file.
func permissionsChange(sys System, f *runFlags, verb string) *cobra.Command {
	list := ""
	short, op := "Add a rule to a settings file", confedit.Add
	if verb == "rm" {
		short, op = "Remove a rule from a settings file", confedit.Drop
	}
	c := scoped("", "user", "which file: user, project or local", &cobra.Command{
		Use: verb + " RULE", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"allow", "ask", "deny"}, list) {
				return usagef("one of allow, ask, deny", "--to cannot be %q", list)
			}
			wd, _ := filepath.Abs(".")
			wd = settings.Real(wd)
			effect := map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[list]
			rule, err := policy.ParseRule(args[0], effect, policy.User, "", wd)
			if err != nil {
				return usagef(`rules look like "Bash(go test:*)" or "Edit(src/**)"`, "%v", err)
			}
			if w := policy.Lint(rule); w != "" && settings.DeadRule(rule) == "" && verb == "add" {
				fmt.Fprintf(sys.Stderr, "adze: warning: %s\n", oneLine(w))
			}
			raw, err := jsonText(args[0])
			if err != nil {
				return err
			}
			return writeSetting(cmd, sys, f, confedit.Edit{Op: op, Key: "permissions." + list, Value: raw})
		},
	})
	c.Flags().StringVar(&list, "to", "allow", "which list: allow, ask or deny")
	return c
}
