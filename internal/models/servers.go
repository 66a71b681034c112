package models

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
)

// serversFile, in the folder of state, is what servers of models refused, so that a
// session that is taken up again need not meet it again. It holds digests of
// addresses and names of parts of requests.
const serversFile = "servers.json"

const (
	maxServers  = 200                 // the oldest go first
	serversAge  = 30 * 24 * time.Hour // a server may be a newer one by then
	serversSize = 1 << 20             // bytes that are read
)

// servers keeps a choose.Memory on disk, in this folder. It implements wire.Disk.
type servers struct {
	dir string
	now func() time.Time
}

type server struct {
	Without []string  `json:"without"`
	At      time.Time `json:"at"`
}

func (s servers) read() map[string]server {
	all := map[string]server{}
	text, err := regular.Read(filepath.Join(s.dir, serversFile), serversSize)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return map[string]server{}
	}
	oldest := s.now().Add(-serversAge)
	maps.DeleteFunc(all, func(_ string, v server) bool { return v.At.Before(oldest) })
	return all
}

// Load implements wire.Disk.
func (s servers) Load() map[string][]string {
	out := map[string][]string{}
	for key, v := range s.read() {
		out[key] = v.Without
	}
	return out
}

// Save implements wire.Disk. Of two processes at once one entry may be lost: its
// refusal is met once more.
func (s servers) Save(key string, names []string) {
	all := s.read()
	all[key] = server{names, s.now().UTC().Truncate(time.Second)}
	for len(all) > maxServers {
		delete(all, slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int { return all[a].At.Compare(all[b].At) }))
	}
	text, err := json.Marshal(all)
	if err != nil || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer root.Close()
	_ = safe.Replace(root, safe.File{Name: serversFile, Text: text, Mode: 0o600, Brief: true}) // see Disk
}
