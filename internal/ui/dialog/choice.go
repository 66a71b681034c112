package dialog

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// lead is what stands before answer i, and how it looks.
func (p Paper) lead(i int, marked bool) (draw.Span, draw.Role) {
	switch {
	case p.Plain:
		return draw.S(fmt.Sprintf("%d ", i+1), draw.Plain), draw.Plain
	case marked:
		return p.Mark(draw.Cursor, draw.Accent), draw.Selected
	}
	return draw.S("  ", draw.Plain), draw.Plain
}

// numbered is what stands before answer i, with the digit that marks it.
func (p Paper) numbered(i int, marked bool) (draw.Line, draw.Role) {
	lead, role := p.lead(i, marked)
	l := draw.L(lead)
	switch {
	case p.Plain: // it is there
	case i < 9:
		l = append(l, draw.S(fmt.Sprintf("%d ", i+1), draw.Quiet))
	default: // in line with the others
		l = append(l, draw.S("  ", draw.Plain))
	}
	return l, role
}

// narrowMenu is the width below which a choice keeps its name before what is known of it.
const narrowMenu = 60

// narrowed leaves out facts of a choice, the last first, and then the provider before a
// model's name, as far as the name needs their room.
func (p Paper) narrowed(f Found, room int) Found {
	if f.Now {
		room -= 2
	}
	for f.Right != "" && draw.Width(f.Name)+1+draw.Width(f.Right) > room {
		f.Right = f.Right[:max(0, strings.LastIndex(f.Right, "  "))]
	}
	if i := strings.IndexByte(f.Name, '/'); i > 1 && draw.Width(f.Name) > room && !strings.ContainsAny(f.Name, " (") {
		f.Name, f.At = p.Sign(draw.Ellipsis)+f.Name[i:], nil
	}
	return f
}

// choice draws one line of a menu. With digits, each has the digit that marks it.
func (p Paper) choice(f Found, i int, marked, digits bool, width int) draw.Line {
	lead, role := p.lead(i, marked)
	l := draw.L(lead)
	if digits {
		l, role = p.numbered(i, marked)
	}
	if f.Lead != "" {
		l = append(l, draw.S(f.Lead, draw.Quiet))
	}
	if width < narrowMenu {
		f = p.narrowed(f, width-l.Width())
	}
	name, from := draw.String(f.Name), 0
	if name == f.Name {
		for _, i := range f.At {
			if i < from || i >= len(name) {
				continue
			}
			if i > from {
				l = append(l, draw.Span{Text: name[from:i], Style: draw.Style{Role: role}})
			}
			end := i + 1
			for end < len(name) && name[end]&0xc0 == 0x80 {
				end++
			}
			l = append(l, draw.Span{Text: name[i:end], Style: draw.Style{Role: role, Attr: draw.Underline}})
			from = end
		}
	}
	l = append(l, draw.Span{Text: name[from:], Style: draw.Style{Role: role}})
	if f.Now {
		l = append(l, draw.S(" "+p.Sign(draw.Check), draw.OK))
	}
	if f.About != "" {
		l = append(l, draw.S("  "+f.About, draw.Quiet))
	}
	if f.Right == "" {
		return l.Truncate(width, p.O)
	}
	return draw.Beside(l, draw.L(draw.S(f.Right, draw.Quiet)), width, p.O)
}

// spelled is a choice with all that is known of it.
func (p Paper) spelled(c Choice, i int) draw.Line {
	l, role := p.numbered(i, false)
	l = append(l, draw.S(c.Lead+c.Name, role))
	if c.Now {
		l = append(l, draw.S(" "+p.Sign(draw.Check), draw.OK))
	}
	for _, s := range []string{c.About, c.Right} {
		if s != "" {
			l = append(l, draw.S("  "+s, draw.Quiet))
		}
	}
	return l
}
