package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// ErrGarbage says that an event's data is not what the protocol says.
var ErrGarbage = errors.New("the stream holds data that is not JSON")

// refused turns an answer that is not a stream into an error.
func (c *Client) refused(resp *http.Response, page []byte, host string) error {
	f := ReadFault(page)
	switch {
	case resp.StatusCode == http.StatusOK && f.HTML:
		return c.html(resp, f, host, "a web page came instead of a reply")
	case resp.StatusCode == http.StatusOK && (f.Type != "" || f.Code != "") && f.Message != "":
		return c.fault(statusOf(f), f, resp)
	case resp.StatusCode == http.StatusOK:
		e := c.fail(llm.BadReply, resp, "the answer is not a stream: "+clean(string(page), 120))
		e.Fix = "check that the base URL belongs to this provider's API"
		return e
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		to := "elsewhere"
		if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
			to = "to " + clean(u.Host, 100)
		}
		return c.html(resp, f, host, "the request was redirected "+to)
	}
	return c.fault(resp.StatusCode, f, resp)
}

func (c *Client) html(resp *http.Response, f Fault, host, what string) error {
	if f.Message != "" {
		what += fmt.Sprintf(" (%q)", f.Message)
	}
	e := c.fail(llm.BadReply, resp, what)
	e.Fix = "open http://" + host + " in a browser: a login page of this network or a wrong base URL answers"
	return e
}

func (c *Client) fail(k llm.Kind, resp *http.Response, text string) *llm.Error {
	e := &llm.Error{Kind: k, Provider: c.c.Provider, Err: errors.New(Redact(text, c.c.Key))}
	if resp != nil {
		e.Status, e.RequestID = resp.StatusCode, requestID(resp.Header)
	}
	return e
}

// fault turns a provider's own error into an *llm.Error. resp may be nil.
func (c *Client) fault(status int, f Fault, resp *http.Response) *llm.Error {
	k := classify(status, f)
	message := f.Message
	if f.HTML {
		message = strings.TrimSpace("an HTML error page came instead of an answer " + quoted(f.Message))
	}
	if message == "" {
		message = strings.ToLower(http.StatusText(status))
	}
	if message == "" {
		message = "the request failed"
	}
	e := c.fail(k, nil, message)
	e.Status, e.RequestID, e.RetryAfter, e.Begun = status, f.RequestID, f.RetryAfter, f.Begun
	e.Length = (k == llm.BadRequest || k == llm.ServerError) && aboutLength(strings.ToLower(f.Message+" "+f.Code))
	if e.RetryAfter == 0 && k.Retryable() {
		e.RetryAfter = saidWait(f.Message)
	}
	if resp != nil {
		if id := requestID(resp.Header); id != "" {
			e.RequestID = id
		}
		if wait := retryAfter(resp.Header, c.c.Wall()); wait > 0 {
			e.RetryAfter = wait
		}
		switch strings.ToLower(resp.Header.Get("X-Should-Retry")) { // the provider knows better than a table
		case "false":
			e.Permanent = e.Kind.Retryable()
		case "true":
			if e.Kind == llm.BadRequest {
				e.Kind = llm.ServerError
			}
		}
	}
	c.advise(e)
	if e.Kind == llm.TooLong && f.HTML { // no server of models answers so
		e.Fix = "raise the limit of the proxy that answers in the server's place (nginx: client_max_body_size)"
	}
	return e
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("(%q)", s)
}

// advise adds the cause in our words and the next command.
func (c *Client) advise(e *llm.Error) {
	text := e.Err.Error()
	switch e.Kind {
	case llm.Unauthorized:
		switch {
		case c.c.Key == "" && c.credential() != "":
			name := c.credential()
			e.Err = fmt.Errorf("refused the key in the header %s: %s", name, text)
			e.Fix = "correct " + name + " in the provider's headers" + c.setting("headers")
			return
		case c.c.Key == "":
			e.Err = fmt.Errorf("wants a key and none is set: %s", text)
		default:
			e.Err = fmt.Errorf("refused the key%s: %s", c.from(), text)
		}
		e.Fix = `run "adze doctor" to see which keys are set`
		if c.c.KeySource != "" {
			e.Fix = "set " + c.c.KeySource + ` to a working key; "adze doctor" shows which keys are set`
		}
	case llm.NoCredit:
		e.Err = fmt.Errorf("the account cannot pay for this request: %s", text)
		e.Fix = `add credit at the provider, or choose another model: "adze models"`
	case llm.NotFound:
		e.Fix = `run "adze models" to see the models that are known, and check the base URL`
		if c.c.LostHint != "" && !strings.Contains(strings.ToLower(text), "model") {
			e.Fix = c.c.LostHint
		}
	case llm.Transport:
		if e.Status == http.StatusProxyAuthRequired {
			e.Permanent = true
			e.Err = errors.New("the proxy wants a user name and password")
			e.Fix = checkProxy
		}
	case llm.BadReply:
		e.Fix = "check the base URL; a login page of this network or a proxy may answer instead"
	case llm.Cut, llm.Stalled, llm.RateLimited, llm.Overloaded, llm.ServerError, llm.TooLong, llm.MediaTooBig, llm.BadRequest:
		// the provider's words say it
	}
}

// statusOf maps the error names of the providers to the status they go with.
func statusOf(f Fault) int {
	for _, name := range []string{f.Code, f.Type} {
		switch strings.ToLower(name) {
		case "overloaded_error", "overloaded", "engine_overloaded", "server_overloaded":
			return 529
		case "api_error", "server_error", "internal", "internal_error", "internal_server_error", "timeout_error", "500":
			return 500
		case "502", "503", "504", "529", "408":
			return int(name[0]-'0')*100 + int(name[1]-'0')*10 + int(name[2]-'0')
		case "unavailable", "service_unavailable":
			return 503
		case "rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "too_many_requests", "429":
			return 429
		case "authentication_error", "invalid_api_key", "unauthenticated", "401":
			return 401
		case "permission_error", "permission_denied", "403":
			return 403
		case "not_found_error", "not_found", "model_not_found", "404":
			return 404
		case "request_too_large", "413":
			return 413
		case "billing_error", "insufficient_quota", "402":
			return 402
		case "invalid_request_error", "invalid_prompt", "context_length_exceeded", "invalid_argument", "400", "422":
			return 400
		}
	}
	return 0
}
