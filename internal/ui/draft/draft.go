// Package draft keeps what stands in a prompt box and was not sent, in a file
// of its owner's for each process. A process that ends in order with nothing in the
// box takes its file away; what another one leaves behind, the next one in its session's folder finds.
package draft

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ui/history"
)

// A Draft is what a process has not sent.
type Draft struct {
	Project string    `json:"project"` // the folder that its session works in
	Session string    `json:"session,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text,omitempty"`  // pastes folded
	Ended   bool      `json:"ended,omitempty"` // the process ended in order
	// Pastes are what labels in Text stand for.
	Pastes []history.Paste `json:"pastes,omitempty"`
	// Images are in files of their own, which are written once. Beyond maxImages
	// bytes in all they are not kept.
	Images []Image `json:"images,omitempty"`
}

// An Image is a picture in a prompt.
type Image struct {
	Name  string `json:"name,omitempty"`
	Media string `json:"media"`
	File  string `json:"file"` // in the folder of drafts; Keep and Left set it
	Data  []byte `json:"-"`
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
	maxBytes  = 4 << 20             // of a file; of a longer draft the pastes are left out, then its end
	maxImages = 16 << 20            // of a draft's images together
	maxFiles  = 200                 // that are looked at
	maxAge    = 30 * 24 * time.Hour // of what was left behind
)

// A Keeper has the file of this process. It is not for several goroutines.
type Keeper struct {
	dir  string
	self lease.Self
}

// In keeps drafts in a folder, which need not exist.
func In(dir string, self lease.Self) *Keeper { return &Keeper{dir, self} }

func (k *Keeper) name() string { return fmt.Sprintf("%d-%d%s", k.self.PID, k.self.Start, ending) }

const ending, imageEnding = ".json", ".image"

// imageOf is the file of an image of the draft that has this name.
func imageOf(name string, data []byte) string {
	return fmt.Sprintf("%s-%x%s", strings.TrimSuffix(name, ending), sha256.Sum256(data), imageEnding)
}

// Keep puts d in the place of what this process kept.
func (k *Keeper) Keep(d Draft) error {
	d.Images = slices.Clone(d.Images)
	total := 0
	for i, img := range d.Images {
		if total += len(img.Data); total > maxImages {
			d.Images = d.Images[:i]
			break
		}
		d.Images[i].File = imageOf(k.name(), img.Data)
	}
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
	if err := safe.Replace(root, safe.File{Name: k.name(), Text: append(raw, '\n'), Mode: 0o600, Exact: true, Brief: true}); err != nil {
		return err
	}
	for _, img := range d.Images {
		if i, err := root.Lstat(img.File); err == nil && i.Size() == int64(len(img.Data)) {
			continue
		}
		if err := safe.Replace(root, safe.File{Name: img.File, Text: img.Data, Mode: 0o600, Exact: true, Brief: true}); err != nil {
			return err
		}
	}
	return k.removeImages(k.name(), d.Images)
}

// Drop takes away what this process kept.
func (k *Keeper) Drop() error { return k.remove(k.name()) }

func (k *Keeper) remove(name string) error {
	err := os.Remove(filepath.Join(k.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, k.removeImages(name, nil))
}

// removeImages takes away the images of a draft, but those that it still has.
func (k *Keeper) removeImages(name string, but []Image) (err error) {
	entries, _ := os.ReadDir(k.dir) // what cannot be listed is taken away another time
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), strings.TrimSuffix(name, ending)+"-") && strings.HasSuffix(e.Name(), imageEnding) &&
			!slices.ContainsFunc(but, func(i Image) bool { return i.File == e.Name() }) {
			err = errors.Join(err, os.Remove(filepath.Join(k.dir, e.Name())))
		}
	}
	return err
}

// Left finds the newest draft for this session or, where there is none, for any of this
// folder, that a process of this machine left which is no more. taken takes it away. What is
// too old or cannot be read is taken away at once.
func (k *Keeper) Left(project, session string) (d Draft, taken func() error, ok bool) {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return d, nil, false
	}
	type file struct {
		Draft
		name string
	}
	var found []file
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ending) })
	for _, e := range entries[:min(len(entries), maxFiles)] {
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
	if own := slices.DeleteFunc(slices.Clone(found), func(f file) bool { return f.Session != session }); len(own) > 0 {
		found = own
	}
	newest := slices.MaxFunc(found, func(a, b file) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.name, b.name)) })
	newest.Images = k.images(newest.name, newest.Images)
	return newest.Draft, func() error { return k.remove(newest.name) }, true
}

// images reads the images of a draft. One that is not what it was, or cannot be
// read, is not there.
func (k *Keeper) images(name string, list []Image) (out []Image) {
	for _, img := range list {
		data, err := regular.Read(filepath.Join(k.dir, filepath.Base(img.File)), maxImages)
		if err == nil && img.File == imageOf(name, data) {
			img.Data = data
			out = append(out, img)
		}
	}
	return out
}

func read(path string) (o owned, err error) {
	raw, err := regular.Read(path, maxBytes)
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	return o, err
}
