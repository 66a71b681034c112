package monitor

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// frame is one of a server.
func frame(first byte, body string) []byte {
	out := []byte{first}
	switch n := len(body); {
	case n < 126:
		out = append(out, byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n))
	}
	return append(out, body...)
}

// says is a server that upgrades, writes frames, and hands what the client sends to got.
func says(t *testing.T, frames []byte, got chan<- []byte) *url.URL {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + acceptGUID))
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n")
		if p := r.Header.Get("Sec-WebSocket-Protocol"); p != "" {
			_, _ = rw.WriteString("Sec-WebSocket-Protocol: " + strings.Split(p, ", ")[0] + "\r\n")
		}
		_, _ = rw.WriteString("\r\n")
		_, _ = rw.Write(frames)
		_ = rw.Flush()
		all, _ := io.ReadAll(rw)
		if got != nil {
			got <- all
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse("ws" + strings.TrimPrefix(s.URL, "http") + "/events?x=1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// unmasked reads a short frame of a client.
func unmasked(t *testing.T, b []byte) (first byte, body string, rest []byte) {
	t.Helper()
	if len(b) < 6 || b[1]&0x80 == 0 || len(b) < 6+int(b[1]&0x7f) {
		t.Fatalf("no masked frame: %x", b)
	}
	n := int(b[1] & 0x7f)
	out := make([]byte, n)
	for i := range n {
		out[i] = b[6+i] ^ b[2+i%4]
	}
	return b[0], string(out), b[6+n:]
}

// Text frames are lines, also in parts and with pings between them; binary ones are named.
func TestListen(t *testing.T) {
	got := make(chan []byte, 1)
	frames := bytes.Join([][]byte{
		frame(0x81, "one"), frame(0x01, "tw"), frame(0x89, "are you there?"), frame(0x80, "o"), frame(0x8a, ""), frame(0x82, "\x00\x01\x02"),
		frame(0x81, strings.Repeat("x", 70_000)), frame(0x81, "bad \xff"), frame(0x88, "\x03\xe8bye"),
	}, nil)
	c, err := dial(t.Context(), says(t, frames, got), []string{"v1", "v2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.listen(t.Context(), &out); err != nil {
		t.Error(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 6 || lines[0] != "one" || lines[1] != "two" || lines[2] != "[binary frame, 3 bytes]" || !strings.HasSuffix(lines[3], " left out]") || lines[4] != "bad \ufffd" {
		t.Errorf("%.200q", lines)
	}
	all := <-got
	first, body, rest := unmasked(t, all)
	if first != 0x8a || body != "are you there?" {
		t.Errorf("%x %q", first, body)
	}
	if first, body, rest = unmasked(t, rest); first != 0x88 || body != "\x03\xe8bye" || len(rest) > 0 {
		t.Errorf("%x %q %x", first, body, rest)
	}
}

// The end of its context closes a WebSocket, with a word.
func TestListenEnds(t *testing.T) {
	got := make(chan []byte, 1)
	c, err := dial(t.Context(), says(t, frame(0x81, "one"), got), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	if err := c.listen(ctx, ends{end}); err != nil {
		t.Error(err)
	}
	if first, body, _ := unmasked(t, <-got); first != 0x88 || body != "\x03\xe8" {
		t.Errorf("%x %q", first, body)
	}
}

// ends ends with the first line.
type ends struct{ end func() }

func (e ends) Write(b []byte) (int, error) { e.end(); return len(b), nil }

func TestListenFails(t *testing.T) {
	for want, frames := range map[string][]byte{
		"the connection broke off":                     frame(0x81, "one")[:3],
		"it closed with code 1011: out of coffee":      frame(0x88, "\x03\xf3out of coffee"),
		"a frame uses an extension":                    frame(0xc1, "x"),
		"a server's frame is masked":                   {0x81, 0x81, 0, 0, 0, 0, 'x'},
		"there is no opcode 0x3":                       frame(0x83, "x"),
		"a control frame is too long, or in parts":     frame(0x09, "x"),
		"a frame continues nothing":                    frame(0x80, "x"),
		"a frame is longer than any can be":            {0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0},
		"or another one does not end":                  append(frame(0x01, "x"), frame(0x81, "y")...),
		"a control frame is too long, or in parts\x00": frame(0x89, strings.Repeat("x", 126)),
	} {
		c := &conn{nothing{}, bufio.NewReader(bytes.NewReader(frames))}
		if err := c.listen(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, "\x00")) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// nothing is the other side of a connection whose bytes are read elsewhere.
type nothing struct{}

func (nothing) Read([]byte) (int, error)    { return 0, io.EOF }
func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }

func TestDialRefuses(t *testing.T) {
	answers := func(head string) *url.URL {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = rw.WriteString(head + "\r\n\r\n")
			_ = rw.Flush()
		}))
		t.Cleanup(s.Close)
		u, _ := url.Parse("ws" + strings.TrimPrefix(s.URL, "http"))
		return u
	}
	for want, u := range map[string]*url.URL{
		"it answers 404 Not Found and opens no WebSocket":           answers("HTTP/1.1 404 Not Found\r\nContent-Length: 0"),
		"it answers 302 Found, and leads elsewhere: ws://10.0.0.1/": answers("HTTP/1.1 302 Found\r\nLocation: ws://10.0.0.1/\r\nContent-Length: 0"),
		"what answers does not speak WebSocket":                     answers("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x"),
		"what answers does not speak WebSocket\x00":                 answers("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other"),
		"connection refused":                                        {Scheme: "ws", Host: "127.0.0.1:1"},
	} {
		if _, err := dial(t.Context(), u, nil, nil); err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, "\x00")) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := dial(t.Context(), answers("x"), []string{"a b"}, nil); err == nil || !strings.Contains(err.Error(), "ws.protocols") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx, answers("x"), nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A name must not lead inside; an address that is allowed as one may.
func TestNamesLeadOutside(t *testing.T) {
	u := says(t, nil, nil)
	if c, err := dial(t.Context(), u, nil, nil); err != nil {
		t.Error(err)
	} else {
		_ = c.rw.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	u.Host = "localhost.:" + u.Port() // a name, and the system's resolver knows it
	if _, err := dial(ctx, u, nil, nil); err == nil || !strings.Contains(err.Error(), "this machine") && !strings.Contains(err.Error(), "lookup") {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for text, ok := range map[string]bool{"ws://h/p?q=1": true, "wss://h:8443": true, "http://h": false, "ws://": false, "ws://u:p@h/": false, "ws://h/#f": false, "h": false, "ws://[::1": false} {
		if _, err := address(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever comes, a message is bounded, and no frame is taken for more than it has.
func FuzzMessages(f *testing.F) {
	f.Add(frame(0x81, "one"))
	f.Add(append(frame(0x01, "tw"), frame(0x80, "o")...))
	f.Add(frame(0x88, "\x03\xe8"))
	f.Add([]byte{0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		for {
			m, err := readMessage(r, func(op byte, body []byte) error {
				if op < opClose || len(body) > maxControl {
					t.Fatalf("%x with %d bytes is no control frame", op, len(body))
				}
				return nil
			})
			if err != nil {
				return
			}
			if len(m.body) > maxMessage || m.size > int64(len(b)) || int64(len(m.body)) > m.size {
				t.Fatalf("%d bytes of %d", len(m.body), m.size)
			}
			_ = m.line()
		}
	})
}
