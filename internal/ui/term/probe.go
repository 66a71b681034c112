package term

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/picture"
	uv "github.com/charmbracelet/ultraviolet"
)

// environment is what the environment tells about a terminal before it has
// answered anything.
type environment struct {
	dumb   bool
	linux  bool // the console of Linux
	rewrap bool
	sync   bool
	tmux   bool
	near   bool // what answers runs on this machine
}

func look4(env func(string) string) environment {
	name := env("TERM")
	e := environment{
		dumb: name == "" || name == "dumb", linux: name == "linux",
		tmux: env("TMUX") != "",
	}
	e.near = e.tmux || env("SSH_CONNECTION") == "" && env("SSH_TTY") == ""
	e.rewrap = e.tmux || !e.linux && env("XTERM_VERSION") == "" && env("STY") == ""
	switch env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty":
		e.sync = !e.tmux
	}
	if strings.Contains(name, "kitty") || env("WT_SESSION") != "" {
		e.sync = !e.tmux
	}
	return e
}

// Dumb reports whether a terminal can show nothing but lines (TERM=dumb).
func Dumb(env func(string) string) bool { return look4(env).dumb }

// ASCII reports whether a terminal shows ASCII only: the Linux console, or a
// locale that is not UTF-8.
func ASCII(env func(string) string) bool {
	if look4(env).linux {
		return true
	}
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// ProfileOf returns what the environment says may be written.
func ProfileOf(env func(string) string) draw.Profile {
	e := look4(env)
	p := draw.Profile{Depth: draw.Colors16}
	name, more := env("TERM"), env("COLORTERM")
	switch {
	case e.dumb:
		return draw.Profile{}
	case env("NO_COLOR") != "":
		p.Depth = draw.Mono
	case more == "truecolor" || more == "24bit" || strings.HasSuffix(name, "-direct") || env("WT_SESSION") != "" || strings.Contains(name, "kitty"):
		p.Depth = draw.TrueColor
	case strings.Contains(name, "256color"):
		p.Depth = draw.Colors256
	}
	switch env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "vscode":
		p.Links = true
	}
	p.Links = p.Links || strings.Contains(name, "kitty") || env("WT_SESSION") != "" || env("VTE_VERSION") != ""
	p.Links = p.Links && !e.tmux && !e.linux
	return p
}

// Probe asks the terminal what it can do. It is called after the first frame;
// the answers come as Background and Caps events.
func (t *Terminal) Probe() {
	if t.o.Guard && !t.o.Plain {
		t.wg.Go(t.watchOver) // ends when the guard was started
	}
	if t.o.Plain || t.env.dumb || t.env.linux {
		return
	}
	t.mu.Lock()
	t.asked = true
	t.mu.Unlock()
	// The last question is one that every terminal answers.
	t.Screen.Raw([]byte("\x1b]11;?\x1b\\\x1b[?2026$p\x1b[?u\x1b[>0q\x1b[16t" + askSize + "\x1b[c"))
}

// answer handles an answer to Probe.
func (t *Terminal) answer(ev uv.Event) bool {
	t.mu.Lock()
	switch ev := ev.(type) {
	case uv.ModeReportEvent:
		if ev.Mode.Mode() == 2026 {
			t.caps.Sync = ev.Value.IsSet() || ev.Value.IsReset()
		}
	case uv.KeyboardEnhancementsEvent:
		t.caps.Keyboard = true
	case uv.TerminalVersionEvent:
		t.caps.Version = draw.String(ev.Name)
	case uv.CellSizeEvent:
		t.caps.Cell = Size{Cols: ev.Width, Rows: ev.Height}
	case uv.WindowSizeEvent:
		z := Size{Cols: ev.Width, Rows: ev.Height}
		if t.asked && !t.told && z.Cols != z.Rows {
			t.swapped = z == Size{Cols: t.size.Rows, Rows: t.size.Cols}
			t.told = t.swapped || z == t.size
		}
		if t.swapped {
			z = Size{Cols: z.Rows, Rows: z.Cols}
		}
		t.mu.Unlock()
		t.Screen.replied(reply{size: true, value: z})
		return true
	case uv.PrimaryDeviceAttributesEvent:
		for _, n := range ev {
			if n == 4 {
				t.caps.Sixel = true
			}
		}
		if t.asked {
			t.asked = false
			caps := t.caps
			t.Screen.Ask(t.told && t.env.near, true, t.env.tmux, t.sized)
			on := caps.Keyboard && !t.modes.keyboard && t.modes.on
			t.modes.keyboard = t.modes.keyboard || on
			t.guarded()
			t.mu.Unlock()
			return t.learned(caps, on)
		}
	}
	t.mu.Unlock()
	return true
}

// learned uses what the terminal said.
func (t *Terminal) learned(c Capabilities, keyboard bool) bool {
	if c.Sync {
		t.Screen.SetSync(true)
	}
	if strings.HasPrefix(c.Version, "XTerm(") {
		t.Screen.SetRewrap(false)
	}
	if marksOf(c.Version) {
		t.mu.Lock()
		t.modes.marks = true
		t.guarded()
		t.mu.Unlock()
		t.Screen.SetMarks(true)
	}
	if keyboard {
		t.Screen.Raw([]byte("\x1b[>1u"))
	}
	return t.send(Caps{Caps: c})
}

// marksOf reports whether a terminal of that name leaves what is marked as a
// prompt alone when its size changes: kitty does, from 0.26 on.
func marksOf(name string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(name, "kitty(%d.%d", &major, &minor)
	return n == 2 && (major > 0 || minor >= 26)
}

// Mouse switches the mouse on or off; it is for full-screen mode.
func (t *Terminal) Mouse(on bool) {
	if t.o.Plain {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.modes.mouse == on || !t.modes.on {
		return
	}
	t.modes.mouse = on
	defer t.guarded()
	if on {
		t.Screen.Raw([]byte(mouseOn))
	} else {
		t.Screen.Raw([]byte(mouseOff))
	}
}

// Title sets the title of the terminal's window. The one before comes back
// with Restore.
func (t *Terminal) Title(s string) {
	if t.o.Plain || t.env.dumb || t.env.linux {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := []byte{}
	if !t.modes.title {
		t.modes.title = true
		b = append(b, "\x1b[22;2t"...)
		t.guarded()
	}
	t.Screen.Raw(append(b, "\x1b]2;"+short(s, 200)+"\x1b\\"...))
}

// Channel is a way to call a person who looks elsewhere.
type Channel string

// The channels.
const (
	Bell   Channel = "bell"
	OSC9   Channel = "osc9"   // iTerm2, WezTerm, ghostty, Windows Terminal
	OSC777 Channel = "osc777" // VTE, foot, urxvt, ghostty
	OSC99  Channel = "osc99"  // kitty
)

// Notify calls a person by a channel; "" is the one that the terminal is known
// to have, else the bell.
func (t *Terminal) Notify(c Channel, title, body string) {
	if t.env.dumb {
		return
	}
	if c == "" {
		c = t.channel()
	}
	title, body = short(title, 100), short(body, 400)
	switch c {
	case OSC9:
		t.Screen.Raw([]byte("\x1b]9;" + title + ": " + body + "\x1b\\"))
	case OSC777:
		t.Screen.Raw([]byte("\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + "\x1b\\"))
	case OSC99:
		t.Screen.Raw([]byte("\x1b]99;i=1:d=0:p=title;" + title + "\x1b\\\x1b]99;i=1:d=1:p=body;" + body + "\x1b\\"))
	case Bell:
		t.Screen.Raw([]byte{7})
	}
}

// Sequence has the terminal do what a hook wants: bells, titles and notifications,
// which package hook let pass. A title that it sets is put back at the end.
func (t *Terminal) Sequence(s string) {
	if t.o.Plain || t.env.dumb {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := []byte{}
	if !t.modes.title && !t.env.linux {
		t.modes.title = true
		b = append(b, "\x1b[22;2t"...)
		t.guarded()
	}
	t.Screen.Raw(append(b, s...))
}

func (t *Terminal) channel() Channel {
	if t.env.tmux {
		return Bell
	}
	switch t.o.Env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty":
		return OSC9
	}
	switch name := t.o.Env("TERM"); {
	case strings.Contains(name, "kitty"):
		return OSC99
	case strings.HasPrefix(name, "foot") || t.o.Env("VTE_VERSION") != "":
		return OSC777
	}
	return Bell
}

// Copy puts text on the clipboard through the terminal (OSC 52), which also
// works over ssh, and reports false when it is too long for that.
func (t *Terminal) Copy(text string) bool {
	if t.o.Plain || t.env.dumb || len(text) > 74_994 {
		return false
	}
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07"
	if t.env.tmux { // let it through to the terminal outside
		seq += "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	t.Screen.Raw([]byte(seq))
	return true
}

// short returns s as the safe text of a sequence.
func short(s string, columns int) string {
	return draw.L(draw.S(s, draw.Plain)).Cut(columns).String()
}

// Pictures is the way this terminal shows images. It is certain once Caps has
// come. Inside tmux only text is.
func (t *Terminal) Pictures() picture.Protocol {
	t.mu.Lock()
	caps := t.caps
	t.mu.Unlock()
	if t.o.Plain || t.env.tmux || t.env.dumb {
		return picture.HalfBlocks
	}
	program := t.o.Env("TERM_PROGRAM")
	switch {
	case strings.Contains(t.o.Env("TERM"), "kitty") || program == "ghostty" || strings.HasPrefix(caps.Version, "kitty"):
		return picture.Kitty
	case program == "iTerm.app" || program == "WezTerm" || strings.HasPrefix(caps.Version, "iTerm2"):
		return picture.ITerm2
	case caps.Sixel:
		return picture.Sixel
	}
	return picture.HalfBlocks
}
