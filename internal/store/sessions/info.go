package sessions

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// digest is what was learned from the beginning of a log, kept beside it so
// that only what was added since has to be read. It can be removed at any time.
type digest struct {
	Version int        `json:"version"`
	Off     int64      `json:"off"` // of the first byte that was not read
	Info    store.Info `json:"info"`
}

const (
	digestName    = "summary.json"
	digestVersion = 4
)

// info reads what is new in a session's log since the last time.
func (s Store) info(root *os.Root, key, id string) (store.Info, error) {
	folder := filepath.Join(key, id)
	f, err := regular.In(root, filepath.Join(folder, logName), os.O_RDONLY, 0)
	if err != nil {
		return store.Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return store.Info{}, err
	}
	d := loadDigest(root, folder)
	if d.Off > stat.Size() || d.Version != digestVersion {
		d = digest{Version: digestVersion}
	}
	from := d.Off
	for line, err := range event.Lines(io.NewSectionReader(f, d.Off, stat.Size()-d.Off), d.Off) {
		if err != nil {
			return store.Info{}, err
		}
		if line.Torn {
			break
		}
		count(&d.Info, line.Bytes)
		d.Off = line.Off + line.Len
	}
	d.Info.ID, d.Info.Key, d.Info.Dir = id, key, s.folder(key, id)
	d.Info.Size, d.Info.Changed = stat.Size(), stat.ModTime()
	if d.Off-from > 64<<10 || from == 0 && d.Off > 0 {
		saveDigest(root, folder, d)
	}
	if dir, err := disk.Open(d.Info.Dir); err == nil {
		var h lease.Holder
		if h, d.Info.Running, _ = lease.Look(dir, s.self()); d.Info.Running {
			d.Info.Holder = &store.LockedError{PID: h.PID, Host: h.Host, Since: h.Since}
		}
		_ = dir.Close()
	}
	return d.Info, nil
}

func loadDigest(root *os.Root, folder string) digest {
	var d digest
	f, err := regular.In(root, filepath.Join(folder, digestName), os.O_RDONLY, 0)
	if err != nil {
		return d
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&d) != nil {
		return digest{}
	}
	return d
}

// saveDigest replaces the digest in one step. When it cannot, the log is read
// again next time, and nothing else happens.
func saveDigest(root *os.Root, folder string, d digest) {
	raw, err := json.Marshal(d)
	if err != nil {
		return
	}
	_ = safe.Replace(root, safe.File{Name: filepath.Join(folder, digestName), Text: raw, Mode: disk.FileMode, Brief: true})
}

// count adds one line. Only the few kinds that a list shows are decoded, and
// of a request to a model only its cost.
func count(i *store.Info, line []byte) {
	seq, at, kind, err := event.Head(line)
	if err != nil || seq <= i.Seq {
		return
	}
	i.Seq = seq
	if i.Began.IsZero() {
		i.Began = at
	}
	switch kind {
	case "replied", "dropped", "spent":
		var r struct {
			Usage  llm.Usage `json:"usage"`
			Cost   float64   `json:"cost"`
			Priced bool      `json:"priced"`
		}
		if fastjson.Unmarshal(line, &r) == nil {
			i.Spend(r.Usage, r.Cost, r.Priced)
		}
	case "turn_ended":
		i.Open = false
	case "session_started", "resumed", "input_accepted", "turn_started", "model_changed", "mode_changed", "titled":
		if e, err := event.ParseLine(blob.Bare(line)); err == nil {
			i.Count(e.Body)
		}
	}
}
