package term

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
	uv "github.com/charmbracelet/ultraviolet"
)

const (
	pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"
	// maxPaste bounds one paste; what is beyond arrives as another.
	maxPaste = 16 << 20
	// behindWait is how long what comes behind a paste may be a part of it, and behindKeys
	// how many bytes keys have that somebody pressed there: those wait for escWait.
	behindWait = 250 * time.Millisecond
	behindKeys = 16
	// maxSequence bounds what is kept of a sequence that does not end.
	maxSequence = 1 << 16
)

// decoder turns bytes from a terminal into events. Ultraviolet knows what a
// sequence means; where one ends is decided here, so that half a sequence
// waits and a paste is never read as keys.
type decoder struct {
	buf     []byte
	pasting bool
	behind  bool // a paste has just ended, or seemed to
	scanned int  // bytes of buf that hold no end of the paste
	keys    uv.EventDecoder
}

// feed returns the events of b and of what was left before it.
func (d *decoder) feed(b []byte) []uv.Event {
	d.buf = append(d.buf, b...)
	return d.drain(false)
}

// expire returns the events of what is left, when no more bytes came for a
// while: half a sequence was a key then.
func (d *decoder) expire() []uv.Event {
	if d.behind { // so what came behind the paste are keys
		d.behind = false
		return d.drain(false)
	}
	return d.drain(true)
}

// waits is how long to wait for more before expire decides about the bytes that
// are left; 0 when there are none that time can tell about.
func (d *decoder) waits() time.Duration {
	switch {
	case d.behind && (len(d.buf) == 0 || len(d.buf) > behindKeys):
		return behindWait
	case d.behind:
		return escWait
	case len(d.buf) == 0 || d.pasting:
		return 0
	case len(d.buf) < 2 || d.buf[0] != 0x1b:
		return escWait
	case strings.IndexByte("[]O", d.buf[1]) >= 0: // CSI, OSC, SS3
		return begunWait
	case len(d.buf) > 2 && strings.IndexByte("P_", d.buf[1]) >= 0: // DCS, APC; before it was Alt and a key
		return begunWait
	}
	return escWait
}

func (d *decoder) drain(expired bool) []uv.Event {
	var out []uv.Event
	for len(d.buf) > 0 {
		if d.pasting {
			text, ok := d.paste()
			if !ok {
				return out
			}
			out = append(out, uv.PasteEvent{Content: text})
			continue
		}
		if d.behind {
			text, ok := d.rest()
			if !ok {
				return out
			}
			if text != "" {
				out = append(out, uv.PasteEvent{Content: text})
			}
			continue
		}
		n, whole := sequence(d.buf)
		if !whole {
			if !expired && len(d.buf) < maxSequence {
				return out
			}
			n = d.torn()
		}
		seq := d.buf[:n]
		if string(seq) == pasteStart {
			d.pasting, d.scanned = true, 0
		} else {
			out = append(out, d.decode(seq)...)
		}
		d.buf = d.buf[n:]
	}
	if !d.pasting {
		d.buf = nil
	}
	return out
}

// rest returns what came right behind the end of a paste and has another end behind it: the
// pasted text held the first one itself, so that the rest of it would be keys, which
// could send it. Terminals take such ends out, most of them.
func (d *decoder) rest() (string, bool) {
	i := bytes.LastIndex(d.buf, []byte(pasteEnd))
	if i < 0 && len(d.buf) < maxPaste {
		return "", false
	}
	text := d.buf
	if d.buf = nil; i >= 0 {
		text, d.buf = text[:i], text[i+len(pasteEnd):]
	}
	return pasted(strings.NewReplacer(pasteStart, "", pasteEnd, "").Replace(string(text))), true
}

// torn returns how much of the buffer is a key, when it begins with half a
// sequence that will not go on: Esc, Alt and a key, or something that types
// nothing.
func (d *decoder) torn() int {
	switch b := d.buf; {
	case len(b) < 3 && b[0] == 0x1b && (len(b) == 1 || b[1] != 0x1b):
		return len(b)
	case b[0] == 0x1b && b[1] == 0x1b:
		return 1
	case b[0] == 0x1b && stringBegins(b[1]) && len(b) <= typedStart: // Alt and a key, and what was typed after it
		return 2
	case b[0] == 0x1b:
		d.buf = append(d.buf[:0], 0)
	}
	return 1
}

// decode returns the events of one whole sequence.
func (d *decoder) decode(seq []byte) []uv.Event {
	var out []uv.Event
	for len(seq) > 0 {
		n, ev := d.keys.Decode(seq)
		if n <= 0 {
			break
		}
		switch ev := ev.(type) {
		case nil:
		case uv.MultiEvent:
			out = append(out, ev...)
		default:
			out = append(out, ev)
		}
		seq = seq[n:]
	}
	return out
}

// paste returns the text up to the end of the paste.
func (d *decoder) paste() (string, bool) {
	from := max(d.scanned-len(pasteEnd), 0)
	i := bytes.Index(d.buf[from:], []byte(pasteEnd))
	if i < 0 && len(d.buf) < maxPaste {
		d.scanned = len(d.buf)
		return "", false
	}
	end := len(d.buf)
	if i >= 0 {
		end = from + i
		d.pasting, d.behind = false, true
	}
	text := string(d.buf[:end])
	d.buf, d.scanned = d.buf[end:], 0
	if i >= 0 {
		d.buf = d.buf[len(pasteEnd):]
	}
	return pasted(text), true
}

// pasted returns text with "\n" as its line end and without controls.
func pasted(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return clip.Clean(s)
}

// sequence returns the length of the key, character or escape sequence that b
// begins with, and whether all of it is there.
func sequence(b []byte) (int, bool) {
	if b[0] != 0x1b {
		if b[0] < utf8.RuneSelf {
			return 1, true
		}
		if !utf8.FullRune(b) {
			return len(b), false
		}
		_, n := utf8.DecodeRune(b)
		return n, true
	}
	if len(b) == 1 {
		return 1, false
	}
	switch b[1] {
	case '[':
		return csiSequence(b)
	case 'O', 'N':
		if len(b) < 3 {
			return len(b), false
		}
		return 3, true
	case ']', 'P', '_', '^', 'X':
		if len(b) > 2 && !answers(b[1], b[2]) {
			return 2, true // Alt and a key
		}
		return stringSequence(b)
	case 0x1b:
		n, whole := sequence(b[1:])
		if whole && n == 1 {
			return 1, true
		}
		return n + 1, whole
	}
	n, whole := sequence(b[1:]) // Alt and a key
	return n + 1, whole
}

// typedStart is how long something that may begin an answer of the terminal is at
// most, to be taken for keys when nothing follows it.
const typedStart = 4

// stringBegins reports whether ESC and c begin a string for or from terminals. They
// are also what Alt and c send.
func stringBegins(c byte) bool { return strings.IndexByte("]P_^X", c) >= 0 }

// answers reports whether a string that a terminal sends can begin so: it answers
// with numbers (colours, settings, its name), or kitty about pictures.
func answers(kind, first byte) bool {
	switch kind {
	case ']':
		return first >= '0' && first <= '9'
	case 'P':
		return first >= '0' && first <= '9' || first == '>' || first == '!' || first == '$'
	case '_':
		return first == 'G'
	}
	return false
}

func csiSequence(b []byte) (int, bool) {
	if len(b) > 2 && b[2] == 'M' { // a mouse of old: three bytes follow
		return 6, len(b) >= 6
	}
	if len(b) > 3 && b[2] == '[' { // a function key of the Linux console
		return 4, true
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x40 && c <= 0x7e && (c != '[' || i > 2):
			return i + 1, true
		case c < 0x20 || c > 0x7e:
			return i, true // not a sequence after all
		}
	}
	return len(b), false
}

func stringSequence(b []byte) (int, bool) {
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] == 0x07:
			return i + 1, true
		case b[i] == 0x1b && i+1 < len(b):
			if b[i+1] == '\\' {
				return i + 2, true
			}
			return i, true
		}
	}
	if len(b) == 2 || len(b) == 3 && b[1] != ']' { // Alt+] and the like
		return 2, false
	}
	return len(b), false
}

// key returns k as a Key, and false for what is no key press.
func key(k uv.Key) (Key, bool) {
	var out Key
	for _, m := range [...]struct {
		theirs uv.KeyMod
		ours   Mod
	}{{uv.ModShift, Shift}, {uv.ModAlt, Alt}, {uv.ModMeta, Alt}, {uv.ModCtrl, Ctrl}, {uv.ModSuper, Super}} {
		if k.Mod&m.theirs != 0 {
			out.Mod |= m.ours
		}
	}
	if out.Mod&^Shift == 0 && k.Text != "" && typed(k.Text) {
		out.Text = k.Text
		out.Mod &^= Shift
		if out.Name = k.Text; k.Text == " " {
			out.Name = "space"
			if k.Mod&uv.ModShift != 0 {
				out.Mod |= Shift
			}
		}
		return out, true
	}
	if k.Code == 0 {
		return out, false
	}
	out.Name = uv.Key{Code: k.Code}.Keystroke()
	return out, out.Name != "" && !modifier(out.Name)
}

func typed(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// modifier reports whether a key is one of those that do nothing alone.
func modifier(name string) bool {
	for _, m := range [...]string{"shift", "alt", "ctrl", "super", "hyper", "meta", "capslock", "numlock", "scrolllock", "isolevel"} {
		if strings.Contains(name, m) && !strings.Contains(name, "+") {
			return true
		}
	}
	return false
}
