package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// A Strict is a server that refuses of a request what a provider of its wire
// refuses, counts tokens as four bytes each, and answers the rest as Play says.
type Strict struct {
	Wire   Wire
	Window int // tokens of a request and its reply together; 0: any
	// Every: only each so many-th request is looked at closely, because that takes
	// longer than a client's step; 0: each is.
	Every int
	// Play answers the n-th request (from 0) that was not refused. Usage is filled in.
	Play func(n int, body []byte) Reply
	// Seen, when set, is told of each request that was not refused, in order.
	Seen func(Asked)

	mu      sync.Mutex // guards the rest
	n       int
	last    []byte
	said    time.Time // when the newest reply was written
	refused []string
	long    int
}

// Asked is what a Strict measured of a request, in bytes.
type Asked struct {
	Prompt, Cached int // Cached: as many as the request before began with
	MaxTokens      int
	// Took is how long the client needed since the reply before.
	Took time.Duration
}

// Refused are the reasons of refusals, but for requests that were too long.
func (s *Strict) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// TooLong counts requests that were refused as too long.
func (s *Strict) TooLong() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.long
}

var (
	marks     = []string{`,"cache_control":{"type":"ephemeral"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`}
	maxTokens = regexp.MustCompile(`"(?:max_tokens|max_output_tokens|max_completion_tokens|maxOutputTokens)":([0-9]+)`)
)

// ServeHTTP implements http.Handler.
func (s *Strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := read(r)
	if r.Method != http.MethodPost || !bytes.Contains(body, []byte(`"role"`)) {
		http.NotFound(w, r)
		return
	}
	came := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.said = time.Now() }()
	a, err := s.accept(body)
	if !s.said.IsZero() {
		a.Took = came.Sub(s.said)
	}
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, s.Wire.ErrorBody(http.StatusBadRequest, err.Error()))
		return
	}
	if s.Seen != nil {
		s.Seen(a)
	}
	reply := s.Play(s.n, body)
	s.n++
	reply.Usage.In, reply.Usage.CacheRead = (a.Prompt-a.Cached)/4, a.Cached/4
	for _, p := range reply.Parts {
		b, _ := json.Marshal(p.Part)
		reply.Usage.Out += 1 + len(b)/4
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, strings.Join(s.Wire.Frames(reply), ""))
}

// read reads a request. One that says its length is read in one piece, because what
// a server needs to join pieces would count as its client's.
func read(r *http.Request) []byte {
	if r.ContentLength < 0 {
		body, _ := io.ReadAll(r.Body)
		return body
	}
	body := make([]byte, r.ContentLength)
	n, _ := io.ReadFull(r.Body, body)
	return body[:n]
}

// accept measures a request, or says why it is refused.
func (s *Strict) accept(body []byte) (a Asked, err error) {
	if s.Every == 0 || s.n%s.Every == 0 {
		if _, err = Accept(s.Wire, body); err != nil {
			s.refused = append(s.refused, err.Error())
			return a, err
		}
	}
	head := body[:min(len(body), 1000)]
	if m := maxTokens.FindSubmatch(head); m != nil {
		_, _ = fmt.Sscan(string(m[1]), &a.MaxTokens)
	}
	plain := slices.Concat(maxTokens.ReplaceAll(head, nil), body[len(head):])
	for _, m := range marks {
		plain = bytes.ReplaceAll(plain, []byte(m), nil)
	}
	a.Prompt = len(plain)
	if s.Window > 0 && a.Prompt/4+a.MaxTokens > s.Window {
		s.long++
		return a, fmt.Errorf("prompt is too long: %d tokens > %d maximum", a.Prompt/4+a.MaxTokens, s.Window)
	}
	for a.Cached < min(len(s.last), len(plain)) && s.last[a.Cached] == plain[a.Cached] {
		a.Cached++
	}
	s.last = plain
	return a, nil
}

// Accept reads the conversation of a request, as strictly as a provider: roles
// alternate, a person has the first and the last word, each call is answered once,
// in the message after it, reasoning comes back as it was signed, and tools have
// schemas that it takes.
func Accept(w Wire, body []byte) ([]llm.Message, error) {
	var any any
	if err := json.Unmarshal(body, &any); err != nil {
		return nil, err
	}
	if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
		return nil, fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", n)
	}
	if err := signatures(any); err != nil {
		return nil, err
	}
	if err := parameters(body); err != nil {
		return nil, err
	}
	ms, err := w.History(body)
	if err != nil {
		return nil, err
	}
	ms = merged(ms)
	n := len(ms)
	if n == 0 || ms[0].Role != llm.User || ms[n-1].Role != llm.User {
		return nil, fmt.Errorf("of %d messages the first and the last are not the user's", n)
	}
	seen := map[string]bool{}
	for i, m := range ms {
		if len(m.Parts) == 0 {
			return nil, fmt.Errorf("messages.%d: content is empty", i)
		}
		var before llm.Message
		if i > 0 {
			before = ms[i-1]
		}
		if err := answered(before, m, seen); err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return ms, nil
}

// merged joins neighbours of one role, which some wires write apart.
func merged(ms []llm.Message) (out []llm.Message) {
	for _, m := range ms {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts, m.Parts...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// callable reports whether every provider takes the name of a tool.
func callable(name string) bool { return argument.MatchString(name) && !strings.Contains(name, ".") }

// answered checks the results in a message against the calls of the one before.
func answered(before, m llm.Message, seen map[string]bool) error {
	var calls, results []string
	for _, p := range before.Parts {
		if u, ok := p.(llm.ToolUse); ok {
			if !callable(u.Name) {
				return fmt.Errorf("name should match ^[a-zA-Z0-9_-]{1,64}$: %q", u.Name)
			}
			calls = append(calls, u.ID)
			if u.ID != "" && seen[u.ID] {
				return fmt.Errorf("tool_use ids must be unique: %s", u.ID)
			}
			seen[u.ID] = true
		}
	}
	words := false
	for _, p := range m.Parts {
		r, ok := p.(llm.ToolResult)
		if ok && words {
			return fmt.Errorf("the result of %s comes after words", r.ID)
		}
		if ok {
			results = append(results, r.ID)
		}
		words = words || !ok
	}
	slices.Sort(calls)
	slices.Sort(results)
	if !slices.Equal(calls, results) {
		return fmt.Errorf("calls %q were made, and %q are answered", calls, results)
	}
	return nil
}

// Signed is reasoning that a Strict knows again.
func Signed(text string) llm.Thinking {
	return llm.Thinking{S: text, Opaque: json.RawMessage(`"` + signature(text) + `"`)}
}

func signature(text string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return fmt.Sprintf("sig-%016x", h.Sum64())
}

// signatures checks all reasoning in a request.
func signatures(v any) error {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := signatures(x); err != nil {
				return err
			}
		}
	case map[string]any:
		text, _ := v["thinking"].(string)
		token, signed := v["signature"].(string)
		if t, ok := v["encrypted_content"].(string); ok {
			token, signed = t, true
			if s, ok := v["summary"].([]any); ok && len(s) == 1 {
				first, _ := s[0].(map[string]any)
				text, _ = first["text"].(string)
			}
		}
		if signed && token != signature(text) {
			return fmt.Errorf("invalid signature in a thinking block: %q", token)
		}
		if t, ok := v["thoughtSignature"].(string); ok && !strings.HasPrefix(t, "sig-") {
			return fmt.Errorf("corrupted thought signature: %q", t)
		}
		for _, x := range v {
			if err := signatures(x); err != nil {
				return err
			}
		}
	}
	return nil
}
