package session

import "testing"

func TestWishedTokens(t *testing.T) {
	for text, want := range map[string]int{
		"rewrite it all +500k": 500_000, "+1.5m please": 1_500_000, "(use more, +20K)": 20_000, "do it\n+2M\nnow": 2_000_000,
		"add +500 lines": 0, "a+5k": 0, "+5kg": 0, "-5k": 0, "x": 0, "+k": 0,
	} {
		if got := wishedTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
