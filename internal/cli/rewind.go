package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rewind"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// newRewind goes back in a session that is not running.
func newRewind(sys System, f *runFlags) *cobra.Command {
	var to string
	var undo, conversation, code, dry bool
	c := &cobra.Command{
		Use: "rewind [SESSION]", Short: "Go back to before a prompt: conversation, files, or both", Args: cobra.MaximumNArgs(1),
		Long: "Takes a session back to before one of its prompts: what was said, the files, or both.\n" +
			"Without --to, the prompts are listed, with how many files changed after each.\n" +
			"Files are put back as they were before the prompt, also where commands changed\nthem; what git ignores, and git's own state, stays.\nWhat something else changed since is named, and put back, too. A rewind that is\ninterrupted puts back what it had changed; one whose process was killed is told of at\nthe next start, and the same rewind finishes it. A rewind can be taken back with --undo.\n\n" + sessionWords,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer func() {
				if goes := (to != "" || undo) && !dry; goes && errors.Is(err, context.Canceled) && !rewind.WasCut(err) {
					fmt.Fprintln(sys.Stderr, "The rewind was interrupted before it changed a file.")
				}
			}()
			st, i, err := findSession(sys, f, cmd, args...)
			if err != nil {
				return err
			}
			prompts, err := rewind.Prompts(cmd.Context(), st, i, sys.Environ)
			if err != nil {
				return err
			}
			if to == "" && !undo {
				return listPrompts(sys, prompts)
			}
			o := op.Rewind{Undo: undo, Conversation: conversation || !code, Code: code || !conversation, Preview: dry}
			if !undo {
				if o.To, err = promptNamed(prompts, to); err != nil {
					return err
				}
			}
			return goBack(sys, f, cmd, i, o)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the prompt to go back to before: its number in the list (1 is the oldest) or id")
	_ = c.Flags().SetAnnotation("to", wordOf, []string{"PROMPT"})
	c.Flags().BoolVar(&undo, "undo", false, "take the last rewind back")
	c.Flags().BoolVar(&conversation, "conversation", false, "the conversation only")
	c.Flags().BoolVar(&code, "code", false, "the files only")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would happen to files, and change nothing")
	c.MarkFlagsMutuallyExclusive("to", "undo")
	return c
}

func listPrompts(sys System, prompts []rewind.Prompt) error {
	if len(prompts) == 0 {
		fmt.Fprintln(sys.Stderr, "this session has no prompts yet")
		return nil
	}
	w := sys.table()
	fmt.Fprintln(w, "NR\tAGE\tFILES\tPROMPT")
	for n, p := range prompts {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\n", n+1, clip.Age(time.Since(p.At)), len(p.Changed), clip.Line(clip.VisibleText(p.Text), 100))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(sys.Stderr, "go back to before one of them with: adze rewind --to NR")
	return nil
}

// promptNamed finds the prompt with a number, from 1, or an ID.
func promptNamed(prompts []rewind.Prompt, name string) (string, error) {
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(prompts) {
		return prompts[n-1].ID, nil
	}
	for _, p := range prompts {
		if p.ID == name {
			return p.ID, nil
		}
	}
	return "", usagef("adze rewind lists the prompts", "there is no prompt %q in this session", name)
}

// goBack opens the session, goes back and says what came of it.
func goBack(sys System, f *runFlags, cmd *cobra.Command, i store.Info, o op.Rewind) error {
	opts, p, _, err := f.loaded(sys, cmd)
	if err != nil {
		return err
	}
	s, left, err := rewind.Open(cmd.Context(), opts.Run(p), sys.Environ, i.ID, slowly(sys.Stderr, time.Now))
	if err != nil {
		return openError(cmd.Context(), err)
	}
	if left != "" {
		fmt.Fprintln(sys.Stderr, clip.VisibleText(left))
	}
	halfway := func() { // it takes longer than a process has to its end
		fmt.Fprintln(sys.Stderr, "adze was ended in the middle of the rewind. The same rewind again finishes it, and adze rewind --undo takes it back.")
	}
	if !o.Preview {
		sys.abort.Store(&halfway)
		defer sys.abort.Store(nil)
	}
	events := s.Follow(context.WithoutCancel(cmd.Context()), s.State().Seq, event.Everything) // what comes of the op
	err = s.Submit(cmd.Context(), o)
	cut := rewind.WasCut(err)
	if err == nil || cut {
		err = errors.Join(err, sayWhatCame(sys, events))
	}
	if err = errors.Join(err, s.Close()); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return failf("adze rewind lists the prompts", "%v", err)
	}
	return nil
}

// slowly tells a person how far a rewind is, once a second, when it takes longer.
func slowly(w io.Writer, now func() time.Time) func(done, of int) {
	said := now()
	return func(done, of int) {
		if at := now(); at.Sub(said) >= time.Second {
			said = at
			fmt.Fprintf(w, "putting files back: %s of %s\n", clip.Thousands(done), clip.Thousands(of))
		}
	}
}

// sayWhatCame waits for the event of a rewind.
func sayWhatCame(sys System, events iter.Seq2[event.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case event.Rewound:
			sayRewound(sys, b)
			return nil
		case event.RewindPlan:
			sayPlan(sys, b)
			return nil
		default: // of the opening
		}
	}
	return nil
}

func sayRewound(sys System, b event.Rewound) {
	if b.Cut != "" {
		fmt.Fprintln(sys.Stderr, clip.VisibleText(b.String()))
		return
	}
	fmt.Fprintln(sys.Stdout, clip.VisibleText(b.String()))
	for _, c := range b.Changes {
		fmt.Fprintf(sys.Stdout, "  %s\n", clip.Visible(c.Path))
	}
	for _, x := range b.Left() {
		fmt.Fprintln(sys.Stderr, clip.VisibleText(x))
	}
	if !b.Undo || b.Dropped > 0 {
		fmt.Fprintln(sys.Stderr, "take it back with: adze rewind --undo")
	}
}

func sayPlan(sys System, plan event.RewindPlan) {
	paint := sys.painter()
	if plan.Dropped > 0 {
		fmt.Fprintf(sys.Stdout, "%s would leave the conversation; another --undo would bring that back\n", clip.Count(plan.Dropped, "prompt"))
	}
	if len(plan.Files) == 0 && len(plan.Lost) == 0 {
		fmt.Fprintln(sys.Stdout, "no file would change")
	}
	for _, x := range plan.Files {
		note := ""
		if x.Foreign {
			note = "  changed since by something else"
		}
		fmt.Fprintf(sys.Stdout, "%s %s %s %s%s\n", paint.cell(draw.Plain, x.Kind, 8), paint.cell(draw.OK, fmt.Sprintf("+%d", x.Added), 6), paint.cell(draw.Wrong, fmt.Sprintf("-%d", x.Removed), 6), clip.Visible(x.Path), note)
	}
	for _, x := range plan.Lost {
		fmt.Fprintf(sys.Stderr, "would not be put back: %s\n", clip.VisibleText(x))
	}
}

// newDiff shows what a session changed on disk.
func newDiff(sys System, f *runFlags) *cobra.Command {
	stat := false
	c := &cobra.Command{
		Use: "diff [SESSION]", Short: "Show what a session changed on disk until now", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, i, err := findSession(sys, f, cmd, args...)
			if err != nil {
				return err
			}
			blocks, err := rewind.Diff(cmd.Context(), st, i, sys.Environ)
			if err != nil {
				return err
			}
			if len(blocks) == 0 {
				fmt.Fprintln(sys.Stderr, "no file is different from what it was before this session")
			}
			paint, dir := sys.painter(), ""
			if p, _, err := loadSettings(sys, f, cmd); err == nil {
				dir = p.Dir
			}
			for _, b := range blocks {
				d, ok := b.(view.Diff)
				d.Path = paths.Short(dir, d.Path) // as git apply takes it
				switch {
				case !ok:
				case stat:
					fmt.Fprintf(sys.Stdout, "%s %s %s\n", paint.cell(draw.OK, fmt.Sprintf("+%d", d.Added), 6), paint.cell(draw.Wrong, fmt.Sprintf("-%d", d.Removed), 6), clip.Visible(d.Path))
				case sys.OutTTY:
					fmt.Fprint(sys.Stdout, paint.lines(story.Paper{O: draw.Options{Width: sys.columns()}, Whole: true}.Change(d)))
				default: // for git apply
					fmt.Fprint(sys.Stdout, strings.TrimSuffix(paint.diff(clip.Visible(d.Path), d.Unified), "\n")+"\n")
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "only how many lines changed, a line for each file")
	return c
}
