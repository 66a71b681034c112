package tui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/mention"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
)

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
			return nil
		}
	}}}
}
