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
func (d *Desk) hooks(ctx context.Context, session string) (out ask.Reply, err error) {
	w := d.at(session)
	if s, ok := d.seat(session); ok {
		out.Data = ask.HookSet{List: HookRows(hook.NewSet(s.Hooks()...)), Off: w.Config().DisableAllHooks}
	}
	if w != nil {
		if set, ok := w.Extensions().Hooks(); ok {
			var b bytes.Buffer
			err = PrintHooks(&b, set, w.Config())
			out.Text = clip.Fenced(b.String())
			return out, err
		}
	}
	out.Text, err = d.report(ctx, session, ask.Report{Name: "hooks"})
	return out, err
}

// HookRows are the hooks of a set, in its order.
func HookRows(set hook.Set) []ask.Hook {
	rows, hide := []ask.Hook{}, secret.New() // a command may hold a key
	for _, h := range set.All() {
		rows = append(rows, ask.Hook{
			Event: string(h.Event), Matcher: h.Matcher, If: h.If, Type: string(h.Type), Name: hide.String(h.Name()), Timeout: h.Timeout().Seconds(), From: h.From, Scope: h.Scope,
		})
	}
	return rows
}

// PrintHooks lists hooks, whole at a terminal, too: it says what runs.
func PrintHooks(to io.Writer, set hook.Set, cfg *config.Config) error {
	rows := HookRows(set)
	if len(rows) == 0 {
		why := "No hook is set. A settings file sets them under `hooks`."
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
