package netproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/text/hint"
)

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Upstream
	}{
		{nil, Upstream{No: []string{}}},
		{map[string]string{"https_proxy": "http://a:1", "NO_PROXY": "x, .y,10.0.0.0/8"}, Upstream{HTTPS: "http://a:1", No: []string{"x", ".y", "10.0.0.0/8"}}},
		{map[string]string{"HTTPS_PROXY": "b", "https_proxy": "c", "ALL_PROXY": "socks5://d"}, Upstream{HTTP: "socks5://d", HTTPS: "b", No: []string{}}},
	} {
		got := FromEnvironment(func(n string) string { return c.env[n] })
		if got.No == nil {
			got.No = []string{}
		}
		got.http, got.https = "", "" // see TestProxy
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %+v", c.env, got)
		}
	}
}

// Requests of adze's own go the way that programs of the machine go.
func TestProxy(t *testing.T) {
	for _, c := range []struct {
		env       map[string]string
		url, want string // "!" begins an error that names the variable
	}{
		{map[string]string{"ALL_PROXY": "socks5://d:1"}, "https://api.example/v1", "socks5://d:1"},
		{map[string]string{"all_proxy": "d:1", "HTTPS_PROXY": "http://s:2"}, "http://api.example/v1", "http://d:1"},
		{map[string]string{"all_proxy": "d:1", "HTTPS_PROXY": "http://s:2"}, "https://api.example/v1", "http://s:2"},
		{map[string]string{"ALL_PROXY": "d:1"}, "http://127.0.0.1:11434/v1", ""},
		{map[string]string{"ALL_PROXY": "d:1"}, "http://[::1]:11434/v1", ""},
		{map[string]string{"ALL_PROXY": "d:1"}, "http://LOCALHOST/v1", ""},
		{map[string]string{"ALL_PROXY": "d:1", "NO_PROXY": "api.example"}, "https://API.example/v1", ""},
		{map[string]string{"HTTP_PROXY": "http://exa mple:99x"}, "http://api.example/v1", "!HTTP_PROXY"},
		{map[string]string{"https_proxy": "http://proxy:99999"}, "https://api.example/v1", "!https_proxy"},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromEnvironment(func(n string) string { return c.env[n] }).Proxy(&http.Request{URL: u})
		switch name, bad := strings.CutPrefix(c.want, "!"); {
		case bad:
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(hint.Of(err), name) {
				t.Errorf("%v: %v %v", c.env, got, err)
			}
		case err != nil, (got == nil) != (c.want == ""), got != nil && got.String() != c.want:
			t.Errorf("%v, %s: %v %v", c.env, c.url, got, err)
		}
	}
}

func TestOf(t *testing.T) {
	get := func(n string) string {
		return map[string]string{"HTTPS_PROXY": "http://env:1", "NO_PROXY": "near.example"}[n]
	}
	for setting, want := range map[string]string{"": "http://env:1", "socks5://said:2": "socks5://said:2"} {
		u := Of(setting, get)
		far, err := u.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "far.example"}})
		if err != nil || far == nil || far.String() != want {
			t.Errorf("%q: %v %v", setting, far, err)
		}
		if near, err := u.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "near.example"}}); err != nil || near != nil {
			t.Errorf("%q, of NO_PROXY: %v %v", setting, near, err)
		}
	}
}

func TestVia(t *testing.T) {
	u := Upstream{HTTP: "plain.example:81", HTTPS: "http://u:p@tls.example:82", No: []string{"direct.example", ".below.example", "10.0.0.0/8", "192.0.2.7", "port.example:8443", "*.star.example"}}
	for _, c := range []struct {
		host  string
		port  int
		plain bool
		want  string
	}{
		{"x.example", 443, false, "tls.example:82"}, {"x.example", 80, true, "plain.example:81"}, {"direct.example", 443, false, ""},
		{"a.direct.example", 443, false, ""}, {"indirect.example", 443, false, "tls.example:82"}, {"a.below.example", 443, false, ""},
		{"10.9.8.7", 443, false, ""}, {"11.9.8.7", 443, false, "tls.example:82"}, {"192.0.2.7", 1, false, ""}, {"port.example", 8443, false, ""},
		{"port.example", 443, false, "tls.example:82"}, {"a.star.example", 1, false, ""},
	} {
		got, err := u.via(c.host, c.port, c.plain)
		if err != nil || (got == nil) != (c.want == "") || got != nil && got.Host != c.want {
			t.Errorf("%s:%d: %v %v", c.host, c.port, got, err)
		}
	}
	if got, _ := (Upstream{HTTPS: "x", No: []string{"*"}}).via("a", 1, false); got != nil {
		t.Error(got)
	}
	for _, bad := range []string{"ftp://x", "http://", "http://secret:pass@h:port", "::"} {
		if got, err := (Upstream{HTTPS: bad}).via("a", 1, false); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v %v", bad, got, err)
		}
	}
}

// company is a proxy of a network of its own: it knows names that nobody here
// does, and wants a password.
type company struct {
	mu   sync.Mutex
	seen []string
}

func (c *company) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.seen = append(c.seen, r.Method+" "+r.Host)
	c.mu.Unlock()
	if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjpwYSBzcw==" { // user:pa ss
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		fmt.Fprintf(w, "forwarded %s", r.URL)
		return
	}
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(rw, "HTTP/1.1 200 OK\r\n\r\nhello ") // together with the first bytes of the server
	_ = rw.Flush()
	line, _ := rw.ReadString('\n')
	fmt.Fprintf(rw, "tunnel to %s: %s", r.Host, line)
	_ = rw.Flush()
}

func chained(t *testing.T, r Rules, u Upstream) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, Config{
		Rules: r, Upstream: u,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			return nil, fmt.Errorf("%s was looked up here", host)
		},
	})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func tunnel(t *testing.T, p *Proxy, host string) string {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: x\r\n\r\nping\n", host)
	b, _ := io.ReadAll(c)
	return string(b)
}

func TestUpstream(t *testing.T) {
	co := &company{}
	up := httptest.NewServer(co)
	defer up.Close()
	address := strings.Replace(up.URL, "http://", "http://user:pa%20ss@", 1)
	p := chained(t, Rules{Allowed: []string{"in.example", "*"}, Denied: []string{"no.example"}}, Upstream{HTTP: address, HTTPS: address, No: []string{"direct.example"}})
	if got := tunnel(t, p, "in.example"); !strings.HasSuffix(got, "hello tunnel to in.example:443: ping\n") {
		t.Error(got)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.Address()})}}
	if code, body := get(t, client, "http://in.example/x?y"); code != 200 || body != "forwarded http://in.example/x?y" {
		t.Errorf("%d %s", code, body)
	}
	co.mu.Lock()
	n := len(co.seen)
	co.mu.Unlock()
	for host, want := range map[string]string{
		"no.example": "the settings deny it", "direct.example": "was looked up here",
		"127.0.0.1": "the proxy's own network", "169.254.169.254": "the proxy's own network", "localhost": "the proxy's own network", "metadata.google.internal": "the proxy's own network",
	} {
		if got := tunnel(t, p, host); !strings.Contains(got, want) {
			t.Errorf("%s: %s", host, got)
		}
	}
	co.mu.Lock()
	if len(co.seen) != n {
		t.Errorf("the upstream saw %v", co.seen[n:])
	}
	co.mu.Unlock()
	wrong := chained(t, Rules{Allowed: []string{"in.example"}}, Upstream{HTTPS: up.URL})
	if got := tunnel(t, wrong, "in.example"); !strings.Contains(got, "502") || !strings.Contains(got, "407") {
		t.Error(got)
	}
}

// TestUpstreamSocks goes through a SOCKS 5 proxy, with and without a password.
func TestUpstreamSocks(t *testing.T) {
	for _, user := range []string{"", "user:secret@"} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { // ends with its one connection
			defer l.Close()
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			read := func(n int) string {
				b := make([]byte, n)
				_, _ = io.ReadFull(r, b)
				return string(b)
			}
			if user == "" {
				read(3)
				_, _ = c.Write([]byte{5, 0})
			} else {
				read(4)
				_, _ = c.Write([]byte{5, 2})
				if read(13) != "\x01\x04user\x06secret" {
					_, _ = c.Write([]byte{1, 1})
					return
				}
				_, _ = c.Write([]byte{1, 0})
			}
			head := read(5)
			host := read(int(head[4]))
			read(2)
			_, _ = c.Write([]byte{5, 0, 0, 3, 1, 'x', 0, 0})
			line, _ := r.ReadString('\n')
			fmt.Fprintf(c, "socks to %s: %s", host, line)
		}()
		p := chained(t, Rules{Allowed: []string{"in.example"}}, Upstream{HTTPS: "socks5h://" + user + l.Addr().String()})
		if got := tunnel(t, p, "in.example"); !strings.HasSuffix(got, "socks to in.example: ping\n") {
			t.Errorf("%q: %s", user, got)
		}
	}
}

// TestUpstreamTLS: a proxy whose certificate nobody vouches for gets nothing.
func TestUpstreamTLS(t *testing.T) {
	co := &company{}
	up := httptest.NewUnstartedServer(co)
	up.Config.ErrorLog = log.New(io.Discard, "", 0)
	up.StartTLS()
	defer up.Close()
	p := chained(t, Rules{Allowed: []string{"in.example"}}, Upstream{HTTPS: up.URL})
	if got := tunnel(t, p, "in.example"); !strings.Contains(got, "502") || !strings.Contains(got, "certificate") {
		t.Error(got)
	}
	if _, err := tls.Dial("tcp", up.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true}); err != nil {
		t.Errorf("the test is void: %v", err)
	}
}
