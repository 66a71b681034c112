package world

import (
	"path"
	"strings"
)

// Bounds of what one script looks at.
const (
	MaxListed  = 50_000  // entries of folders listed
	maxRepos   = 100     // folders that git works in
	maxTracked = 200_000 // files that one git command is judged by
)

// A Cache asks a World, and each question once: a script is read against one
// state of the file system.
type Cache struct {
	World   World
	globs   map[string][]string
	reals   map[string]resolved
	gits    map[string]string // why git is not safe in a folder, "" when it is
	trees   map[string]listed
	found   map[string]listed // Searched
	indexes map[string]indexed
	walked  int // entries of trees that were listed so far
}

// Real is World.Real.
func (c *Cache) Real(p string) (string, error) {
	if c.World.Real == nil {
		return path.Clean(p), nil
	}
	if got, ok := c.reals[p]; ok {
		return got.path, got.err
	}
	var got resolved
	got.path, got.err = c.World.Real(p)
	if c.reals == nil {
		c.reals = map[string]resolved{}
	}
	c.reals[p] = got
	return got.path, got.err
}

// resolved is what World.Real said of a path; a script is read against one
// state of the file system.
type resolved struct {
	path string
	err  error
}

// Glob is World.Glob.
func (c *Cache) Glob(full string) []string {
	if c.World.Glob == nil {
		return nil
	}
	if got, ok := c.globs[full]; ok {
		return got
	}
	got := c.World.Glob(full)
	if c.globs == nil {
		c.globs = map[string][]string{}
	}
	c.globs[full] = got
	return got
}

// GlobBase is the folder of a pattern above its first wildcard.
func GlobBase(p string) string {
	var out []string
	for _, seg := range strings.Split(p, "/") {
		plain, wild := strings.Builder{}, false
		for i := 0; i < len(seg); i++ {
			if strings.IndexByte("*?[", seg[i]) >= 0 {
				wild = true
				break
			}
			if seg[i] == '\\' && i+1 < len(seg) {
				i++
			}
			plain.WriteByte(seg[i])
		}
		if wild {
			break
		}
		out = append(out, plain.String())
	}
	base := strings.Join(out, "/")
	if base == "" {
		return "/"
	}
	return base
}

// EscapeGlob is a pattern that matches s alone.
func EscapeGlob(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// IsFolder reports whether a folder is surely there now.
func (c *Cache) IsFolder(p string) bool {
	if c.World.Glob == nil {
		return false
	}
	return len(c.Glob(EscapeGlob(p)+"/.")) > 0
}

// GitWhy asks the World about a folder once; it says why git is not safe there.
func (c *Cache) GitWhy(dir string) string {
	if why, known := c.gits[dir]; known {
		return why
	}
	if len(c.gits) >= maxRepos {
		return "it works in too many folders to look at"
	}
	ok, why := c.World.Git(dir)
	switch {
	case ok:
		why = ""
	case why == "":
		why = "nobody said why not"
	}
	if c.gits == nil {
		c.gits = map[string]string{}
	}
	c.gits[dir] = why
	return why
}

// Tracked lists the files of a repository, once.
func (c *Cache) Tracked(top string) (files []string, ok bool) {
	if got, known := c.indexes[top]; known {
		return got.files, got.ok
	}
	if c.World.Tracked != nil {
		files, ok = c.World.Tracked(top, maxTracked)
	}
	if c.indexes == nil {
		c.indexes = map[string]indexed{}
	}
	c.indexes[top] = indexed{files, ok}
	return files, ok
}

// indexed is what World.Tracked said.
type indexed struct {
	files []string
	ok    bool
}

// Repo is the git folder that a folder belongs to, and the one it shares with
// other worktrees.
func (c *Cache) Repo(dir string) (common, git string, ok bool) {
	if c.World.Repo == nil {
		return "", "", false
	}
	return c.World.Repo(dir)
}

// Tree lists a folder, once; ok is false when not all of it is known.
func (c *Cache) Tree(dir string) (l Listing, ok bool) { return c.list(c.World.Tree, &c.trees, dir) }

// Searched lists what a search looks at that leaves out what git ignores, once.
func (c *Cache) Searched(dir string) (l Listing, ok bool) {
	return c.list(c.World.Searched, &c.found, dir)
}

func (c *Cache) list(ask func(string, int) (Listing, bool), known *map[string]listed, dir string) (l Listing, ok bool) {
	if ask == nil {
		return Listing{}, false
	}
	if got, asked := (*known)[dir]; asked {
		return got.Listing, got.ok
	}
	var got listed
	if room := MaxListed - c.walked; room > 0 {
		got.Listing, got.ok = ask(dir, room)
		c.walked += len(got.Entries)
	}
	if *known == nil {
		*known = map[string]listed{}
	}
	(*known)[dir] = got
	return got.Listing, got.ok
}

// listed is what World.Tree and World.Searched said.
type listed struct {
	Listing
	ok bool
}

// GitTop is the folder of the repository around a folder, as far as is known.
func (c *Cache) GitTop(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if c.World.Glob != nil && len(c.Glob(EscapeGlob(strings.TrimSuffix(at, "/"))+"/.git")) > 0 {
			return at
		}
		if at == path.Dir(at) {
			return dir
		}
	}
}
