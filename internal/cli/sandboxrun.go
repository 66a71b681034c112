package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/text/near"
)

func sandboxRun(sys System, f *runFlags) *cobra.Command {
	mechanism := ""
	c := &cobra.Command{
		Use: "run -- COMMAND [ARGUMENT…]", Short: "Run a command inside the sandbox", Args: cobra.ArbitraryArgs,
		Long: `Runs a command as the model's commands are confined. It reads this command's
input and writes to its output and error output; its exit code is the command's,
128+n when signal n ended it. At a terminal it gets the terminal, without job
control: it cannot type into it (TIOCSTI), nor take it over.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return usagef("adze sandbox run -- ls -l", "there is no command to run")
			}
			s, p, cfg, err := openSandbox(sys, f, cmd, mechanism)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			path, err := exec.LookPath(args[0])
			if err != nil {
				return &failure{127, fmt.Sprintf("%s: command not found", orEmpty(args[0])), "give a program's name or path"}
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			pc := proc.Command{Path: path, Args: args, Dir: p.Dir, Env: proc.Set(proc.Scrub(sys.ground(p.Dir).Environ, cfg.ChildEnv), "PWD="+p.Dir)}
			code, err := runInside(cmd.Context(), sys, s, pc)
			if err != nil || code == 0 {
				return err
			}
			return &failure{code: code}
		},
	}
	mechanismFlag(c, &mechanism, "use")
	c.Flags().SetInterspersed(false)
	return c
}

// mechanismFlag adds --mechanism, whose value is looked at before the command runs.
func mechanismFlag(c *cobra.Command, value *string, does string) {
	known := []string{"bwrap", "landlock", "seatbelt"}
	c.Flags().StringVar(value, "mechanism", "", does+" this one: "+strings.Join(known, ", "))
	c.PreRunE = func(*cobra.Command, []string) error {
		if *value != "" && !slices.Contains(known, *value) {
			return usagef("the mechanisms are "+strings.Join(known, ", "), "--mechanism: there is no %q%s", *value, near.Hint(*value, known))
		}
		return nil
	}
	_ = c.RegisterFlagCompletionFunc("mechanism", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

// orEmpty is a word as it stands in a message, where it must be seen.
func orEmpty(s string) string {
	if strings.TrimSpace(s) == "" {
		return strconv.Quote(s)
	}
	return s
}

// tail passes on what is written and keeps the end of it.
type tail struct {
	w  io.Writer
	mu sync.Mutex
	b  []byte
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-tailSize):]
	t.mu.Unlock()
	return t.w.Write(p)
}

// runInside runs c confined and returns its exit code, or that of the signal
// that ended us.
func runInside(ctx context.Context, sys System, s *sandbox.Sandbox, c proc.Command) (int, error) {
	if err := s.WrapItself(&c); err != nil {
		return 0, err
	}
	over := sync.OnceFunc(func() {
		if c.After != nil {
			c.After()
		}
	})
	defer over()
	said := &tail{w: sys.Stderr}
	cmd := exec.CommandContext(ctx, c.Path)
	cmd.Args, cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Args, c.Dir, append([]string{}, c.Env...), c.Files
	cmd.Stdin, cmd.Stdout, cmd.Stderr = sys.Stdin, sys.Stdout.File, said
	if sys.InTTY && sys.OutTTY && sys.ErrTTY { // a shell wants all three
		cmd.Stderr = sys.Stderr
	}
	if fd := int(sys.Stdin.Fd()); sys.InTTY {
		if was, err := term.GetState(fd); err == nil {
			defer func() { _ = term.Restore(fd, was) }()
		}
	}
	ownSession(cmd)
	cmd.WaitDelay = proc.Grace // then what is left is killed
	err := cmd.Start()
	for _, f := range c.Files {
		_ = f.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("start the command: %w", err)
	}
	_ = cmd.Wait() // the state says it all
	endSession(cmd)
	over()
	for _, f := range s.Found() {
		tellFound(sys.Stderr, f)
	}
	if code, ok := endedBy(ctx); ok {
		return code, nil
	}
	code := exitCode(cmd.ProcessState)
	if why, ok := s.Denial(strings.Join(c.Args, " "), code, string(said.b)); ok {
		fmt.Fprintf(sys.Stderr, "adze: the sandbox kept the command from %s\n", oneLine(why))
	}
	return code, nil
}

// tellFound says what was taken away, and how to get it back.
func tellFound(w io.Writer, f sandbox.Found) {
	if f.At == "" {
		fmt.Fprintf(w, "adze: the command made %s, which is protected (%s), and it could not be moved away: %s\n", oneLine(f.Path), oneLine(f.Why), oneLine(f.Err))
		return
	}
	fmt.Fprintf(w, "adze: the command made %s, which is protected (%s); it was moved away\nhint: %s\n", oneLine(f.Path), oneLine(f.Why), f.Back())
}
