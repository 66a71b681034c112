//go:build unix

package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

// What terminals send for the keys of the prompt box is what the box takes for them:
// as xterm does, with kitty's keyboard protocol, and with modifyOtherKeys. (Ctrl+J is an
// Enter that was typed ahead for as long as this takes.)
func TestUIKeysOfTerminals(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> Yes.\n")
	x.until(`What shall be done here`)
	for _, c := range []struct{ name, text, sent, want string }{
		{"shift+enter, kitty", "one", "\x1b[13;2u", "one⏎|"},
		{"shift+enter, modifyOtherKeys", "one", "\x1b[27;2;13~", "one⏎|"},
		{"alt+enter", "one", "\x1b\r", "one⏎|"},
		{"alt+enter, kitty", "one", "\x1b[13;3u", "one⏎|"},
		{"left", "one", "\x1b[D", "on|e"},
		{"left, application mode", "one", "\x1bOD", "on|e"},
		{"home", "one", "\x1b[H", "|one"},
		{"home, vt", "one", "\x1b[1~", "|one"},
		{"home, application mode", "one", "\x1bOH", "|one"},
		{"end", "one", "\x01\x1b[F", "one|"},
		{"delete", "one", "\x01\x1b[3~", "|ne"},
		{"ctrl+left", "one two", "\x1b[1;5D", "one |two"},
		{"alt+left", "one two", "\x1b[1;3D", "one |two"},
		{"alt+left, escaped", "one two", "\x1b\x1b[D", "one |two"},
		{"alt+b", "one two", "\x1bb", "one |two"},
		{"alt+b, kitty", "one two", "\x1b[98;3u", "one |two"},
		{"ctrl+right", "one two", "\x01\x1b[1;5C", "one| two"},
		{"alt+f", "one two", "\x01\x1bf", "one| two"},
		{"ctrl+home", "one two", "\x1b[1;5H", "|one two"},
		{"ctrl+end", "one two", "\x01\x1b[1;5F", "one two|"},
		{"alt+<", "one two", "\x1b<", "|one two"},
		{"alt+>", "one two", "\x01\x1b>", "one two|"},
		{"shift+left", "one", "\x1b[1;2D", "on|"},
		{"ctrl+shift+left", "one two", "\x1b[1;6D", "one |"},
		{"shift+home", "one two", "\x1b[1;2H", "|"},
		{"backspace", "one", "\x7f", "on|"},
		{"backspace, ctrl+h", "one", "\x08", "on|"},
		{"alt+backspace", "see a/b", "\x1b\x7f", "see a/|"},
		{"ctrl+backspace, kitty", "see a/b", "\x1b[127;5u", "see a/|"},
		{"ctrl+w", "see a/b", "\x17", "see |"},
		{"alt+d", "one two", "\x01\x1bd", "| two"},
		{"ctrl+delete", "one two", "\x01\x1b[3;5~", "| two"},
		{"alt+delete", "one two", "\x01\x1b[3;3~", "| two"},
		{"ctrl+k, ctrl+y", "one two", "\x1bb\x0b\x01\x19", "two|one"},
		{"ctrl+u", "one two", "\x1bb\x15", "|two"},
		{"ctrl+_", "one two", "\x17\x1f", "one two|"},
		{"ctrl+shift+-, kitty", "one two", "\x17\x1b[45;6u", "one two|"},
		{"ctrl+/, kitty", "one two", "\x17\x1b[47;5u", "one two|"},
		{"ctrl+x ctrl+u", "one two", "\x17\x18\x15", "one two|"},
		{"ctrl+shift+z, kitty", "one two", "\x17\x1f\x1b[122;6u", "one |"},
		{"ctrl+t", "ab", "\x14", "ba|"},
		{"alt+u", "one two", "\x01\x1bu", "ONE| two"},
		{"alt+c, modifyOtherKeys", "one two", "\x01\x1b[27;3;99~", "One| two"},
		{"alt+a", "one two", "\x1ba", "|"},
	} {
		x.keys(c.text)
		x.until(regexp.QuoteMeta(c.text))
		x.keys(c.sent, "|")
		lines := strings.Split(regexp.QuoteMeta(c.want), "⏎")
		pattern := `› ` + strings.Join(lines, ` *│\n│   `) + ` *│\n╰`
		t.Log(c.name)
		x.until(pattern)
		x.keys("\x1ba", "\x7f")
		x.until(`› +What shall be done here`)
	}
}

// Shift+Tab goes through all modes that the session may be in, and the classifier
// rules also where the session did not begin with it.
func TestUIGoesThroughTheModes(t *testing.T) {
	p := newPlace(t)
	judge := p.put("judge.txt", "> no\n")
	x := p.ui(100, 24, "@ Bash {\"command\": \"make gone\"}\n---\n> Done.\n", "--small-model", "script/"+judge)
	x.until(`What shall be done here`)
	for _, mode := range []string{"accepts edits", "plan mode", "auto mode", "refuses what it would ask"} {
		x.keys("\x1b[Z")
		x.until(mode + ` \(Shift\+Tab\)`)
	}
	x.keys("\x1b[Z")
	x.gone(`\(Shift\+Tab\)`)
	x.keys("\x1b[Z", "\x1b[Z", "\x1b[Z")
	x.until(`auto mode \(Shift\+Tab\)`)
	x.keys("go", enter)
	x.until(`Run this command\?`)
	x.until(`\(auto mode: the`) // check gave no usable answer
}
