package window

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

// A Map says what fills a model's window: what adze context prints as JSON. All
// numbers are tokens, estimated but for what the provider said.
type Map struct {
	Model  string `json:"model"`
	Window int    `json:"window"` // 0: not known
	// Effective is the window without the room for a reply, Warns and Compacts
	// are how much is used when a person is warned, and when the conversation is
	// compacted. 0: the window is not known.
	Effective int     `json:"effective"`
	Warns     int     `json:"warns_at"`
	Compacts  int     `json:"compacts_at"`
	Used      int     `json:"used"` // by the next request, so far
	Free      int     `json:"free"` // of Effective
	Shares    []Share `json:"shares"`
	Biggest   []Item  `json:"biggest"` // at most maxBiggest, the largest first
	Cleared   Gone    `json:"cleared"`
	Cache     Served  `json:"cache"`
}

// A Share is what all of one kind take.
type Share struct {
	Kind   string `json:"kind"`
	Count  int    `json:"count"`
	Tokens int    `json:"tokens"`
}

// An Item is one thing in the window.
type Item struct {
	Kind   string    `json:"kind"`
	Name   string    `json:"name"`
	Tokens int       `json:"tokens"`
	Event  event.Seq `json:"event,omitempty"` // 0: it comes with each request
	Call   string    `json:"call,omitempty"`  // the ID by which the log has a result
}

// Gone is what is not in the window any more.
type Gone struct {
	Results int       `json:"results"`         // of calls, one line each is left of them
	Media   bool      `json:"media,omitempty"` // images and documents were taken out
	From    event.Seq `json:"from,omitempty"`  // the compaction that the conversation begins with
	// Provider tokens were left out of the newest request by the provider itself.
	Provider int      `json:"provider,omitempty"`
	Records  []string `json:"records,omitempty"` // files that hold what compactions took out
}

// Served is how much of the newest request the provider's cache served.
type Served struct {
	Prompt int    `json:"prompt"`
	Read   int    `json:"read"`
	Missed int    `json:"missed"` // of what had been sent with the request before
	Why    string `json:"why"`    // in plain words
}

// Kinds of shares, in the order of a request.
const (
	kindInstructions = "instructions"
	kindMemory       = "memory"
	kindTools        = "tools"
	kindSummary      = "summary"
	kindPrompts      = "prompts"
	kindNotes        = "notes" // what adze says to the model
	kindAnswers      = "answers"
	kindThinking     = "thinking"
	kindCalls        = "calls"
	kindResults      = "results"
	kindMedia        = "images and documents"
)

var kinds = []string{
	kindInstructions, kindMemory, kindTools, kindSummary, kindPrompts, kindNotes,
	kindAnswers, kindThinking, kindCalls, kindResults, kindMedia,
}

const maxBiggest = 10

// A Piece is a part of what comes with each request: of the instructions, or a
// tool.
type Piece struct {
	Name  string
	Bytes int
}

// MapOf is the map of a conversation with a model.
func MapOf(s transcript.State, model string, windowTokens, outputCap int, instructions, tools []Piece) Map {
	m := Map{Model: model, Window: windowTokens, Effective: Effective(windowTokens, outputCap), Shares: []Share{}, Biggest: []Item{}}
	fixed, items := m.fixed(instructions, tools)
	talk := parts(s)
	bytes := 0
	for _, it := range talk {
		bytes += it.Tokens
	}
	m.Used = Estimate(s)
	if s.Gauge().Tokens == 0 { // nothing was reported yet
		m.Used += fixed
	}
	rest := max(0, m.Used-fixed)
	for i, it := range talk { // in proportion, so that all of it is what is used
		if bytes > 0 {
			talk[i].Tokens = int(float64(it.Tokens) * float64(rest) / float64(bytes))
		}
	}
	items = append(items, talk...)
	for _, k := range kinds {
		sh := Share{Kind: k}
		for _, it := range items {
			if it.Kind == k {
				sh.Count, sh.Tokens = sh.Count+1, sh.Tokens+it.Tokens
			}
		}
		if sh.Count > 0 {
			m.Shares = append(m.Shares, sh)
		}
	}
	order.By(items, func(a, b Item) int { return cmp.Compare(b.Tokens, a.Tokens) })
	m.Biggest = items[:min(len(items), maxBiggest)]
	m.Free, m.Warns, m.Compacts = max(0, m.Effective-m.Used), Warning(m.Effective), Threshold(m.Effective)
	m.Cleared = gone(s)
	m.Cache = served(s.Cache)
	return m
}

func (m *Map) fixed(instructions, tools []Piece) (tokens int, items []Item) {
	add := func(kind, name string, bytes int) {
		n := clip.Tokens(bytes)
		tokens, items = tokens+n, append(items, Item{Kind: kind, Name: name, Tokens: n})
	}
	for _, p := range instructions {
		kind := kindInstructions
		if strings.Contains(p.Name, "memory") || strings.Contains(p.Name, "notes") {
			kind = kindMemory
		}
		add(kind, "instructions: "+p.Name, p.Bytes)
	}
	for _, t := range tools {
		add(kindTools, "tool "+t.Name, t.Bytes)
	}
	return tokens, items
}

// parts are those of the conversation; Tokens are bytes here.
func parts(s transcript.State) (out []Item) {
	said, calls := map[event.Seq]bool{}, map[string]llm.ToolUse{}
	for _, p := range s.Said {
		said[p.Seq] = true
	}
	whole := broughtBack(s)
	for _, e := range s.Entries() {
		for i, p := range e.Parts {
			it := Item{Tokens: transcript.Size(p), Event: e.From[i]}
			switch p := p.(type) {
			case llm.Text:
				it.Kind, it.Name = kindNotes, "note: "+clip.Line(p.S, 50)
				switch {
				case e.Role == llm.Assistant:
					it.Kind, it.Name = kindAnswers, "answer: "+clip.Line(p.S, 50)
				case it.Event == s.Boundary() && !whole:
					it.Kind, it.Name = kindSummary, "summary of what came before"
				case said[it.Event] || it.Event == s.Boundary():
					it.Kind, it.Name = kindPrompts, "prompt: "+clip.Line(p.S, 50)
				}
			case llm.Thinking:
				it.Kind, it.Name = kindThinking, "thinking"
			case llm.ToolUse:
				calls[p.ID] = p
				it.Kind, it.Name, it.Call = kindCalls, strings.TrimSpace("call of "+p.Name+" "+transcript.Subject(p)), p.ID
			case llm.ToolResult:
				u := calls[p.ID]
				it.Kind, it.Name, it.Call = kindResults, strings.TrimSpace("result of "+u.Name+" "+transcript.Subject(u)), p.ID
			case llm.Image:
				it.Kind, it.Name = kindMedia, "image"
			case llm.Document:
				it.Kind, it.Name = kindMedia, "document "+clip.Line(p.Name, 80)
			}
			out = append(out, it)
		}
	}
	return out
}

// broughtBack reports whether the conversation is one that an undo or a rewind
// brought back: all of it is from that event.
func broughtBack(s transcript.State) bool {
	for _, e := range s.Entries() {
		if e.Role == llm.Assistant && e.From[0] == s.Boundary() {
			return true
		}
	}
	return false
}

func gone(s transcript.State) Gone {
	g := Gone{Media: s.Stripped() > 0, Records: s.Records, Provider: s.Gauge().Cleared}
	if !broughtBack(s) {
		g.From = s.Boundary()
	}
	for _, e := range s.Entries() {
		for _, p := range e.Parts {
			if r, ok := p.(llm.ToolResult); ok && s.Cleared(r.ID) {
				g.Results++
			}
		}
	}
	return g
}

// Providers keep a prefix for five minutes at least, and most for not much more
// than an hour.
const (
	keptFor   = 5 * time.Minute
	cacheable = 1024 // tokens: shorter prompts are not cached by most
)

// served says what the cache did for the newest request, and why not more.
func served(c transcript.Cache) Served {
	out := Served{Prompt: c.Prompt, Read: c.Read, Missed: max(0, c.Before-c.Read)}
	switch {
	case c.Prompt == 0:
		out.Why = "no request was answered yet"
	case c.Before == 0:
		out.Missed, out.Why = 0, "it was the first request"
	case out.Missed*20 <= c.Before: // markers, and what a provider rounds
		out.Why = "nothing of what had been sent before was missed"
	case !c.Any:
		out.Why = "the provider told of no cache"
	case c.Before < cacheable:
		out.Why = "the prompt was too short to be cached"
	default:
		out.Why = why(c)
	}
	return out
}

func why(c transcript.Cache) string {
	words := map[transcript.CacheChange]string{
		transcript.CacheModel: "another model was chosen", transcript.CacheTools: "the list of tools changed",
		transcript.CacheCleared: "old results were cleared", transcript.CacheStripped: "images and documents were taken out",
		transcript.CacheCompacted: "the conversation was compacted", transcript.CacheRewound: "the conversation went back",
		transcript.CacheResumed: "adze was started anew",
	}
	var all []string
	for _, x := range c.Between {
		if x != transcript.CacheResumed || len(c.Between) == 1 {
			all = append(all, words[x])
		}
	}
	if c.Idle >= keptFor {
		all = append(all, fmt.Sprintf("%d minutes passed, and the provider may keep a prefix for no longer than five", int(c.Idle.Minutes())))
	}
	if len(all) == 0 {
		return "the provider did not keep them, or another of its servers answered: what adze sent before did not change"
	}
	return strings.Join(all, "; ")
}

// View draws a map: the window as a meter, the biggest items, what is gone, and
// what the cache did.
func (m Map) View() view.Block {
	meter := view.Meter{Title: m.Model, Unit: "tokens", Whole: m.Effective}
	for _, s := range m.Shares {
		meter.Shares = append(meter.Shares, view.Share{Name: s.Kind, N: s.Tokens})
	}
	big := view.Table{Head: []string{"biggest", "tokens"}}
	for _, it := range m.Biggest {
		big.Rows = append(big.Rows, []string{it.Name, clip.Thousands(it.Tokens)})
	}
	return view.Group{Blocks: []view.Block{meter, big, view.Text{S: strings.Join(m.words(), "\n")}}}
}

func (m Map) words() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if m.Effective > 0 {
		say("Window: %s tokens, %s of them for the conversation. A warning comes at %s, compaction at %s.",
			clip.Thousands(m.Window), clip.Thousands(m.Effective), clip.Thousands(m.Warns), clip.Thousands(m.Compacts))
	} else {
		say("The model's window is not known, so that nothing is compacted by itself.")
	}
	switch g := m.Cleared; {
	case g.Results == 0 && !g.Media && g.From == 0 && g.Provider == 0:
		say("Cleared: nothing.")
	default:
		if g.Results > 0 {
			say("Cleared: %s; the log has all of it.", clip.Count(g.Results, "result"))
		}
		if g.Provider > 0 {
			say("The provider left about %s tokens of old results out of the newest request.", clip.Thousands(g.Provider))
		}
		if g.Media {
			say("Images and documents were taken out.")
		}
		if g.From > 0 {
			say("The conversation begins with the compaction at event %d.", g.From)
		}
		for _, r := range g.Records {
			say("What was taken out: %s", r)
		}
	}
	c := m.Cache
	if c.Prompt > 0 {
		say("Cache: %s of the newest request's %s tokens came from it.", clip.Thousands(c.Read), clip.Thousands(c.Prompt))
	}
	if c.Missed > 0 {
		say("Missed: %s tokens, because %s.", clip.Thousands(c.Missed), c.Why)
	} else {
		say("Missed: none; %s.", c.Why)
	}
	return out
}
