package file

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"sync"

	"github.com/adze-agent/adze/internal/effect"
)

// A Ledger is what the model knows of files: their state when it last saw
// them. It is shared by the tools of one session and safe for concurrent use.
type Ledger struct {
	mu     sync.Mutex // guards what follows
	files  map[string]effect.File
	recent []string // those that are looked at for changes, the newest last
	looked map[string]looked
	kept   map[string]was
	size   int // bytes of kept
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{files: map[string]effect.File{}, looked: map[string]looked{}, kept: map[string]was{}}
}

// Restore adds what a resumed session had seen; later entries win.
func (l *Ledger) Restore(files []effect.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range files {
		l.noted(f)
	}
}

// Get returns what is known of a file.
func (l *Ledger) Get(path string) (effect.File, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.files[path]
	return f, ok
}

// Forget drops files, after a rewind for example; without paths it drops all.
func (l *Ledger) Forget(paths ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(paths) == 0 {
		clear(l.files)
		clear(l.looked)
		clear(l.kept)
		l.recent, l.size = nil, 0
	}
	for _, p := range paths {
		l.forget(p)
	}
}

func (l *Ledger) put(f effect.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noted(f)
}

// saw takes over that the model read a file, or those of its lines that f says, of lines in
// all. What it saw before of the same content, it has still seen.
func (l *Ledger) saw(f effect.File, lines int) effect.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, ok := l.files[f.Path]
	if ok && f.Hash != "" && old.Hash == f.Hash && old.Size == f.Size {
		f = together(old, f, lines)
	}
	l.noted(f)
	return f
}

// shown reports whether an entry comes from a read: a write is known to the
// model too, but was not shown to it line by line.
func shown(f effect.File) bool { return !f.Partial || f.First > 0 }

// together is what is known of a file, of lines in all, when f was read of the same content after old.
func together(old, f effect.File, lines int) effect.File {
	switch {
	case !shown(old):
	case !old.Partial:
		f.Partial = false
	case f.Partial && old.First <= f.Last+1 && f.First <= old.Last+1:
		f.First, f.Last = min(f.First, old.First), max(f.Last, old.Last)
		f.Partial = f.First > 1 || f.Last < lines
	}
	if !f.Partial {
		f.First, f.Last = 0, 0
	}
	switch {
	case old.Unseen == "": // it was written
		f.Unseen = ""
	case f.Unseen == effect.UnseenEnds || shown(old) && old.Unseen == effect.UnseenEnds:
		f.Unseen = effect.UnseenEnds
	case !f.Partial:
		f.Unseen = ""
	}
	return f
}

// Seed takes over that the model saw a file in a Read that this session does not have, if
// the file is as it was then: at is its time of change, in milliseconds, rounded down. It
// may be edited then; before it is replaced, it has to be read. false is that the file
// changed since, or is none that can be edited.
func (l *Ledger) Seed(path string, at int64) bool {
	o, err := open(path)
	if err != nil {
		return false
	}
	defer o.f.Close()
	b, err := o.slurp(maxFile)
	if err != nil || o.fi.ModTime().UnixMilli() != at {
		return false
	}
	if f, ok := l.Get(path); ok && f.Hash != "" && same(f, b) {
		return true // and better than by hearsay
	}
	f := entry(path, o.fi, b)
	f.Partial, f.Unseen = true, effect.UnseenPart
	l.put(f)
	l.keep(f, b)
	return true
}

// entry describes content as it is on disk.
func entry(path string, fi fs.FileInfo, content []byte) effect.File {
	sum := sha256.Sum256(content)
	return effect.File{Path: path, Size: int64(len(content)), MTime: fi.ModTime().UnixNano(), Hash: hex.EncodeToString(sum[:])}
}

// same reports whether content is what the model saw. Size and hash decide;
// a file that was only touched is the same.
func same(f effect.File, content []byte) bool {
	if f.Size != int64(len(content)) {
		return false
	}
	sum := sha256.Sum256(content)
	return f.Hash == hex.EncodeToString(sum[:])
}
