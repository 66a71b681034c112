package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// BenchmarkOverhead compares a command inside with the same one outside. The
// goal is 10 ms of difference between the medians.
func BenchmarkOverhead(b *testing.B) {
	home, dir := b.TempDir(), b.TempDir()
	for _, d := range []string{".git/hooks", ".git/objects", ".git/refs", ".vscode"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range []string{".git/HEAD", ".git/config"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, d := range []string{".ssh", ".aws", ".gnupg"} {
		if err := os.Mkdir(filepath.Join(home, d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"bwrap", "bwrap-closed", "landlock"} {
		mech, closed := strings.CutSuffix(name, "-closed") // without a network, and so without what enters it
		domains := []string{"example.com"}
		if closed {
			domains = []string{}
		}
		b.Run(name, func(b *testing.B) {
			s, err := New(context.Background(), Config{
				Dir: dir, Home: home, Path: "/usr/bin:/bin", Run: filepath.Join(home, "run"), Self: os.Args[0], Mechanism: mech,
				Settings: config.Sandbox{Enabled: true, FailIfUnavailable: true, Network: config.SandboxNetwork{AllowedDomains: domains}},
			})
			if err != nil {
				b.Skip(err)
			}
			defer s.Close()
			table := proc.NewTable()
			defer table.Close(time.Second)
			run := func(wrap bool) time.Duration {
				start := time.Now()
				c := proc.Command{Path: "/bin/true", Args: []string{"true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
				if wrap {
					if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
						b.Fatal(err)
					}
				}
				p, err := table.Start(c, io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				<-p.Done()
				took := time.Since(start)
				if code := p.Status().Code; code != 0 {
					b.Fatal("exit code", code)
				}
				return took
			}
			var in, out, set []time.Duration
			for b.Loop() {
				out = append(out, run(false))
				in = append(in, run(true))
				start := time.Now()
				c := proc.Command{Path: "/bin/true", Dir: dir}
				if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
					b.Fatal(err)
				}
				set = append(set, time.Since(start))
				for _, f := range c.Files {
					_ = f.Close()
				}
				if c.After != nil {
					c.After()
				}
			}
			slices.Sort(in)
			slices.Sort(out)
			slices.Sort(set)
			i, o := in[len(in)/2], out[len(out)/2]
			b.ReportMetric(float64(set[len(set)/2].Microseconds())/1000, "ms-of-it-wrap")
			b.ReportMetric(float64((i-o).Microseconds())/1000, "ms-overhead-median")
			b.ReportMetric(float64((in[0]-out[0]).Microseconds())/1000, "ms-overhead-least") // on a machine that does other things, too
		})
	}
}

// BenchmarkOpen is what the first command of a session waits for.
func BenchmarkOpen(b *testing.B) {
	home, dir, cache := b.TempDir(), b.TempDir(), b.TempDir()
	for _, d := range []string{filepath.Join(dir, ".git", "hooks"), filepath.Join(home, ".ssh"), filepath.Join(home, ".cache", "go-build")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	table := proc.NewTable()
	defer table.Close(time.Second)
	var open, all []time.Duration
	for b.Loop() {
		start := time.Now()
		s, err := New(context.Background(), Config{
			Dir: dir, Home: home, Cache: cache, Path: "/usr/bin:/bin", Run: filepath.Join(home, "run"), Self: os.Args[0], Mechanism: "bwrap",
			Settings: config.Sandbox{Enabled: true, FailIfUnavailable: true, Network: config.SandboxNetwork{AllowedDomains: []string{"example.com"}}},
		})
		if err != nil {
			b.Skip(err)
		}
		open = append(open, time.Since(start))
		c := proc.Command{Path: "/bin/true", Args: []string{"true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
		if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
			b.Fatal(err)
		}
		p, err := table.Start(c, io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
		all = append(all, time.Since(start))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(open)
	slices.Sort(all)
	b.ReportMetric(float64(open[0].Microseconds())/1000, "ms-open-least")
	b.ReportMetric(float64(open[len(open)/2].Microseconds())/1000, "ms-open-median")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-with-a-command-median")
}
