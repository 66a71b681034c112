package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/hint"
)

// lines is the smallest decoder: each event is a word, "end" ends.
type lines struct{}

func (lines) Event(ev Event, out *Out) (bool, error) {
	if string(ev.Data) == "end" {
		out.Put(llm.Finished{Stop: llm.EndTurn})
		return true, nil
	}
	out.Put(llm.TextDelta{S: string(ev.Data)})
	return false, nil
}

func (lines) EOF(*Out) error { return ErrNoEnd }

func (lines) Complete() bool { return false }

// attempt makes one request and returns the words and the error.
func attempt(ctx context.Context, c Config, url string) (string, error) {
	c.Provider = "test"
	var words []string
	for ch, err := range NewClient(c).Stream(ctx, Call{URL: url, Body: Body{[][]byte{[]byte("{}")}}}, lines{}) {
		if err != nil {
			return strings.Join(words, " "), err
		}
		if d, ok := ch.(llm.TextDelta); ok {
			words = append(words, d.S)
		}
	}
	return strings.Join(words, " "), nil
}

func want(t *testing.T, err error, kind llm.Kind, permanent bool, text string) *llm.Error {
	t.Helper()
	e := new(llm.Error)
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *llm.Error", err)
	}
	if e.Kind != kind || e.Permanent != permanent || !strings.Contains(e.Error(), text) {
		t.Errorf("kind %d, permanent %v, %q; want %d, %v, %q", e.Kind, e.Permanent, e.Error(), kind, permanent, text)
	}
	if kind == llm.Transport && e.Fix == "" {
		t.Errorf("%v has no hint", e)
	}
	return e
}

// raw serves one connection at a time by hand and returns its URL.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends when the listener is closed
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "http://" + l.Addr().String()
}

// counted tells how much is read at a time.
type counted struct {
	net.Conn
	read chan<- int
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read <- n
	return n, err
}

func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nRequest-Id: req_7\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunkOf(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// Fault 47: the connection is reset before the headers, after them, and in
// the middle of a token.
func TestFault47Reset(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		kind       llm.Kind
		words      string
		begun      bool
	}{
		{"before headers", "", llm.Transport, "", false},
		{"in the headers", "HTTP/1.1 200 O", llm.Transport, "", false},
		{"after headers", okHead, llm.Cut, "", false},
		{"between tokens", okHead + chunkOf("data: one\n\n"), llm.Cut, "one", true},
		{"in a token", okHead + chunkOf("data: one\n\ndata: tw"), llm.Cut, "one", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := make(chan int, 100)
			url := raw(t, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, c.sent)
				for left := len(c.sent); left > 0; { // what was sent must be read before the reset
					select {
					case n := <-read:
						left -= n
					case <-t.Context().Done():
						left = 0
					}
				}
				reset(conn)
			})
			tr := NewTransport(Dial{})
			tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				return counted{conn, read}, err
			}
			words, err := attempt(context.Background(), Config{Transport: tr}, url)
			e := want(t, err, c.kind, false, "")
			if words != c.words || e.Begun != c.begun || !e.Retryable() {
				t.Errorf("%q, begun %v, retryable %v: %v", words, e.Begun, e.Retryable(), e)
			}
			if c.kind == llm.Cut && e.RequestID != "req_7" {
				t.Errorf("request id %q", e.RequestID)
			}
		})
	}
}

// quiet is a transport whose answer is silent after some bytes.
type quiet struct {
	sent    string
	headers bool // false: not even the headers come
	slow    time.Duration
}

func (q quiet) RoundTrip(r *http.Request) (*http.Response, error) {
	if !q.headers {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	pr, pw := io.Pipe()
	go func() { // ends with the request
		for _, b := range strings.SplitAfter(q.sent, "\n\n") {
			if q.slow > 0 {
				time.Sleep(q.slow)
			}
			_, _ = io.WriteString(pw, b)
		}
		<-r.Context().Done()
		_ = pw.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr}, nil
}

// Fault 48: a stream without bytes ends after the idle limit; any byte,
// also a comment, starts it anew; the time a consumer takes does not count.
func TestFault48Silence(t *testing.T) {
	for _, c := range []struct {
		name  string
		tr    quiet
		idle  time.Duration
		after time.Duration
		words string
	}{
		{"no headers", quiet{}, 0, 90 * time.Second, ""},
		{"nothing", quiet{headers: true}, 0, 90 * time.Second, ""},
		{"after a word", quiet{headers: true, sent: "data: one\n\n"}, 0, 90 * time.Second, "one"},
		{"comments keep it alive", quiet{headers: true, sent: ": a\n\n: b\n\ndata: one\n\n", slow: 80 * time.Second}, 0, (4*80 + 90) * time.Second, "one"},
		{"own limit", quiet{headers: true}, 7 * time.Second, 7 * time.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				words, err := attempt(context.Background(), Config{Transport: c.tr, Idle: c.idle}, "http://x")
				want(t, err, llm.Stalled, false, "no bytes for")
				if d := time.Since(start); words != c.words || d != c.after {
					t.Errorf("%q after %v, want %q after %v", words, d, c.words, c.after)
				}
				synctest.Wait()
			})
		})
	}
}

// thinker opens a piece of reasoning with each event.
type thinker struct{ r *Reply }

func (d thinker) Event(_ Event, out *Out) (bool, error) {
	d.r.Thinking(out).Add("hm", out)
	return false, nil
}

func (thinker) EOF(*Out) error { return ErrNoEnd }

func (thinker) Complete() bool { return false }

// pings never end and say nothing.
type pings struct{ ctx context.Context }

func (r pings) Read(p []byte) (int, error) {
	select {
	case <-time.After(30 * time.Second):
		return copy(p, ": ping\n\n"), nil
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

func (pings) RoundTrip(r *http.Request) (*http.Response, error) {
	return still{pings{r.Context()}}.RoundTrip(r)
}

// A model that reasons may be silent for longer, and a connection that is only
// kept up is no reply.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name  string
		tr    http.RoundTripper
		idle  time.Duration
		after time.Duration
		words string
	}{
		{"reasoning", quiet{headers: true, sent: "data: one\n\n"}, 0, 10 * time.Minute, "no bytes for 10m"},
		{"reasoning, own limit", quiet{headers: true, sent: "data: one\n\n"}, 20 * time.Minute, 20 * time.Minute, "no bytes for 20m"},
		{"pings", pings{}, 0, 10*time.Minute + 5*time.Second, "nothing was said for 10m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var last error
				for _, err := range NewClient(Config{Transport: c.tr, Idle: c.idle}).Stream(context.Background(), Call{URL: "http://x"}, thinker{&Reply{}}) {
					last = err
				}
				if last == nil || !strings.Contains(last.Error(), c.words) || time.Since(start).Round(5*time.Second) != c.after {
					t.Errorf("%v after %v", last, time.Since(start))
				}
			})
		})
	}
}

func TestSlowConsumerIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := quiet{headers: true, sent: "data: one\n\ndata: two\n\ndata: end\n\n"}
		for _, err := range NewClient(Config{Transport: tr}).Stream(context.Background(), Call{URL: "http://x"}, lines{}) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
		}
	})
}

// Fault 49: a stream that ends in good order without its terminal event.
func TestFault49NoEnd(t *testing.T) {
	url := raw(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, okHead+chunkOf("data: one\n\n")+"0\r\n\r\n")
		_ = c.Close()
	})
	words, err := attempt(context.Background(), Config{}, url)
	if e := want(t, err, llm.Cut, false, "before the reply was complete"); words != "one" || !e.Begun {
		t.Errorf("%q %v", words, e)
	}
}

// Fault 54: a captive portal answers every request.
func TestFault54CaptivePortal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "http://login.example/?key=leak", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "<html><title>Sign in to Hotel</title></html>")
	}))
	defer srv.Close()
	_, err := attempt(context.Background(), Config{}, srv.URL)
	if e := want(t, err, llm.BadReply, false, `a web page came instead of a reply ("Sign in to Hotel")`); e.Fix == "" || e.Retryable() {
		t.Errorf("%+v", e)
	}
	_, err = attempt(context.Background(), Config{}, srv.URL+"/redirect")
	want(t, err, llm.BadReply, false, "redirected to login.example")
}

// Fault 55: TLS, proxy, DNS and refused connections are named.
func TestFault55NamedCauses(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quietLog()
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	proxy := func(status int) string {
		return raw(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
			_ = c.Close()
		})
	}
	via := func(u string) http.RoundTripper {
		p, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		return NewTransport(Dial{Proxy: http.ProxyURL(p)})
	}
	noDNS := NewTransport(Dial{})
	noDNS.DialContext = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "api.nowhere.example", IsNotFound: true}}
	}
	shaky := NewTransport(Dial{})
	shaky.DialContext = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "api.x", IsTemporary: true}}
	}
	wrongName := NewTransport(Dial{Roots: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	dialer := wrongName.DialContext
	wrongName.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer(ctx, network, secure.Listener.Addr().String())
	}
	for _, c := range []struct {
		name      string
		tr        http.RoundTripper
		url       string
		permanent bool
		text      string
	}{
		{"unknown authority", nil, secure.URL, true, "TLS failure: the certificate of 127.0.0.1"},
		{"wrong name", wrongName, "https://other.test/", true, "TLS failure: the certificate is not for other.test"},
		{"no TLS there", nil, strings.Replace(plain.URL, "http:", "https:", 1), true, "does not speak TLS"},
		{"proxy 407 for https", via(proxy(407)), "https://api.test/", true, "wants a user name and password (407)"},
		{"proxy 403 for https", via(proxy(403)), "https://api.test/", true, "refused the connection (403)"},
		{"proxy 502 for https", via(proxy(502)), "https://api.test/", false, "refused the connection (502)"},
		{"proxy 407 for http", via(proxy(407)), "http://api.test/", true, "wants a user name and password (407)"},
		{"dead proxy", via("http://127.0.0.1:1"), "https://api.test/", false, "connection refused by the proxy"},
		{"dead proxy for http", via("http://127.0.0.1:1"), "http://api.test/", false, "connection refused by the proxy"},
		{"a proxy without an address", NewTransport(Dial{Proxy: func(*http.Request) (*url.URL, error) {
			return nil, &hint.Mistake{Why: "the proxy in HTTP_PROXY is no address", What: "correct HTTP_PROXY"}
		}}), "http://api.test/", true, "the proxy in HTTP_PROXY is no address"},
		{"unknown host", noDNS, "https://api.nowhere.example/", false, "there is no network, or no such host: api.nowhere.example (DNS lookup failed)"},
		{"DNS trouble", shaky, "https://api.x/", false, "DNS lookup of api.x failed: server misbehaving"},
		{"refused", nil, "http://127.0.0.1:1/", false, "connection refused by 127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := attempt(context.Background(), Config{Transport: c.tr}, c.url)
			want(t, err, llm.Transport, c.permanent, c.text)
		})
	}
}

// Fault 56: after a sleep of the computer the wall clock has jumped and no
// bytes come; the wait is then short.
func TestFault56Sleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		wall := func() time.Time {
			if time.Since(start) > 30*time.Second {
				return time.Now().Add(8 * time.Hour)
			}
			return time.Now()
		}
		_, err := attempt(context.Background(), Config{Transport: quiet{headers: true, sent: "data: one\n\n"}, Wall: wall}, "http://x")
		want(t, err, llm.Stalled, false, "the computer's sleep")
		if d := time.Since(start); d < 30*time.Second || d > 45*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// Fault 57: one line of 10 MB passes, one without end is refused with bounded memory.
func TestFault57LongLine(t *testing.T) {
	body := io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 10<<20), strings.NewReader("\n\ndata: end\n\n"))
	words, err := attempt(context.Background(), Config{Transport: still{body}}, "http://x")
	if err != nil || len(words) != 10<<20 {
		t.Errorf("%d bytes, %v", len(words), err)
	}
	_, err = attempt(context.Background(), Config{Transport: still{zeros{}}}, "http://x")
	want(t, err, llm.BadReply, false, "larger than 64 MB")
}

type still struct{ body io.Reader }

func (s still) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(s.body)}, nil
}

func TestKeyWithALineBreak(t *testing.T) {
	_, err := attempt(context.Background(), Config{Key: "abc\ndef-secret", KeySource: "SOME_KEY"}, "http://x")
	if e := want(t, err, llm.Unauthorized, false, "the key in SOME_KEY holds a character that no key has"); strings.Contains(e.Error()+e.Fix, "secret") {
		t.Error(e)
	}
}

// What cannot mend is not tried again, and says where it is mended.
func TestWhatCannotMend(t *testing.T) {
	for _, bad := range []string{"", "api.test", "ftp://x", "http://[", "://", "http://127.0.0.1:99999", "http://127.0.0.1:0/v1", "https://x:65536", "http://x:99999999999999999999"} {
		_, err := attempt(context.Background(), Config{}, bad)
		if e := want(t, err, llm.BadRequest, false, "base URL"); !strings.Contains(e.Fix, "providers.test.base_url") {
			t.Errorf("%s: %q", bad, e.Fix)
		}
	}
	for _, h := range [][2]string{{"a b", "c"}, {"", "c"}, {"a:", "c"}, {"ä", "c"}, {"X-Secret", "hidden\r\nX: y"}, {"X-Secret", "hidden\x00"}, {"X-Secret", "hidden\x7f"}} {
		_, err := attempt(context.Background(), Config{Headers: map[string]string{h[0]: h[1], "Good": "yes\tä"}}, "http://127.0.0.1:1")
		if e := want(t, err, llm.BadRequest, false, "header"); !strings.Contains(e.Fix, "providers.test.headers") || strings.Contains(e.Error(), "hidden") {
			t.Errorf("%q: %v, %q", h, e, e.Fix)
		}
	}
	for _, body := range []string{"data: one\n\n", strings.Repeat("x", 5000)} {
		_, err := attempt(context.Background(), Config{Transport: answers{http.StatusOK, http.Header{"Content-Encoding": {"gzip"}}, body}}, "http://x")
		if e := want(t, err, llm.BadReply, false, "gzip, and is not"); !strings.Contains(e.Fix, "providers.test.base_url") {
			t.Error(e.Fix)
		}
	}
}

// A key in the person's own headers is not missing when it is refused.
func TestRefusedKeyInAHeader(t *testing.T) {
	for name, c := range map[string]struct {
		conf      Config
		says, fix string
	}{
		"a header":           {Config{Headers: map[string]string{"x-api-key": "s3cret-value"}}, "refused the key in the header X-Api-Key", "providers.test.headers"},
		"another":            {Config{Headers: map[string]string{"Authorization": "Bearer s3cret-value", "X-Team": "blue"}}, "refused the key in the header Authorization", "providers.test.headers"},
		"no key in headers":  {Config{Headers: map[string]string{"X-Team": "blue", "Authorization": ""}}, "wants a key and none is set", "adze doctor"},
		"a key of its own":   {Config{Key: "s3cret-value", KeySource: "SOME_KEY"}, "refused the key in SOME_KEY", "SOME_KEY"},
		"a key and a header": {Config{Key: "s3cret-value", KeySource: "SOME_KEY", Headers: map[string]string{"X-Team": "blue"}}, "refused the key in SOME_KEY", "SOME_KEY"},
	} {
		c.conf.Transport = answers{http.StatusUnauthorized, http.Header{}, `{"error":{"message":"no"}}`}
		_, err := attempt(context.Background(), c.conf, "http://x")
		if e := want(t, err, llm.Unauthorized, false, c.says); !strings.Contains(e.Fix, c.fix) || strings.Contains(e.Error()+e.Fix, "s3cret") {
			t.Errorf("%s: %v, %q", name, e, e.Fix)
		}
	}
}

// answers gives one answer to everything.
type answers struct {
	status int
	header http.Header
	body   string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: a.header.Clone(), Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	_, _ = attempt(context.Background(), Config{Transport: still{strings.NewReader("data: one\n\ndata: end\n\n")}}, "http://x")
	for range NewClient(Config{Transport: still{zeros{}}}).Stream(context.Background(), Call{URL: "http://x"}, lines{}) {
		break
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestTransportHasModernTLS(t *testing.T) {
	if v := NewTransport(Dial{}).TLSClientConfig.MinVersion; v < tls.VersionTLS12 {
		t.Errorf("version %x", v)
	}
}

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

func TestSaidWait(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"Rate limit reached for gpt-5. Please try again in 8s. Visit the page.": 8 * time.Second,
		"Please try again in 1.25s.": 1250 * time.Millisecond, "try again in 350ms": 350 * time.Millisecond,
		"Please retry in 1m2.5s.": 62500 * time.Millisecond, "Try again in 20 seconds": 20 * time.Second,
		"Please retry after 2 minutes": 2 * time.Minute, "try again later": 0, "used 8s of 9s": 0, "Please try again in 6h": 6 * time.Hour,
		"please wait for 3 seconds": 3 * time.Second,
	} {
		if got := saidWait(message); got != want {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}
