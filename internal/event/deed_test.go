package event_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
)

// Deeds are calls with what they were given and changed; where there are too many, those
// that only look go first.
func TestDeeds(t *testing.T) {
	var d event.Deeds
	long := strings.Repeat("x", 2000)
	for i := range 60 {
		id := fmt.Sprint("r", i)
		d.Add(event.ToolStarted{Call: id, Name: "Read", Fold: "file", Input: json.RawMessage(fmt.Sprintf(`{"file_path":"f%d"}`, i))})
		d.Add(event.ToolFinished{Call: id, Name: "Read"})
	}
	d.Add(event.ToolStarted{Call: "w", Name: "Write", Input: json.RawMessage(`{"file_path":"a","content":"` + long + `"}`)})
	d.Add(event.ToolFinished{Call: "w", Name: "Write", IsErr: true, Effects: []effect.Effect{effect.Changed{Files: []effect.Change{{Path: "/a"}}}}})
	d.Add(event.ToolFinished{Call: "b", Name: "Bash", Denied: true, IsErr: true, Input: json.RawMessage(`{"command":"rm"}`)})
	d.Add(event.ToolStarted{Call: "l", Name: "Many", Input: json.RawMessage(`["` + strings.Repeat(`","`, 900) + `"]`)})
	d.Add(event.ToolFinished{Call: "l", Name: "Many"})
	var below event.Deeds
	for i := range 40 {
		below.Add(event.ToolFinished{Call: fmt.Sprint(i), Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)})
	}
	did, _ := below.List()
	d.Add(event.TaskEnded{ID: "a2", Did: did, Left: 2})
	d.Add(event.FilesChanged{Changed: effect.Changed{Files: []effect.Change{{Path: "/b"}}}})
	list, left := d.List()
	looks := 0
	for _, x := range list {
		if x.Look {
			looks++
		}
		if len(x.Input) > 2_100 || len(x.Input) > 0 && !json.Valid(x.Input) {
			t.Errorf("the input %d bytes: %.100s", len(x.Input), x.Input)
		}
	}
	if len(list) != 80 || left != 2+60+3+40+1-80 || looks != 80-44 {
		t.Errorf("%d deeds, %d of them look, %d left out", len(list), looks, left)
	}
	w, b := list[looks], list[looks+1]
	if w.Tool != "Write" || !w.Failed || w.Changed[0] != "/a" || strings.Contains(string(w.Input), long) || !b.Denied || b.Failed || string(b.Input) != `{"command":"rm"}` {
		t.Errorf("%+v\n%+v", w, b)
	}
}
