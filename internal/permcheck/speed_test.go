package permcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestDecisionSpeed measures whole decisions, with the real file system, git's
// settings and fifty rules: under 1 ms for 99 of 100, under 50 ms for the
// longest scripts. It reports, with -v, and asserts nothing: time on a busy
// machine is no property of the code. For the same reason it takes the fastest
// of five runs.
func TestDecisionSpeed(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("run it with -v to see the figures")
	}
	raw, err := os.ReadFile(filepath.Join("..", "shellread", "testdata", "shell_cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	o := project(t)
	for i := range 50 {
		effect := []policy.Effect{policy.Allow, policy.Ask, policy.Deny}[i%3]
		for _, text := range []string{fmt.Sprintf("Bash(tool%d sub:*)", i), fmt.Sprintf("Edit(gen%d/**/*.go)", i)} {
			r, err := policy.ParseRule(text, effect, policy.User, "test", o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			o.Rules.List = append(o.Rules.List, r)
		}
	}
	var all []time.Duration
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		command := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(strings.Split(line, "\t")[1])
		if len(command) > 2000 {
			continue
		}
		all = append(all, fastest(command, o))
	}
	slices.Sort(all)
	p99 := all[len(all)*99/100]
	t.Logf("p50 %v, p99 %v, most %v over %d", all[len(all)/2], p99, all[len(all)-1], len(all))
	for _, unit := range longest {
		script := strings.TrimRight(strings.Repeat(unit, shellread.MaxChars/len(unit)), "|&")
		t.Logf("%5d × %-40q %v", shellread.MaxChars/len(unit), unit, fastest(script, o))
	}
}

func fastest(command string, o permcheck.Options) time.Duration {
	best := time.Hour
	for range 5 {
		start := time.Now()
		permcheck.Check(command, o)
		best = min(best, time.Since(start))
	}
	return best
}

// longest are repeated up to the greatest length that is read.
var longest = []string{"rm x;", "ls|", "cat main.go ", "echo $(rm a) ", "sudo rm ", "(rm x)&&", "for i in 1 2 3; do touch $i; done;", "x=$(ls);", "git status;", "echo >a ;", "cp a b;"}

// BenchmarkLongest decides scripts of the greatest length that is read.
func BenchmarkLongest(b *testing.B) {
	o := project(b)
	for _, unit := range longest {
		b.Run(unit, func(b *testing.B) {
			script := strings.TrimRight(strings.Repeat(unit, shellread.MaxChars/len(unit)), "|&")
			for b.Loop() {
				permcheck.Check(script, o)
			}
		})
	}
}
