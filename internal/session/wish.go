package session

import (
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

var tokenWish = pattern.Lazy(`(?:^|\s)\+([0-9]{1,6}(?:\.[0-9]+)?)([kKmM])(?:$|[\s.,;:!?)])`)

// wishedTokens is the token budget that a prompt asks for in words, "+500k" or
// "+1.5m", 0 when it does not.
func wishedTokens(text string) int {
	if !strings.Contains(text, "+") { // most prompts; the pattern need not be made
		return 0
	}
	m := tokenWish().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // the pattern takes nothing but a number
	unit := 1e3
	if m[2] == "m" || m[2] == "M" {
		unit = 1e6
	}
	return int(min(n*unit, 1e9))
}
