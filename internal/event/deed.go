package event

import (
	"encoding/json"
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Deed is a call as what it did. What it returned is not part of it.
type Deed struct {
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input,omitempty"`   // with long texts shortened
	Look    bool            `json:"look,omitempty"`    // it only looked at something
	Failed  bool            `json:"failed,omitempty"`  // its result was an error
	Denied  bool            `json:"denied,omitempty"`  // it was refused, and did nothing
	Changed []string        `json:"changed,omitempty"` // files
}

// Bounds of deeds: how many are kept, bytes of one text of an input, bytes of an input, and
// files of one.
const (
	maxDeeds     = 80
	maxDeedText  = 300
	maxDeedInput = 1_000
	maxDeedFiles = 20
)

// Deeds are those of an agent, as they happen. The zero value has none.
type Deeds struct {
	list []Deed
	left int
	open map[string]ToolStarted
}

// List are the deeds in order, and how many others there were.
func (d *Deeds) List() ([]Deed, int) { return slices.Clone(d.list), d.left }

// Add takes an event of the agent's session.
func (d *Deeds) Add(b Body) {
	switch b := b.(type) {
	case ToolStarted:
		if d.open == nil {
			d.open = map[string]ToolStarted{}
		}
		d.open[b.Call] = b
	case ToolFinished:
		was := d.open[b.Call]
		delete(d.open, b.Call)
		x := Deed{Tool: b.Name, Input: shortened(was.Input), Look: was.Fold != "", Failed: b.IsErr && !b.Denied, Denied: b.Denied}
		if was.Call == "" { // it was refused before it began
			x.Input = shortened(b.Input)
		}
		if c, ok := effect.Of[effect.Changed](b.Effects); ok {
			x.Changed = changedFiles(c)
		}
		d.add(x)
	case FilesChanged:
		if files := changedFiles(b.Changed); len(files) > 0 {
			d.add(Deed{Tool: "background", Changed: files})
		}
	case TaskEnded: // what works for it works for whoever started it
		d.left += b.Left
		for _, x := range b.Did {
			d.add(x)
		}
	default: // no deed
	}
}

// add keeps a deed. Where there are too many, calls that only look go first.
func (d *Deeds) add(x Deed) {
	d.list = append(d.list, x)
	if len(d.list) <= maxDeeds {
		return
	}
	i := max(0, slices.IndexFunc(d.list, func(x Deed) bool { return x.Look && !x.Denied }))
	d.list = slices.Delete(d.list, i, i+1)
	d.left++
}

func changedFiles(c effect.Changed) (out []string) {
	for _, f := range c.Files {
		if len(out) == maxDeedFiles {
			return append(out, "and "+clip.Thousands(len(c.Files)-maxDeedFiles)+" more")
		}
		out = append(out, f.Path)
	}
	return out
}

// shortened is an input whose long texts are cut in their middle, still as JSON; nothing
// where that is too long, or no JSON.
func shortened(raw json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	out, err := json.Marshal(cutTexts(v))
	if err == nil && len(out) > maxDeedInput {
		out, err = json.Marshal(clip.Middle(string(out), maxDeedInput, ""))
	}
	if err != nil {
		return nil
	}
	return out
}

func cutTexts(v any) any {
	switch v := v.(type) {
	case string:
		return clip.Middle(v, maxDeedText, "")
	case []any:
		for i, x := range v {
			v[i] = cutTexts(x)
		}
	case map[string]any:
		for k, x := range v {
			v[k] = cutTexts(x)
		}
	}
	return v
}
