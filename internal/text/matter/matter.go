// Package matter splits front matter off a text. It knows no field of any.
package matter

import "strings"

// Split returns what stands between a first line of three dashes and the next such
// line, and everything behind it. body begins in the line after `lines` lines of
// the text. Lines may end in CRLF, which come back as LF, and a byte order mark
// before all is no text. A text without front matter, or with one that never ends,
// is body alone, and ok is false.
func Split(text string) (head, body string, lines int, ok bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	first, rest, found := strings.Cut(text, "\n")
	if !found || !dashes(first) {
		return "", text, 0, false
	}
	lines = 1
	for at := 0; at <= len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		lines++
		if dashes(line) {
			return rest[:at], rest[min(at+len(line)+1, len(rest)):], lines, true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", text, 0, false
}

// dashes: nothing but three dashes, and spaces behind them.
func dashes(line string) bool { return strings.TrimRight(line, " \t") == "---" }
