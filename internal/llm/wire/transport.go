package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/text/hint"
)

// A Dial says how to reach the network.
type Dial struct {
	// Proxy chooses the proxy of a request; nil means none. It comes from
	// whoever may read the environment.
	Proxy func(*http.Request) (*url.URL, error)
	// Roots are the trusted certificates; nil means the system's.
	Roots *x509.CertPool
	// Connect bounds the dialling and, again, the TLS handshake; 0 is 15 s.
	Connect time.Duration
}

// NewTransport returns a transport of its own: HTTP/2, keep-alive probes that
// find a dead connection within half a minute, no transparent unpacking.
func NewTransport(d Dial) *http.Transport {
	if d.Connect <= 0 {
		d.Connect = 15 * time.Second
	}
	dialer := &net.Dialer{
		Timeout:         d.Connect,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	return &http.Transport{
		Proxy:                 d.Proxy,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: d.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   d.Connect,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		DisableCompression:    true,
		MaxIdleConns:          32,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		OnProxyConnectResponse: func(_ context.Context, p *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyError{host: p.Host, status: resp.StatusCode}
		},
	}
}

// A proxyError is a proxy that did not open the tunnel.
type proxyError struct {
	host   string
	status int
}

func (e *proxyError) Error() string {
	if e.status == http.StatusProxyAuthRequired {
		return fmt.Sprintf("the proxy %s wants a user name and password", e.host)
	}
	return fmt.Sprintf("the proxy %s refused the connection", e.host)
}

// A cause is a named network failure.
type cause struct {
	text, hint string
	permanent  bool
}

const checkProxy = "check the proxy in HTTPS_PROXY, HTTP_PROXY, ALL_PROXY or the setting network.proxy: its address, and user:password@ before it when it asks for them"

// nameFailure puts a failed exchange in plain words. host is who was asked.
func nameFailure(err error, host string) cause {
	if px := new(proxyError); errors.As(err, &px) {
		return cause{px.Error(), checkProxy, px.status < 500}
	}
	if m := new(hint.Mistake); errors.As(err, &m) { // in what names the proxy
		return cause{m.Why, m.What, true}
	}
	if op := new(net.OpError); errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")) {
		c := nameNetwork(err, "the proxy")
		if dns := new(net.DNSError); errors.As(err, &dns) {
			c.text = "the proxy is not found: " + c.text
		}
		c.hint = checkProxy
		return c
	}
	return nameNetwork(err, host)
}

func nameNetwork(err error, host string) cause {
	if c, ok := nameDNS(err, host); ok {
		return c
	}
	if c, ok := nameTLS(err, host); ok {
		return c
	}
	next := "check the network connection"
	text := err.Error()
	switch timeout := net.Error(nil); {
	case errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(text, "refused"):
		next = "check that a server listens there and that the base URL is right"
		return cause{"connection refused by " + host, next, false}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return cause{"there is no network: no route to " + host + " (network unreachable)", next, false}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), strings.Contains(text, "reset by peer"),
		strings.Contains(text, "forcibly closed"):
		return cause{"connection reset by " + host, next, false}
	case strings.HasSuffix(text, "EOF"):
		return cause{host + " closed the connection without an answer", next, false}
	case errors.As(err, &timeout) && timeout.Timeout():
		return cause{"no connection to " + host + " within the time limit", next, false}
	}
	return cause{clean(text, 300), next, false}
}

func nameDNS(err error, host string) (cause, bool) {
	dns := new(net.DNSError)
	if !errors.As(err, &dns) {
		return cause{}, false
	}
	if dns.IsNotFound {
		text, never := "no such host: "+clean(dns.Name, 100)+" (DNS lookup failed)", strings.HasSuffix(dns.Name, ".invalid") // RFC 6761, section 6.4
		if !never {                                                                                                          // some systems say the same while there is no network
			text = "there is no network, or " + text
		}
		return cause{text, "check the base URL and the network connection", never}, true
	}
	return cause{"there may be no network: DNS lookup of " + host + " failed: " + clean(dns.Err, 100), "check the network connection", false}, true
}

func nameTLS(err error, host string) (cause, bool) {
	const roots = "if a company proxy inspects TLS, add its certificate to the system's store or set SSL_CERT_FILE"
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		verify  *tls.CertificateVerificationError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		return cause{"TLS failure: the certificate of " + host + " is signed by an unknown authority", roots, true}, true
	case errors.As(err, &name):
		return cause{"TLS failure: the certificate is not for " + host, "check the base URL; a login page of this network may answer instead", true}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return cause{"TLS failure: the certificate of " + host + " has expired or is not yet valid", "check the computer's date and time", true}, true
	case errors.As(err, &invalid), errors.As(err, &verify):
		return cause{"TLS failure: the certificate of " + host + " is not valid", roots, true}, true
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return cause{"TLS failure: " + host + " does not speak TLS", "check whether the base URL should begin with http://", true}, true
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: handshake failure"):
		return cause{"TLS failure: handshake with " + host + " refused: " + clean(alert.Error(), 100), roots, true}, true
	case strings.Contains(err.Error(), "TLS handshake timeout"):
		return cause{"TLS failure: handshake with " + host + " took too long", "check the network connection", false}, true
	}
	return cause{}, false
}
