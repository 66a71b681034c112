// Package trust remembers which folders a person trusts with running and
// steering things: hooks, servers, allow rules, skills. Trust holds for one
// folder (its real path, device and inode) and for exactly the content that
// was shown; what is below it and brings a repository of its own is another
// folder. It looks only at files with names it knows, runs nothing, asks
// nobody, and decides nothing about what is then allowed.
package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/disk/inode"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/order"
)

// A State is what is known of a folder.
type State string

// States.
const (
	Nothing   State = "nothing"   // it brings nothing that needs trust, and nobody trusted it
	Untrusted State = "untrusted" // nobody was asked yet, or the answer was no
	Trusted   State = "trusted"   // also with nothing: what it brings later is a change
	Changed   State = "changed"   // it was trusted with other content
)

// A Folder is where a session starts. Paths are absolute and resolved.
type Folder struct {
	Root string // the repository's root, or Dir
	Dir  string
	Home string // its own .adze and .claude are the person's, not a project's
}

// A Verdict is the state of a folder, and why.
type Verdict struct {
	Folder Folder
	State  State
	Files  []File // what needs trust, by path
	// Steering are texts that a model will read. They need no trust: they
	// are shown so that nobody is surprised.
	Steering []string
	// Refused are reasons for which the folder cannot be trusted at all.
	Refused []string
	// Left are things that are left out, and why: nobody can trust them, and nothing
	// of them is read. The rest of the folder can be trusted.
	Left    []string
	Changes []Change // since it was trusted

	id identity
	by string // the root of the folder that was trusted: its own, or a worktree's repository
}

// By is the root of the folder whose trust counts: its own, or, of a worktree, that of the
// repository; "" for none.
func (v Verdict) By() string { return v.by }

// A File is one file that needs trust.
type File struct {
	Path string // below Folder.Root, with slashes
	Kind Kind
	Sum  string // SHA-256 of the content, hexadecimal
	text []byte
	size int64 // of a SkillFile, whose text is not there when it is large or none
}

// Text is the content that was looked at. It must not be changed.
func (f File) Text() []byte { return f.text }

// A Change is a file that is not as it was trusted.
type Change struct {
	Path string
	How  string // added, removed or changed
	old  string // sum, "" when added
}

// A Store is the record of trusted folders: a file, and beside it, in the
// folder "trust", the contents that were trusted, for showing what changed.
type Store struct {
	Path string // <state>/trust.json
	Now  func() time.Time
}

// record is the content of the file.
type record struct {
	Version int              `json:"version"`
	Folders map[string]grant `json:"folders"`
	// Made are the worktrees that adze made, by their roots.
	Made map[string]made `json:"made,omitempty"`
	// Declined are sums of all that a folder brought when a person said no.
	Declined map[string]string `json:"declined,omitempty"`
}

// identity tells a folder from another one that took its path.
type identity = inode.ID

type grant struct {
	identity
	Since time.Time         `json:"since"`
	Files map[string]string `json:"files"` // path below the root → sum
	// Coming is what adze is about to write itself, by path: it counts beside Files.
	Coming map[string]string `json:"coming,omitempty"`
}

const (
	version   = 1
	maxRecord = 32 << 20
)

// Check says what is known of a folder. A record that cannot be read is no
// trust; err says why. Reading takes the folder's known names, their content
// and the record; it blocks on nothing. A folder that changed is looked at until
// two looks agree: while another process writes to it, the first may be of
// content that the record has no more.
func (s Store) Check(f Folder) (Verdict, error) {
	v, err := s.check(f)
	for range 4 {
		if err != nil || v.State != Changed {
			break
		}
		was := v.Sum()
		if v, err = s.check(f); v.Sum() == was {
			break
		}
	}
	return v, err
}

func (s Store) check(f Folder) (Verdict, error) {
	v := look(f)
	if v.State = Untrusted; len(v.Files) == 0 && len(v.Refused) == 0 {
		v.State = Nothing
	}
	rec, err := s.load()
	if err != nil {
		return v, err
	}
	var g grant
	if g, v.by = rec.counts(f.Root, v.id); v.by == "" {
		return v, nil
	}
	v.Changes = changes(v, g)
	switch {
	case len(v.Refused) > 0:
	case len(v.Changes) > 0:
		v.State = Changed
	default:
		v.State = Trusted
	}
	return v, nil
}

// changes compares what is there with what was trusted, in the parts of the
// folder that a session here reads.
func changes(v Verdict, g grant) []Change {
	var out []Change
	have := map[string]bool{}
	for _, f := range v.Files {
		have[f.Path] = true
		switch old, known := g.Files[f.Path]; {
		case g.Coming[f.Path] == f.Sum:
		case !known:
			out = append(out, Change{f.Path, "added", ""})
		case old != f.Sum:
			out = append(out, Change{f.Path, "changed", old})
		}
	}
	for path, old := range g.Files {
		if !have[path] && v.Folder.reads(path) {
			out = append(out, Change{path, "removed", old})
		}
	}
	order.By(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// reads reports whether a session in this folder looks at a path: it is of
// the root, or of the folder the session starts in, or of one between them and
// of a kind that is read there too.
func (f Folder) reads(path string) bool {
	rel, _ := filepath.Rel(f.Root, f.Dir) // "" and ".", of the root itself, are no owner's name
	at := owner(path)
	rel = filepath.ToSlash(rel)
	return at == "" || at == rel || strings.HasPrefix(rel, at+"/") && inherited(strings.TrimPrefix(path, at+"/"))
}

// inherited reports whether a known name, below a folder, counts in the folders
// below that one too. Settings and their scripts do not.
func inherited(name string) bool {
	for _, s := range single {
		if s.path == name {
			return s.kind == Servers
		}
	}
	for _, s := range lists() {
		if strings.HasPrefix(name, s.path+"/") {
			return s.kind != Script
		}
	}
	return false
}

// owner is the folder, below the root, that a known name stands in.
func owner(path string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if slices.Contains([]string{".adze", ".claude", ".agents", ".codex", ".gemini", ".opencode", ".crush", ".github", ".cursor", ".factory", ".mcp.json"}, s) {
			return strings.Join(segs[:i], "/")
		}
	}
	return ""
}

// Grant trusts a folder with the content that the verdict saw, and only that.
func (s Store) Grant(ctx context.Context, v Verdict) error {
	if len(v.Refused) > 0 {
		return fmt.Errorf("trust %s: %s", v.Folder.Root, v.Refused[0])
	}
	if v.id == (identity{}) {
		return fmt.Errorf("trust %s: the folder cannot be told from others", v.Folder.Root)
	}
	s.keepCopies(v)
	return s.change(ctx, func(r *record) {
		s.put(r, v, nil)
		delete(r.Declined, v.Folder.Root)
	})
}

// put trusts what the verdict saw, and what is coming.
func (s Store) put(r *record, v Verdict, coming map[string]string) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	files := map[string]string{}
	if old, ok := r.Folders[v.Folder.Root]; ok && old.identity == v.id {
		for path, sum := range old.Files { // of subfolders that this session does not read
			if !v.Folder.reads(path) {
				files[path] = sum
			}
		}
	}
	for _, f := range v.Files {
		files[f.Path] = f.Sum
	}
	r.Folders[v.Folder.Root] = grant{v.id, now().UTC().Truncate(time.Second), files, coming}
}

// Decline keeps a person's no to what a folder brings, as the verdict saw it, so that
// it is not asked about again before it changes.
func (s Store) Decline(ctx context.Context, v Verdict) error {
	return s.change(ctx, func(r *record) {
		if r.Declined == nil {
			r.Declined = map[string]string{}
		}
		r.Declined[v.Folder.Root] = v.Sum()
	})
}

// Declined reports whether a person said no to exactly what a folder brings.
func (s Store) Declined(v Verdict) bool {
	rec, err := s.load()
	return err == nil && rec.Declined[v.Folder.Root] == v.Sum()
}

// Sum is a SHA-256 of everything that the verdict saw, hexadecimal.
func (v Verdict) Sum() string {
	out := v.Folder.Dir + "\n" // which folder it was is part of what is read
	for _, f := range v.Files {
		out += f.Path + "\x00" + f.Sum + "\n"
	}
	return sum([]byte(out))
}

// Covers reports whether content that was read, as sums by path below the
// root, is content that the verdict saw.
func (v Verdict) Covers(read map[string]string) bool {
	for path, sum := range read {
		if !slices.ContainsFunc(v.Files, func(f File) bool { return f.Path == path && f.Sum == sum }) {
			return false
		}
	}
	return true
}

// Revoke forgets a folder, also one that is no longer there. It reports
// whether the folder was trusted.
func (s Store) Revoke(ctx context.Context, root string) (bool, error) {
	rec, err := s.load()
	_, own := rec.Folders[root]
	if _, derived := rec.Made[root]; !own && !derived { // as where the record cannot be read
		return false, err
	}
	err = s.change(ctx, func(r *record) {
		delete(r.Folders, root)
		delete(r.Made, root)
	})
	if err == nil {
		_ = os.RemoveAll(s.copies(root)) // they are only for showing differences
	}
	return err == nil, err
}

// An Entry is one trusted folder.
type Entry struct {
	Path  string    `json:"path"`
	Since time.Time `json:"since"`
	Files []string  `json:"files"`
}

// List returns the trusted folders, by path.
func (s Store) List() ([]Entry, error) {
	rec, err := s.load()
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(rec.Folders))
	for path, g := range rec.Folders {
		e := Entry{Path: path, Since: g.Since, Files: []string{}}
		for f := range g.Files {
			e.Files = append(e.Files, f)
		}
		slices.Sort(e.Files)
		out = append(out, e)
	}
	order.By(out, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// load reads the record; none is empty.
func (s Store) load() (record, error) {
	text, err := confedit.Disk{}.Read(s.Path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	if err == nil && text != nil {
		err = s.ours()
	}
	if err != nil {
		return record{}, fmt.Errorf("reading %s: %w", s.Path, err)
	}
	return s.parse(text)
}

func (s Store) parse(text []byte) (record, error) {
	r := record{Version: version}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &r); err != nil {
			return record{}, broken(s.Path, text, err)
		}
		if r.Version > version {
			return record{}, fmt.Errorf("reading %s: a newer version of adze wrote it", s.Path)
		}
	}
	if r.Folders == nil {
		r.Folders = map[string]grant{}
	}
	return r, nil
}

// broken is the error of a file of adze's own that somebody damaged.
func broken(path string, text []byte, err error) error {
	return hint.With(fmt.Errorf("reading %s: %w", path, fastjson.Where(text, err)), "correct it, or move it away: then it is asked anew what was answered")
}

// ours refuses a record that others could have written.
func (s Store) ours() error {
	info, err := os.Lstat(s.Path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("it is a link")
	}
	return private(info)
}

func (s Store) change(ctx context.Context, edit func(*record)) error {
	dir := filepath.Dir(s.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", s.Path, err)
	}
	return confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: s.Path, Root: dir}, func(text []byte) ([]byte, error) {
		r, err := s.parse(text)
		if err != nil {
			return nil, err
		}
		edit(&r)
		out, err := json.MarshalIndent(r, "", "  ")
		return append(out, '\n'), err
	})
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
