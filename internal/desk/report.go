package desk

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/confedit"
)

// report gives a command of adze, or what is answered here alone.
func (d *Desk) report(ctx context.Context, session string, q ask.Report) (string, error) {
	switch {
	case q.Name == "bug":
		return d.bug(session), nil
	case q.Name == "schedules":
		s, ok := d.seat(session)
		if !ok {
			return "", unsupported(q)
		}
		return s.Schedules(ctx, q.Args)
	case q.Name == "statusline":
		return d.statusLine(ctx, session, q.Args)
	case d.c.Report == nil:
		return "", unsupported(q)
	}
	return d.c.Report(ctx, session, q)
}

func (d *Desk) pick(ctx context.Context, session string, q ask.Pick) ([]ask.Choice, error) {
	switch {
	case q.Name == "output-style":
		return d.styles(session)
	case d.c.Pick == nil:
		return nil, unsupported(q)
	}
	return d.c.Pick(ctx, q)
}

// bug says where to tell of a fault, and what to send along.
func (d *Desk) bug(session string) string {
	var b strings.Builder
	b.WriteString("Tell of it at <https://github.com/adze-agent/adze/issues>: what you did, what came, what you expected. adze sends nothing by itself.\n\n")
	fmt.Fprintf(&b, "- adze %s, %s/%s, TERM=%s", d.c.Version, runtime.GOOS, runtime.GOARCH, d.c.Env("TERM"))
	if name := d.c.Env("TERM_PROGRAM"); name != "" {
		fmt.Fprintf(&b, " (%s)", name)
	}
	b.WriteString("\n- what `adze doctor` prints\n")
	if s, ok := d.seat(session); ok && s.Kept {
		fmt.Fprintf(&b, "- the session, when you may show it: `adze export %s --format jsonl` (known keys are masked; read it before you send it)\n", s.ID)
	}
	return b.String()
}

// statusLine sets the person's command for the last lines of the terminal UI.
func (d *Desk) statusLine(ctx context.Context, session, command string) (string, error) {
	if command == "" {
		return "Your command gets JSON on stdin (model, window, cost, folder) and prints the last lines, up to three:\n\n    /statusline jq -r '.model.display_name + \" in \" + .workspace.current_dir'\n\nIt is kept in your own settings as `statusLine.command`; `/statusline off` takes it away.", nil
	}
	if command != "off" {
		return "", errors.Join(d.writeOwn(ctx, "statusLine.type", "command"), d.writeOwn(ctx, "statusLine.command", command))
	}
	if w := d.ext(session); w != nil {
		if line, _ := w.StatusLine(); line != nil { // a plugin's would be in its place
			return "", d.writeOwn(ctx, "statusLine.command", "")
		}
	}
	p, _, err := d.Loaded()
	if err != nil {
		return "", err
	}
	t, _ := p.File("user")
	return "", d.Write(ctx, p, t, confedit.Edit{Op: confedit.Unset, Key: "statusLine"})
}
