package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// defaultIdle is how long a stream may be silent.
const defaultIdle = 90 * time.Second

// A Config is what all providers need to send a request.
type Config struct {
	Provider  string // who is named in errors, and in llm.Thinking.From
	Key       string // "" for a server that wants none; a Client keeps it out of error texts
	KeySource string // where the key came from, such as ANTHROPIC_API_KEY
	Version   string // of adze, for the User-Agent
	Headers   map[string]string
	Transport http.RoundTripper // nil: NewTransport(Dial{})
	Idle      time.Duration     // 0: 90 s, and 10 minutes while the model reasons
	FirstByte time.Duration     // limit before the first byte; 0: Idle
	StartHint string            // what to do when a server on this machine does not answer
	LostHint  string            // what to do when nothing is at the address of the API; "" is to look at the base URL

	Wall func() time.Time // the wall clock; nil: time.Now
}

// A Client makes single attempts.
type Client struct {
	c       Config
	patient time.Duration // how long an open piece of reasoning may be silent
}

// NewClient returns a Client with the defaults of c filled in.
func NewClient(c Config) *Client {
	if c.Transport == nil {
		c.Transport = NewTransport(Dial{})
	}
	patient := c.Idle
	if c.Idle <= 0 {
		c.Idle, patient = defaultIdle, patience
	}
	if c.FirstByte <= 0 {
		c.FirstByte = c.Idle
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Wall == nil {
		c.Wall = time.Now
	}
	return &Client{c: c, patient: patient}
}

// A Call is one request.
type Call struct {
	URL    string
	Header http.Header // what the provider needs besides the common ones
	Body   Body
}

// A Decoder turns events into chunks.
type Decoder interface {
	// Event takes one event. done ends the stream; the decoder has then put
	// its llm.Finished.
	Event(ev Event, out *Out) (done bool, err error)
	// EOF is called when the body ended in good order without done. A nil
	// error means the decoder had all it needs and has put its llm.Finished.
	EOF(out *Out) error
	// Complete reports whether the stream has said why the reply ended. What is still to
	// come is then of little use, and not waited for long: some servers leave out the
	// end, and keep the connection.
	Complete() bool
}

// An Out takes chunks on their way to the consumer.
type Out struct {
	yield func(llm.Chunk, error) bool
	begun bool
	left  bool
	kept  int // bytes of the reply so far
	watch *watch
	// limits are what the headers told; the next Progress has them, and each after it.
	limits []llm.Limit
	told   bool
}

// thinks tells the watch whether the model reasons now, which may take long
// without a byte.
func (o *Out) thinks(on bool) {
	if o.watch != nil {
		o.watch.thinks.Store(on)
	}
}

// Keep counts bytes that the reply will hold and reports whether it may: one
// without end is given up before it fills the memory.
func (o *Out) Keep(n int) bool {
	o.kept += n
	return o.kept <= maxKept
}

// Put yields c unless the consumer has left.
func (o *Out) Put(c llm.Chunk) {
	p, silent := c.(llm.Progress)
	if !silent && !o.told && len(o.limits) > 0 {
		o.Put(llm.Progress{})
	}
	if o.left {
		return
	}
	if silent {
		p.Usage, p.Limits, o.told = p.Usage.Bounded(), o.limits, true
		c = p
	} else {
		o.begun = true
	}
	if o.watch != nil {
		o.watch.said.Store(int64(time.Since(o.watch.base)))
	}
	if !o.yield(c, nil) {
		o.left = true
	}
}

// ErrNoEnd is the answer of Decoder.EOF when the terminal event is missing.
var ErrNoEnd = errors.New("the stream ended before the reply was complete")

// Stream sends call once and decodes the answer. The error it may yield last
// is an *llm.Error, or the context's error.
func (c *Client) Stream(ctx context.Context, call Call, dec Decoder) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		out := &Out{yield: yield}
		err := c.attempt(ctx, call, dec, out)
		if err != nil && !out.left {
			yield(nil, err)
		}
	}
}

func (c *Client) attempt(ctx context.Context, call Call, dec Decoder, out *Out) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	reqCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, host, err := c.request(reqCtx, call)
	if err != nil {
		return err
	}
	w := startWatch(cancel, c.c.FirstByte, c.c.Idle, c.patient, c.c.Wall)
	defer w.end()
	out.watch = w
	resp, err := c.c.Transport.RoundTrip(req)
	if err != nil {
		return c.broken(ctx, reqCtx, err, host, nil, out)
	}
	defer resp.Body.Close()
	w.arrived(1) // the status line and headers count as bytes
	raw := &watched{r: resp.Body, w: w}
	body, err := unpack(strings.ToLower(resp.Header.Get("Content-Encoding")), raw)
	if err != nil {
		return c.fail(llm.BadReply, resp, err.Error())
	}
	out.limits = limits(resp.Header, c.c.Wall())
	if resp.StatusCode == http.StatusOK {
		head := bufio.NewReader(body)
		whole, err := values(head, resp.Header.Get("Content-Type"))
		if err != nil {
			return c.broken(ctx, reqCtx, err, host, resp, out)
		}
		if whole != nil {
			return c.whole(ctx, reqCtx, whole, dec, out, resp, host)
		}
		body = head
	}
	if resp.StatusCode != http.StatusOK || !streamType(resp.Header.Get("Content-Type")) {
		page, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return c.refused(resp, page, host)
	}
	err = c.decode(newReader(body), dec, out)
	if err == nil || out.left {
		return nil
	}
	return c.broken(ctx, reqCtx, err, host, resp, out)
}

// An events gives one event after the other, and io.EOF at the end.
type events interface{ Next() (Event, error) }

func (c *Client) decode(r events, dec Decoder, out *Out) error {
	for {
		ev, err := r.Next()
		if err == io.EOF || err != nil && dec.Complete() {
			return dec.EOF(out)
		}
		if err != nil {
			return err
		}
		if len(ev.Data) > maxWritten {
			return errTooLong
		}
		if bytes.Equal(ev.Name, errorEvent) && len(ev.Data) > 0 {
			return ReadFault(ev.Data)
		}
		done, err := dec.Event(ev, out)
		if out.watch != nil && dec.Complete() {
			out.watch.complete()
		}
		if out.kept > maxKept {
			return errTooLong
		}
		if err != nil || done || out.left {
			return err
		}
	}
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, string, error) {
	u, err := url.Parse(call.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, "", c.badURL("the base URL is not an http(s) address")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil, "", c.badURL("the base URL has the port " + clean(p, 40) + ", and ports are 1 to 65535")
		}
	}
	if err := c.badHeader(); err != nil {
		return nil, "", err
	}
	if i := strings.IndexFunc(c.c.Key, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return nil, "", &llm.Error{Kind: llm.Unauthorized, Provider: c.c.Provider,
			Fix: "copy the key again, without line breaks or quotes",
			Err: fmt.Errorf("the key%s holds a character that no key has", c.from())}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, http.NoBody)
	if err != nil {
		return nil, "", c.badURL("the request could not be made")
	}
	req.Body, req.ContentLength = call.Body.open(), call.Body.Len()
	req.GetBody = func() (io.ReadCloser, error) { return call.Body.open(), nil }
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	for k, v := range call.Header {
		h[k] = v
	}
	for k, v := range c.c.Headers {
		h.Set(k, v)
	}
	h.Set("User-Agent", "adze/"+c.c.Version)
	if u.User != nil && h.Get("Authorization") == "" {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	return req, u.Host, nil
}

func (c *Client) from() string {
	if c.c.KeySource == "" {
		return ""
	}
	return " in " + c.c.KeySource
}

// streamType reports whether a 200 answer can be an event stream. Servers
// that leave the type out, or say text/plain, are believed.
func streamType(contentType string) bool {
	t, _, _ := mime.ParseMediaType(contentType)
	switch t {
	case "text/html", "application/json", "application/problem+json", "application/xhtml+xml":
		return false
	}
	return true
}

// broken names what went wrong when the exchange did not end in good order.
func (c *Client) broken(ctx, reqCtx context.Context, err error, host string, resp *http.Response, out *Out) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f := (Fault{}); errors.As(err, &f) {
		e := c.fault(statusOf(f), f, resp)
		if e.Status == 0 && e.Kind == llm.BadRequest { // an error nobody has a name for
			e.Kind = llm.ServerError
		}
		e.Begun = e.Begun || out.begun
		return e
	}
	e := &llm.Error{Provider: c.c.Provider, Begun: out.begun}
	if resp != nil {
		e.RequestID = requestID(resp.Header)
	}
	switch why := context.Cause(reqCtx); {
	case errors.Is(why, errStalled):
		limit := c.c.Idle
		switch {
		case resp == nil:
			limit = c.c.FirstByte
		case out.watch.thinks.Load():
			limit = max(limit, c.patient)
		}
		e.Kind, e.Err = llm.Stalled, fmt.Errorf("no bytes for %v", limit)
		return e
	case errors.Is(why, errEmpty):
		e.Kind, e.Err = llm.Stalled, fmt.Errorf("nothing was said for %v, but the connection was kept up", patience)
		return e
	case errors.Is(why, errWoke):
		e.Kind, e.Err = llm.Stalled, errors.New("the connection did not survive the computer's sleep")
		return e
	}
	if resp == nil {
		named := nameFailure(err, host)
		e.Kind, e.Permanent, e.Fix, e.Err = llm.Transport, named.permanent, named.hint, errors.New(Redact(named.text, c.c.Key))
		if px := new(proxyError); errors.As(err, &px) {
			e.Status = px.status
		}
		e.Offline = !e.Permanent
		if strings.HasPrefix(named.text, "connection refused by "+host) {
			e.Near = onThisMachine(host)
			e.Fix = cmp.Or(c.c.StartHint, e.Fix)
		}
		return e
	}
	switch {
	case errors.Is(err, errNoGzip):
		e.Kind, e.Err = llm.BadReply, err
		e.Fix = "check the base URL; a proxy before it may change what is sent" + c.setting("base_url")
	case errors.Is(err, ErrEventTooLong), errors.Is(err, errBomb), errors.Is(err, errTooBig), errors.Is(err, errTooLong):
		e.Kind, e.Err = llm.BadReply, err
	case errors.Is(err, ErrNoEnd):
		e.Kind, e.Err = llm.Cut, err
	case errors.Is(err, ErrGarbage):
		e.Kind, e.Err = llm.Cut, err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		e.Kind, e.Err = llm.Cut, errors.New("the connection was closed before the reply was complete")
	default:
		e.Kind, e.Err = llm.Cut, fmt.Errorf("the reply broke off: %s", Redact(nameFailure(err, host).text, c.c.Key))
	}
	return e
}

// onThisMachine reports whether a host, with or without a port, is loopback.
func onThisMachine(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

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
