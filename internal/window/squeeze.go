package window

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/transcript"
)

// FreshBytes is how many bytes the results that the model has not seen yet may have
// for an effective window: about half of it, by the ratio of bytes to tokens that was
// measured. 0: there is no bound, because the window is not known. What was sent before
// keeps the bound that it had, because another one would change the prefix.
func FreshBytes(effective int, ratio float64) int {
	if effective <= 0 {
		return 0
	}
	return int(2 * float64(effective) / max(1, ratio))
}

// FreshOver lists the results to shorten so that those of the newest message have no
// more than most bytes together.
func FreshOver(s transcript.State, most int) []Large {
	rs := fresh(s)
	total := 0
	for _, r := range rs {
		total += len(r.Text)
	}
	return lose(rs, total-most)
}

// Lopsided reports whether more than half of a conversation is results that the
// model has not seen yet.
func Lopsided(s transcript.State) bool {
	total := 0
	for _, r := range fresh(s) {
		total += len(r.Text)
	}
	return 2*total > s.Gauge().Bytes
}

// Squeeze lists the results to shorten so that a conversation loses so many bytes,
// or as many as it can: those that the model has not seen yet, or all of them. The
// largest give way, to one level.
func Squeeze(s transcript.State, bytes int, onlyFresh bool) []Large {
	if onlyFresh {
		return lose(fresh(s), bytes)
	}
	var rs []llm.ToolResult
	for _, m := range s.Messages() {
		rs = append(rs, resultsOf(m)...)
	}
	return lose(rs, bytes)
}

// fresh are the results that no reply came to.
func fresh(s transcript.State) []llm.ToolResult {
	for e := range s.Newest() {
		if e.Role == llm.User {
			return resultsOf(e.Message)
		}
		break
	}
	return nil
}

func resultsOf(m llm.Message) (out []llm.ToolResult) {
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			out = append(out, r)
		}
	}
	return out
}

func lose(rs []llm.ToolResult, bytes int) (out []Large) {
	if bytes <= 0 {
		return nil
	}
	var sizes []int
	for _, r := range rs {
		sizes = append(sizes, len(r.Text))
	}
	limit := lowered(sizes, bytes)
	for _, r := range rs {
		if len(r.Text) > limit {
			out = append(out, Large{r.ID, r.Text, limit * utf8.RuneCountInString(r.Text) / len(r.Text)})
		}
	}
	return out
}

// lowered is the bound for each size with which all of them together are smaller by
// so much, as far as leastChars lets them.
func lowered(sizes []int, by int) int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	return max(leastChars, level(sizes, max(0, total-by)))
}

// Shorten makes the conversation of a request shorter by so many tokens (0: by a
// fifth), for a request that is not one of the conversation: the oldest rounds are
// left out, and where that is not enough, the longest texts and results are cut.
// It returns ms itself when nothing can go.
func Shorten(ms []llm.Message, tokens int, ratio float64) []llm.Message {
	total := Bytes(ms)
	want := total / 5
	if tokens > 0 {
		want = int(float64(4*tokens) / ratio)
	}
	out := WithoutOldest(ms, tokens, ratio)
	if left := want - (total - Bytes(out)); left > 0 {
		out = cutLongest(out, left)
	}
	return out
}

// cutLongest cuts the longest texts and results to one level, so that so many bytes go.
func cutLongest(ms []llm.Message, bytes int) []llm.Message {
	var sizes []int
	for _, m := range ms {
		for _, p := range m.Parts {
			sizes = append(sizes, len(cuttable(m, p)))
		}
	}
	limit := lowered(sizes, bytes)
	if len(sizes) == 0 || slices.Max(sizes) <= limit {
		return ms
	}
	out := slices.Clone(ms)
	for i, m := range ms {
		out[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			text := cuttable(m, p)
			if len(text) <= limit {
				continue
			}
			text = clip.Middle(text, limit-noteChars, "")
			switch p := p.(type) {
			case llm.ToolResult:
				p.Text = text
				out[i].Parts[j] = p
			case llm.Text:
				p.S = text
				out[i].Parts[j] = p
			case llm.Thinking, llm.ToolUse, llm.Image, llm.Document:
			}
		}
	}
	return out
}

// cuttable is what of a part may be cut: results, and what a user's message says.
func cuttable(m llm.Message, p llm.Part) string {
	switch p := p.(type) {
	case llm.ToolResult:
		return p.Text
	case llm.Text:
		if m.Role == llm.User {
			return p.S
		}
	case llm.Thinking, llm.ToolUse, llm.Image, llm.Document:
	}
	return ""
}

var numbers = pattern.Lazy(`[0-9][0-9,_]*`)

// leastCounted is the smallest number in a provider's words that counts as tokens.
const leastCounted = 100

// Counted is what a provider that refused a request as too long said of it: the
// tokens of its input, and how many input and reply may have together. asked is the
// output cap of the request. Providers write these numbers into sentences: "input
// length and max_tokens exceed context limit: 14346 + 4096 > 16384" (Anthropic),
// "maximum context length is 16384 tokens. However, you requested 18442 tokens (14346
// in the messages, 4096 in the completion)" (OpenAI, vLLM), "prompt is too long: 21000
// tokens > 16384 maximum" (Anthropic). 0, 0: it is not clear.
func Counted(text string, asked int) (input, limit int) {
	var seen []int
	for _, s := range numbers().FindAllString(text, -1) {
		n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(s))
		if err == nil && n >= leastCounted && !slices.Contains(seen, n) {
			seen = append(seen, n)
		}
	}
	if asked <= 0 || !slices.Contains(seen, asked) {
		if big := slices.DeleteFunc(slices.Clone(seen), func(n int) bool { return n < 1000 }); len(big) == 2 {
			return max(big[0], big[1]), min(big[0], big[1])
		}
		return 0, 0
	}
	if len(seen) < 3 {
		return 0, 0
	}
	for _, l := range seen {
		for _, in := range seen {
			if in == asked || in >= l || in+asked <= l {
				continue
			}
			if input == 0 || slices.Contains(seen, in+asked) {
				input, limit = in, l
			}
		}
	}
	return input, limit
}

// leastReply is the smallest output cap that is worth asking for, in tokens.
const leastReply = 256

// Fewer is the output cap with which a request that was refused fits, by the numbers
// that the provider said; 0: there is none that is worth asking for.
func Fewer(text string, asked int) int {
	input, limit := Counted(text, asked)
	left := limit - input
	if input == 0 || left >= asked || left < max(leastReply, limit/32) {
		return 0
	}
	return left
}
