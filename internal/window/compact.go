package window

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

// Threshold is how many tokens a conversation has when it is compacted by
// itself: compactMargin below an effective window, in a small one a sixth of it.
func Threshold(effective int) int { return effective - min(compactMargin, effective/6) }

// Warning is from how many tokens on a person is told that compaction is near.
func Warning(effective int) int { return Threshold(effective) - min(warnMargin, effective/8) }

// Nearly reports whether tokens reached the threshold of an effective window.
func Nearly(tokens, effective int) bool { return effective > 0 && tokens >= Threshold(effective) }

// Shares say how many tokens each part of what takes a conversation's place may
// have.
type Shares struct {
	Summary int
	Said    int // prompts of people, word for word
	Tail    int // the newest messages
	File    int // one file that was read lately; 0: none is worth it
	Other   int // each of: the plan, the list of changed files, the todo list
}

// Bounds of context.md in tokens, for a window that has room for them.
const (
	maxSummary  = 20_000
	maxSaid     = 20_000
	maxTail     = 10_000
	maxFile     = 5_000
	minFile     = 500 // less of a file is worth nothing
	RecentFiles = 5

	behindLeast, behindMost = 10_000, 40_000
	behindTexts             = 5 // messages
)

// SharesOf leaves half of what instructions and tools (overhead, in tokens) leave
// of a window below its threshold. A window that is not known counts as large.
func SharesOf(effective, overhead int) Shares {
	if effective <= 0 {
		return Shares{maxSummary, maxSaid, maxTail, maxFile, maxFile}
	}
	half := max(0, Threshold(effective)-overhead) / 2
	s := Shares{Summary: min(maxSummary, half/4), Said: min(maxSaid, half/4), Tail: min(maxTail, half/8), Other: half / 50}
	if s.File = min(maxFile, half*3/10/RecentFiles); s.File < minFile {
		s.File = 0
	}
	return s
}

// In is the shares of a conversation whose tokens have fewer bytes than four: who makes
// four bytes of each token then makes what fits. ratio is that of Ratio.
func (s Shares) In(ratio float64) Shares {
	part := func(n int) int { return int(float64(n) / max(1, ratio)) }
	s = Shares{part(s.Summary), part(s.Said), part(s.Tail), part(s.File), part(s.Other)}
	if s.File < minFile {
		s.File = 0
	}
	return s
}

// Standing is how many tokens instructions and tools take in a conversation, where
// estimated is what Overhead says of them: what the provider counted and the
// conversation does not explain, or, before it counted anything, the estimate
// by the conversation's Ratio. Text in a language or code with few bytes a token
// says nothing of the instructions beside it, which are English.
func Standing(s transcript.State, estimated int) int {
	g, ratio := s.Gauge(), Ratio(s)
	most := int(float64(estimated) * max(1, ratio))
	if g.Tokens == 0 {
		return most
	}
	return min(most, max(estimated, g.Tokens-int(float64(g.At)/4*ratio)))
}

// Overhead estimates the tokens of instructions and tools.
func Overhead(system []string, tools []llm.Spec) int {
	n := 0
	for _, s := range system {
		n += len(s)
	}
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return clip.Tokens(n)
}

// Tail is the event from which on messages are kept as they are: whole replies
// with the results of their calls, of at most so many tokens and at most half of
// the conversation. A prompt that no reply came to is kept whatever it has.
func Tail(s transcript.State, tokens int) event.Seq {
	from := s.Seq + 1 // what comes while the summary is written
	es := s.Entries()
	room := min(4*tokens, s.Gauge().Bytes/2)
	if prompt := waiting(s, es); prompt > 0 {
		from = prompt
	}
	bytes := 0
	for i := len(es) - 1; i > 0; i-- {
		for _, p := range es[i].Parts {
			bytes += transcript.Size(p)
		}
		if bytes > room {
			break
		}
		if es[i].Role == llm.Assistant {
			from = es[i].From[0]
		}
	}
	return from
}

// waiting is the first of the prompts that no reply came to; 0: there is none.
func waiting(s transcript.State, es []transcript.Entry) event.Seq {
	if n := len(es); n > 0 && es[n-1].Role == llm.User {
		for i, p := range es[n-1].Parts {
			if _, result := p.(llm.ToolResult); !result && es[n-1].From[i] != s.Boundary() {
				return es[n-1].From[i]
			}
		}
	}
	return 0
}

// Behind is the event from which on messages stay when notes on all up to and
// with an event take a conversation's place: what came after it, and of what came
// before whole replies until there are behindLeast tokens and behindTexts messages with
// words. ok is false when what came after has more than behindMost tokens, or too
// little would go. In a small window the bounds are parts of it.
func Behind(s transcript.State, through event.Seq, effective, overhead int) (from event.Seq, ok bool) {
	es := s.Entries()
	if through <= s.Boundary() || len(es) == 0 {
		return 0, false
	}
	least, most := behindLeast, behindMost
	if effective > 0 {
		half := max(0, Threshold(effective)-overhead) / 2
		least, most = min(least, half/8), min(most, half/2)
	}
	at, from := after(es, through)
	if prompt := waiting(s, es); prompt > 0 && (from == 0 || prompt < from) {
		from = prompt
	}
	if from == 0 {
		from = s.Seq + 1
	}
	bytes, texts := 0, 0
	for _, e := range es[at:] {
		bytes, texts = bytes+Bytes([]llm.Message{e.Message}), texts+worded(e)
	}
	tokens := func(bytes int) int { return int(float64(bytes) / 4 * Ratio(s)) }
	if tokens(bytes) > most {
		return 0, false
	}
	grown, words := bytes, texts
	for i := at - 1; i > 0 && (tokens(bytes) < least || texts < behindTexts); i-- {
		grown, words = grown+Bytes([]llm.Message{es[i].Message}), words+worded(es[i])
		if tokens(grown) > most {
			break
		}
		if es[i].Role == llm.Assistant {
			from, bytes, texts = es[i].From[0], grown, words
		}
	}
	return from, bytes*5 <= s.Gauge().Bytes*4
}

// after finds the first message, and the first event of those that stay, that came
// after an event. A reply that was answered after it counts as such.
func after(es []transcript.Entry, through event.Seq) (at int, from event.Seq) {
	for i, e := range es {
		for j, p := range e.Parts {
			if e.From[j] <= through {
				continue
			}
			if _, result := p.(llm.ToolResult); result && i > 0 {
				return i - 1, es[i-1].From[0]
			}
			return i, e.From[j]
		}
	}
	return len(es), 0
}

// worded is 1 for a message in which somebody says something.
func worded(e transcript.Entry) int {
	for _, p := range e.Parts {
		if t, ok := p.(llm.Text); ok && strings.TrimSpace(t.S) != "" {
			return 1
		}
	}
	return 0
}

// Said lists people's prompts word for word, but those that shown says stand in
// the conversation anyway, as far as they fit so many tokens: the first one, and
// the newest.
func Said(s transcript.State, tokens int, shown func(event.Seq) bool) string {
	var all []transcript.Said
	for _, p := range s.Said {
		if p.Gone == 0 && !shown(p.Seq) && strings.TrimSpace(p.Text) != "" {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return ""
	}
	room := 4 * tokens
	one := func(p transcript.Said) string {
		text := clip.Middle(p.Text, max(200, room/4), "the record has the rest of this message")
		return "- " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	first := one(all[0])
	room -= len(first)
	var newest []string
	left := len(all) - 1
	for ; left > 0; left-- {
		text := one(all[left])
		if room -= len(text); room < 0 {
			break
		}
		newest = append(newest, text)
	}
	lines := []string{first}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("- [%s left out here; the record has them]", clip.Count(left, "message")))
	}
	for i := len(newest) - 1; i >= 0; i-- {
		lines = append(lines, newest[i])
	}
	return strings.Join(lines, "\n")
}

// Ask is a request's conversation with a question of the program's own behind it.
func Ask(ms []llm.Message, text string) []llm.Message {
	ask := llm.Part(llm.Text{S: text})
	n := len(ms)
	if n > 0 && ms[n-1].Role == llm.User {
		last := ms[n-1]
		last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], ask)
		return append(ms[:n-1:n-1], last)
	}
	return append(ms[:n:n], llm.Message{Role: llm.User, Parts: []llm.Part{ask}})
}

// Bytes is the size of messages, as a Gauge counts.
func Bytes(ms []llm.Message) (n int) {
	for _, m := range ms {
		for _, p := range m.Parts {
			n += transcript.Size(p)
		}
	}
	return n
}

// WithoutOldest leaves out the oldest rounds of a conversation until it is
// shorter by so many tokens (0: by a fifth), but never the newest reply. What it
// begins with stays when it is short, because that may be an earlier summary. It
// returns ms itself when nothing can go.
func WithoutOldest(ms []llm.Message, tokens int, ratio float64) []llm.Message {
	sizes, total := make([]int, len(ms)), 0
	for i := range ms {
		sizes[i] = Bytes(ms[i : i+1])
		total += sizes[i]
	}
	want := total / 5
	if tokens > 0 {
		want = int(float64(4*tokens) / ratio)
	}
	var begin []llm.Part
	freed, at := 0, 0
	for i, m := range ms {
		if i == 0 && sizes[0] <= total/4 {
			begin = m.Parts[:len(m.Parts):len(m.Parts)]
			continue
		}
		if m.Role == llm.Assistant && (i > 1 || begin == nil) {
			at = i
			if freed >= want {
				break
			}
		}
		freed += sizes[i]
	}
	if at == 0 {
		return ms
	}
	begin = append(begin, llm.Text{S: "[the oldest part of the conversation is left out here, because it did not fit]"})
	return append([]llm.Message{{Role: llm.User, Parts: begin}}, ms[at:]...)
}

// recordLine is what a record has around each part, in bytes, about.
const recordLine = 64

// Record is a part of a conversation as text, in which each result can be found
// by its call's ID.
func Record(es []transcript.Entry) string {
	size := 0
	for _, e := range es {
		for _, p := range e.Parts {
			size += transcript.Size(p) + recordLine
		}
	}
	var b strings.Builder
	b.Grow(size) // megabytes: grown bit by bit, it would need them several times
	for _, e := range es {
		for i, p := range e.Parts {
			switch p := p.(type) {
			case llm.Text:
				fmt.Fprintf(&b, "== %s (event %d)\n%s\n\n", e.Role, e.From[i], p.S)
			case llm.ToolUse:
				fmt.Fprintf(&b, "== call %s: %s (event %d)\n%s\n\n", p.ID, p.Name, e.From[i], p.Input)
			case llm.ToolResult:
				fmt.Fprintf(&b, "== result %s (event %d)\n%s\n\n", p.ID, e.From[i], p.Text)
			case llm.Image, llm.Document:
				fmt.Fprintf(&b, "== %s (event %d)\n[a picture or a document]\n\n", e.Role, e.From[i])
			case llm.Thinking: // it was for the model alone
			}
		}
	}
	return b.String()
}
