package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// A List is what can complete what is typed, below the prompt box.
type List struct {
	Found []Found
	At    int
	Files bool
	Busy  bool // the files are not known yet
	Local int  // how many of Found are files; resources of MCP servers follow
	Moved bool // a person went to the marked one
	top   int
}

// Move marks another one, and reports whether the action does that.
func (l *List) Move(a keymap.Action) bool {
	n := len(l.Found)
	switch a {
	case keymap.AutocompletePrev:
		l.At = (l.At + n - 1) % max(n, 1)
	case keymap.AutocompleteNext:
		l.At = (l.At + 1) % max(n, 1)
	case keymap.AutocompletePageUp:
		l.At = max(0, l.At-8)
	case keymap.AutocompletePageDn:
		l.At = max(0, min(n-1, l.At+8))
	default:
		return false
	}
	l.Moved = true
	return true
}

// listRows bounds the rows of a list below the prompt box.
const listRows = 8

func (l *List) View(p Paper, rows int) []draw.Line {
	if l.Busy {
		return []draw.Line{draw.L(draw.S("  looking for files …", draw.Quiet))}
	}
	room := max(min(rows, listRows), 1)
	more := 0
	if n := len(l.Found); n > room && room > 2 {
		room--
		more = n - room
	}
	l.top = max(min(l.top, l.At), l.At-room+1)
	width := 0
	for _, f := range l.Found {
		if f.About != "" {
			width = max(width, draw.Width(f.Name))
		}
	}
	width = min(width, p.Cols()*2/5)
	var out []draw.Line
	for i := l.top; i < min(len(l.Found), l.top+room); i++ {
		f := l.Found[i]
		if f.About != "" && l.Files && i >= l.Local {
			f.Name = middle(p, f.Name, width) // addresses are told apart by their ends
		}
		if f.About != "" {
			f.fit(p, width)
		}
		out = append(out, p.choice(f, i, i == l.At, false, p.Cols()))
	}
	if more > 0 {
		out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %d more", p.Sign(draw.Ellipsis), more), draw.Quiet)))
	}
	return out
}

// middle is a name of at most width columns, without its middle where it is longer.
func middle(p Paper, name string, width int) string {
	if draw.Width(name) <= width {
		return name
	}
	cut := p.Sign(draw.Ellipsis)
	head := draw.L(draw.S(name, draw.Plain)).Truncate(max(width/3, 2), p.O)[0].Text
	tail := []rune(name)
	tail = tail[max(0, len(tail)-4*width):] // more never fits, whatever it combines
	for len(tail) > 0 && draw.Width(head+cut+string(tail)) > width {
		tail = tail[1:]
	}
	return head + cut + string(tail)
}

// fit makes the name of a choice as wide as the column of names. What stands at the
// right gives way to what the choice is about.
func (f *Found) fit(p Paper, width int) {
	name := draw.L(draw.S(f.Name, draw.Plain)).Truncate(width, p.O)
	if len(name) > 1 { // it was cut: what matched behind the cut is not shown
		f.At = slices.DeleteFunc(slices.Clone(f.At), func(i int) bool { return i >= len(name[0].Text) })
		f.Name = name[0].Text + name[1].Text
	}
	f.About = strings.Repeat(" ", max(0, width-name.Width())) + f.About
	room := p.Cols() - name.Width() - draw.Width(f.About) - 6
	if f.Right != "" && draw.Width(f.Right) > room {
		if f.Right = draw.L(draw.S(f.Right, draw.Plain)).Truncate(max(room, 1), p.O).String(); room < leastRight {
			f.Right = ""
		}
	}
}

// leastRight is how little of what stands at the right is worth its place.
const leastRight = 8
