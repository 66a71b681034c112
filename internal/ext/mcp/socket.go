package mcp

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" // the handshake of WebSocket is made with it; nothing rests on it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// The kinds of frames of a WebSocket (RFC 6455, 5.2).
const (
	frameMore   = 0x0
	frameText   = 0x1
	frameBinary = 0x2
	frameClose  = 0x8
	framePing   = 0x9
	framePong   = 0xa

	frameLast   = 0x80
	frameMasked = 0x80
	maxControl  = 125 // bytes that a frame of the kinds from frameClose on may have
)

const socketSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// A socket is the client's side of a WebSocket.
type socket struct {
	rw io.ReadWriteCloser
	r  *bufio.Reader

	mu sync.Mutex // one frame is written at a time
}

// socket opens a WebSocket to the server and speaks over it, a message in each
// text message.
func (l *link) socket(ctx context.Context) (w *wire, leave func(), err error) {
	c, err := l.newCourier(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.sign = c.signer()
	l.web = c
	s, err := c.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	w = newWire(l.look)
	w.patience = discoverWait
	w.send = func(b []byte) error { return s.write(frameText, b) }
	w.shut = func() { _ = s.rw.Close() }
	var wg sync.WaitGroup
	wg.Go(w.write)
	wg.Go(func() { // ends with the connection
		for {
			raw, err := s.message()
			if err != nil {
				w.finish(err)
				return
			}
			if !w.arrive(raw) {
				return
			}
		}
	})
	return w, wg.Wait, nil
}

// dial makes a connection a WebSocket. It lasts as long as the link.
func (c *courier) dial(ctx context.Context) (*socket, error) {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	key := base64.StdEncoding.EncodeToString(nonce[:])
	u := *c.home
	u.Scheme = webScheme(u.Scheme)
	life, cancel := context.WithCancel(c.l.life)
	stop := context.AfterFunc(ctx, cancel)
	req, err := http.NewRequestWithContext(life, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key, "Sec-WebSocket-Protocol": "mcp",
	} {
		req.Header.Set(name, value)
	}
	resp, err := c.client().Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	fail := func(err error) (*socket, error) {
		cancel()
		_ = resp.Body.Close()
		return nil, err
	}
	rw, upgraded := resp.Body.(io.ReadWriteCloser)
	sum := sha1.Sum([]byte(key + socketSalt))
	switch {
	case resp.StatusCode != http.StatusSwitchingProtocols || !upgraded:
		return fail(fmt.Errorf("it answers %d in the place of a WebSocket", resp.StatusCode))
	case !strings.EqualFold(resp.Header.Get("Upgrade"), "websocket"),
		resp.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]),
		resp.Header.Get("Sec-WebSocket-Extensions") != "":
		return fail(offended("it answers with a WebSocket that was not asked for"))
	}
	if !stop() { // the time to connect is over
		return fail(ctx.Err())
	}
	return &socket{rw: rw, r: bufio.NewReader(rw)}, nil
}

// write sends one frame. What a client sends is masked.
func (s *socket) write(kind byte, data []byte) error {
	head := []byte{frameLast | kind}
	switch n := len(data); {
	case n <= 125:
		head = append(head, frameMasked|byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, frameMasked|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, frameMasked|127), uint64(n))
	}
	var mask [4]byte
	_, _ = rand.Read(mask[:]) // it never fails
	frame := append(append(head, mask[:]...), data...)
	for i := range data {
		frame[len(head)+4+i] ^= mask[i%4]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.rw.Write(frame)
	return err
}

// message reads the next message, and answers what the connection itself asks.
func (s *socket) message() ([]byte, error) {
	var out []byte
	open := false // a message was begun
	for {
		kind, last, data, err := readFrame(s.r, maxMessage-len(out))
		if err != nil {
			return nil, err
		}
		switch kind {
		case framePing:
			if err := s.write(framePong, data); err != nil {
				return nil, err
			}
			continue
		case framePong:
			continue
		case frameClose:
			_ = s.write(frameClose, data[:min(len(data), 2)]) // it may not listen any more
			return nil, closing(data)
		case frameText, frameBinary:
			if open {
				return nil, offended("it began a message inside of another")
			}
		case frameMore:
			if !open {
				return nil, offended("it went on with a message that it had not begun")
			}
		}
		open = true
		if out = append(out, data...); last {
			return out, nil
		}
	}
}

// closing says why a server closed a WebSocket.
func closing(data []byte) error {
	if len(data) < 2 {
		return fmt.Errorf("%w: the server closed it", errEnded)
	}
	code := binary.BigEndian.Uint16(data)
	if why := line(string(data[2:]), 100); why != "" {
		return fmt.Errorf("%w: the server closed it (%d, %s)", errEnded, code, quote(why))
	}
	return fmt.Errorf("%w: the server closed it (%d)", errEnded, code)
}

// readFrame reads one frame of at most max bytes.
func readFrame(r io.Reader, max int) (kind byte, last bool, data []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: the server hung up", errEnded)
		}
		return 0, false, nil, err
	}
	kind, last = head[0]&0x0f, head[0]&frameLast != 0
	n := uint64(head[1] &^ frameMasked)
	switch n {
	case 126:
		var long [2]byte
		if _, err := io.ReadFull(r, long[:]); err != nil {
			return 0, false, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(long[:]))
	case 127:
		var long [8]byte
		if _, err := io.ReadFull(r, long[:]); err != nil {
			return 0, false, nil, err
		}
		n = binary.BigEndian.Uint64(long[:])
	}
	control := kind >= frameClose
	switch {
	case head[0]&0x70 != 0, head[1]&frameMasked != 0, kind > framePong, kind > frameBinary && !control:
		return 0, false, nil, offended("it sent a frame that WebSocket does not know")
	case control && (n > maxControl || !last):
		return 0, false, nil, offended("it sent a frame that WebSocket does not allow")
	case n > uint64(max):
		return 0, false, nil, errTooLarge
	}
	var b strings.Builder
	if _, err := io.CopyN(&b, r, int64(n)); err != nil { // it grows with what is there, whatever the frame says
		return 0, false, nil, fmt.Errorf("%w: the server hung up", errEnded)
	}
	return kind, last, []byte(b.String()), nil
}
