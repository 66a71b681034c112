package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of the programs of servers: how much of a file counts, and how much is kept
// with an answer to show differences by, in bytes; what is read of the sources of one
// server, in files and bytes; how many of larger ones are looked at, and how many
// files of a root are protected one by one.
const (
	maxProgram   = 64 << 20
	maxKeptText  = 8 << 10
	maxKept      = 20 // files
	maxSources   = 2000
	maxSourced   = 64 << 20
	maxListed    = 20000
	maxProtected = 200
)

// Programs are the files of the folder that a server's command, and what gets its
// headers, name, and those which these lead to. A file beyond 64 MB counts by its beginning and its size. Of
// more than 2,000 sources, or 64 MB of them, names, sizes and times count, and beyond
// 20,000 nothing.
func (r *Finder) Programs(s servers.Server) (out []servers.Program) {
	r.Server(s, "")
	kept := 0
	add := func(at string, source bool) {
		rel, err := filepath.Rel(r.Root, at)
		if err != nil {
			return
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return
		}
		one := programAt(at)
		one.Path, one.Source = filepath.ToSlash(rel), source
		if kept++; kept > maxKept {
			one.Text = ""
		}
		out = append(out, one)
	}
	var named []string
	for _, f := range r.Found {
		named = append(named, f.Path)
		add(f.Path, false)
	}
	var all []source
	whole := true
	for _, part := range r.parts {
		whole = part.files(maxListed-len(all), func(f source) {
			if !slices.Contains(named, f.path) {
				all = append(all, f)
			}
		}) && whole
	}
	order.By(all, func(a, b source) int { return strings.Compare(a.path, b.path) })
	all = slices.CompactFunc(all, func(a, b source) bool { return a.path == b.path })
	size := int64(0)
	for _, f := range all {
		size += f.size
	}
	switch {
	case !whole:
		out = append(out, servers.Program{Path: ".", Source: true, Loose: "more files than adze looks at: what changes in them is not asked about"})
	case len(all) > maxSources || size > maxSourced:
		h := sha256.New()
		for _, f := range all {
			fmt.Fprintf(h, "%q %d %d\n", f.path, f.size, f.time)
		}
		out = append(out, servers.Program{Path: ".", Source: true, Size: size, Sum: hex.EncodeToString(h.Sum(nil)), Loose: fmt.Sprintf("%d files, known by their names, sizes and times only", len(all))})
	default:
		for _, f := range all {
			add(f.path, true)
		}
	}
	return out
}

// programAt reads a file.
func programAt(at string) (one servers.Program) {
	file, info, err := regular.Open(at)
	if err != nil {
		return one
	}
	defer file.Close()
	h, head := sha256.New(), &bytes.Buffer{}
	_, err = io.Copy(io.MultiWriter(h, head), io.LimitReader(file, maxKeptText))
	if err == nil {
		_, err = io.Copy(h, io.LimitReader(file, maxProgram))
	}
	if one.Size = info.Size(); err == nil {
		fmt.Fprintf(h, "%d", one.Size)
		one.Sum = hex.EncodeToString(h.Sum(nil))
	}
	if one.Size <= maxKeptText && utf8.Valid(head.Bytes()) {
		one.Text = head.String()
	}
	return one
}

// A source is a file of a folder.
type source struct {
	path       string
	size, time int64
}

// files calls do for each file that runs, and reports whether it looked at all: at
// most at so many entries. A link counts as the file where it leads; one to a folder
// is not followed.
func (s sourced) files(most int, do func(source)) bool {
	seen := 0
	err := filepath.WalkDir(s.dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read does not run
		}
		if seen++; seen > most {
			return errTooMany
		}
		name := e.Name()
		if e.IsDir() {
			if at != s.dir && (!s.deep || slices.Contains(otherDirs, name) || name == "target" && slices.Contains(s.of, ".rs")) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(s.of, name) && !slices.Contains(s.of, filepath.Ext(name)) || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			do(source{at, info.Size(), info.ModTime().UnixNano()})
		}
		return nil
	})
	return err == nil
}

var errTooMany = fmt.Errorf("too many files")

// Protected are Found with the folders of what they lead to: whole, or, of the
// session's own, their files.
func (r *Finder) Protected(what string) []policy.Steer {
	for _, s := range r.parts {
		switch {
		case s.near:
		case !slices.Contains(r.Dirs, s.dir):
			r.file(s.dir, what+" runs what is in it")
		default:
			n := 0
			s.files(maxListed, func(f source) {
				if n++; n <= maxProtected && paths.WithinAny(r.Dirs, f.path) {
					r.file(f.path, what+" runs it")
				}
			})
		}
	}
	return r.Found
}
