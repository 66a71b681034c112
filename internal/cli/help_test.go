package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands calls f for adze and each of its commands.
func commands(f func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		f(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(System{}))
}

func TestHelpFitsATerminal(t *testing.T) {
	commands(func(c *cobra.Command) {
		var b bytes.Buffer
		writeHelp(&b, c)
		if !c.HasParent() {
			writeFlags(&b, shownFlags(c.PersistentFlags()))
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth+8 { // Long texts are folded by hand
				t.Errorf("%s: a line of %d: %s", c.CommandPath(), n, line)
			}
		}
		if global := strings.Contains(b.String(), "--max-turns"); global == c.HasParent() {
			t.Errorf("%s: whether the global flags are in its help: %v", c.CommandPath(), global)
		}
	})
}

func TestFlagValuesAreWords(t *testing.T) {
	texts := []string{"system-prompt", "append-system-prompt"}
	used := map[string]bool{}
	commands(func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			used[f.Name] = true
			if !f.Hidden && valueWord(f) == "TEXT" && !slices.Contains(texts, f.Name) {
				t.Errorf("%s: what --%s takes has no word", c.CommandPath(), f.Name)
			}
		})
	})
	for name := range words {
		if !used[name] {
			t.Errorf("no command has the flag --%s", name)
		}
	}
}

var reads = regexp.MustCompile(`(?i:\benv)\("([A-Z_]+)"\)`)

var upper = regexp.MustCompile(`[A-Z][A-Z_]+`)

// What is read of the environment stands in "adze help environment".
func TestHelpNamesEveryVariable(t *testing.T) {
	known := map[string]bool{}
	for _, v := range variables {
		for _, name := range upper.FindAllString(v.name+" "+v.what, -1) {
			known[name] = true
		}
	}
	seen := 0
	for _, f := range sources(t).files {
		for _, m := range reads.FindAllSubmatch(f.text, -1) {
			if seen++; !known[string(m[1])] {
				t.Errorf("%s reads %s, which the variables in environment.go do not name", f.path, m[1])
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d places read a variable: the pattern is wrong", seen)
	}
}

// sources are the files of adze that are no tests: read and parsed once for all that
// look at them.
func sources(t *testing.T) *tree {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A tree is adze's own sources.
type tree struct {
	pos   *token.FileSet
	files []sourceFile
}

type sourceFile struct {
	path   string
	text   []byte
	parsed *ast.File // without comments
}

var readSources = sync.OnceValues(func() (*tree, error) {
	all := &tree{pos: token.NewFileSet()}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(all.pos, path, text, parser.SkipObjectResolution)
		all.files = append(all.files, sourceFile{path, text, file})
		return err
	})
	return all, err
})

// A command that takes arguments shows how it is used, and each example works as it
// would when a person typed it.
func TestHelpShowsExamples(t *testing.T) {
	there := map[string]bool{}
	leaves(func(c *cobra.Command, path []string) {
		there[under(c)] = true
		list := examples[under(c)]
		if len(strings.Fields(c.Use)) > 1 && len(list) == 0 && !strings.Contains(c.Long, "adze "+under(c)) {
			t.Errorf("the help of %s has no example", under(c))
		}
		for _, line := range list {
			words := regexp.MustCompile(`'[^']*'|"[^"]*"|<\S+|[^\s'"]+`).FindAllString(line, -1)
			words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "<") }) // the shell's
			given := words[1+len(path):]
			if !strings.HasPrefix(line, "adze "+under(c)) {
				t.Errorf("%s: the example %q is of another command", under(c), line)
			} else if err := c.ParseFlags(given); err != nil {
				t.Errorf("%s: the example %q: %v", under(c), line, err)
			} else if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				t.Errorf("%s: the example %q: %v", under(c), line, err)
			}
		}
	})
	there["replay"] = true // it reads its flags itself
	commands(func(c *cobra.Command) { there[under(c)] = true })
	for name := range examples {
		if !there[name] {
			t.Errorf("there is no command %q to have examples", name)
		}
	}
	for name := range explanations {
		if !there[name] {
			t.Errorf("there is no command %q to explain", name)
		}
	}
}
