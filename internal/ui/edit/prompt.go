package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/ui/history"
)

// A Mode is what Enter will do with the prompt.
type Mode uint8

// The modes, by the first character.
const (
	Chat       Mode = iota
	Shell           // !
	Memory          // #
	Background      // &
	Command         // / and a word
)

// Mode is chosen by the first character, when somebody typed it.
func (e *Editor) Mode() Mode {
	if e.t.len() == 0 || e.literal {
		return Chat
	}
	switch e.t.r[0] {
	case '!':
		return Shell
	case '#':
		return Memory
	case '&':
		return Background
	case '/':
		if commandName(e.t.r) {
			return Command
		}
	}
	return Chat
}

// commandName: the text begins like a command and not like a path or a comment.
func commandName(rs []rune) bool {
	for i, r := range rs[1:] {
		switch {
		case unicode.IsSpace(r):
			return i > 0
		case r == '/' || r == '*' && i == 0:
			return false
		}
	}
	return true
}

// A Prompt is what was entered.
type Prompt struct {
	Mode   Mode
	Text   string // pastes unfolded; with the mode's character
	Shown  string // pastes folded
	Pastes []history.Paste
	Images []Image // in the order of their labels in Text
	// Foreign: nobody typed it here. A program had it wait.
	Foreign bool
}

// Body is the text without the character that chose the mode, and without the
// blanks around it.
func (p Prompt) Body() string {
	if p.Mode != Chat && p.Text != "" {
		return strings.TrimSpace(p.Text[1:])
	}
	return strings.TrimSpace(p.Text)
}

// Entry is the prompt as the history keeps it; project, session and time are
// the caller's to add.
func (p Prompt) Entry() history.Entry { return history.Entry{Text: p.Shown, Pastes: p.Pastes} }

// Prompt is what is entered now.
func (e *Editor) Prompt() Prompt {
	p := Prompt{Mode: e.Mode(), Text: e.Text(), Shown: e.Shown()}
	seen := map[rune]bool{}
	for _, r := range e.t.r {
		c, ok := e.t.chip(r)
		switch {
		case !ok || seen[r]:
		case c.Image != nil:
			p.Images = append(p.Images, *c.Image)
		default:
			p.Pastes = append(p.Pastes, history.Paste{Label: c.Label, Text: c.Text})
		}
		seen[r] = true
	}
	return p
}

// Take returns the prompt and empties the box for the next one; undo begins
// anew. What is stashed stays.
func (e *Editor) Take() Prompt {
	p := e.Prompt()
	e.undo = undo{}
	if len(e.stash) == 0 {
		e.t = newText()
	} else {
		e.t.replace(0, e.t.len(), nil) // the stash still refers to chips
	}
	e.at, e.anchor, e.goal, e.literal, e.top = 0, -1, -1, false, rowAt{}
	e.past, e.given = past{}, nil
	if e.vim != nil {
		e.vim.submitted()
	}
	return p
}

// Restore puts a prompt back into the box, in front of what is there: one that
// was queued and is edited again, or that could not be sent. Where the box was empty, a
// "/" that is typed at once begins a command, for which the prompt steps aside.
func (e *Editor) Restore(p Prompt) {
	e.step(doOther)
	defer e.closeStep()
	entry := p.Entry()
	rs := e.t.fromEntry(entry)
	rs = e.t.withImages(rs, p.Images)
	if e.t.len() > 0 {
		rs = append(rs, '\n')
	}
	if e.given = nil; e.t.len() == 0 {
		e.given = slices.Clone(rs)
	}
	e.change(0, 0, rs)
	e.at, e.anchor, e.goal, e.literal = e.at+len(rs), -1, -1, false
	if p.Mode == Chat && len(rs) > 0 {
		e.literal = rs[0] == '!' || rs[0] == '#' || rs[0] == '&'
	}
}

// withImages puts images in the place of the labels they had.
func (t *text) withImages(rs []rune, images []Image) []rune {
	s := string(rs) // chips become U+FFFD here: only used to see whether labels are there
	if len(images) == 0 || !strings.Contains(s, "[Image ") {
		for i := range images {
			rs = append(rs, t.addChip(Chip{Label: t.imageLabel(), Image: &images[i]}))
		}
		return rs
	}
	var out []rune
	n := 0
	for i := 0; i < len(rs); {
		if end := imageAt(rs, i); end > 0 && n < len(images) {
			out = append(out, t.addChip(Chip{Label: t.imageLabel(), Image: &images[n]}))
			n++
			i = end
			continue
		}
		out = append(out, rs[i])
		i++
	}
	for ; n < len(images); n++ {
		out = append(out, t.addChip(Chip{Label: t.imageLabel(), Image: &images[n]}))
	}
	return out
}

// imageLabel is the label of the next image.
func (t *text) imageLabel() string {
	n := 1
	for _, c := range t.chips {
		if c.Image != nil {
			n++
		}
	}
	return fmt.Sprintf("[Image %d]", n)
}

// imageAt is the end of a label "[Image 3]" that starts at i, or 0.
func imageAt(rs []rune, i int) int {
	const head = "[Image "
	if len(rs)-i < len(head)+2 || string(rs[i:i+len(head)]) != head {
		return 0
	}
	j := i + len(head)
	for j < len(rs) && rs[j] >= '0' && rs[j] <= '9' {
		j++
	}
	if j == i+len(head) || j == len(rs) || rs[j] != ']' {
		return 0
	}
	return j + 1
}
