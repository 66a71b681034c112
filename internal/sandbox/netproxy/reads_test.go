package netproxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// reading is a proxy behind which packages come from registry.example.com, and who asks is noted.
func reading(t *testing.T) (w *world, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	w, _ = startWith(t, Config{
		Rules: Rules{Denied: []string{"denied.example.com"}},
		Ask: func(_ context.Context, host string, port int) Answer {
			*asked = append(*asked, fmt.Sprint(host, ":", port))
			return Answer{Why: "asked"}
		},
		Reads: func(host string, port int) bool {
			return slices.Contains([]string{"registry.example.com", "denied.example.com", "10.0.0.1", "home.example.com"}, host) && port != 22
		},
	}, map[string]string{"registry.example.com": "93.184.216.34", "denied.example.com": "93.184.216.34", "home.example.com": "10.0.0.1"})
	return w, asked
}

// TestReads: a host that packages come from is read from without a question; what is
// denied, and what is inside, stays so.
func TestReads(t *testing.T) {
	w, asked := reading(t)
	for url, want := range map[string]string{
		"http://registry.example.com/p": "GET /p", "http://other.example.com/": "is refused: asked", "http://registry.example.com:22/": "is refused: asked",
		"http://denied.example.com/": "is refused: the settings deny it", "http://10.0.0.1/": "is refused: it is", "http://home.example.com/": "is refused: it leads to 10.0.0.1",
	} {
		if _, body := get(t, w.client(), url); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", url, body, want)
		}
	}
	if slices.Sort(*asked); fmt.Sprint(*asked) != "[other.example.com:80 registry.example.com:22]" {
		t.Errorf("asked about %v", *asked)
	}
	if d := w.dials(); fmt.Sprint(d) != "[93.184.216.34:80]" {
		t.Errorf("dialed %v", d)
	}
}

// TestReadsNoUpload: in plain HTTP nothing is sent but requests for something.
func TestReadsNoUpload(t *testing.T) {
	w, _ := reading(t)
	for _, c := range []struct {
		method, body, header string
		want                 int
	}{
		{"GET", "", "", 200}, {"HEAD", "", "", 200}, {"PUT", "x", "", 403}, {"POST", "", "", 403}, {"DELETE", "", "", 403}, {"GET", "x", "", 403}, {"GET", "", strings.Repeat("x", 33<<10), 403},
	} {
		req, err := http.NewRequest(c.method, "http://registry.example.com/p", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X", c.header)
		resp, err := w.client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s with %d bytes: %d, want %d", c.method, len(c.body), resp.StatusCode, c.want)
		}
		if why := w.Refused()["registry.example.com"]; (why == noUploads) != (c.want == 403) {
			t.Errorf("%s: told %q", c.method, why)
		}
	}
}

// TestReadsInTunnels: nobody sees into a tunnel, so it ends with the first 32 KiB that
// are sent without an answer in between.
func TestReadsInTunnels(t *testing.T) {
	for _, socks := range []bool{false, true} {
		w, _ := reading(t)
		c, err := net.Dial("tcp", w.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		r := bufio.NewReader(c)
		if socks {
			_, _ = c.Write(append([]byte{5, 1, 0}, name("registry.example.com", 443)...))
			_, err = io.ReadFull(r, make([]byte, 12))
		} else {
			fmt.Fprint(c, "CONNECT registry.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
			_, err = http.ReadResponse(r, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 20 { // 160 KiB in all
			fmt.Fprintf(c, "POST /p HTTP/1.1\r\nHost: in\r\nContent-Length: 8192\r\n\r\n%s", strings.Repeat("x", 8192))
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		if why := w.Refused(); len(why) > 0 {
			t.Errorf("refused %v", why)
		}
		fmt.Fprintf(c, "PUT /p HTTP/1.1\r\nHost: in\r\nContent-Length: 200000\r\n\r\n%s", strings.Repeat("x", 200_000))
		if b, _ := io.ReadAll(r); len(b) > 0 {
			t.Errorf("answered %.60q", b)
		}
		if why := w.Refused()["registry.example.com"]; why != noUploads {
			t.Errorf("told %q", why)
		}
	}
}
