package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A step puts one path into the view of the file system that starts as all
// of it, read-only. Steps are in the order of their paths, so what is inside
// another comes after it.
type step struct {
	path string
	do   action
}

type action int

const (
	write   action = iota // writable
	pin                   // writable, and can be neither renamed nor removed
	keep                  // read-only
	hideDir               // unreadable
	hideFile
	reveal // read-only, inside something hidden
)

// layout works out the steps for what is on disk now. links are those on the
// way to protected paths: no bind can hold one in its place.
func (p Policy) layout() (steps []step, links []string) {
	l := &layout{policy: p, at: map[string]action{}}
	for _, w := range p.Writable {
		if info, err := os.Stat(w); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			l.at[w] = write
		}
	}
	for _, g := range p.Git {
		for _, guard := range conf.Guards(g, p.holds[g]) {
			l.protect(guard)
		}
	}
	for _, g := range p.Protected {
		l.protect(g)
	}
	l.release(p.open)
	for _, f := range p.Fixed {
		if l.protect(f); l.at[f] == write || l.at[f] == pin {
			l.at[f] = keep
		}
	}
	absent := absentBelow(p.home)
	for _, h := range p.Hidden {
		if absent(h) {
			continue
		}
		if info, err := os.Stat(h); err == nil {
			if !info.IsDir() && barred(h, info) {
				continue // /etc/shadow, for most: each mount costs a command a fifth of a millisecond
			}
			l.pinAbove(h)
			l.at[h] = hideFile
			if info.IsDir() {
				l.at[h] = hideDir
			}
		}
	}
	for _, r := range p.Readable {
		if paths.WithinAny(p.Hidden, r) && exists(r) {
			l.at[r] = reveal
		}
	}
	for path, do := range l.at {
		steps = append(steps, step{path, do})
	}
	order.By(steps, func(a, b step) int { return strings.Compare(a.path, b.path) })
	slices.Sort(l.links)
	return steps, slices.Compact(l.links)
}

// maxHome bounds the names of a home folder that are looked at, in place of each path
// that may hold secrets: there are more than three hundred, and next to none of them is there.
const maxHome = 1000

// absentBelow tells of paths below a folder which are certainly not there, from one
// listing of it. Names are compared without their case, as the folder may do.
func absentBelow(dir string) func(path string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return func(string) bool { return false }
	}
	defer f.Close()
	list, err := f.Readdirnames(maxHome)
	if len(list) == maxHome || err != nil && !errors.Is(err, io.EOF) {
		return func(string) bool { return false }
	}
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[strings.ToLower(name)] = true
	}
	return func(path string) bool {
		rel, below := strings.CutPrefix(path, dir+"/")
		name, _, _ := strings.Cut(rel, "/")
		return below && name != "" && !names[strings.ToLower(name)]
	}
}

type layout struct {
	policy Policy
	at     map[string]action
	links  []string
}

func (l *layout) set(path string, do action) {
	if old, ok := l.at[path]; !ok || old == pin {
		l.at[path] = do
	}
}

// release lets the open paths be written. What is protected and lies inside one
// stays so no longer; of a protected folder that holds one, the folder that the
// path is in becomes writable, because files are replaced by renaming.
func (l *layout) release(open []string) {
	for _, o := range open {
		held := maps.Clone(l.at)
		maps.DeleteFunc(l.at, func(at string, do action) bool { return do == pin && paths.Within(o, at) })
		for at, do := range held {
			switch {
			case do != keep:
			case paths.Within(o, at):
				delete(l.at, at)
				for d := at; isDir(at) && paths.Within(o, d); d = filepath.Dir(d) {
					l.set(d, pin)
				}
			case paths.Within(at, o):
				in := filepath.Dir(o)
				for in != at && !isDir(in) {
					in = filepath.Dir(in)
				}
				l.at[in] = write
			}
		}
	}
}

// protect keeps path as it is, with everything above it up to the writable
// folder in its place. What does not exist is not kept from coming into being:
// that is for settling.
func (l *layout) protect(path string) { l.follow(path, 0) }

// pinAbove keeps the folders between a writable one and path in their places:
// under another name, nobody would know what is hidden.
func (l *layout) pinAbove(path string) {
	for at := filepath.Dir(path); slices.ContainsFunc(l.policy.Writable, func(w string) bool { return w != at && paths.Within(w, at) }); at = filepath.Dir(at) {
		l.set(at, pin)
	}
}

// maxHops bounds links that lead to links.
const maxHops = 8

func (l *layout) follow(path string, hops int) {
	i := slices.IndexFunc(l.policy.Writable, func(w string) bool { return paths.Within(w, path) })
	if i < 0 {
		return // read-only already
	}
	root := l.policy.Writable[i]
	if path == root {
		l.at[path] = keep
		return
	}
	rel, _ := filepath.Rel(root, path)
	parts := strings.Split(rel, string(filepath.Separator))
	at := root
	for n, name := range parts {
		at = filepath.Join(at, name)
		last := n == len(parts)-1
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return
		case info.Mode()&fs.ModeSymlink != 0:
			l.links = append(l.links, at)
			l.behind(at, parts[n+1:], hops)
			return
		case last:
			l.set(at, keep)
		case info.IsDir():
			l.set(at, pin)
		default:
			return // a file where a folder would have to be
		}
		if l.at[at] == keep {
			return
		}
	}
}

// behind protects what a link leads to, and the next link when it leads to
// one; rest is what of a path follows the link.
func (l *layout) behind(link string, rest []string, hops int) {
	to, err := os.Readlink(link)
	if err != nil || hops >= maxHops {
		return
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(link), to)
	}
	for _, p := range []string{to, real(link)} {
		l.follow(filepath.Join(append([]string{p}, rest...)...), hops+1)
	}
}
