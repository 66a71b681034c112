package transcript

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// An Entry is a message and, for each of its parts, the event it came from.
type Entry struct {
	llm.Message
	From []event.Seq
}

// A Gauge measures the conversation, for an estimate of its tokens.
type Gauge struct {
	Bytes int // of everything in the conversation now
	// Tokens and At: when the newest reply came, request and reply together
	// had this many tokens, and the conversation this many bytes.
	Tokens, At int
	// GrownTokens and GrownBytes add up, over the pairs of neighbouring
	// requests, how much the request grew in both measures.
	GrownTokens, GrownBytes int
	// Cleared tokens are not among Tokens: the provider left them out by itself.
	Cleared int `json:",omitempty"`

	prompt, sent int  // the newest request in tokens and bytes
	cut          bool // something was taken out since
}

// conversation is the part of State that is sent to models.
//
// One user message collects what stands between two replies: the results of
// the first one's calls in the order of the calls, then prompts in the order
// in which they were accepted. It stays in tail until the next reply.
type conversation struct {
	done rope[Entry]
	tail list[llm.Part]
	from list[event.Seq] // of tail

	round []slot // the calls of the newest reply while one of them is open
	held  []input
	early []result // results whose reply has not come yet
	gone  []string // calls of a dropped reply that still run

	cleared  trie[struct{}]
	stripped event.Seq
	partial  bool        // of a refused turn, or of a long result, something is left out
	declined event.Seq   // the first turn of those refused since the last reply; 0: none
	words    []event.Seq // events of this turn that hold what people said, or of one before that nobody answered
	boundary event.Seq   // what came before it is not sent any more; 0: nothing did
	told     []telling   // events that tell of tools by name
	gauge    Gauge
}

// A telling names tools to the model, and tools that are not there any more.
type telling struct {
	Seq         event.Seq
	Named, Gone []string
	Reworded    []string `json:",omitempty"`
}

// tells notes a telling.
func (c conversation) tells(t telling) conversation {
	c.told = append(slices.Clip(c.told), t)
	return c
}

// stillTold knows again which of the tellings of another conversation are in this one.
func (c conversation) stillTold(was conversation) conversation {
	there := map[event.Seq]bool{}
	for _, e := range c.entries() {
		for _, seq := range e.From {
			there[seq] = true
		}
	}
	for _, t := range was.told {
		if there[t.Seq] {
			c.told = append(c.told, t)
		}
	}
	return c
}

type slot struct {
	use    llm.ToolUse
	result llm.ToolResult
	seq    event.Seq // of the result
	done   bool      // it has its result
}

type input struct {
	seq   event.Seq
	parts []llm.Part
}

type result struct {
	llm.ToolResult
	Files []effect.File
	seq   event.Seq
}

func (c conversation) open() []llm.ToolUse {
	var out []llm.ToolUse
	for _, s := range c.round {
		if !s.done {
			out = append(out, s.use)
		}
	}
	return out
}

func (c conversation) entries() []Entry {
	c = c.closeRound(0)
	es := c.done.appendTo(make([]Entry, 0, c.done.len()+1))
	if len(c.tail.items) > 0 {
		es = append(es, c.tailEntry())
	}
	return es
}

func (c conversation) tailEntry() Entry {
	return Entry{llm.Message{Role: llm.User, Parts: slices.Clip(c.tail.items)}, slices.Clip(c.from.items)}
}

func (c conversation) add(seq event.Seq, p llm.Part) conversation {
	c.tail, c.from = c.tail.push(p), c.from.push(seq)
	c.gauge.Bytes += Size(p)
	return c
}

func (c conversation) input(seq event.Seq, parts []llm.Part) conversation {
	if c.round != nil {
		c.held = append(slices.Clip(c.held), input{seq, parts})
		return c
	}
	for _, p := range parts {
		c = c.add(seq, p)
	}
	return c
}

func (c conversation) replied(seq event.Seq, b event.Replied) conversation {
	c = c.closeRound(seq) // only after a damaged log
	c.declined = 0
	parts := make([]llm.Part, 0, len(b.Message.Parts))
	var round []slot
	for _, p := range b.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			if strings.TrimSpace(p.S) == "" {
				continue // providers refuse it in a request
			}
		case llm.ToolUse:
			round = append(round, slot{use: p})
		case llm.Thinking, llm.ToolResult, llm.Image, llm.Document:
		}
		parts = append(parts, p)
	}
	counted := c.gauge.believes(b.Usage)
	if counted {
		c.gauge = c.gauge.request(b.Usage)
	}
	if len(parts) > 0 {
		c = c.push(seq, parts)
	}
	if counted {
		c.gauge.Tokens, c.gauge.At = b.Usage.Prompt()+b.Usage.Out, c.gauge.Bytes
	}
	c.round = round
	early := c.early
	c.early = nil
	for _, r := range early {
		c, _ = c.withResult(r.seq, r.ToolResult)
	}
	return c
}

// push adds a reply. Two replies with nothing between them are one message.
func (c conversation) push(seq event.Seq, parts []llm.Part) conversation {
	from := slices.Repeat([]event.Seq{seq}, len(parts))
	for _, p := range parts {
		c.gauge.Bytes += Size(p)
	}
	n := c.done.len()
	switch {
	case len(c.tail.items) > 0:
		c.done = c.done.push(c.tailEntry())
		c.tail, c.from = list[llm.Part]{}, list[event.Seq]{}
	case n > 0:
		c.done = c.done.mapFrom(n-1, func(last Entry) Entry {
			last.Parts, last.From = slices.Concat(last.Parts, parts), slices.Concat(last.From, from)
			return last
		})
		return c
	default: // a conversation starts with a user
		p := llm.Part(llm.Text{S: "[the beginning of the conversation could not be read]"})
		c.gauge.Bytes += Size(p)
		c.done = c.done.push(Entry{llm.Message{Role: llm.User, Parts: []llm.Part{p}}, []event.Seq{seq}})
	}
	c.done = c.done.push(Entry{llm.Message{Role: llm.Assistant, Parts: parts}, from})
	return c
}

func (c conversation) finished(seq event.Seq, b event.ToolFinished) conversation {
	if i := slices.Index(c.gone, b.Call); i >= 0 {
		c.gone = slices.Concat(c.gone[:i], c.gone[i+1:])
		return c
	}
	r := llm.ToolResult{ID: b.Call, Text: b.Text, IsErr: b.IsErr, Images: b.Images}
	if l, ok := effect.Of[effect.Loaded](b.Effects); ok {
		r.Loaded = l.Tools
	}
	c, known := c.withResult(seq, r)
	if !known {
		c.early = append(slices.Clip(c.early), result{r, effect.Files(b.Effects), seq})
	}
	return c
}

// withResult notes the result of a call of the newest reply; known is false when
// no such call is open. The last result ends the round.
func (c conversation) withResult(seq event.Seq, r llm.ToolResult) (_ conversation, known bool) {
	i := slices.IndexFunc(c.round, func(s slot) bool { return !s.done && s.use.ID == r.ID })
	if i < 0 {
		return c, false
	}
	c.round = slices.Clone(c.round)
	c.round[i] = slot{c.round[i].use, r, seq, true}
	if slices.ContainsFunc(c.round, func(s slot) bool { return !s.done }) {
		return c, true
	}
	return c.closeRound(seq), true
}

// closeRound moves the results of the newest reply into the user message,
// and after them what was accepted meanwhile. Calls still open are given an
// Interrupted result.
func (c conversation) closeRound(seq event.Seq) conversation {
	if c.round == nil {
		return c
	}
	for _, s := range c.round {
		if !s.done {
			s.result, s.seq = llm.ToolResult{ID: s.use.ID, Text: Interrupted, IsErr: true}, seq
		}
		c = c.add(s.seq, s.result)
	}
	held := c.held
	c.round, c.held = nil, nil
	for _, in := range held {
		c = c.input(in.seq, in.parts)
	}
	return c
}

// dropped forgets the results of a discarded reply: those that came, and
// those of its calls that still run.
func (c conversation) dropped(calls []string) conversation {
	gone := slices.Clip(c.gone)
	for _, call := range calls {
		if !slices.ContainsFunc(c.early, func(r result) bool { return r.ID == call }) {
			gone = append(gone, call)
		}
	}
	c.gone, c.early = gone, nil
	return c
}

// restarted begins with a text. Inputs that wait for the end of a round come after
// it; what was measured of the model's way to count stays.
func (c conversation) restarted(seq event.Seq, text string) conversation {
	next := conversation{
		gone: c.gone, boundary: seq,
		gauge: Gauge{GrownTokens: c.gauge.GrownTokens, GrownBytes: c.gauge.GrownBytes, cut: true},
	}
	next = next.input(seq, []llm.Part{llm.Text{S: text}})
	for _, in := range c.held {
		next = next.input(in.seq, in.parts)
	}
	next.words = c.words
	next.words = next.unanswered()
	return next
}

// turnEnded closes the calls that have no result, but for one that was put off.
func (c conversation) turnEnded(seq event.Seq, deferred bool) conversation {
	if !deferred {
		c = c.closeRound(seq)
	}
	c.early, c.gone = nil, nil
	c.words = c.unanswered()
	return c
}

// mostBytes are more than one token of a conversation stands for.
const mostBytes = 32

// believes reports whether a server's count can be of the whole request. Some say none,
// or count only what they did not have in a cache.
func (g Gauge) believes(u llm.Usage) bool {
	return u.Prompt() > 0 && u.Cleared+u.Prompt() >= g.Bytes/mostBytes
}

// request notes the size of a request when its reply came.
func (g Gauge) request(u llm.Usage) Gauge {
	prompt := u.Prompt()
	if dt, db := prompt-g.prompt, g.Bytes-g.sent; g.prompt > 0 && !g.cut && u.Cleared == 0 && dt > 0 && db > 0 {
		g.GrownTokens += dt
		g.GrownBytes += db
	}
	g.prompt, g.sent, g.cut, g.Cleared = prompt, g.Bytes, false, u.Cleared
	return g
}

// ImageBytes stands for an image in a Gauge: about 1,600 tokens, what a
// picture of a million pixels costs.
const ImageBytes = 6400

// Size is how much of a request a part is, in bytes of text.
func Size(p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return len(p.S) + len(p.Opaque)
	case llm.Thinking:
		return len(p.S) + len(p.Opaque)
	case llm.ToolUse:
		return len(p.ID) + len(p.Name) + len(p.Input) + len(p.Opaque)
	case llm.ToolResult:
		return len(p.ID) + len(p.Text) + len(p.Images)*ImageBytes
	case llm.Image:
		return ImageBytes
	case llm.Document:
		return max(ImageBytes, len(p.Data)/8)
	}
	return 0
}
