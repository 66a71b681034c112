package netproxy

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAdvisories holds published weaknesses of network limits against us:
// go test -run 'TestAdvisories/CVE-2025-66479'.
func TestAdvisories(t *testing.T) {
	names := map[string]string{
		"ok.example": "93.184.216.34", "docs.python.org": "93.184.216.34", "docs.python.org.evil.com": "93.184.216.34", "evildocs.python.org": "93.184.216.34",
		"x.docs.python.org": "93.184.216.34", "docs.python.orgevil.com": "93.184.216.34", "huggingface.co": "93.184.216.34", "github.com": "93.184.216.34", "pypi.org": "93.184.216.34",
		"evil": "93.184.216.34", "evil.ok.com": "93.184.216.34",
	}
	// refused tries all three ways to reach a host, and that none dials.
	refused := func(t *testing.T, w *world, hosts ...string) {
		t.Helper()
		for _, h := range hosts {
			if got := raw(t, w, "GET http://"+h+"/ HTTP/1.1\r\nHost: docs.python.org\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 40") {
				t.Errorf("GET %q: %q", h, got)
			}
			if got := raw(t, w, "CONNECT "+h+":443 HTTP/1.1\r\nHost: docs.python.org\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 40") {
				t.Errorf("CONNECT %q: %q", h, got)
			}
			if got := socks(t, w, name(h, 443)); got == 0 {
				t.Errorf("SOCKS %q: %d", h, got)
			}
		}
		if d := w.dials(); len(d) > 0 {
			t.Errorf("dialed %v", d)
		}
	}
	t.Run("CVE-2025-66479_empty_list_allows_nothing", func(t *testing.T) {
		for _, r := range []Rules{{}, {Allowed: []string{}}, {Allowed: []string{""}}, {Denied: []string{"x.example"}}} {
			w, _ := start(t, r, nil, names)
			refused(t, w, "ok.example", "93.184.216.34")
		}
	})
	t.Run("NUL_in_host", func(t *testing.T) {
		w, _ := start(t, Rules{Allowed: []string{"*.ok.com", "ok.com"}}, nil, names)
		refused(t, w, "evil\x00.ok.com", "evil%00.ok.com", "evil\t.ok.com", "evil/.ok.com", "evil#.ok.com", "evil?.ok.com")
		if got := socks(t, w, name("evil.ok.com", 443)); got != 0 {
			t.Errorf("the name without the NUL is allowed: %d", got)
		}
	})
	t.Run("CVE-2026-24052_host_is_compared_whole", func(t *testing.T) {
		w, _ := start(t, Rules{Allowed: []string{"docs.python.org"}}, nil, names)
		refused(t, w, "docs.python.org.evil.com", "docs.python.orgevil.com", "evildocs.python.org", "x.docs.python.org", "docs.python.org@evil", "ok@evil")
		if code, body := get(t, w.client(), "http://DOCS.Python.org./"); code != http.StatusOK {
			t.Errorf("%d %s", code, body)
		}
	})
	t.Run("CVE-2026-54316_no_host_is_approved_beforehand", func(t *testing.T) {
		w, _ := start(t, Rules{Allowed: []string{"docs.python.org"}}, nil, names)
		refused(t, w, "huggingface.co", "github.com", "pypi.org")
	})
	t.Run("SSRF_resolved_address", func(t *testing.T) {
		yes := func(context.Context, string, int) Answer { return Answer{Allow: true} }
		for _, a := range []string{"127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "fd00:ec2::254", "100.100.100.200", "169.254.1.1", "fe80::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe"} {
			inward := map[string]string{"x.ok.com": a, "asked.example": a}
			w, _ := start(t, Rules{Allowed: []string{"*.ok.com"}}, yes, inward)
			if refused(t, w, "x.ok.com", "asked.example"); t.Failed() {
				t.Errorf("a wildcard or an answer led to %s", a)
			}
		}
	})
	t.Run("SSRF_the_address_that_was_checked_is_dialed", func(t *testing.T) {
		var asked atomic.Int32
		var dialed []string
		client, far := net.Pipe()
		_ = far.Close()
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := Serve(l, Config{
			Rules: Rules{Allowed: []string{"*.ok.com"}},
			Resolve: func(context.Context, string) ([]netip.Addr, error) { // another answer each time
				if asked.Add(1) == 1 {
					return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
				}
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			},
			Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				dialed = append(dialed, to.String())
				return client, nil
			},
		})
		raw(t, &world{Proxy: p}, "CONNECT rebind.ok.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if err := p.Close(); err != nil { // nothing dials after this
			t.Error(err)
		}
		if !slices.Equal(dialed, []string{"93.184.216.34:443"}) || asked.Load() != 1 {
			t.Errorf("dialed %v after %d look-ups", dialed, asked.Load())
		}
	})
}
