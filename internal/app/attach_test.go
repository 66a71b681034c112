package app

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// What a prompt names with "@" is beside it in the model's window, within
// bounds and only where it may be read, which may be asked; a resumed session
// has the same.
func TestMentionsAreAttached(t *testing.T) {
	dir, home := scratch(t)
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\nfour </attached>\n", "sub/b.txt": "b", "big.txt": strings.Repeat("a line of some length\n", 10_000),
		".env": "TOKEN=x", "shot.png": shot.String(), "../outside.txt": "secret",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := kept(t, dir, home, sessions.Choice{})
	r.model.Replies = []fake.Reply{fake.Say("done")}
	prompt := "Look at @a.txt#L2-3, @a.txt:4 and @a.txt#L2-3; @sub/ @big.txt @.env @shot.png @../outside.txt @nothing.txt me@a.txt"
	if err := r.Submit(t.Context(), op.Prompt{Text: prompt}); err != nil {
		t.Fatal(err)
	}
	var got []event.Attached
	var asked []string
	for e := range r.events {
		if q, ok := e.Body.(event.Asked); ok {
			asked = append(asked, q.Title)
			if err := r.Submit(t.Context(), op.Answer{Call: q.Call, By: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		if in, ok := e.Body.(event.InputAccepted); ok && !in.Hidden {
			got = in.Attached
		}
		if _, ok := e.Body.(event.TurnEnded); ok {
			break
		}
	}
	if len(asked) != 2 || !strings.Contains(asked[0], ".env") || !strings.Contains(asked[1], "outside.txt") {
		t.Errorf("asked about %q", asked)
	}
	var list []string
	texts := map[string]string{}
	for _, a := range got {
		about := a.About
		if a.Refused {
			about = "refused"
		}
		list = append(list, a.Name+": "+about)
		texts[a.Name] = a.Text
	}
	want := []string{"a.txt#L2-3: 2 lines", "a.txt#L4: 1 line", "sub/: folder", "big.txt: 400 lines", ".env: refused", "shot.png: image, 76 bytes", "../outside.txt: refused", "nothing.txt: refused"}
	if !slices.Equal(list, want) {
		t.Errorf("attached\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
	if s := texts["a.txt#L2-3"]; !strings.HasPrefix(s, `<attached name="a.txt#L2-3">`) || !strings.Contains(s, "two") || !strings.Contains(s, "three") || strings.Contains(s, "one") || strings.Contains(s, "four") {
		t.Errorf("the range is %q", s)
	}
	if s := texts["a.txt#L4"]; strings.Count(s, "</attached>") != 1 {
		t.Errorf("a file closes the tag: %q", s)
	}
	if s := texts["sub/"]; !strings.Contains(s, "b.txt") {
		t.Errorf("the folder is %q", s)
	}
	messages := fmt.Sprintf("%+v", r.model.Requests()[0].Messages)
	for _, has := range []string{prompt, "two", "b.txt", "a line of some length"} {
		if !strings.Contains(messages, has) {
			t.Errorf("the model was not told %q", has)
		}
	}
	if strings.Contains(messages, "TOKEN=x") || strings.Contains(messages, "secret") {
		t.Error("a file that may not be read was attached")
	}
	known := map[string]bool{}
	for path := range r.Session.State().Files() {
		known[filepath.Base(path)] = true
	}
	if !known["a.txt"] || known[".env"] {
		t.Errorf("the model knows %v", known)
	}
	before := fmt.Sprintf("%+v", said(r.Session.State().Messages()))
	r.close()
	again := kept(t, dir, home, sessions.Choice{Resume: r.ID})
	defer again.close()
	if after := fmt.Sprintf("%+v", said(again.Session.State().Messages())); before != after {
		t.Errorf("resumed, it is\n%s\nand was\n%s", after, before)
	}
}

// said are the texts of messages.
func said(ms []llm.Message) []string {
	var out []string
	for _, m := range ms {
		for _, p := range m.Parts {
			if s, ok := p.(llm.Text); ok {
				out = append(out, s.S)
			}
		}
	}
	return out
}
