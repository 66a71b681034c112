package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/disk/inode"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A record is what is known of a worktree, outside of the repository. It is written before
// each step that makes or takes something away, so that a crash leaves what says so.
type record struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Path    string `json:"path"`   // absolute, resolved
	Main    string `json:"main"`   // the top of a checkout, below which it is
	Of      string `json:"of"`     // the top of the checkout that it was made of
	Common  string `json:"common"` // the git folder that all worktrees share
	Branch  string `json:"branch"` // without refs/heads/
	// Start is the commit that it began at, Carried that of what was not committed in the
	// checkout, "" for none; the branch begins there then.
	Start   string    `json:"start"`
	Carried string    `json:"carried,omitempty"`
	Made    time.Time `json:"made"`
	For     string    `json:"for,omitempty"` // who works there, for people

	// Git is its own git folder, and ID the folder's identity; both are set when git has
	// made it. Ready: all else that belongs into it is there, too.
	Git   string   `json:"git,omitempty"`
	ID    inode.ID `json:"id,omitzero"`
	Ready bool     `json:"ready,omitempty"`
	// Gone is the name that the folder gets when it is taken away: nothing in it counts.
	Gone string `json:"gone,omitempty"`
	// Trying: a merge is made in it, and it is not on its branch. Moving is the checkout that
	// goes on to the result.
	Trying bool    `json:"trying,omitempty"`
	Moving *moving `json:"moving,omitempty"`
}

const (
	version    = 1
	recordFile = "worktree.json"
	maxRecord  = 1 << 20
)

// begin is the commit that work in it is counted from.
func (c record) begin() string {
	if c.Carried != "" {
		return c.Carried
	}
	return c.Start
}

// A held is a record that only this process may change.
type held struct {
	record
	dir   disk.Dir
	path  string
	lease *lease.Lease
}

// InUse is the error where another session, or another process, works in a worktree.
type InUse struct {
	Name string
	PID  int // 0: not known
}

func (e *InUse) Error() string {
	if e.PID == os.Getpid() {
		return fmt.Sprintf("the worktree %s is in use by another session of this process", e.Name)
	}
	return fmt.Sprintf("the worktree %s is in use by process %d", e.Name, e.PID)
}

// hold takes the lease of a worktree, and reads its record. There is none yet when its
// Version is 0.
func (r *Repo) hold(name string) (*held, error) {
	h := &held{path: filepath.Join(r.store, name)}
	var err error
	if h.dir, err = disk.Create(h.path); err != nil {
		return nil, fmt.Errorf("keep a record of the worktree %s: %w", name, err)
	}
	if h.lease, err = lease.Take(h.dir, lease.ThisProcess()); err != nil {
		_ = h.dir.Close()
		if by, ok := errors.AsType[*lease.Held](err); ok {
			return nil, hint.With(&InUse{Name: name, PID: by.PID}, "adze worktree list shows which are in use")
		}
		return nil, fmt.Errorf("lock the worktree %s: %w", name, err)
	}
	if h.record, err = read(h.path); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// read reads a record; the zero one where there is none.
func read(dir string) (c record, err error) {
	path := filepath.Join(dir, recordFile)
	text, err := regular.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	switch {
	case err != nil:
		return record{}, hint.With(fmt.Errorf("reading %s: %w", path, err), "look at it; where it is of no use, move it away")
	case c.Version > version:
		return record{}, fmt.Errorf("reading %s: a newer version of adze wrote it", path)
	}
	return c, nil
}

// save writes the record, and waits until it is on disk.
func (h *held) save() error {
	h.Version = version
	text, err := json.MarshalIndent(h.record, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(h.path)
	if err == nil {
		err = errors.Join(safe.Replace(root, safe.File{Name: recordFile, Text: append(text, '\n'), Mode: 0o600, Exact: true}), root.Close())
	}
	if err != nil {
		return fmt.Errorf("keep a record of the worktree %s: %w", h.Name, err)
	}
	return nil
}

// release lets others have it. A record that was never written leaves nothing.
func (h *held) release() {
	_ = h.lease.Release() // if it stays it is stale as soon as we end
	_ = h.dir.Close()
	if h.Version == 0 {
		_ = os.Remove(h.path) // only when it is empty
	}
}

// forget removes the record, and releases it.
func (h *held) forget() error {
	err := h.dir.Remove(recordFile)
	h.Version = 0
	h.release()
	return err
}

// Names are the worktrees that there are records of.
func (r *Repo) Names() ([]string, error) {
	list, err := os.ReadDir(r.store)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range list {
		if e.IsDir() && checkName(e.Name()) == nil {
			out = append(out, e.Name())
		}
	}
	return out, err
}
