package checkpoint

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Journal keeps on disk what is known of trees and of calls that run, so that
// what a call changed is known also when the process is killed in the middle
// of it. It is a folder: a file of records, and the contents of each tree. It is
// not synced: it outlives the process, not a power cut, and every record and
// content has a checksum. What cannot be written is not kept, and Recover says
// so. The zero value of *Journal, nil, keeps nothing.
type Journal struct {
	dir string

	mu    sync.Mutex // guards what follows
	file  *os.File
	off   int64
	whole int64 // bytes of records that hold a whole tree
	era   int   // counts how often all was forgotten
	trees []*os.File
	err   error // why nothing is kept any more
}

// NewJournal keeps a journal in a folder, which is made when the first call is
// recorded. What an earlier process left there goes then.
func NewJournal(dir string) *Journal { return &Journal{dir: dir} }

const (
	recordsName = "calls"
	treeName    = "tree-%d"

	// slack is how many bytes of records are kept that may be of no use any more.
	slack = 4 << 20
)

// Kinds of records.
const (
	kindReset = 'R' // no call runs: what came before counts no more, but for trees
	kindBegin = 'B' // a call begins
	kindEnd   = 'E' // a call ended
	kindTree  = 'U' // what is known of a tree, or what of that is new
	kindLost  = 'L' // what calls that run have changed so far is not known
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// contents makes the file that takes the contents of one more tree.
func (j *Journal) contents() (f *os.File, index int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.open(); err != nil {
		return nil, 0, err
	}
	index = len(j.trees)
	if f, err = safe.New(filepath.Join(j.dir, fmt.Sprintf(treeName, index))); err == nil {
		j.trees = append(j.trees, f)
	}
	return f, index, err
}

// open makes the folder and the file of records, once. The lock is held.
func (j *Journal) open() error {
	if j.file != nil || j.err != nil {
		return j.err
	}
	if j.err = safe.RemoveAll(j.dir); j.err == nil {
		if j.err = os.MkdirAll(j.dir, 0o700); j.err == nil {
			j.file, j.err = safe.New(filepath.Join(j.dir, recordsName))
		}
	}
	return j.err
}

// Close removes the journal: no call runs.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	for _, f := range j.trees {
		err = errors.Join(err, f.Close())
	}
	j.file, j.trees, j.err = nil, nil, errors.New("the session is closed")
	return errors.Join(err, safe.RemoveAll(j.dir))
}

// add appends a record. After an error the file is empty, and stays so.
func (j *Journal) add(kind byte, payload []byte) {
	if j.open() != nil {
		return
	}
	r := j.record(kind)
	r.write(payload)
	r.end()
}

// A record is written part by part. What stands before it, its length and its sum, is
// written last, so that one that is cut is none.
type record struct {
	j   *Journal
	n   int64 // bytes so far
	sum uint32
}

// record begins one at the end of an open journal.
func (j *Journal) record(kind byte) *record {
	r := &record{j: j}
	r.write([]byte{kind})
	return r
}

func (r *record) write(b []byte) {
	r.at(8+r.n, b)
	r.n, r.sum = r.n+int64(len(b)), crc32.Update(r.sum, castagnoli, b)
}

func (r *record) end() {
	head := binary.LittleEndian.AppendUint32(nil, uint32(r.n))
	if r.at(0, binary.LittleEndian.AppendUint32(head, r.sum)); r.j.err == nil {
		r.j.off += 8 + r.n
	}
}

// at writes a part of it, unless one could not be written.
func (r *record) at(off int64, b []byte) {
	if r.j.err != nil {
		return
	}
	if _, r.j.err = r.j.file.WriteAt(b, r.j.off+off); r.j.err != nil {
		_ = r.j.file.Truncate(0) // Recover finds nothing that it could take for the whole
	}
}

// forget begins the records anew, before contents that they name change.
func (j *Journal) forget(kind byte) {
	if j.open() != nil {
		return
	}
	if j.err = j.file.Truncate(0); j.err != nil {
		return
	}
	j.off, j.whole, j.era = 0, 0, j.era+1
	j.add(kind, nil)
}

type beginRecord struct {
	Call   int             `json:"call"`
	Files  []effect.Change `json:"files,omitempty"`  // that the call names, as they were before
	Others []effect.Change `json:"others,omitempty"` // of calls that began before
	Apart  bool            `json:"apart,omitempty"`  // a tree is not in the journal
}

type endRecord struct {
	Call    int            `json:"call"`
	Changed effect.Changed `json:"changed"`
}

// begin notes that a call begins. first: no other one runs.
func (j *Journal) begin(first bool, b beginRecord) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if first {
		j.add(kindReset, nil)
	}
	j.addJSON(kindBegin, b)
}

// rest makes room where it can: no call runs.
func (j *Journal) rest() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.off > 2*j.whole+slack {
		j.forget(kindReset)
	}
}

func (j *Journal) end(e endRecord) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.addJSON(kindEnd, e)
}

func (j *Journal) addJSON(kind byte, v any) {
	b, err := json.Marshal(v)
	if err != nil { // neither type has a value that JSON does not
		j.forget(kindLost)
		return
	}
	j.add(kind, b)
}

// saving is what a tree has in the journal.
type saving struct {
	journal *Journal
	index   int
	era     int             // of the journal, when all of the tree was written
	whole   bool            // all of it was written
	changed map[string]bool // paths whose state is not written yet
}

// note remembers which paths differ.
func (s *saving) note(ds []delta) {
	if s.journal == nil || !s.whole { // else all is written anyway
		return
	}
	if s.changed == nil {
		s.changed = map[string]bool{}
	}
	for _, d := range ds {
		s.changed[d.rel] = true
	}
}

// forget says that contents which records name are about to change.
func (s *saving) forget() {
	if s.journal == nil {
		return
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.journal.forget(kindLost)
}

// save writes down what is known of the tree.
func (t *Tree) save() {
	s := &t.saving
	if s.journal == nil {
		return
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if s.journal.open() != nil {
		return
	}
	whole := !s.whole || s.era != s.journal.era
	r := s.journal.record(kindTree)
	b := encoder{to: r}
	b.num(int64(s.index))
	b.flag(whole)
	b.num(t.seen.UnixNano())
	if whole {
		b.str(t.root)
		b.str(t.search.Home)
		b.num(int64(len(t.leave)))
		for _, l := range t.leave {
			b.str(l)
		}
		for _, d := range t.order {
			b.folder(d)
			for name, f := range d.files {
				b.file(below(d.rel, name), f)
			}
		}
	} else {
		for rel := range s.changed {
			b.gone(rel)
			if d := t.folders[rel]; d != nil {
				b.folder(d)
			}
			if d := t.folders[parent(rel)]; d != nil && rel != "" {
				b.file(rel, d.files[base(rel)])
			}
		}
	}
	b.flush()
	r.end()
	if whole {
		s.whole, s.era = true, s.journal.era
		s.journal.whole += r.n
	}
	clear(s.changed)
}

// apart reports whether the tree is not in the journal.
func (t *Tree) apart() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saving.journal == nil
}

// keep saves the tree as it was seen last.
func (t *Tree) keep(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saving.journal != nil && t.folders != nil && t.off == nil {
		t.keepAll(ctx)
		t.save()
	}
}

// A saved is a tree as a journal has it.
type saved struct {
	root, home string
	leave      []string
	began      time.Time
	folders    map[string]*folder
	files      map[string]*file
}

// apply takes over a record of a tree.
func (s *saved) apply(r *decoder, whole bool) {
	s.began = time.Unix(0, r.num())
	if whole {
		s.root, s.home = r.str(), r.str()
		s.leave = nil
		for n := r.num(); n > 0 && !r.bad; n-- {
			s.leave = append(s.leave, r.str())
		}
		s.folders, s.files = map[string]*folder{}, map[string]*file{}
	}
	for len(r.b) > 0 && !r.bad {
		kind, rel := r.byte(), r.str()
		if rel != "" && !filepath.IsLocal(filepath.FromSlash(rel)) || s.folders == nil {
			r.bad = true
			return
		}
		switch kind {
		case 'x':
			delete(s.folders, rel)
			delete(s.files, rel)
		case 'd':
			d := &folder{rel: rel, files: map[string]*file{}, subs: map[string]bool{}}
			d.stat, d.seen = r.stat()
			d.named, d.left = r.flag(), r.flag()
			s.folders[rel] = d
		case 'f':
			f := &file{}
			f.stat, f.seen = r.stat()
			f.link, f.copied, f.at, f.sum = r.str(), r.flag(), r.num(), uint32(r.num())
			f.git, f.lost, f.hash = r.str(), r.str(), r.str()
			s.files[rel] = f
		default:
			r.bad = true
		}
	}
}

// tree makes a Tree of it, which takes everything for unseen.
func (s *saved) tree(c Config) (*Tree, error) {
	c.Root, c.Home, c.Leave = s.root, s.home, s.leave
	t := New(c)
	lister, err := search.NewLister(t.search)
	if err != nil {
		return nil, err
	}
	defer lister.Close()
	t.folders, t.ruled = s.folders, true
	for rel, f := range s.files {
		if d := s.folders[parent(rel)]; d != nil {
			d.files[base(rel)] = f
		}
	}
	for rel, d := range s.folders {
		if rel == "" {
			d.above = lister.Above()
		} else if up := s.folders[parent(rel)]; up != nil && !d.named {
			up.subs[base(rel)] = true
		}
		t.order = append(t.order, d)
	}
	order.By(t.order, func(a, b *folder) int { return strings.Compare(a.rel, b.rel) }) // a folder stands behind the one that holds it
	return t, nil
}
