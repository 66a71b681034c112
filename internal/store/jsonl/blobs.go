package jsonl

import (
	"fmt"
	"path/filepath"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/view"
)

// BlobsName is the folder of a session's large parts.
const BlobsName = "blobs"

func (o Options) blobs() blob.Folder {
	return blob.Folder{Path: filepath.Join(o.Dir, BlobsName), Open: o.Disk, Pack: true}
}

// Spill keeps a text whole; see store.Session.
func (l *Log) Spill(text string) (string, error) {
	name, err := l.blobs.Plain([]byte(text)) // a model reads it by its path
	if err != nil {
		return "", err
	}
	return l.blobs.Folder.At(name), nil
}

// Blobs implements store.Session. What they keep is on disk for good before a
// durable event that comes after it.
func (l *Log) Blobs() store.Blobs { return l.blobs }

// parseLine reads an event with its large parts. Where one is missing, a text
// says so.
func (s *scanner) parseLine(line []byte) (event.Event, error) {
	line, missing := blob.In(line, s.opt.blobs().Get)
	e, err := event.ParseLine(line)
	if missing > 0 {
		e.Body = without(e.Body)
	}
	return e, err
}

// gone stands for large parts whose files are missing or were changed.
func gone(what string) string {
	return fmt.Sprintf("[%s was here; its file is gone from the session's folder]", what)
}

// without puts texts in the place of large parts that are empty.
func without(b event.Body) event.Body {
	switch b := b.(type) {
	case event.InputAccepted:
		b.Images, b.Text = images(b.Images, b.Text)
		b.Attached = attached(b.Attached)
		return b
	case event.InputQueued:
		b.Images, b.Text = images(b.Images, b.Text)
		b.Attached = attached(b.Attached)
		return b
	case event.ToolFinished:
		b.Images, b.Text = images(b.Images, b.Text)
		b.View = shape(b.View)
		return b
	case event.Ran:
		b.View = shape(b.View)
		return b
	case event.Asked:
		b.View = shape(b.View)
		return b
	case event.Replied:
		for i, p := range b.Message.Parts {
			switch p := p.(type) {
			case llm.Image:
				if len(p.Data) == 0 {
					b.Message.Parts[i] = llm.Text{S: gone("an image")}
				}
			case llm.Document:
				if len(p.Data) == 0 {
					b.Message.Parts[i] = llm.Text{S: gone("the document " + p.Name)}
				}
			case llm.Text, llm.Thinking, llm.ToolUse, llm.ToolResult:
			}
		}
		return b
	default: // the others have no large parts
		return b
	}
}

func images(list []llm.Image, text string) ([]llm.Image, string) {
	var out []llm.Image
	for _, img := range list {
		if len(img.Data) > 0 {
			out = append(out, img)
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += gone("an image")
	}
	return out, text
}

func attached(list []event.Attached) []event.Attached {
	for i := range list {
		list[i].Images, list[i].Text = images(list[i].Images, list[i].Text)
	}
	return list
}

func shape(b view.Block) view.Block {
	switch b := b.(type) {
	case view.Image:
		if len(b.Data) == 0 {
			return view.Text{S: gone("an image")}
		}
	case view.Group:
		for i, x := range b.Blocks {
			b.Blocks[i] = shape(x)
		}
	default: // no other shape has any
	}
	return b
}
