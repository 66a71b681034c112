package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/window"
)

// A reply is what one request came to.
type reply struct {
	fin      llm.Finished
	target   Target
	first    time.Duration // to the first chunk
	took     time.Duration
	attempts int
	hold     *Hold // what was set aside for it, until its cost is recorded
}

// interruptedStop marks a reply that a person stopped, or that broke off.
const interruptedStop llm.Stop = "interrupted"

// reply asks the model until it has answered once: what waiting can cure is
// cured here. The calls it returns belong to the reply it returns.
func (r *run) reply(ctx context.Context) (reply, *calls, error) {
	target := r.Host.Model()
	req := r.request(target)
	started := r.Now()
	defer func() { r.api += r.Now().Sub(started) }()
	var err error
	for t := (tries{}); ; {
		if err != nil && r.setAside(ctx, target) != nil { // what is in the way, the next step says
			return reply{}, nil, err
		}
		req.MaxTokens = r.most(req.MaxTokens)
		cctx, cancel := context.WithCancel(ctx)
		c := newCalls(r, cctx, cancel)
		var rep reply
		rep, err = r.stream(ctx, target, req, c)
		r.settle(&rep)
		rep.attempts = 1 + t.failed + t.broken
		if err == nil {
			rep.attempts += r.mem.elsewhere
			r.mem.elsewhere, r.longest = 0, reply{}
		}
		if err == nil || ctx.Err() != nil {
			return rep, c, err
		}
		var failed *llm.Error
		if !errors.As(err, &failed) {
			return reply{}, nil, errors.Join(err, c.stop())
		}
		if failed.Begun || rep.fin.Usage != (llm.Usage{}) {
			ids, err := c.abandon()
			if err != nil {
				return reply{}, nil, err
			}
			if err := r.forget(); err != nil {
				return reply{}, nil, err
			}
			rep.fin.Message.Parts = withinBounds(rep.fin.Message.Parts)
			r.broken = &broken{rep, ids}
			r.mem.spent += rep.fin.Usage.Out
		}
		cancel()
		if r.lessOutput(failed, &req) {
			continue
		}
		if failed.MayBeTooLong(r.used(r.Host.State()), target.Window) {
			failed.Kind = llm.TooLong
		}
		if again, werr := r.pause(ctx, failed, &t, target); werr != nil {
			return reply{}, nil, werr
		} else if !again {
			r.mem.attempts = rep.attempts
			return reply{}, nil, err
		}
	}
}

// most is how many tokens a reply may have that would have so many: as many as can be paid.
func (r *run) most(tokens int) int {
	if r.afford > 0 && (r.afford < tokens || tokens == 0) {
		tokens, r.asked = r.afford, r.afford
	}
	return tokens
}

// settle has what was set aside for a request be what it cost, and belong to its reply.
func (r *run) settle(rep *reply) {
	rep.hold, r.hold = r.hold, nil
	if rep.hold == nil {
		return
	}
	usd := 0.0
	if rep.fin.Usage != (llm.Usage{}) {
		usd, _ = r.price(*rep)
	}
	if rep.hold.Settle(usd); usd == 0 {
		rep.hold.Release()
	}
}

// A broken reply stays until another one begins: where none does, it is kept.
type broken struct {
	reply
	calls []string // that had started
}

const brokeOff = "the reply broke off"

// maxBroken is how many bytes of a text are kept of a broken reply: one that has no end
// breaks off at 12 MB.
const maxBroken = 256 << 10

// withinBounds cuts long texts in their middle, and leaves out reasoning that is too long.
func withinBounds(parts []llm.Part) (out []llm.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			p.S = clip.Middle(p.S, maxBroken, "")
			out = append(out, p)
		case llm.Thinking:
			if len(p.S)+len(p.Opaque) <= maxBroken {
				out = append(out, p)
			}
		default:
			out = append(out, p)
		}
	}
	return out
}

// forget drops the broken reply, if there is one: another begins.
func (r *run) forget() error {
	b := r.broken
	if r.broken = nil; b == nil {
		return nil
	}
	if said := b.fin.Message.Text(); len(said) > len(r.longest.fin.Message.Text()) {
		r.longest = reply{target: b.target, took: b.took, fin: llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: said}}}, Stop: interruptedStop, Model: b.fin.Model}}
	}
	return r.drop(b.reply, b.calls, brokeOff)
}

// keep records what the broken reply had said, and which calls it had begun: the turn is
// over, and no other reply came. An earlier try that had said more is kept in its stead.
func (r *run) keep() error {
	b := r.broken
	if b == nil {
		return nil
	}
	b.fin.Message.Parts = slices.DeleteFunc(slices.Clone(b.fin.Message.Parts), func(p llm.Part) bool {
		u, ok := p.(llm.ToolUse)
		return ok && !slices.Contains(b.calls, u.ID)
	})
	if len(b.calls) > 0 || !empty(b.fin.Message) && len(b.fin.Message.Text()) >= len(r.longest.fin.Message.Text()) {
		r.broken = nil
		return r.bill(r.record(b.reply), b.hold)
	}
	if err := r.forget(); err != nil || empty(r.longest.fin.Message) {
		return err
	}
	return r.bill(r.record(r.longest), nil)
}

// pause waits before a failed request is sent again, where waiting can cure it.
func (r *run) pause(ctx context.Context, failed *llm.Error, t *tries, target Target) (again bool, err error) {
	wait, most, again := nextRetry(failed, *t, r.nextFallback(r.mem.fellBack, target) >= 0, r.Patient, r.Jitter())
	if !again {
		if failed.RetryAfter > longestAsked && failed.Retryable() {
			failed.Fix = fmt.Sprintf("the provider asks to wait %v: try again at %s", failed.RetryAfter.Round(time.Second), r.Now().Add(failed.RetryAfter).Format("15:04:05 on 2006-01-02"))
		}
		return false, nil
	}
	if failed.Begun {
		t.broken++
	} else {
		t.failed++
	}
	w := event.Waiting{Attempt: t.failed + t.broken, Max: most, For: wait, Status: failed.Status, Err: failed.Err.Error(), Kind: KindName(failed.Kind)}
	if err := r.Host.Emit(w); err != nil {
		return false, err
	}
	if r.Sleep(ctx, wait) != nil {
		return false, ctx.Err()
	}
	return true, nil
}

func (r *run) request(target Target) llm.Request {
	st := r.Host.State()
	most := window.Reply(max(target.Cap, r.cap), target.Window, r.used(st))
	r.asked = most
	return llm.Request{
		Clear: r.clearing(target), Model: target.Name, System: r.Instructions(), Tools: r.specs(), Names: r.names(), Force: r.force, MaxTokens: most,
		Messages: window.Build(st),
		Effort:   target.Effort, ThinkingTokens: target.Thinking, CacheKey: r.CacheKey,
	}
}

// names are what a call may be called beside the names of the tools.
func (r *run) names() []string {
	return slices.Sorted(maps.Keys(r.Aliases))
}

// stream makes one attempt. A reply that was interrupted holds what had been
// said so far.
func (r *run) stream(ctx context.Context, target Target, req llm.Request, c *calls) (reply, error) {
	rep := reply{target: target}
	start := r.Now()
	var said partial
	begun := false
	for chunk, err := range target.Model.Stream(ctx, req) {
		if p, ok := chunk.(llm.Progress); ok && err == nil {
			said.known = p
			continue
		}
		if _, ok := chunk.(llm.Recast); ok && err == nil {
			said, begun = partial{known: said.known}, false
			if err := r.Host.Emit(event.Retracted{Why: "what the server sent as its answer was reasoning"}); err != nil {
				return reply{}, err
			}
			continue
		}
		if err != nil {
			rep.took, rep.fin = r.Now().Sub(start), said.message()
			var failed *llm.Error
			if errors.As(err, &failed) {
				failed.Begun = failed.Begun || begun
			}
			return rep, err
		}
		if !begun {
			begun = true
			if err := r.forget(); err != nil {
				return reply{}, err
			}
			rep.first = r.Now().Sub(start)
			if err := r.Host.Emit(event.ReplyStarted{Model: target.ID(), First: rep.first, ID: said.known.ID, Usage: said.known.Usage, Limits: said.known.Limits}); err != nil {
				return reply{}, err
			}
		}
		if fin, ok := chunk.(llm.Finished); ok {
			rep.fin, rep.took = fin, r.Now().Sub(start)
			return rep, nil
		}
		if err := said.add(r.Host, c, chunk); err != nil {
			return reply{}, err
		}
	}
	rep.fin = said.message()
	if ctx.Err() != nil {
		return rep, ctx.Err()
	}
	return rep, &llm.Error{Kind: llm.Cut, Provider: target.Provider, Begun: begun, Err: errors.New("the reply ended without its end mark")}
}

// partial is a reply as far as it has been heard.
type partial struct {
	known           llm.Progress
	parts           []llm.Part
	text            blocks // of the open part
	textAt, thinkAt int    // bytes of text and reasoning so far
	inputID         string
	inputAt         int
}

// add shows a chunk and starts the call it completes.
func (p *partial) add(h Recorder, c *calls, chunk llm.Chunk) error {
	switch k := chunk.(type) {
	case llm.TextDelta:
		at := p.textAt
		p.textAt += len(k.S)
		p.text.add(k.S)
		return h.Emit(event.TextDelta{At: at, S: k.S})
	case llm.ThinkingDelta:
		at := p.thinkAt
		p.thinkAt += len(k.S)
		return h.Emit(event.ThinkingDelta{At: at, S: k.S})
	case llm.ToolInputDelta:
		if k.ID != p.inputID {
			p.inputID, p.inputAt = k.ID, 0
			c.ahead(k.Name)
		}
		at := p.inputAt
		p.inputAt += len(k.S)
		return h.Emit(event.ToolInputDelta{Call: k.ID, Name: k.Name, At: at, S: k.S})
	case llm.PartDone:
		p.parts = append(p.parts, k.Part)
		p.text = nil
		if err := h.Emit(event.PartDone{Part: k.Part}); err != nil {
			return err
		}
		if u, ok := k.Part.(llm.ToolUse); ok {
			c.add(u)
		}
	case llm.Finished, llm.Progress, llm.Recast: // see stream
	}
	return nil
}

// message is what a reply that has no end had said.
func (p *partial) message() llm.Finished {
	parts := p.parts
	if s := p.text.String(); s != "" {
		parts = append(parts[:len(parts):len(parts)], llm.Text{S: s})
	}
	return llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: interruptedStop, Usage: p.known.Usage, ID: p.known.ID, Model: p.known.Model}
}

// blocks are a text that arrives in pieces and is seldom wanted: no part of it is
// copied again when it grows.
type blocks [][]byte

const blockSize = 16 << 10

func (b *blocks) add(s string) {
	for len(s) > 0 {
		n := len(*b)
		if n == 0 || len((*b)[n-1]) == blockSize {
			*b = append(*b, make([]byte, 0, min(blockSize, max(512, n*blockSize))))
			n++
		}
		last := &(*b)[n-1]
		k := min(len(s), blockSize-len(*last))
		*last, s = append(*last, s[:k]...), s[k:]
	}
}

func (b blocks) String() string { return string(slices.Concat(b...)) }

// KindName is the stable name of a kind of error, as the log and the print
// protocol carry it.
func KindName(k llm.Kind) string {
	switch k {
	case llm.Transport:
		return "network"
	case llm.Cut:
		return "stream_cut"
	case llm.Stalled:
		return "stream_stalled"
	case llm.RateLimited:
		return "rate_limit"
	case llm.Overloaded:
		return "overloaded"
	case llm.ServerError:
		return "server_error"
	case llm.Unauthorized:
		return event.KeyRefused
	case llm.NoCredit:
		return "billing_error"
	case llm.NotFound:
		return "model_not_found"
	case llm.TooLong:
		return "prompt_too_long"
	case llm.MediaTooBig:
		return "media_too_large"
	case llm.BadRequest:
		return "invalid_request"
	case llm.BadReply:
		return "bad_reply"
	}
	return "unknown"
}
