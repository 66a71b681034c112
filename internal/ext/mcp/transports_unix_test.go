//go:build unix

package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/servers"
)

// serveHTTP serves on a loopback address until the test ends.
func serveHTTP(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func remote(name string, kind servers.Transport, url string) servers.Server {
	return servers.Server{Name: name, Transport: kind, URL: url, Approval: servers.Approved, Headers: map[string]string{"X-Given": "yes"}}
}

// given lets only requests with the configured header through.
func given(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Given") != "yes" || r.Header.Get("User-Agent") != "adze/test" {
			http.Error(w, "who are you", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// A wsServer is the server's side of a WebSocket, for one message a frame.
type wsServer struct {
	conn net.Conn
	r    *bufio.Reader
	mu   sync.Mutex
}

func upgrade(w http.ResponseWriter, r *http.Request) *wsServer {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	return &wsServer{conn: conn, r: rw.Reader}
}

func (s *wsServer) frame(head byte, data []byte) error {
	b := []byte{head}
	switch n := len(data); {
	case n <= 125:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Write(append(b, data...))
	return err
}

// Write sends a message in two frames, with a ping between them.
func (s *wsServer) Write(b []byte) (int, error) {
	half := len(b) / 2
	for _, f := range []struct {
		head byte
		data []byte
	}{{0x01, b[:half]}, {0x89, []byte("there?")}, {0x80, b[half:]}} {
		if err := s.frame(f.head, f.data); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// next reads what the client sends, without its pongs.
func (s *wsServer) next() (kind byte, data []byte, err error) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			return 0, nil, err
		}
		n := uint64(head[1] & 0x7f)
		switch n {
		case 126:
			var long [2]byte
			_, err = io.ReadFull(s.r, long[:])
			n = uint64(binary.BigEndian.Uint16(long[:]))
		case 127:
			var long [8]byte
			_, err = io.ReadFull(s.r, long[:])
			n = binary.BigEndian.Uint64(long[:])
		}
		if err != nil || head[1]&0x80 == 0 {
			return 0, nil, fmt.Errorf("a frame without a mask, or %w", err)
		}
		var mask [4]byte
		data = make([]byte, n)
		if _, err := io.ReadFull(s.r, mask[:]); err != nil {
			return 0, nil, err
		}
		if _, err := io.ReadFull(s.r, data); err != nil {
			return 0, nil, err
		}
		for i := range data {
			data[i] ^= mask[i%4]
		}
		if kind = head[0] & 0x0f; kind != 0x0a {
			return kind, data, nil
		}
	}
}

// overSocket serves a server over WebSocket.
func overSocket(server func() *sdk.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := upgrade(w, r)
		defer s.conn.Close()
		pr, pw := io.Pipe()
		go func() {
			for {
				kind, data, err := s.next()
				if err != nil || kind == 0x08 {
					pw.Close()
					return
				}
				_, _ = pw.Write(append(data, '\n'))
			}
		}()
		_ = server().Run(context.Background(), &sdk.IOTransport{Reader: pr, Writer: struct {
			io.Writer
			io.Closer
		}{s, s.conn}})
	})
}

// hosted serves a server as a program that drives adze does.
func hosted(t testing.TB, server *sdk.Server) func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := here.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = session.Wait() })
	var mu sync.Mutex
	return func(ctx context.Context, _ string, m json.RawMessage) (json.RawMessage, error) {
		mu.Lock() // one message at a time, so that the next answer is its
		defer mu.Unlock()
		msg, err := decode(m)
		if err != nil {
			return nil, err
		}
		if err := conn.Write(ctx, msg); err != nil || !strings.Contains(string(m), `"id"`) {
			return nil, err
		}
		back, err := conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		return encode(back)
	}
}

// accepts is a server that takes a method which it does not know for a notification.
func accepts(known http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if bytes.Contains(raw, []byte(`"server/discover"`)) {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		known.ServeHTTP(w, r)
	})
}

func TestTransports(t *testing.T) {
	one := func(*http.Request) *sdk.Server { return honest() }
	list := []servers.Server{
		remote("http", servers.HTTP, serveHTTP(t, given(sdk.NewStreamableHTTPHandler(one, nil)))),
		remote("json", servers.HTTP, serveHTTP(t, given(sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{JSONResponse: true, Stateless: true})))),
		remote("sse", servers.SSE, serveHTTP(t, given(sdk.NewSSEHandler(one, nil)))),
		remote("older", servers.HTTP, serveHTTP(t, given(sdk.NewSSEHandler(one, nil)))), // its type does not say so
		remote("accepts", servers.HTTP, serveHTTP(t, given(accepts(sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{JSONResponse: true, Stateless: true}))))),
		remote("ws", servers.WebSocket, strings.Replace(serveHTTP(t, given(overSocket(honest))), "http", "ws", 1)),
		{Name: "host", Transport: servers.Host, Approval: servers.Approved},
	}
	host := hosted(t, honest())
	r := start(t, func(c *hubConfig) { c.Host = host }, list...)
	r.ready(t)
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) {
			if st := r.status(t, s.Name); st.State != "connected" || st.Tools != 6 {
				t.Fatalf("%+v", st)
			}
			x := r.tool(t, "mcp__"+s.Name+"__echo")
			for _, n := range []int{1, 1000, 100_000} {
				text := strings.Repeat("é", n)
				if res := run(t, x, `{"text":"`+text+`"}`); res.Text != text || res.IsErr {
					t.Errorf("%d: %.200s", n, res.Text)
				}
			}
		})
	}
}
