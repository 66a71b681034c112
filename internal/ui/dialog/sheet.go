package dialog

import (
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A Sheet shows text until it is closed. Where lines are printed, that is at once.
type Sheet struct {
	Heading string
	Lines   func(p Paper, width int) []draw.Line
	Off     Reading
	Hint    string // beside how to close it
	Follows bool   // what is added at the end is seen
	Above   bool   // it was opened from a dialog
	Letters string // keys of this sheet alone: see Own
}

// Kind says that it stands above all, where it was opened from a dialog.
func (d *Sheet) Kind() Kind {
	if d.Above {
		return Kind{Rank: RankHelp}
	}
	return Kind{Rank: RankMenu}
}

func (d *Sheet) In() []keymap.Context     { return []keymap.Context{keymap.Help, keymap.Transcript} }
func (d *Sheet) Paste(string) bool        { return false }
func (d *Sheet) Poll(Ctx) Poll            { return Poll{Read: true} }
func (d *Sheet) Take(Ctx, Reply) []Effect { return nil }

func (d *Sheet) View(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	cols := min(c.O.Width, story.TextCols)
	if d.Follows {
		d.Off.End()
	}
	lines := c.Scrolled(d.Lines(c.Paper, max(cols-4, 0)), &d.Off, max(rows-2, 2))
	return c.Boxed(lines, draw.BorderQuiet, cols, draw.L(draw.Span{Text: draw.String(d.Heading), Style: draw.Style{Attr: draw.Bold}}),
		draw.L(draw.S(d.Hint+"Esc closes", draw.Quiet))), term.Cursor{Hidden: true}
}

func (d *Sheet) Act(_ Ctx, a keymap.Action) ([]Effect, bool) {
	switch a {
	case keymap.TranscriptUp, keymap.TranscriptPageUp, keymap.TranscriptTop:
		d.Follows = false
	}
	switch a {
	case keymap.HelpDismiss, keymap.TranscriptExit, keymap.Interrupt:
		return []Effect{Dropped{}}, true
	case keymap.TranscriptDown:
		d.Off.at++
	case keymap.TranscriptUp:
		d.Off.at = max(d.Off.at-1, 0)
	case keymap.TranscriptPageDown:
		d.Off.page(1)
	case keymap.TranscriptPageUp:
		d.Off.page(-1)
	case keymap.TranscriptTop:
		d.Off.at = 0
	case keymap.TranscriptBottom:
		d.Off.End()
		d.Follows = true
	default:
		return nil, false
	}
	return nil, true
}

func (d *Sheet) digits(Ctx) int         { return 0 }
func (d *Sheet) pick(Ctx, int) []Effect { return nil }

func (d *Sheet) write(_ Ctx, k keymap.Key) []Effect {
	if k.Text != "" && strings.Contains(d.Letters, k.Text) {
		return []Effect{Own{}}
	}
	return nil
}
