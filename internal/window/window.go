// Package window computes what a model sees of a conversation, and how full
// its window is. Everything here is a pure function: the same state gives the
// same bytes, because providers bill a prefix that changed. It decides what
// ought to be cut; that it was cut is an event, and the fold makes it so.
package window

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

// Bounds of context.md, "Window management".
const (
	// MessageChars bounds the results of one message, in characters.
	MessageChars = 200_000
	// KeepResults are never cleared.
	KeepResults = 5
	// ClearAtLeast tokens must come free, or nothing is cleared; in a small
	// window, an eighth of it.
	ClearAtLeast = 20_000
	// outputReserve is the most that is set aside for a reply.
	outputReserve = 20_000
	// blockBelow: with fewer free tokens the model is not called; in a small
	// window, with less than a tenth of it.
	blockBelow = 3_000
	// compactMargin and warnMargin stand between the effective window and
	// compaction, and between compaction and its warning.
	compactMargin, warnMargin = 13_000, 20_000
	maxRatio                  = 3
	// ColdAfter this long without a request a provider's cache is gone, so
	// that clearing costs nothing.
	ColdAfter = time.Hour
)

// MessageBound is how many characters the results of one message may have for an
// effective window: at most about half of it.
func MessageBound(effective int) int {
	if effective <= 0 {
		return MessageChars
	}
	return min(MessageChars, 2*effective)
}

// Build returns the messages to send. Whatever was cleared, stripped or held to
// a bound is already so in s, by an event.
func Build(s transcript.State) []llm.Message { return s.Messages() }

// A Large result has to be shorter, because of what else is in its message.
type Large struct {
	Call, Text string
	Chars      int // that it may have
}

// Over lists the results that make those of one message have more than bound
// characters together: the largest of them, all to be cut to one length. It looks
// at results only, so that a prompt that joins the message later changes nothing
// before it. Messages of which nothing came after an event are not looked at, nor
// what is before them; 0 is all.
func Over(s transcript.State, bound int, after event.Seq) (out []Large) {
	var found []llm.Message // the newest first
	for e := range s.Newest() {
		if after > 0 && !slices.ContainsFunc(e.From, func(from event.Seq) bool { return from > after }) {
			break
		}
		total := 0
		for _, p := range e.Parts {
			if r, ok := p.(llm.ToolResult); ok {
				total += len(r.Text)
			}
		}
		if total > bound { // bytes are never fewer than characters
			found = append(found, e.Message)
		}
	}
	for _, m := range slices.Backward(found) {
		out = append(out, over(m, bound)...)
	}
	return out
}

func over(m llm.Message, bound int) (out []Large) {
	var sizes []int
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			sizes = append(sizes, utf8.RuneCountInString(r.Text))
		}
	}
	limit := level(sizes, bound)
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok && utf8.RuneCountInString(r.Text) > max(limit, leastChars) {
			out = append(out, Large{r.ID, r.Text, limit})
		}
	}
	return out
}

const (
	noteChars = 100 // room for a line that says what was cut
	// leastChars of a result are never cut, because the line that would say so has
	// about as many.
	leastChars = 500
)

// Cut shortens the text of a large result to its characters; how says in the
// middle of it how the rest can be had. A text that would not get shorter stays as
// it is.
func (l Large) Cut(how string) string {
	n := utf8.RuneCountInString(l.Text)
	// clip counts bytes: a text of wide characters is given as many as so many of its characters have
	bytes := len(l.Text) * max(0, l.Chars-noteChars-utf8.RuneCountInString(how)) / max(1, n)
	if s := clip.Middle(l.Text, bytes, how); utf8.RuneCountInString(s) < n {
		return s
	}
	return l.Text
}

// level is the largest bound for each size such that all of them together
// stay within max.
func level(sizes []int, max int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	left := max
	for i, n := range sorted {
		share := left / (len(sorted) - i)
		if n > share {
			return share
		}
		left -= n
	}
	return max
}

// Effective is the window that a conversation may fill: what is left when
// room for a reply is set aside, at most a quarter of the window. 0 tokens of
// window mean it is not known.
func Effective(windowTokens, outputCap int) int {
	if windowTokens <= 0 {
		return 0
	}
	return windowTokens - min(max(outputCap, 0), outputReserve, windowTokens/4)
}

// Reply is how many tokens a reply may have where most are wanted: what is left
// of the window, because providers refuse a request that could go beyond it.
func Reply(most, windowTokens, used int) int {
	if windowTokens <= 0 {
		return most
	}
	left := windowTokens - used - windowTokens/32 // used is an estimate
	return min(most, max(left, windowTokens/16))
}

// Blocking reports whether tokens fill an effective window so far that a
// request makes no sense. A window that is not known never blocks.
func Blocking(tokens, effective int) bool {
	return effective > 0 && effective-tokens < min(blockBelow, effective/10)
}

// Estimate is the tokens of the next request: what the provider reported for
// the newest reply and its request, and an estimate for what came after. Before
// the first report it knows nothing of instructions and tools.
func Estimate(s transcript.State) int {
	g := s.Gauge()
	after := g.Bytes - g.At
	return max(0, g.Tokens+int(float64(after)/4*Ratio(s)))
}

// Ratio is how many real tokens an estimated one (four bytes) turned out to
// be in this session, 1 while too little was seen. It is at most maxRatio: text in
// base64 has hardly fewer than one and a half bytes a token.
func Ratio(s transcript.State) float64 {
	g := s.Gauge()
	if g.GrownBytes < 4_000 {
		return 1
	}
	return min(maxRatio, max(0.5, float64(g.GrownTokens)*4/float64(g.GrownBytes)))
}

// Full reports whether an effective window is so full that clearing is worth a
// changed prefix: more than 60 % of it are taken. In a small window, where less
// comes free each time, that is so when the conversation would be compacted
// otherwise: the later results are cleared, the more of them go at once, and the
// fewer requests begin with something that no cache holds.
func Full(tokens, effective int) bool {
	return effective > 0 && tokens > FullAt(effective)
}

// FullAt is the most tokens with which an effective window is not Full.
func FullAt(effective int) int {
	if effective < 8*ClearAtLeast {
		return Threshold(effective) - 1
	}
	return effective * 6 / 10
}

// Least is how many tokens must come free, or nothing is cleared.
func Least(effective int) int {
	if effective > 0 {
		return min(ClearAtLeast, effective/8)
	}
	return ClearAtLeast
}

// ToClear lists the calls whose results should be cleared next, oldest first:
// those that can be had again, as again says of a tool's name, but the newest
// five. It is empty when fewer than ClearAtLeast tokens would come free.
func ToClear(s transcript.State, effective int, again func(tool string) bool) []string {
	out, _ := Look{}.ToClear(s, effective, again)
	return out
}

// A Look is what there was to clear in a conversation that was gone through. The
// zero value is of one that is empty.
type Look struct {
	boundary, stripped event.Seq
	at                 int // bytes of the conversation
	most               int // bytes that would come free, if no result were too new
}

// ToClear is the function ToClear for a conversation that went on since the look. It
// is gone through again only when what came since can make the difference; what was
// cleared since makes none.
func (l Look) ToClear(s transcript.State, effective int, again func(tool string) bool) (calls []string, next Look) {
	size, least, ratio := s.Gauge().Bytes, float64(Least(effective)), Ratio(s)
	same := l.boundary == s.Boundary() && l.stripped == s.Stripped() && size >= l.at
	if same && float64(l.most+size-l.at)/4*ratio < least {
		return nil, l
	}
	calls, bytes, later := clearing(s, KeepResults, again)
	if float64(bytes)/4*ratio < least {
		return nil, Look{s.Boundary(), s.Stripped(), size, bytes + later}
	}
	return calls, Look{}
}

// coldAtLeast tokens make a conversation worth clearing whose prefix no cache
// holds any more.
const coldAtLeast = ClearAtLeast / 8

// ToClearCold is ToClear for when the provider's cache has gone cold, so that a
// changed prefix costs nothing: less has to come free.
func ToClearCold(s transcript.State, again func(tool string) bool) []string {
	out, bytes, _ := clearing(s, KeepResults, again)
	if float64(bytes)/4*Ratio(s) < coldAtLeast {
		return nil
	}
	return out
}

// Drain lists all calls whose results can be cleared, when nothing else makes
// a request fit: all but those that the model has not seen yet.
func Drain(s transcript.State, again func(tool string) bool) []string {
	ms := s.Messages()
	fresh := 0
	if n := len(ms); n > 0 {
		for _, p := range ms[n-1].Parts {
			if _, ok := p.(llm.ToolResult); ok {
				fresh++
			}
		}
	}
	out, bytes, _ := clearing(s, fresh, again)
	if bytes == 0 {
		return nil
	}
	return out
}

// clearing lists the calls whose results can be cleared, but for the newest
// keep of them, how many bytes come free, and how many the newest have.
func clearing(s transcript.State, keep int, again func(tool string) bool) (out []string, bytes, later int) {
	names := map[string]string{}
	var calls []string
	var free []int // bytes
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				names[p.ID] = p.Name
			case llm.ToolResult:
				if again(names[p.ID]) {
					calls, free = append(calls, p.ID), append(free, len(p.Text)+len(p.Images)*transcript.ImageBytes)
				}
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	old := max(0, len(calls)-keep)
	stays := make(map[string]bool, len(calls)-old)
	for i, id := range calls[old:] {
		stays[id] = true
		later += free[old+i]
	}
	for i, id := range calls[:old] {
		switch {
		case stays[id]:
			later += free[i]
		case !s.Cleared(id):
			stays[id] = true // it is listed once
			out, bytes = append(out, id), bytes+max(0, free[i]-noteChars)
		}
	}
	return out, bytes, later
}
