package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Fault is what an error answer said, whatever shape it had.
type Fault struct {
	Type, Code, Message string
	RequestID           string
	RetryAfter          time.Duration
	HTML                bool
	// Begun: the model had written a reply, whether or not a word of it came.
	Begun bool
}

// Error makes a fault usable as a decoder's error: the provider's own words
// in the middle of a stream.
func (f Fault) Error() string { return f.Message }

// ReadFault reads an error body of any provider: an object or a string under
// "error", a bare message, FastAPI's "detail", an array with one of these, or
// a page of HTML. Plain text is its own message.
func ReadFault(body []byte) Fault {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")))
	if len(body) == 0 {
		return Fault{}
	}
	if body[0] == '<' {
		return Fault{HTML: true, Message: htmlTitle(body)}
	}
	var f Fault
	if body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return ReadFault(list[0])
		}
	}
	if !f.object(body) {
		f.Message = string(body)
	}
	f.Message = clean(f.Message, 500)
	return f
}

// object reads one JSON object into f, and what is nested under "error".
func (f *Fault) object(body []byte) bool {
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		return false
	}
	set := func(dst *string, keys ...string) {
		for _, k := range keys {
			if v := scalar(o[k]); v != "" && *dst == "" {
				*dst = v
			}
		}
	}
	if e := o["error"]; len(e) > 0 && e[0] == '{' {
		f.object(e)
	} else {
		set(&f.Message, "error")
	}
	if e := o["message"]; len(e) > 0 && e[0] == '{' { // {"message":{"detail":[…]}}
		f.object(e)
	}
	set(&f.Type, "type", "status")
	set(&f.Code, "code")
	set(&f.Message, "message", "detail", "msg", "error_description")
	set(&f.RequestID, "request_id")
	if f.Message == "" {
		f.Message = firstDetail(o["detail"])
	}
	if p := scalar(o["param"]); p != "" && f.Message != "" && !strings.Contains(f.Message, p) {
		f.Message += " (" + p + ")"
	}
	f.details(o["details"])
	var meta struct {
		Raw string `json:"raw"`
	}
	if json.Unmarshal(o["metadata"], &meta) == nil && meta.Raw != "" { // a router passes on what it got
		inner := ReadFault([]byte(meta.Raw))
		if inner.Message != "" && !strings.Contains(f.Message, inner.Message) {
			f.Message = strings.TrimPrefix(f.Message+": "+inner.Message, ": ")
		}
	}
	return true
}

// details reads Google's list of typed details.
func (f *Fault) details(raw json.RawMessage) {
	var list []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, d := range list {
		if d.Reason != "" {
			f.Code = d.Reason
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			f.RetryAfter = wait
		}
	}
}

func firstDetail(raw json.RawMessage) string {
	var list []struct {
		Msg string `json:"msg"`
		Loc []any  `json:"loc"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return ""
	}
	if n := len(list[0].Loc); n > 0 { // FastAPI says apart from its words what it would not take
		if field, ok := list[0].Loc[n-1].(string); ok && !strings.Contains(list[0].Msg, field) {
			return list[0].Msg + " (" + field + ")"
		}
	}
	return list[0].Msg
}

func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if n := strings.TrimSpace(string(raw)); n != "" && n != "null" && (n[0] == '-' || n[0] >= '0' && n[0] <= '9') {
		return n
	}
	return ""
}

var titleTag = pattern.Lazy(`(?is)<title[^>]*>(.*?)</title>`)

func htmlTitle(page []byte) string {
	if m := titleTag().FindSubmatch(page); m != nil {
		return clean(string(m[1]), 100)
	}
	return ""
}

// clean makes foreign text fit for one line of an error: no control bytes, no
// line breaks, at most limit runes.
func clean(s string, limit int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			continue
		}
		if n >= limit-1 {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		if r == utf8.RuneError {
			r = '\uFFFD'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

var keyShape = pattern.Lazy(`\b(?:sk|pk|rk|gsk|xai|key|AIza|Bearer)[-_ ]?[A-Za-z0-9_\-*.]{12,}`)

// Redact removes key, and whatever looks like one, from foreign text.
func Redact(s, key string) string {
	if len(key) >= 6 {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	return keyShape().ReplaceAllString(s, "[key]")
}

// retryAfter reads how long an answer asks to wait: retry-after-ms,
// Retry-After in seconds (also with a fraction) or as a date. Anything
// unreadable or past is 0; more than a day is a day.
func retryAfter(h http.Header, now time.Time) time.Duration {
	bound := func(d time.Duration) time.Duration { return max(0, min(d, 24*time.Hour)) }
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms >= 0 {
		return bound(time.Duration(min(ms, 1e9) * float64(time.Millisecond)))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if sec, err := strconv.ParseFloat(v, 64); err == nil && sec >= 0 {
		return bound(time.Duration(min(sec, 1e6) * float64(time.Second)))
	}
	if at, err := http.ParseTime(v); err == nil {
		return bound(at.Sub(now))
	}
	return 0
}

var waitWords = pattern.Lazy(`(?i)(?:try again|retry|wait)[a-z ]*?\s(?:in|after|for)?\s*((?:[0-9.]+\s*(?:ms|milliseconds?|hours?|h|minutes?|min|m|seconds?|sec|s)\s*)+)`)

var waitPart = pattern.Lazy(`(?i)([0-9.]+)\s*(ms|milli|h|m|s)`)

// saidWait reads "try again in 8s", "Please retry in 1m2.5s", "try again in 20
// seconds"; 0 when there is nothing of the kind.
func saidWait(message string) time.Duration {
	m := waitWords().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	var sum time.Duration
	for _, p := range waitPart().FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return 0
		}
		unit := map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "h": time.Hour, "m": time.Minute, "s": time.Second}[strings.ToLower(p[2])]
		sum += time.Duration(min(n, 1e6) * float64(unit))
	}
	return min(sum, 24*time.Hour)
}

// requestID finds the provider's id of an exchange.
func requestID(h http.Header) string {
	for _, k := range []string{"Request-Id", "X-Request-Id", "X-Goog-Request-Id", "Apim-Request-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if v := h.Get(k); v != "" {
			return clean(v, 100)
		}
	}
	return ""
}

// classify says what kind of failure a status and a fault are. It is the one
// table for all providers; wording matters where they share a status.
func classify(status int, f Fault) llm.Kind {
	text := strings.ToLower(f.Message + " " + f.Type + " " + f.Code)
	has := func(words ...string) bool { return containsAny(text, words) }
	switch {
	case f.HTML && (status < 500 || status == http.StatusNotImplemented) && status != http.StatusTooManyRequests && status != http.StatusRequestEntityTooLarge:
		return llm.BadReply
	case status != http.StatusTooManyRequests && tooLong(text), has("context_length_exceeded"):
		return llm.TooLong
	case status >= 400 && status < 500 && status != http.StatusTooManyRequests && mediaTooBig(text):
		return llm.MediaTooBig
	case status == http.StatusPaymentRequired, has("insufficient_quota", "billing_hard_limit", "credit balance is too low",
		"insufficient balance", "insufficient credits", "billing_error", "out of credits", "used all available credits"):
		return llm.NoCredit
	case status == http.StatusRequestEntityTooLarge:
		return llm.TooLong
	case status == http.StatusUnauthorized, has("api_key_invalid", "api key not valid", "invalid_api_key", "incorrect api key"):
		return llm.Unauthorized
	case status == http.StatusForbidden && has("moderation", "flagged"):
		return llm.BadRequest
	case status == http.StatusForbidden:
		return llm.Unauthorized
	case status == http.StatusNotFound, status == http.StatusBadRequest && has("model_not_found", "not a valid model", "model_decommissioned",
		"invalid model", "invalid_model", "model not found", "does not exist or you do not have access"):
		return llm.NotFound
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status == 529, status == 498, status >= 500 && has("overload", "capacity", "slow_down", "high demand"),
		status == http.StatusServiceUnavailable && strings.EqualFold(f.Type, "UNAVAILABLE"):
		return llm.Overloaded
	case status == http.StatusNotImplemented: // RFC 9110, section 15.6.2: it cannot do that for any resource
		return llm.BadRequest
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict && has("conflict_error", "lock timeout"):
		return llm.ServerError
	case status == http.StatusProxyAuthRequired:
		return llm.Transport
	case status >= 300 && status < 400:
		return llm.BadReply
	}
	return llm.BadRequest
}

// Wordings for a prompt that does not fit, in lower case: Anthropic, OpenAI,
// Gemini, xAI, Mistral, Groq, Together, vLLM, SGLang, TGI, llama.cpp, LM Studio, Ollama,
// Bedrock, Moonshot, MiniMax, Z.ai, DeepInfra, DashScope, Copilot, Zhipu (code 1261).
var tooLongWords = []string{
	"prompt is too long", "prompt too long", "exceed context limit", "exceeds context limit", "context_length_exceeded",
	"maximum context length", "exceeds the context window", "context window exceeds", "exceeds the model's context",
	"input token count exceeds", "maximum number of tokens allowed", "maximum prompt length",
	"too large for model", "reduce the length of the messages", "longer than the maximum model length", "max_model_len",
	"available context size", "exceed_context_size", "greater than the context length", "exceeds the context length",
	"input is too long", "input too long", "exceeded model token limit", "too many input tokens", "input tokens exceed",
	"max_new_tokens` must be <=", "request_too_large", "string_above_max_length", "model_context_window_exceeded",
	"context the overflows", "prompt exceeds max length", "longer than the model's context length", "inputs` must have less than",
	"exceeds maximum input length", "range of input length should be", "输入长度超过", "max_prompt_tokens_exceeded", "context shift is disabled",
}

var (
	promptCount = pattern.Lazy(`(?:prompt|input) token count\b.*exceed`)
	// fullContext is how local servers and gateways say it, in many orders of words.
	fullContext = pattern.Lazy(`\bcontext[ _-](?:length|window|size|limit)\b.{0,30}(?:\bexceed|overflow|\bfull\b|too small)|(?:exceed|larger than|longer than|overflow).{0,30}\bcontext[ _-](?:length|window|size|limit)\b`)
)

func tooLong(text string) bool {
	if containsAny(text, tooLongWords) {
		return !strings.Contains(text, "request_too_large") || !strings.Contains(text, "image")
	}
	return promptCount().MatchString(text) || fullContext().MatchString(text)
}

var (
	quantity = pattern.Lazy(`\btokens?\b|\bcontext\b|\bprompt\b|\binputs?\b|\bsequence\b|\bmessages?\b|\bconversation\b|\brequest\b`)
	excess   = pattern.Lazy(`exceed|too (?:long|large|big|many)|longer than|larger than|greater than|less than|at most|maximum|overflow|\blimit\b|max(?:imum)?[ _-]?(?:length|tokens|size)|does(?: not|n't) fit|out of (?:context|range)|truncat|reduce|shorten`)
)

// aboutLength reports whether words that are no known wording may mean that the prompt does
// not fit: they name what a prompt is made of, and that there is too much of it.
func aboutLength(text string) bool { return both(quantity(), excess(), text) }

func mediaTooBig(text string) bool {
	if !containsAny(text, []string{"image", "pdf", "document", "media"}) {
		return false
	}
	return containsAny(text, []string{
		"exceed", "too large", "too big", "maximum", "too many", "dimension", "could not process", "unable to process",
		"could not be processed", "not valid", "invalid_image", "invalid image", "unsupported image", "unsupported_image",
		"password", "does not support image", "support image input", "image input is not", "not support image", "only supported by",
	})
}

func both(a, b *regexp.Regexp, text string) bool {
	return a.MatchString(text) && b.MatchString(text)
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
