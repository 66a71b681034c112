package clip_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/text/clip"
)

// TestAdvisories holds published weaknesses of what is shown against us.
func TestAdvisories(t *testing.T) {
	t.Run("Terminal_DiLLMa_no_raw_escapes", func(t *testing.T) {
		for _, in := range []string{
			"\x1b]52;c;cm0gLXJmIC8=\x07", "\x1b]52;c;cm0gLXJmIC8=\x1b\\", "\u009d52;c;eA==\u009c", "\x1b]8;;https://evil.example/?q=secret\x1b\\", "\x1b]0;title\x07", "\x1b]1337;File=inline=1:eA==\x07",
			"\x1bP$q\"p\x1b\\", "\x1b_Gf=32;eA==\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\", "\u0090q\u009c", "\u009f\u009c", "\x1b[21t", "\x1b[6n", "\x1b[2J", "\x1b[?1049h", "\x1b[8m", "\u009b2J", "\x1bc", "\a", "\b", "\x7f", "\x0e", "\x00",
		} {
			if got := clip.Clean("a" + in + "b"); got != "ab" {
				t.Errorf("%q became %q", in, got)
			}
		}
		for _, in := range []string{"\x1b]52;c;eA==", "\x1b[", "\x1bP", "\x1b", "\u009d52;c;eA=="} { // cut off
			if got := clip.Clean("a" + in); got != "a" {
				t.Errorf("%q became %q", in, got)
			}
		}
		// Taking one sequence out makes no other.
		for _, in := range []string{"\x1b\x1b[m]52;c;eA==\x07", "\x1b\x00]52;c;eA==\x07", "\xc2\x00\x9b2J", "\xc2\x1b[m\x9d52;c;eA==\x07"} {
			got := clip.Clean(in)
			if strings.ContainsAny(got, "\x1b\x07\u009b\u009d") || clip.Clean(got) != got {
				t.Errorf("%q became %q", in, got)
			}
		}
	})
	t.Run("changelog_2.1.223_nothing_hides_a_command", func(t *testing.T) {
		for _, hidden := range []string{"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\U000e0001", "\U000e0061", "\U000e007f"} {
			if got := clip.Clean("rm" + hidden + " x"); got != "rm x" {
				t.Errorf("%q became %q", hidden, got)
			}
		}
		if got := clip.Clean("# a comment\r\nrm x"); got != "# a comment\nrm x" {
			t.Errorf("%q", got)
		}
	})
}
