package netproxy

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/hint"
)

// An Upstream is the proxy that this machine needs to reach the world, as the
// environment of a person says; the zero value is none. Names are checked all
// the same, but it is the upstream that looks them up: that they lead to no
// address inside is then for it to see to.
type Upstream struct {
	// HTTP is for plain requests, HTTPS for everything else: http://, https://
	// or socks5:// (socks5h:// is the same), with user and password if needed;
	// without a scheme it is http.
	HTTP, HTTPS string
	// No are hosts to reach without it: names, with everything below them,
	// addresses, prefixes in CIDR form, each with :port if it is for one; * is all.
	No []string

	http, https string // the variables that HTTP and HTTPS are of, "" for none
}

// FromEnvironment reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; of
// two spellings the one in capitals counts.
func FromEnvironment(get func(name string) string) Upstream {
	first := func(names ...string) (value, name string) {
		for _, n := range names {
			for _, n := range []string{n, strings.ToLower(n)} {
				if v := strings.TrimSpace(get(n)); v != "" {
					return v, n
				}
			}
		}
		return "", ""
	}
	var u Upstream
	u.HTTP, u.http = first("HTTP_PROXY", "ALL_PROXY")
	u.HTTPS, u.https = first("HTTPS_PROXY", "ALL_PROXY")
	no, _ := first("NO_PROXY")
	u.No = strings.FieldsFunc(no, func(r rune) bool { return r == ',' || r == ' ' })
	return u
}

// Of is FromEnvironment with the setting network.proxy in the place of what the environment
// names; "" leaves it.
func Of(setting string, get func(name string) string) Upstream {
	u := FromEnvironment(get)
	if setting != "" {
		u = Upstream{HTTP: setting, HTTPS: setting, No: u.No}
	}
	return u
}

// Variables are these proxies as programs know them, "" for none. Of two spellings programs
// differ in which one they read.
func (u Upstream) Variables() map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{"HTTP_PROXY": u.HTTP, "HTTPS_PROXY": u.HTTPS, "NO_PROXY": strings.Join(u.No, ","), "ALL_PROXY": ""} {
		out[name], out[strings.ToLower(name)] = value, value
	}
	return out
}

// Proxy is the proxy that a request of adze's own goes through, nil for none: nothing
// for this machine goes through one. A *hint.Mistake says which variable is no address.
func (u Upstream) Proxy(r *http.Request) (*url.URL, error) {
	host := strings.ToLower(r.URL.Hostname())
	if ip, err := netip.ParseAddr(host); host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.Unmap().IsLoopback() {
		return nil, nil
	}
	plain := r.URL.Scheme == "http" || r.URL.Scheme == "ws"
	port, _ := strconv.Atoi(r.URL.Port())
	if port == 0 {
		port = 443
		if plain {
			port = 80
		}
	}
	return u.via(host, port, plain)
}

// Host is the host of the proxy, "" for none; without user and password.
func (u Upstream) Host() string {
	p, err := Upstream{HTTPS: cmp.Or(u.HTTPS, u.HTTP)}.via("", 0, false)
	if err != nil || p == nil {
		return ""
	}
	return p.Host
}

// via is the proxy to reach host through, nil for none. plain: by a plain
// request.
func (u Upstream) via(host string, port int, plain bool) (*url.URL, error) {
	text, name := u.HTTPS, u.https
	if plain {
		text, name = u.HTTP, u.http
	}
	if text == "" || slices.ContainsFunc(u.No, func(no string) bool { return direct(no, host, port) }) {
		return nil, nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	p, err := url.Parse(text)
	if err == nil && p.Port() != "" {
		_, err = strconv.ParseUint(p.Port(), 10, 16)
	}
	if err != nil || p.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, p.Scheme) {
		name = cmp.Or(name, "network.proxy")
		return nil, &hint.Mistake{Why: "the proxy in " + name + " is no address such as http://proxy.example.com:3128", What: "correct " + name + ", or unset it"}
	}
	return p, nil
}

// direct reports whether an entry of NO_PROXY is about host.
func direct(no, host string, port int) bool {
	if no == "*" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if p, perr := netip.ParsePrefix(no); perr == nil {
		return err == nil && p.Contains(addr)
	}
	name, p := splitRule(no)
	if p != "" && p != strconv.Itoa(port) {
		return false
	}
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(name, "."), "*"), ".")
	if a, aerr := netip.ParseAddr(name); aerr == nil {
		return err == nil && a.Unmap() == addr
	}
	return name != "" && (host == name || strings.HasSuffix(host, "."+name))
}

// here reports names that mean the machine which looks them up, or what only
// it should reach: through an upstream they would be that one's.
func here(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "metadata" || strings.HasSuffix(host, ".internal")
}

// dial connects to the proxy at u; with a tunnel it asks it for one to host.
func dial(ctx context.Context, u *url.URL, host string, port int, tunnel bool) (net.Conn, error) {
	at := u.Port()
	if at == "" {
		at = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	raw, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), at))
	if err != nil {
		return nil, fmt.Errorf("reach the proxy %s: %w", u.Host, err)
	}
	late := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	c, err := arrange(ctx, raw, u, host, port, tunnel)
	if !late() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("through the proxy %s: %w", u.Host, err)
	}
	return c, nil
}

// arrange makes of a connection to a proxy what a request can be put to.
func arrange(ctx context.Context, c net.Conn, u *url.URL, host string, port int, tunnel bool) (net.Conn, error) {
	switch u.Scheme {
	case "socks5", "socks5h":
		return c, askSocks(c, u.User, host, port)
	case "https":
		t := tls.Client(c, &tls.Config{ServerName: u.Hostname()})
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		c = t
	}
	if !tunnel {
		return c, nil
	}
	return askTunnel(c, u.User, net.JoinHostPort(host, strconv.Itoa(port)))
}

// credentials are the value of Proxy-Authorization, "" without a user.
func credentials(user *url.Userinfo) string {
	if user == nil {
		return ""
	}
	pass, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+pass))
}

func askTunnel(c net.Conn, user *url.Userinfo, to string) (net.Conn, error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	if auth := credentials(user); auth != "" {
		req.Header.Set("Proxy-Authorization", auth)
	}
	if err := req.Write(c); err != nil {
		return nil, err
	}
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", resp.Status)
	}
	return buffered{c, r}, nil
}

// buffered reads first what came together with an answer.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// CloseWrite ends what is sent, where the connection can.
func (b buffered) CloseWrite() error {
	closeWrite(b.Conn)
	return nil
}

// askSocks asks a SOCKS 5 proxy for a connection (RFC 1928, RFC 1929).
func askSocks(c net.Conn, user *url.Userinfo, host string, port int) error {
	methods := []byte{socksVersion, 1, 0}
	if user != nil {
		methods = []byte{socksVersion, 2, 0, 2}
	}
	if _, err := c.Write(methods); err != nil {
		return err
	}
	var b [257]byte
	if _, err := io.ReadFull(c, b[:2]); err != nil {
		return err
	}
	switch {
	case b[0] != socksVersion:
		return errors.New("it does not speak SOCKS 5")
	case b[1] == 2 && user != nil:
		pass, _ := user.Password()
		name := user.Username()
		if len(name) > 255 || len(pass) > 255 {
			return errors.New("its user or password is too long")
		}
		login := append([]byte{1, byte(len(name))}, name...)
		login = append(append(login, byte(len(pass))), pass...)
		if _, err := c.Write(login); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, b[:2]); err != nil {
			return err
		}
		if b[1] != 0 {
			return errors.New("it refuses the user and password")
		}
	case b[1] != 0:
		return errors.New("it wants a user and password")
	}
	req := []byte{socksVersion, 1, 0}
	if a, err := netip.ParseAddr(host); err != nil {
		req = append(append(req, 3, byte(len(host))), host...)
	} else if a.Is4() {
		req = append(append(req, 1), a.AsSlice()...)
	} else {
		req = append(append(req, 4), a.AsSlice()...)
	}
	if _, err := c.Write(binary.BigEndian.AppendUint16(req, uint16(port))); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, b[:4]); err != nil {
		return err
	}
	if b[1] != socksOK {
		return fmt.Errorf("it refuses (code %d)", b[1])
	}
	n := map[byte]int{1: 4, 4: 16}[b[3]]
	if b[3] == 3 {
		if _, err := io.ReadFull(c, b[:1]); err != nil {
			return err
		}
		n = int(b[0])
	}
	_, err := io.ReadFull(c, b[:n+2]) // the address it connects from, and a port
	return err
}
