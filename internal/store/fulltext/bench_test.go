package fulltext

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// ten thousand sessions of some 9 KB of text each.
func large(tb testing.TB, sessions int) *shelf {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 40_000)
	text := func(words int) string {
		var b strings.Builder
		for range words {
			fmt.Fprintf(&b, "w%d ", zipf.Uint64())
		}
		return b.String()
	}
	s := newShelf()
	for n := range sessions {
		var bodies []event.Body
		for range 6 {
			bodies = append(bodies, prompt("common "+text(30)), reply(text(250)))
		}
		if n == sessions/2 {
			bodies = append(bodies, prompt("rarest thing"))
		}
		s.add(fmt.Sprintf("s%05d", n), fmt.Sprint("project", n%20), bodies...)
	}
	return s
}

func BenchmarkSearch(b *testing.B) {
	f, s := Folder{Path: b.TempDir()}, large(b, 10_000)
	began := time.Now()
	if err := f.Update(b.Context(), s, nil); err != nil {
		b.Fatal(err)
	}
	info, _ := os.Stat(filepath.Join(f.Path, indexName))
	b.Logf("made in %v, %d MB", time.Since(began), info.Size()>>20)
	for _, q := range []Query{
		{Words: "common"}, {Words: "rarest"}, {Words: "rarest thing common"}, {Words: "w1 w2 w3 w4"}, {Words: "w123 w456"}, {Words: "w39876"}, {Words: "w3987"}, {Words: "w12"}, {Words: "com"},
		{Words: "common", Project: "project7"}, {Words: "w123", Project: "project7"}, {Words: `"w1 w2"`}, {Words: "nothere"}, {Words: "common", Limit: 200},
	} {
		b.Run(fmt.Sprint(q), func(b *testing.B) {
			n := 0
			for b.Loop() {
				hits, err := f.Search(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				n = len(hits)
			}
			b.ReportMetric(float64(n), "hits")
		})
	}
}
