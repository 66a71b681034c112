package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/doctor"
	"github.com/adze-agent/adze/internal/ui/draw"
)

func newDoctor(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "doctor", Short: "Say what adze found here, and what is broken", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		o.Note = nil
		list := doctor.Examine(cmd.Context(), doctor.Config{Invocation: o.Invocation, Env: sys.Env, Terminal: sys.OutTTY || sys.asked() > 0}) // or the terminal UI shows it
		broken := slices.ContainsFunc(list, func(x doctor.Finding) bool { return x.Level == "broken" })
		said := both{map[string]any{"version": sys.Version, "ok": !broken, "findings": list}, func() error { return printFindings(sys, list) }}
		if broken {
			return failing{said, &failure{code: exitFailed, cause: "something is broken; see above"}}, nil
		}
		return said, nil
	})
}

func printFindings(sys System, list []doctor.Finding) error {
	var b strings.Builder
	color, width := sys.painter(), 0
	for _, x := range list {
		width = max(width, len(x.Name))
	}
	column := width + len("broken") + 4
	levels := map[string]draw.Role{"ok": draw.OK, "note": draw.Attention, "broken": draw.Wrong}
	for _, x := range list {
		fmt.Fprintf(&b, "%-*s  %s  %s\n", width, x.Name, color.cell(levels[x.Level], x.Level, len("broken")), wrapBelow(oneLine(x.Text), column, sys.asked()))
		name := "hint: "
		for line := range strings.Lines(x.Hint) {
			fmt.Fprintf(&b, "%-*s  %s%s\n", width+len("broken")+2, "", color.paint(draw.Quiet, name), wrapBelow(shown(line), column+len(name), sys.asked()))
			name = "      "
		}
	}
	_, err := io.WriteString(sys.Stdout, b.String())
	return err
}

// wrapBelow is a text that begins in a column, wrapped below that; as it is where nobody
// asks for a width.
func wrapBelow(s string, column, width int) string {
	if width < column+leastCol {
		return s
	}
	var out []string
	for _, l := range draw.L(draw.S(s, draw.Plain)).Wrap(width - column) {
		out = append(out, l.String())
	}
	return strings.Join(out, "\n"+strings.Repeat(" ", column))
}
