// Package history keeps the prompts that people entered, of all projects, in one
// file of JSON lines. Only its owner can read the file; several processes may
// write it; it is bounded, and read from its end only as far as somebody looks.
// It draws nothing and searches nothing.
package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
)

// An Entry is a prompt as it was entered. Pastes are folded in Text: each label
// stands for a text.
type Entry struct {
	Text    string
	Pastes  []Paste
	Project string // folder
	Session string
	Time    time.Time
}

// A Paste is what a label of an entry's Text stands for.
type Paste struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// entryLine is an Entry in the file.
type entryLine struct {
	Display   string  `json:"display"`
	Pastes    []Paste `json:"pastes,omitempty"`
	Project   string  `json:"project,omitempty"`
	Timestamp int64   `json:"timestamp"` // ms since 1970
	SessionID string  `json:"sessionId,omitempty"`
}

// Bounds of what is kept, in bytes.
const (
	maxText   = 64 << 10 // of an entry
	maxShell  = 4 << 10  // of one that begins with "!"
	maxPastes = 64 << 10 // of an entry's pastes together
	maxLine   = 1 << 20  // of the file; longer lines are passed over
	maxBytes  = 4 << 20  // of the file; then the older half goes
	maxMine   = 200      // entries of this process that stand before those of others
)

// wait bounds how long Add waits for another process.
const wait = 2 * time.Second

// A File is the history. It serves any number of goroutines.
type File struct {
	path string
	hide func(string) string

	mu   sync.Mutex // guards what follows
	last string     // what was added last
	mine []Entry    // what was added here, newest last; it may not be in the file
	seen []*Past    // readers that have to hear of what is added
}

// At is the history in a file, which need not exist. hide, when set, takes
// secrets out of a text before it is written; Past shows what is written.
func At(path string, hide func(string) string) *File {
	if hide == nil {
		hide = func(s string) string { return s }
	}
	return &File{path: path, hide: hide}
}

// Add appends an entry. Not kept are: what begins with a space, what is empty,
// what was added just before. Long texts and pastes are cut; a paste that is too
// large leaves only its label. When the file cannot be written the entry is still
// known to this process.
func (f *File) Add(ctx context.Context, e Entry) error {
	e, ok := f.fit(e)
	if !ok {
		return nil
	}
	f.mu.Lock()
	if f.last == e.Text {
		f.mu.Unlock()
		return nil
	}
	f.last = e.Text
	for _, p := range f.seen {
		p.push(e)
	}
	f.mine = append(f.mine, e)
	f.mine = f.mine[max(0, len(f.mine)-maxMine):]
	f.mu.Unlock()
	if err := f.write(ctx, e); err != nil {
		return fmt.Errorf("keep the prompt in the history: %w", err)
	}
	return nil
}

// fit bounds an entry and hides what is secret in it.
func (f *File) fit(e Entry) (Entry, bool) {
	if strings.TrimSpace(e.Text) == "" || strings.HasPrefix(e.Text, " ") {
		return e, false
	}
	limit := maxText
	if strings.HasPrefix(e.Text, "!") {
		limit = maxShell
	}
	left := maxPastes
	var kept []Paste
	for _, p := range e.Pastes {
		if len(p.Text) > left {
			e.Text = strings.ReplaceAll(e.Text, p.Label, strings.TrimSuffix(p.Label, "]")+", not kept]")
			continue
		}
		left -= len(p.Text)
		kept = append(kept, Paste{p.Label, f.hide(p.Text)})
	}
	e.Pastes = kept
	if text, cut := clip.Head(e.Text, limit); cut {
		e.Text = text + "…"
	}
	e.Text = f.hide(e.Text)
	return e, true
}

func (f *File) write(ctx context.Context, e Entry) error {
	raw, err := json.Marshal(entryLine{e.Text, e.Pastes, e.Project, e.Time.UnixMilli(), e.Session})
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	unlock, err := lease.Lock(ctx, dir, filepath.Base(f.path))
	if err != nil {
		return err
	}
	defer unlock()
	size, err := f.append(raw)
	if err != nil || size <= maxBytes {
		return err
	}
	// Where somebody reads the file and its system keeps it in place for that,
	// the next entry tries again.
	if err = f.halve(); size < 2*maxBytes {
		return nil
	}
	return err
}

var errNotFile = errors.New("it is no regular file")

// append writes a line and returns the size of the file.
func (f *File) append(raw []byte) (int64, error) {
	if info, err := os.Lstat(f.path); err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: %w", f.path, errNotFile)
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := file.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return 0, err
		}
	}
	size := info.Size()
	if size > 0 { // a line that was cut off by a crash must not swallow this one
		var last [1]byte
		if _, err := file.ReadAt(last[:], size-1); err != nil {
			return 0, err
		}
		if last[0] != '\n' {
			raw = append([]byte{'\n'}, raw...)
		}
	}
	_, err = file.Write(raw)
	return size + int64(len(raw)), err
}

// halve leaves the newer half of the file. It is called with the lock held.
func (f *File) halve() error {
	old, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer old.Close()
	if _, err := old.Seek(-maxBytes/2, io.SeekEnd); err != nil {
		return err
	}
	rest, err := io.ReadAll(io.LimitReader(old, maxBytes))
	if err != nil {
		return err
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n")) // the first line is cut
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer root.Close()
	return safe.Replace(root, safe.File{Name: filepath.Base(f.path), Text: rest, Mode: 0o600, Brief: true})
}

// open opens the file to read it. No file is an empty one.
func (f *File) open() (*os.File, int64, error) {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", f.path, errNotFile)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}
