package fulltext

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

const (
	// docBytes is how much text stands together in one row, about: words that
	// are searched for together are found when they are.
	docBytes = 8 << 10
	// textBytes bounds what is kept of one prompt or reply; of more, the
	// beginning is found.
	textBytes = 256 << 10
	// valueBytes bounds a value of a call's arguments.
	valueBytes = 2 << 10
)

// words are the texts of an event that people look for: titles, prompts,
// replies, and what calls name. Results of calls are not among them.
func words(b event.Body) []string {
	switch b := b.(type) {
	case event.Titled:
		return []string{b.Title}
	case event.InputAccepted:
		if b.Hidden {
			return nil
		}
		return []string{b.Text}
	case event.Replied:
		var out []string
		for _, p := range b.Message.Parts {
			if t, ok := p.(llm.Text); ok {
				out = append(out, t.S)
			}
		}
		return out
	case event.ToolStarted:
		return append([]string{b.Name + " " + b.Title}, values(b.Input)...)
	case event.Ran:
		return []string{b.Command}
	default: // nobody looks for a session by these
		return nil
	}
}

// named are arguments that say what a call is about, whatever the tool; what it
// writes into a file is not one.
var named = []string{"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt"}

func values(input json.RawMessage) (out []string) {
	var in map[string]json.RawMessage
	if len(input) == 0 || json.Unmarshal(input, &in) != nil {
		return nil
	}
	for _, name := range named {
		var s string
		if json.Unmarshal(in[name], &s) == nil && s != "" {
			s, _ = clip.Head(s, valueBytes)
			out = append(out, s)
		}
	}
	return out
}

// stored makes of a text what the index keeps: no control characters, and
// apart what is found by one letter alone, so that each is a word.
func stored(s string, mask func(string) string) string {
	s, _ = clip.Head(s, textBytes)
	return apart(strings.ReplaceAll(clip.Clean(mask(s)), joint, ""))
}

// joint stands between letters that are words of their own. It is no part of
// any word for SQLite, and no terminal shows it.
const joint = "\u200b"

func apart(s string) string {
	if strings.IndexFunc(s, single) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if single(r) {
			b.WriteString(joint)
			b.WriteRune(r)
			b.WriteString(joint)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// single reports whether a character is looked for by itself: those of scripts that write
// no blanks, syllables of Hangul, emoji and other pictures.
func single(r rune) bool {
	return r >= 0x80 && unicode.Is(unicode.So, r) ||
		r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Bounds of a query.
const (
	maxWords     = 16
	maxWordBytes = 200
	minPrefix    = 3 // letters of a word from which its beginning is enough
)

// match writes words as a query of FTS5: all of them, each as a quoted string,
// so that nothing in it is taken for an operator. Words between double quotes
// stand next to each other. beginning: words that begin with the last one count
// as well. "" is a query without a word.
func match(query string, beginning bool) string {
	query, _ = clip.Head(query, maxWords*maxWordBytes)
	query = strings.ToValidUTF8(query, " ")
	var out []string
	open := false // the last word may be the beginning of one
	for i, part := range strings.Split(query, `"`) {
		phrases := strings.Fields(part)
		if i%2 == 1 {
			phrases = []string{part}
		}
		for _, p := range phrases {
			q, long := phrase(p)
			if q != "" && len(out) < maxWords {
				out, open = append(out, q), long && i%2 == 0
			}
		}
	}
	for n, q := range out {
		tail := ""
		if n == len(out)-1 && beginning && open {
			tail = "*"
		}
		spellings := spelled(q)
		for i := range spellings {
			spellings[i] += tail
		}
		if out[n] = strings.Join(spellings, " OR "); len(spellings) > 1 {
			out[n] = "(" + out[n] + ")"
		}
	}
	return strings.Join(out, " AND ")
}

// maxSpellings bounds in how many ways one word is looked for.
const maxSpellings = 6

// spelled are the ways in which a word is written, itself first: ß is ss as well, and ё is
// written as е, which no table of diacritics says.
func spelled(word string) (out []string) {
	out = []string{word}
	for _, pair := range [][2]string{{"ß", "ss"}, {"ẞ", "SS"}, {"ё", "е"}, {"Ё", "Е"}} {
		for _, p := range [][2]string{pair, {pair[1], pair[0]}} {
			for at := 0; len(out) < maxSpellings; at += len(p[0]) {
				i := strings.Index(word[at:], p[0])
				if i < 0 {
					break
				}
				at += i
				out = append(out, word[:at]+p[1]+word[at+len(p[0]):])
			}
		}
	}
	return out
}

// phrase quotes one word, and says whether it is long enough to be the
// beginning of others.
func phrase(p string) (quoted string, long bool) {
	p, _ = clip.Head(p, maxWordBytes)
	p = strings.Map(func(r rune) rune {
		if r == '"' || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, p)
	letters := strings.FieldsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !single(r) })
	if len(letters) == 0 {
		return "", false
	}
	last := letters[len(letters)-1]
	r, _ := utf8.DecodeLastRuneInString(last)
	return `"` + apart(p) + `"`, utf8.RuneCountInString(last) >= minPrefix && !single(r)
}
