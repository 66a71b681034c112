//go:build unix

package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/servers"
)

// What the body of an answer with an error status says is told, not the words of the
// status alone.
func TestRefusalsSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		status int
		body   string
		want   string
	}{
		"limited": {"tools/call", 429, `{"error":"limited, retry in 30s"}`, "429 Too Many Requests: limited, retry in 30s"},
		"broken":  {"tools/call", 500, `{"message":"database is locked"}`, "500 Internal Server Error: database is locked"},
		"no id":   {"tools/call", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID"}}`, "400 Bad Request: No valid session ID"},
		"empty":   {"tools/call", 500, ``, "Internal Server Error"},
		"ended":   {"tools/call", 200, "id: 5\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n", "its stream ended without the answer"},
		"start":   {`"initialize"`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"header X-Workspace is missing"}}`, "header X-Workspace is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			honest := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return honest() }, nil)
			r := start(t, nil, remote("s", servers.HTTP, serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				raw, _ := io.ReadAll(q.Body)
				switch q.Body = io.NopCloser(bytes.NewReader(raw)); {
				case q.Method == http.MethodGet:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case bytes.Contains(raw, []byte(c.method)):
					w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[c.status == 200])
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				case bytes.Contains(raw, []byte("server/discover")):
					w.WriteHeader(http.StatusNotFound)
				default:
					honest.ServeHTTP(w, q)
				}
			}))))
			r.ready(t)
			got := r.status(t, "s").Why
			if c.method == "tools/call" {
				got = run(t, r.tool(t, "mcp__s__echo"), `{"text":"x"}`).Text
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

// What answers at an address and is no MCP server is told as that.
func TestNoServerAtAll(t *testing.T) {
	for kind, want := range map[string]string{"text/html": `it answers with "text/html", which is no message of MCP; look at its address`, "application/json": "its answer is no message of MCP; look at its address"} {
		r := start(t, nil, remote("s", servers.HTTP, serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", kind)
			if kind == "text/html" {
				_, _ = io.WriteString(w, "<html>hello</html>")
			}
		}))))
		r.ready(t)
		if got := r.status(t, "s").Why; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
