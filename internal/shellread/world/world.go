// Package world is what the meaning of a shell script depends on besides its
// text: folders, files, repositories. It only looks, through functions it is
// given.
package world

// A World is what a script's meaning depends on. Its functions may look at
// the file system but never change it. They run nothing but Changed, which starts git.
type World struct {
	Dir  string // where the script starts: absolute, resolved
	Home string
	// Dirs are the folders that may be written: absolute, resolved. Dir may be below one.
	Dirs []string
	// Writes reports whether commands may write a path, wherever it is; nil means that
	// nobody knows more than Dirs.
	Writes func(path string) bool
	// Real resolves every symlink of an absolute path, also when its last
	// components do not exist yet. nil cleans the path lexically.
	Real func(path string) (string, error)
	// Glob lists what a pattern (absolute; a backslash makes the next
	// character literal) matches now, as bash does: a wildcard never matches a
	// leading dot. nil, as function or result, means unknown.
	Glob func(pattern string) []string
	// Git says whether git in this folder runs nothing but git, and if not, why.
	// nil means it was not looked at, and git is not read-only.
	Git func(dir string) (ok bool, why string)
	// GitUnpinned is Git for one that runs without pinned settings. nil means it
	// was not looked at.
	GitUnpinned func(dir string) (ok bool, why string)
	// Repo is the git folder that a folder belongs to, and the one that it shares
	// with other worktrees; ok is false where there is none. nil means unknown.
	Repo func(dir string) (common, git string, ok bool)
	// Program says why the program that a name stands for in an environment
	// which is not pinned may be another one than the system's, "" when it is that.
	// nil means that the environment is a plain one.
	Program func(name string) (why string)
	// Tree lists what stands below a folder (resolved) now, without following
	// links; a folder that is not there, or that may not be listed, is empty. ok
	// is false when there are more than most entries. nil means unknown.
	Tree func(dir string, most int) (l Listing, ok bool)
	// Searched is Tree without what git ignores, for searches that leave that out; ok is
	// also false where dir is in no repository, and where another kind of ignore file
	// takes names out again. nil means unknown.
	Searched func(dir string, most int) (l Listing, ok bool)
	// Text is what a regular file holds; ok is false when it is too large to look at, or
	// cannot be read. nil means unknown.
	Text func(path string) (text string, ok bool)
	// Packed lists the names in an archive, as unzip finds them (zipped) or as tar does; ok
	// is false for one that cannot be looked into, or where a name leads through a link in
	// it. nil means unknown.
	Packed func(path string, zipped bool) (names []string, ok bool)
	// Changed lists the files, as absolute paths, that two commits of a folder's repository
	// do not have alike; ok is false when that is not known, or one is no commit. nil means
	// that nobody can look. Only git itself knows, so it is asked, with pinned settings, for
	// some seconds at the most, and only in a repository where it then runs nothing else.
	// A from that ends in ... is the newest commit that both have (git merge-base); "" is one
	// with no files, and a to of "" the work tree.
	Changed func(dir, from, to string) (files []string, ok bool)
	// Bisected lists the files that any commit changes between some commits, HEAD and those
	// that git bisect is at; a name that is no commit counts for nothing. It is as Changed.
	Bisected func(dir string, commits []string) (files []string, ok bool)
	// Tracked lists the files below a folder that its git repository tracks, as
	// absolute paths; ok is false when that is not known. nil means unknown.
	Tracked func(dir string, most int) (files []string, ok bool)
}

// A Listing is what stands below a folder.
type Listing struct {
	Entries []Entry
	// Unhides means that an ignore file in the folder, above or below it may
	// make a search look at names that begin with a dot.
	Unhides bool
	// Closed means that a folder could not be listed.
	Closed bool
}

// An Entry is one file, folder or link. Name is its path below the folder of
// the Listing, with slashes.
type Entry struct {
	Name      string
	Dir, Link bool
}
