package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/diff"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/view"
)

// A pin is what a tool says of itself.
type pin struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func newPin(description string, schema json.RawMessage) pin { return pin{description, schema} }

func (p pin) same(q pin) bool {
	return p.Description == q.Description && string(p.Schema) == string(q.Schema)
}

func (p pin) text() string { return p.Description + "\n\n" + indented(p.Schema) + "\n" }

// diff shows what a tool says now beside what it said.
func (p pin) diff(name string, now pin) view.Block {
	return diff.Shown(line(name, 100), p.text(), now.text(), false)
}

// pins are what tools said of themselves when a call of theirs was allowed. A
// tool that says something else later is asked about again. In dir there is a
// file for each server; what cannot be read there was never allowed.
type pins struct {
	dir string

	mu   sync.Mutex // guards what follows
	seen map[string]map[string]pin
}

// Bounds of what is kept of tools. A file that no server has used for so long goes
// when another is written first: its tools are as if they had never been allowed.
const (
	maxPins     = 8 << 20 // bytes of a file
	maxPinFiles = 1000    // the oldest go
	unusedAfter = 365 * 24 * time.Hour
	usedEvery   = 24 * time.Hour // that a file is in use is noted
)

func newPins(dir string) *pins { return &pins{dir: dir, seen: map[string]map[string]pin{}} }

// file is what the pins of a server are kept in: what was allowed in one folder was not
// in another.
func (p *pins) file(s *server, dir string) string {
	sum := sha256.Sum256([]byte(s.conf.Name + "\x00" + dir + "\x00" + s.conf.Command + "\x00" + s.conf.URL))
	return hex.EncodeToString(sum[:12]) + ".json"
}

// of are the pins of a server in a folder. p is locked.
func (p *pins) of(s *server, dir string) map[string]pin {
	name := p.file(s, dir)
	if p.seen[name] == nil {
		p.seen[name] = map[string]pin{}
		if p.dir != "" {
			file := filepath.Join(p.dir, name)
			if raw, err := regular.Read(file, maxPins); err == nil {
				p.use(file)
				var was map[string]pin
				if json.Unmarshal(raw, &was) == nil && was != nil {
					p.seen[name] = was
				}
			}
		}
	}
	return p.seen[name]
}

// changed is what the tool said when it was allowed, when that was something else.
func (p *pins) changed(s *server, dir, name string, now pin) (was pin, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, known := p.of(s, dir)[name]
	return was, known && !was.same(now)
}

// keep notes what a tool says whose call was allowed.
func (p *pins) keep(s *server, dir, name string, now pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.of(s, dir)
	if was, known := all[name]; known && was.same(now) {
		return
	}
	all[name] = now
	if p.dir == "" {
		return
	}
	if err := p.save(p.file(s, dir), all); err != nil {
		s.debug("what its tools say could not be kept: " + line(err.Error(), 500))
	}
}

// use notes that a file is used.
func (p *pins) use(file string) {
	now := time.Now()
	if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > usedEvery {
		_ = os.Chtimes(file, now, now) // it is tidied too early at worst, and asked about once more
	}
}

func (p *pins) save(name string, all map[string]pin) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if len(raw) > maxPins { // it could not be read again, and all of it would be forgotten
		return fmt.Errorf("they say more than %s", clip.Size(maxPins))
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(name); err != nil {
		tidy(root, maxPinFiles-1)
	}
	return safe.Replace(root, safe.File{Name: name, Text: raw, Mode: 0o600})
}

// tidy removes the files of pins that were not used for long, and the oldest above
// max. What cannot be removed stays.
func tidy(root *os.Root, max int) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	list, _ := dir.ReadDir(-1) // what was read is tidied
	var files []fs.FileInfo
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(e.Name()) == ".json" {
			files = append(files, info)
		}
	}
	order.By(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		if i >= max || time.Since(info.ModTime()) > unusedAfter {
			_ = root.Remove(info.Name())
		}
	}
}
