package auto

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// Bounds, in bytes, of what is kept of text that is left out: of one sentence, and of
// all of them.
const (
	maxSentence  = 300
	maxSentences = 8_000
)

// limits are words that may say what must not be done, in lower case. They are taken
// as they are: what is kept in vain costs room, what is missed a limit.
var limits = []string{
	"never", "don't", "don’t", "dont", "do not", "must not", "mustn't", "mustn’t", "should not", "shouldn't", "shouldn’t", "may not",
	"not to", "not allowed", "only", "without", "unless", "before you", "ask me", "ask first", "forbid", "forbidden", "prohibited", "avoid", "refrain", "stop", "off limits", "off-limits",
	"hands off", "keep out", "stay away", "stay out", "leave", "no more", "under no", "nie", "niemals", "nicht", "kein", "keine", "keinen", "nur", "ohne", "verboten",
	"jamais", "ne pas", "sans", "interdit", "nunca", "no debes", "sin", "solo", "prohibido", "não", "sem", "mai", "non", "не", "нельзя", "никогда", "только",
}

// written are those that stand in a text without gaps between words.
var written = []string{"不要", "不得", "不能", "不可", "不许", "禁止", "别", "別", "勿", "只能", "しない", "するな", "だけ", "なし", "하지 마", "금지", "만"}

// forbidding are the sentences of a text that may forbid something, in their order.
func forbidding(text string) (out []string) {
	lower := asciiLower(text)
	var at [][2]int
	for _, w := range limits {
		at = append(at, found(text, lower, w, true)...)
	}
	for _, w := range written {
		at = append(at, found(text, lower, w, false)...)
	}
	order.By(at, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	for _, s := range at {
		if s[0] >= end && s[1] > s[0] {
			out, end = append(out, strings.TrimSpace(text[s[0]:s[1]])), s[1]
		}
	}
	return out
}

// found are the sentences around each place where a word stands, as bytes of text.
func found(text, lower, word string, whole bool) (out [][2]int) {
	for from := 0; ; {
		i := strings.Index(lower[from:], word)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(word)
		if whole && (letterEnds(lower[:i]) || letterBegins(lower[from:])) {
			continue
		}
		begin, end := sentence(text, i, from)
		out = append(out, [2]int{begin, end})
		from = max(from, end)
	}
}

// sentence widens the bytes i to j to those of a sentence, within bounds.
func sentence(text string, i, j int) (begin, end int) {
	begin = max(0, i-maxSentence/2)
	if k := strings.LastIndexAny(text[begin:i], ".!?;\n"); k >= 0 {
		begin += k + 1
	}
	end = min(len(text), j+maxSentence/2)
	if k := strings.IndexAny(text[j:end], ".!?;\n"); k >= 0 {
		end = j + k + 1
	}
	for begin < i && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return begin, end
}

func letterEnds(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isWord(r)
}

func letterBegins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

// isWord reports a letter of the scripts that limits are written in.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'à' && r <= 'ž' || r >= 'а' && r <= 'я'
}

// asciiLower keeps the length of a text, as lower case of all letters does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// within are the first and the last of the sentences, within most bytes, each once,
// and how many are missing.
func within(list []string, most int) (out []string, missing int) {
	seen := map[string]bool{}
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { was := seen[s]; seen[s] = true; return was })
	var head, tail []string
	for i, j, room := 0, len(list)-1, most; i <= j; {
		s := list[i]
		if len(head) > len(tail) {
			s = list[j]
		}
		if room -= len(s); room < 0 {
			missing = j - i + 1
			break
		}
		if len(head) > len(tail) {
			tail, j = append(tail, s), j-1
		} else {
			head, i = append(head, s), i+1
		}
	}
	slices.Reverse(tail)
	return append(head, tail...), missing
}

// listed writes sentences down, "" for none.
func listed(list []string, missing int) string {
	if len(list) == 0 {
		return ""
	}
	out := "[Of what is left out, the sentences that may forbid something:]\n* " + strings.Join(list, "\n* ") + "\n"
	if missing > 0 {
		out += fmt.Sprintf("[and %s of that kind]\n", clip.Count(missing, "more sentence"))
	}
	return out
}

// shorten is a text within about most bytes: its first and last words, and of what is
// left out the sentences that may forbid something.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	short := clip.Middle(s, most, "")
	kept, missing := within(slices.DeleteFunc(forbidding(s), func(x string) bool { return strings.Contains(short, x) }), maxSentences)
	if list := listed(kept, missing); list != "" {
		return list + short
	}
	return short
}
