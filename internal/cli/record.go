package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/clip"
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
			inner := sys
			inner.Args, inner.Record = args, f
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
			if info, serr := f.Stat(); serr == nil && err == nil {
				fmt.Fprintf(sys.Stderr, "recorded %s; play it with --model replay/%s\n", clip.Size(info.Size()), clip.Visible(to))
			}
			return usageError(ran, err)
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "the cassette to write")
	return c
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
