package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/hookrun"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

func newHooks(sys System, f *runFlags) *cobra.Command {
	return group("hooks", "List, check and try the hooks of settings and plugins", hooksList(sys, f), hooksCheck(sys, f), hooksTest(sys, f))
}

// hooked are the hooks that would run here.
type hooked struct {
	paths    settings.Paths
	cfg      *config.Config
	set      hook.Set
	problems []error
}

// hooks reads the hooks of settings and plugins, and says on stderr what the folder
// brings that is not read because nobody trusts it.
func (f *runFlags) hooks(sys System, cmd *cobra.Command) (*hooked, error) {
	o, live, err := f.opened(sys, cmd)
	if err != nil {
		return nil, err
	}
	defer live.Close()
	h := &hooked{paths: live.Paths, cfg: live.Config()}
	h.read(ext.Plugins(o.extended(live)))
	tellUntrusted(sys, live, trust.Settings, trust.Hooks)
	return h, nil
}

// read has the hooks of settings and plugins.
func (h *hooked) read(plugins ext.Brought) {
	list, problems := hooks.Load(h.cfg, plugins.Hooks...)
	h.set, h.problems = extension.Hooks(list...), problems
	for _, s := range plugins.Problems {
		h.problems = append(h.problems, errors.New(s))
	}
}

// told writes what cannot be used.
func (h *hooked) told(sys System) {
	for _, err := range h.problems {
		tell(sys.Stderr, "adze: ", inOneLine(err))
	}
	if len(h.problems) > 0 {
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
		hs.told(sys)
		return both{desk.HookRows(hs.set), func() error { return desk.PrintHooks(sys.Stdout, hs.set, hs.cfg) }}, nil
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
			set, problems := hs.set, hs.problems
			for _, h := range set.All() {
				if s := h.Reading(); s != "" {
					fmt.Fprintln(sys.Stdout, inOneLine(fmt.Errorf("%s: %s", h.From, s)))
				}
			}
			for _, file := range hs.cfg.Files {
				if file.State == config.Broken {
					problems = append(problems, fmt.Errorf("%s cannot be read: adze config check says why", file.Path))
				}
			}
			for _, h := range set.All() {
				for _, s := range h.Doubts() {
					problems = append(problems, fmt.Errorf("%s: %s", h.From, s))
				}
			}
			if len(problems) > 0 {
				for _, err := range problems {
					fmt.Fprintln(sys.Stdout, inOneLine(err))
				}
				return failf("mend them, and look again with: adze hooks check", "%s to mend", clip.Count(len(problems), "thing"))
			}
			_, err = fmt.Fprintf(sys.Stdout, "%s, all of which can be used\n", clip.Count(len(set.All()), "hook"))
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
			hs.told(sys)
			p, cfg, set := hs.paths, hs.cfg, hs.set
			at := scene(p, tool, input)
			if len(set.Matching(in, at)) == 0 {
				_, err := fmt.Fprintf(sys.Stdout, "no hook of %s matches\n", in.Event())
				return err
			}
			var after afterwards
			inside := sandboxForHooks{open: sync.OnceValues(func() (*sandbox.Sandbox, error) { return hookSandbox(cmd.Context(), sys, p, cfg) })}
			defer inside.close()
			r := hookrun.New(hookrun.Config{
				Environ: func(more ...string) []string {
					environ := proc.Scrub(sys.Environ, slices.Concat(cfg.ChildEnv, more))
					for k, v := range cfg.Env {
						environ = proc.Set(environ, k+"="+v)
					}
					return environ
				},
				Version: sys.Version, Project: p.Root, Now: time.Now,
				Tell: after.tell, Later: after.say, Confine: inside.confine,
				Ask: f.askForHook(sys, cmd, p, cfg), Tool: f.toolForHook(sys, cmd),
				Agent: func(context.Context, string, string) (string, error) {
					return "", errors.New("its agent runs in sessions alone")
				},
			})
			defer r.Close()
			r.Use(set)
			a := r.Fire(cmd.Context(), hook.Common{Session: "test", Dir: p.Dir, Mode: string(cfg.Permissions.Mode())}, in, at)
			r.Settle(cmd.Context())
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return errors.Join(printRuns(sys.Stdout, r.Runs(in.Event())), printAnswer(sys.Stdout, in.Event(), a, slices.Concat(exports(r.Env()), after.said())))
		},
	}
	c.Flags().StringVar(&tool, "tool", "", "the tool that is called")
	c.Flags().StringVar(&input, "input", "", "arguments of the call, or fields of the event, as JSON (- is stdin)")
	return c
}

// scene is what a call would do, for hooks with "if".
func scene(p settings.Paths, tool, input string) hook.Scene {
	var args struct {
		Command string `json:"command"`
		File    string `json:"file_path"`
	}
	_ = json.Unmarshal([]byte(input), &args) // what is no object was refused already
	actions, rules := permcheck.Actions(args.Command, permcheck.Options{Rules: policy.Rules{FoldCase: p.FoldCase}, Dir: p.Dir, Home: p.Home})
	switch {
	case args.Command != "":
	case tool == "Read" && args.File != "":
		actions = []policy.Action{policy.Read{Path: args.File}}
	case args.File != "":
		actions = []policy.Action{policy.Write{Path: args.File}}
	}
	return hook.Scene{Actions: actions, Rules: rules}
}

func printRuns(w io.Writer, runs []hookrun.Run) error {
	for _, r := range runs {
		fmt.Fprintf(w, "%s\n  from %s\n", clip.Line(clip.Visible(r.Hook.Name()), 100), clip.Visible(r.Hook.From))
		how := fmt.Sprintf("code %d", r.Code)
		if r.Err != "" {
			how = r.Err
		}
		fmt.Fprintf(w, "  %s, after %s\n", clip.Visible(how), clip.Span(r.Took))
		for _, out := range []struct{ name, text string }{{"stdout", r.Stdout}, {"stderr", r.Stderr}} {
			if s := strings.TrimSpace(out.text); s != "" {
				fmt.Fprintf(w, "  %s: %s\n", out.name, strings.ReplaceAll(clip.VisibleText(s), "\n", "\n    "))
			}
		}
	}
	return nil
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
