package cli

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/print"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed demo
var demoFiles embed.FS

const demoPrompt = "The test in this module fails. Find out why and fix it."

func newDemo(sys System) *cobra.Command {
	keep := ""
	c := &cobra.Command{
		Use:   "demo",
		Short: "See the main job done, without a key",
		Long: `demo makes a small Go module with a failing test in a temporary folder and has
adze repair it. The model is a script that comes with adze; the loop, the tools,
the permissions and the log are the real ones.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), sys, keep) },
	}
	c.Flags().StringVar(&keep, "dir", "", "make the module here instead of in a temporary folder")
	return c
}

func demo(ctx context.Context, sys System, dir string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return failf("install Go from https://go.dev/dl, then run adze demo again", "the demo repairs a Go module and needs the go command, which is not on PATH")
	}
	wd, err := workDir("")
	if err != nil {
		return err
	}
	g := sys.ground(wd)
	if dir, err = demoModule(dir, g.temp); err != nil {
		return err
	}
	text, err := demoFiles.ReadFile("demo/script.txt")
	if err != nil {
		return err
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return fmt.Errorf("the demo's script: %w", err)
	}
	fmt.Fprintf(sys.Stdout, "A Go module with a failing test is in %s\n\n> %s\n\n", dir, demoPrompt)
	o := app.Options{
		Version: sys.Version, Dir: dir, Print: true, Bare: true,
		Flags:  demoFlags(),
		Target: &agent.Target{Model: script.New(s, script.Config{Version: sys.Version}), Provider: "script", Name: "demo"},
		Note:   func(string) {},
	}
	g.apply(&o)
	a, err := app.Open(ctx, o)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = a.Submit(context.WithoutCancel(ctx), op.Interrupt{}) })
	defer stop()
	inputs := make(chan print.Input, 1)
	inputs <- print.Input{Op: op.Prompt{Text: demoPrompt}}
	close(inputs)
	watch := a.Follow(context.WithoutCancel(ctx), a.After, event.Durable)
	res, err := print.Run(context.WithoutCancel(ctx), a, print.Options{
		Format: print.Text, About: a.About(), After: a.After, Out: sys.Stdout, Err: sys.Stdout, Chatty: true, Inputs: inputs,
	})
	diffs := demoDiffs(watch)
	cerr := a.Close()
	if code, ended := endedBy(ctx); ended {
		return &failure{code: code, cause: "interrupted"}
	}
	if err := outcome(sys, &runFlags{}, a, res, err); err != nil {
		return err
	}
	if cerr != nil {
		return cerr
	}
	fmt.Fprintf(sys.Stdout, "\nWhat it changed:\n%s", diffs)
	if err := demoCheck(ctx, sys, goTool, dir); err != nil {
		return err
	}
	demoNext(sys, a)
	return nil
}

// demoFlags allow what the demo does, as a person would on the command line.
func demoFlags() []config.Given {
	return []config.Given{
		configGiven("permissions.allow", []string{"Bash(go test:*)"}, "--allowed-tools"),
		configGiven("permissions.defaultMode", "acceptEdits", "--permission-mode"),
	}
}

// demoModule writes the module. A folder that is not empty is left alone.
func demoModule(dir, temp string) (string, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp(temp, "adze-demo-")
	} else if err = os.MkdirAll(dir, 0o755); err == nil {
		if old, _ := os.ReadDir(dir); len(old) > 0 {
			return "", usagef("give an empty folder", "%s is not empty", dir)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for the demo: %w", err)
	}
	files := map[string]string{"go.mod": "module example.com/calc\n\ngo 1.21\n"}
	for _, name := range []string{"calc.go", "calc_test.go"} {
		b, err := demoFiles.ReadFile("demo/" + name + ".txt")
		if err != nil {
			return "", err
		}
		files[name] = string(b)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("write the demo's module: %w", err)
		}
	}
	return filepath.Abs(dir)
}

// demoDiffs collects the diffs of a session up to the end of its turn.
func demoDiffs(events func(func(event.Event, error) bool)) string {
	var b strings.Builder
	for e, err := range events {
		if err != nil {
			break
		}
		if f, ok := e.Body.(event.ToolFinished); ok {
			if d, ok := f.View.(view.Diff); ok {
				fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", d.Path, d.Path, d.Unified)
			}
		}
		if _, over := e.Body.(event.TurnEnded); over {
			break
		}
	}
	return b.String()
}

// demoCheck runs the test itself: the demo has failed when it does.
func demoCheck(ctx context.Context, sys System, goTool, dir string) error {
	cmd := exec.CommandContext(ctx, goTool, "test", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return failf("look at what it did: adze export", "the test in %s does not pass: %s", dir, oneLine(string(out)))
	}
	fmt.Fprintf(sys.Stdout, "\nThe test passes: %s\n", oneLine(string(out)))
	return nil
}

func demoNext(sys System, a *app.App) {
	fmt.Fprintf(sys.Stdout, `
The session is in   %s
Read it again with  adze export %s

To work with a real model, set a key and ask something in a folder of yours:
  export ANTHROPIC_API_KEY=…      or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
  adze -p "what does this repository do?"
or start a local server (Ollama, LM Studio, llama.cpp): adze finds it by itself.
`, a.Where, a.ID)
}
