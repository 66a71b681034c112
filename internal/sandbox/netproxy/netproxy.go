// Package netproxy is the way out of the sandbox: a proxy that speaks HTTP
// (CONNECT and plain requests) and SOCKS5 on one listener and lets through
// what the rules allow or a person says yes to. It resolves names itself,
// refuses addresses that are not public unless a rule names their host, and
// dials exactly the address it checked. It never looks into what it carries.
// Beside that it leads single ports to this machine's own.
package netproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/netaddr"
)

// Bounds of the proxy.
const (
	maxClients  = 256              // at once
	greeting    = 10 * time.Second // until a client said what it wants
	dialTimeout = 15 * time.Second
	idle        = 10 * time.Minute // without a byte in either direction
)

// Config is what a proxy is made from.
type Config struct {
	Rules Rules
	Ask   Ask // nil refuses
	// Reads says that packages come from a host that no rule names: it is let through
	// without a question, for reading only. nil lets none through.
	Reads func(host string, port int) bool
	// Resolve turns a name into addresses; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was checked; nil uses the network.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Upstream is the proxy that this machine itself needs.
	Upstream Upstream
	// Address is what clients are told, host:port; "" is the listener's.
	Address string
}

// A Proxy is running. Make one with Serve and end it with Close.
type Proxy struct {
	config Config
	ctx    context.Context // ends with Close; only connections use it
	stop   context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex // guards the fields below
	listens []net.Listener
	asked   map[string]*question // by host
	refused map[string]string
	conns   map[net.Conn]struct{}
}

// Serve answers on l until Close. It owns l.
func Serve(l net.Listener, c Config) *Proxy {
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", to.String())
		}
	}
	if c.Address == "" {
		c.Address = l.Addr().String()
	}
	ctx, stop := context.WithCancel(context.Background()) // the proxy's own life
	p := &Proxy{
		config: c, ctx: ctx, stop: stop, slots: make(chan struct{}, maxClients),
		asked: map[string]*question{}, refused: map[string]string{}, conns: map[net.Conn]struct{}{},
	}
	p.listen(l, p.serve)
	return p
}

// Local leads what connects to l to a port of this machine, by way of its own
// addresses, until Close. Where nothing listens, a connection ends at once. It owns l.
func (p *Proxy) Local(l net.Listener, port uint16) {
	p.listen(l, func(c net.Conn) { p.local(c, port) })
}

func (p *Proxy) listen(l net.Listener, serve func(net.Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listens = append(p.listens, l)
	p.wg.Add(1)
	go p.accept(l, serve) // ends when the listener is closed
}

// Address is where clients reach it, host:port.
func (p *Proxy) Address() string { return p.config.Address }

// Refused returns the hosts that were refused since the last call, and why.
func (p *Proxy) Refused() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.refused
	p.refused = map[string]string{}
	return out
}

// Close ends every connection and waits for all to be over.
func (p *Proxy) Close() error {
	p.stop()
	p.mu.Lock()
	var errs []error
	for _, l := range p.listens {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	return errors.Join(errs...)
}

func (p *Proxy) accept(l net.Listener, serve func(net.Conn)) {
	defer p.wg.Done()
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
				return
			}
			select { // out of descriptors, most likely
			case <-time.After(50 * time.Millisecond):
				continue
			case <-p.ctx.Done():
				return
			}
		}
		select {
		case p.slots <- struct{}{}:
		default:
			_ = c.Close()
			continue
		}
		if !p.track(c) {
			_ = c.Close()
			<-p.slots
			continue
		}
		go func() { // ends with the connection, which Close closes
			defer p.wg.Done()
			defer func() { <-p.slots }()
			defer p.forget(c)
			serve(c)
		}()
	}
}

// track notes a connection for Close; false when that has begun.
func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.conns[c] = struct{}{}
	p.wg.Add(1)
	return true
}

func (p *Proxy) forget(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// local carries between c and what listens on a port of this machine.
func (p *Proxy) local(c net.Conn, port uint16) {
	ctx, cancel := context.WithTimeout(p.ctx, dialTimeout)
	defer cancel()
	for _, host := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if server, err := p.config.Dial(ctx, netip.AddrPortFrom(host, port)); err == nil {
			p.carry(c, c, way{Conn: server})
			return
		}
	}
	if t, ok := c.(interface{ SetLinger(int) error }); ok {
		_ = t.SetLinger(0) // a reset, which no program takes for an empty answer
	}
}

func (p *Proxy) serve(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(greeting))
	r := bufio.NewReaderSize(c, 16<<10)
	first, err := r.Peek(1)
	if err != nil {
		return
	}
	if first[0] == 5 {
		p.socks(c, r)
		return
	}
	p.http(c, r)
}

// A Refusal says why a host cannot be reached.
type Refusal struct{ Host, Why string }

func (r *Refusal) Error() string { return r.Host + " is refused: " + r.Why }

// A client is a connection that came in, and what reads from it.
type client struct {
	net.Conn
	r *bufio.Reader
}

// A way is a connection to a host that was let through.
type way struct {
	net.Conn
	host  string
	reads bool     // nothing may be uploaded
	via   *url.URL // the further proxy that a plain request has to be put to; nil: none
}

// connect checks and dials for c. The host is as the client wrote it. plain:
// for one plain request.
func (p *Proxy) connect(c client, rawHost string, port int, plain bool) (w way, err error) {
	if w.host, err = cleanHost(rawHost); err != nil {
		return w, p.refuse(fmt.Sprintf("%q", rawHost), err.Error())
	}
	host := w.host
	if port < 1 || port > 65535 {
		return w, p.refuse(host, "there is no port "+strconv.Itoa(port))
	}
	reads, why := p.permitted(c, host, port)
	if w.reads = reads; why != "" {
		return w, p.refuse(host, why)
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTimeout)
	defer cancel()
	via, err := p.config.Upstream.via(host, port, plain)
	if err != nil {
		return w, err
	}
	if via == nil {
		w.Conn, err = p.reach(ctx, host, port)
		return w, err
	}
	if a, err := netip.ParseAddr(host); (err == nil && netaddr.Inside(a) != "" || here(host)) && !p.config.Rules.exactly(host, port) {
		return w, p.refuse(host, "it is an address of the proxy's own network")
	}
	plain = plain && strings.HasPrefix(via.Scheme, "http")
	if w.Conn, err = dial(ctx, via, host, port, !plain); err == nil && plain {
		w.via = via
	}
	return w, err
}

// reach looks the name up and dials what it checked.
func (p *Proxy) reach(ctx context.Context, host string, port int) (net.Conn, error) {
	addrs := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, a)
	} else if addrs, err = p.config.Resolve(ctx, host); err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	err := fmt.Errorf("%s has no address", host)
	for _, a := range addrs {
		a = a.Unmap().WithZone("")
		if why := netaddr.Inside(a); why != "" && !p.config.Rules.exactly(host, port) {
			err = p.refuse(host, fmt.Sprintf("it leads to %s, %s", a, why))
			continue
		}
		var c net.Conn
		if c, err = p.config.Dial(ctx, netip.AddrPortFrom(a, uint16(port))); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (p *Proxy) refuse(host, why string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < 100 {
		p.refused[host] = why
	}
	return &Refusal{host, why}
}

// carry copies both ways until one side is done or nothing moves; r reads what the
// client sends.
func (p *Proxy) carry(client net.Conn, r io.Reader, w way) {
	server, back := w.Conn, io.Reader(w.Conn)
	if !p.track(server) {
		_ = server.Close()
		return
	}
	defer p.wg.Done()
	defer p.forget(server)
	if w.reads {
		m := &meter{over: func() {
			_ = p.refuse(w.host, noUploads)
			_, _ = client.Close(), server.Close()
		}}
		r, back = sent{r, m}, heard{back, m}
	}
	var both sync.WaitGroup
	both.Add(1)
	go func() { // ends when either side is closed
		defer both.Done()
		pipe(client, back, server)
		closeWrite(client)
	}()
	pipe(server, r, client)
	closeWrite(server)
	both.Wait()
}

// pipe copies until an end or idle; from is the connection behind r.
func pipe(to net.Conn, r io.Reader, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		_ = from.SetReadDeadline(time.Now().Add(idle))
		n, err := r.Read(buf)
		if n > 0 {
			_ = to.SetWriteDeadline(time.Now().Add(idle))
			if _, werr := to.Write(buf[:n]); werr != nil {
				_ = from.SetReadDeadline(time.Now()) // nobody takes it any more
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func closeWrite(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
		return
	}
	_ = c.Close()
}
