package jsonl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/seal"
)

// SnapshotName is the file of the newest snapshot. It can be removed at any
// time: then the log is read from its beginning.
const SnapshotName = "snapshot"

// Sizes of a snapshot's file: of its head in bytes, which is padded, so that
// it can be written anew in its place, and of all that is read.
const (
	headSize    = 1024
	maxSnapshot = 512 << 20
)

// readAnew bounds what is read from its beginning because its time is another one
// than when adze left it, in bytes: a third of a second. A larger log was copied,
// restored or touched far more often than changed in its middle.
const readAnew = 64 << 20

// head is what a snapshot says of itself. It is sealed, and by its Sum the rest
// is, too.
type head struct {
	Version int         `json:"version"` // of the file's form
	Fold    string      `json:"fold"`    // the version of what made the data
	At      store.Place `json:"at"`
	// Size and Time are the log's when the head was written; all of it was on
	// disk for good then.
	Size int64  `json:"size"`
	Time int64  `json:"time"` // in Unix nanoseconds
	Sum  string `json:"sum"`  // SHA-256 of what follows the head, in hex
	Mac  string `json:"mac,omitempty"`
}

const snapshotVersion = 1

// sealed is the head, which has no Mac yet, as it is in the file.
func (h head) sealed(key []byte) ([]byte, error) {
	text, _ := json.Marshal(h) // texts and numbers: there is no error
	h.Mac = seal.Sum(key, "snapshot", text)
	text, _ = json.Marshal(h)
	if len(text) >= headSize {
		return nil, fmt.Errorf("the head of a snapshot has %d bytes", len(text))
	}
	text = append(text, bytes.Repeat([]byte(" "), headSize-1-len(text))...)
	return append(text, '\n'), nil
}

// readHead reads a head that this machine sealed.
func readHead(r io.ReaderAt, key []byte) (head, error) {
	var h head
	raw := make([]byte, headSize)
	if _, err := r.ReadAt(raw, 0); err != nil {
		return h, err
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, err
	}
	mac := h.Mac
	h.Mac = ""
	text, err := json.Marshal(h)
	if err != nil {
		return h, err
	}
	if h.Version != snapshotVersion || !seal.Equal(mac, seal.Sum(key, "snapshot", text)) {
		return h, errors.New("the snapshot is not ours")
	}
	return h, nil
}

// Place implements store.Keeper. It is zero as long as nobody has read the
// log's beginning, and without a key.
func (l *Log) Place() store.Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, known := l.scan.linesAtOpen()
	if !known || l.opt.Key == nil || l.f == nil {
		return store.Place{}
	}
	newest := max(l.last, l.scan.newest()) // a damaged log may end with a number that came before
	return store.Place{Seq: newest, Off: l.synced + int64(len(l.tail)), Lines: lines + l.added, Mark: string(l.mark[:])}
}

// Keep implements store.Keeper. It may run beside Append; whoever calls it
// waits for it before Close.
func (l *Log) Keep(ctx context.Context, fold string, at store.Place, data []byte) error {
	if at == (store.Place{}) {
		return errors.New("the log cannot keep a snapshot of this place")
	}
	r := l.Report()
	r.Sealed = r.Sealed || l.scan.fresh()
	report, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if data, err = blob.Out(data, l.blobs.Put); err != nil {
		return err
	}
	report = append(report, '\n')
	sum := sha256.New()
	sum.Write(report)
	sum.Write(data)
	h := head{Version: snapshotVersion, Fold: fold, At: at, Sum: hex.EncodeToString(sum.Sum(nil))}
	part := SnapshotName + ".new"
	f, err := l.dir.OpenFile(part, os.O_RDWR|os.O_CREATE, disk.FileMode)
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(report, headSize)
	}
	if err == nil {
		_, err = f.WriteAt(data, headSize+int64(len(report)))
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return errors.Join(err, f.Close())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h, err = l.putHead(f, h)
	if err = errors.Join(err, f.Close()); err == nil {
		err = l.dir.Rename(part, SnapshotName)
	}
	if err == nil {
		l.kept = &h
	}
	return err
}

// putHead writes the head of a snapshot for the log as it is now.
func (l *Log) putHead(f disk.File, h head) (head, error) {
	if l.done {
		return h, store.ErrClosed
	}
	if err := l.flush(true); err != nil {
		return h, err
	}
	return h, l.writeHead(f, &h)
}

func (l *Log) writeHead(f disk.File, h *head) error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	h.Size, h.Time = info.Size(), info.ModTime().UnixNano()
	raw, err := h.sealed(l.opt.Key)
	if err == nil {
		_, err = f.WriteAt(raw, 0)
	}
	return err
}

// touch notes in the newest snapshot how the log is left, so that what changes
// it from now on is found out. When it cannot, all of the log is read next time.
func (l *Log) touch() {
	if l.kept == nil {
		return
	}
	f, err := l.dir.OpenFile(SnapshotName, os.O_RDWR, 0)
	if err != nil {
		return
	}
	_ = l.writeHead(f, l.kept)
	_ = f.Close()
}

// Kept implements store.Keeper. Of a snapshot that is damaged, of another
// version, or not of this log, there is none. Where the log is shorter than
// when the snapshot was sealed, the Report says so.
func (l *Log) Kept(fold string) (data []byte, _ store.Place, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil || l.opt.Key == nil {
		return nil, store.Place{}, false
	}
	f, err := l.dir.OpenFile(SnapshotName, os.O_RDONLY, 0)
	if err != nil {
		return nil, store.Place{}, false
	}
	defer f.Close()
	h, err := readHead(f, l.opt.Key)
	if err != nil {
		return nil, store.Place{}, false
	}
	if l.synced < h.Size {
		l.cut = h.Size - l.synced
		_ = l.dir.Remove(SnapshotName) // it is said once
	}
	if h.Fold != fold || !l.fits(h) {
		return nil, store.Place{}, false
	}
	body, err := readBody(f, h)
	if err != nil {
		return nil, store.Place{}, false
	}
	report, data, _ := bytes.Cut(body, []byte("\n"))
	var r store.Report
	if json.Unmarshal(report, &r) != nil {
		return nil, store.Place{}, false
	}
	data, missing := blob.In(data, l.blobs.Get)
	if missing > 0 {
		return nil, store.Place{}, false // the log says what is missing
	}
	l.kept = &h
	l.scan.goOn(mark{h.At.Seq, h.At.Off, h.At.Lines, markOf(h.At)}, r)
	return data, h.At, true
}

// fits reports whether the log is the one that a snapshot was made of: what it
// was when the head was written stands there, with no other time where it is small,
// and the line before the place is the one that was there. A change further up in a
// large log, or in one that has grown since, is not seen; nothing is taken from there.
func (l *Log) fits(h head) bool {
	info, err := l.f.Stat()
	if err != nil || l.synced < h.Size || h.At.Off > h.Size {
		return false
	}
	if l.synced == h.Size && h.Size <= readAnew && info.ModTime().UnixNano() != h.Time {
		return false
	}
	start, _, err := lineBefore(l.f, h.At.Off)
	if err != nil || h.At.Off-start > event.MaxLine {
		return false
	}
	line := make([]byte, h.At.Off-start)
	if _, err := l.f.ReadAt(line, start); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
		return false
	}
	body, m := seal.Split(line[:len(line)-1])
	seq, _, _, err := event.Head(body)
	return err == nil && seq == h.At.Seq && m == markOf(h.At)
}

func markOf(p store.Place) (m seal.Mark) {
	copy(m[:], p.Mark)
	return m
}

func readBody(f disk.File, h head) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := info.Size() - headSize
	if n < 0 || n > maxSnapshot {
		return nil, fmt.Errorf("a snapshot of %d bytes", n)
	}
	body := make([]byte, n)
	if _, err := f.ReadAt(body, headSize); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != h.Sum {
		return nil, errors.New("the snapshot is damaged")
	}
	return body, nil
}
