package runs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
)

// maxRecipes is how many lines of recipes are followed.
const maxRecipes = 200

// followMake adds makefiles, those they include, and what the recipes of the targets
// run. Variables that make alone knows are not followed.
func (r *Finder) followMake(args []string, dir, what string) {
	dir, files, targets := r.makeArgs(args, dir)
	if files == nil {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	rules, order := map[string]*rule{}, ""
	for i := 0; i < len(files) && i < 100; i++ {
		at := paths.Absolute(dir, r.Home, files[i])
		if !r.there(at, what) {
			continue
		}
		included, first := readMake(string(head(at, 1<<20)), rules)
		if order == "" {
			order = first
		}
		for _, f := range included {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	if targets == nil {
		targets = []string{order}
	}
	lines := 0
	for i := 0; i < len(targets) && i < maxRecipes; i++ {
		one := rules[targets[i]]
		if one == nil {
			continue
		}
		for _, n := range one.needs {
			if !slices.Contains(targets, n) {
				targets = append(targets, n)
			}
		}
		for _, l := range one.recipe {
			if lines++; lines <= maxRecipes {
				r.line(strings.NewReplacer("$(MAKE)", "make", "${MAKE}", "make", "$(CURDIR)", dir, "$$", "$").Replace(l), dir, what)
			}
		}
		for _, n := range one.needs { // sources of a program that is built first
			r.there(filepath.Join(dir, filepath.FromSlash(n)), what)
		}
	}
}

// makeArgs are the folder that make works in, the makefiles that its arguments name,
// and the targets.
func (r *Finder) makeArgs(args []string, dir string) (in string, files, targets []string) {
	in = dir
	for i := 0; i < len(args); i++ {
		a := args[i]
		value := func(names ...string) (string, bool) {
			for _, n := range names {
				if a == n && i+1 < len(args) {
					i++
					return args[i], true
				}
				if v, ok := strings.CutPrefix(a, n+"="); ok && strings.HasPrefix(n, "--") {
					return v, true
				}
				if v, ok := strings.CutPrefix(a, n); ok && v != "" && !strings.HasPrefix(n, "--") && !strings.HasPrefix(a, "--") {
					return v, true
				}
			}
			return "", false
		}
		if d, ok := value("-C", "--directory"); ok {
			in = paths.Absolute(in, r.Home, d)
		} else if f, ok := value("-f", "--file", "--makefile"); ok {
			files = append(files, f)
		} else if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			targets = append(targets, a)
		}
	}
	return in, files, targets
}

// A rule is what a makefile says of a target.
type rule struct{ needs, recipe []string }

// readMake reads the rules of a makefile: what it includes, and its first target.
func readMake(text string, rules map[string]*rule) (included []string, first string) {
	var now []*rule
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, t := range now {
				t.recipe = append(t.recipe, strings.TrimLeft(recipe, "@-+ "))
			}
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if slices.Contains([]string{"include", "-include", "sinclude"}, words[0]) {
			included = append(included, words[1:]...)
			continue
		}
		names, needs, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(needs, "=") || strings.HasPrefix(needs, ":=") || strings.Contains(names, "=") {
			continue
		}
		needs, inline, has := strings.Cut(strings.TrimPrefix(needs, ":"), ";")
		now = nil
		for _, n := range strings.Fields(names) {
			if rules[n] == nil {
				rules[n] = &rule{}
			}
			if now = append(now, rules[n]); first == "" && !strings.HasPrefix(n, ".") {
				first = n
			}
			rules[n].needs = append(rules[n].needs, strings.Fields(needs)...)
			if has {
				rules[n].recipe = append(rules[n].recipe, strings.TrimLeft(inline, "@-+ "))
			}
		}
	}
	return included, first
}
