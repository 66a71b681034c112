package monitor

import (
	"context"
	"os"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
