package desk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
)

// hooks are those of the session as they count now, which need not be what stands in
// files that changed since: see settings.Live.HookFiles.
func (d *Desk) hooks(ctx context.Context, session string) (string, error) {
	if w := d.at(session); w != nil {
		if set, ok := w.MCP().Hooks(); ok {
			var b bytes.Buffer
			err := PrintHooks(&b, set, w.Config())
			return clip.Fenced(b.String()), err
		}
	}
	return d.report(ctx, session, ask.Report{Name: "hooks"})
}

// A HookRow is a hook in a list.
type HookRow struct {
	Event   hook.Event `json:"event"`
	Matcher string     `json:"matcher,omitempty"`
	If      string     `json:"if,omitempty"`
	Type    hook.Kind  `json:"type"`
	Name    string     `json:"name"`
	Timeout float64    `json:"timeout_seconds"`
	From    string     `json:"from"`
	Scope   string     `json:"scope"`
}

// HookRows are the hooks of a set, in its order.
func HookRows(set hook.Set) []HookRow {
	rows, hide := []HookRow{}, secret.New() // a command may hold a key
	for _, h := range set.All() {
		rows = append(rows, HookRow{h.Event, h.Matcher, h.If, h.Type, hide.String(h.Name()), h.Timeout().Seconds(), h.From, h.Scope})
	}
	return rows
}

// PrintHooks lists hooks, whole at a terminal, too: it says what runs.
func PrintHooks(to io.Writer, set hook.Set, cfg *config.Config) error {
	rows := HookRows(set)
	if len(rows) == 0 {
		why := "no hooks are set"
		if cfg.DisableAllHooks {
			why = "hooks are off: disableAllHooks"
		}
		_, err := fmt.Fprintln(to, why)
		return err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		about := r.Matcher
		if r.If != "" {
			about = strings.TrimSpace(about + " if " + r.If)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Event, clip.Line(clip.Visible(about), 40), r.Type, clip.Line(clip.Visible(r.Name), 60), clip.Visible(r.From))
	}
	return w.Flush()
}
