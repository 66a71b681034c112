package netproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"Example.COM.": "example.com", "a-b.c": "a-b.c", "_dmarc.x": "_dmarc.x", "127.0.0.1": "127.0.0.1", "[::1]": "::1", "::ffff:10.0.0.1": "10.0.0.1",
		"evil\x00.ok.com": "", "a b": "", "ok@evil": "", "": "", ".": "", "a..b": "", "-a.b": "", "b\u00fccher.de": "", "x/y": "", "fe80::1%eth0": "",
		"127.1": "", "0x7f.0.0.1": "", "2130706433": "", "0177.0.0.1": "", "a\r\nb": "", "a%2eb": "",
	} {
		got, err := cleanHost(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	r := Rules{Allowed: []string{"python.org", "*.github.com", "localhost:8080", "[::1]:53"}, Denied: []string{"evil.github.com", "*.gist.github.com"}}
	for _, c := range []struct {
		host string
		port int
		want verdict
	}{
		{"python.org", 443, allowed}, {"docs.python.org", 443, unknown}, {"python.org.evil.com", 443, unknown}, {"evilpython.org", 443, unknown},
		{"api.github.com", 443, allowed}, {"a.b.github.com", 443, allowed}, {"github.com", 443, unknown}, {"evil.github.com", 443, denied}, {"x.gist.github.com", 443, denied},
		{"notgithub.com", 443, unknown}, {"localhost", 8080, allowed}, {"localhost", 80, unknown}, {"::1", 53, allowed}, {"::1", 54, unknown},
	} {
		if got := r.judge(c.host, c.port); got != c.want {
			t.Errorf("%s:%d: %v", c.host, c.port, got)
		}
	}
	if (Rules{}).judge("example.com", 443) == allowed {
		t.Error("nothing allows")
	}
}

// world is a proxy whose names and network are made up: every dial leads to
// one server here, and is noted.
type world struct {
	*Proxy
	mu     sync.Mutex
	dialed []string
}

func (w *world) dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.dialed...)
}

func start(t *testing.T, r Rules, ask Ask, names map[string]string) (*world, *httptest.Server) {
	t.Helper()
	return startWith(t, Config{Rules: r, Ask: ask}, names)
}

func startWith(t *testing.T, c Config, names map[string]string) (*world, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s host=%s auth=%q body=%s", r.Method, r.URL.Path, r.Host, r.Header.Get("Proxy-Authorization"), b)
	}))
	t.Cleanup(server.Close)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	c.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		a, ok := names[host]
		if !ok {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		w.mu.Lock()
		w.dialed = append(w.dialed, to.String())
		w.mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	w.Proxy = Serve(l, c)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, server
}

func (w *world) client() *http.Client {
	u := &url.URL{Scheme: "http", Host: w.Address()}
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}, Timeout: 5 * time.Second}
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestForward(t *testing.T) {
	w, _ := start(t, Rules{Allowed: []string{"ok.example", "*.inside.example", "local.example"}}, nil,
		map[string]string{"ok.example": "93.184.216.34", "x.inside.example": "169.254.169.254", "local.example": "10.0.0.1"})
	if code, body := get(t, w.client(), "http://ok.example/a"); code != 200 || body != `GET /a host=ok.example auth="" body=` {
		t.Errorf("%d %s", code, body)
	}
	if code, body := get(t, w.client(), "http://evil.example/"); code != 403 || !strings.Contains(body, "evil.example is refused: no rule allows it") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := get(t, w.client(), "http://x.inside.example/"); code != 403 || !strings.Contains(body, "metadata") {
		t.Errorf("a wildcard led inside: %d %s", code, body)
	}
	if code, _ := get(t, w.client(), "http://local.example:8080/"); code != 200 {
		t.Errorf("a host named exactly may be private: %d", code)
	}
	if got, want := fmt.Sprint(w.dials()), "[93.184.216.34:80 10.0.0.1:8080]"; got != want {
		t.Errorf("dialed %s, want %s", got, want)
	}
	if r := w.Refused(); len(r) != 2 || len(w.Refused()) != 0 {
		t.Errorf("refused %v", r)
	}
}

func raw(t *testing.T, w *world, send string) string {
	t.Helper()
	c, err := net.Dial("tcp", w.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	b, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(b)
}

func TestConnect(t *testing.T) {
	w, server := start(t, Rules{Allowed: []string{"ok.example", "*.ok.com"}}, nil, map[string]string{"ok.example": "93.184.216.34", "evil": "8.8.8.8"})
	for send, want := range map[string]string{
		"CONNECT ok.example:443 HTTP/1.1\r\nHost: x\r\n\r\n":              "HTTP/1.1 200 Connection established",
		"CONNECT ok.example HTTP/1.1\r\nHost: x\r\n\r\n":                  "HTTP/1.1 400 Bad Request",
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: ok.example\r\n\r\n":   "HTTP/1.1 403 Forbidden",
		"CONNECT evil\x00.ok.com:443 HTTP/1.1\r\nHost: x\r\n\r\n":         "HTTP/1.1 400 Bad Request",
		"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n":          "HTTP/1.1 403 Forbidden",
		"CONNECT [::1]:80 HTTP/1.1\r\nHost: x\r\n\r\n":                    "HTTP/1.1 403 Forbidden",
		"GET http://ok.example@evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.1 400 Bad Request",
		"GET / HTTP/1.1\r\nHost: ok.example\r\n\r\n":                      "HTTP/1.1 400 Bad Request",
		"rubbish\r\n\r\n": "HTTP/1.1 400 Bad Request",
	} {
		if got := raw(t, w, send); got != want {
			t.Errorf("%q: %q, want %q", send, got, want)
		}
	}
	_ = server
}

func socks(t *testing.T, w *world, request []byte) byte {
	t.Helper()
	c, err := net.Dial("tcp", w.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write(append([]byte{5, 1, 0}, request...)); err != nil {
		t.Fatal(err)
	}
	var b [12]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	return b[3]
}

func name(host string, port int) []byte {
	b := append([]byte{5, 1, 0, 3, byte(len(host))}, host...)
	return append(b, byte(port>>8), byte(port))
}

func TestSocks(t *testing.T) {
	w, _ := start(t, Rules{Allowed: []string{"ok.example", "*.ok.com"}}, nil, map[string]string{"ok.example": "93.184.216.34"})
	for _, c := range []struct {
		what string
		req  []byte
		want byte
	}{
		{"allowed", name("ok.example", 443), 0}, {"other", name("evil.example", 443), 2}, {"NUL", name("evil\x00.ok.com", 443), 2},
		{"metadata", []byte{5, 1, 0, 1, 169, 254, 169, 254, 0, 80}, 2}, {"bind", append([]byte{5, 2}, name("ok.example", 1)[2:]...), 7},
		{"unknown address", []byte{5, 1, 0, 9, 0, 0}, 8},
	} {
		if got := socks(t, w, c.req); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

// TestAsk: one question for all connections to a host, until Forget; what is
// denied, and what is an address inside, is nobody's to allow.
func TestAsk(t *testing.T) {
	var asked atomic.Int32
	var answer atomic.Pointer[Answer]
	gate := make(chan struct{})
	ask := func(_ context.Context, host string, port int) Answer {
		asked.Add(1)
		if host != "new.example" || port != 80 {
			t.Errorf("asked about %s:%d", host, port)
		}
		<-gate
		return *answer.Load()
	}
	w, _ := start(t, Rules{Denied: []string{"denied.example"}}, ask, map[string]string{"new.example": "93.184.216.34", "denied.example": "93.184.216.34"})
	answer.Store(&Answer{Allow: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if code, body := get(t, w.client(), "http://new.example/"); code != 200 {
				t.Errorf("%d %s", code, body)
			}
		})
	}
	close(gate)
	wg.Wait()
	w.Forget()
	answer.Store(&Answer{Why: "because"})
	for range 2 {
		if code, body := get(t, w.client(), "http://new.example/"); code != 403 || !strings.Contains(body, "because") {
			t.Errorf("%d %s", code, body)
		}
	}
	w.Forget()
	answer.Store(&Answer{Why: "not now", Brief: true})
	for range 2 {
		if code, body := get(t, w.client(), "http://new.example/"); code != 403 || !strings.Contains(body, "not now") {
			t.Errorf("%d %s", code, body)
		}
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
	for _, host := range []string{"denied.example", "127.0.0.1", "[::1]", "169.254.169.254"} {
		if code, _ := get(t, w.client(), "http://"+host+"/"); code != 403 || asked.Load() != 4 {
			t.Errorf("%s: %d, asked %d", host, code, asked.Load())
		}
	}
	if d := w.dials(); len(d) != 8 {
		t.Errorf("dialed %v", d)
	}
}

// TestAskIsWithdrawn with the last connection that waits, and when the proxy
// is closed.
func TestAskIsWithdrawn(t *testing.T) {
	put, gone := make(chan struct{}, 2), make(chan struct{}, 2)
	ask := func(ctx context.Context, _ string, _ int) Answer {
		put <- struct{}{}
		<-ctx.Done()
		gone <- struct{}{}
		return Answer{}
	}
	w, _ := start(t, Rules{}, ask, nil)
	connect := func() net.Conn {
		c, err := net.Dial("tcp", w.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, "CONNECT new.example:443 HTTP/1.1\r\nHost: x\r\n\r\nearly")
		return c
	}
	c := connect()
	<-put
	c.Close()
	<-gone
	connect()
	<-put
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	<-gone
}

func TestTunnelCarries(t *testing.T) {
	w, _ := start(t, Rules{Allowed: []string{"ok.example"}}, nil, map[string]string{"ok.example": "93.184.216.34"})
	c, err := net.Dial("tcp", w.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	body := strings.Repeat("x", 200_000)
	fmt.Fprintf(c, "CONNECT ok.example:443 HTTP/1.1\r\nHost: x\r\n\r\nPOST /p HTTP/1.1\r\nHost: in\r\nConnection: close\r\nContent-Length: %s\r\n\r\n%s", strconv.Itoa(len(body)), body)
	b, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200") || strings.Count(string(b), "x") < len(body) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestLocal: a port leads to this machine's own addresses, the first that answers, and
// to nothing else; where none does, the connection ends.
func TestLocal(t *testing.T) {
	var mu sync.Mutex
	var dialed []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }))
	defer server.Close()
	listen := func() net.Listener {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	p := Serve(listen(), Config{Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		mu.Lock()
		dialed = append(dialed, to.String())
		mu.Unlock()
		if to.Port() != 3000 || to.Addr().Is4() {
			return nil, errors.New("nothing listens")
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}})
	one, none := listen(), listen()
	p.Local(one, 3000)
	p.Local(none, 3001)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	if code, body := get(t, c, "http://"+one.Addr().String()); code != 200 || body != "here" {
		t.Errorf("%d %s", code, body)
	}
	if code, body := get(t, c, "http://"+none.Addr().String()); code != 0 {
		t.Errorf("%d %s", code, body)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if code, body := get(t, c, "http://"+one.Addr().String()); code != 0 {
		t.Errorf("closed: %d %s", code, body)
	}
	if got, want := fmt.Sprint(dialed[:2], dialed[len(dialed)-2:]), "[127.0.0.1:3000 [::1]:3000] [127.0.0.1:3001 [::1]:3001]"; got != want {
		t.Errorf("dialed %s, want %s", got, want)
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "a\x00.b", "[::1]", "127.1", "*.x", "ÄÖ", "a.-b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := cleanHost(s)
		if err != nil {
			return
		}
		if again, err := cleanHost(got); err != nil || again != got {
			t.Errorf("%q: %q, then %q %v", s, got, again, err)
		}
		if strings.ContainsAny(got, "\x00 /@%*") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func FuzzSocks(f *testing.F) {
	f.Add(append([]byte{5, 1, 0}, name("ok.example", 443)...))
	f.Add([]byte{5, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		host, port, _, err := readSocks(io.Discard, strings.NewReader(string(b)))
		if err == nil && (len(host) > 255 || port < 0 || port > 65535) {
			t.Errorf("%q %d", host, port)
		}
	})
}
