// Package usage adds up what a session's requests to models and calls of tools
// came to: tokens, money and time, by when, by model, by purpose and by tool.
// It is pure. It reads no log, and never takes a price that is not known for
// nothing.
package usage

import (
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// A Request is one request to a model.
type Request struct {
	Model string
	// For is what a helper made it for; "" is the conversation.
	For         string
	Usage       llm.Usage
	Cost        float64 // USD
	Priced      bool
	First, Took time.Duration // to the first chunk and to the end; 0 when nobody took the time
	Retries     int           // how often it had to be sent again
}

// Spent adds up requests.
type Spent struct {
	Usage    llm.Usage     `json:"usage,omitzero"`
	Cost     float64       `json:"cost,omitempty"`     // USD, of those with a known price
	Replies  int           `json:"replies,omitempty"`  // of the conversation
	Helped   int           `json:"helped,omitempty"`   // requests that are no reply of it
	Unpriced int           `json:"unpriced,omitempty"` // requests without a known price
	Took     time.Duration `json:"took,omitempty"`     // from request to the end of the reply
	First    time.Duration `json:"first,omitempty"`    // to the first chunk, of Timed requests
	Timed    int           `json:"timed,omitempty"`
	Retries  int           `json:"retries,omitempty"`
}

// Plus returns s with one more request.
func (s Spent) Plus(r Request) Spent {
	one := Spent{Usage: r.Usage, Cost: r.Cost, Took: r.Took, Retries: r.Retries}
	if r.For == "" {
		one.Replies = 1
	} else {
		one.Helped = 1
	}
	if !r.Priced {
		one.Unpriced = 1
	}
	if r.First > 0 {
		one.First, one.Timed = r.First, 1
	}
	return s.Add(one)
}

// Add returns the sum of s and o.
func (s Spent) Add(o Spent) Spent {
	return Spent{
		s.Usage.Add(o.Usage), s.Cost + o.Cost, s.Replies + o.Replies, s.Helped + o.Helped, s.Unpriced + o.Unpriced,
		s.Took + o.Took, s.First + o.First, s.Timed + o.Timed, s.Retries + o.Retries,
	}
}

// Minus is what is in s and not in o, of tokens, money and requests that are no reply.
func (s Spent) Minus(o Spent) Spent {
	less := func(a, b int) int { return max(0, a-b) }
	return Spent{
		Usage: llm.Usage{
			In: less(s.Usage.In, o.Usage.In), Out: less(s.Usage.Out, o.Usage.Out), CacheRead: less(s.Usage.CacheRead, o.Usage.CacheRead),
			CacheWrite: less(s.Usage.CacheWrite, o.Usage.CacheWrite), CacheWriteLong: less(s.Usage.CacheWriteLong, o.Usage.CacheWriteLong),
			Reasoning: less(s.Usage.Reasoning, o.Usage.Reasoning), Cleared: less(s.Usage.Cleared, o.Usage.Cleared),
		},
		Cost: max(0, s.Cost-o.Cost), Helped: less(s.Requests(), o.Requests()), Unpriced: less(s.Unpriced, o.Unpriced),
	}
}

// Requests is how many were made.
func (s Spent) Requests() int { return s.Replies + s.Helped }

// FirstChunk is the mean time to the first chunk, 0 when it is not known.
func (s Spent) FirstChunk() time.Duration {
	if s.Timed == 0 {
		return 0
	}
	return s.First / time.Duration(s.Timed)
}

// HitRate is the part of what was sent that the provider had in its cache,
// from 0 to 1; ok is false when nothing was sent.
func (s Spent) HitRate() (rate float64, ok bool) {
	if s.Usage.Prompt() == 0 {
		return 0, false
	}
	return float64(s.Usage.CacheRead) / float64(s.Usage.Prompt()), true
}

// Known is the cost in USD; ok is false when no price is known of what was
// used.
func (s Spent) Known() (usd float64, ok bool) {
	return s.Cost, s.Unpriced == 0 || s.Cost != 0 || s.Unpriced < s.Requests()
}

// Money is the cost for people: what is not known is not called nothing.
func (s Spent) Money() string {
	usd, ok := s.Known()
	switch {
	case !ok:
		return "unknown"
	case usd > 0 && usd < 0.01:
		return "< $0.01" + more(s.Unpriced)
	}
	return fmt.Sprintf("$%.2f", usd) + more(s.Unpriced)
}

func more(unpriced int) string {
	if unpriced == 0 {
		return ""
	}
	return " and more"
}

// Work adds up calls of a tool.
type Work struct {
	Calls  int           `json:"calls,omitempty"`  // without those that were denied
	Errors int           `json:"errors,omitempty"` // of Calls
	Denied int           `json:"denied,omitempty"`
	Took   time.Duration `json:"took,omitempty"`
}

// Add returns the sum of w and o.
func (w Work) Add(o Work) Work {
	return Work{w.Calls + o.Calls, w.Errors + o.Errors, w.Denied + o.Denied, w.Took + o.Took}
}
