package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/usage"
)

// A Used is what one session came to.
type Used struct {
	ID, Key string
	Root    string // of the project
	usage.Sheet
}

// sheet is what a session came to as far as its log was read, kept beside it
// so that only what was added since has to be read. It can be removed at any
// time. A copy of another session counts only what it did itself.
type sheet struct {
	Version int       `json:"version"`
	Off     int64     `json:"off"` // of the first byte that was not read
	Seq     event.Seq `json:"seq"` // of the last event that was read, or that was copied
	Root    string    `json:"root,omitempty"`
	// Types are the names of the definitions of the session's agents, by the agents' IDs.
	Types map[string]string `json:"types,omitempty"`
	usage.Sheet
}

const (
	sheetName    = "usage.json"
	sheetVersion = 2
)

// Usage yields what each session came to that was written to since a time, in
// no useful order. A session that cannot be read is left out.
func (s Store) Usage(ctx context.Context, since time.Time) iter.Seq2[Used, error] {
	return func(yield func(Used, error) bool) {
		root, err := os.OpenRoot(s.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Used{}, fmt.Errorf("read sessions: %w", err))
			return
		}
		defer root.Close()
		keys, err := folders(root, ".")
		if err != nil {
			yield(Used{}, fmt.Errorf("read sessions: %w", err))
			return
		}
		for _, key := range keys {
			if !s.usageOf(ctx, root, key, since, yield) {
				return
			}
		}
	}
}

// usageOf yields the sessions of one project, and reports whether to go on.
func (s Store) usageOf(ctx context.Context, all *os.Root, key string, since time.Time, yield func(Used, error) bool) bool {
	root, err := all.OpenRoot(key)
	if err != nil {
		return true // removed meanwhile
	}
	defer root.Close()
	ids, err := folders(root, ".")
	if err != nil {
		return yield(Used{}, fmt.Errorf("read sessions: %w", err))
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return yield(Used{}, err) && false
		}
		if !ValidID(id) {
			continue
		}
		k, ok := used(root, id, since)
		if ok && !yield(Used{id, key, k.Root, k.Sheet}, nil) {
			return false
		}
	}
	return true
}

// used reads what is new in a session's log since the last time.
func used(root *os.Root, id string, since time.Time) (k sheet, ok bool) {
	log := filepath.Join(id, logName)
	stat, err := root.Lstat(log)
	if err != nil || !stat.Mode().IsRegular() || stat.ModTime().Before(since) {
		return k, false
	}
	k = loadSheet(root, id)
	if k.Off > stat.Size() || k.Version != sheetVersion {
		k = sheet{Version: sheetVersion}
	}
	from := k.Off
	if from == stat.Size() {
		return k, true
	}
	f, err := regular.In(root, log, os.O_RDONLY, 0)
	if err != nil {
		return k, false
	}
	defer f.Close()
	for line, err := range event.Lines(io.NewSectionReader(f, from, stat.Size()-from), from) {
		if err != nil {
			return k, false
		}
		if line.Torn {
			break
		}
		k.line(line.Bytes)
		k.Off = line.Off + line.Len
	}
	if k.Off-from > 64<<10 || from == 0 && k.Off > 0 {
		saveSheet(root, id, k)
	}
	return k, true
}

func loadSheet(root *os.Root, id string) (k sheet) {
	raw, err := root.ReadFile(filepath.Join(id, sheetName))
	if err != nil || fastjson.Unmarshal(raw, &k) != nil {
		return sheet{}
	}
	return k
}

// saveSheet replaces the sheet in one step. When it cannot, the log is read
// again next time, and nothing else happens.
func saveSheet(root *os.Root, id string, k sheet) {
	raw, err := json.Marshal(k)
	if err != nil {
		return
	}
	_ = safe.Replace(root, safe.File{Name: filepath.Join(id, sheetName), Text: raw, Mode: disk.FileMode, Brief: true})
}

// line counts one line. Messages and results are not decoded.
func (k *sheet) line(line []byte) {
	seq, at, kind, err := event.Head(line)
	if err != nil || seq <= k.Seq {
		return
	}
	k.Seq = seq
	if kind == "session_started" {
		var e event.SessionStarted
		if fastjson.Unmarshal(line, &e) == nil {
			k.Root, k.Seq = cmp.Or(e.Root, e.Dir), max(seq, e.At)
		}
		return
	}
	if kind == "task_started" {
		var e event.TaskStarted
		if fastjson.Unmarshal(line, &e) == nil && e.Agent != nil && e.Agent.Type != "" {
			if k.Types == nil {
				k.Types = map[string]string{}
			}
			k.Types[e.ID] = e.Agent.Type
		}
		return
	}
	b, err := event.ParseUsage(line, kind)
	if err != nil {
		return
	}
	if r, ok := event.Request(b); ok {
		if by, ok := b.(event.Spent); ok && by.For == event.ForAgent && k.Types[by.Agent] != "" {
			r.For += " " + k.Types[by.Agent]
		}
		k.Request(at, r)
	}
	if tool, w, ok := event.Work(b); ok {
		k.Call(at, tool, w)
	}
}
