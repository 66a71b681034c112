package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/clip"
)

// An answer is what a command found out: JSON for programs, text for people.
type answer interface {
	print(sys System, asJSON bool) error
}

// answering is a command with --json that prints what run answers; nil is nothing more
// to print.
func answering(sys System, c *cobra.Command, run func(cmd *cobra.Command, args []string) (answer, error)) *cobra.Command {
	c.Flags().Bool("json", false, "as JSON")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := run(cmd, args)
		if a == nil || err != nil {
			return err
		}
		return a.print(sys, wantsJSON(cmd))
	}
	return c
}

// wantsJSON reports whether a command was given --json.
func wantsJSON(cmd *cobra.Command) bool {
	yes, err := cmd.Flags().GetBool("json")
	return yes && err == nil
}

// scoped is a command with --scope: whose settings it is about. letter is the flag's
// short form, value is what it is when nobody gives it.
func scoped(letter, value, about string, c *cobra.Command) *cobra.Command {
	c.Flags().StringP("scope", letter, value, about)
	return c
}

// scopeOf is the value of a scoped command's flag.
func scopeOf(cmd *cobra.Command) string {
	return cmd.Flag("scope").Value.String()
}

// A both is an answer whose text is no table of what its JSON has.
type both struct {
	json any
	text func() error
}

func (b both) print(sys System, asJSON bool) error {
	if asJSON {
		return printJSON(sys, b.json)
	}
	return b.text()
}

// A failing is an answer after which the command fails with an error.
type failing struct {
	answer
	err error
}

func (f failing) print(sys System, asJSON bool) error {
	return cmp.Or(f.answer.print(sys, asJSON), f.err)
}

// A listing is an answer of things of one kind: an array as JSON, a table as text.
type listing[T any] struct {
	rows  []T
	none  string // stands on stdout in place of a table without rows
	note  string // so does this on stderr
	head  []string
	whole int // columns in front that are cut last
	row   func(*table, T)
}

func (l listing[T]) print(sys System, asJSON bool) error {
	if asJSON {
		return printJSON(sys, append([]T{}, l.rows...)) // an array also where there are none
	}
	switch {
	case len(l.rows) == 0 && l.none != "":
		fmt.Fprintln(sys.Stdout, l.none)
		return nil
	case len(l.rows) == 0 && l.note != "":
		fmt.Fprintln(sys.Stderr, l.note)
		return nil
	}
	t := sys.table()
	t.whole = l.whole
	t.row(l.head...)
	for _, r := range l.rows {
		l.row(t, r)
	}
	return t.Flush()
}

// row adds a row of cells, in which nothing stands that a screen would obey or hide.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = clip.Visible(c)
	}
	if len(cells) > 0 {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
}
