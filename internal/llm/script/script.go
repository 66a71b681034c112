// Package script owns the deterministic model: a text file says what the
// model answers. It speaks the Messages wire to the provider of that name
// inside the process, so every word takes the way of a real one. It opens no
// socket and knows nothing it is not told.
//
// # The format
//
// A script is a list of replies, separated by lines of "---". Replies are
// played in order, one for each request. Within a reply a line is:
//
//	# comment                 nothing; as is an empty line
//	> text                    prose; lines that follow each other are one text
//	% text                    reasoning; also "!think text"
//	@ Tool {"a": 1}           a call; no input is {}; "# comment" may follow
//	@! Tool raw text          a call whose input is that text, valid or not
//	? condition               at the head of a reply: when to play it
//	~50ms                     the pause before each word from here on
//	!429 retry-after=1        an error instead of a reply: any status of 400-599
//	!disconnect after=10      the connection breaks after 10 words; without
//	                          after= it breaks here
//	!stall 5s                 silence for 5 s; without a time it has no end
//	!stop max_tokens          why the reply ends: end_turn, tool_use, max_tokens,
//	                          refusal, pause_turn, model_context_window_exceeded
//	!usage in=9 out=2 cache_read=5 cache_write=1 reasoning=1
//
// An error status answers one request. What the reply says after it is the
// answer to the next one. A disconnected reply is not played again.
//
// A reply with a condition that is false is skipped. Of replies with
// conditions that follow each other the first that is true is played and the
// rest are skipped; when none is, the reply after them is next. "? else" is
// always true. A condition compares with ==, !=, contains and matches (a
// regular expression), and joins with &&, || and !, with parentheses. It knows:
//
//	is_error   whether one of the last results is an error
//	result     the text of the last results, joined by line feeds
//	tool       the names of the calls these results answer, joined by spaces
//	prompt     the text of the last message of the user that has one
//	system     the instructions
//	request    how many requests there were, this one included
//
// A line of "===" and a condition begins a part of its own: each conversation plays it
// from its beginning whose first request has the condition hold (that of an agent by what
// its prompt says). Questions that belong to no conversation, such as those of a
// classifier, play the first such part together. All others play what stands before the
// first such line, together.
//
// In texts and inputs of a reply, ${1} to ${9} stand for what the groups of the first
// pattern found that its condition has matched.
//
// After the last reply the model says "[script: no more replies]".
package script

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// OutOfReplies is what the model says when the script is over.
const OutOfReplies = "[script: no more replies]"

// A Config is what a Model may be given.
type Config struct {
	Version string        // of adze
	Idle    time.Duration // limit of a silent stream; 0: 90 s
}

// A Model plays one script. Requests take the replies of their part in the order they
// arrive, from however many goroutines.
type Model struct {
	client *anthropic.Client

	mu     sync.Mutex // guards the rest
	script *Script
	common playing             // of conversations without a part of their own
	own    map[string]*playing // of the others, by llm.Request.CacheKey; nil: it plays in common
}

// playing is how far a part was played.
type playing struct {
	replies []reply
	next    int // reply
	fault   int // errors of that reply that were played
	count   int // requests
	pace    time.Duration
}

var _ llm.Model = (*Model)(nil)

// New returns a model that plays s from the beginning.
func New(s *Script, c Config) *Model {
	m := &Model{script: s, common: playing{replies: s.parts[0].replies}, own: map[string]*playing{}}
	m.client = anthropic.New(anthropic.Config{
		Config: wire.Config{Provider: "script", Version: c.Version, Idle: c.Idle, Transport: player{m}}, BaseURL: "http://script.invalid",
	})
	return m
}

// maxScript bounds a script file, in bytes.
const maxScript = 64 << 20

// Load reads and parses a script file.
func Load(path string, c Config) (*Model, error) {
	text, err := regular.Read(path, maxScript)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	s, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read script %s: %w", path, err)
	}
	return New(s, c), nil
}

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return m.client.Stream(context.WithValue(ctx, conversation{}, r.CacheKey), r)
}

// conversation is the key of a context for llm.Request.CacheKey.
type conversation struct{}

// A turn is what answers one request.
type turn struct {
	reply  *reply // nil: the script is over
	fault  *fault // not nil: this error instead
	number int    // of the request, from 1
	pace   time.Duration
}

// take chooses what answers the request and moves on.
func (m *Model) take(key string, s scene) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.playing(key, s).take(s)
}

// playing is the part that a conversation plays.
func (m *Model) playing(key string, s scene) *playing {
	p, known := m.own[key]
	if !known || key == "" {
		s.request, p = 1, nil
		for i, part := range m.script.parts[1:] {
			if !part.cond.eval(s).truth() {
				continue
			}
			if key == "" { // questions that belong to no conversation play it together
				key = "part " + strconv.Itoa(i)
				p = m.own[key]
			}
			if p == nil {
				p = &playing{replies: part.replies}
			}
			break
		}
		m.own[key] = p
	}
	if p == nil {
		return &m.common
	}
	return p
}

func (m *playing) take(s scene) turn {
	m.count++
	s.request = m.count
	t := turn{number: m.count}
	if m.fault == 0 {
		m.skip(s)
	}
	if m.next >= len(m.replies) {
		t.pace = m.pace
		return t
	}
	r := &m.replies[m.next]
	if m.fault < len(r.faults) {
		t.fault = &r.faults[m.fault]
		m.fault++
		if m.fault == len(r.faults) && !r.speaks {
			m.step()
		}
		return t
	}
	t.reply, t.pace = r.with(found(r.cond, s)), m.pace
	for _, it := range r.items {
		if p, ok := it.(pace); ok {
			m.pace = time.Duration(p)
		}
	}
	m.step()
	return t
}

// with is the reply with what its condition found.
func (r *reply) with(got []string) *reply {
	if len(got) < 2 {
		return r
	}
	out := *r
	out.items = make([]item, len(r.items))
	for i, it := range r.items {
		switch x := it.(type) {
		case say:
			it = say(filled(string(x), got))
		case use:
			it = use{x.name, filled(x.input, got)}
		case think, pace, stall, cut:
		}
		out.items[i] = it
	}
	return &out
}

// skip passes over replies whose condition is false.
func (m *playing) skip(s scene) {
	for m.next < len(m.replies) {
		r := m.replies[m.next]
		if r.cond == nil || r.cond.eval(s).truth() {
			return
		}
		m.next++
	}
}

// step leaves the reply that was played, and with it the other choices.
func (m *playing) step() {
	choice := m.replies[m.next].cond != nil
	m.next++
	m.fault = 0
	for choice && m.next < len(m.replies) && m.replies[m.next].cond != nil {
		m.next++
	}
}
