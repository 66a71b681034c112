package file

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/diff"
)

// Bounds of looking for files that changed.
const (
	maxLooked = 200     // files, those seen last
	maxKept   = 8 << 20 // bytes of what files were, together
	keptSize  = 256 << 10
	staleDiff = 2_000 // bytes of one diff
)

// A Stale is a file that is on disk otherwise than the model last saw it.
type Stale struct {
	Path string
	Gone bool
	Diff string // from what it was, at most some lines; "" when that is not known
	// Now is the file as it is, where Diff tells all that changed since the model saw it:
	// who is told that knows the file again (Ledger.Know). Its Path is "" otherwise.
	Now effect.File
}

// A looked is how a file was when it was last looked at.
type looked struct {
	size  int64
	mtime time.Time
	gone  bool
}

// A was is what a file said when the model saw it, or when it was told of.
type was struct{ hash, text string }

// Stale lists files that changed since the model saw them, each change once: the
// newest 200 of those it saw are looked at. What a file was is known when it was
// looked at then.
func (l *Ledger) Stale() (out []Stale) {
	l.mu.Lock()
	seen := make([]effect.File, 0, len(l.recent))
	for _, p := range l.recent {
		seen = append(seen, l.files[p])
	}
	l.mu.Unlock()
	for _, f := range seen {
		if s, ok := l.look(f); ok {
			out = append(out, s)
		}
	}
	return out
}

// Changed is Stale of one file.
func (l *Ledger) Changed(path string) (s Stale, ok bool) {
	f, known := l.Get(path)
	if !known {
		return s, false
	}
	return l.look(f)
}

// Know takes over that the model was told how a file changed, and returns how it knows the
// file now. Where the call that had it changed told so with its result, that counts as if
// it was read. Anybody else's change does not: the model may have its next content ready,
// and would replace theirs.
func (l *Ledger) Know(s Stale, own bool) effect.File {
	if !own {
		s.Now.Partial, s.Now.First, s.Now.Last, s.Now.Unseen = true, 0, 0, effect.UnseenPart
	}
	l.put(s.Now)
	return s.Now
}

// told reports whether the model was told that a file, as it is now, changed since it saw it.
func (l *Ledger) told(path string, fi fs.FileInfo) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.looked[path] == looked{size: fi.Size(), mtime: fi.ModTime()}
}

// look looks at one file. It reads it when that was not done since it changed.
func (l *Ledger) look(f effect.File) (s Stale, ok bool) {
	s.Path = f.Path
	fi, err := os.Lstat(f.Path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone || err == nil && !fi.Mode().IsRegular() {
		return s, false
	}
	at := looked{gone: true}
	if !gone {
		at = looked{size: fi.Size(), mtime: fi.ModTime()}
	}
	if !l.first(f, at) {
		return s, false
	}
	same := !gone && fi.Size() == f.Size && fi.ModTime().UnixNano() == f.MTime
	switch {
	case gone:
		s.Gone = true
		return s, true
	case f.Hash == "" || fi.Size() > keptSize: // too much to compare
		return s, !same
	}
	o, err := open(f.Path)
	if err != nil {
		return s, false
	}
	defer o.f.Close()
	b, err := o.slurp(keptSize)
	if err != nil {
		return s, false
	}
	now := entry(f.Path, o.fi, b)
	text := asText(b)
	before := l.replace(f, was{now.Hash, text})
	if now.Hash == f.Hash || now.Hash == before.hash { // only its time changed since it was looked at
		return s, false
	}
	if before.hash != "" && !clip.Binary(b) && !clip.Binary([]byte(before.text)) {
		whole := diff.Shown(f.Path, before.text, text, false).Unified
		if s.Diff = trimmed(whole); before.hash == f.Hash && len(whole) <= staleDiff {
			s.Now = now
			s.Now.Partial, s.Now.First, s.Now.Last, s.Now.Unseen = f.Partial, f.First, f.Last, f.Unseen
		}
	}
	return s, true
}

// asText is what a file's bytes say, for comparing.
func asText(b []byte) string {
	d, err := decodeRaw(b)
	if err != nil {
		return string(b)
	}
	return d.raw
}

// trimmed is a diff of at most staleDiff bytes, cut at a line.
func trimmed(d string) string {
	if len(d) <= staleDiff {
		return strings.TrimRight(d, "\n")
	}
	return d[:strings.LastIndexByte(d[:staleDiff], '\n')+1] + "[the rest of this diff is left out]"
}

// first reports whether a file that the model still knows so was not looked at
// yet as it is now, and notes that it is.
func (l *Ledger) first(f effect.File, at looked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[f.Path] != f || l.looked[f.Path] == at {
		return false
	}
	l.looked[f.Path] = at
	return true
}

// replace keeps what a file says now, and returns what was kept of it.
func (l *Ledger) replace(f effect.File, now was) (before was) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[f.Path] != f {
		return was{}
	}
	before = l.kept[f.Path]
	l.kept[f.Path] = now
	l.size += len(now.text) - len(before.text)
	for _, p := range l.recent { // the oldest go first
		if l.size <= maxKept {
			break
		}
		l.drop(p)
	}
	return before
}

// keep remembers what a file says that the model wrote.
func (l *Ledger) keep(f effect.File, content []byte) {
	if len(content) > keptSize {
		return
	}
	l.replace(f, was{f.Hash, string(content)})
}

// drop forgets what a file was. l.mu is held.
func (l *Ledger) drop(path string) {
	l.size -= len(l.kept[path].text)
	delete(l.kept, path)
}

// noted takes over that the model saw a file now. l.mu is held.
func (l *Ledger) noted(f effect.File) {
	if l.files[f.Path] == f {
		return
	}
	l.files[f.Path] = f
	delete(l.looked, f.Path)
	if l.kept[f.Path].hash != f.Hash {
		l.drop(f.Path)
	}
	for i, p := range l.recent {
		if p == f.Path {
			l.recent = append(l.recent[:i:i], l.recent[i+1:]...)
			break
		}
	}
	l.recent = append(l.recent, f.Path)
	for len(l.recent) > maxLooked {
		l.drop(l.recent[0])
		delete(l.looked, l.recent[0])
		l.recent = l.recent[1:]
	}
}

// forget drops a file that the model does not know any more. l.mu is held.
func (l *Ledger) forget(path string) {
	delete(l.files, path)
	delete(l.looked, path)
	l.drop(path)
	for i, p := range l.recent {
		if p == path {
			l.recent = append(l.recent[:i:i], l.recent[i+1:]...)
			break
		}
	}
}
