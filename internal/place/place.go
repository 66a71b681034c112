// Package place knows where a path really leads: it resolves links step by
// step, also for files that do not exist yet, and gives shellread its view of
// the file system. It only looks, and changes nothing.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxLinks is how many links one path may pass through, as in Linux.
const maxLinks = 40

// World is the real file system as a script that starts in dir (absolute,
// resolved) would find it.
func World(dir, home string) world.World {
	w := world.World{Dir: dir, Home: home, Real: Resolve, Glob: Glob, Git: conf.Safe, GitUnpinned: conf.SafeUnpinned, Tree: Tree, Searched: Searched, Tracked: conf.Tracked, Repo: repo, Text: text, Packed: packed}
	if runtime.GOOS == "windows" {
		w.Real, w.Glob = ofGitsBash(Resolve, Glob)
	}
	return w
}

// maxText bounds a file whose text is looked at.
const maxText = 256 << 10

func text(path string) (string, bool) {
	b, err := regular.Read(path, maxText)
	return string(b), err == nil
}

func repo(dir string) (common, git string, ok bool) {
	r, err := conf.Find(dir)
	if errors.Is(err, conf.ErrBare) { // git works with the git folder that it stands in
		for at := dir; ; at = filepath.Dir(at) {
			if conf.IsGitDir(at) {
				return at, at, true
			}
		}
	}
	return r.Common, r.GitDir, err == nil
}

// Resolve follows every link of an absolute path, in order, so that ".."
// after a link leaves the link's target. Components that do not exist are
// kept as they are written. Links below /proc and /dev/fd mean another file
// for each process and are not followed.
func Resolve(path string) (string, error) {
	if err := refuse(path); err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("resolving %q: it is not absolute", path)
	}
	path, unknown := long(path)
	if slices.ContainsFunc(unknown, paths.ShortName) {
		return "", fmt.Errorf("resolving %q: %w", path, errShort)
	}
	vol := filepath.VolumeName(path)
	root := vol + string(filepath.Separator)
	rest := components(path[len(vol):])
	at, links := root, 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if magic(next) {
			at = next
			continue
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Later ".." may lead back to what exists, so only this step is
			// taken as written.
			at = next
			continue
		case err != nil && (errors.Is(err, fs.ErrPermission) || isNotDir(err)):
			at = next
			continue
		case err != nil:
			return "", fmt.Errorf("resolving %q: %w", path, err)
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolving %q: more than %d links", path, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("resolving %q: %w", path, err)
		}
		if err := refuse(target); err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			vol = filepath.VolumeName(target)
			at = vol + string(filepath.Separator)
			target = target[len(vol):]
		}
		rest = append(components(target), rest...)
	}
	return at, nil
}

func components(p string) []string {
	var out []string
	for _, c := range strings.Split(filepath.ToSlash(p), "/") {
		if c != "" && c != "." {
			out = append(out, c)
		}
	}
	return out
}

// magic reports whether what stands here means something else in each process.
func magic(p string) bool {
	return strings.HasPrefix(p, "/proc/") || p == "/dev/fd" || strings.HasPrefix(p, "/dev/fd/") || p == "/dev/stdin" || p == "/dev/stdout" || p == "/dev/stderr"
}

// refuse rejects what must not even be looked at: on Windows a share or a
// device name makes the system connect or log in somewhere.
func refuse(p string) error {
	if strings.ContainsRune(p, 0) {
		return fmt.Errorf("resolving %q: a path cannot hold a NUL character", p)
	}
	if runtime.GOOS == "windows" {
		return refuseWindows(p)
	}
	return nil
}

func isNotDir(err error) bool { return strings.Contains(err.Error(), "not a directory") }
