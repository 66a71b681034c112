package term

import "strings"

// An Event is something the terminal told.
//
//sumtype:decl
type Event interface{ event() }

type (
	// Key is a key that was pressed. Name is the key ("a", "A", "enter", "tab",
	// "backspace", "esc", "up", "f1", "space"); Text is what it types, and empty
	// for a key that types nothing or was pressed with Ctrl or Alt.
	Key struct {
		Name string
		Text string
		Mod  Mod
	}

	// Paste is text that was pasted: clean, with "\n" as its line end.
	Paste struct{ Text string }

	// Focus says that the terminal's window got or lost the keyboard.
	Focus struct{ In bool }

	// Resize says that the terminal has another size, which Size tells: of two
	// events the later may come first.
	Resize struct{}

	// Wheel is a turn of the mouse's wheel, in full-screen mode only.
	Wheel struct{ Down bool }

	// Background says what the terminal's background is.
	Background struct{ Dark bool }

	// Caps says what the terminal can do, after it has answered Probe.
	Caps struct{ Caps Capabilities }

	// Resumed says that the program runs again after Ctrl+Z; everything has to
	// be drawn anew.
	Resumed struct{}

	// Stop says that the program shall end: a signal came, or the terminal is
	// gone (Signal is "" then). The terminal is restored already.
	Stop struct{ Signal string }
)

func (Key) event()        {}
func (Paste) event()      {}
func (Focus) event()      {}
func (Resize) event()     {}
func (Wheel) event()      {}
func (Background) event() {}
func (Caps) event()       {}
func (Resumed) event()    {}
func (Stop) event()       {}

// Mod is a set of modifier keys.
type Mod uint8

// The modifiers.
const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
	Super
)

// String writes k as keybindings do: "ctrl+x", "alt+shift+enter", "A".
func (k Key) String() string {
	var b strings.Builder
	for _, m := range [...]struct {
		bit  Mod
		name string
	}{{Ctrl, "ctrl+"}, {Alt, "alt+"}, {Super, "super+"}, {Shift, "shift+"}} {
		if k.Mod&m.bit != 0 {
			b.WriteString(m.name)
		}
	}
	b.WriteString(k.Name)
	return b.String()
}

// Capabilities are what a terminal said that it can do.
type Capabilities struct {
	Version  string // as it names itself, e.g. "kitty(0.35.2)", "tmux 3.4"
	Sync     bool   // synchronized output (mode 2026)
	Keyboard bool   // the kitty keyboard protocol
	Sixel    bool
	Cell     Size // a cell in pixels (Cols wide, Rows high), or zero
}
