package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
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

// A Go file, a package or a page that the documentation names is there: docs/architecture.md
// and its kind are read before the code.
func TestDocsNameFiles(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	path, n := regexp.MustCompile("`((?:[a-z0-9_]+/)+[a-z0-9_]+\\.go|internal(?:/[a-z0-9_]+)+)`"), 0
	for _, page := range append(pages, "../../CONTRIBUTING.md", "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			n++
			if !there("../../"+m[1]) && !there("../../internal/"+m[1]) && !there("../../internal/ui/"+m[1]) {
				t.Errorf("%s names %s, which is not there", filepath.Base(page), m[1])
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d files are named", n)
	}
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }
