package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each command has a script that runs it with success, and one that is
// refused with an exit code.
func TestEveryCommandHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder // the lines that may run something
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, " adze ") {
				all.WriteString(line)
			}
		}
	}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			look(sub)
		}
		if !c.HasParent() || c.Hidden || c.Name() == "help" {
			return
		}
		path := regexp.QuoteMeta(c.CommandPath())
		terminal := slices.Contains([]string{"adze attach", "adze config edit", "adze mcp login"}, c.CommandPath()) // or a browser, where no script is
		if c.Runnable() && !c.HasSubCommands() && !terminal && !regexp.MustCompile(`(?m)^(\[[^]]*\] )*(exec|code 0) `+path+`( |$)`).MatchString(all.String()) {
			t.Errorf("no script runs %q", c.CommandPath())
		}
		if !regexp.MustCompile(`(?m)^(\[[^]]*\] )*code [1-9] ` + path + `( |$)`).MatchString(all.String()) {
			t.Errorf("no script has the exit code of %q with bad input", c.CommandPath())
		}
	}
	look(newRoot(System{}))
}

// The lines of TestEveryCommand are all commands but those that send something,
// ask somebody or do not end.
func TestEverydayIsAll(t *testing.T) {
	b, err := os.ReadFile("every_unix_test.go")
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"attach", "config edit", "demo", "login", "logout", "mcp login", "mcp serve", "record", "replay", "sandbox check", "send", "tail", "workflow run"}
	commands(func(c *cobra.Command) {
		if !c.HasParent() || c.HasSubCommands() {
			return
		}
		there := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(under(c)) + `( |$)`).Match(b)
		if !there && !slices.Contains(others, under(c)) {
			t.Errorf("no line of everyday runs adze %s", under(c))
		}
	})
}
