package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/demo"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/print"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A demonstration is one run of the demo.
type demonstration struct {
	sys    System
	color  painter
	dir    string // of the module; "" for a temporary one
	keep   bool
	goTool string
	ground settings.Ground
}

func newDemo(sys System) *cobra.Command {
	d := demonstration{sys: sys, color: sys.painter()}
	c := &cobra.Command{
		Use:   "demo",
		Short: "See the main job done, without a key",
		Long: `demo makes a small Go module with a failing test in a temporary folder and has
adze repair it. The model is a script that comes with adze; the loop, the tools,
the permissions and the log are the real ones. Nothing is left behind.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			d.keep = d.keep || d.dir != ""
			if d.goTool, err = exec.LookPath("go"); err != nil {
				return failf("install Go from https://go.dev/dl, then run adze demo again", "the demo repairs a Go module and needs the go command, which is not on PATH")
			}
			wd, err := workDir("")
			if err != nil {
				return err
			}
			d.ground = sys.ground(wd)
			if d.dir, err = demo.Module(d.dir, d.ground.Temp); err != nil {
				return openError(cmd.Context(), err)
			}
			if !d.keep {
				defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
			}
			return d.run(cmd.Context())
		},
	}
	c.Flags().StringVar(&d.dir, "dir", "", "make the module here instead of in a temporary folder, and keep it")
	c.Flags().BoolVar(&d.keep, "keep", false, "keep the module and the session")
	return c
}

func (d demonstration) run(ctx context.Context) error {
	model, err := demo.Target(d.sys.Version)
	if err != nil {
		return err
	}
	out := d.sys.Stdout
	fmt.Fprintf(out, "The module %s has a test that fails.\n", clip.Visible(d.dir))
	fmt.Fprintf(out, "%s\n\n", d.color.paint(draw.Quiet, "The model is a script of adze's own: no key, no network. All else is real."))
	fmt.Fprintf(out, "%s\n\n", d.color.paint(draw.User, "> "+demo.Prompt))
	o := invocation{
		Invocation: app.Invocation{Surroundings: app.Surroundings{Version: d.sys.Version, Environment: settings.Environment{Dir: d.dir}}, Sources: settings.Sources{Flags: demo.Flags(), Bare: true}, Front: app.Front{Print: true}},
		spec:       app.Spec{Log: sessions.Choice{None: !d.keep}, Target: model},
	}
	apply(d.ground, &o.Surroundings)
	a, err := o.start(ctx)
	if err != nil {
		return err
	}
	res, err := d.play(ctx, a)
	cerr := a.Close()
	if code, ended := endedBy(ctx); ended {
		return &failure{code: code, cause: "interrupted"}
	}
	if err := outcome(d.sys, &runFlags{}, a, res, err); err != nil {
		return err
	}
	if cerr != nil {
		return cerr
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	d.next(a)
	return nil
}

// play runs the one turn and shows what happens.
func (d demonstration) play(ctx context.Context, a running) (print.Outcome, error) {
	stop := context.AfterFunc(ctx, func() { _ = a.Submit(context.WithoutCancel(ctx), op.Interrupt{}) })
	defer stop()
	inputs := make(chan print.Input, 1)
	inputs <- print.Input{Op: op.Prompt{Text: demo.Prompt, Typed: op.All(demo.Prompt)}}
	close(inputs)
	watch := a.Follow(context.WithoutCancel(ctx), a.After, event.Durable)
	shown := make(chan struct{})
	go func() { // ends with the turn, or with the session
		defer close(shown)
		d.show(watch)
	}()
	res, err := print.Run(context.WithoutCancel(ctx), a, print.Options{
		Format: print.Text, About: a.about(nil), After: a.After, Out: io.Discard, Err: io.Discard, Inputs: inputs,
	})
	if err == nil {
		<-shown
	}
	return res, err
}

// show prints what people see of a turn.
func (d demonstration) show(events iter.Seq2[event.Event, error]) {
	st := story.New()
	var w *watcher // shows the call that runs, which takes long where nothing is built yet
	if d.sys.OutTTY {
		sys := d.sys
		sys.Stderr = &above{to: sys.Stdout.File}
		if w = watching(sys); w != nil {
			w.st = st
		}
	}
	defer w.stop()
	for e, err := range events {
		if err != nil {
			return
		}
		if in, ok := e.Body.(event.InputAccepted); ok && in.Text == demo.Prompt {
			continue // it stands above
		}
		w.around(e, func() {
			st.Apply(e)
			fmt.Fprint(d.sys.Stdout, d.color.lines(st.Next(story.Paper{O: draw.Options{Width: d.sys.columns()}})))
		})
		if _, over := e.Body.(event.TurnEnded); over {
			fmt.Fprintln(d.sys.Stdout)
			return
		}
	}
}

// check runs the test itself: the demo has failed when it does.
func (d demonstration) check(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, d.goTool, "test", "./...")
	cmd.Dir = d.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return failf("look at what it did: adze demo --keep", "the test in %s does not pass: %s", clip.Visible(d.dir), string(out))
	}
	fmt.Fprintf(d.sys.Stdout, "%s %s\n", d.color.paint(draw.OK, "The test passes, run once more without adze:"), oneLine(string(out)))
	return nil
}

// next says how to go on, in the words this person started adze with.
func (d demonstration) next(a running) {
	out, name := d.sys.Stdout, cmp.Or(d.sys.Name, "adze")
	if d.keep {
		fmt.Fprintf(out, "\nThe module is in    %s\nThe session is in   %s\nRead it again with  %s export %s -C %s\n", clip.Visible(d.dir), clip.Visible(a.Stored()), name, a.ID, clip.Visible(d.dir))
	}
	fmt.Fprintf(out, `
To work with a real model, set a key and ask something in a folder of yours:
  export ANTHROPIC_API_KEY=…      or OPENAI_API_KEY, GEMINI_API_KEY, …
  %s -p "what does this repository do?"
or start a local server (Ollama, LM Studio, llama.cpp): adze finds it by itself.
`, name)
}
