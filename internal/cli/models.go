package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
)

func newModels(sys System, f *runFlags) *cobra.Command {
	var all, sources bool
	c := answering(sys, &cobra.Command{
		Use: "models [WORD…]", Short: "List models: window, prices per million tokens, abilities",
		Long: "models lists what can be used now: models of providers with a key, of local\nservers that answer, and of your own providers. --all adds those that lack a key.\nWords narrow the list.",
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		p, cfg, err := o.Load()
		if err != nil {
			return nil, openError(cmd.Context(), err)
		}
		ch, err := o.Models(p.Folders, cfg, !o.Print, nil)
		if err != nil {
			return nil, err
		}
		var rows []choose.Row
		for _, r := range ch.List(cmd.Context()) {
			if (r.Usable || all || len(args) > 0) && matches(r, args) {
				rows = append(rows, r)
			}
		}
		return both{modelsJSON(rows), func() error {
			switch {
			case len(rows) == 0 && len(args) > 0:
				return usagef("adze models --all, without words, lists everything", "no model matches %q", strings.Join(args, " "))
			case len(rows) == 0:
				fmt.Fprintln(sys.Stderr, "no provider has a key and no local server answers; adze models --all lists everything")
				return nil
			case sources:
				return modelTable(sys.table(), rows)
			}
			return modelList(sys.Stdout, sys.painter(), rows)
		}}, nil
	})
	c.Flags().BoolVar(&sources, "sources", false, "all columns: the price of cached tokens, where the key and the facts come from")
	c.Flags().BoolVarP(&all, "all", "a", false, "those without a key too")
	return c
}

// nameWidth is what most names of models take; the row of a longer one begins
// below it, so that lines fit 80 characters.
const nameWidth = 44

// modelList is the short form: those that can be used, then those that lack a
// key.
func modelList(w io.Writer, color painter, rows []choose.Row) error {
	var b strings.Builder
	row := func(role draw.Role, name, window, in, out, takes string) {
		if len(name) > nameWidth {
			fmt.Fprintf(&b, "%s\n", color.paint(role, name))
			name = ""
		}
		fmt.Fprintf(&b, "%s %6s %7s %7s  %s\n", color.cell(role, name, nameWidth), window, in, out, color.paint(draw.Quiet, takes))
	}
	row(draw.Heading, "MODEL", "WINDOW", "IN", "OUT", "TAKES")
	keyless := false
	for _, r := range rows {
		if !r.Usable && !keyless {
			keyless = true
			b.WriteString(color.paint(draw.Attention, "without a key:") + "\n")
		}
		f := modelRow(r)
		row(draw.Accent, r.Provider+"/"+r.Model, f[1], f[3], f[4], strings.Join(r.BeyondTools(), ","))
		if len(r.Aliases) > 0 {
			fmt.Fprintf(&b, "  %s\n", color.paint(draw.Quiet, "also: "+strings.Join(r.Aliases, ", ")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// modelTable has every column.
func modelTable(w *table, rows []choose.Row) error {
	w.row("MODEL", "WINDOW", "OUTPUT", "IN", "OUT", "CACHED", "TAKES", "KEY", "FACTS FROM")
	for _, r := range rows {
		w.row(modelRow(r)...)
	}
	return w.Flush()
}

func matches(r choose.Row, words []string) bool {
	name := strings.ToLower(r.Provider + "/" + r.Model + " " + strings.Join(r.Aliases, " "))
	for _, w := range words {
		if !strings.Contains(name, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

func modelRow(r choose.Row) []string {
	name := r.Provider + "/" + r.Model
	if len(r.Aliases) > 0 {
		name += " (" + strings.Join(r.Aliases, ", ") + ")"
	}
	in, out, cached := "?", "?", "?"
	if p := r.Facts.Price; p != nil {
		in, out, cached = usd(p.In), usd(p.Out), usd(p.CacheRead)
	}
	takes := make([]string, 0, len(r.Facts.Abilities))
	for _, a := range r.Facts.Abilities {
		takes = append(takes, string(a))
	}
	key := r.KeySource
	switch {
	case key != "":
	case r.Usable:
		key = "none needed"
	default:
		key = "no key"
	}
	source := r.Facts.Source
	if r.Facts.Date != "" {
		source += " " + r.Facts.Date
	}
	name, key, source = clip.Visible(name), clip.Visible(key), clip.Visible(source)
	return []string{name, clip.Window(r.Facts.Window), clip.Window(r.Facts.Output), in, out, cached, strings.Join(takes, ","), key, source}
}

func usd(x float64) string { return fmt.Sprintf("$%g", x) }

type modelJSON struct {
	Model   string   `json:"model"`
	Aliases []string `json:"aliases,omitempty"`
	HasKey  bool     `json:"has_key"`
	Key     string   `json:"key_source,omitempty"`
	Local   bool     `json:"local,omitempty"`
	Facts   any      `json:"facts"`
}

func modelsJSON(rows []choose.Row) []modelJSON {
	out := make([]modelJSON, 0, len(rows))
	for _, r := range rows {
		out = append(out, modelJSON{r.Provider + "/" + r.Model, r.Aliases, r.HasKey, r.KeySource, r.Local, r.Facts})
	}
	return out
}
