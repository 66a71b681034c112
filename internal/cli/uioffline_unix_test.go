//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// late is a port of this machine that refuses connections until up is called; then it is
// the server at url.
func late(t *testing.T, url string) (address string, up func()) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "late")
	t.Cleanup(func() { _ = f.Close() })
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port), func() {
		t.Helper()
		if err := syscall.Listen(fd, 16); err != nil {
			t.Fatal(err)
		}
		l, err := net.FileListener(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() { // ends with the listener
			for {
				from, err := l.Accept()
				if err != nil {
					return
				}
				go pipe(from, strings.TrimPrefix(url, "http://"))
			}
		}()
	}
}

// pipe joins a connection with one to an address, until one of the two ends.
func pipe(from net.Conn, address string) {
	defer from.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// Without a network a session in the terminal tries again for as long as the person lets
// it: Esc ends the wait, and a network that comes back does.
func TestUIWaitsForTheNetwork(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	back := provide(t, messages, saying("", llm.Text{S: "We are back."}))
	proxy, up := late(t, back.URL)
	c := p.adze("--model", "anthropic/claude-sonnet-5-5", "--sandbox", "off")
	c.Env = append(c.Env, "ANTHROPIC_BASE_URL=http://api.example", "ANTHROPIC_API_KEY=k", "HTTP_PROXY=http://"+proxy)
	x := p.inTerminal(c, 100, 24)
	x.until(`What shall be done here`)
	const waits = `\([0-9]+\): connection refused by the proxy` // no "of": there is no last try
	x.keys("one", enter)
	x.until(waits)
	x.keys(esc)
	x.until(`Interrupted\.`)
	x.gone(waits)
	x.keys("two", enter)
	x.until(waits)
	up()
	x.until(`● We are back\.`)
}
