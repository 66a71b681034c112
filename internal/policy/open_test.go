package policy

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOverlap: whatever text fits two patterns, they are said to overlap, and they are
// not where none of the short ones does.
func TestOverlap(t *testing.T) {
	var texts []string
	for at := 0; at <= 6; at++ {
		for n := range 1 << at {
			b := make([]byte, at)
			for i := range b {
				b[i] = "xy"[n>>i&1]
			}
			texts = append(texts, string(b))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(4))
		for i := range b {
			b[i] = []byte{'x', 'y', star}[r.IntN(3)]
		}
		return string(b)
	}
	yes := 0
	for range 2000 {
		a, b := word(), word()
		want := false
		for _, text := range texts {
			want = want || wildMatch(a, text) && wildMatch(b, text)
		}
		if got := overlap(a, b); got != want {
			t.Fatalf("overlap(%q, %q) = %v", a, b, got)
		}
		if want {
			yes++
		}
	}
	if x, y := strings.Repeat("x", 1<<12), strings.Repeat("y", 1<<12); !overlap(x, y) {
		t.Error("texts that are too long to compare are said not to overlap")
	}
	if yes < 200 || yes > 1800 {
		t.Errorf("%d of 2,000 overlap: the patterns say little", yes)
	}
}

// TestOpenWords: a command that may turn out to be one which a rule denies or asks
// about is a question, and a refusal where nobody is asked.
func TestOpenWords(t *testing.T) {
	x := Open{Source: "$x"}
	for _, c := range []struct {
		rule string
		argv []string
		open Open
		want bool
	}{
		{"git push:*", []string{"git", "$x"}, x, true},
		{"git push:*", []string{"git", "$x", "origin"}, x, true},
		{"git push:*", []string{"/usr/bin/git", "$x"}, x, true},
		{"git push:*", []string{"git", "log", "$x"}, x, false},
		{"git push:*", []string{"gh", "$x"}, x, false},
		{"git push:*", []string{"git", "st$x"}, Open{Source: "st$x", Head: "st"}, false},
		{"git push:*", []string{"git", "pu$x"}, Open{Source: "pu$x", Head: "pu"}, true},
		{"git push:*", []string{"git", "${x}sh"}, Open{Source: "${x}sh", Tail: "sh"}, true},
		{"git push:*", []string{"git", "-c$x", "push"}, Open{Source: "-c$x", Head: "-c"}, true},
		{"git push:*", []string{"git", "log$x", "push"}, Open{Source: "log$x", Head: "log"}, false},
		{"git push:*", []string{"git", "${x}us"}, Open{Source: "${x}us", Tail: "us"}, true}, // it may become several words
		{"git push * --force", []string{"git", "push", "o", "$x"}, x, true},
		{"git push * --force", []string{"git", "pull", "o", "$x"}, x, false},
		{"ls", []string{"ls", "$x"}, x, false},
		{"ls a", []string{"ls", "$x"}, x, true},
	} {
		for _, effect := range []Effect{Deny, Ask} {
			rules := Rules{List: []Rule{{Tool: "Bash", Effect: Allow}, {Tool: "Bash", Spec: c.rule, Effect: effect}}}
			q := Request{Tool: "Bash", Actions: []Action{Exec{Argv: c.argv, Spellings: Spellings{Loose: true, Open: []Open{c.open}}}}}
			for mode, then := range map[Mode]Effect{Default: Ask, Bypass: Ask, DontAsk: Deny} {
				want := Allow
				if c.want {
					want = then
				}
				if v := Decide(rules, mode, q); v.Effect != want {
					t.Errorf("%s Bash(%s), %q, %s: %s (%s), want %s", effect, c.rule, c.argv, mode, v.Effect, v.Reason, want)
				}
			}
		}
	}
}
