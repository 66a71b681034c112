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
