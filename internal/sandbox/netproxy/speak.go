package netproxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// http speaks as an HTTP proxy: CONNECT for one tunnel, or plain requests,
// each with an absolute address, one connection to the server per request.
func (p *Proxy) http(c net.Conn, r *bufio.Reader) {
	for {
		_ = c.SetDeadline(time.Now().Add(greeting))
		req, err := http.ReadRequest(r)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
				say(c, http.StatusBadRequest, "this is no request that adze's proxy understands")
			}
			return
		}
		_ = c.SetDeadline(time.Time{})
		if req.Method == http.MethodConnect {
			p.tunnel(c, r, req)
			return
		}
		if !p.forward(c, r, req) {
			return
		}
	}
}

func (p *Proxy) tunnel(c net.Conn, r *bufio.Reader, req *http.Request) {
	host, portText, err := net.SplitHostPort(req.RequestURI)
	port, perr := strconv.Atoi(portText)
	if err != nil || perr != nil {
		say(c, http.StatusBadRequest, "CONNECT needs host:port")
		return
	}
	server, err := p.connect(client{c, r}, host, port, false)
	if err != nil {
		sayError(c, err)
		return
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = server.Close()
		return
	}
	p.carry(c, r, server)
}

// hopHeaders end at a proxy (RFC 9110, 7.6.1).
var hopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// forward answers one plain request; false ends the connection.
func (p *Proxy) forward(c net.Conn, r *bufio.Reader, req *http.Request) bool {
	u := req.URL
	if u.Scheme != "http" || u.Host == "" || u.User != nil {
		say(c, http.StatusBadRequest, "adze's proxy takes http addresses, and https by CONNECT")
		return false
	}
	port := 80
	if t := u.Port(); t != "" {
		var err error
		if port, err = strconv.Atoi(t); err != nil {
			say(c, http.StatusBadRequest, "there is no such port")
			return false
		}
	}
	server, err := p.connect(client{c, r}, u.Hostname(), port, true)
	if err != nil {
		sayError(c, err)
		return false
	}
	if !p.track(server.Conn) {
		_ = server.Close()
		return false
	}
	defer p.wg.Done()
	defer p.forget(server.Conn)
	if server.reads && !onlyReads(req) {
		sayError(c, p.refuse(server.host, noUploads))
		return false
	}
	for _, h := range strings.Split(req.Header.Get("Connection"), ",") {
		req.Header.Del(strings.TrimSpace(h))
	}
	for _, h := range hopHeaders {
		req.Header.Del(h)
	}
	last := req.Close
	req.Host = u.Host // the address was checked, not what the header says
	req.Close = true
	_ = server.SetDeadline(time.Now().Add(idle))
	_ = c.SetDeadline(time.Now().Add(idle))
	write := req.Write
	if server.via != nil {
		if auth := credentials(server.via.User); auth != "" {
			req.Header.Set("Proxy-Authorization", auth)
		}
		write = req.WriteProxy
	}
	if err := write(server); err != nil {
		say(c, http.StatusBadGateway, "the server closed the connection")
		return false
	}
	resp, err := http.ReadResponse(bufio.NewReader(server), req)
	if err != nil {
		say(c, http.StatusBadGateway, "the server gave no answer")
		return false
	}
	defer resp.Body.Close()
	for _, h := range hopHeaders {
		if h != "Transfer-Encoding" {
			resp.Header.Del(h)
		}
	}
	keep := !last && (resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0)
	resp.Close = !keep
	return resp.Write(c) == nil && keep
}

func sayError(c net.Conn, err error) {
	var no *Refusal
	if errors.As(err, &no) {
		say(c, http.StatusForbidden, "adze's sandbox: "+no.Error())
		return
	}
	say(c, http.StatusBadGateway, "adze's sandbox: "+err.Error())
}

func say(c net.Conn, status int, text string) {
	_ = c.SetDeadline(time.Now().Add(greeting))
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text) + "\n"
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	if status == http.StatusForbidden {
		head += "X-Adze-Sandbox: refused\r\n"
	}
	_, _ = fmt.Fprintf(c, "%sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", head, len(text), text)
}

// SOCKS 5 (RFC 1928): version, "no authentication", CONNECT only.
const (
	socksVersion = 5
	socksOK      = 0
	socksFailed  = 1
	socksDenied  = 2
	socksNoHost  = 4
	socksNoCmd   = 7
	socksNoAddr  = 8
)

func (p *Proxy) socks(c net.Conn, r *bufio.Reader) {
	host, port, code, err := readSocks(c, r)
	if err != nil {
		if code != socksOK {
			_, _ = c.Write([]byte{socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0})
		}
		return
	}
	_ = c.SetDeadline(time.Time{})
	server, err := p.connect(client{c, r}, host, port, false)
	if err != nil {
		code := byte(socksNoHost)
		var no *Refusal
		if errors.As(err, &no) {
			code = socksDenied
		} else if errors.Is(err, context.Canceled) {
			code = socksFailed
		}
		_ = c.SetDeadline(time.Now().Add(greeting))
		_, _ = c.Write([]byte{socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	if _, err := c.Write([]byte{socksVersion, socksOK, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		_ = server.Close()
		return
	}
	p.carry(c, r, server)
}

var errSocks = errors.New("not a SOCKS 5 request that adze's proxy takes")

// readSocks reads the greeting and the request. code, when not 0, is the
// answer to an error.
func readSocks(w io.Writer, r io.Reader) (host string, port int, code byte, err error) {
	var b [262]byte
	if _, err = io.ReadFull(r, b[:2]); err != nil {
		return "", 0, 0, err
	}
	methods := b[2 : 2+int(b[1])]
	if _, err = io.ReadFull(r, methods); err != nil {
		return "", 0, 0, err
	}
	answer := byte(0xff)
	for _, m := range methods {
		if m == 0 {
			answer = 0
		}
	}
	if _, err = w.Write([]byte{socksVersion, answer}); err != nil || answer != 0 {
		return "", 0, 0, errors.Join(err, errSocks)
	}
	if _, err = io.ReadFull(r, b[:4]); err != nil {
		return "", 0, 0, err
	}
	if b[0] != socksVersion {
		return "", 0, 0, errSocks
	}
	if b[1] != 1 {
		return "", 0, socksNoCmd, errSocks
	}
	n := 0
	switch b[3] {
	case 1:
		n = 4
	case 4:
		n = 16
	case 3:
		var l [1]byte
		if _, err = io.ReadFull(r, l[:]); err != nil {
			return "", 0, 0, err
		}
		n = int(l[0])
	default:
		return "", 0, socksNoAddr, errSocks
	}
	kind := b[3]
	if _, err = io.ReadFull(r, b[:n+2]); err != nil {
		return "", 0, 0, err
	}
	port = int(binary.BigEndian.Uint16(b[n:]))
	if kind == 3 {
		return string(b[:n]), port, 0, nil
	}
	a, _ := netip.AddrFromSlice(b[:n])
	return a.String(), port, 0, nil
}
