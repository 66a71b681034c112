package shellread

import (
	"path"
	"strings"
)

// A cache asks a World, and each question once: a script is read against one
// state of the file system.
type cache struct {
	world   World
	globs   map[string][]string
	reals   map[string]resolved
	gits    map[string]string // why git is not safe in a folder, "" when it is
	trees   map[string]listed
	indexes map[string]indexed
	walked  int // entries of trees that were listed so far
}

func (c *cache) real(p string) (string, error) {
	if c.world.Real == nil {
		return path.Clean(p), nil
	}
	if got, ok := c.reals[p]; ok {
		return got.path, got.err
	}
	var got resolved
	got.path, got.err = c.world.Real(p)
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

func (c *cache) glob(full string) []string {
	if c.world.Glob == nil {
		return nil
	}
	if got, ok := c.globs[full]; ok {
		return got
	}
	got := c.world.Glob(full)
	if c.globs == nil {
		c.globs = map[string][]string{}
	}
	c.globs[full] = got
	return got
}

// globBase is the folder of a pattern above its first wildcard.
func globBase(p string) string {
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

func escapeGlob(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isFolder reports whether a folder is surely there now.
func (c *cache) isFolder(p string) bool {
	if c.world.Glob == nil {
		return false
	}
	return len(c.glob(escapeGlob(p)+"/.")) > 0
}

// git asks the World about a folder once; it says why git is not safe there.
func (c *cache) git(dir string) string {
	if why, known := c.gits[dir]; known {
		return why
	}
	ok, why := c.world.Git(dir)
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

// tracked lists the files of a repository, once.
func (c *cache) tracked(top string) (files []string, ok bool) {
	if got, known := c.indexes[top]; known {
		return got.files, got.ok
	}
	if c.world.Tracked != nil {
		files, ok = c.world.Tracked(top, maxTracked)
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

// repo is the git folder that a folder belongs to, and the one it shares with
// other worktrees.
func (c *cache) repo(dir string) (common, git string, ok bool) {
	if c.world.Repo == nil {
		return "", "", false
	}
	return c.world.Repo(dir)
}

// tree lists a folder, once; ok is false when not all of it is known.
func (c *cache) tree(dir string) (l Listing, ok bool) {
	if c.world.Tree == nil {
		return Listing{}, false
	}
	if got, known := c.trees[dir]; known {
		return got.Listing, got.ok
	}
	var got listed
	if room := maxBelow - c.walked; room > 0 {
		got.Listing, got.ok = c.world.Tree(dir, room)
		c.walked += len(got.Entries)
	}
	if c.trees == nil {
		c.trees = map[string]listed{}
	}
	c.trees[dir] = got
	return got.Listing, got.ok
}

// listed is what World.Tree said.
type listed struct {
	Listing
	ok bool
}

// gitTop is the folder of the repository around a folder, as far as is known.
func (c *cache) gitTop(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if c.world.Glob != nil && len(c.glob(escapeGlob(strings.TrimSuffix(at, "/"))+"/.git")) > 0 {
			return at
		}
		if at == path.Dir(at) {
			return dir
		}
	}
}
