// Package clip bounds and cleans everything a model or a screen is shown. It
// never reads or writes anything; what it cuts, it says.
package clip

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Middle returns s when it has at most max bytes, else its head and tail with
// a line between them that says how much is missing, about max bytes in all.
// how tells the reader how to get the rest ("" says nothing). It never cuts
// inside a character.
func Middle(s string, max int, how string) string {
	if len(s) <= max {
		return s
	}
	head := cutBack(s, max*6/10)
	tail := cutForward(s, len(s)-max*3/10)
	gone := s[len(head) : len(s)-len(tail)]
	if how != "" {
		how = "; " + how
	}
	return fmt.Sprintf("%s\n[%s left out, %s%s]\n%s",
		strings.TrimSuffix(head, "\n"), Size(int64(len(gone))), Count(strings.Count(gone, "\n"), "line"), how, strings.TrimPrefix(tail, "\n"))
}

// Head returns at most max bytes of s, cut at a line end where one is near,
// and whether anything was cut.
func Head(s string, max int) (string, bool) {
	if len(s) <= max {
		return s, false
	}
	h := cutBack(s, max)
	if i := strings.LastIndexByte(h, '\n'); i > max*3/4 {
		h = h[:i+1]
	}
	return h, true
}

// Tail returns the last at most max bytes of s, starting at a line where one
// is near, and whether anything was cut.
func Tail(s string, max int) (string, bool) {
	if len(s) <= max {
		return s, false
	}
	t := cutForward(s, len(s)-max)
	if i := strings.IndexByte(t, '\n'); i >= 0 && i < max/4 {
		t = t[i+1:]
	}
	return t, true
}

// Line returns s on one line with at most max characters; a cut ends in "…".
func Line(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	if max <= 0 {
		return ""
	}
	r := []rune(s)
	return string(r[:max-1]) + "…"
}

// Tokens estimates the tokens of n bytes: four bytes each, rounded up.
func Tokens(n int) int { return (n + 3) / 4 }

// Size writes n bytes for people: "512 bytes", "3.4 KB", "1.2 MB".
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// cutBack returns s[:n] without a broken last character.
func cutBack(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutForward returns s[n:] without a broken first character.
func cutForward(s string, n int) string {
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[n:]
}

// Count writes a number of things for people: "1 path", "4,120 lines". The
// plural of what has an s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Thousands(n) + " " + what + "s"
}

// Thousands writes 4120 as 4,120.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Short writes a number in few characters: "999", "12.3k", "123k", "4.5M".
func Short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1fG", float64(n)/1e9)
}

// Window writes the size of a model's window in tokens: "200k", "1M"; "?" for one that
// is not known.
func Window(n int) string {
	switch {
	case n == 0:
		return "?"
	case n >= 1_000_000:
		return fmt.Sprintf("%gM", float64(n/1000)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// Span writes how long something took: "1.2 s", "48 s", "3 min 20 s", "2 h 5 min".
func Span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", max(d.Seconds(), 0))
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Truncate(time.Second).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// Age writes how long ago something was, in the largest unit that fits: "now", "5m",
// "3h", "12d".
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Fenced is text as Markdown that shows it as it is.
func Fenced(s string) string {
	marks := "```"
	for strings.Contains(s, marks) {
		marks += "`"
	}
	return marks + "\n" + strings.TrimRight(s, "\n") + "\n" + marks
}
