package term

import (
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
		"\x1b[D": 0, "\x1b[200~text": 0,
	} {
		var d decoder
		d.feed([]byte(in))
		if got := d.waits(); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
