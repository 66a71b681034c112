package tui

import (
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A sheet shows text until it is closed.
type sheet struct {
	heading string
	lines   func(m *Model, p paper, width int) []draw.Line
	off     reading
	hint    string                                        // beside how to close it
	follows bool                                          // what is added at the end is seen
	above   bool                                          // it was opened from a dialog
	letter  func(m *Model, k keymap.Key) ([]effect, bool) // keys of this sheet alone; nil: it has none
}

func (d *sheet) asks() bool { return false }
func (d *sheet) rank() rank {
	if d.above {
		return rankHelp
	}
	return rankMenu
}
func (d *sheet) in() []keymap.Context      { return []keymap.Context{keymap.Help, keymap.Transcript} }
func (d *sheet) paste(*Model, string) bool { return false }

func (d *sheet) view(m *Model, p paper, rows int) ([]draw.Line, term.Cursor) {
	cols := min(m.screen.size.Cols, story.TextCols)
	if d.follows {
		d.off.at = theEnd
	}
	lines := p.scrolled(d.lines(m, p, clampLow(cols-4)), &d.off, max(rows-2, 2))
	return p.boxed(lines, draw.BorderQuiet, cols, draw.L(draw.Span{Text: draw.String(d.heading), Style: draw.Style{Attr: draw.Bold}}),
		draw.L(draw.S(d.hint+"Esc closes", draw.Quiet))), term.Cursor{Hidden: true}
}

func (d *sheet) act(m *Model, a keymap.Action) ([]effect, bool) {
	switch a {
	case keymap.TranscriptUp, keymap.TranscriptPageUp, keymap.TranscriptTop:
		d.follows = false
	}
	switch a {
	case keymap.HelpDismiss, keymap.TranscriptExit, keymap.Interrupt:
		m.close(d)
	case keymap.TranscriptDown:
		d.off.at++
	case keymap.TranscriptUp:
		d.off.at = clampLow(d.off.at - 1)
	case keymap.TranscriptPageDown:
		d.off.page(1)
	case keymap.TranscriptPageUp:
		d.off.page(-1)
	case keymap.TranscriptTop:
		d.off.at = 0
	case keymap.TranscriptBottom:
		d.off.at = theEnd
	default:
		return nil, false
	}
	return nil, true
}

func (d *sheet) typed(m *Model, k keymap.Key) []effect {
	if d.letter != nil {
		out, _ := d.letter(m, k)
		return out
	}
	return nil
}
