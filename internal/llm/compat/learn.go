package compat

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Memory keeps what servers refused, so that each refusal is met once for as
// long as the memory lasts, and what a person was told of it. It is safe for use by several goroutines.
type Memory struct {
	mu      sync.Mutex
	refused map[string][]string // of a base URL and a model: names of fields
	said    map[string]bool
}

// First reports whether it is asked about something for the first time. A
// Memory that is nil forgets.
func (m *Memory) First(what string) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.said[what]
	if m.said == nil {
		m.said = map[string]bool{}
	}
	m.said[what] = true
	return !known
}

func (m *Memory) of(key string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.refused[key])
}

// keep is told of an answer to a request without these fields.
func (m *Memory) keep(key string, fields []string) {
	if len(fields) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.refused = map[string][]string{}
	}
	m.refused[key] = fields
}

// optional are the fields of a request that some servers refuse, in the order
// in which an error is searched for them. "max_tokens" and those in which
// reasoning returns are the other way round when they are refused.
var optional = []string{"stream_options", "max_completion_tokens", "max_tokens", "reasoning_effort", "reasoning_content", "reasoning_details",
	"prompt_cache_key", "cache_control", "tool_choice", "thinking", "reasoning"}

// without are the quirks of a server that refused these fields.
func (q Quirks) without(fields []string) Quirks {
	for _, f := range fields {
		switch f {
		case "stream_options":
			q.NoUsageOption = true
		case "max_completion_tokens":
			q.MaxCompletion = false
		case "max_tokens":
			q.MaxCompletion = true
		case "reasoning_effort", "thinking":
			q.Effort = NoEffort
		case "prompt_cache_key":
			q.CacheKey = false
		case "cache_control":
			q.CacheMarks = false
		case "tool_choice":
			q.NoForce = true
		case "reasoning_details":
			q.Details = false
		case "+reasoning_content":
			q.Reasoning = "reasoning_content"
		case "reasoning_content":
			q.Reasoning = ""
		case "reasoning":
			if q.Effort == ReasoningObject || q.Effort == ReasoningToggle {
				q.Effort = NoEffort
			}
			if q.Reasoning == "reasoning" {
				q.Reasoning = ""
			}
		}
	}
	return q
}

var (
	refusing = pattern.Lazy(`(?i)unsupported|not support|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected|not expected|extra |additional |invalid|must be one of|not available|not valid|forbidden`)
	missing  = pattern.Lazy(`(?i)missing|required|must be (?:passed|provided|included|present|sent|returned)`)
	word     = pattern.Lazy(`[A-Za-z_]+`)
)

// refusedField is the field of a request that a server would not take, "" when
// its answer names none. A field with "+" is one that it misses.
func refusedField(err error, body wire.Body) string {
	var e *llm.Error
	if !errors.As(err, &e) || e.Begun || e.Kind != llm.BadRequest || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return ""
	}
	text := strings.ToLower(e.Err.Error())
	words := word().FindAllString(text, -1)
	whole := body.Bytes()
	sent := func(f string) bool { return bytes.Contains(whole, []byte(`"`+f+`":`)) }
	if slices.Contains(words, "reasoning_content") && !sent("reasoning_content") && missing().MatchString(text) {
		return "+reasoning_content"
	}
	if !refusing().MatchString(text) {
		return ""
	}
	for _, f := range optional {
		if slices.Contains(words, f) && sent(f) {
			return f
		}
	}
	return ""
}
