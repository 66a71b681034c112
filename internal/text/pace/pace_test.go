package pace_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/text/pace"
)

const (
	every    = time.Second
	maxLines = 20
	maxLine  = 1000
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		start := time.Now()
		p := pace.New(pace.Config{Lines: maxLines, Pause: func(int) time.Duration { return every }, Tell: func(s string) {
			got = append(got, fmt.Sprintf("%v %s", time.Since(start), s))
		}})
		say := func(s string) {
			if n, err := p.Write([]byte(s)); n != len(s) || err != nil {
				t.Error(n, err)
			}
			synctest.Wait()
		}
		say("one\ntw")
		say("o\n\n\x1b[31mthree\x1b[0m\n")
		time.Sleep(every + time.Millisecond)
		synctest.Wait()
		time.Sleep(every)
		say("four\n")
		for i := range 100 {
			say(fmt.Sprintln("flood", i))
		}
		time.Sleep(2 * every)
		say(strings.Repeat("x", 100_000) + "\n")
		say("no end")
		p.Close(true)
		synctest.Wait()
		flood := []string{}
		for i := range maxLines {
			flood = append(flood, fmt.Sprint("flood ", i))
		}
		want := []string{
			"0s one", "1s two\nthree", "2.001s four", "3.001s " + strings.Join(flood, "\n") + "\n(and 80 more lines)",
			"4.001s " + strings.Repeat("x", maxLine-1) + "…", "4.001s no end",
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%d: got %q\nwant %q", i, got, want)
			}
		}
	})
}

// A notice holds only so many bytes, and pauses may grow.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		start := time.Now()
		p := pace.New(pace.Config{Lines: 9, Bytes: 10, Pause: func(n int) time.Duration { return time.Duration(n) * time.Minute }, Tell: func(s string) {
			got = append(got, fmt.Sprintf("%v %q", time.Since(start), s))
		}})
		for range 3 {
			_, _ = p.Write([]byte("12345\n6789\nx\n"))
			time.Sleep(2 * time.Minute)
		}
		_, _ = p.Write([]byte("not told"))
		p.Close(false)
		want := []string{`0s "12345\n6789\n(and 1 more line)"`, `2m0s "12345\n6789\n(and 1 more line)"`, `4m0s "12345\n6789\n(and 1 more line)"`}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q", got)
		}
	})
}
