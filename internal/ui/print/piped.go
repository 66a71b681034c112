package print

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/charset"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Piped is what came on stdin beside a prompt, as text: in whatever set of characters.
func Piped(b []byte) string {
	text, _ := charset.Decode(b)
	return strings.TrimRight(clip.Clean(text), "\n")
}
