package background

import (
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// The cheaper way is taken; without prices, the one that leaves a server's cache
// alone.
func TestTheCheaperWay(t *testing.T) {
	at := func(name string, per float64) agent.Target {
		if per < 0 {
			return agent.Target{Provider: "p", Name: name}
		}
		return agent.Target{Provider: "p", Name: name, Cost: dollars(per)}
	}
	small := func(t agent.Target) *agent.Target { return &t }
	for _, c := range []struct {
		name   string
		m      Models
		whole  int
		cached int // of the whole: 1 or 0
		share  bool
		ok     bool
	}{
		{"a long conversation", Models{at("large", 3), small(at("small", 1)), true}, 150_000, 1, false, true},
		{"a short one and a small model that costs nearly as much", Models{at("large", 3), small(at("small", 2.8)), true}, 12_000, 1, true, true},
		{"the same model, short", Models{at("large", 3), small(at("large", 3)), true}, 20_000, 1, true, true},
		{"the same model, very long", Models{at("large", 3), small(at("large", 3)), true}, 900_000, 1, false, true},
		{"a short one that the provider has not kept", Models{at("large", 3), small(at("small", 2.8)), true}, 12_000, 0, false, true},
		{"no prices, the same model", Models{at("local", -1), small(at("local", -1)), true}, 20_000, 1, true, true},
		{"no prices, another", Models{at("local", -1), small(at("tiny", -1)), true}, 20_000, 1, false, true},
		{"no small one", Models{at("local", -1), nil, true}, 20_000, 1, true, true},
		{"a script", Models{at("m", 0), nil, false}, 20_000, 0, false, false},
		{"a script with a small one", Models{at("m", 0), small(at("s", 0)), false}, 20_000, 0, false, true},
	} {
		target, share, ok := c.m.choose(task{whole: c.whole, cached: c.cached * c.whole, news: 8_000, prompt: 1_000, reply: 2_000})
		if share != c.share || ok != c.ok {
			t.Errorf("%s: behind it %t, %t", c.name, share, ok)
		}
		if want := c.m.Main; ok && !share && c.m.Small != nil && target.ID() != c.m.Small.ID() || share && target.ID() != want.ID() {
			t.Errorf("%s: asks %s", c.name, target.ID())
		}
	}
}

// No turn costs three times: behind a conversation that is not in a cache, or with a
// model as dear as the session's, a helper waits for a turn that costs more itself; and
// it makes no more requests than the turn leaves. Each row is one turn of a session
// of 50,000 tokens with 5,000 of news.
func TestHelpersCostNoMoreThanTurns(t *testing.T) {
	at := func(name string, per float64) agent.Target {
		if per < 0 {
			return agent.Target{Provider: "p", Name: name}
		}
		return agent.Target{Provider: "p", Name: name, Cost: dollars(per)}
	}
	small := at("small", 1)
	tiny := at("tiny", -1)
	const whole = 50_000
	step := llm.Usage{CacheRead: 48_000, CacheWrite: 2_000, Out: 400}
	full := llm.Usage{In: whole, Out: 400}
	for _, c := range []struct {
		name          string
		m             Models
		requests      []llm.Usage
		notes, memory int // requests that they may make
	}{
		{"a small model, work", Models{at("large", 3), &small, true}, []llm.Usage{step, step, step, step}, 3, 8},
		{"a small model, a short word", Models{at("large", 3), &small, true}, []llm.Usage{step}, 2, 1},
		{"a small model without prices", Models{at("large", -1), &tiny, true}, []llm.Usage{step, step}, 3, 4},
		{"no small one, cached, work", Models{at("large", 3), nil, true}, []llm.Usage{step, step, step, step}, 3, 1},
		{"no small one, cached, a short word", Models{at("large", 3), nil, true}, []llm.Usage{step}, 0, 1},
		{"no small one, nothing cached", Models{at("local", -1), nil, true}, []llm.Usage{full}, 1, 0},
		{"nothing cached, and no usage is said", Models{at("local", -1), nil, true}, []llm.Usage{{}, {}}, 2, 0},
		{"a turn without a request", Models{at("large", 3), &small, true}, nil, 0, 0},
	} {
		var p purse
		p.add(event.TurnStarted{}, 0)
		for _, u := range c.requests {
			p.add(event.Replied{Usage: u}, whole)
		}
		spent := 0.0
		ask := func(reply, most int) int {
			job := task{whole: whole, cached: p.cached(), news: 5_000, prompt: 1_000, reply: reply}
			target, share, _ := c.m.choose(job)
			one, own := c.m.costs(target, job.usage(share), p.turn)
			n := p.lend(one, own, most)
			spent += float64(n) * one
			if spent > 2*own {
				t.Errorf("%s: helpers for %.3f beside a turn of %.3f", c.name, spent, own)
			}
			return n
		}
		notes, memory := ask(notesReply, notesTurns), ask(memoryReply, memoryTurns)
		if notes != c.notes || memory != c.memory {
			t.Errorf("%s: %d and %d requests, want %d and %d", c.name, notes, memory, c.notes, c.memory)
		}
		p.add(event.TurnStarted{}, 0)
		p.add(event.Replied{Usage: full}, whole)
		if p.given != 0 || p.turn.In != whole {
			t.Errorf("%s: the next turn begins with %+v", c.name, p)
		}
	}
}
