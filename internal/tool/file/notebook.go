package file

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// Bounds of a notebook.
const (
	maxNotebook = 32 << 20 // bytes
	maxCellOut  = 10_000   // bytes of one cell's outputs
	maxFigures  = 8        // images of one call
)

// notebook is what is shown of the nbformat 4 JSON of Jupyter.
type notebook struct {
	Cells    []cell
	Metadata struct {
		LanguageInfo struct{ Name string } `json:"language_info"`
	}
}

type cell struct {
	ID      string
	Type    string `json:"cell_type"`
	Source  lines
	Count   *int `json:"execution_count"`
	Outputs []struct {
		Type      string `json:"output_type"`
		Text      lines
		Data      map[string]json.RawMessage
		Name      string `json:"ename"`
		Value     string `json:"evalue"`
		Traceback []string
	}
}

// lines is a string, or a list of strings that are joined.
type lines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lines) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	return json.Unmarshal(b, (*string)(l))
}

// notebook shows cells and their outputs; ok is false for a file that is not
// a notebook, which is then read as text.
func (r *reading) notebook(src io.Reader) (tool.Result, bool) {
	data, err := io.ReadAll(io.LimitReader(src, maxNotebook+1))
	if err != nil || len(data) > maxNotebook {
		return tool.Result{}, false
	}
	nb, ok := parseNotebook(string(data))
	if !ok {
		return tool.Result{}, false
	}
	var b strings.Builder
	var images []llm.Image
	fmt.Fprintf(&b, "%s: notebook, %s", clip.Pictures(r.in.FilePath), clip.Count(len(nb.Cells), "cell"))
	if lang := nb.Metadata.LanguageInfo.Name; lang != "" {
		fmt.Fprintf(&b, ", %s", clip.Pictures(lang))
	}
	b.WriteByte('\n')
	cut := 0
	for i, c := range nb.Cells {
		text := c.show(i)
		if b.Len()+len(text) > budget(r.env) {
			cut = len(nb.Cells) - i
			break
		}
		b.WriteString(text)
		for _, o := range c.Outputs {
			if r.env.Images && len(images) < maxFigures {
				images = append(images, figures(o.Data, r.env.ImageEdge)...)
			}
		}
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\n[%s left out: the notebook is too large to show; read the file's JSON with offset and limit, or use Grep]", clip.Count(cut, "cell"))
	}
	b.WriteString("\n[" + notebookHow + "]")
	f := entry(r.path, r.o.fi, data)
	f.Partial = true // its cells were shown, and not its lines
	r.t.Ledger.put(f)
	return tool.Result{Text: b.String(), Images: images, Effects: []tool.Effect{effect.Saw{Files: []effect.File{f}}}, Data: func() any {
		var all struct {
			Cells []json.RawMessage `json:"cells"`
		}
		_ = json.Unmarshal(data, &all) // it was read above
		return r.shape("notebook", map[string]any{"filePath": r.path, "cells": all.Cells})
	}}, true
}

// notebookHow says how a notebook is changed.
const notebookHow = "a notebook is JSON on disk, which is what Edit and Write change: Read with offset=1 shows that text"

// parseNotebook reads nbformat 4; a byte order mark may stand before it.
func parseNotebook(text string) (nb notebook, ok bool) {
	err := json.Unmarshal([]byte(strings.TrimPrefix(text, bom8)), &nb)
	return nb, err == nil && nb.Cells != nil
}

func isNotebook(path, text string) bool {
	if !strings.EqualFold(filepath.Ext(path), ".ipynb") {
		return false
	}
	_, ok := parseNotebook(text)
	return ok
}

// keepsNotebook checks that a change of a notebook leaves one.
func keepsNotebook(asked string, d draft) error {
	if _, ok := parseNotebook(d.new.raw); ok {
		return nil
	}
	return fmt.Errorf("%s would be no notebook any more (JSON with cells); %s", clip.Pictures(asked), notebookHow)
}

// show writes a cell for the model.
func (c cell) show(i int) string {
	var b strings.Builder
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("cell-%d", i)
	}
	fmt.Fprintf(&b, "\n<cell id=%q type=%q", clip.Pictures(id), clip.Pictures(c.Type))
	if c.Count != nil {
		fmt.Fprintf(&b, " run=%d", *c.Count)
	}
	fmt.Fprintf(&b, ">\n%s\n</cell>\n", strings.TrimSuffix(clip.Pictures(string(c.Source)), "\n"))
	var out strings.Builder
	for _, o := range c.Outputs {
		switch {
		case o.Type == "error":
			fmt.Fprintf(&out, "%s: %s\n%s\n", o.Name, o.Value, strings.Join(o.Traceback, "\n"))
		case o.Text != "":
			out.WriteString(string(o.Text))
		default:
			out.WriteString(plainData(o.Data))
		}
	}
	if s := strings.TrimSuffix(clip.Clean(out.String()), "\n"); s != "" {
		fmt.Fprintf(&b, "<output>\n%s\n</output>\n", clip.Middle(s, maxCellOut, ""))
	}
	return b.String()
}

// plainData is the text of a result, or the kinds it has.
func plainData(data map[string]json.RawMessage) string {
	var s lines
	if raw, ok := data["text/plain"]; ok && json.Unmarshal(raw, &s) == nil {
		return string(s) + "\n"
	}
	for _, k := range []string{"image/png", "image/jpeg", "image/svg+xml", "text/html"} {
		if _, ok := data[k]; ok {
			return "[" + k + "]\n"
		}
	}
	return ""
}

func figures(data map[string]json.RawMessage, edge int) []llm.Image {
	var out []llm.Image
	for _, kind := range []string{"image/png", "image/jpeg"} {
		var s lines
		if raw, ok := data[kind]; !ok || json.Unmarshal(raw, &s) != nil {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(s)), ""))
		if err != nil || pixels.Media(b) != kind {
			continue
		}
		if img, err := pixels.Fit(b, edge); err == nil {
			out = append(out, img)
		}
	}
	return out
}
