package monitor

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the protocol's own proof that the other side speaks it (RFC 6455, 1.3)
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/netaddr"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a WebSocket.
const (
	openWait   = 15 * time.Second // for the connection and its handshake
	closeWait  = time.Second      // for the last frame to be sent
	maxMessage = 64 << 10         // bytes that are told of a message; the rest of it is dropped
	maxControl = 125              // bytes of a control frame (RFC 6455, 5.5)
)

// Opcodes (RFC 6455, 5.2).
const (
	opContinued = 0x0
	opText      = 0x1
	opBinary    = 0x2
	opClose     = 0x8
	opPing      = 0x9
	opPong      = 0xa
)

// acceptGUID is what an answer proves with (RFC 6455, 1.3).
const acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// address reads the address of a WebSocket.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("field \"ws.url\": %w", err)
	case u.Scheme != "ws" && u.Scheme != "wss":
		return nil, fmt.Errorf("field \"ws.url\" is %q; it begins with ws:// or wss://", clip.Line(clip.Visible(text), 200))
	case u.Hostname() == "":
		return nil, errors.New(`field "ws.url" names no host`)
	case u.User != nil:
		return nil, errors.New(`field "ws.url" holds a name or a password: it would stand in the log. Have a command connect that reads them where they are kept`)
	case u.Fragment != "":
		return nil, errors.New(`field "ws.url" has a fragment, which no WebSocket takes`)
	}
	return u, nil
}

// A conn is an open WebSocket that is listened to.
type conn struct {
	rw io.ReadWriteCloser
	r  *bufio.Reader
}

// dial opens a WebSocket. The connection outlives ctx.
func dial(ctx context.Context, to *url.URL, protocols []string, proxy func(*http.Request) (*url.URL, error)) (*conn, error) {
	for _, p := range protocols {
		if p == "" || strings.ContainsFunc(p, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c) }) {
			return nil, fmt.Errorf("field \"ws.protocols\" has %q, which is no name of a protocol", clip.Visible(p))
		}
	}
	web := *to
	web.Scheme = map[string]string{"ws": "http", "wss": "https"}[to.Scheme]
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // the transport ties a connection to its request
	opening := context.AfterFunc(ctx, end)
	late := time.AfterFunc(openWait, end)
	req, err := http.NewRequestWithContext(life, http.MethodGet, web.String(), nil)
	if err != nil {
		end()
		return nil, err
	}
	key := base64.StdEncoding.EncodeToString([]byte(rand.Text())[:16])
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Sec-WebSocket-Version", "13")
	req.Header.Set("Sec-WebSocket-Key", key)
	if len(protocols) > 0 {
		req.Header.Set("Sec-WebSocket-Protocol", strings.Join(protocols, ", "))
	}
	res, err := transport(to.Hostname(), proxy).RoundTrip(req)
	opening()
	if !late.Stop() {
		err = errors.Join(err, fmt.Errorf("no answer within %s", openWait))
	}
	if err == nil {
		err = accepted(res, key, protocols)
	}
	rw, two := io.ReadWriteCloser(nil), false
	if res != nil {
		if rw, two = res.Body.(io.ReadWriteCloser); !two {
			_ = res.Body.Close()
		}
	}
	if err != nil || !two {
		end()
		if rw != nil {
			_ = rw.Close()
		}
		return nil, fmt.Errorf("%s: %w", to.Host, errors.Join(err, ctx.Err()))
	}
	return &conn{closing{rw, end}, bufio.NewReader(rw)}, nil
}

// closing ends the request with its connection.
type closing struct {
	io.ReadWriteCloser
	end context.CancelFunc
}

func (c closing) Close() error {
	err := c.ReadWriteCloser.Close()
	c.end()
	return err
}

// accepted reports why an answer opens no WebSocket.
func accepted(res *http.Response, key string, protocols []string) error {
	sum := sha1.Sum([]byte(key + acceptGUID)) //nolint:gosec // see above
	chosen := res.Header.Get("Sec-WebSocket-Protocol")
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return fmt.Errorf("it answers %s, and leads elsewhere: %s. Give the address that it leads to", res.Status, clip.Line(clip.Visible(res.Header.Get("Location")), 200))
	case res.StatusCode != http.StatusSwitchingProtocols:
		return fmt.Errorf("it answers %s and opens no WebSocket", clip.Line(clip.Visible(res.Status), 100))
	case !strings.EqualFold(res.Header.Get("Upgrade"), "websocket"), res.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]):
		return errors.New("what answers does not speak WebSocket")
	case res.Header.Get("Sec-WebSocket-Extensions") != "":
		return errors.New("it wants an extension that was not asked for")
	case chosen != "" && !contains(protocols, chosen):
		return fmt.Errorf("it chose the protocol %q, which was not asked for", clip.Line(clip.Visible(chosen), 100))
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.EqualFold(x, s) {
			return true
		}
	}
	return false
}

// transport connects to one host. A name must not lead inside (this machine, the networks
// around it): whoever allowed the name did not mean that, unless it says so itself.
func transport(host string, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	dialer := &net.Dialer{}
	_, literal := netip.ParseAddr(host)
	outside := literal != nil && !strings.EqualFold(host, "localhost")
	return &http.Transport{
		Proxy: proxy, TLSHandshakeTimeout: openWait, DisableKeepAlives: false,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			name, port, err := net.SplitHostPort(addr)
			if err != nil || !outside || !strings.EqualFold(name, host) { // a proxy
				return dialer.DialContext(ctx, network, addr)
			}
			ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
			if err != nil {
				return nil, err
			}
			err = fmt.Errorf("%s has no address", name)
			for _, ip := range ips {
				if why := netaddr.Inside(ip.Unmap()); why != "" {
					err = fmt.Errorf("it leads to %s, %s", ip.Unmap(), why)
					continue
				}
				c, derr := dialer.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
				if derr == nil {
					return c, nil
				}
				err = derr
			}
			return nil, err
		},
	}
}

// listen writes each message as a line, until ctx ends or the other side closes.
func (c *conn) listen(ctx context.Context, w io.Writer) error {
	defer c.rw.Close()
	defer context.AfterFunc(ctx, func() {
		done := make(chan struct{})
		go func() { // ends with the connection, at the latest when it is closed below
			defer close(done)
			_ = c.send(opClose, []byte{3, 232}) // 1000: done
		}()
		select {
		case <-done:
		case <-time.After(closeWait):
		}
		_ = c.rw.Close() // ends the read
	})()
	for {
		m, err := readMessage(c.r, c.control)
		var closed errClosed
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &closed):
			_ = c.send(opClose, closed.body)
			return closed.why()
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the connection broke off")
		case err != nil:
			return err
		}
		if _, err := io.WriteString(w, m.line()+"\n"); err != nil {
			return err
		}
	}
}

// control answers a control frame.
func (c *conn) control(op byte, body []byte) error {
	switch op {
	case opPing:
		return c.send(opPong, body)
	case opClose:
		return errClosed{body}
	}
	return nil // a pong
}

// send writes a control frame, masked as those of a client are (RFC 6455, 5.3).
func (c *conn) send(op byte, body []byte) error {
	body = body[:min(len(body), maxControl)]
	mask := []byte(rand.Text())[:4]
	frame := append([]byte{0x80 | op, 0x80 | byte(len(body))}, mask...)
	for i, b := range body {
		frame = append(frame, b^mask[i%4])
	}
	_, err := c.rw.Write(frame)
	return err
}

// errClosed says that the other side closes, with the body of its frame.
type errClosed struct{ body []byte }

func (e errClosed) Error() string { return "closed" }

// why is nil where it closes because it is done.
func (e errClosed) why() error {
	if len(e.body) < 2 {
		return nil
	}
	code := binary.BigEndian.Uint16(e.body)
	if code == 1000 || code == 1001 {
		return nil
	}
	reason := clip.Line(clip.Clean(string(e.body[2:])), 200)
	if reason != "" {
		reason = ": " + reason
	}
	return fmt.Errorf("it closed with code %d%s", code, reason)
}

// A message is what one or more frames say.
type message struct {
	binary bool
	body   []byte // the beginning of it, at most maxMessage
	size   int64
}

// line is a message as it is told.
func (m message) line() string {
	if m.binary {
		return "[binary frame, " + clip.Size(m.size) + "]"
	}
	s := strings.TrimRight(strings.ToValidUTF8(string(m.body), "\ufffd"), "\r\n")
	if over := m.size - int64(len(m.body)); over > 0 {
		s += " [" + clip.Size(over) + " left out]"
	}
	return s
}

// readMessage reads the next message. control is told of the control frames before it.
func readMessage(r *bufio.Reader, control func(op byte, body []byte) error) (m message, err error) {
	for begun := false; ; {
		op, fin, n, err := readHeader(r)
		if err != nil {
			return m, err
		}
		switch {
		case op >= opClose:
			body := make([]byte, n)
			if _, err = io.ReadFull(r, body); err == nil {
				err = control(op, body)
			}
			if err != nil {
				return m, err
			}
			continue
		case (op == opContinued) != begun:
			return m, errors.New("it does not speak WebSocket as it should: a frame continues nothing, or another one does not end")
		case !begun:
			begun, m.binary = true, op == opBinary
		}
		m.size += n
		take := min(n, int64(maxMessage-len(m.body)))
		body := make([]byte, take)
		if _, err = io.ReadFull(r, body); err != nil {
			return m, err
		}
		m.body = append(m.body, body...)
		if _, err = io.CopyN(io.Discard, r, n-take); err != nil {
			return m, err
		}
		if fin {
			return m, nil
		}
	}
}

// readHeader reads the header of a frame of a server (RFC 6455, 5.2).
func readHeader(r *bufio.Reader) (op byte, fin bool, size int64, err error) {
	var b [8]byte
	if _, err = io.ReadFull(r, b[:2]); err != nil {
		return 0, false, 0, err
	}
	op, fin = b[0]&0x0f, b[0]&0x80 != 0
	n := uint64(b[1] & 0x7f)
	switch {
	case b[0]&0x70 != 0:
		return 0, false, 0, errors.New("it does not speak WebSocket as it should: a frame uses an extension")
	case b[1]&0x80 != 0:
		return 0, false, 0, errors.New("it does not speak WebSocket as it should: a server's frame is masked")
	case op > opBinary && op < opClose || op > opPong:
		return 0, false, 0, fmt.Errorf("it does not speak WebSocket as it should: there is no opcode %#x", op)
	case op >= opClose && (!fin || n > maxControl):
		return 0, false, 0, errors.New("it does not speak WebSocket as it should: a control frame is too long, or in parts")
	case n == 126:
		_, err = io.ReadFull(r, b[:2])
		n = uint64(binary.BigEndian.Uint16(b[:2]))
	case n == 127:
		_, err = io.ReadFull(r, b[:8])
		n = binary.BigEndian.Uint64(b[:8])
	}
	if err == nil && n > 1<<40 {
		err = errors.New("it does not speak WebSocket as it should: a frame is longer than any can be")
	}
	return op, fin, int64(n), err
}
