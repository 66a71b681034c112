package wire

import (
	"bytes"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
)

// Threads keeps what was written of the newest conversations, so that of one
// that goes on only the end is prepared and encoded. The zero value is ready, and
// many requests may use it at once.
type Threads struct {
	mu    sync.Mutex // guards kept and known
	kept  []*thread  // the newest last, at most maxThreads
	known []*facts   // the newest last, at most maxThreads
}

const maxThreads = 4

// A thread is the beginning of a conversation that does not change any more. Who
// goes on with it has it alone.
type thread struct {
	key   string
	in    []llm.Message   // as they came
	out   [][]byte        // as they were written; see grown
	taken map[string]bool // ids of calls
}

// A Writing is a conversation on its way into a request.
type Writing struct {
	threads *Threads
	key     string
	msgs    []llm.Message
	was     *thread
	end     *preparer // of what comes behind was

	at []int // where each of Messages begins in what was written of them
}

// Begin begins to write a conversation as prepare makes it. Conversations of
// one key are prepared by the same rules, and each message is written in the same
// way, but for the last two of the user and what comes between them.
func (t *Threads) Begin(key string, msgs []llm.Message, r Rules) *Writing {
	w := &Writing{threads: t, key: key, msgs: msgs, was: t.take(key, msgs)}
	w.end = prepare(msgs, len(w.was.in), w.was.taken, r)
	if len(w.was.in) > 0 && !goesOn(w.end.out) {
		w.was = &thread{key: key}
		w.end = prepare(msgs, 0, nil, r)
	}
	return w
}

// take finds the kept conversation that msgs goes on with. Without one it is
// one of no messages.
func (t *Threads) take(key string, msgs []llm.Message) *thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.kept) - 1; i >= 0; i-- {
		th := t.kept[i]
		if th.key == key && len(th.in) < len(msgs) && slices.EqualFunc(th.in, msgs[:len(th.in)], same) {
			t.kept = slices.Delete(t.kept, i, i+1)
			return th
		}
	}
	return &thread{key: key}
}

// goesOn reports whether these messages may follow ones that were written: the
// last two of the user, which can have marks, are among them.
func goesOn(ms []llm.Message) bool {
	if len(ms) == 0 || ms[0].Role != llm.Assistant {
		return false
	}
	_, ok := before(ms)
	return ok
}

// before is the index of the last message but one of the user.
func before(ms []llm.Message) (at int, ok bool) {
	n := 0
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == llm.User {
			if n++; n == 2 {
				return i, true
			}
		}
	}
	return 0, false
}

// Messages are those that Write calls for: the end of the conversation, with
// the last two messages of the user.
func (w *Writing) Messages() []llm.Message { return w.end.out }

// Write adds the conversation to an array that was just opened; each writes one
// of Messages.
func (w *Writing) Write(j *JSON, each func(i int, m llm.Message)) {
	j.done = append(append(j.done, j.b), w.was.out...)
	j.b, j.sep = nil, j.sep || len(w.was.out) > 0
	for i, m := range w.end.out {
		w.at = append(w.at, len(j.b))
		each(i, m)
	}
}

// Keep ends a request and returns it. Nobody may write to it any more.
func (w *Writing) Keep(j *JSON) Body {
	body := Body{append(j.done, j.b)}
	if len(w.msgs) == 0 {
		return body
	}
	last, _ := before(w.end.out)
	for last > 0 && (w.end.starts[last] < 0 || !w.end.answered(w.end.starts[last])) {
		last--
	}
	if last > 0 {
		upTo := w.end.starts[last]
		th := &thread{key: w.key, in: w.was.in, out: grown(w.was.out, j.b[:w.at[last]]), taken: w.was.taken}
		th.in = append(th.in, w.msgs[len(th.in):upTo]...)
		if th.taken == nil {
			th.taken = map[string]bool{}
		}
		for _, c := range w.end.calls {
			if c.at < upTo {
				th.taken[c.id] = true
			}
		}
		w.was = th
	}
	if len(w.was.in) > 0 {
		w.threads.put(w.was)
	}
	return body
}

func (t *Threads) put(th *thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, th)
	if len(t.kept) > maxThreads {
		t.kept = slices.Delete(t.kept, 0, 1)
	}
}

// prepare makes msgs as every provider wants them: roles alternate and the
// user begins, no part and no message is empty, every call has a unique id
// and its result right after it in the order of the calls, results without a
// call are prose, and reasoning of other models is gone. The same messages
// always give the same result, and messages added at the end change nothing
// before them, except that a result which was missing takes its place.
//
// Messages before from were prepared earlier; taken are the ids of their calls, all
// of which have results.
func prepare(msgs []llm.Message, from int, taken map[string]bool, r Rules) *preparer {
	p := &preparer{rules: r, first: from, before: taken}
	p.run(msgs[from:])
	return p
}

// same reports whether two messages are equal. Those that share their parts,
// as a conversation that goes on does, are not read.
func same(a, b llm.Message) bool {
	if a.Role != b.Role || len(a.Parts) != len(b.Parts) {
		return false
	}
	return len(a.Parts) == 0 || &a.Parts[0] == &b.Parts[0] || slices.EqualFunc(a.Parts, b.Parts, samePart)
}

func samePart(a, b llm.Part) bool {
	switch a := a.(type) {
	case llm.Text:
		b, ok := b.(llm.Text)
		return ok && a.S == b.S && a.From == b.From && bytes.Equal(a.Opaque, b.Opaque)
	case llm.Thinking:
		b, ok := b.(llm.Thinking)
		return ok && a.S == b.S && a.From == b.From && bytes.Equal(a.Opaque, b.Opaque)
	case llm.ToolUse:
		b, ok := b.(llm.ToolUse)
		return ok && a.ID == b.ID && a.Name == b.Name && a.Bad == b.Bad && a.From == b.From && bytes.Equal(a.Input, b.Input) && bytes.Equal(a.Opaque, b.Opaque)
	case llm.ToolResult:
		b, ok := b.(llm.ToolResult)
		return ok && a.ID == b.ID && a.Text == b.Text && a.IsErr == b.IsErr && slices.EqualFunc(a.Images, b.Images, sameImage) && slices.EqualFunc(a.Loaded, b.Loaded, sameSpec)
	case llm.Image:
		b, ok := b.(llm.Image)
		return ok && sameImage(a, b)
	case llm.Document:
		b, ok := b.(llm.Document)
		return ok && a.Media == b.Media && a.Name == b.Name && bytes.Equal(a.Data, b.Data)
	}
	return false
}

func sameSpec(a, b llm.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

func sameImage(a, b llm.Image) bool { return a.Media == b.Media && bytes.Equal(a.Data, b.Data) }
