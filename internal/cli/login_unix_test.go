//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

// prompted tells when a question was asked.
type prompted struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	want  string
	asked chan struct{}
	once  sync.Once
}

func (p *prompted) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buf.Write(b)
	if strings.Contains(p.buf.String(), p.want) {
		p.once.Do(func() { close(p.asked) })
	}
	return len(b), nil
}

// onTerminal runs a command line on a pseudo terminal and types an answer.
func onTerminal(t *testing.T, want, answer string, env []string, args ...string) (code int, errs, screen string) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	stderr := &prompted{want: want, asked: make(chan struct{})}
	var shown bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(&shown, master) }) // ends when the terminal is closed
	wg.Go(func() { <-stderr.asked; _, _ = io.WriteString(master, answer) })
	sys := System{Args: args, Environ: env, Stdin: tty, Stdout: &Output{File: tty}, Stderr: stderr, InTTY: true, ErrTTY: true, OutTTY: true, Version: "0.0.0-test"}
	flags := &runFlags{}
	root := &cobra.Command{Use: "adze", SilenceErrors: true, SilenceUsage: true}
	flags.add(root.PersistentFlags())
	root.AddCommand(newLogin(sys, flags), newTrust(sys, flags))
	t.Chdir(t.TempDir()) // --cwd changes the folder of this process; back again after the test
	root.SetArgs(args)
	code = tellError(stderr, root.ExecuteContext(t.Context()))
	stderr.once.Do(func() { close(stderr.asked) })
	tty.Close()
	wg.Wait()
	return code, stderr.buf.String(), shown.String()
}

func TestOnATerminal(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "ADZE_HOME=" + filepath.Join(home, "state")}
	code, errs, screen := onTerminal(t, "hidden; Esc", plantedKey+"\r", env, "login", "anthropic", "--cwd", dir)
	if code != 0 || !strings.Contains(errs, "saved the key of anthropic") || strings.Contains(errs+screen, plantedKey) {
		t.Errorf("%d %q %q", code, errs, screen)
	}
	text, err := os.ReadFile(filepath.Join(home, "state", "credentials.json"))
	if err != nil || !strings.Contains(string(text), plantedKey) {
		t.Errorf("%s %v", text, err)
	}
	for _, typed := range []string{"abc\x03", "abc\x04", "\x03", "abc\x1b", "\x1b"} {
		if code, errs, _ := onTerminal(t, "hidden; Esc", typed, env, "login", "openai", "--cwd", dir); code != exitInterrupted || strings.Contains(errs, "saved") {
			t.Errorf("%q: %d %q", typed, code, errs)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers":{"x":{"command":"run-me"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		code   int
	}{{"\r", 3}, {"n\r", 3}, {"yep\r", 3}, {"Y\r", 0}} {
		code, errs, screen := onTerminal(t, "[y/N]", c.answer, env, "trust", dir)
		if code != c.code || !strings.Contains(screen, "runs: run-me") {
			t.Errorf("%q: %d %q %q", c.answer, code, errs, screen)
		}
	}
}
