package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// titled runs a session with these settings and a small model that answers in
// this way, takes its events by hand as accompany would, and returns the title
// and what titles cost.
func titled(t *testing.T, set, small string, before func(*Running)) (title string, spent []event.Spent) {
	t.Helper()
	dir, home := scratch(t)
	file := filepath.Join(home, ".adze", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	main, little := filepath.Join(dir, "m.txt"), filepath.Join(dir, "s.txt")
	for path, text := range map[string]string{main: "> hello\n", little: small, file: fmt.Sprintf(`{"model":%q,"small_model":%q%s}`, "script/"+main, "script/"+little, set)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, w, err := openAt(t, here(dir, home), settings.Sources{}, Front{Print: true})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	r, err := w.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		before(r)
	}
	c := background.New(r.company())
	c.See(t.Context(), event.InputAccepted{Text: "mend the parser"})
	for range 3 {
		c.See(t.Context(), event.TurnEnded{})
	}
	for e, err := range r.log.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Body.(event.Spent); ok {
			spent = append(spent, s)
		}
	}
	return r.State().Title, spent
}

func TestTitles(t *testing.T) {
	title, spent := titled(t, "", "? prompt contains \"mend the parser\"\n> Title: Mend the parser.\n", nil)
	if title != "Mend the parser" || len(spent) != 1 || spent[0].For != event.ForTitle {
		t.Errorf("%q, %+v", title, spent)
	}
	if title, spent := titled(t, `,"titles":false`, "> No\n", nil); title != "" || len(spent) != 0 {
		t.Errorf("switched off: %q, %+v", title, spent)
	}
	title, spent = titled(t, "", "> No\n", func(r *Running) {
		if err := r.Submit(t.Context(), op.Rename{Title: "Mine"}); err != nil {
			t.Fatal(err)
		}
	})
	if title != "Mine" || len(spent) != 0 {
		t.Errorf("a person's title became %q, %+v", title, spent)
	}
	if title, _ := titled(t, "", "!500\n", nil); title != "" {
		t.Errorf("of an error: %q", title)
	}
	if title, spent := titled(t, "", "> ...\n---\n> ...\n---\n> At last\n", nil); title != "" || len(spent) != 2 {
		t.Errorf("after tries without a title: %q, %+v", title, spent)
	}
}

// A person who names the session while the model thinks keeps the name.
func TestEntitleYieldsToAPerson(t *testing.T) {
	title, _ := titled(t, `,"titles":false`, "> No\n", func(r *Running) {
		if err := r.Submit(t.Context(), op.Rename{Title: "Mine"}); err != nil {
			t.Fatal(err)
		}
		if err := r.Entitle(t.Context(), "Theirs", event.Spent{}); err != nil {
			t.Fatal(err)
		}
	})
	if title != "Mine" {
		t.Errorf("the title is %q", title)
	}
}

// In the terminal UI all of it happens by itself, and the end of the session
// waits for nothing of it.
func TestAccompany(t *testing.T) {
	dir, home := scratch(t)
	main, little := filepath.Join(dir, "m.txt"), filepath.Join(dir, "s.txt")
	for path, text := range map[string]string{main: "> a walrus\n---\n> more\n", little: "> About a walrus\n---\n!stall\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, w, err := openAt(t, here(dir, home), settings.Sources{Inline: fmt.Sprintf(`{"model":%q,"small_model":%q}`, "script/"+main, "script/"+little)}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	r, err := w.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	events := r.Follow(t.Context(), r.After, event.Durable)
	if err := r.Submit(t.Context(), op.Prompt{Text: "say something"}); err != nil {
		t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Titled); ok {
			if b.Title != "About a walrus" || b.By != "model" {
				t.Errorf("%+v", b)
			}
			break
		}
	}
	// The index is next; closing cancels it, and a search does what is left.
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	ix := fulltext.In(w.Paths.State, nil)
	if err := ix.Update(t.Context(), sessions.In(w.Paths.State), nil); err != nil {
		t.Fatal(err)
	}
	hits, err := ix.Search(context.Background(), fulltext.Query{Words: "walrus"})
	if err != nil || !slices.ContainsFunc(hits, func(h fulltext.Hit) bool { return h.ID == r.ID }) {
		t.Errorf("%+v, %v", hits, err)
	}
}

// At a terminal the small model keeps the session's notes beside its log, which
// the loop can read then, and what is remembered of the project; a setting turns
// each off. In print mode nothing of it happens.
func TestHelpersBesideASession(t *testing.T) {
	for name, c := range map[string]struct {
		set           string
		front         Front
		notes, memory bool
	}{
		"both":       {"", Front{}, true, true},
		"no notes":   {`,"memory":{"session":false}`, Front{}, false, true},
		"no memory":  {`,"memory":{"auto":false}`, Front{}, true, false},
		"print mode": {"", Front{Print: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := scratch(t)
			main, little := filepath.Join(dir, "m.txt"), filepath.Join(dir, "s.txt")
			all, w, err := openAt(t, here(dir, home), settings.Sources{Inline: fmt.Sprintf(`{"titles":false,"model":%q,"small_model":%q%s}`, "script/"+main, "script/"+little, c.set)}, c.front)
			if err != nil {
				t.Fatal(err)
			}
			defer all.Close()
			project := sessions.In(w.Paths.State).Notes(sessions.Key(w.Paths.Root))
			id := "01890000-0000-7000-8000-000000000001"
			file := filepath.Join(filepath.Dir(project), id, "notes.md")
			// Which of the two asks first is not said: each answer fits one of them.
			script := fmt.Sprintf("? prompt contains \"keep the notes\"\n@ Write {\"file_path\": %q, \"content\": \"# Title\\nwalrus\"}\n---\n? else\n@ Write {\"file_path\": %q, \"content\": \"- remember\"}\n---\n", file, filepath.Join(project, "MEMORY.md"))
			for path, text := range map[string]string{main: "> " + strings.Repeat("word ", 9000) + "\n", little: script + script + "> done\n---\n> done\n"} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := w.Start(t.Context(), Spec{Log: sessions.Choice{ID: id}})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, ok := r.sessionNotes(t.Context()); ok {
				t.Error("there are notes before the session")
			}
			events := r.Follow(t.Context(), r.After, event.Durable)
			if err := r.Submit(t.Context(), op.Prompt{Text: "say something"}); err != nil {
				t.Fatal(err)
			}
			wantNotes, wantMemory, ended := c.notes, c.memory, false
			for e, err := range events {
				if err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case event.NotesKept:
					wantNotes = false
				case event.Noted:
					wantMemory = wantMemory && !strings.Contains(b.Text, "MEMORY.md")
				case event.TurnEnded:
					ended = true
				default:
				}
				if ended && !wantNotes && !wantMemory {
					break
				}
			}
			text, through, ok := r.sessionNotes(t.Context())
			if ok != c.notes || ok && (text != "# Title\nwalrus" || through == 0) {
				t.Errorf("the notes up to %d are %q", through, text)
			}
			listed := map[string]bool{}
			for _, f := range r.MemoryFiles() {
				listed[f.Whose] = true
			}
			if listed["session"] != c.notes || listed["notes"] != c.memory {
				t.Errorf("/memory lists %v", listed)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(file); (err == nil) != c.notes {
				t.Errorf("%s: %v", file, err)
			}
			if b, err := os.ReadFile(filepath.Join(project, "MEMORY.md")); (err == nil) != c.memory || err == nil && string(b) != "- remember" {
				t.Errorf("the index says %q, %v", b, err)
			}
		})
	}
}

// A conversation that fills the window goes on with the notes that were kept of
// it, without asking for a summary.
func TestNotesTakeThePlaceOfASummary(t *testing.T) {
	dir, home := scratch(t)
	main, little := filepath.Join(dir, "m.txt"), filepath.Join(dir, "s.txt")
	all, w, err := openAt(t, here(dir, home), settings.Sources{Inline: fmt.Sprintf(`{"titles":false,"memory":{"auto":false},"model":%q,"small_model":%q,"models":{%q:{"window":32000,"output":2000}}}`,
		"script/"+main, "script/"+little, "script/"+main)}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	id := "01890000-0000-7000-8000-000000000002"
	file := filepath.Join(sessions.In(w.Paths.State).Notes(sessions.Key(w.Paths.Root)), "..", id, "notes.md")
	for path, text := range map[string]string{
		main:   "> " + strings.Repeat("word ", 9000) + "\n!usage in=5000 out=11000\n---\n> a\n!usage in=26000 out=10\n---\n? prompt contains \"nine headings\"\n> asked for a summary\n---\n? else\n> b\n!usage in=4000 out=10\n",
		little: fmt.Sprintf("@ Write {\"file_path\": %q, \"content\": \"# Title\\nabout the walrus\"}\n", file),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Start(t.Context(), Spec{Log: sessions.Choice{ID: id}})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string, until func(event.Body) bool) (out []event.Body) {
		events := r.Follow(t.Context(), r.State().Seq, event.Durable)
		if err := r.Submit(t.Context(), op.Prompt{Text: text}); err != nil {
			t.Fatal(err)
		}
		for e, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			if out = append(out, e.Body); until(e.Body) {
				break
			}
		}
		return out
	}
	ended := func(b event.Body) bool { _, ok := b.(event.TurnEnded); return ok }
	say("one", func(b event.Body) bool { _, ok := b.(event.NotesKept); return ok })
	say("two", ended)
	var by event.Compacted
	for _, b := range say("three", ended) {
		if c, ok := b.(event.Compacted); ok {
			by = c
		}
		if s, ok := b.(event.Spent); ok {
			t.Errorf("somebody was asked: %+v", s)
		}
	}
	if by.Notes == 0 || !strings.Contains(by.Text, "about the walrus") {
		t.Errorf("the conversation goes on with %+v", by)
	}
	if h := r.State().Helpers; h[event.ForNotes].Usage.Out == 0 || h[event.ForSummary].Usage.Out != 0 {
		t.Errorf("helpers cost %+v", h)
	}
}
