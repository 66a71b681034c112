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
	"github.com/adze-agent/adze/internal/text/charset"
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
	Claude  string // ~/.claude where it is elsewhere; "": it is in Home
	Root    string // the repository's root; "" when there is none
	Dir     string // where the session starts
	// Imports are files and folders outside of the repository that its files may
	// import from.
	Imports []string
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
	of         owner
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

// Start reads what applies from the beginning, general files first: managed, the
// user's, those of the folders above the repository from the topmost on, then from
// the repository's root down to the working directory.
func (r *Reader) Start() []File {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []File
	for _, d := range r.o.Managed {
		out = append(out, r.beside(d, r.managed(), "AGENTS.md", "CLAUDE.md")...)
	}
	if _, err := os.Lstat(filepath.Join(r.o.Config, "AGENTS.md")); err == nil || r.o.Claude == "" {
		own := r.beside(r.o.Config, r.person(), "AGENTS.md")
		if r.o.Claude != "" {
			r.fallback(own, filepath.Join(r.o.Claude, "CLAUDE.md"), r.person(),
				"~/.claude/CLAUDE.md is not read where this file is; a line @~/.claude/CLAUDE.md in it reads both")
		}
		out = append(out, own...)
	} else {
		out = append(out, r.beside(r.o.Claude, r.person(), "CLAUDE.md")...)
	}
	if r.o.Claude != "" {
		out = append(out, r.rulesIn(filepath.Join(r.o.Claude, "rules"), r.o.Root, r.person())...)
	}
	out = append(out, r.rulesIn(filepath.Join(r.o.Config, "rules"), r.o.Root, r.person())...)
	for _, d := range above(r.o.Root) {
		out = append(out, r.outside(d)...)
	}
	for _, d := range between(r.o.Root, r.o.Dir) {
		out = append(out, r.folder(d, r.project())...)
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
			out = append(out, r.folder(d, r.project())...)
		}
	}
	waiting := r.rules[:0]
	for _, u := range r.rules {
		rel, err := filepath.Rel(u.base, path)
		if err != nil || !filepath.IsLocal(rel) || !Applies(u.globs, filepath.ToSlash(rel)) {
			waiting = append(waiting, u)
			continue
		}
		out = append(out, r.read(u.path, u.of, nil, u.globs)...)
	}
	r.rules = waiting
	return out
}

// folder reads one folder of the project, or above it.
func (r *Reader) folder(d string, of owner) []File {
	if r.dirs[d] {
		return nil
	}
	r.dirs[d] = true
	out := r.beside(d, of, "AGENTS.md", "CLAUDE.md", filepath.Join(".claude", "CLAUDE.md"))
	if len(out) == 0 {
		out = r.beside(d, of, "GEMINI.md")
	} else {
		r.fallback(out, filepath.Join(d, "GEMINI.md"), of, "GEMINI.md beside it is not read where AGENTS.md or CLAUDE.md is; a line @GEMINI.md in it reads both")
	}
	out = append(out, r.beside(d, of, filepath.Join(".adze", "AGENTS.md"))...)
	out = append(out, r.rulesIn(filepath.Join(d, ".claude", "rules"), d, of)...)
	out = append(out, r.rulesIn(filepath.Join(d, ".adze", "rules"), d, of)...)
	return append(out, r.beside(d, of.here(), "AGENTS.local.md", "CLAUDE.local.md")...)
}

// beside reads all of several names that are in a folder. A text that two of them
// have comes once, and so does a file that only points at the one before it.
func (r *Reader) beside(dir string, of owner, names ...string) []File {
	if dir == "" {
		return nil
	}
	var out []File
	var texts []string
	for _, n := range names {
		p := filepath.Join(dir, n)
		if _, err := os.Lstat(p); err != nil || r.excluded(p) {
			continue
		}
		files := r.read(p, of, nil, nil)
		if i := len(files) - 1; i >= 0 && len(files[i].Notes)+len(files[i].Warnings) == 0 {
			text := files[i].Text
			if text == "" || slices.Contains(texts, text) || len(texts) > 0 && pointer(text) {
				files = files[:i]
			}
			texts = append(texts, text)
		}
		out = append(out, files...)
	}
	return out
}

// pointer reports whether a text is nothing but imports.
func pointer(text string) bool {
	return !slices.ContainsFunc(strings.Fields(text), func(w string) bool { return !strings.HasPrefix(w, "@") })
}

// fallback warns at the last of the files that were read of another file, which is
// not read because they are there, where it says something else.
func (r *Reader) fallback(read []File, other string, of owner, warning string) {
	if len(read) == 0 {
		return
	}
	if _, err := os.Lstat(other); err != nil || r.excluded(other) {
		return
	}
	real, text, note := r.open(other, of)
	if note != "" || r.seen[real] {
		return
	}
	body, imports := parse(clip.Clean(text))
	body = strings.TrimSpace(body)
	same := slices.ContainsFunc(read, func(f File) bool {
		return body == f.Text || slices.ContainsFunc(imports, func(im string) bool {
			to, err := place.Absolute(filepath.Dir(real), r.o.Home, im)
			return err == nil && filepath.Clean(to) == f.Path
		})
	})
	if body != "" && !same {
		last := &read[len(read)-1]
		last.Warnings = append(last.Warnings, warning)
	}
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
func (r *Reader) rulesIn(dir, base string, of owner) []File {
	return r.rulesBelow(dir, base, of, 0)
}

func (r *Reader) rulesBelow(dir, base string, of owner, depth int) []File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []File
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.IsDir() && depth < maxRuleDepth && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, r.rulesBelow(p, base, of, depth+1)...)
		}
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".md") || strings.HasPrefix(e.Name(), ".") || r.excluded(p) {
			continue
		}
		real, text, note := r.open(p, of)
		if note != "" || r.seen[real] {
			if note != "" {
				out = append(out, r.read(p, of, nil, nil)...)
			}
			continue
		}
		if globs, _, _ := frontMatter(text); len(globs) > 0 {
			r.rules = append(r.rules, rule{p, base, of, globs})
			continue
		}
		out = append(out, r.read(p, of, nil, nil)...)
	}
	return out
}

// read reads a file and, before it, what it imports. chain are the files that
// led here.
func (r *Reader) read(path string, of owner, chain, globs []string) []File {
	real, text, note := r.open(path, of)
	if r.seen[real] {
		return nil
	}
	r.seen[real] = true
	if r.count++; r.count > maxFiles {
		if r.count == maxFiles+1 {
			return []File{{Path: path, Scope: of.scope, Notes: []string{fmt.Sprintf("not read: more than %d memory files", maxFiles)}}}
		}
		return nil
	}
	f := File{Path: real, Scope: of.scope, Globs: globs}
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
		files, note := r.imported(im, real, of.bound(len(chain)), append(slices.Clone(chain), real))
		out = append(out, files...)
		if note != "" {
			f.Notes = append(f.Notes, "@"+im+": "+note)
		}
		if note == of.strange() && of.scope != Managed {
			f.Warnings = append(f.Warnings, fmt.Sprintf("@%s is not read: it is outside of %s; the setting memory.imports allows it, or a line @%[1]s in ~/.adze/AGENTS.md, which is your own", im, of.where()))
		}
	}
	f.Text = strings.TrimSpace(body)
	if n := utf8.RuneCountInString(f.Text); n > r.o.WarnChars {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d characters; over %d a memory file costs much and is followed less", n, r.o.WarnChars))
	}
	return append(out, f)
}

// imported reads an import; note says why it was not.
func (r *Reader) imported(name, from string, of owner, chain []string) (files []File, note string) {
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
	real, _, why := r.open(path, of)
	switch {
	case slices.Contains(chain, real):
		return nil, "not read again: it imports itself"
	case why != "":
		return nil, why
	case policy.HoldsSecrets(real):
		return nil, "not read: it may hold secrets"
	}
	return r.read(path, of, chain, nil), ""
}

// open reads a regular text file in a folder its scope may read from, after
// all links are followed. note says why there is no text.
func (r *Reader) open(path string, of owner) (real, text, note string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, "", "not read: " + reason(err)
	}
	if !of.may(real) {
		return real, "", of.strange()
	}
	if of.checked && !mine(path, r.o.Home, false) {
		return real, "", "not read: it belongs to somebody else, or others can write it"
	}
	if policy.HoldsSecrets(filepath.Base(real)) {
		return real, "", "not read: it may hold secrets"
	}
	if r.o.Covered != nil && of.scope != Managed {
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
	text, _ = charset.Decode(b)
	return real, strings.TrimPrefix(text, "\ufeff"), ""
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
