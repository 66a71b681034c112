package fulltext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store"
)

// shelf is a Catalogue in memory.
type shelf struct {
	infos  map[string]store.Info
	events map[string][]event.Event
	read   int // events that were read from it
}

func newShelf() *shelf {
	return &shelf{map[string]store.Info{}, map[string][]event.Event{}, 0}
}

func (s *shelf) add(id, project string, bodies ...event.Body) {
	for _, b := range bodies {
		s.events[id] = append(s.events[id], event.Event{Seq: event.Seq(len(s.events[id]) + 1), Time: time.Unix(1, 0), Body: b})
	}
	i := s.infos[id]
	i.ID, i.Key, i.Seq = id, project, event.Seq(len(s.events[id]))
	s.infos[id] = i
}

func (s *shelf) List(context.Context, string) (out []store.Info, _ error) {
	for _, i := range s.infos {
		out = append(out, i)
	}
	return out, nil
}

func (s *shelf) Children(context.Context, store.Info) ([]store.Info, error) { return nil, nil }

func (s *shelf) Find(_ context.Context, _, id string) (store.Info, error) {
	if i, ok := s.infos[id]; ok {
		return i, nil
	}
	return store.Info{}, store.ErrNone
}

func (s *shelf) Read(_ context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range s.events[i.ID] {
			if e.Seq > after {
				s.read++
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func prompt(s string) event.Body { return event.InputAccepted{ID: "p", Text: s} }
func reply(s string) event.Body {
	return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: s}}}}
}

func folder(t *testing.T) Folder { return Folder{Path: filepath.Join(t.TempDir(), "a b?#%", "search")} }

func update(t *testing.T, f Folder, c Catalogue) {
	t.Helper()
	if err := f.Update(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
}

func found(t *testing.T, f Folder, q Query) []string {
	t.Helper()
	hits, err := f.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %.80q: %v", q.Words, err)
	}
	ids := []string{}
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestFindsWhatWasSaidAndDone(t *testing.T) {
	f, s := folder(t), newShelf()
	input, _ := json.Marshal(map[string]string{"command": "go vet ./zebra", "content": "unwritten"})
	s.add("s1", "here", prompt("mend the Parser's overflow"), reply("The café is open"), event.ToolStarted{Call: "c", Name: "Bash", Input: input, Title: "Vet"},
		event.ToolFinished{Call: "c", Name: "Bash", Text: "resultword"}, event.InputAccepted{Text: "hiddenword", Hidden: true})
	s.add("s2", "there", prompt("検索の索引を作る"), event.Titled{Title: "An index"}, event.Ran{Command: "make parsers"})
	update(t, f, s)
	for words, want := range map[string][]string{
		"parser": {"s1", "s2"}, "PARSER overflow": {"s1"}, "overflow café": {"s1"}, "cafe": {"s1"}, "zebra": {"s1"}, "bash": {"s1"},
		"index": {"s2"}, "索引": {"s2"}, "引索": {}, "make": {"s2"}, "resultword": {}, "hiddenword": {}, "unwritten": {},
		`"mend the"`: {"s1"}, `"the mend"`: {}, "pa": {}, "pars": {"s2", "s1"}, "": {}, "!!!": {},
	} {
		if got := found(t, f, Query{Words: words}); !cmp.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", words, got, want)
		}
	}
	if got := found(t, f, Query{Words: "parser", Project: "here"}); !cmp.Equal(got, []string{"s1"}) {
		t.Errorf("of one project: %v", got)
	}
	if got := found(t, f, Query{Words: "parser", Limit: 1}); !cmp.Equal(got, []string{"s1"}) {
		t.Errorf("with a limit: %v", got)
	}
}

func TestReadsOnlyWhatIsNew(t *testing.T) {
	f, s := folder(t), newShelf()
	s.add("s1", "p", prompt("first"))
	s.add("s2", "p", prompt("other"))
	update(t, f, s)
	s.read = 0
	s.add("s1", "p", reply("second"))
	update(t, f, s)
	if got := found(t, f, Query{Words: "second"}); len(got) != 0 || s.read != 0 {
		t.Fatalf("without a mark it was read: %v, %d events", got, s.read)
	}
	if err := f.Mark("s1"); err != nil {
		t.Fatal(err)
	}
	update(t, f, s)
	if got := found(t, f, Query{Words: "second"}); !cmp.Equal(got, []string{"s1"}) || s.read != 1 {
		t.Fatalf("found %v after %d events, want s1 after 1", got, s.read)
	}
	if ids, _ := f.marked(); len(ids) != 0 {
		t.Errorf("marks are left: %v", ids)
	}

	i := s.infos["s1"]
	i.Running = true
	s.infos["s1"] = i
	_ = f.Mark("s1")
	update(t, f, s)
	if ids, _ := f.marked(); !cmp.Equal(ids, []string{"s1"}) {
		t.Errorf("the mark of a running session: %v", ids)
	}
}

func TestRemovedSessionsAreForgotten(t *testing.T) {
	f, s := folder(t), newShelf()
	s.add("s1", "p", prompt("uniqueword stays"))
	s.add("s2", "p", prompt("uniqueword goes"))
	update(t, f, s)
	delete(s.infos, "s2")
	_ = f.Mark("s2")
	update(t, f, s)
	if got := found(t, f, Query{Words: "uniqueword"}); !cmp.Equal(got, []string{"s1"}) {
		t.Errorf("found %v", got)
	}
	raw, err := os.ReadFile(filepath.Join(f.Path, indexName))
	if err != nil || strings.Contains(string(raw), "uniqueword goes") {
		t.Errorf("what was removed is still in the file (%v)", err)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	f, s := folder(t), newShelf()
	f.Mask = func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[masked]") }
	s.add("s1", "p", prompt("the password is hunter2hunter2 today"))
	update(t, f, s)
	hits, err := f.Search(t.Context(), Query{Words: "password"})
	if err != nil || len(hits) != 1 || hits[0].Snippet != "the password is [masked] today" {
		t.Errorf("%+v, %v", hits, err)
	}
	if got := found(t, f, Query{Words: "hunter2hunter2"}); len(got) != 0 {
		t.Errorf("the secret is found in %v", got)
	}
}

// What is wrong with the database costs the time to make it anew, and nothing
// else.
func TestDamage(t *testing.T) {
	damage := map[string]func(t *testing.T, path string){
		"gone":  func(t *testing.T, path string) { _ = os.Remove(path) },
		"empty": func(t *testing.T, path string) { _ = os.Truncate(path, 0) },
		"cut":   func(t *testing.T, path string) { _ = os.Truncate(path, 9000) },
		"text": func(t *testing.T, path string) {
			_ = os.WriteFile(path, []byte(strings.Repeat("not a database\n", 900)), 0o600)
		},
		"journal": func(t *testing.T, path string) { _ = os.WriteFile(path+"-journal", []byte("rubbish"), 0o600) },
		"inside": func(t *testing.T, path string) {
			raw, _ := os.ReadFile(path)
			for i := 4096; i < len(raw); i++ {
				raw[i] ^= 0x5a
			}
			_ = os.WriteFile(path, raw, 0o600)
		},
		"older": func(t *testing.T, path string) {
			x, err := Folder{Path: filepath.Dir(path)}.open(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			defer x.close()
			for _, q := range []string{"DROP TABLE session", "PRAGMA user_version = 0"} {
				if _, err := x.db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			slowtest.Turn(t)
			f, s := folder(t), newShelf()
			for n := range 50 {
				s.add(fmt.Sprint("s", n), "p", prompt("needle "+strings.Repeat(fmt.Sprint("hay", n, " "), 100)))
			}
			update(t, f, s)
			harm(t, filepath.Join(f.Path, indexName))
			if hits, err := f.Search(t.Context(), Query{Words: "needle", Limit: 100}); err != nil && !errors.Is(err, ErrNone) || err == nil && len(hits) != 50 {
				t.Fatalf("a search finds %d, %v", len(hits), err)
			}
			update(t, f, s)
			if err := f.Mark("s0"); err != nil {
				t.Fatal(err)
			}
			update(t, f, s)
			if got := found(t, f, Query{Words: "needle", Limit: 100}); len(got) != 50 {
				t.Errorf("found %d of 50", len(got))
			}
		})
	}
}

func TestNewerIsLeftAlone(t *testing.T) {
	f, s := folder(t), newShelf()
	s.add("s1", "p", prompt("word"))
	update(t, f, s)
	x, err := f.open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
		t.Fatal(err)
	}
	_ = x.close()
	if _, err := f.Search(t.Context(), Query{Words: "word"}); !errors.Is(err, ErrNewer) {
		t.Errorf("search: %v", err)
	}
	if err := f.Update(t.Context(), s, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("update: %v", err)
	}
	if err := f.Rebuild(t.Context(), s, nil); err != nil || len(found(t, f, Query{Words: "word"})) != 1 {
		t.Errorf("rebuild: %v", err)
	}
}

// While another process writes, a search reads; only the moment of its commit
// is waited for.
func TestOthersWrite(t *testing.T) {
	f, s := folder(t), newShelf()
	s.add("s1", "p", prompt("word"))
	update(t, f, s)
	x, err := f.open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	tx, err := x.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, f, Query{Words: "word"}); len(got) != 1 {
		t.Errorf("found %v beside a writer", got)
	}
	_ = f.Mark("s1")
	s.add("s1", "p", reply("more"))
	if err := f.Update(t.Context(), s, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("an update beside a writer: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	update(t, f, s) // the mark is still there
	if got := found(t, f, Query{Words: "more"}); len(got) != 1 {
		t.Errorf("found %v afterwards", got)
	}
}

var hostile = []string{
	`"`, `""`, `"""`, `a"b"c`, `NEAR(a b, 3)`, `a NEAR b`, `AND`, `a AND`, `OR OR`, `NOT x`, `-x`, `^x`, `x*`, `*`, `(`, `((`, `a)`, `words:x`, `project : x`, `{words} : x`,
	`'; DROP TABLE doc; --`, "\x00", "a\x00b", "\x1b[31mred", "\u200b", "\u202e", "\xff\xfe", "a+b", "…", "😀", strings.Repeat("word ", 300_000), strings.Repeat("x", 1<<20), strings.Repeat(`"`, 1<<20),
	strings.Repeat("(", 1<<16), "?", "?1", ":a", "@a", "$a", "%", "_", "\\", "é", "索", "ก",
}

func TestHostileText(t *testing.T) {
	slowtest.Turn(t)
	f, s := folder(t), newShelf()
	for n, text := range hostile {
		s.add(fmt.Sprintf("s%02d", n), `p"'`, prompt("needle "+text), reply(text), event.Titled{Title: text})
	}
	update(t, f, s)
	for _, text := range hostile {
		found(t, f, Query{Words: text})
		found(t, f, Query{Words: text, Project: text})
	}
	hits, err := f.Search(t.Context(), Query{Words: "needle", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		if strings.ContainsAny(h.Snippet, "\x00\x1b\n\u202e\u200b") {
			t.Errorf("a snippet of %s: %q", h.ID, h.Snippet)
		}
	}
	if len(hits) != len(hostile) {
		t.Errorf("%d of %d found", len(hits), len(hostile))
	}
}

func FuzzQuery(f *testing.F) {
	for _, q := range hostile {
		if len(q) < 1000 {
			f.Add(q)
		}
	}
	in, s := Folder{Path: f.TempDir()}, newShelf()
	s.add("s1", "p", prompt("a word"))
	if err := in.Update(context.Background(), s, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := in.Search(t.Context(), Query{Words: q}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	})
}

func TestLongTextIsFoundInParts(t *testing.T) {
	f, s := folder(t), newShelf()
	s.add("s1", "p", prompt(strings.Repeat("filler ", 20_000)+"lastword"))
	s.add("s2", "p", prompt("firstword "+strings.Repeat("x", 1<<20)))
	update(t, f, s)
	if got := found(t, f, Query{Words: "lastword"}); !slices.Equal(got, []string{"s1"}) {
		t.Errorf("%v", got)
	}
	if got := found(t, f, Query{Words: "firstword"}); !slices.Equal(got, []string{"s2"}) {
		t.Errorf("%v", got)
	}
}

// A session that is taken up again comes to the front.
func TestNewestFirst(t *testing.T) {
	f, s := folder(t), newShelf()
	for n := range 100 {
		s.add(fmt.Sprintf("s%03d", n), "p", prompt("word"))
	}
	update(t, f, s)
	s.add("s000", "p", prompt("word again"))
	_ = f.Mark("s000")
	update(t, f, s)
	if got := found(t, f, Query{Words: "word", Limit: 2}); !slices.Equal(got, []string{"s000", "s099"}) {
		t.Errorf("%v", got)
	}
}

// What is shown of many sessions at once is what is shown of each, also when some
// of them have thousands of rows.
func TestShowsManyAtOnce(t *testing.T) {
	slowtest.Turn(t)
	f, s := folder(t), newShelf()
	var want []string
	for n := range 15 {
		id := fmt.Sprintf("s%02d", n)
		for i := range 1 + n%7*100 {
			s.add(id, "p", prompt(fmt.Sprintf("a common thing %d of %s", i, id)))
		}
		want = append([]string{fmt.Sprintf("%s a common thing %d of %s", id, n%7*100, id)}, want...)
	}
	update(t, f, s)
	for _, words := range []string{"common", "com", "thing common"} {
		for _, limit := range []int{1, 7, 30, 200} {
			hits, err := f.Search(t.Context(), Query{Words: words, Limit: limit})
			var got []string
			for _, h := range hits {
				got = append(got, h.ID+" "+h.Snippet)
				if int(h.Seq) != len(s.events[h.ID]) {
					t.Errorf("%s is found at %d of %d", h.ID, h.Seq, len(s.events[h.ID]))
				}
			}
			if diff := cmp.Diff(want[:min(limit, len(want))], got); diff != "" || err != nil {
				t.Errorf("%q, %d: %v\n%s", words, limit, err, diff)
			}
		}
	}
}

// Words are found in the ways that people write them: one syllable, one picture, ß as ss,
// ё as е.
func TestSpellings(t *testing.T) {
	for query, text := range map[string]string{
		"검": "한국어 검색 테스트", "색": "한국어 검색 테스트", "검색": "한국어 검색 테스트", "🚀": "a rocket🚀flies", "rocket": "a rocket🚀flies", "👩‍💻": "emoji 👩‍💻", "™": "the Name™ itself", "name": "the Name™ itself",
		"strasse": "Straße in München", "STRASSE": "straße", "straße": "die Hauptstrasse, eine Strasse", "Елка": "исправь Ёлка", "ёлка": "елка", "еще": "а ещё", `"in munchen"`: "Straße in München", "straß": "die Strassen",
	} {
		f, c := folder(t), newShelf()
		c.add("s1", "here", prompt(text))
		update(t, f, c)
		if got := found(t, f, Query{Words: query}); len(got) != 1 {
			t.Errorf("%q is not found in %q", query, text)
		}
	}
}
