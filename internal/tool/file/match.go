package file

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/adze-agent/adze/internal/text/clip"
)

// replaceIn makes one change. n counts the replacements, loose says how an
// inexact old_string was matched ("" when it was exact).
func replaceIn(d document, c change) (out document, n int, loose string, err error) {
	old := strings.ReplaceAll(c.OldString, "\r\n", "\n")
	text := strings.ReplaceAll(c.NewString, "\r\n", "\n")
	switch {
	case old == text && c.OldString == c.NewString:
		return d, 0, "", errors.New("old_string and new_string are the same; there is nothing to change")
	case old == "" && d.lf == "":
		return d.with(c.NewString), 1, "", nil
	case old == "":
		return d, 0, "", errors.New("old_string is empty, but the file exists and has content; give the text to replace, or use Write for the whole file")
	}
	if old == text || strings.Contains(c.OldString, "\r\n") {
		out, n, err = d.lineEnds(c)
		if n > 0 || err != nil || old == text {
			return out, n, "", err
		}
	}
	spans, loose := find(d.lf, old)
	if len(spans) == 0 { // as Read shows what cannot be seen
		if o := clip.Unpictured(old); o != old {
			if spans = indexAll(d.lf, o); len(spans) > 0 {
				old, text = o, clip.Unpictured(text)
			}
		}
	}
	switch {
	case len(spans) == 0:
		return d, 0, "", absent(d.lf, old, text)
	case len(spans) > 1 && !c.ReplaceAll && loose != "":
		return d, 0, "", fmt.Errorf("old_string is not in the file as written; apart from %s it is there %d times (%s); give it exactly, with lines around it", loose, len(spans), atLines(d.lf, spans))
	case len(spans) > 1 && !c.ReplaceAll:
		return d, 0, "", fmt.Errorf("old_string is in the file %d times (%s); add lines around it until it is unique, or set replace_all", len(spans), atLines(d.lf, spans))
	}
	return d.replaceAll(spans, func(was string) string {
		if loose == "" {
			return text
		}
		return inStyle(was, old, text)
	}), len(spans), loose, nil
}

// lineEnds makes a change that says itself how lines end. n is 0 when old_string
// does not stand in the file so.
func (d *document) lineEnds(c change) (out document, n int, err error) {
	n = strings.Count(d.raw, c.OldString)
	switch {
	case n == 0 && strings.ReplaceAll(c.OldString, "\r\n", "\n") == strings.ReplaceAll(c.NewString, "\r\n", "\n"):
		return *d, 0, errors.New("old_string and new_string differ in their line ends alone, and old_string does not stand in the file with those it has; there is nothing to change")
	case n == 0:
		return *d, 0, nil
	case n > 1 && !c.ReplaceAll:
		return *d, 0, fmt.Errorf("old_string is in the file %d times; add lines around it until it is unique, or set replace_all", n)
	}
	raw := d.raw
	if !strings.Contains(c.OldString, "\r\n") { // a "\n" that is a part of "\r\n" stays
		raw = d.lf
	}
	return d.same(strings.ReplaceAll(raw, c.OldString, c.NewString)), n, nil
}

// A span is a range of offsets.
type span struct{ from, to int }

// replaceAll replaces spans in one pass.
func (d *document) replaceAll(spans []span, text func(was string) string) document {
	if len(spans) == 1 {
		s := spans[0]
		return d.replace(s.from, s.to, text(d.lf[s.from:s.to]))
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(d.raw[at:d.rawAt(s.from)])
		t := text(d.lf[s.from:s.to])
		if d.crlfAt(s.from) {
			t = strings.ReplaceAll(t, "\n", "\r\n")
		}
		b.WriteString(t)
		at = d.rawAt(s.to)
	}
	b.WriteString(d.raw[at:])
	return d.same(b.String())
}

// A like says what is taken as equal.
type like uint8

const (
	quotes like = 1 << iota // of any shape
	ends                    // blanks at line ends, and none
	forms                   // a letter with an accent, however it is encoded; blanks that do not break
)

// find returns where old stands in text, not overlapping. Only when it stands
// nowhere, more is taken as equal, the least first.
func find(text, old string) (spans []span, loose string) {
	if spans = indexAll(text, old); len(spans) > 0 {
		return spans, ""
	}
	if len(text) > maxLoose {
		return nil, ""
	}
	for _, l := range []struct {
		name string
		like like
	}{
		{"the shape of quotes", quotes}, {"blanks at line ends", ends}, {"quotes and blanks at line ends", quotes | ends},
		{"how accents or no-break spaces are encoded", forms}, {"the encoding of accents, quotes and blanks", forms | quotes | ends},
	} {
		a, pos := loosen(text, l.like)
		b, _ := loosen(old, l.like)
		if strings.TrimSpace(b) == "" {
			continue
		}
		var found []span
		for _, s := range indexAll(a, b) {
			if from, to := pos[s.from], pos[s.to]; from >= 0 && to >= 0 {
				found = append(found, span{int(from), int(to)})
			}
		}
		if len(found) > 0 {
			return found, l.name
		}
	}
	return nil, ""
}

// maxLoose bounds the texts that are compared inexactly, in bytes.
const maxLoose = 8 << 20

func indexAll(text, old string) []span {
	var out []span
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			return out
		}
		out = append(out, span{at + i, at + i + len(old)})
		at += i + len(old)
	}
}

// loosen returns s with what is alike written in one way: straight quotes, no blanks at
// line ends, letters composed with their accents. pos has for each offset of the
// result, its end included, the offset in s; -1 where it is within what was composed.
func loosen(s string, as like) (out string, pos []int32) {
	b := make([]byte, 0, len(s))
	pos = make([]int32, 0, len(s)+1)
	put := func(s string, at int) {
		for k := range len(s) {
			b = append(b, s[k])
			pos = append(pos, int32(at))
			at = -1
		}
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if q := straight(r); as&quotes != 0 && q != "" {
			put(q, i)
			i += n
			continue
		}
		if as&forms != 0 && (r == '\u00a0' || r == '\u2007' || r == '\u202f') {
			put(" ", i)
			i += n
			continue
		}
		if as&forms != 0 && (r >= utf8.RuneSelf || i+1 < len(s) && s[i+1] >= utf8.RuneSelf) {
			whole := s[i : i+norm.NFC.NextBoundaryInString(s[i:], true)]
			if c := norm.NFC.String(whole); c != whole {
				put(c, i)
				i += len(whole)
				continue
			}
		}
		if as&ends != 0 && (r == ' ' || r == '\t') {
			end := i
			for end < len(s) && (s[end] == ' ' || s[end] == '\t') {
				end++
			}
			if end == len(s) || s[end] == '\n' {
				i = end
				continue
			}
		}
		for k := range n {
			b = append(b, s[i+k])
			pos = append(pos, int32(i+k))
		}
		i += n
	}
	return string(b), append(pos, int32(len(s)))
}

// straight maps typographic quotes to ASCII.
func straight(r rune) string {
	switch r {
	case '‘', '’', '‚', '‛':
		return "'"
	case '“', '”', '„', '‟':
		return `"`
	}
	return ""
}

// inStyle fits text, the replacement of old, to was, which stands for old in
// the file: what old and text share at their ends stays as the file has it,
// and what is between takes the file's shape of quotes and form of accents.
func inStyle(was, old, text string) string {
	as := quotes | ends
	a, posA := loosen(was, as)
	b, _ := loosen(old, as)
	if a != b {
		as |= forms
		a, posA = loosen(was, as)
		b, _ = loosen(old, as)
	}
	if a != b {
		return text
	}
	c, posC := loosen(text, as)
	within := func(atA, atC int) bool {
		return posA[atA] < 0 || posC[atC] < 0 || atA < len(a) && !utf8.RuneStart(a[atA]) || atC < len(c) && !utf8.RuneStart(c[atC])
	}
	n := min(len(b), len(c))
	head := 0
	for head < n && b[head] == c[head] {
		head++
	}
	for head > 0 && within(head, head) {
		head--
	}
	tail := 0
	for tail < n-head && b[len(b)-1-tail] == c[len(c)-1-tail] {
		tail++
	}
	for tail > 0 && within(len(a)-tail, len(c)-tail) {
		tail--
	}
	mid := curl(text[posC[head]:posC[len(c)-tail]], was)
	if !norm.NFC.IsNormalString(was) && norm.NFD.IsNormalString(was) {
		mid = norm.NFD.String(mid)
	}
	return was[:posA[head]] + mid + was[posA[len(a)-tail]:]
}

// curl gives straight quotes in s the typographic shape that like uses.
func curl(s, like string) string {
	double, single := strings.ContainsAny(like, "“”"), strings.ContainsAny(like, "‘’")
	if !double && !single {
		return s
	}
	var b strings.Builder
	prev := ' '
	for _, r := range s {
		opens := unicode.IsSpace(prev) || strings.ContainsRune("([{<—–", prev)
		switch {
		case r == '"' && double && opens:
			b.WriteRune('“')
		case r == '"' && double:
			b.WriteRune('”')
		case r == '\'' && single && opens:
			b.WriteRune('‘')
		case r == '\'' && single:
			b.WriteRune('’')
		default:
			b.WriteRune(r)
		}
		prev = r
	}
	return b.String()
}

// atLines names the lines spans start in.
func atLines(text string, spans []span) string {
	var out []string
	line, at := 1, 0
	for i, s := range spans {
		if i == 10 {
			out = append(out, "…")
			break
		}
		line += strings.Count(text[at:s.from], "\n")
		at = s.from
		out = append(out, fmt.Sprint(line))
	}
	if len(out) == 1 {
		return "line " + out[0]
	}
	return "lines " + strings.Join(out, ", ")
}

// absent explains why old is not in text, as closely as it can.
func absent(text, old, new string) error {
	msg := "old_string is not in the file"
	if strings.Contains(old, "\uFFFD") && !utf8.ValidString(text) {
		return errors.New(msg + ": U+FFFD (\uFFFD) stands for bytes that Read could not show as text; give the text before or after them")
	}
	if plain, ok := unnumber(old); ok && len(indexAll(text, plain)) > 0 {
		return errors.New(msg + ": it has the line numbers that Read adds; leave out each number and the tab behind it")
	}
	if n := closestLines(text, old); n != "" {
		msg += n
	} else {
		msg += ", nor anything like it; read the file again"
	}
	if len(strings.TrimSpace(new)) > 3 {
		if s := indexAll(text, new); len(s) > 0 {
			msg += fmt.Sprintf("\nnew_string is already there (%s): was this edit made before?", atLines(text, s))
		}
	}
	return errors.New(msg)
}

// unnumber drops the "  12<TAB>" that Read puts in front of lines.
func unnumber(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		num, rest, ok := strings.Cut(l, "\t")
		num = strings.TrimSpace(num)
		if l == "" && i == len(lines)-1 {
			continue
		}
		if !ok || num == "" || strings.Trim(num, "0123456789") != "" {
			return "", false
		}
		lines[i] = rest
	}
	return strings.Join(lines, "\n"), true
}

// Bounds of the search for the nearest match.
const (
	nearLines = 20_000 // lines of the file
	nearOld   = 200    // lines of old_string
	nearWork  = 2_000_000
)

// closestLines describes the lines of text most like old and what differs.
func closestLines(text, old string) string {
	lines := splitLines(text)
	want := splitLines(strings.Trim(old, "\n"))
	if len(lines) == 0 || len(want) == 0 || len(lines) > nearLines || len(want) > nearOld {
		return ""
	}
	have := squeezeAll(lines)
	need := squeezeAll(want)
	best, at := 0.0, 0
	work := 0
	for i := range lines {
		score := 0.0
		for k := range need {
			if i+k == len(have) {
				break
			}
			a, b := need[k], have[i+k]
			if a == b {
				score++
			} else if work < nearWork {
				work += min(len(a), 200) + 1
				score += likeness(a, b)
			}
		}
		if score /= float64(len(need)); score > best {
			best, at = score, i
		}
	}
	if best < 0.5 {
		return ""
	}
	end := min(at+len(want), len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, "; the nearest text is at %s", lineRange(at+1, end))
	if d := firstDifference(want, lines[at:end], at+1); d != "" {
		b.WriteString(" and differs in " + d)
	}
	b.WriteString(":\n")
	for i := at; i < min(end, at+30); i++ {
		s, _ := clip.Head(clip.Pictures(lines[i]), 500)
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func lineRange(a, b int) string {
	if a == b {
		return fmt.Sprintf("line %d", a)
	}
	return fmt.Sprintf("lines %d-%d", a, b)
}

// squeezeAll reduces lines to what matters when they are compared: single
// blanks, straight quotes.
func squeezeAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		s, _ := loosen(l, quotes|forms)
		out[i] = strings.Join(strings.Fields(s), " ")
	}
	return out
}

// likeness estimates how alike two lines are, from 0 to 0.9, by the pairs of
// bytes they share (Dice).
func likeness(a, b string) float64 {
	if len(a) < 2 || len(b) < 2 || len(a) > 3*len(b)+8 || len(b) > 3*len(a)+8 {
		return 0
	}
	var seen [1024]uint8
	pair := func(s string, i int) int { return (int(s[i])*31 + int(s[i+1])) & 1023 }
	for i := range len(a) - 1 {
		if p := pair(a, i); seen[p] < 255 {
			seen[p]++
		}
	}
	both := 0
	for i := range len(b) - 1 {
		if p := pair(b, i); seen[p] > 0 {
			seen[p]--
			both++
		}
	}
	return 0.9 * 2 * float64(both) / float64(len(a)+len(b)-2)
}

// firstDifference says in words how the first unequal line differs.
func firstDifference(want, have []string, line int) string {
	for i, w := range want {
		if i == len(have) {
			return fmt.Sprintf("length: the file ends after line %d", line+i-1)
		}
		h := have[i]
		if w == h {
			continue
		}
		at := fmt.Sprintf(" (line %d)", line+i)
		wb, hb := strings.TrimLeft(w, " \t"), strings.TrimLeft(h, " \t")
		switch {
		case wb == hb:
			return fmt.Sprintf("indentation%s: the file has %s, old_string has %s", at, indent(h), indent(w))
		case strings.TrimSpace(w) == strings.TrimSpace(h):
			return "white space at the line's end" + at
		case strings.Join(strings.Fields(w), " ") == strings.Join(strings.Fields(h), " "):
			return "white space inside the line" + at
		}
		sw, _ := loosen(w, quotes|ends|forms)
		sh, _ := loosen(h, quotes|ends|forms)
		switch {
		case sw == sh:
			return "quotes, blanks or the encoding of accents" + at
		case strings.EqualFold(w, h):
			return "upper and lower case" + at
		}
		return "the text" + at
	}
	return ""
}

// indent counts the blanks a line starts with.
func indent(s string) string {
	s = s[:len(s)-len(strings.TrimLeft(s, " \t"))]
	tabs, spaces := strings.Count(s, "\t"), strings.Count(s, " ")
	switch {
	case tabs > 0 && spaces > 0:
		return clip.Count(tabs, "tab") + " and " + clip.Count(spaces, "space")
	case tabs > 0:
		return clip.Count(tabs, "tab")
	case spaces > 0:
		return clip.Count(spaces, "space")
	}
	return "none"
}
