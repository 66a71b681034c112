package export

import (
	"encoding/base64"
	"fmt"
	"html"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of the pictures in a page, in bytes of their files.
const (
	maxPicture  = 4 << 20
	maxPictures = 24 << 20 // of all of them
)

// pictures are those of a session, by the prompts and calls they belong to. The room is
// that of the page.
type pictures struct {
	of   map[string][]picture
	room *int
}

// A picture without data says why it has none.
type picture struct {
	media, alt string
	data       []byte
	why        string
}

// collect keeps the pictures of an event, as far as there is room. What is in them is
// not masked: it is no text.
func (p *pictures) collect(b event.Body) {
	switch b := b.(type) {
	case event.InputAccepted:
		for i, img := range b.Images {
			p.add(b.ID, picture{media: img.Media, alt: fmt.Sprintf("image %d of the prompt", i+1), data: img.Data})
		}
	case event.ToolFinished:
		images := b.Images
		if v, ok := b.View.(view.Image); ok {
			images = []llm.Image{{Media: v.Media, Data: v.Data}}
		}
		for _, img := range images {
			p.add(b.Call, picture{media: img.Media, alt: "image of a result", data: img.Data})
		}
	default: // no other event has pictures
	}
}

func (p *pictures) add(id string, pic picture) {
	switch {
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, pic.media):
		pic.why = "no browser shows its kind"
	case len(pic.data) == 0:
		pic.why = "its file is gone"
	case len(pic.data) > maxPicture:
		pic.why = "it has " + clip.Size(int64(len(pic.data)))
	case len(pic.data) > *p.room:
		pic.why = "the page has too many already"
	default:
		*p.room -= len(pic.data)
	}
	if pic.why != "" {
		pic.data = nil
	}
	p.of[id] = append(p.of[id], pic)
}

// take returns the pictures of an item.
func (p *pictures) take(it *story.Item) []picture {
	if it.Kind == story.Said {
		return p.of[it.ID]
	}
	var out []picture
	for _, c := range it.Calls {
		out = append(out, p.of[c.ID]...)
	}
	return out
}

func (p picture) html() string {
	if p.why != "" {
		return fmt.Sprintf(`<p class="nopic">[%s is not in the page: %s]</p>`, html.EscapeString(p.alt), html.EscapeString(p.why))
	}
	return fmt.Sprintf(`<img alt="%s" src="data:%s;base64,%s">`, html.EscapeString(p.alt), p.media, base64.StdEncoding.EncodeToString(p.data))
}
