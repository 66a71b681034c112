package monitor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		start := time.Now()
		p := newPacer(func(s string) { got = append(got, fmt.Sprintf("%v %s", time.Since(start), s)) })
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
		p.close(true)
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

func TestStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	table := proc.NewTable()
	defer table.Close(0)
	run := func(ctx context.Context, command string) (*Monitor, chan string) {
		ch := make(chan string, 100)
		m, err := Start(ctx, Config{Table: table, Shell: "/bin/sh", Command: command, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "X=from the environment"}}, func(s string) { ch <- s })
		if err != nil {
			t.Fatal(err)
		}
		return m, ch
	}
	m, ch := run(t.Context(), `echo no >&2; echo "$X"`)
	<-m.Done()
	if got := <-ch; got != "from the environment" {
		t.Error(got)
	}
	// It ends with its context, with what it started.
	ctx, stop := context.WithCancel(t.Context())
	m, ch = run(ctx, `sleep 1000 & echo ready; wait`)
	if got := <-ch; got != "ready" {
		t.Error(got)
	}
	stop()
	<-m.Done()
	if _, err := Start(t.Context(), Config{Table: table, Shell: "/no/such/shell", Dir: t.TempDir()}, func(string) { t.Error("told") }); err == nil {
		t.Error("started nothing")
	}
}
