package archtest

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// Every test that docs/reliability.md names exists in the package it names.
func TestReliabilityNamesTests(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", "../..", "grep", "-hoE", `^func Test\w+\(`, "--", "internal/*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range regexp.MustCompile(`Test\w+`).FindAllString(string(out), -1) {
		have[m] = true
	}
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(doc), -1)
	for _, n := range names {
		if !have[n[1]] {
			t.Errorf("docs/reliability.md names %s, which is not there", n[1])
		}
	}
	if len(names) < 60 {
		t.Errorf("only %d tests are named", len(names))
	}
}
