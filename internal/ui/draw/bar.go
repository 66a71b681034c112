package draw

import "strings"

// eighths are the left parts of a full block, from one eighth to seven.
const eighths = "▏▎▍▌▋▊▉"

// Bar is a horizontal bar of a part, from 0 to 1, of a width in columns. What is
// more than nothing is seen.
func Bar(part float64, width int, role Role, ascii bool) Span {
	part = min(max(part, 0), 1) // not a number is 0, too
	if !(part > 0) || width <= 0 {
		return Span{}
	}
	n := max(1, int(part*float64(width)*8+0.5))
	text := strings.Repeat("█", n/8)
	if ascii {
		text = strings.Repeat("#", max(1, (n+4)/8))
	} else if n%8 > 0 {
		text += string([]rune(eighths)[n%8-1])
	}
	return sign(text, role)
}
