// Package keymap owns what keys mean: their names, the contexts and actions
// they can be bound to, the defaults, keybindings.json, and chords. It is pure:
// it reads no terminal, no file and no clock, and runs no action.
package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mod is a set of modifier keys.
type Mod uint8

// The modifiers, in the order in which a name spells them.
const (
	Ctrl Mod = 1 << iota
	Alt
	Shift
	Super
)

var modNames = []struct {
	mod  Mod
	name string
}{{Ctrl, "ctrl"}, {Alt, "alt"}, {Shift, "shift"}, {Super, "super"}}

// A Key is one press. Two presses are the same key when Name and Mod are equal;
// Text is what the press types, "" for nothing.
//
// Keys are normal: a printable key without Ctrl, Alt and Super is named by what
// it types and has no Shift ("G", "?"); with them, a letter is lower case and
// Shift is a modifier ("alt+shift+p").
type Key struct {
	Name string
	Mod  Mod
	Text string
}

// named are the keys that have a word for a name.
var named = []string{
	"enter", "tab", "esc", "space", "backspace", "delete", "insert",
	"up", "down", "left", "right", "home", "end", "pgup", "pgdown",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

var aliases = map[string]string{
	"escape": "esc", "return": "enter", "del": "delete", "ins": "insert", "pageup": "pgup", "pagedown": "pgdown",
	"page_up": "pgup", "page_down": "pgdown", "bs": "backspace", "plus": "+", "minus": "-",
	"control": "ctrl", "option": "alt", "opt": "alt", "meta": "alt", "cmd": "super", "command": "super", "win": "super", "windows": "super",
}

// Of makes a key of the name that a terminal's decoder gives it ("ctrl+x",
// "shift+tab", "G") and the text it types. A name it does not know is kept as it
// is, so that an unknown key is only a key that nothing is bound to.
func Of(stroke, text string) Key {
	k, err := ParseKey(stroke)
	if err != nil {
		k = Key{Name: stroke}
	}
	if k.Mod&(Ctrl|Alt|Super) == 0 {
		if text != "" && k.printable() {
			// A layout may type something else than the key's own sign.
			k = Rune(text)
		} else if k.Name == "space" {
			k.Text = " "
		}
	}
	return k
}

// Rune is the key that types text, one or more characters.
func Rune(text string) Key {
	if text == " " {
		return Key{Name: "space", Text: " "}
	}
	return Key{Name: text, Text: text}
}

// ParseKey reads the name of one key: modifiers and a key, joined with "+". Case
// counts for a single letter alone ("G"), and nowhere else.
func ParseKey(s string) (Key, error) {
	if s == "" {
		return Key{}, fmt.Errorf("a key has no name")
	}
	var k Key
	rest := s
	for {
		i := strings.IndexByte(rest, '+')
		if i <= 0 || i == len(rest)-1 { // "+" itself, or the last part
			break
		}
		m, ok := modifier(rest[:i])
		if !ok {
			return Key{}, fmt.Errorf("%q is no modifier (ctrl, alt, shift, super)", rest[:i])
		}
		if k.Mod&m != 0 {
			return Key{}, fmt.Errorf("%q names %s twice", s, strings.ToLower(rest[:i]))
		}
		k.Mod |= m
		rest = rest[i+1:]
	}
	name := strings.ToLower(rest)
	if a, ok := aliases[name]; ok {
		name = a
	}
	switch {
	case slices.Contains(named, name):
		k.Name = name
	case utf8.RuneCountInString(name) == 1 && graphic(name):
		k.Name = name
		if utf8.RuneCountInString(rest) == 1 {
			k.Name = rest
		}
	default:
		return Key{}, fmt.Errorf("%q is no key", rest)
	}
	return k.normal(), nil
}

func modifier(s string) (Mod, bool) {
	s = strings.ToLower(s)
	if a, ok := aliases[s]; ok {
		s = a
	}
	for _, m := range modNames {
		if m.name == s {
			return m.mod, true
		}
	}
	return 0, false
}

func graphic(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r != utf8.RuneError && unicode.IsGraphic(r) && r != ' '
}

// printable: the key is a sign, not a word.
func (k Key) printable() bool { return !slices.Contains(named, k.Name) }

func (k Key) normal() Key {
	if k.Name == "space" && k.Mod&^Shift == 0 {
		return Key{Name: "space", Text: " "}
	}
	if !k.printable() {
		return k
	}
	lower, upper := strings.ToLower(k.Name), strings.ToUpper(k.Name)
	if k.Mod&(Ctrl|Alt|Super) != 0 {
		if k.Name != lower && k.Mod&Ctrl == 0 {
			k.Mod |= Shift // a terminal without modifiers of its own sends Esc P for Alt+Shift+P
		}
		k.Name = lower
		return k
	}
	if k.Mod&Shift != 0 {
		k.Name, k.Mod = upper, 0
	}
	k.Text = k.Name
	return k
}

// Types reports whether the press types text.
func (k Key) Types() bool { return k.Text != "" && k.Mod&(Ctrl|Alt|Super) == 0 }

// Same reports whether two presses are the same key.
func (k Key) Same(o Key) bool { return k.Name == o.Name && k.Mod == o.Mod }

// String is the name that ParseKey reads.
func (k Key) String() string {
	var b strings.Builder
	for _, m := range modNames {
		if k.Mod&m.mod != 0 {
			b.WriteString(m.name)
			b.WriteByte('+')
		}
	}
	b.WriteString(k.Name)
	return b.String()
}

// maxChord bounds the keys of a chord.
const maxChord = 4

// Parse reads one key or a chord: names of keys with spaces between.
func Parse(s string) ([]Key, error) {
	var keys []Key
	for f := range strings.FieldsSeq(s) {
		k, err := ParseKey(f)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("a key has no name")
	}
	if len(keys) > maxChord {
		return nil, fmt.Errorf("%q has more than %d keys", s, maxChord)
	}
	return keys, nil
}

// Name spells a chord as Parse reads it.
func Name(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.String()
	}
	return strings.Join(names, " ")
}

// Label spells a chord for people: "Ctrl+X Ctrl+K", "Shift+Tab", "Esc Esc".
func Label(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		parts := strings.Split(k.String(), "+")
		if k.Name == "+" {
			parts = append(parts[:len(parts)-2], "+")
		}
		for j, p := range parts {
			if l, ok := labels[p]; ok {
				parts[j] = l
			} else if j < len(parts)-1 || k.Mod != 0 || !k.printable() {
				parts[j] = strings.ToUpper(p[:1]) + p[1:]
			}
		}
		names[i] = strings.Join(parts, "+")
	}
	return strings.Join(names, " ")
}

var labels = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn"}
