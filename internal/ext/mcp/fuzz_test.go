package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
)

// Whatever comes is looked at without a panic, and what is not refused is JSON of
// bounded depth with each name once.
func FuzzCame(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `[{"method":"a"}]`, `{"id":1,"ID":2}`, `{"a":[[[]]]}`, `{"result":{"_meta":{"Id":1}}}`, `null`, `[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		i := newInspector(time.Now)
		i.sent(int64(5))
		if i.came(raw) != nil {
			return
		}
		if !utf8.Valid(raw) {
			return // which encoding/json takes too, in other words
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

// Whatever a server sends as frames is a message of bounded size, or an error.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x81\x02hi"))
	f.Add([]byte("\x01\x01a\x89\x01p\x80\x01b"))
	f.Add([]byte("\x82\x7e\x00\x03abc\x88\x02\x03\xe8"))
	f.Add([]byte("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &socket{rw: deaf{bytes.NewReader(raw)}}
		s.r = bufio.NewReader(s.rw)
		for range 100 {
			m, err := s.message()
			if len(m) > len(raw) {
				t.Fatalf("%d bytes of %d", len(m), len(raw))
			}
			if err != nil {
				return
			}
		}
	})
}

// deaf is a connection that nobody listens at.
type deaf struct{ *bytes.Reader }

func (deaf) Write(b []byte) (int, error) { return len(b), nil }
func (deaf) Close() error                { return nil }

// The words of a line come back when they are quoted.
func FuzzSplit(f *testing.F) {
	f.Add(`a "b c" 'd'`)
	f.Fuzz(func(t *testing.T, s string) {
		words, err := split(s)
		if err != nil {
			return
		}
		for _, w := range words {
			if strings.Contains(w, `"`) {
				continue
			}
			if again, err := split(`"` + w + `"`); err != nil || len(again) != 1 || again[0] != w {
				t.Fatalf("%q became %q, %v", w, again, err)
			}
		}
	})
}

// Names of tools differ, whatever servers call them, and are of what providers take.
func FuzzNames(f *testing.F) {
	f.Add("a b", "a_b", "x", "x")
	f.Add("", "_", strings.Repeat("y", 90), strings.Repeat("y", 91))
	f.Fuzz(func(t *testing.T, s1, s2, t1, t2 string) {
		parts := serverParts([]servers.Server{{Name: s1}, {Name: s2}})
		seen := map[string]bool{}
		for _, part := range parts {
			names, _ := toolNames(part, []string{t1, t2})
			for _, n := range names {
				if seen[n] || len(n) > maxName || policy.Nameable(n) != n {
					t.Fatalf("%q of %q %q %q %q", n, s1, s2, t1, t2)
				}
				seen[n] = true
			}
		}
	})
}
