package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/view"
)

// Where the file of a large part is gone, a text says so; what is there stays.
func TestWithoutWhatIsGone(t *testing.T) {
	there, gone := llm.Image{Media: "image/png", Data: []byte("x")}, llm.Image{Media: "image/png"}
	const said = "[an image was here; its file is gone from the session's folder]"
	both := []llm.Image{gone, there}
	att := func() []event.Attached {
		return []event.Attached{{Name: "a", Images: []llm.Image{there, gone}, Text: "t"}}
	}
	attWant := []event.Attached{{Name: "a", Images: []llm.Image{there}, Text: "t\n" + said}}
	group := func(in view.Block) view.Block { return view.Group{Blocks: []view.Block{view.Text{S: "t"}, in}} }
	for name, c := range map[string]struct{ in, want event.Body }{
		"prompt":              {event.InputAccepted{Text: "look", Images: both, Attached: att()}, event.InputAccepted{Text: "look\n" + said, Images: []llm.Image{there}, Attached: attWant}},
		"waiting":             {event.InputQueued{Images: both, Attached: att()}, event.InputQueued{Text: said, Images: []llm.Image{there}, Attached: attWant}},
		"result":              {event.ToolFinished{Text: "r", Images: []llm.Image{gone, gone}, View: view.Image{}}, event.ToolFinished{Text: "r\n" + said + "\n" + said, View: view.Text{S: said}}},
		"result, shown":       {event.ToolFinished{View: view.Image{Data: []byte("x")}}, event.ToolFinished{View: view.Image{Data: []byte("x")}}},
		"question":            {event.Asked{View: group(view.Image{})}, event.Asked{View: group(view.Text{S: said})}},
		"question, shown":     {event.Asked{View: view.Image{}}, event.Asked{View: view.Text{S: said}}},
		"person's, one image": {event.Ran{View: view.Image{}}, event.Ran{View: view.Text{S: said}}},
		"person's":            {event.Ran{View: group(view.Image{Data: []byte("x")})}, event.Ran{View: group(view.Image{Data: []byte("x")})}},
		"person's, gone":      {event.Ran{View: group(view.Image{})}, event.Ran{View: group(view.Text{S: said})}},
		"reply":               {event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "a"}, gone, there, llm.Document{Name: "d.pdf"}, llm.Document{Name: "e.pdf", Data: []byte("x")}}}}, event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "a"}, llm.Text{S: said}, there, llm.Text{S: "[the document d.pdf was here; its file is gone from the session's folder]"}, llm.Document{Name: "e.pdf", Data: []byte("x")}}}}},
		"no large parts":      {event.Noted{Text: "n"}, event.Noted{Text: "n"}},
	} {
		if d := cmp.Diff(c.want, without(c.in)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A snapshot of another form, or with another seal, is none of ours.
func TestHeadsOfSnapshots(t *testing.T) {
	key := []byte("key")
	for name, c := range map[string]struct {
		h    head
		key  []byte
		ours bool
	}{
		"ours":         {head{Version: snapshotVersion, Fold: "f", Sum: "s"}, key, true},
		"a newer form": {head{Version: snapshotVersion + 1, Fold: "f", Sum: "s"}, key, false},
		"another key":  {head{Version: snapshotVersion, Fold: "f", Sum: "s"}, []byte("other"), false},
	} {
		raw, err := c.h.sealed(c.key)
		if err != nil || len(raw) != headSize {
			t.Fatalf("%d bytes, %v", len(raw), err)
		}
		got, err := readHead(bytes.NewReader(raw), key)
		if (err == nil) != c.ours || c.ours && got != c.h {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for _, harm := range [][]byte{raw[:headSize-1], bytes.Replace(raw, []byte(`"f"`), []byte(`"g"`), 1), bytes.Replace(raw, []byte("{"), []byte("["), 1)} {
			if _, err := readHead(bytes.NewReader(harm), key); err == nil {
				t.Errorf("%s: %.40q is ours", name, harm)
			}
		}
	}
	bounded := 0
	for n := range headSize { // the rest of the head is about 200 bytes
		h := head{Fold: strings.Repeat("f", n)}
		raw, err := h.sealed(key)
		if err != nil {
			bounded++
			continue
		}
		if len(raw) != headSize || raw[headSize-1] != '\n' || bounded > 0 {
			t.Errorf("a name of %d bytes: %d bytes, behind %d that were refused", n, len(raw), bounded)
		}
	}
	if whole, err := json.Marshal(head{Mac: seal.Sum(key, "", nil)}); err != nil || bounded != len(whole) {
		t.Errorf("%d names were too long; a head without one has %d bytes (%v)", bounded, len(whole), err)
	}
}

// What is remembered of a large log, to find places in it again, is little.
func TestMarksAreFarApart(t *testing.T) {
	var s scanner
	const size, line = 32 << 20, 1000
	for off := int64(0); off < size; off += line {
		s.pass(mark{seq: event.Seq(off/line + 1), off: off + line})
	}
	if n := len(s.marks); n < size/markEvery/2 || n > size/markEvery+1 {
		t.Errorf("%d marks in %d bytes", n, size)
	}
}
