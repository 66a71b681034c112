package jsonl

import (
	"bytes"
	"io"
	"os"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/seal"
)

// repair moves what follows the last whole line to log.torn, notes the seq of
// the last event, and returns the length that is left. A write that a crash
// cut leaves a part of a line; a power cut may leave blocks of NUL bytes,
// which no line of JSON has.
func (l *Log) repair(dir disk.Dir, f disk.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	end, err := l.lastGood(f, size)
	if err != nil || end == size {
		return end, err
	}
	// First a copy on disk, then the cut: a crash in between repeats the copy
	// and loses nothing.
	if err := keepTorn(dir, io.NewSectionReader(f, end, size-end)); err != nil {
		return 0, err
	}
	if err := f.Truncate(end); err != nil {
		return 0, err
	}
	l.torn = size - end
	return end, f.Sync()
}

// lastGood walks back from the end of the file over torn and NUL-filled
// lines, and returns where the last whole line ends.
func (l *Log) lastGood(f io.ReaderAt, size int64) (int64, error) {
	end := size
	for end > 0 {
		whole, err := endsLine(f, end)
		if err != nil {
			return 0, err
		}
		start, hasNUL, err := lineBefore(f, end)
		if err != nil {
			return 0, err
		}
		if whole && !hasNUL {
			break
		}
		end = start
	}
	if err := l.markBefore(f, end); err != nil {
		return 0, err
	}
	return end, l.seqBefore(f, end)
}

// markBefore notes the mark of the line that ends at end, which the next line
// is bound to.
func (l *Log) markBefore(f io.ReaderAt, end int64) error {
	line := make([]byte, min(end, int64(seal.Size)+3)) // its mark, its newline, and a byte before them
	if _, err := f.ReadAt(line, end-int64(len(line))); err != nil && len(line) > 0 {
		return err
	}
	_, l.mark = seal.Split(bytes.TrimSuffix(line, []byte("\n")))
	return nil
}

// seqBefore notes the seq of the last event that ends at or before end. Lines
// that are no event stay where they are.
func (l *Log) seqBefore(f io.ReaderAt, end int64) error {
	for tries := 0; end > 0 && tries < 1000; tries++ {
		start, _, err := lineBefore(f, end)
		if err != nil {
			return err
		}
		if seq, ok := seqOf(f, start, end); ok {
			l.last = seq
			return nil
		}
		end = start
	}
	return nil
}

func endsLine(f io.ReaderAt, end int64) (bool, error) {
	var b [1]byte
	if _, err := f.ReadAt(b[:], end-1); err != nil {
		return false, err
	}
	return b[0] == '\n', nil
}

// lineBefore returns where the line that ends at end starts, and whether it
// holds a NUL byte.
func lineBefore(f io.ReaderAt, end int64) (start int64, hasNUL bool, err error) {
	buf := make([]byte, 64<<10)
	at := end
	for at > 0 {
		n := min(int64(len(buf)), at)
		part := buf[:n]
		if _, err := f.ReadAt(part, at-n); err != nil {
			return 0, false, err
		}
		search := part
		if at == end && part[n-1] == '\n' {
			search = part[:n-1] // the line's own newline
		}
		i := bytes.LastIndexByte(search, '\n')
		hasNUL = hasNUL || bytes.IndexByte(part[i+1:], 0) >= 0
		if i >= 0 {
			return at - n + int64(i) + 1, hasNUL, nil
		}
		at -= n
	}
	return 0, hasNUL, nil
}

func seqOf(f io.ReaderAt, start, end int64) (event.Seq, bool) {
	if end-start > event.MaxLine {
		return 0, false
	}
	line := make([]byte, end-start)
	if _, err := f.ReadAt(line, start); err != nil {
		return 0, false
	}
	e, err := event.ParseLine(blob.Bare(line))
	return e.Seq, err == nil
}

// keepTorn adds r to log.torn and syncs it.
func keepTorn(dir disk.Dir, r io.Reader) error {
	f, err := dir.OpenFile(TornName, os.O_RDWR|os.O_CREATE, disk.FileMode)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	if _, err = io.Copy(io.NewOffsetWriter(f, info.Size()), r); err == nil {
		err = f.Sync()
	}
	f.Close() // what was synced is on the disk
	if err != nil {
		return err
	}
	return dir.Sync()
}
