// Package draft keeps what stands in a prompt box and was not sent, in a file
// of its owner's for each process. A process that ends in order takes its file
// away; what one that was killed leaves behind, the next one in its folder finds.
package draft

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/store/lease"
	"github.com/adze-agent/adze/internal/ui/history"
)

// A Draft is what a process has not sent.
type Draft struct {
	Project string    `json:"project"` // the folder that it was started in
	Session string    `json:"session,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text,omitempty"` // pastes folded
	// Pastes are what labels in Text stand for. Images are not kept.
	Pastes []history.Paste `json:"pastes,omitempty"`
}

// owned is a Draft in its file.
type owned struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Start int64  `json:"start,omitempty"` // as lease.Holder.Start
	Draft
}

// Bounds of what is kept.
const (
	maxBytes = 4 << 20             // of a file; of a longer draft the pastes are left out, then its end
	maxFiles = 200                 // that are looked at
	maxAge   = 30 * 24 * time.Hour // of what was left behind
)

// A Keeper has the file of this process. It is not for several goroutines.
type Keeper struct {
	dir  string
	self lease.Self
}

// In keeps drafts in a folder, which need not exist.
func In(dir string, self lease.Self) *Keeper { return &Keeper{dir, self} }

func (k *Keeper) name() string { return fmt.Sprintf("%d-%d%s", k.self.PID, k.self.Start, ending) }

const ending = ".json"

// Keep puts d in the place of what this process kept.
func (k *Keeper) Keep(d Draft) error {
	raw, err := json.Marshal(owned{k.self.Host, k.self.PID, k.self.Start, d})
	if err == nil && len(raw) > maxBytes {
		d.Pastes = nil
		d.Text = strings.ToValidUTF8(d.Text[:min(len(d.Text), maxBytes/8)], "")
		raw, err = json.Marshal(owned{k.self.Host, k.self.PID, k.self.Start, d})
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return safe.Replace(root, safe.File{Name: k.name(), Text: append(raw, '\n'), Mode: 0o600, Exact: true, Brief: true})
}

// Drop takes away what this process kept.
func (k *Keeper) Drop() error { return k.remove(k.name()) }

func (k *Keeper) remove(name string) error {
	err := os.Remove(filepath.Join(k.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Left finds the newest draft of a process that was started in this folder, on
// this machine, and is no more. taken takes it away. What is too old or cannot
// be read is taken away at once.
func (k *Keeper) Left(project string) (d Draft, taken func() error, ok bool) {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return d, nil, false
	}
	type file struct {
		Draft
		name string
	}
	var found []file
	for _, e := range entries[:min(len(entries), maxFiles)] {
		if !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		o, err := read(filepath.Join(k.dir, e.Name()))
		switch {
		case err != nil || o.Host == k.self.Host && k.self.Now().Sub(o.Time) > maxAge && !k.self.Alive(o.PID, o.Start):
			_ = k.remove(e.Name()) // the next one tries again
		case o.Host == k.self.Host && o.Project == project && !k.self.Alive(o.PID, o.Start):
			found = append(found, file{o.Draft, e.Name()})
		}
	}
	if len(found) == 0 {
		return d, nil, false
	}
	newest := slices.MaxFunc(found, func(a, b file) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.name, b.name)) })
	return newest.Draft, func() error { return k.remove(newest.name) }, true
}

func read(path string) (o owned, err error) {
	raw, err := regular.Read(path, maxBytes)
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	return o, err
}
