package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/lease"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Info is what a list shows of a session.
type Info struct {
	ID     string      `json:"id"`
	Key    string      `json:"project"`
	Dir    string      `json:"dir"`            // its folder on disk
	Start  string      `json:"cwd"`            // the folder it works in
	Root   string      `json:"root,omitempty"` // the repository's root
	Branch string      `json:"branch,omitempty"`
	Parent string      `json:"parent,omitempty"` // the session it was forked from, or that started it
	Title  string      `json:"title,omitempty"`
	First  string      `json:"first_prompt"` // on one line of at most 200 characters, as Last
	Last   string      `json:"last_prompt"`
	Model  string      `json:"model"`
	Mode   policy.Mode `json:"mode,omitempty"`
	Turns  int         `json:"turns"`
	Cost   float64     `json:"cost_usd"` // of requests with a known price
	// Unpriced are the requests without a known price.
	Unpriced int          `json:"unpriced,omitempty"`
	Usage    llm.Usage    `json:"usage"`
	Size     int64        `json:"size"` // of the log, in bytes
	Began    time.Time    `json:"began"`
	Changed  time.Time    `json:"changed"` // when the log was last written
	Open     bool         `json:"open"`    // its last turn has no end: running, or cut off
	Running  bool         `json:"running"` // a process has it open
	Holder   lease.Holder `json:"-"`
	Seq      event.Seq    `json:"seq"` // of its last event
}

// CostText is the cost for people: what is not known is not called nothing.
func (i Info) CostText(digits int) string {
	switch {
	case i.Unpriced == 0:
		return fmt.Sprintf("$%.*f", digits, i.Cost)
	case i.Cost == 0:
		return "unknown"
	}
	return fmt.Sprintf("$%.*f and more", digits, i.Cost)
}

// Name is the title, or else the first prompt.
func (i Info) Name() string { return cmp.Or(i.Title, i.First, "(no prompt yet)") }

// digest is what was learned from the beginning of a log, kept beside it so
// that only what was added since has to be read. It can be removed at any time.
type digest struct {
	Version int   `json:"version"`
	Off     int64 `json:"off"` // of the first byte that was not read
	Info    Info  `json:"info"`
}

const (
	digestName    = "summary.json"
	digestVersion = 4
	promptChars   = 200
)

// info reads what is new in a session's log since the last time.
func (s Store) info(root *os.Root, key, id string) (Info, error) {
	folder := filepath.Join(key, id)
	f, err := root.Open(filepath.Join(folder, logName))
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	d := loadDigest(root, folder)
	if d.Off > stat.Size() || d.Version != digestVersion {
		d = digest{Version: digestVersion}
	}
	from := d.Off
	for line, err := range event.Lines(io.NewSectionReader(f, d.Off, stat.Size()-d.Off), d.Off) {
		if err != nil {
			return Info{}, err
		}
		if line.Torn {
			break
		}
		d.Info.add(line.Bytes)
		d.Off = line.Off + line.Len
	}
	d.Info.ID, d.Info.Key, d.Info.Dir = id, key, s.Folder(key, id)
	d.Info.Size, d.Info.Changed = stat.Size(), stat.ModTime()
	if d.Off-from > 64<<10 || from == 0 && d.Off > 0 {
		saveDigest(root, folder, d)
	}
	if dir, err := disk.Open(d.Info.Dir); err == nil {
		d.Info.Holder, d.Info.Running, _ = lease.Look(dir, s.self())
		_ = dir.Close()
	}
	return d.Info, nil
}

func loadDigest(root *os.Root, folder string) digest {
	var d digest
	f, err := root.Open(filepath.Join(folder, digestName))
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
	name := filepath.Join(folder, digestName)
	if root.WriteFile(name+".new", raw, disk.FileMode) == nil {
		_ = root.Rename(name+".new", name)
	}
}

// add counts one line. Only the few kinds that a list shows are decoded, and
// of a request to a model only its cost.
func (i *Info) add(line []byte) {
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
			i.Cost += r.Cost
			i.Usage = i.Usage.Add(r.Usage)
			if !r.Priced && r.Cost == 0 && r.Usage != (llm.Usage{}) {
				i.Unpriced++
			}
		}
	case "turn_ended":
		i.Open = false
	case "session_started", "resumed", "input_accepted", "turn_started", "model_changed", "mode_changed", "titled":
		if e, err := event.ParseLine(line); err == nil {
			i.addBody(e.Body)
		}
	}
}

func (i *Info) addBody(b event.Body) {
	switch b := b.(type) {
	case event.SessionStarted:
		i.Start, i.Root, i.Branch, i.Parent = b.Dir, b.Root, b.Branch, b.Parent
	case event.Resumed:
		i.Start = cmp.Or(b.Dir, i.Start)
	case event.InputAccepted:
		if b.Hidden {
			return
		}
		i.Last = clip.Line(clip.Clean(b.Text), promptChars)
		i.First = cmp.Or(i.First, i.Last)
	case event.TurnStarted:
		i.Turns++
		i.Open, i.Model, i.Mode = true, b.Model, b.Mode
	case event.ModeChanged:
		i.Mode = b.Mode
	case event.ModelChanged:
		i.Model = b.Model
	case event.Titled:
		i.Title = clip.Line(clip.Clean(b.Title), promptChars)
	default: // a list shows nothing of the others
	}
}
