// Package cli is the command line: one file per command. It reads the
// process's arguments and environment, wires through package app, and turns
// outcomes into exit codes. It holds no logic of its own that another front
// end would need.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/ui/term"
)

// Main runs one command line and returns the exit code.
func Main(sys System) int {
	if len(sys.Args) > 0 && sys.Args[0] == sandbox.HelperArg {
		return sandbox.Helper(sys.Args[1:]) // we were started again inside
	}
	if len(sys.Args) == 1 && sys.Args[0] == proc.GuardianArg {
		proc.Hide()
		return proc.Guardian(os.Stdin, sandbox.Recover)
	}
	if len(sys.Args) == 1 && sys.Args[0] == term.GuardArg {
		proc.Hide()
		return term.Guard(os.Stdin)
	}
	if len(sys.Args) > 0 && (sys.Args[0] == "--version" || sys.Args[0] == "-V") || len(sys.Args) == 1 && sys.Args[0] == "-v" {
		if len(sys.Args) > 1 {
			return tellError(sys.Stderr, usagef("adze --help lists commands and flags", "adze %s takes no argument, such as %q", sys.Args[0], clip.Line(sys.Args[1], 80)))
		}
		fmt.Fprintln(sys.Stdout, versionAs(sys.Name, sys.Version))
		return tellError(sys.Stderr, sys.Stdout.judged(nil))
	}
	proc.Hide() // sys has the environment
	collectLater(sys)
	// A closed stdout is an error to handle, not a death. The signal is caught and not
	// ignored, because what is ignored stays so in the programs that adze starts.
	signal.Notify(make(chan os.Signal, 1), brokenPipe()...)
	ctx, stop := catch(context.Background(), sys.abort, sys.interrupts)
	defer stop()
	root := newRoot(sys)
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	c := root
	args, err := arrange(root, sys.Args)
	if err == nil {
		root.SetArgs(append([]string{}, args...))
		c, err = root.ExecuteContextC(ctx)
	}
	if code, ended := endedBy(ctx); ended && (err == nil || errors.Is(err, context.Canceled)) {
		err = &failure{code: code, cause: "interrupted"}
	}
	err = namesVariables(sys, root, usageError(c, err))
	notStarted(sys, c, err)
	return tellError(sys.Stderr, sys.Stdout.judged(err))
}

func newRoot(sys System) *cobra.Command { return newRootOf(sys, &runFlags{}) }

func newRootOf(sys System, f *runFlags) *cobra.Command {
	root := &cobra.Command{
		Use:   "adze [flags] [PROMPT]",
		Short: "An AI agent for the terminal that works on your code with any model",
		Long: `adze lets a language model work on the code in this folder: it reads, searches,
edits and runs commands, and asks before anything that could do harm.

  adze                                  the terminal UI
  adze -p "explain this repository"     one answer, then exit
  git diff | adze -p "review this"      with input
  adze demo                             see it work without a key`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Version:           sys.Version,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPrompt(cmd.Context(), sys, f, cmd, args)
		},
	}
	f.add(root.PersistentFlags())
	root.SetGlobalNormalizationFunc(kebab)
	root.CompletionOptions.DisableDefaultCmd = true
	setHelp(root, sys, f)
	root.AddCommand(newCompletion(sys),
		newDemo(sys), newModels(sys, f), newSessions(sys, f), newExport(sys, f), newImport(sys, f), newRewind(sys, f), newDiff(sys, f), newPrompt(sys, f), newContext(sys, f), newConfig(sys, f),
		newPermissions(sys, f), newHooks(sys, f), newMCP(sys, f), newPlugin(sys, f), newSkills(sys, f), newAgents(sys, f), newWorkflow(sys, f), newSchedule(sys, f), newDoctor(sys, f), newRecord(sys), newReplay(sys), newVersion(sys), newLogin(sys, f), newLogout(sys, f), newAuth(sys, f), newSandbox(sys, f), newTrust(sys, f), newStats(sys, f), newPs(sys, f), newAttach(sys, f), newTail(sys, f), newSend(sys, f), newWorktree(sys, f),
	)
	root.InitDefaultHelpCmd()
	inOurWords(root)
	if len(sys.Args) > 0 && strings.HasPrefix(sys.Args[0], cobra.ShellCompRequestCmd) { // else it is 40 ms of every start
		completeValues(root, sys, f)
	}
	return root
}

func newVersion(sys System) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(sys.Stdout, "adze %s\n", sys.Version)
			return nil
		},
	}
}

// absent are commands of other agents and of versions to come. A line that begins
// with one is no prompt; with --print it is.
var absent = []string{
	"acp", "auto-mode", "bridge", "cloud", "cron", "daemon", "exec", "gateway", "ide", "init", "install", "kill", "logs", "project", "remote", "remote-control",
	"respawn", "rm", "self-update", "serve", "setup-token", "ssh", "stop", "teleport", "ultrareview", "update", "upgrade", "web", "worker", "worktrees",
}

// meantCommand finds a prompt whose first word looks like a command that was
// misspelt: nobody wants to pay a model for that.
func meantCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n") {
		return nil
	}
	const prompt = `if it is a prompt: adze -p "…"`
	if slices.Contains(absent, args[0]) {
		return usagef("adze --help lists the commands; "+prompt, "this version of adze has no command %q", args[0])
	}
	if ws := alike(args[0], commandNames(root)); len(ws) > 0 {
		return usagef("did you mean adze "+strings.Join(ws, " or adze ")+"? "+prompt, "there is no command %q", args[0])
	}
	if ws := alike(args[0], absent); len(args) == 1 && len(ws) > 0 {
		return usagef("adze --help lists the commands; "+prompt, "this version of adze has no command %q", ws[0])
	}
	return nil
}

// alike are the names that differ from a word by no more than a slip or two.
// A word that one of them only begins with is a word of its own.
func alike(word string, names []string) []string {
	return slices.DeleteFunc(near.Words(word, names), func(n string) bool { return len(n)-len(word) > 2 || len(word)-len(n) > 2 })
}

func hintFor(names []string, prefix, help string) string {
	if len(names) == 0 {
		return help + " lists them"
	}
	return "did you mean " + prefix + strings.Join(names, " or "+prefix) + "? " + help + " lists all"
}

func commandNames(c *cobra.Command) (out []string) {
	for _, sub := range c.Commands() {
		out = append(out, sub.Name())
	}
	return out
}

// caught is the cause of a context that a signal ended.
type caught struct{ sig os.Signal }

func (c caught) Error() string { return "received " + c.sig.String() }

// Bounds of the end after a signal: commands have two seconds of their own
// (proc.Grace) before they are killed.
const (
	lastCall = 2700 * time.Millisecond // for an end in order
	lastWord = 250 * time.Millisecond  // to kill commands afterwards
)

// catch ends the context at the first signal that asks adze to stop. A second
// one ends the process at once, and what it started with it. While spared is
// set, interrupts are no such signals: somebody else takes them.
//
// Whatever something waits for, a file or a system call that does not return,
// the process is over within lastCall and lastWord.
func catch(parent context.Context, abort *atomic.Pointer[func()], spared *atomic.Bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, stopSignals()...)
	quit := make(chan struct{})
	go func() { // ends with stop
		var s os.Signal
		for s == nil || s == os.Interrupt && spared.Load() {
			select {
			case s = <-ch:
			case <-quit:
				return
			}
		}
		cancel(caught{s})
		late := time.NewTimer(lastCall)
		defer late.Stop()
		wait := proc.Grace
		select {
		case s = <-ch:
		case <-late.C:
			wait = lastWord
		case <-quit:
			return
		}
		ended := make(chan struct{})
		go func() { // ends with the process, if it does not before
			defer close(ended)
			if f := abort.Load(); f != nil {
				(*f)()
			}
		}()
		select {
		case <-ended:
		case <-time.After(wait):
		}
		os.Exit(exitOf(s))
	}()
	return ctx, func() { signal.Stop(ch); close(quit); cancel(nil) }
}

// endedBy returns the exit code for a context that a signal ended.
func endedBy(ctx context.Context) (int, bool) {
	var c caught
	if errors.As(context.Cause(ctx), &c) {
		return exitOf(c.sig), true
	}
	return 0, false
}
