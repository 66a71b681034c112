package sessions

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// gathered is what is known of all sessions of a project, in one file beside them, so
// that a list looks at the logs and reads none. It can be removed at any time.
type gathered struct {
	Version  int                   `json:"version"`
	Sessions map[string]store.Info `json:"sessions"` // by ID, as they were when the log had this size and time
}

const (
	gatheredName    = "sessions.json"
	gatheredVersion = digestVersion
	maxGathered     = 64 << 20 // bytes
	// worth is how many sessions must be news for the file to be written anew.
	worth = 16
)

func loadGathered(root *os.Root, key string) (g gathered) {
	f, err := regular.In(root, filepath.Join(key, gatheredName), os.O_RDONLY, 0)
	if err != nil {
		return g
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxGathered))
	if err != nil || fastjson.Unmarshal(raw, &g) != nil || g.Version != gatheredVersion {
		return gathered{}
	}
	return g
}

// saveGathered replaces the file in one step. When it cannot, the logs are looked at one
// by one the next time, and nothing else happens.
func saveGathered(root *os.Root, key string, list []store.Info) {
	g := gathered{Version: gatheredVersion, Sessions: make(map[string]store.Info, len(list))}
	for _, i := range list {
		if !i.Running {
			g.Sessions[i.ID] = i
		}
	}
	if raw, err := fastjson.Append(nil, g); err == nil {
		_ = safe.Replace(root, safe.File{Name: filepath.Join(key, gatheredName), Text: raw, Mode: disk.FileMode, Brief: true})
	}
}

// known is a session that nobody has written to since it was gathered, and that no process
// has open.
func (g gathered) known(dir, id string, now time.Time) (i store.Info, ok bool) {
	if i, ok = g.Sessions[id]; !ok {
		return i, false
	}
	log, err := os.Lstat(filepath.Join(dir, logName))
	if err != nil || !log.Mode().IsRegular() || log.Size() != i.Size || !log.ModTime().Equal(i.Changed) || now.Sub(i.Changed) < settled {
		return i, false
	}
	if _, err := os.Lstat(lease.Path(dir)); !os.IsNotExist(err) {
		return i, false
	}
	i.Dir = dir // the state may have been moved
	return i, true
}

// stale reports whether so many sessions were not known, or one that is known is gone: what
// it said must go with it.
func (g gathered) stale(news int, ids []string) bool {
	there := 0
	for _, id := range ids {
		if _, ok := g.Sessions[id]; ok {
			there++
		}
	}
	return news >= worth || there < len(g.Sessions)
}

// settled is how old a time of a file must be to tell two states of it apart.
const settled = 2 * time.Second
