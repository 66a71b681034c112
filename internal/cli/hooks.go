package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/doctor"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/hooktry"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

func newHooks(sys System, f *runFlags) *cobra.Command {
	return group("hooks", "List, check and try the hooks of settings and plugins", hooksList(sys, f), hooksCheck(sys, f), hooksTest(sys, f))
}

// hooks reads the hooks of settings and plugins, and says on stderr what the folder
// brings that is not read because nobody trusts it.
func (f *runFlags) hooks(sys System, cmd *cobra.Command) (h doctor.Hooked, err error) {
	o, live, err := f.opened(sys, cmd)
	if err != nil {
		return h, err
	}
	defer live.Close()
	h = doctor.Hooks(live, ext.Plugins(o.Offered(live)))
	tellUntrusted(sys, live, trust.Settings, trust.Hooks)
	return h, nil
}

// tellProblems writes which hooks cannot be used.
func tellProblems(sys System, h doctor.Hooked) {
	for _, err := range h.Problems {
		tell(sys.Stderr, "adze: ", inOneLine(err))
	}
	if len(h.Problems) > 0 {
		tell(sys.Stderr, "hint: ", "adze hooks check says what to mend")
	}
}

func hooksList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the hooks that run, by event, and where they stand", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		hs, err := f.hooks(sys, cmd)
		if err != nil {
			return nil, err
		}
		tellProblems(sys, hs)
		return both{desk.HookRows(hs.Set), func() error { return desk.PrintHooks(sys.Stdout, hs.Set, hs.Config) }}, nil
	})
}

func hooksCheck(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Say what of the hooks of settings and plugins cannot be used", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hs, err := f.hooks(sys, cmd)
			if err != nil {
				return err
			}
			for _, h := range hs.Set.All() {
				if s := h.Reading(); s != "" {
					fmt.Fprintln(sys.Stdout, inOneLine(fmt.Errorf("%s: %s", h.From, s)))
				}
			}
			problems := hs.ToMend()
			if len(problems) > 0 {
				for _, err := range problems {
					fmt.Fprintln(sys.Stdout, inOneLine(err))
				}
				return failf("mend them, and look again with: adze hooks check", "%s to mend", clip.Count(len(problems), "thing"))
			}
			_, err = fmt.Fprintf(sys.Stdout, "%s, all of which can be used\n", clip.Count(len(hs.Set.All()), "hook"))
			return err
		},
	}
}

func hooksTest(sys System, f *runFlags) *cobra.Command {
	var tool, input string
	c := &cobra.Command{
		Use: "test EVENT", Short: "Run the hooks of an event on a made input, and say what would happen", Args: cobra.ExactArgs(1),
		Long: `test runs the hooks that match, as a session would, and prints what each of
them said and what would come of it. Nothing but the hooks is run; those that a
session does not wait for are waited for. The model of a hook of the type prompt is
asked, and costs what it costs; the server of one of the type mcp_tool is started.

  adze hooks test PreToolUse --tool Bash --input '{"command": "git push"}'
  adze hooks test UserPromptSubmit --input '{"prompt": "hello"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if input == "-" {
				text, err := io.ReadAll(io.LimitReader(sys.Stdin, 1<<20))
				if err != nil {
					return failf("give the input as --input '{…}'", "read the input: %v", err)
				}
				input = strings.TrimPrefix(string(text), "\ufeff")
			}
			in, err := hook.Make(args[0], tool, []byte(input))
			if err != nil && slices.Contains(hook.Events(), hook.Event(args[0])) {
				return usagef(`for a call: --tool Bash --input '{"command": "ls"}'; for others --input has the fields of the event`, "%v", err)
			}
			if err != nil {
				return usagef("the events are "+strings.Join(eventNames(), ", "), "%v", err)
			}
			if in.Event().Subject() == "tool_name" && in.Subject() == "" {
				return usagef("--tool Bash", "%s is about a call: of which tool?", in.Event())
			}
			hs, err := f.hooks(sys, cmd)
			if err != nil {
				return err
			}
			tellProblems(sys, hs)
			return hooktry.Try(cmd.Context(), hooktry.Config{
				Paths: hs.Paths, Settings: hs.Config, Set: hs.Set, Environ: sys.Environ, Version: sys.Version, Out: sys.Stdout,
				Sandbox: func() (sandbox.Config, error) { return sandboxConfig(sys, hs.Paths, hs.Config) },
				Ask:     f.askForHook(sys, cmd, hs.Paths, hs.Config), Tool: f.toolForHook(sys, cmd),
			}, in, tool, input)
		},
	}
	c.Flags().StringVar(&tool, "tool", "", "the tool that is called")
	c.Flags().StringVar(&input, "input", "", "arguments of the call, or fields of the event, as JSON (- is stdin)")
	return c
}

// eventNames are the events that hooks may have.
func eventNames() (out []string) {
	for _, e := range hook.Events() {
		out = append(out, string(e))
	}
	return out
}

// inOneLine is an error of several, one after the other.
func inOneLine(err error) string {
	return clip.Visible(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}
