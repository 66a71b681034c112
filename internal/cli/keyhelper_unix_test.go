//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const newKey = "sk-ant-fresh-0123456789"

// gateway is a provider that takes newKey. Other keys it refuses, all at once,
// when so many requests came with one.
type gateway struct {
	mu    sync.Mutex // guards the rest
	old   int
	full  chan struct{}
	taken int

	expire func() // has the helper give the new key from now on
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("x-api-key") != newKey {
		g.mu.Lock()
		if g.old--; g.old == 0 {
			g.expire()
			close(g.full)
		}
		g.mu.Unlock()
		select {
		case <-g.full:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"type":"error","error":{"type":"authentication_error","message":"expired"}}`)
		return
	}
	g.mu.Lock()
	g.taken++
	g.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// Fault 46 across processes: when the key of several expires at once, they run
// the helper one after the other, each once, and no key is written to disk.
func TestFault46_ProcessesRefreshOneAfterTheOther(t *testing.T) {
	const n = 3
	p := newPlace(t)
	g := &gateway{old: n, full: make(chan struct{}), expire: func() { p.put("key", newKey) }}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	p.put("helper.sh", `cd `+p.dir+`
key=$(cat key)
if [ "$key" = `+newKey+` ]; then
  mkdir busy || echo together >> runs
  echo run >> runs
  sleep 0.2
  rmdir busy
fi
echo "$key"
`)
	p.put("key", "old")
	p.settings(filepath.Join(p.home, ".adze", "settings.json"), fmt.Sprintf(`{"apiKeyHelper":"sh %s","providers":{"anthropic":{"base_url":%q}}}`, filepath.Join(p.dir, "helper.sh"), server.URL))
	var all sync.WaitGroup
	runs := make([]*exec.Cmd, n)
	outs := make([]bytes.Buffer, n)
	for i := range runs {
		runs[i] = p.adze("-p", "hello", "--model", "anthropic/claude-sonnet-4-6")
		runs[i].Stdout, runs[i].Stderr = &outs[i], &outs[i]
		if err := runs[i].Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := runs[i].Wait(); err != nil || !strings.Contains(outs[i].String(), "hello") {
				t.Errorf("%v: %s", err, outs[i].String())
			}
		})
	}
	all.Wait()
	b, err := os.ReadFile(filepath.Join(p.dir, "runs"))
	if err != nil || strings.Count(string(b), "run\n") != n || strings.Contains(string(b), "together") {
		t.Errorf("the helper ran like this: %q %v", b, err)
	}
	err = filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte(newKey)) {
				t.Errorf("%s holds the key, or cannot be read: %v", path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if g.taken != n || g.old != 0 {
		t.Errorf("%d requests with the new key, %d too many with the old one", g.taken, -g.old)
	}
}
