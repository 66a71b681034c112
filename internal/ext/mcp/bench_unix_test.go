//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
)

// BenchmarkCall is a call through everything, to a server that does nothing; the
// same without adze is BenchmarkBare.
func BenchmarkCall(b *testing.B) {
	r := start(b, nil, self("a"))
	r.ready(b)
	x := r.tool(b, "mcp__a__echo")
	env := tool.Env{Progress: func(string) {}}
	for b.Loop() {
		if res, err := x.Run(context.Background(), json.RawMessage(`{"text":"x"}`), env); err != nil || res.Text != "x" {
			b.Fatal(res, err)
		}
	}
}

// BenchmarkBare writes a call to the same server and reads its answer, and does
// nothing else: it is the server's own time.
func BenchmarkBare(b *testing.B) {
	c := exec.Command(os.Args[0], asServer)
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = c.Wait()
	}()
	d := json.NewDecoder(out)
	say := func(format string, args ...any) {
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			b.Fatal(err)
		}
	}
	var answer struct{ Result json.RawMessage }
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
	if err := d.Decode(&answer); err != nil {
		b.Fatal(err)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i := 1; b.Loop(); i++ {
		say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`, i)
		if err := d.Decode(&answer); err != nil && err != io.EOF {
			b.Fatal(err)
		}
	}
}

// BenchmarkParallel is a hundred calls at once. Each gets its own answer.
func BenchmarkParallel(b *testing.B) {
	r := start(b, nil, self("a"))
	r.ready(b)
	x := r.tool(b, "mcp__a__echo")
	env := tool.Env{Progress: func(string) {}}
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				res, err := x.Run(context.Background(), fmt.Appendf(nil, `{"text":"%d"}`, i), env)
				if err != nil || res.Text != fmt.Sprint(i) {
					b.Error(res, err)
				}
			})
		}
		wg.Wait()
	}
}

// BenchmarkIdle is what a connection takes of this process's memory while nobody
// uses it.
func BenchmarkIdle(b *testing.B) {
	const n = 20
	for _, kind := range []servers.Transport{servers.Stdio, servers.HTTP} {
		b.Run(string(kind), func(b *testing.B) {
			var list []servers.Server
			url := ""
			if kind == servers.HTTP {
				url = outside(b)
			}
			for i := range n {
				s := self(fmt.Sprint("s", i))
				if kind == servers.HTTP {
					s = remote(fmt.Sprint("s", i), kind, url)
				}
				list = append(list, s)
			}
			for b.Loop() {
				r := start(b, nil, list[0]) // what the first one needs, all share
				r.ready(b)
				before := resident(b)
				r.Use(list)
				r.ready(b)
				after := resident(b)
				b.ReportMetric(float64(after-before)/(n-1), "KB/connection")
				r.Close()
			}
		})
	}
}

// resident is how much memory this process has, in KB.
func resident(b *testing.B) int {
	b.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("only where there is /proc")
	}
	var kb int
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		b.Fatal(err)
	}
	return kb
}

// outside serves over HTTP in another process.
func outside(b *testing.B) string {
	b.Helper()
	c := exec.Command(os.Args[0], asServer, "over-http")
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	var url string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		b.Fatal(err)
	}
	return url
}
