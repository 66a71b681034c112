package sandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

func TestMain(m *testing.M) {
	if os.Getenv("ADZE_TEST_DIE") != "" {
		os.Exit(die(os.Args[3], os.Args[4], os.Args[5]))
	}
	if len(os.Args) > 1 && os.Args[1] == HelperArg {
		os.Exit(Helper(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// self is the test program at a place that every user can run it from.
func self(t testing.TB) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func testConfig(t testing.TB, mechanism string) Config {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"home/.ssh", "project"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(root, "home")
	return Config{
		Dir: filepath.Join(root, "project"), Home: home, Run: filepath.Join(home, ".adze", "sandbox"), State: []string{filepath.Join(home, ".adze")},
		Path: "/usr/bin:/bin", Self: self(t), Mechanism: mechanism,
		Settings: config.Sandbox{Enabled: true, FailIfUnavailable: true, Network: config.SandboxNetwork{AllowedDomains: []string{}}},
	}
}

func open(t testing.TB, c Config) *Sandbox {
	t.Helper()
	s, err := New(context.Background(), c)
	if err != nil {
		t.Skipf("this system cannot run %s: %v", c.Mechanism, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// die runs a command that leaves a hook and goes on, and waits to be killed.
func die(dir, home, run string) int {
	s, err := New(context.Background(), Config{
		Dir: dir, Home: home, Run: run, State: []string{filepath.Dir(run)}, TempRoot: filepath.Dir(run), Path: "/usr/bin:/bin", Self: os.Args[0], Mechanism: "bwrap",
		Settings: config.Sandbox{Enabled: true, FailIfUnavailable: true, Network: config.SandboxNetwork{AllowedDomains: []string{}}},
	})
	if err != nil {
		return 1
	}
	c := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit && (setsid sleep 7704 >/dev/null 2>&1 &) && echo made && sleep 60"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
	c.Keep = os.Getenv("ADZE_TEST_DIE") == "stays"
	if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
		return 1
	}
	s.auditor.mu.Lock() // it dies before it can look
	p, err := proc.NewTable().Start(c, os.Stdout)
	if err != nil {
		return 1
	}
	<-p.Done()
	return 0
}

// sh runs a script inside.
func sh(t testing.TB, s *Sandbox, script string) (string, int) {
	t.Helper()
	return shOpen(t, s, script)
}

// shOpen runs a script inside that may write open.
func shOpen(t testing.TB, s *Sandbox, script string, open ...string) (string, int) {
	t.Helper()
	out, code, _ := shNeeds(t, s, script, policy.Needs{Writable: open})
	return out, code
}

// shNeeds runs a script inside as its verdict needs it.
func shNeeds(t testing.TB, s *Sandbox, script string, needs policy.Needs) (string, int, policy.Kept) {
	t.Helper()
	table := proc.NewTable()
	defer table.Close(time.Second)
	c := proc.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: s.config.Dir,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.config.Home},
	}
	kept, err := s.Wrap(&c, needs)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := table.Start(c, &out)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return strings.TrimSpace(out.String()), p.Status().Code, kept
}

// TestEscapes tries every way out of the table, once per mechanism; and, for
// those that harm nothing, that they work without a sandbox, so that a try
// that can never succeed is noticed.
func TestEscapes(t *testing.T) {
	if raceDetector {
		t.Skip("each try is a process of its own, which the race detector makes slow and does not watch")
	}
	for _, name := range []string{"bwrap", "bwrap-cold", "landlock"} {
		t.Run(name, func(t *testing.T) {
			mech, cold := strings.CutSuffix(name, "-cold")
			c := testConfig(t, mech)
			c.cold = cold
			level, tries, err := Check(t.Context(), c)
			if err != nil {
				t.Skipf("this system cannot run %s: %v", mech, err)
			}
			if level.Name != mech {
				t.Fatalf("level %+v", level)
			}
			if len(tries) < 40 {
				t.Errorf("only %d tries", len(tries))
			}
			for _, try := range tries {
				t.Run(try.Name, func(t *testing.T) {
					switch try.Result {
					case Escaped:
						t.Errorf("%s: %s", try.What, try.Detail)
					case Skipped:
						t.Skip(try.Detail)
					case Blocked, Known:
						t.Logf("%s: %s", try.Result, try.Detail)
					}
				})
			}
		})
	}
}

func TestEscapesWorkWithoutSandbox(t *testing.T) {
	if raceDetector {
		t.Skip("see TestEscapes")
	}
	for _, e := range allEscapes() {
		if !e.has(harmless) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "adze-scene-") // short: it holds a unix socket
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			sc, end, err := newScene(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			if r, text, err := sc.unconfined(t.Context(), self(t), e.name); err != nil || r != Escaped {
				t.Errorf("without a sandbox: %s %s %v", r, text, err)
			}
			if e.same() != "" && sc.changed(e) == "" {
				t.Error("what it did is not seen from outside")
			}
		})
	}
}

// unconfined runs an attempt without a sandbox: whether it could succeed at all.
func (sc *scene) unconfined(ctx context.Context, self, name string) (Result, string, error) {
	c, err := sc.command(self, name)
	if err != nil {
		return Skipped, "", err
	}
	cmd := exec.CommandContext(ctx, c.Path)
	cmd.Args, cmd.Dir, cmd.Env = c.Args, c.Dir, c.Env
	out, _ := cmd.CombinedOutput() // the code says it
	switch cmd.ProcessState.ExitCode() {
	case codeBlocked:
		return Blocked, string(out), nil
	case codeEscaped:
		return Escaped, string(out), nil
	}
	return Skipped, string(out), nil
}
