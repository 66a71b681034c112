package edit

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
)

// A Chip is a piece of the prompt that is shown as a label and edited as one
// character: a long paste or an attached image.
type Chip struct {
	Label string
	Text  string // of a paste
	Image *Image // of an image
}

// An Image is an attachment. The editor does not look into it.
type Image struct {
	Name      string // of the file, or ""
	MediaType string
	Data      []byte
}

// What is folded when nothing else is set: more lines or more characters.
const (
	defaultFoldLines = 8
	defaultFoldRunes = 1000
)

// sanitize makes pasted text fit to be edited: newlines are \n, and escape
// sequences, controls and unseen characters go.
func sanitize(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return clip.Clean(s)
}

// runes are the characters of a text from outside, which holds no chips.
func runes(s string) []rune { return []rune(s) }

// pasteLabel is the placeholder of a paste.
func pasteLabel(s string) string {
	if n := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1; n > 1 {
		return fmt.Sprintf("[Pasted %d lines]", n)
	}
	return fmt.Sprintf("[Pasted %d characters]", runeCount(s))
}

// addChip keeps a chip, with a label that no other has, and returns its rune.
func (t *text) addChip(c Chip) rune {
	base := strings.TrimSuffix(c.Label, "]")
	for n := 2; t.labelled(c.Label); n++ {
		c.Label = fmt.Sprintf("%s #%d]", base, n)
	}
	c.Label = draw.String(c.Label)
	t.chips = append(t.chips, c)
	return chipBase + rune(len(t.chips)-1)
}

func (t *text) labelled(label string) bool {
	for _, c := range t.chips {
		if c.Label == label {
			return true
		}
	}
	return false
}

func (t *text) chip(r rune) (Chip, bool) {
	if !isChip(r) {
		return Chip{}, false
	}
	return t.chips[r-chipBase], true
}

// expand writes runes as text: chips as what they stand for, or as labels.
func (t *text) expand(rs []rune, labels bool) string {
	var b strings.Builder
	b.Grow(len(rs))
	for _, r := range rs {
		c, ok := t.chip(r)
		switch {
		case !ok:
			b.WriteRune(r)
		case labels || c.Image != nil:
			b.WriteString(c.Label)
		default:
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// fromEntry makes the runes of an entry of the history, with its pastes folded
// again.
func (t *text) fromEntry(e history.Entry) []rune {
	s := sanitize(e.Text)
	var out []rune
	for s != "" {
		at, found := len(s), history.Paste{}
		for _, p := range e.Pastes {
			if i := strings.Index(s, p.Label); p.Label != "" && i >= 0 && i < at {
				at, found = i, p
			}
		}
		out = append(out, runes(s[:at])...)
		if found.Label != "" {
			out = append(out, t.chipFor(Chip{Label: found.Label, Text: sanitize(found.Text)}))
		}
		s = s[at+len(found.Label):]
	}
	return out
}

// chipFor is the rune of an equal chip that is there, or of a new one.
func (t *text) chipFor(c Chip) rune {
	for i, o := range t.chips {
		if o.Label == c.Label && o.Text == c.Text && o.Image == nil {
			return chipBase + rune(i)
		}
	}
	return t.addChip(c)
}
