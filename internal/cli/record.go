package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func newReplay(sys System) *cobra.Command {
	return &cobra.Command{
		Use:                "replay FILE [flags] PROMPT",
		Short:              "Run a prompt against a recording instead of a provider",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case slices.Contains(args, "--help"), slices.Contains(args, "-h"):
				return cmd.Help()
			case len(args) < 2:
				return usagef(`adze replay bug.cassette "explain this"`, "there is no recording to play, or no prompt")
			}
			run := newRoot(sys)
			run.SetArgs(append([]string{"-p", "--model", "replay/" + args[0]}, args[1:]...))
			run.SetOut(sys.Stdout)
			run.SetErr(sys.Stderr)
			c, err := run.ExecuteContextC(cmd.Context())
			return usageError(c, err)
		},
	}
}

func newRecord(sys System) *cobra.Command {
	to := ""
	c := &cobra.Command{
		Use:   "record -o FILE -- [flags] PROMPT",
		Short: "Run a prompt and record what the provider answers",
		Long: `record runs "adze -p" with what follows -- and writes every answer of the provider
to a cassette: a file that --model replay/FILE plays again, without a key. Keys,
request headers and home paths are left out.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return usagef(`adze record -o bug.cassette -- "explain this"`, "there is no prompt to record")
			}
			if to == "" {
				return usagef(`adze record -o bug.cassette -- "explain this"`, "there is no file to record to")
			}
			f, err := newFile("-o", to)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			inner, tape := sys, &tape{w: f}
			inner.Args, inner.Record = args, tape
			run := newRoot(inner)
			run.SetArgs(append([]string{"-p"}, args...))
			run.SetOut(sys.Stdout)
			run.SetErr(sys.Stderr)
			ran, err := run.ExecuteContextC(cmd.Context())
			if err == nil && !holdsAnswers(f) {
				_ = os.Remove(to) // it would play nothing
				err = &failure{exitFailed, "nothing was recorded: no request went to a provider over HTTP (the models script/… and replay/… answer inside adze, and are files already)",
					"record a model of a provider: adze models lists them"}
			}
			err = errors.Join(err, tape.problem(to))
			if info, serr := f.Stat(); serr == nil && err == nil {
				fmt.Fprintf(sys.Stderr, "recorded %s; play it with --model replay/%s\n", clip.Size(info.Size()), clip.Visible(to))
			}
			return usageError(ran, err)
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "the cassette to write")
	return c
}

// A tape is where a recording goes. It remembers that writing failed, because the run
// that is recorded goes on.
type tape struct {
	w   io.Writer
	mu  sync.Mutex // guards err
	err error
}

func (t *tape) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.err = err
	}
	return n, err
}

// problem is what is wrong with the recording, which is in a file of that name.
func (t *tape) problem(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		return nil
	}
	return &failure{exitFailed, fmt.Sprintf("%s has not all that the provider answered: %v", clip.Visible(name), hint.Cause(t.err)), "make room on the disk, remove the file, and record again"}
}

// holdsAnswers reports whether a cassette has more than the line it begins with.
func holdsAnswers(f io.ReaderAt) bool {
	r := bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))
	if _, err := r.ReadString('\n'); err != nil {
		return false
	}
	_, err := r.ReadByte()
	return err == nil
}
