package serve_test

import (
	"strings"
	"testing"
)

// A byte order mark before the first line, as shells of Windows write one, loses nothing.
func TestByteOrderMark(t *testing.T) {
	out := &whole{}
	in := &file{ended: make(chan struct{}), r: strings.NewReader("\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n")}
	if err := newRig(t).Stdio(t.Context(), in, out, there); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id":1,"result"`) || strings.Contains(out.String(), "-32700") {
		t.Error(out)
	}
}

// A line that is no JSON is answered, and what stands behind it is, too.
func TestLinesThatAreNoJSON(t *testing.T) {
	out := &whole{}
	in := &file{ended: make(chan struct{}), r: strings.NewReader("hello\n\n" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"cut":
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc"`)}
	if err := newRig(t).Stdio(t.Context(), in, out, there); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"id":null,"error":{"code":-32700`); n != 3 {
		t.Errorf("%d answers to lines that are no JSON, want 3: %s", n, out)
	}
	if !strings.Contains(out.String(), `"id":2,"result"`) {
		t.Errorf("what came behind them is not answered: %s", out)
	}
}
