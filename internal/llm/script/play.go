package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A player answers requests of the Messages wire with what the script says.
type player struct{ m *Model }

// RoundTrip implements http.RoundTripper.
func (p player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	key, _ := req.Context().Value(conversation{}).(string)
	t := p.m.take(key, look(body))
	resp := &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Request-Id": {fmt.Sprintf("req_script_%d", t.number)}}}
	if t.fault != nil {
		t.fault.answer(resp)
		return resp, nil
	}
	resp.Header.Set("Content-Type", "text/event-stream")
	model := struct{ Model string }{}
	_ = json.Unmarshal(body, &model) // our own client wrote it
	resp.Body = &stream{ctx: req.Context(), frames: t.frames(model.Model, len(body)), closed: make(chan struct{})}
	return resp, nil
}

func (f *fault) answer(resp *http.Response) {
	kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}
	kind, message := kinds[f.status], f.message
	if kind == "" {
		kind = "api_error"
	}
	if message == "" {
		message = fmt.Sprintf("the script says %d", f.status)
	}
	resp.StatusCode = f.status
	resp.Header.Set("Content-Type", "application/json")
	if f.retryAfter != "" {
		resp.Header.Set("Retry-After", f.retryAfter)
	}
	var j wire.JSON
	j.Obj()
	j.Member("type", "error")
	j.Key("error")
	j.Obj()
	j.Member("type", kind)
	j.Member("message", message)
	j.End()
	j.End()
	resp.Body = io.NopCloser(strings.NewReader(string(j.Bytes())))
}

// look reads the scene from a request.
func look(body []byte) scene {
	type block struct {
		Type, Text, ID, Name string
		ToolUseID            string `json:"tool_use_id"`
		IsError              bool   `json:"is_error"`
		Content              []struct{ Text string }
	}
	var req struct {
		System   []struct{ Text string }
		Messages []struct {
			Role    string
			Content []block
		}
	}
	_ = json.Unmarshal(body, &req) // our own client wrote it
	var s scene
	for _, b := range req.System {
		s.system = join(s.system, b.Text, "\n\n")
	}
	names := map[string]string{}
	for i, m := range req.Messages {
		prompt := ""
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_use":
				names[b.ID] = b.Name
			case b.Type == "text" && m.Role == "user":
				prompt = join(prompt, b.Text, "\n")
			case b.Type == "tool_result" && i == len(req.Messages)-1:
				s.isError = s.isError || b.IsError
				s.tool = join(s.tool, names[b.ToolUseID], " ")
				for _, c := range b.Content {
					s.result = join(s.result, c.Text, "\n")
				}
			}
		}
		if prompt != "" {
			s.prompt = prompt
		}
	}
	return s
}

func join(a, b, sep string) string {
	if a == "" {
		return b
	}
	return a + sep + b
}

// A frame is a piece of the stream and what happens before it.
type frame struct {
	wait time.Duration // negative: for ever
	data string
	cut  bool // the connection breaks here
}

// A scribe writes the frames of one reply.
type scribe struct {
	out   []frame
	pace  time.Duration
	words int
	drop  int // -1: never
	stall time.Duration
	index int
	over  bool
}

func (t turn) frames(model string, size int) []frame {
	r := t.reply
	if r == nil {
		r = &reply{items: []item{say(OutOfReplies)}, drop: -1}
	}
	s := &scribe{pace: t.pace, drop: r.drop}
	id := fmt.Sprintf("msg_script_%d", t.number)
	u := llm.Usage{In: (size + 3) / 4}
	if r.usage != nil {
		u = *r.usage
	}
	s.event(0, "message_start", func(j *wire.JSON) {
		j.Key("message")
		j.Obj()
		j.Member("id", id)
		j.Member("model", model)
		j.Key("usage")
		counts(j, u, false)
		j.End()
	})
	calls := 0
	for _, it := range r.items {
		switch it := it.(type) {
		case say:
			s.block("text", "text_delta", "text", string(it), "", "")
		case think:
			s.block("thinking", "thinking_delta", "thinking", string(it), "", "")
		case use:
			calls++
			s.block("tool_use", "input_json_delta", "partial_json", it.input, fmt.Sprintf("toolu_script_%d_%d", t.number, calls), it.name)
		case pace:
			s.pace = time.Duration(it)
		case stall:
			if it < 0 {
				s.stall = -1
			} else if s.stall >= 0 {
				s.stall += time.Duration(it)
			}
		case cut:
			s.cut()
		}
	}
	stop := r.stop
	if stop == "" && calls > 0 {
		stop = llm.WantTools
	} else if stop == "" {
		stop = llm.EndTurn
	}
	if r.usage == nil {
		u.Out = s.words
	}
	s.event(0, "message_delta", func(j *wire.JSON) {
		j.Key("delta")
		j.Obj()
		j.Member("stop_reason", string(stop))
		j.End()
		j.Key("usage")
		counts(j, u, true)
	})
	if s.drop >= 0 {
		s.cut()
	}
	s.event(0, "message_stop", func(*wire.JSON) {})
	return s.out
}

func counts(j *wire.JSON, u llm.Usage, last bool) {
	j.Obj()
	j.Key("input_tokens")
	j.Int(u.In)
	j.Key("cache_read_input_tokens")
	j.Int(u.CacheRead)
	j.Key("cache_creation_input_tokens")
	j.Int(u.CacheWrite)
	if last {
		j.Key("output_tokens")
		j.Int(u.Out)
		j.Key("output_tokens_details")
		j.Obj()
		j.Key("thinking_tokens")
		j.Int(u.Reasoning)
		j.End()
	}
	j.End()
}

func (s *scribe) cut() {
	if !s.over {
		s.out = append(s.out, frame{cut: true, wait: s.stall})
		s.over = true
	}
}

func (s *scribe) event(wait time.Duration, kind string, members func(*wire.JSON)) {
	if s.over {
		return
	}
	var j wire.JSON
	j.Obj()
	j.Member("type", kind)
	members(&j)
	j.End()
	if s.stall < 0 {
		wait = -1
	} else {
		wait += s.stall
	}
	s.stall = 0
	s.out = append(s.out, frame{wait: wait, data: "event: " + kind + "\ndata: " + string(j.Bytes()) + "\n\n"})
}

// block writes one part, word by word.
func (s *scribe) block(kind, delta, field, text, id, name string) {
	index := func(j *wire.JSON) {
		j.Key("index")
		j.Int(s.index)
	}
	s.event(0, "content_block_start", func(j *wire.JSON) {
		index(j)
		j.Key("content_block")
		j.Obj()
		j.Member("type", kind)
		j.Member("id", id)
		j.Member("name", name)
		j.End()
	})
	for _, w := range words(text) {
		if s.drop >= 0 && s.words >= s.drop {
			s.cut()
			return
		}
		s.words++
		s.event(s.pace, "content_block_delta", func(j *wire.JSON) {
			index(j)
			j.Key("delta")
			j.Obj()
			j.Member("type", delta)
			j.Member(field, w)
			j.End()
		})
	}
	if kind == "thinking" {
		s.event(0, "content_block_delta", func(j *wire.JSON) {
			index(j)
			j.Key("delta")
			j.Obj()
			j.Member("type", "signature_delta")
			j.Member("signature", "c2NyaXB0")
			j.End()
		})
	}
	s.event(0, "content_block_stop", index)
	s.index++
}

// words cuts text before each word; the white space stays with the word
// before it.
func words(text string) []string {
	var out []string
	start, space := 0, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space && i > start {
			out = append(out, text[start:i])
			start = i
		}
		space = false
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// A stream plays frames as the body of an answer.
type stream struct {
	ctx    context.Context
	frames []frame
	rest   string
	once   sync.Once
	closed chan struct{}
}

// Read implements io.Reader. Frames without a wait come together.
func (s *stream) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if s.rest != "" {
			c := copy(p[n:], s.rest)
			s.rest = s.rest[c:]
			n += c
			continue
		}
		if len(s.frames) == 0 {
			if n > 0 {
				return n, nil
			}
			return 0, io.EOF
		}
		f := s.frames[0]
		if n > 0 && (f.wait != 0 || f.cut) {
			return n, nil
		}
		if err := wire.Silence(s.ctx, s.closed, f.wait); err != nil {
			return 0, err
		}
		s.frames = s.frames[1:]
		if f.cut {
			return 0, io.ErrUnexpectedEOF
		}
		s.rest = f.data
	}
	return n, nil
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
