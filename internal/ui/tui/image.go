package tui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/mention"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/picture"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of a picture in the conversation, in cells.
const (
	pictureCols = 72
	pictureRows = 16
)

// A placing is a figure among the lines that a frame prints.
type placing struct {
	at int
	story.Figure
}

// canvas is how this terminal shows pictures.
type canvas struct {
	on   bool // there are colours enough
	how  picture.Protocol
	cell term.Size // in pixels, zero when unknown
}

// depict has pictures made ready for an item. Until they are, it is not
// printed.
func (m *Model) depict(it *story.Item, pics ...[]byte) []effect {
	if !m.screen.canvas.on || m.screen.plain || it == nil {
		return nil
	}
	c, z := m.screen.canvas, m.screen.size
	cols, rows := min(pictureCols, z.Cols-6), min(pictureRows, z.Rows/2)
	if cols < 8 || rows < 3 {
		return nil
	}
	var out []effect
	for _, data := range pics {
		it.Drawing++
		out = append(out, work{func(context.Context) func(*Model) []effect {
			f, err := figureOf(data, c, cols, rows)
			return func(*Model) []effect {
				it.Drawing--
				if err == nil { // else its name has to do
					it.Figures = append(it.Figures, f)
				}
				return nil
			}
		}})
	}
	return out
}

func figureOf(data []byte, c canvas, cols, rows int) (story.Figure, error) {
	p, err := picture.Fit(data, cols, rows, c.cell.Cols, c.cell.Rows)
	if err != nil {
		return story.Figure{}, err
	}
	f := story.Figure{Lines: draw.Indent(p.Lines(), draw.S("    ", draw.Plain))}
	if c.how == picture.HalfBlocks {
		return f, nil
	}
	if f.Seq, err = p.Bytes(c.how); err == nil {
		f.Seq = append([]byte("\x1b[4C"), f.Seq...) // as far in as the lines
	}
	return f, err
}

// pictured are the pictures that an event brings.
func (m *Model) pictured(b event.Body) []effect {
	it, pics := m.picturesOf(b)
	return m.depict(it, pics...)
}

func (v *conversation) picturesOf(b event.Body) (it *story.Item, pics [][]byte) {
	switch b := b.(type) {
	case event.InputAccepted:
		if len(b.Images) == 0 || b.Hidden {
			return nil, nil
		}
		for _, img := range b.Images {
			pics = append(pics, img.Data)
		}
		return v.story.Items[len(v.story.Items)-1], pics
	case event.ToolFinished:
		if img, ok := b.View.(view.Image); ok {
			if i := v.story.Find(b.Call); i >= v.story.Printed {
				return v.story.Items[i], [][]byte{img.Data}
			}
		}
	default: // no other brings any
	}
	return nil, nil
}

// pastPictures is how many pictures of an earlier run are drawn, the newest.
const pastPictures = 8

// hung is a picture of an earlier run, until it is known which ones are shown.
type hung struct {
	it   *story.Item
	data []byte
}

// hang keeps the newest pictures of an earlier run.
func (v *conversation) hang(b event.Body) {
	it, pics := v.picturesOf(b)
	for _, data := range pics {
		v.hung = append(v.hung, hung{it, data})
	}
	v.hung = v.hung[clampLow(len(v.hung)-pastPictures):]
}

// unveil has those of them drawn that are put on the screen again.
func (m *Model) unveil() (out []effect) {
	items := m.story.Items[clampLow(len(m.story.Items)-recent):]
	for _, h := range m.hung {
		if h.it.Back == 0 && slices.Contains(items, h.it) {
			out = append(out, m.depict(h.it, h.data)...)
		}
	}
	m.hung = nil
	return out
}

// pictures are the ends of files that are attached as pictures.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// drop takes files that were dragged onto the terminal: a picture is attached,
// any other file is named.
func (m *Model) drop(paths []string) []effect {
	var out []effect
	for _, p := range paths {
		name := mention.Mention{Path: p}.String() + " "
		if m.host.Picture == nil || !slices.Contains(pictures, strings.ToLower(filepath.Ext(p))) {
			m.box.Insert(name)
			continue
		}
		out = append(out, work{func(ctx context.Context) func(*Model) []effect {
			img, err := m.host.Picture(ctx, p)
			return func(m *Model) []effect {
				if err != nil { // the model can still be told its name
					m.box.Insert(name)
					m.say(filepath.Base(p)+" is not attached: "+err.Error(), draw.Attention)
					return m.edited()
				}
				m.box.Attach(edit.Image{Name: filepath.Base(p), MediaType: img.Media, Data: img.Data})
				m.box.Insert(" ")
				m.drafting()
				return m.edited()
			}
		}})
	}
	return append(m.edited(), out...)
}

// image puts the clipboard's picture into the prompt.
func (m *Model) image() []effect {
	if m.host.Image == nil {
		m.say("pictures cannot be read from the clipboard here", draw.Quiet)
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		img, err := m.host.Image(ctx)
		return func(m *Model) []effect {
			if err != nil {
				m.say(err.Error(), draw.Quiet)
				return nil
			}
			m.box.Attach(edit.Image{MediaType: img.Media, Data: img.Data})
			m.drafting()
			return nil
		}
	}}}
}
