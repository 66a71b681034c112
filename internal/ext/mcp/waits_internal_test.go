package mcp

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/servers"
)

// What a program prints while a call waits may say why no answer comes.
func TestUnread(t *testing.T) {
	for _, c := range []struct{ before, printed, want string }{
		{"Starting…\n", "", ""},
		{"", "{\n \"jsonrpc\": \"2.0\",\n \"id\": 1\n}\n", "4 lines that are no messages"},
		{"Starting…\n", "a log\n", "1 line"},
		{"", `{"jsonrpc":"2.0","id":1,"result":{}}`, "without the line break"},
	} {
		w := newWire(newInspector(time.Now))
		l, out := &link{wire: w}, &lines{w: w, aside: io.Discard}
		_, _ = out.Write([]byte(c.before))
		why := l.unread()
		_, _ = out.Write([]byte(c.printed))
		if got := why(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q: %q", c.printed, got)
		}
	}
	if why := (&link{}).unread()(); why != "" { // of a remote server
		t.Error(why)
	}
}

// A call that takes long says so every ten seconds; the reason people are told once.
func TestSayThatItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said, warned []string
		l := &link{s: &server{conf: servers.Server{Name: "q"}, views: []*View{(&Hub{}).View(ViewConfig{Waits: func(_, why string) { warned = append(warned, why) }})}}}
		c := &call{tell: func(s string) { said = append(said, s) }, timer: time.NewTimer(time.Hour)}
		l.sayThatItWaits(c, time.Now().Add(-waitsAfter), func() string { return "it is odd" })
		time.Sleep(waitsAfter + time.Second)
		synctest.Wait()
		c.end()
		time.Sleep(3 * waitsAfter)
		if len(said) != 2 || !strings.Contains(said[1], "the MCP server q for 20 s; it is odd") || len(warned) != 1 {
			t.Errorf("%q %q", said, warned)
		}
	})
}
