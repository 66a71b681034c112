package checkpoint

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/text/order"
)

// maxRecords bounds the records of a journal that are read, in bytes.
const maxRecords = 1 << 30

// unknown is what Recover says where it knows nothing.
const unknown = "what the call that was cut off had changed is not known"

// Recover says what the calls changed that a process left open when it was
// killed, by the journal in dir: until now, whoever did it, because nobody can
// tell. It is nothing where there is no journal. Of c, Blobs, Git, Env, Limits
// and Now count. It changes nothing but the blobs.
func Recover(ctx context.Context, dir string, c Config) (out effect.Changed) {
	b, err := regular.Read(filepath.Join(dir, recordsName), maxRecords)
	if errors.Is(err, fs.ErrNotExist) {
		return out // the process ended before anything was changed
	}
	j := &journaled{trees: map[int64]*saved{}, open: map[int]beginRecord{}}
	if err != nil || !j.read(b) {
		out.Missed = []string{unknown}
		return out
	}
	out.Files = j.changes
	if len(j.open) == 0 {
		return out
	}
	for i, s := range j.trees {
		changes, err := s.changes(ctx, filepath.Join(dir, fmt.Sprintf(treeName, i)), c)
		out.Files = joinChanges(out.Files, changes)
		if err != nil {
			out.Missed = append(out.Missed, unknown+": "+err.Error())
		}
	}
	for _, call := range j.open {
		if call.Apart {
			out.Missed = []string{unknown}
		}
		for _, n := range call.Files {
			after, err := Look(n.Path, nil)
			if err == nil && n.Before != after {
				out.Files = joinChanges(out.Files, []effect.Change{{Path: n.Path, Before: n.Before, After: after}})
			}
		}
	}
	order.By(out.Files, func(a, b effect.Change) int { return strings.Compare(a.Path, b.Path) })
	out.Missed = append(out.Missed, missed(out.Files)...)
	return out
}

// journaled is what the records of a journal say.
type journaled struct {
	trees   map[int64]*saved
	open    map[int]beginRecord // calls that did not end
	changes []effect.Change
	lost    bool
}

// read reports whether everything could be read, and is known. A record that
// was cut at the end of the file began after all that counts.
func (j *journaled) read(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for len(b) > 8 {
		n := int64(binary.LittleEndian.Uint32(b))
		if n == 0 || n > int64(len(b)-8) {
			break
		}
		record := b[8 : 8+n]
		if binary.LittleEndian.Uint32(b[4:]) != crc32.Checksum(record, castagnoli) || !j.apply(record[0], record[1:]) {
			return false
		}
		b = b[8+n:]
	}
	return !j.lost
}

func (j *journaled) apply(kind byte, b []byte) bool {
	switch kind {
	case kindReset, kindLost:
		clear(j.open)
		j.changes, j.lost = nil, kind == kindLost
		return len(b) == 0
	case kindBegin:
		var r beginRecord
		err := json.Unmarshal(b, &r)
		j.open[r.Call], j.changes = r, joinChanges(j.changes, r.Others)
		return err == nil
	case kindEnd:
		var r endRecord
		err := json.Unmarshal(b, &r)
		delete(j.open, r.Call)
		j.changes = joinChanges(j.changes, r.Changed.Files)
		return err == nil
	case kindTree:
		r := &decoder{b: b}
		index, whole := r.num(), r.flag()
		if j.trees[index] == nil {
			j.trees[index] = &saved{}
		}
		j.trees[index].apply(r, whole)
		return !r.bad
	}
	return false
}

// changes compares the tree with what it was. contents is the file of what was
// copied of it.
func (s *saved) changes(ctx context.Context, contents string, c Config) ([]effect.Change, error) {
	t, err := s.tree(c)
	if err != nil {
		return nil, err
	}
	if t.scratch, err = os.Open(contents); err != nil {
		return nil, err
	}
	defer t.scratch.Close()
	if repo, err := conf.Find(t.root); err == nil && repo.Top != "" {
		t.git = object.Repo{Repo: repo, Git: t.program, Env: t.env}
	}
	deltas, err := t.look(ctx, t.now())
	if err != nil {
		return nil, err
	}
	for _, d := range deltas {
		if d.was != nil && d.was.copied && !t.intact(d.was) {
			d.was.copied, d.was.lost = false, "its copy was damaged"
		}
	}
	return t.changes(ctx, deltas, s.began), nil
}

// intact reports whether the copy of a content is what was copied.
func (t *Tree) intact(f *file) bool {
	sum := crc32.New(castagnoli)
	n, err := io.Copy(sum, t.section(f))
	return err == nil && n == f.stat.Size && sum.Sum32() == f.sum
}
