package cli

import (
	"fmt"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A painter colours what commands print. On anything but a terminal, and where
// NO_COLOR is set, it leaves texts as they are.
type painter struct {
	theme   *draw.Theme
	profile draw.Profile
}

// painter is for stdout. It uses the terminal's own sixteen colours, because
// nothing here waits to hear what the background is.
func (s System) painter() painter {
	return s.painterOf(s.OutTTY)
}

func (s System) painterOf(tty bool) painter {
	theme, _ := draw.Named("ansi", true)
	p := painter{theme: theme}
	if tty {
		p.profile = term.ProfileOf(s.Env)
	}
	switch d := p.profile.Depth; {
	case d == draw.Mono:
		p.profile.Depth = draw.Bare
	case d > draw.Colors16:
		p.profile.Depth = draw.Colors16
	}
	return p
}

// paint gives a text the colours of a role. It must have no line feed.
func (p painter) paint(r draw.Role, text string) string {
	if p.profile.Depth == draw.Bare {
		return text
	}
	return string(p.theme.Append(nil, draw.L(draw.S(text, r)), p.profile))
}

// cell is paint with blanks up to a width, outside of the colours.
func (p painter) cell(r draw.Role, text string, width int) string {
	return p.paint(r, text) + strings.Repeat(" ", max(0, width-draw.Width(text)))
}

// lines are drawn lines as text, each with its end.
func (p painter) lines(ls []draw.Line) string {
	var b strings.Builder
	for _, l := range ls {
		if p.profile.Depth == draw.Bare {
			b.WriteString(strings.TrimRight(l.String(), " "))
		} else {
			b.Write(p.theme.Append(nil, l, p.profile))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// columns is how wide what a command draws may be.
func (s System) columns() int {
	if n := s.asked(); n > 0 {
		return n
	}
	tty := s.Stdout.File
	stderr := s.Stderr
	if a, ok := stderr.(*above); ok {
		stderr = a.to
	}
	if err, ok := stderr.(*os.File); ok && !s.OutTTY && s.ErrTTY {
		tty = err
	}
	if cols, _, err := xterm.GetSize(int(tty.Fd())); err == nil && (s.OutTTY || s.ErrTTY) && cols > 0 {
		return cols
	}
	return 80
}

// diff colours a unified diff.
func (p painter) diff(path, unified string) string {
	return fmt.Sprintf("%s\n%s\n%s", p.paint(draw.Heading, "--- "+path), p.paint(draw.Heading, "+++ "+path), p.marked(unified))
}

// marked colours lines by their first character, as diffs have it.
func (p painter) marked(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		role := draw.Plain
		switch line[0] {
		case '+':
			role = draw.OK
		case '-':
			role = draw.Wrong
		case '@':
			role = draw.Hunk
		}
		b.WriteString(p.paint(role, shown(line)) + "\n")
	}
	return b.String()
}

// effectRole is how a verdict looks: allow, ask, deny.
func effectRole(effect string) draw.Role {
	switch effect {
	case "allow":
		return draw.OK
	case "deny":
		return draw.Wrong
	}
	return draw.Attention
}
