package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// keepAll copies the content of every new file that git does not have to the
// scratch file, where it is found when the file has changed.
func (t *Tree) keepAll(ctx context.Context) {
	lister, err := search.NewLister(t.search)
	if err != nil {
		return // the look that follows says it
	}
	defer lister.Close()
	t.shrink()
	if !t.room() {
		t.leaveJournal()
	}
	late := t.now().Add(t.limits.Took)
	buf := make([]byte, 256<<10)
	// What git ignores comes last, as there may be no time for it.
	for i := range 2 * len(t.todo) {
		f := t.todo[i%len(t.todo)]
		if !f.toKeep() || f.ignored != (i >= len(t.todo)) {
			continue
		}
		switch {
		case f.ignored && t.aside+f.stat.Size > t.limits.Aside && f.stat.Size <= t.limits.File:
			f.lost = fmt.Sprintf("git ignores it, and more than %s of such files were to be kept", clip.Size(t.limits.Aside))
		case f.stat.Size > t.limits.File:
			f.lost = fmt.Sprintf("it is larger than the %s that are kept", clip.Size(t.limits.File))
		case t.kept+f.stat.Size > t.limits.Kept:
			f.lost = fmt.Sprintf("more than %s were to be kept", clip.Size(t.limits.Kept))
		case ctx.Err() != nil || t.now().After(late):
			f.lost = "there was no time to keep it"
		default:
			t.copy(lister, f.rel, f.file, buf)
			continue
		}
		t.left = append(t.left, f.rel)
	}
	t.todo = nil
}

// aside is the size of a file that git ignores.
func (f *file) aside() int64 {
	if f.ignored {
		return f.stat.Size
	}
	return 0
}

// toKeep reports whether the content of a file is to be copied.
func (f *file) toKeep() bool {
	return !f.copied && !f.made && f.git == "" && f.lost == "" && f.stat.Mode.IsRegular()
}

// shrink begins the scratch file anew when most of it is of no use any more.
func (t *Tree) shrink() {
	if t.kept < t.limits.Kept/2 && t.aside < t.limits.Aside/2 {
		return
	}
	used, aside := int64(0), int64(0)
	for _, d := range t.order {
		for _, f := range d.files {
			if f != nil && f.copied {
				used += f.stat.Size
				aside += f.aside()
			}
		}
	}
	if (t.kept < t.limits.Kept/2 || used > t.kept/2) && (t.aside < t.limits.Aside/2 || aside > t.aside/2) {
		return
	}
	t.saving.forget()
	t.again()
	_ = t.scratch.Truncate(0) // else it is as large as it was
}

// again has all contents copied anew.
func (t *Tree) again() {
	t.kept, t.aside = 0, 0
	for _, d := range t.order {
		for name, f := range d.files {
			if f != nil && f.copied {
				f.copied = false
				t.todo = append(t.todo, found{below(d.rel, name), f})
			}
		}
	}
}

// room reports whether what is to be copied leaves half of the disk's room to
// the session's log, which stands beside the journal.
func (t *Tree) room() bool {
	if t.saving.journal == nil {
		return true
	}
	want := int64(0)
	for _, f := range t.todo {
		if f.toKeep() && f.stat.Size <= t.limits.File {
			want += f.stat.Size
		}
	}
	if want = min(want, t.limits.Kept-t.kept); want == 0 {
		return true
	}
	have, known := t.space(t.saving.journal.dir)
	return !known || want <= have/2
}

// leaveJournal has contents copied to a file elsewhere: they go with the
// process then. Without one they stay where they are.
func (t *Tree) leaveJournal() {
	scratch, err := t.make()
	if err != nil {
		return
	}
	t.saving.forget()
	t.again()
	_ = t.scratch.Truncate(0) // the journal closes it
	t.scratch, t.saving.journal = scratch, nil
}

// copy appends a content to the scratch file.
func (t *Tree) copy(lister *search.Lister, rel string, f *file, buf []byte) {
	r, err := open(lister, rel)
	if err != nil {
		f.lost = unreadable(err)
		return
	}
	defer r.Close()
	f.at = t.kept
	head := make([]byte, 4)
	got, _ := io.ReadFull(r, head)
	if f.made = f.ignored && program(head); f.made {
		return
	}
	w, sum := io.NewOffsetWriter(t.scratch, f.at), crc32.New(castagnoli)
	n, err := io.CopyBuffer(io.MultiWriter(w, sum), io.LimitReader(io.MultiReader(bytes.NewReader(head[:got]), r), f.stat.Size+1), buf)
	switch {
	case err != nil:
		f.lost = unreadable(err)
	case n != f.stat.Size:
		f.lost = "it was being changed when it was to be kept"
	default:
		f.copied, f.sum = true, sum.Sum32()
		t.kept += n
		t.aside += f.aside()
	}
}

// program reports whether a file that begins so is a program of Linux, macOS or
// Windows: a build makes it anew.
func program(head []byte) bool {
	switch string(head) {
	case "\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe":
		return true
	}
	return string(head[:2]) == "MZ"
}

func unreadable(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return "it could not be read (" + err.Error() + ")"
}

func open(lister *search.Lister, rel string) (io.ReadCloser, error) {
	d, err := lister.Open(parent(rel))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Read(base(rel))
}

// changes turns deltas into changes, by path. Commands that made them began at
// began.
func (t *Tree) changes(ctx context.Context, ds []delta, began time.Time) []effect.Change {
	if len(ds) == 0 {
		return nil
	}
	lister, err := search.NewLister(t.search)
	if err != nil {
		return nil
	}
	defer lister.Close()
	ds = joined(ds)
	for _, d := range ds {
		if d.is != nil && d.is.stat.Mode.IsRegular() {
			t.name(lister, d.rel, d.is)
		}
	}
	known := map[uint64]bool{} // a file replaced by one like it, too: it may have another name now
	for _, d := range ds {
		if d.was != nil && !d.was.made {
			known[d.was.stat.Ino] = true
		}
		if d.old != nil {
			known[d.old.Ino] = true
		}
	}
	ds = slices.DeleteFunc(ds, func(d delta) bool { return d.was != nil && d.was.made || t.touched(d) })
	t.store(ctx, ds)
	names := t.names(ds)
	out := make([]effect.Change, 0, len(ds))
	for _, d := range ds {
		c := effect.Change{Path: t.path(d.rel), Before: d.was.version(), After: versionOf(d.fresh)}
		if d.old != nil {
			c.Before = versionOf(d.old)
		}
		if d.is != nil {
			c.After = d.is.version()
		}
		switch {
		case c.Before == c.After && (d.was == nil || !d.was.shared() || d.was.stat.Ino == d.is.stat.Ino):
			continue
		case d.was != nil && d.was.shared():
			c.Names = names.but(d.was.stat.Ino, c.Path)
		case c.Before.Kind == effect.Absent && elsewhere(lister, d, known, began):
			c.Before.Kind = effect.Elsewhere
		}
		out = append(out, c)
	}
	order.By(out, func(a, b effect.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// joined makes one delta of two for a path: a folder may have taken the place
// of a file, or a file that of a folder.
func joined(ds []delta) []delta {
	at := make(map[string]int, len(ds))
	out := ds[:0]
	for _, d := range ds {
		i, twice := at[d.rel]
		if !twice {
			at[d.rel] = len(out)
			out = append(out, d)
			continue
		}
		j := &out[i]
		j.was, j.is = cmp.Or(j.was, d.was), cmp.Or(j.is, d.is)
		j.old, j.fresh = cmp.Or(j.old, d.old), cmp.Or(j.fresh, d.fresh)
	}
	return out
}

// name gives a file the hash of its content, where that is not too large.
func (t *Tree) name(lister *search.Lister, rel string, f *file) {
	if f.stat.Size > t.limits.File {
		return
	}
	r, err := open(lister, rel)
	if err != nil {
		return
	}
	defer r.Close()
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(r, t.limits.File)); err == nil {
		f.hash, f.stat.Size = hex.EncodeToString(h.Sum(nil)), n
	}
}

// touched reports whether a file is what it was but for its times: its content
// was copied and is the same. What was copied still counts.
func (t *Tree) touched(d delta) bool {
	if d.was == nil || d.is == nil || !d.was.copied || d.is.hash == "" || d.was.stat.Mode != d.is.stat.Mode || d.was.stat.Size != d.is.stat.Size || d.was.stat.Links > 1 {
		return false
	}
	if d.was.hash == "" {
		h := sha256.New()
		if _, err := io.Copy(h, t.section(d.was)); err != nil {
			return false
		}
		d.was.hash = hex.EncodeToString(h.Sum(nil))
	}
	if d.was.hash != d.is.hash {
		return false
	}
	d.is.copied, d.is.at, d.is.sum = true, d.was.at, d.was.sum
	return true
}

func (t *Tree) section(f *file) *io.SectionReader {
	return io.NewSectionReader(t.scratch, f.at, f.stat.Size)
}

// store keeps for good what was there before.
func (t *Tree) store(ctx context.Context, ds []delta) {
	want := map[string][]*file{} // by object
	var ids []string
	for _, d := range ds {
		f := d.was
		switch {
		case f == nil || f.stored:
		case f.copied && f.aside() > 0 && t.stored+f.aside() > t.limits.Stored:
			f.hash, f.lost = "", fmt.Sprintf("git ignores it, and %s of such files are kept already", clip.Size(t.stored))
		case f.copied:
			t.stored += f.aside()
			b, err := io.ReadAll(t.section(f))
			t.put(f, b, err)
		case f.git != "":
			if want[f.git] == nil {
				ids = append(ids, f.git)
			}
			want[f.git] = append(want[f.git], f)
		}
	}
	if len(ids) == 0 {
		return
	}
	err := t.git.Read(ctx, ids, func(id string, content []byte) error {
		for _, f := range want[id] {
			if int64(len(content)) == f.stat.Size {
				t.put(f, content, nil)
			}
		}
		return nil
	})
	for _, fs := range want {
		for _, f := range fs {
			if !f.stored && f.lost == "" {
				f.lost = "git did not give it back"
				if err != nil {
					f.lost += ": " + err.Error()
				}
			}
		}
	}
}

// put stores the content of a file.
func (t *Tree) put(f *file, content []byte, err error) {
	hash := ""
	if err == nil {
		hash, err = t.blobs.Put(content)
	}
	if err != nil {
		f.hash, f.lost = "", "it could not be kept ("+err.Error()+")"
		return
	}
	f.hash, f.stored = hash, true
}

// names are the paths that every file with several names had, those that stay
// first.
type names map[uint64][]string

// but are at most eight of them without path.
func (n names) but(ino uint64, path string) (out []string) {
	for _, p := range n[ino] {
		if p != path && len(out) < 8 {
			out = append(out, p)
		}
	}
	return out
}

// shared reports whether a file has several names.
func (f *file) shared() bool { return f.stat.Links > 1 && f.stat.Mode.IsRegular() }

// names finds the names of the files that deltas are about.
func (t *Tree) names(ds []delta) names {
	out, gone := names{}, names{}
	changed := map[string]bool{}
	for _, d := range ds {
		changed[d.rel] = true
		if d.was == nil || !d.was.shared() {
			continue
		}
		ino := d.was.stat.Ino
		if d.is != nil && d.was.version() == d.is.version() { // only the number of its names changed
			out[ino] = append(out[ino], t.path(d.rel))
		} else {
			gone[ino] = append(gone[ino], t.path(d.rel))
		}
	}
	if len(out)+len(gone) == 0 {
		return nil
	}
	for _, d := range t.order {
		for name, f := range d.files {
			if rel := below(d.rel, name); f != nil && f.shared() && !changed[rel] && len(out[f.stat.Ino])+len(gone[f.stat.Ino]) > 0 {
				out[f.stat.Ino] = append(out[f.stat.Ino], t.path(rel))
			}
		}
	}
	for ino, paths := range gone {
		out[ino] = append(out[ino], paths...)
	}
	return out
}

func (t *Tree) path(rel string) string { return filepath.Join(t.root, filepath.FromSlash(rel)) }

// elsewhere reports whether what appeared was there before the command, where
// nobody looks: git ignores the place, or it is outside of the tree. To remove
// it would lose it.
func elsewhere(lister *search.Lister, d delta, known map[uint64]bool, began time.Time) bool {
	st := d.fresh
	if d.is != nil {
		st = &d.is.stat
	}
	if st == nil || st.Ino == 0 || known[st.Ino] || !st.Mode.IsDir() && st.Links > 1 {
		return false
	}
	limit := began.Add(-50 * time.Millisecond)
	if f, err := lister.Open(parent(d.rel)); err == nil && d.rel != "" {
		defer f.Close()
		if at, ok := f.Born(base(d.rel)); ok {
			return at.Before(limit)
		}
	}
	return st.CTime < limit.UnixNano()
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func versionOf(st *search.Stat) effect.Version {
	if st == nil {
		return effect.Version{}
	}
	return effect.Version{Kind: effect.IsFolder, Mode: uint32(st.Mode & modeBits)}
}

func (f *file) version() effect.Version {
	if f == nil {
		return effect.Version{}
	}
	switch mode := f.stat.Mode; {
	case mode.IsRegular():
		return effect.Version{Kind: effect.IsFile, Mode: uint32(mode & modeBits), Size: f.stat.Size, Hash: f.hash, Lost: f.lost}
	case mode&fs.ModeSymlink != 0:
		return effect.Version{Kind: effect.IsLink, Link: f.link}
	}
	return effect.Version{Kind: effect.IsSpecial}
}
