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
	for name, script := range longest() {
		t.Logf("%-42s %v", name, fastest(script, o))
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

// longest are scripts of the greatest length that is read, each in a shape
// that once cost more than its length: the same file over and over, a variable
// per statement, words that multiply, one command launched many times.
func longest() map[string]string {
	out := map[string]string{
		"nested loops":        strings.Repeat("for i in 1 2 3 4 5 6 7 8 9 10; do ", 200) + "ls" + strings.Repeat(";done", 200),
		"nested while":        strings.Repeat("while a; do cd src;", 300) + "ls" + strings.Repeat(";done", 300),
		"nested $( )":         "echo " + strings.Repeat("$(echo ", 1200) + "ls" + strings.Repeat(")", 1200),
		"find with 900 -exec": "find . " + strings.Repeat(`-exec rm x \; `, 700),
	}
	for name, unit := range map[string]func(i int) string{
		"a variable each":   func(i int) string { return fmt.Sprintf("v%d=1;", i) },
		"a glob each":       func(i int) string { return fmt.Sprintf("ls *%d* ", i) },
		"a file each":       func(i int) string { return fmt.Sprintf("cat a%d/b/c;", i) },
		"a repository each": func(i int) string { return fmt.Sprintf("git -C a%d log;", i) },
		"functions that double": func(i int) string {
			if i == 0 {
				return "f0(){ ls; };"
			}
			return fmt.Sprintf("f%d(){ f%d; f%d; };", i, i-1, i-1)
		},
	} {
		var b strings.Builder
		for i := 0; b.Len()+len(unit(i)) <= shellread.MaxChars; i++ {
			b.WriteString(unit(i))
		}
		out[name] = b.String()
	}
	for _, unit := range []string{"rm x;", "ls|", "cat main.go ", "echo $(rm a) ", "sudo rm ", "(rm x)&&", "for i in 1 2 3; do touch $i; done;", "x=$(ls);", "git status;", "echo >a ;", "cp a b;", "{1..99} ", "echo {1..99};", "cat \"$x\";", "sudo cat a;", "sudo nice sudo ", "sudo sh -c 'sudo rm x';", "x 'sudo \"rm\" x' ", "at <<< 'rm x';", "env -C src cat a;", "find . -exec cat {} +;", "find src|xargs cat;", "A=b/c ls;", "gcc -oa/b.c;", "alias x='rm a';"} {
		out[unit] = strings.TrimRight(strings.Repeat(unit, shellread.MaxChars/len(unit)), "|&")
	}
	return out
}

// BenchmarkLongest decides each of them.
func BenchmarkLongest(b *testing.B) {
	o := project(b)
	for name, script := range longest() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				permcheck.Check(script, o)
			}
		})
	}
}
