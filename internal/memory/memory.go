// Package memory finds and reads memory files: what people and projects wrote
// down for the model. It reads regular text files inside allowed folders and
// nothing else, bounds and cleans what it reads, and says what it left out.
// It never writes and never decides what a text means.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds. The first two are defaults of settings.
const (
	defaultMaxBytes  = 256 << 10 // read of one file
	defaultWarnChars = 40_000
	maxDepth         = 5       // of imports
	maxFile          = 2 << 20 // larger files are not opened
	maxFiles         = 200     // of one start, imports included
)

// A Scope says whose a file is.
type Scope string

// Scopes, in the order they are read.
const (
	Managed Scope = "managed"
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local" // of one person's working copy
)

// A File is one memory file, ready to be shown to a model.
type File struct {
	Path  string // resolved
	Scope Scope
	Text  string
	// Notes say what is missing, for the model and for people.
	Notes []string
	// Warnings are for people only.
	Warnings []string
	// From is the file that imports this one, "" for none. Globs are what
	// made a rule apply.
	From  string
	Globs []string
}

// Options say where to look. Paths are absolute and resolved.
type Options struct {
	Managed []string // folders of managed settings: own, and the other agent's
	Config  string   // ~/.adze
	Home    string
	Claude  string   // ~/.claude where it is elsewhere; "": it is in Home
	Root    string   // the repository's root; "" when there is none
	Dir     string   // where the session starts
	Dirs    []string // further folders that imports may come from
	// Excludes are globs of files not to read, against the absolute path or
	// the path below Root.
	Excludes []string
	// Covered says why the content of a file may not be shown, "" when it may:
	// path is resolved, named as it is reached. nil shows everything.
	Covered   func(path, named string) string
	MaxBytes  int // 0 is 256 KB
	WarnChars int // 0 is 40,000
}

// A Reader reads each file once, over a session. Its methods may be called
// from several goroutines.
type Reader struct {
	o Options

	mu    sync.Mutex      // guards what follows
	seen  map[string]bool // resolved paths that were read or ruled out
	dirs  map[string]bool // folders that were looked into
	rules []rule          // those that wait for a file to match
	count int
}

type rule struct {
	path, base string // base: the folder its globs count from
	scope      Scope
	globs      []string
}

// New returns a reader that has read nothing.
func New(o Options) *Reader {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.WarnChars <= 0 {
		o.WarnChars = defaultWarnChars
	}
	if o.Root == "" || !paths.Within(o.Root, o.Dir) {
		o.Root = o.Dir
	}
	if o.Claude == "" && o.Home != "" {
		o.Claude = filepath.Join(o.Home, ".claude")
	}
	return &Reader{o: o, seen: map[string]bool{}, dirs: map[string]bool{}}
}

// Start reads what applies from the beginning, general files first: managed,
// the user's, then from the repository's root down to the working directory.
func (r *Reader) Start() []File {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []File
	for _, d := range r.o.Managed {
		out = append(out, r.first(d, Managed, "AGENTS.md", "CLAUDE.md")...)
	}
	if _, err := os.Lstat(filepath.Join(r.o.Config, "AGENTS.md")); err == nil || r.o.Claude == "" {
		own := r.first(r.o.Config, User, "AGENTS.md")
		if n := len(own); n > 0 && r.o.Claude != "" && r.leftOut(own[n-1], filepath.Join(r.o.Claude, "CLAUDE.md")) {
			own[n-1].Warnings = append(own[n-1].Warnings, "~/.claude/CLAUDE.md is not read where this file is; a line @~/.claude/CLAUDE.md in it reads both")
		}
		out = append(out, own...)
	} else {
		out = append(out, r.first(r.o.Claude, User, "CLAUDE.md")...)
	}
	if r.o.Claude != "" {
		out = append(out, r.rulesIn(filepath.Join(r.o.Claude, "rules"), r.o.Root, User)...)
	}
	out = append(out, r.rulesIn(filepath.Join(r.o.Config, "rules"), r.o.Root, User)...)
	for _, d := range between(r.o.Root, r.o.Dir) {
		out = append(out, r.folder(d)...)
	}
	return out
}

// Touched reads what begins to apply when a file (absolute path) is read or
// changed: memory files of the folders between the root and it, and
// rules whose globs match. Mostly that is nothing.
func (r *Reader) Touched(path string) []File {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []File
	if paths.Within(r.o.Root, path) {
		for _, d := range between(r.o.Root, filepath.Dir(path)) {
			out = append(out, r.folder(d)...)
		}
	}
	waiting := r.rules[:0]
	for _, u := range r.rules {
		rel, err := filepath.Rel(u.base, path)
		if err != nil || !filepath.IsLocal(rel) || !Applies(u.globs, filepath.ToSlash(rel)) {
			waiting = append(waiting, u)
			continue
		}
		out = append(out, r.read(u.path, u.scope, nil, u.globs)...)
	}
	r.rules = waiting
	return out
}

// folder reads one folder of the project.
func (r *Reader) folder(d string) []File {
	if r.dirs[d] {
		return nil
	}
	r.dirs[d] = true
	out := r.first(d, Project, "AGENTS.md", "CLAUDE.md", "GEMINI.md", filepath.Join(".claude", "CLAUDE.md"))
	out = append(out, r.first(d, Project, filepath.Join(".adze", "AGENTS.md"))...)
	out = append(out, r.rulesIn(filepath.Join(d, ".claude", "rules"), d, Project)...)
	out = append(out, r.rulesIn(filepath.Join(d, ".adze", "rules"), d, Project)...)
	return append(out, r.first(d, Local, "AGENTS.local.md", "CLAUDE.local.md")...)
}

// first reads the first of several names that exists.
func (r *Reader) first(dir string, scope Scope, names ...string) []File {
	if dir == "" {
		return nil
	}
	for i, n := range names {
		p := filepath.Join(dir, n)
		if _, err := os.Lstat(p); err == nil && !r.excluded(p) {
			out := r.read(p, scope, nil, nil)
			if len(out) > 0 {
				f := &out[len(out)-1]
				for _, other := range names[i+1:] {
					if r.leftOut(*f, filepath.Join(dir, other)) {
						f.Warnings = append(f.Warnings, fmt.Sprintf("%s beside it is not read: one file counts in a folder; a line @%[1]s in it reads both", filepath.ToSlash(other)))
					}
				}
			}
			return out
		}
	}
	return nil
}

// leftOut reports whether another file says something else than f, and is not read
// because f is there.
func (r *Reader) leftOut(f File, other string) bool {
	if _, err := os.Lstat(other); err != nil || r.excluded(other) {
		return false
	}
	real, text, note := r.open(other, f.Scope)
	if note != "" || r.seen[real] {
		return false
	}
	body, imports := parse(clip.Clean(text))
	body = strings.TrimSpace(body)
	return body != "" && body != f.Text && !slices.ContainsFunc(imports, func(im string) bool {
		to, err := place.Absolute(filepath.Dir(real), r.o.Home, im)
		return err == nil && filepath.Clean(to) == f.Path
	})
}

func (r *Reader) excluded(path string) bool {
	if len(r.o.Excludes) == 0 {
		return false
	}
	rel, err := filepath.Rel(r.o.Root, path)
	return matches(r.o.Excludes, filepath.ToSlash(path)) || err == nil && matches(r.o.Excludes, filepath.ToSlash(rel))
}

func matches(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := doublestar.Match(g, path)
		return err == nil && ok
	})
}

// Applies reports whether one of a rule's patterns names a file, as patterns of
// .gitignore do and so those of the same rules in other agents: one without a
// slash at any depth, and one that names a folder with all that is in it.
func Applies(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		g, rooted := strings.CutPrefix(g, "/")
		g = strings.TrimRight(g, "/")
		if !rooted && !strings.Contains(g, "/") {
			g = "**/" + g
		}
		return matches([]string{g, g + "/**"}, path)
	})
}

// maxRuleDepth is how deep folders of rules are looked through.
const maxRuleDepth = 5

// rulesIn reads a folder of rules and those in it, by name. Those with paths wait.
func (r *Reader) rulesIn(dir, base string, scope Scope) []File {
	return r.rulesBelow(dir, base, scope, 0)
}

func (r *Reader) rulesBelow(dir, base string, scope Scope, depth int) []File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []File
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.IsDir() && depth < maxRuleDepth && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, r.rulesBelow(p, base, scope, depth+1)...)
		}
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".md") || strings.HasPrefix(e.Name(), ".") || r.excluded(p) {
			continue
		}
		real, text, note := r.open(p, scope)
		if note != "" || r.seen[real] {
			if note != "" {
				out = append(out, r.read(p, scope, nil, nil)...)
			}
			continue
		}
		if globs, _, _ := frontMatter(text); len(globs) > 0 {
			r.rules = append(r.rules, rule{p, base, scope, globs})
			continue
		}
		out = append(out, r.read(p, scope, nil, nil)...)
	}
	return out
}

// read reads a file and, before it, what it imports. chain are the files that
// led here.
func (r *Reader) read(path string, scope Scope, chain, globs []string) []File {
	real, text, note := r.open(path, scope)
	if r.seen[real] {
		return nil
	}
	r.seen[real] = true
	if r.count++; r.count > maxFiles {
		if r.count == maxFiles+1 {
			return []File{{Path: path, Scope: scope, Notes: []string{fmt.Sprintf("not read: more than %d memory files", maxFiles)}}}
		}
		return nil
	}
	f := File{Path: real, Scope: scope, Globs: globs}
	if len(chain) > 0 {
		f.From = chain[len(chain)-1]
	}
	if note != "" {
		f.Path, f.Notes = path, []string{note}
		return []File{f}
	}
	if len(text) > r.o.MaxBytes {
		gone := len(text) - r.o.MaxBytes
		text, _ = clip.Head(text, r.o.MaxBytes)
		f.Notes = append(f.Notes, fmt.Sprintf("cut after %s; %s more in the file", clip.Size(int64(r.o.MaxBytes)), clip.Size(int64(gone))))
	}
	text = clip.Clean(text)
	_, body, bad := frontMatter(text)
	if bad != "" {
		f.Warnings = append(f.Warnings, bad)
	}
	body, imports := parse(body)
	var out []File
	for _, im := range imports {
		files, note := r.imported(im, real, scope, append(slices.Clone(chain), real))
		out = append(out, files...)
		if note != "" {
			f.Notes = append(f.Notes, "@"+im+": "+note)
		}
	}
	f.Text = strings.TrimSpace(body)
	if n := utf8.RuneCountInString(f.Text); n > r.o.WarnChars {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d characters; over %d a memory file costs much and is followed less", n, r.o.WarnChars))
	}
	return append(out, f)
}

// imported reads an import; note says why it was not.
func (r *Reader) imported(name, from string, scope Scope, chain []string) (files []File, note string) {
	path, err := place.Absolute(filepath.Dir(from), r.o.Home, name)
	if err != nil {
		return nil, "not read: " + err.Error()
	}
	path = filepath.Clean(path)
	if len(chain) > maxDepth {
		return nil, fmt.Sprintf("not read: imports go only %d deep", maxDepth)
	}
	if policy.HoldsSecrets(path) {
		return nil, "not read: it may hold secrets"
	}
	real, _, why := r.open(path, scope)
	switch {
	case slices.Contains(chain, real):
		return nil, "not read again: it imports itself"
	case why != "":
		return nil, why
	case policy.HoldsSecrets(real):
		return nil, "not read: it may hold secrets"
	}
	return r.read(path, scope, chain, nil), ""
}

// open reads a regular text file in a folder its scope may read from, after
// all links are followed. note says why there is no text.
func (r *Reader) open(path string, scope Scope) (real, text, note string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, "", "not read: " + reason(err)
	}
	if !paths.WithinAny(r.allowed(scope), real) {
		return real, "", "not read: it is outside the folders that " + string(scope) + " memory may come from"
	}
	if policy.HoldsSecrets(filepath.Base(real)) {
		return real, "", "not read: it may hold secrets"
	}
	if r.o.Covered != nil && scope != Managed {
		if why := r.o.Covered(real, path); why != "" {
			return real, "", "not read: " + why
		}
	}
	b, err := confedit.Disk{}.Read(real, maxFile)
	if err != nil {
		return real, "", "not read: " + reason(err)
	}
	if clip.Binary(b) {
		return real, "", "not read: it is not text"
	}
	return real, strings.TrimPrefix(string(b), "\ufeff"), ""
}

// allowed are the folders that files of a scope, and what they import, may be in.
func (r *Reader) allowed(scope Scope) []string {
	var dirs []string
	switch scope {
	case Managed:
		dirs = r.o.Managed
	case User:
		dirs = []string{r.o.Config, r.o.Home, r.o.Claude}
	case Project, Local:
		dirs = append([]string{r.o.Root, r.o.Dir}, r.o.Dirs...)
	}
	out := slices.Clone(dirs)
	for _, d := range dirs { // settings folders are often links themselves
		if real, err := filepath.EvalSymlinks(d); err == nil && real != d {
			out = append(out, real)
		}
	}
	return out
}

// between lists the folders from root down to dir, both included.
func between(root, dir string) []string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return []string{dir}
	}
	out := []string{root}
	if rel == "." {
		return out
	}
	at := root
	for seg := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, seg)
		out = append(out, at)
	}
	return out
}

// reason is an error without the path, which is said already.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file"
	}
	return paths.Cause(err).Error()
}
