package sessions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Fork implements store.Catalogue.
func (s Store) Fork(ctx context.Context, parent store.Info, at event.Seq, key string, first event.SessionStarted) (store.Info, error) {
	id, err := first.ID, error(nil)
	if id == "" {
		id, err = s.NewID()
	}
	if err == nil {
		err = s.fork(ctx, parent, at, key, id, first)
	}
	if err != nil {
		return store.Info{}, fmt.Errorf("fork session %s: %w", parent.ID, err)
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return store.Info{}, err
	}
	defer root.Close()
	return s.info(root, key, id)
}

func (s Store) fork(ctx context.Context, parent store.Info, at event.Seq, key, id string, first event.SessionStarted) (err error) {
	src, err := disk.Open(s.folder(parent.Key, parent.ID))
	if err != nil {
		return err
	}
	defer src.Close()
	in, err := src.OpenFile(logName, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	stat, err := in.Stat()
	if err != nil {
		return err
	}
	dst, err := disk.Create(s.folder(key, id))
	if err != nil {
		return err
	}
	defer dst.Close()
	// Under another name until it is whole, so that a crash leaves no half of a session.
	part := logName + ".part"
	out, err := dst.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, disk.FileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.discard(key, id))
		}
	}()
	first.ID, first.Schema, first.Parent = id, event.Schema, parent.ID
	w := bufio.NewWriterSize(io.NewOffsetWriter(out, 0), 256<<10)
	blobs := &blob.Late{Folder: blob.Folder{Path: s.blobs(key, id), Pack: true}}
	if first.At, err = s.lastSeq(ctx, in, stat.Size(), at); err == nil {
		err = s.copyLines(ctx, w, in, stat.Size(), first, s.sharing(s.blobs(parent.Key, parent.ID), blobs))
	}
	if err = errors.Join(err, w.Flush()); err == nil {
		err = blobs.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.folder(key, id))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(part, logName); err != nil {
		return err
	}
	return dst.Sync()
}

// lastSeq is the highest seq of the log that is not above at.
func (s Store) lastSeq(ctx context.Context, in io.ReaderAt, size int64, at event.Seq) (last event.Seq, err error) {
	for line, err := range event.Lines(io.NewSectionReader(in, 0, size), 0) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		seq, _, _, err := event.Head(line.Bytes)
		if err == nil && !line.Torn && seq > last && (at == 0 || seq <= at) {
			last = seq
		}
	}
	if last == 0 {
		return 0, errors.New("it has no events to copy")
	}
	return last, nil
}

func (s Store) copyLines(ctx context.Context, w io.Writer, in io.ReaderAt, size int64, first event.SessionStarted, blobs func(line []byte) error) error {
	head, err := event.AppendLine(nil, event.Event{Seq: 1, Time: s.Now(), Body: first})
	if err != nil {
		return err
	}
	seals := resealer{}
	if s.Key != nil {
		seals.seal = seal.New(s.Key)
	}
	if _, err := w.Write(seals.put(head, true)); err != nil {
		return err
	}
	last := event.Seq(1)
	for line, err := range event.Lines(io.NewSectionReader(in, 0, size), 0) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		body, ours := seals.take(line.Bytes)
		seq, _, kind, err := event.Head(body)
		if err != nil || line.Torn || seq <= last || seq > first.At || kind == "session_started" {
			continue
		}
		if _, err := event.ParseLine(blob.Bare(body)); err != nil {
			continue
		}
		last = seq
		if err := blobs(body); err != nil {
			return err
		}
		if _, err := w.Write(seals.put(body, ours)); err != nil {
			return err
		}
	}
	return nil
}

// named finds in a line the names of what is kept beside the log: large parts,
// what files were before a call, and whole results.
var named = pattern.Lazy(`"(?:data":"blob:|hash":"|spill":"[^"]*[/\\])([0-9a-f]{64})"`)

// sharing returns what gives the copy the blobs that a line names: as links, or
// as copies where the disk has no links. One that is missing is missing in the
// copy, too.
func (s Store) sharing(from string, to *blob.Late) func(line []byte) error {
	src := blob.Folder{Path: from}
	made := false
	return func(line []byte) error {
		for _, m := range named().FindAllSubmatch(line, -1) {
			for _, name := range blob.Files(string(m[1])) {
				if info, err := os.Lstat(src.At(name)); err != nil || !info.Mode().IsRegular() {
					continue
				}
				if !made {
					dir, err := disk.Create(to.Folder.Path)
					if err != nil {
						return err
					}
					made = true
					if err := dir.Close(); err != nil {
						return err
					}
				}
				if err := share(src, to, name, string(m[1])); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// maxKin bounds how far back a copy of a copy is followed.
const maxKin = 16

// kin are the folders of the sessions that one was copied from: its texts name
// results in them. One that was removed has none.
func (s Store) kin(parent string) (dirs []string) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	keys, err := folders(root, ".")
	if err != nil {
		return nil
	}
	for range maxKin {
		i := slices.IndexFunc(keys, func(key string) bool {
			_, err := root.Lstat(filepath.Join(key, parent, logName))
			return ValidID(parent) && err == nil
		})
		if i < 0 {
			break
		}
		dirs = append(dirs, s.folder(keys[i], parent))
		parent = began(root, filepath.Join(keys[i], parent, logName)).Parent
	}
	return dirs
}

// began reads the first event of a log.
func began(root *os.Root, log string) (b event.SessionStarted) {
	f, err := regular.In(root, log, os.O_RDONLY, 0)
	if err != nil {
		return b
	}
	defer f.Close()
	for line, err := range event.Lines(io.NewSectionReader(f, 0, 1<<20), 0) {
		if err != nil {
			break
		}
		body, _ := seal.Split(line.Bytes)
		if e, err := event.ParseLine(body); err == nil {
			b, _ = e.Body.(event.SessionStarted)
		}
		break
	}
	return b
}

// share gives a folder a file of another one with a blob.
func share(src blob.Folder, dst *blob.Late, file, name string) error {
	if err := os.Link(src.At(file), dst.Folder.At(file)); err == nil || errors.Is(err, fs.ErrExist) {
		dst.Wait(file) // whose session may be running, and have it not on disk yet
		return nil
	}
	content, err := src.Get(name)
	if errors.Is(err, blob.ErrMissing) || errors.Is(err, blob.ErrChanged) {
		return nil
	}
	if err != nil {
		return err
	}
	if file == name {
		_, err = dst.Plain(content)
	} else {
		_, err = dst.Put(content)
	}
	return err
}

func (s Store) blobs(key, id string) string { return filepath.Join(s.folder(key, id), jsonl.BlobsName) }

// A resealer gives lines that adze wrote the seals of their copy. Lines of
// others stay without one.
type resealer struct {
	seal     *seal.Sealer // nil without a key
	from, to seal.Mark    // of the newest line read, and of the newest written
	buf      []byte
}

// take returns a line without its seal, and whether it is ours.
func (r *resealer) take(line []byte) (body []byte, ours bool) {
	body, m := seal.Split(line)
	ours = r.seal != nil && r.seal.Check(r.from, body, m)
	r.from = m
	return body, ours
}

// put returns the line of the copy, valid until the next one.
func (r *resealer) put(body []byte, ours bool) []byte {
	r.buf = append(r.buf[:0], body...)
	if r.seal != nil && ours {
		r.buf, r.to = r.seal.Append(r.buf, 0, r.to)
	} else {
		r.to = seal.Mark{}
	}
	r.buf = append(r.buf, '\n')
	return r.buf
}

// discard removes what a failed copy left.
func (s Store) discard(key, id string) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(filepath.Join(key, id))
}
