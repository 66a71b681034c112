package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A status is how things stand, below the prompt box.
type status struct {
	flash flash
	armed armed
	line  statusLine
}

// flash is a line below the prompt box that goes away.
type flash struct {
	text string
	role draw.Role
	till time.Time
}

// armed is a key that means more when it comes again.
type armed struct {
	action keymap.Action
	till   time.Time
}

// A statusLine is the line that a person's own command printed.
type statusLine struct {
	text    string
	padding int    // columns before each line
	wrong   string // why the command failed when it was told last
	running bool
	changed bool      // something changed since it ran
	due     time.Time // when it runs again; zero is not at all

	since  time.Time          // when the session was opened here
	before time.Duration      // what its turns took until then
	limits event.ReplyStarted // the newest one that told limits of the provider
}

// statusWait gathers changes before the command runs, statusTime bounds it.
const (
	statusWait = 300 * time.Millisecond
	statusTime = 5 * time.Second
)

// footer is the last line: how things stand.
func (m *Model) footer(p dialog.Paper) []draw.Line {
	cols := m.screen.size.Cols
	if label, _ := m.chord.Pending(); label != "" {
		return []draw.Line{draw.L(draw.S("  "+label, draw.Quiet)).Truncate(cols, p.O)}
	}
	if l := m.flashed(m.screen.size.Rows, p); len(l) > 0 {
		if md := m.mode(); md != policy.Default { // what runs without a question is never covered
			name := draw.L(draw.S(modeName(md)+" ", modeRole(md, draw.Quiet)))
			if i := len(l) - 1; i > 0 && l[0].Width()+name.Width()+2 > cols { // it has several lines, and the last is the shortest
				l[i] = draw.Beside(l[i], name, cols, p.O)
			} else {
				l[0] = draw.Beside(l[0], name, cols, p.O)
			}
		}
		return l
	}
	var out []draw.Line
	if m.line.text != "" {
		for l := range strings.Lines(m.line.text) {
			line := draw.Line{draw.S(strings.Repeat(" ", 2+m.line.padding), draw.Plain)}
			for _, part := range draw.Output(l, draw.Style{}) {
				line = append(line, part...)
			}
			if out = append(out, line.Truncate(cols, p.O)); len(out) == 3 {
				break
			}
		}
	}
	left, right := m.facts(p)
	if left.Width()+right.Width()+2 > cols && len(m.st.Background) == 0 {
		right = nil // the facts count more than where help is
	}
	if len(right) > 0 {
		right = append(right, draw.S(" ", draw.Plain))
	}
	return append(out, draw.Beside(left, right, cols, p.O))
}

// flashed is what is said for a while, in one line, or in up to three where
// there is room.
func (s *status) flashed(rows int, p dialog.Paper) []draw.Line {
	if s.flash.text == "" {
		return nil
	}
	cols, most := p.O.Width, 1
	if rows >= 20 {
		most = 3
	}
	lead := draw.S("  ", draw.Plain)
	lines := draw.WrapAll(draw.Text(s.flash.text, draw.Style{Role: s.flash.role}), clampLow(cols-4))
	if len(lines) > most {
		lines = []draw.Line{draw.L(draw.S(s.flash.text, s.flash.role))}
	}
	for i, l := range lines {
		lines[i] = append(draw.L(lead), l...).Truncate(cols, p.O)
	}
	return lines
}

// facts are mode, window, cost; and what runs in the background.
func (m *Model) facts(p dialog.Paper) (left, right draw.Line) {
	dot := draw.S(" "+p.Sign(draw.Middot)+" ", draw.Quiet)
	left = draw.L(draw.S("  ", draw.Plain))
	say := func(s string, r draw.Role) {
		if len(left) > 1 {
			left = append(left, dot)
		}
		left = append(left, draw.S(s, r))
	}
	if m.box.Stashed() > 0 {
		say("stashed ("+m.keys.Hint(keymap.Stash)+")", draw.Quiet)
	}
	if name := m.box.VimMode().String(); name != "" {
		say(strings.TrimSpace(name+" "+m.box.VimPending()), draw.Quiet)
	}
	wide := m.screen.size.Cols >= 60
	if md := m.mode(); md != policy.Default {
		name := modeName(md)
		if wide {
			name += " (" + m.keys.Hint(keymap.CycleMode) + ")"
		}
		say(name, modeRole(md, draw.Quiet))
	}
	switch {
	case m.effort == noThinking:
		say("no thinking ("+m.keys.Hint(keymap.ThinkingToggle)+")", draw.Quiet)
	case m.effort != "" && wide:
		say("effort "+draw.String(m.effort), draw.Quiet)
	}
	if text, role := m.goalFact(); text != "" {
		say(text, role)
	}
	if in := m.inside(); in != "" {
		say("in "+clip.Line(draw.String(in), 30), draw.Quiet)
	}
	if m.s == nil && m.gone != nil {
		say("no session: "+m.keys.Hint(keymap.Submit)+" says how to go on", draw.Attention)
	}
	if m.s != nil && m.line.text == "" {
		if wide {
			say(shortModel(m.st.Model), draw.Quiet)
		}
		if n := m.contextLeft(); n >= 0 {
			r := draw.Quiet
			if n <= 15 {
				r = draw.Attention
			}
			of := ""
			if wide {
				of = "of window "
			}
			say(fmt.Sprintf("%d %% %sleft", n, of), r)
		}
		if c := m.st.Total.Cost; c > 0 {
			say(fmt.Sprintf("$%.2f", c), draw.Quiet)
		}
	}
	if n := len(m.st.Background); n > 0 {
		right = append(right, draw.S(story.Plural(n, "task")+" (/tasks)", draw.Accent))
	} else if !m.turn.running && m.box.Empty() && m.s != nil {
		right = append(right, draw.S("? for help", draw.Quiet))
	}
	if m.s != nil && m.s.Branch != "" && m.line.text == "" && wide {
		name := draw.S(m.s.Branch, draw.Quiet)
		if left.Width()+3+draw.Width(name.Text)+right.Width()+3 <= m.screen.size.Cols {
			left = append(left, dot, name)
		}
	}
	return left, right
}

// inside is the folder that commands run in, where it is not the session's own.
func (m *Model) inside() string {
	dir := m.st.Dir
	if m.s == nil || dir == "" || dir == m.st.Start {
		return ""
	}
	if rel, err := filepath.Rel(m.st.Start, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return paths.Tilde(dir, m.s.Home)
}

// contextLeft is how much of the window is free in percent, -1 when nobody
// knows.
func (m *Model) contextLeft() int {
	if m.s == nil || m.s.Window <= 0 || m.st.Gauge().Tokens <= 0 {
		return -1
	}
	return story.Left(m.st, cmp.Or(m.s.Room, m.s.Window))
}

// measure asks for the window of the model, which is another one.
func (m *Model) measure() []effect {
	s := m.s
	if s == nil {
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		now, err := m.host.now(ctx, s)
		return func(m *Model) []effect {
			if err != nil || m.s != s {
				return nil
			}
			s.Window, s.Room = now.Window, now.Room
			return m.changed()
		}
	}}}
}

// modeName is a permission mode for people.
func modeName(md policy.Mode) string {
	switch md {
	case policy.Default:
		return "asks"
	case policy.AcceptEdits:
		return "accepts edits"
	case policy.PlanMode:
		return "plan mode"
	case policy.Auto:
		return "auto mode"
	case policy.DontAsk:
		return "refuses what it would ask"
	case policy.Bypass:
		return "asks nothing at all"
	}
	return string(md)
}

// modeAbout is what a permission mode does, where there is room to say it.
func modeAbout(md policy.Mode) string {
	switch md {
	case policy.PlanMode:
		return "reads only, then plans"
	case policy.Auto:
		return "a model says yes or no"
	case policy.Default, policy.AcceptEdits, policy.DontAsk, policy.Bypass: // the name says it
	}
	return modeName(md)
}

// changed is told when the status line may say something else.
func (m *Model) changed() []effect {
	if m.s == nil || m.s.UI.Status.Run == nil {
		return nil
	}
	m.line.changed = true
	if m.line.due.IsZero() || m.line.due.After(m.now.Add(statusWait)) {
		m.line.due = m.now.Add(statusWait)
	}
	return nil
}

// statusDue runs the person's command when it is time.
func (m *Model) statusDue() []effect {
	if m.s == nil || m.s.UI.Status.Run == nil {
		m.line.due = time.Time{}
		return nil
	}
	if m.line.running || m.line.due.After(m.now) || m.line.due.IsZero() && !m.line.changed {
		return nil
	}
	s, run := m.s, m.s.UI.Status
	in := m.statusInput()
	m.line.running, m.line.changed, m.line.due = true, false, time.Time{}
	return []effect{work{func(whole context.Context) func(*Model) []effect {
		ctx, stop := context.WithTimeout(whole, statusTime)
		defer stop()
		now := m.host.facts(ctx, s)
		if now.Transcript != "" {
			in["transcript_path"] = now.Transcript
		}
		if model := in["model"].(map[string]any); now.Model == model["id"] && now.Called != "" {
			model["display_name"] = now.Called
		}
		text, err := json.Marshal(in)
		if err != nil {
			return nil
		}
		out, err := run.Run(ctx, text)
		over := whole.Err() != nil // adze ends
		return func(m *Model) []effect {
			if m.s != s {
				return nil
			}
			m.line.running = false
			switch {
			case err == nil:
				m.line.text, m.line.padding, m.line.wrong = strings.TrimRight(out, "\n "), run.Padding, ""
			case !over && err.Error() != m.line.wrong: // once, until it works or fails otherwise
				m.line.wrong = err.Error()
				m.note("warning", "The status line's command failed: "+m.line.wrong, "adze config get statusLine.command shows it")
			}
			if m.line.changed {
				m.line.due = m.now.Add(statusWait)
			} else if run.Every > 0 {
				m.line.due = m.now.Add(run.Every)
			}
			return nil
		}
	}}}
}

// facts are the session as it is now, with the file of what happened by now in the
// published form; none when it cannot say.
func (h Host) facts(ctx context.Context, s *Session) ask.Facts {
	r, err := h.ask(ctx, s, ask.Status{Transcript: true})
	if err != nil {
		return ask.Facts{}
	}
	now, err := ask.Data[ask.Facts](r)
	if err != nil {
		return ask.Facts{}
	}
	return now
}

// limitsOf are rate limits by their names, as the command reads them.
func limitsOf(r event.ReplyStarted) map[string]any {
	out := map[string]any{}
	for _, l := range r.Limits {
		of := map[string]any{"used_percentage": math.Round(l.Used*1000) / 10}
		if l.Most > 0 {
			of["limit"], of["remaining"] = l.Most, l.Left
		}
		if !l.Resets.IsZero() {
			of["resets_at"] = l.Resets.Unix()
		}
		out[l.Name] = of
	}
	return out
}

// statusInput is what the command reads, in the published form, but for the transcript.
func (m *Model) statusInput() map[string]any {
	left := m.contextLeft()
	of := map[string]any{
		"context_window_size": m.s.Window, "total_input_tokens": m.st.Total.Usage.Prompt(), "total_output_tokens": m.st.Total.Usage.Out,
	}
	if left >= 0 {
		of["remaining_percentage"], of["used_percentage"] = left, 100-left
	}
	dir, root := cmp.Or(m.st.Dir, m.s.Dir), cmp.Or(m.st.Root, m.s.Root, m.s.Dir) // the log begins with the first prompt
	in := map[string]any{
		"hook_event_name": "Status", "session_id": m.s.ID, "session_name": m.st.Title, "cwd": dir, "version": m.host.Version,
		"model":     map[string]any{"id": m.st.Model, "display_name": shortModel(m.st.Model)},
		"workspace": map[string]any{"current_dir": dir, "project_dir": root},
		"cost": map[string]any{
			"total_cost_usd": m.st.Total.Cost, "total_api_duration_ms": m.st.Total.Took.Milliseconds(),
			"total_duration_ms": (m.line.before + m.now.Sub(m.line.since)).Milliseconds(), "total_lines_added": m.st.Added, "total_lines_removed": m.st.Removed,
		},
		"output_style":        map[string]any{"name": cmp.Or(m.st.Extensions.Style, "default")},
		"context_window":      of,
		"exceeds_200k_tokens": m.st.Gauge().Tokens > 200_000,
		"thinking":            map[string]any{"enabled": m.effort != noThinking},
		"permission_mode":     m.mode(),
	}
	if len(m.line.limits.Limits) > 0 {
		in["rate_limits"] = limitsOf(m.line.limits)
	}
	if name := m.box.VimMode().String(); name != "" {
		in["vim"] = map[string]any{"mode": name}
	}
	return in
}

// disarm: no key means more than it always does, and nothing says so.
func (s *status) disarm() {
	if s.armed.action != "" && s.flash.till.Equal(s.armed.till) {
		s.flash = flash{}
	}
	s.armed = armed{}
}

// expire takes away what was said, and armed, for a while that is over.
func (s *status) expire(now time.Time) {
	if !s.flash.till.IsZero() && !now.Before(s.flash.till) {
		s.flash = flash{}
	}
	if !s.armed.till.IsZero() && !now.Before(s.armed.till) {
		s.armed = armed{}
	}
}
