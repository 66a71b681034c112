package term

import (
	"strconv"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// Alt and some keys send what strings for terminals begin with: what is typed after
// them is not taken for such a string, and an answer of the terminal is not typed.
func TestStringsThatAreKeys(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"\x1b_", "alt+_"},
		{"\x1b_hello", "alt+_ h e l l o"},
		{"\x1b_G", "alt+_ G"},
		{"\x1bPrint", "alt+shift+p r i n t"},
		{"\x1bP1", "alt+shift+p 1"},
		{"\x1bXy", "alt+shift+x y"},
		{"\x1b^y", "alt+^ y"},
		{"\x1b]ab", "alt+] a b"},
		{"\x1b]1", "alt+] 1"},
		{"\x1b_Gi=1;OK\x1b\\x", "x"},
		{"\x1bP>|kitty(0.35)\x1b\\x", "x"},
		{"\x1bP1$r0m\x1b\\x", "x"},
		{"\x1b]11;rgb:ffff", "ctrl+space"}, // torn, and no text of anybody
	} {
		var d decoder
		var got []string
		for _, evs := range [][]uv.Event{d.feed([]byte(c.sent)), d.expire()} {
			for _, ev := range evs {
				if k, ok := ev.(uv.KeyPressEvent); ok {
					if key, ok := key(uv.Key(k)); ok {
						got = append(got, key.String())
					}
				}
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q is %q, not %q", c.sent, s, c.want)
		}
	}
}

// Only ESC may be a key of its own: what has begun as a sequence waits for its end.
func TestWaits(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"": 0, "a": 0, "\x1b": escWait, "\x1b[": begunWait, "\x1b[?64;1": begunWait, "\x1b]11;rgb:1e1e": begunWait, "\x1bP": escWait, "\x1bP1": begunWait, "\x1b_G": begunWait,
		"\x1b[D": 0, "\x1b[200~text": 0, "\x1b[200~text\x1b[201~": behindWait, "\x1b[200~text\x1b[201~\r": escWait, "\x1b[200~text\x1b[201~rm -rf everything\r": behindWait,
	} {
		var d decoder
		d.feed([]byte(in))
		if got := d.waits(); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

// A pasted text that holds the end of a paste types and sends nothing. parts are what
// comes without a pause; "|" is one.
func TestPasteThatEndsItself(t *testing.T) {
	const begin, end = "\x1b[200~", "\x1b[201~"
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{begin + "a" + end}, `"a"`},
		{[]string{begin + "a" + end + "b\r" + end}, `"a" "b\n"`},
		{[]string{begin + "a" + end + "b\r\x1b[Z\x03" + end}, `"a" "b\n"`},
		{[]string{begin + "a" + end, "b\r", "c\r" + end}, `"a" "b\nc\n"`},
		{[]string{begin + "a" + end + "\r" + end + "\r" + end}, `"a" "\n\n"`},
		{[]string{begin + "a" + end + "\r" + begin + "b" + end}, `"a" "\nb"`},
		{[]string{begin + "a" + end + "\r" + begin, "b" + end}, `"a" "\nb"`},
		{[]string{begin + "a" + end + "b\r\x1b[2", "01~"}, `"a" "b\n"`},
		{[]string{begin + "a" + end + end + "\r", "|"}, `"a" enter`},
		{[]string{begin + "a" + end + "\r", "|"}, `"a" enter`}, // a program that pastes and sends
		{[]string{begin + "a" + end, "|", "\r"}, `"a" enter`},
		{[]string{begin + "a" + end + "x", "|", "\r"}, `"a" x enter`},
		{[]string{begin + "a" + end + "\x1b[", "|", "A"}, `"a" up`},
		{[]string{begin + "a" + end, "|", begin + "b" + end}, `"a" "b"`},
	} {
		var d decoder
		var got []string
		for _, p := range c.parts {
			evs := d.expire
			if p != "|" {
				evs = func() []uv.Event { return d.feed([]byte(p)) }
			}
			for _, ev := range evs() {
				switch ev := ev.(type) {
				case uv.PasteEvent:
					got = append(got, strconv.Quote(ev.Content))
				case uv.KeyPressEvent:
					if key, ok := key(uv.Key(ev)); ok {
						got = append(got, key.String())
					}
				}
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q is %s, not %s", c.parts, s, c.want)
		}
	}
}
