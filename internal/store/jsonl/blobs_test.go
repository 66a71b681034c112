package jsonl_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/view"
)

func picture(seed byte) llm.Image {
	data := make([]byte, 20_000)
	r := rand.NewChaCha8([32]byte{seed})
	_, _ = r.Read(data)
	return llm.Image{Media: "image/png", Data: data}
}

// pictured are events with large parts wherever there can be any.
func pictured() (es []event.Event) {
	for i, b := range []event.Body{
		event.InputQueued{ID: "q", Text: "look", Images: []llm.Image{picture(1)}},
		event.InputAccepted{ID: "p", Text: "look", Images: []llm.Image{picture(1), picture(2)}, Attached: []event.Attached{{Name: "a.png", Text: "t", Images: []llm.Image{picture(3)}}}},
		event.ToolFinished{Call: "1", Name: "Read", Text: "a picture", Images: []llm.Image{picture(4)}, View: view.Group{Blocks: []view.Block{view.Image{Media: "image/png", Data: picture(4).Data}}}},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Document{Media: "application/pdf", Name: "x.pdf", Data: picture(5).Data}, llm.Image(picture(6))}}},
		event.InputAccepted{ID: "s", Text: "small", Images: []llm.Image{{Media: "image/gif", Data: []byte("GIF")}}},
	} {
		es = append(es, event.Event{Seq: event.Seq(i + 1), Time: at, Body: b})
	}
	return es
}

func TestLargePartsAreFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	for _, e := range pictured() {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	want(t, l, 0, pictured())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, jsonl.LogName))
	if err != nil || len(raw) > 5000 {
		t.Errorf("the log has %d bytes: %v", len(raw), err)
	}
	files, err := os.ReadDir(filepath.Join(dir, jsonl.BlobsName))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	l = mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	want(t, l, 0, pictured())
	if r := l.Report(); r.Foreign != 0 || r.Bad != nil {
		t.Errorf("report %+v", r)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	// Of what is missing, or was changed, a text says so.
	for i, f := range files {
		path := filepath.Join(dir, jsonl.BlobsName, f.Name())
		if i%2 == 0 {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte("something else"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l = mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	got := read(t, l, 0)
	const img = "[an image was here; its file is gone from the session's folder]"
	gone := pictured()
	gone[0].Body = event.InputQueued{ID: "q", Text: "look\n" + img}
	gone[1].Body = event.InputAccepted{ID: "p", Text: "look\n" + img + "\n" + img, Attached: []event.Attached{{Name: "a.png", Text: "t\n" + img}}}
	gone[2].Body = event.ToolFinished{Call: "1", Name: "Read", Text: "a picture\n" + img, View: view.Group{Blocks: []view.Block{view.Text{S: img}}}}
	gone[3].Body = event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: strings.Replace(img, "an image", "the document x.pdf", 1)}, llm.Text{S: img}}}}
	if d := cmp.Diff(gone, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// A log of before, with the data in its lines, is read as ever.
func TestDataInLinesIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var text []byte
	for _, e := range pictured() {
		var err error
		if text, err = event.AppendLine(text, e); err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, jsonl.LogName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, mustOpen(t, jsonl.Options{Dir: dir}), 0, pictured())
}

// What is in a snapshot is kept apart, too; without its files there is none.
func TestASnapshotSharesLargeParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	for _, e := range pictured() {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	data, err := event.AppendLine(nil, pictured()[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Keep(t.Context(), "v1", l.Place(), data); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, jsonl.SnapshotName)); err != nil || info.Size() > 5000 {
		t.Errorf("%v, %v", info, err)
	}
	l = mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	if got, _, ok := l.Kept("v1"); !ok || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes, %t", len(got), len(data), ok)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	blobs := filepath.Join(dir, jsonl.BlobsName)
	list, err := os.ReadDir(blobs)
	if err != nil {
		t.Fatal(err)
	}
	without := 0 // one of the files that the snapshot needs
	for _, e := range list {
		if err := os.Rename(filepath.Join(blobs, e.Name()), filepath.Join(dir, "away")); err != nil {
			t.Fatal(err)
		}
		l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
		if _, _, ok := l.Kept("v1"); !ok {
			without++
		}
		if err := errors.Join(l.Close(), os.Rename(filepath.Join(dir, "away"), filepath.Join(blobs, e.Name()))); err != nil {
			t.Fatal(err)
		}
	}
	if without == 0 {
		t.Errorf("a snapshot without one of %d files", len(list))
	}
}

// A text that is kept whole stands in a file of the session.
func TestSpill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir})
	defer l.Close()
	at, err := l.Spill("all of it")
	if err != nil || !strings.HasPrefix(at, filepath.Join(dir, jsonl.BlobsName)) {
		t.Fatalf("%q %v", at, err)
	}
	if text, err := os.ReadFile(at); string(text) != "all of it" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}
