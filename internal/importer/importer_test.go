package importer_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/importer"
	"github.com/adze-agent/adze/internal/llm"
)

// A rig is a home with what agents keep there.
type rig struct {
	t    testing.TB
	home string
	*importer.Agents
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigWith(t, nil)
}

// newRigWith has variables that name folders of the home.
func newRigWith(t testing.TB, folders map[string]string) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir()}
	env := func(name string) string {
		if folders[name] == "" {
			return ""
		}
		return filepath.Join(r.home, folders[name])
	}
	r.Agents = importer.At(importer.Place{Home: r.home, Temp: t.TempDir(), Env: env})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.home, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// base makes a database of SQL, and leaves what was written last in its log.
func (r *rig) base(name, script string) {
	r.t.Helper()
	path := r.write(name, "")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(script); err != nil {
		r.t.Fatal(err)
	}
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// places are where each agent keeps the session of its fixture.
func (r *rig) fixtures() {
	r.write(".claude/projects/-home-u-calc/72f26f1c-f3db-41da-95cd-a67410ec9830.jsonl", fixture(r.t.(*testing.T), "claude-code-2.1.197.jsonl"))
	r.write(".codex/sessions/2026/11/22/rollout-2026-11-22T16-26-57-01a2.jsonl", fixture(r.t, "codex-0.169.0.jsonl"))
	r.write(".gemini/tmp/calc/chats/session-2026-11-22T16-27-d8c40158.jsonl", fixture(r.t, "gemini-0.61.0.jsonl"))
	r.write(".gemini/tmp/calc/.project_root", "/home/u/calc")
	r.base(".local/share/opencode/opencode.db", fixture(r.t, "opencode-1.18.33.sql"))
	r.base("calc/.crush/crush.db", fixture(r.t, "crush-2026-08-21.sql"))
	r.write(".local/share/crush/projects.json", `{"projects":[{"path":"/home/u/calc","data_dir":"`+filepath.ToSlash(filepath.Join(r.home, "calc", ".crush"))+`"}]}`)
}

// one reads the only session that is there.
func (r *rig) one(from string) (importer.Session, []event.Event) {
	r.t.Helper()
	srcs, err := r.Find(r.t.Context(), from)
	if err != nil || len(srcs) != 1 {
		r.t.Fatalf("%s: %v, %v", from, srcs, err)
	}
	s, es, err := r.read(r.t.Context(), srcs[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return s, es
}

func (r *rig) read(ctx context.Context, src importer.Source) (s importer.Session, es []event.Event, err error) {
	spill := func(text string) (string, error) { return fmt.Sprintf("/spilled/%d", len(text)), nil }
	s, err = r.Copy(ctx, src, func(importer.Session) (importer.Sink, error) {
		return importer.Sink{Spill: spill, Put: func(e event.Event) error { es = append(es, e); return nil }}, nil
	})
	return s, es, err
}

// outline says in lines what a session is made of.
func outline(es []event.Event) string {
	var b strings.Builder
	for _, e := range es {
		switch x := e.Body.(type) {
		case event.InputAccepted:
			fmt.Fprintf(&b, "prompt %s\n", x.Text)
		case event.Replied:
			for _, p := range x.Message.Parts {
				switch p := p.(type) {
				case llm.Text:
					fmt.Fprintf(&b, "reply %s\n", p.S)
				case llm.ToolUse:
					fmt.Fprintf(&b, "call %s %s\n", p.Name, p.Input)
				}
			}
		case event.ToolFinished:
			fmt.Fprintf(&b, "result %v %q\n", x.IsErr, x.Text)
		}
	}
	return b.String()
}

// Each fixture was written by the program itself, which was given the same
// prompts, and whose provider asked for the same calls.
func TestFixtures(t *testing.T) {
	r := newRig(t)
	r.fixtures()
	for from, want := range map[string]struct{ title, first string }{
		importer.ClaudeCode: {"", `result false "1\tone\n2\t"` + "\n" + `result false "two\nthree"`},
		importer.Codex:      {"", `call exec_command {"cmd": "echo two; echo three >&2"}`},
		importer.Gemini:     {"", `result false "one\n"`},
		importer.OpenCode:   {"A short title", `result false "two\nthree\n"`},
		importer.Crush:      {"Three numbers", "call agent {\"prompt\": \"count them\"}\n" + `result false "It says one, two, three."`},
	} {
		s, es := r.one(from)
		got := outline(es)
		if s.Prompts != 2 || s.Dir != "/home/u/calc" || s.Title != want.title || s.Began.IsZero() || len(s.Left()) != 0 {
			t.Errorf("%s: %d prompts in %q, %q, %v, left %q", from, s.Prompts, s.Dir, s.Title, s.Began, s.Left())
		}
		for _, part := range []string{"what do they say?", "say it again", "reply I look at it.", "reply It says one, two, three.", want.first, "missing.txt"} {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q is not in\n%s", from, part, got)
			}
		}
		if n := paired(t, es); strings.Count(got, "result") != n || n < 3 {
			t.Errorf("%s: %d calls in\n%s", from, n, got)
		}
		if strings.Contains(got, "think") || strings.Contains(got, "left out") {
			t.Errorf("%s: what is not of the conversation is in\n%s", from, got)
		}
		accepted(t, es)
	}
}

// What the fixture of Crush does not have: a command that the person ran, a call
// that was not finished and has no result, and parts that are not known.
func TestCrushParts(t *testing.T) {
	r := newRig(t)
	r.base("calc/.crush/crush.db", fixture(t, "crush-2026-08-21.sql")+`
INSERT INTO messages (id, session_id, role, parts, created_at, updated_at) VALUES
	('a', '70dd3088-96f8-4695-8fec-9f5e2bda624d', 'user', '[{"type":"shell_command","data":{"command":"make","output":"all is built"}}]', 1795384710, 1795384710),
	('b', '70dd3088-96f8-4695-8fec-9f5e2bda624d', 'assistant', '[{"type":"text","data":{"text":"I list them."}},{"type":"tool_call","data":{"id":"call_9","name":"ls","input":"","finished":false}},{"type":"hologram","data":{}}]', 1795384711, 1795384711),
	('c', '70dd3088-96f8-4695-8fec-9f5e2bda624d', 'user', 'half a mess', 1795384712, 1795384712);`)
	r.write(".local/share/crush/projects.json", fmt.Sprintf(`{"projects":[{"path":"/home/u/calc","data_dir":%q}]}`, filepath.Join(r.home, "calc", ".crush")))
	s, es := r.one(importer.Crush)
	got := outline(es)
	if !strings.Contains(got, "prompt ! make\nall is built\n") || !strings.Contains(got, "call ls {}") || paired(t, es) != 5 {
		t.Errorf("it came to\n%s", got)
	}
	if left := fmt.Sprint(s.Left()); !strings.Contains(left, "hologram") || !strings.Contains(left, "not whole") {
		t.Errorf("left %s", left)
	}
	accepted(t, es)
}

// files are all files below a folder, with what is in them.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNothingOfTheirsChanges(t *testing.T) {
	r := newRig(t)
	r.fixtures()
	before := files(t, r.home)
	for _, from := range importer.Names() {
		r.one(from)
	}
	after := files(t, r.home)
	if len(before) != len(after) || len(before) < 8 {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	for path, sum := range after {
		if before[path] != sum {
			t.Errorf("%s changed", path)
		}
	}
}

func claude(lines ...string) string {
	return strings.Join(append([]string{`{"type":"user","uuid":"1","parentUuid":null,"cwd":"/w","timestamp":"2026-01-02T03:04:05Z","message":{"content":"go"}}`}, lines...), "\n")
}

func said(uuid, parent, text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q,"message":{"id":"m%s","content":[{"type":"text","text":%q}]}}`, uuid, parent, uuid, text)
}

func TestBranchesAndBadLinks(t *testing.T) {
	for name, c := range map[string]struct {
		text, want, left string
	}{
		"a branch that was given up": {claude(said("2", "1", "first"), said("3", "2", "gone"), said("4", "2", "newest")), "prompt go\nreply first\nreply newest\n", "branches that were given up: 1"},
		"a circle":                   {claude(said("2", "3", "a"), said("3", "2", "b")), "prompt go\nreply a\nreply b\n", "circular"},
		"a parent that is missing":   {claude(said("2", "9", "a"), said("3", "2", "b")), "prompt go\nreply a\nreply b\n", "missing"},
		"half a line":                {claude(said("2", "1", "a"), `{"type":"assistant","uuid":"3","mess`), "prompt go\nreply a\n", "not whole: 1"},
		"an unknown kind":            {claude(said("2", "1", "a"), `{"type":"dream","x":1}`), "prompt go\nreply a\n", "not known, dream: 1"},
		"a result of no call":        {claude(`{"type":"user","uuid":"2","parentUuid":"1","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"?"}]}}`, said("3", "2", "a")), "prompt go\nreply a\n", "results of no open call: 1"},
		"a call without a result":    {claude(`{"type":"assistant","uuid":"2","parentUuid":"1","message":{"content":[{"type":"tool_use","id":"x","name":"a.b","input":[1]}]}}`), "prompt go\ncall a_b {\"input\":[1]}\nresult true \"[the result of this call was not kept]\"\n", "calls without a result, which say so now: 1"},
		"a boundary without a link":  {claude(said("2", "1", "a"), `{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null}`, `{"type":"user","isCompactSummary":true,"uuid":"4","parentUuid":"3","message":{"content":"in short"}}`, said("5", "4", "b")), "prompt go\nreply a\nreply b\n", "compactions"},
		"what the program says":      {claude(`{"type":"user","uuid":"2","parentUuid":"1","message":{"content":"<command-name>/review</command-name><command-args>x.go</command-args>"}}`, `{"type":"user","uuid":"3","parentUuid":"2","message":{"content":"<local-command-stdout>x</local-command-stdout>"}}`, said("4", "3", "a")), "prompt go\nprompt /review x.go\nreply a\n", ""},
		"sub-agents":                 {claude(said("2", "1", "a"), `{"type":"user","isSidechain":true,"message":{"content":"look"}}`), "prompt go\nreply a\n", "sub-agents: 1"},
		"an empty text":              {claude(said("2", "1", " "), said("3", "2", "a")), "prompt go\nreply a\n", ""},
	} {
		r := newRig(t)
		r.write(".claude/projects/-w/s.jsonl", c.text)
		s, es := r.one(importer.ClaudeCode)
		if got := outline(es); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
		if left := strings.Join(s.Left(), "; "); !strings.Contains(left, c.left) || (c.left == "") != (left == "") {
			t.Errorf("%s: left %q, want %q", name, left, c.left)
		}
		paired(t, es)
		accepted(t, es)
	}
}

func TestGeminiRecords(t *testing.T) {
	r := newRig(t)
	user := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-02T03:04:05Z","type":"user","content":%q}`, id, text)
	}
	r.write(".gemini/tmp/x/chats/session-1.jsonl", strings.Join([]string{
		`{"sessionId":"g1","projectHash":"h"}`, user("1", "one"), `{"id":"2","type":"gemini","content":"uno"}`, user("3", "taken back"),
		`{"$rewindTo":"3"}`, `{"id":"2","type":"gemini","content":"eins"}`, user("4", "two"), `{"$set":{"summary":"Counting"}}`, `{"id":"5","type":"error","content":"x"}`, `{"id":"6","type":"new"}`,
	}, "\n"))
	s, es := r.one(importer.Gemini)
	if got := outline(es); got != "prompt one\nreply eins\nprompt two\n" || s.Title != "Counting" || s.ID != "g1" {
		t.Errorf("%+v\n%s", s, got)
	}
	if !slices.Equal(s.Left(), []string{"messages of a kind that is not known, new: 1"}) {
		t.Errorf("left %q", s.Left())
	}

	old := newRig(t)
	sum := sha256.Sum256([]byte("/home/u/x"))
	old.write(".gemini/projects.json", `{"projects":{"/home/u/x":"x"}}`)
	old.write(fmt.Sprintf(".gemini/tmp/%x/chats/session-2.json", sum), fmt.Sprintf("{\n\"sessionId\":\"g2\",\"projectHash\":\"%x\",\n\"messages\":[%s]}", sum, user("1", "one")))
	if s, es := old.one(importer.Gemini); outline(es) != "prompt one\n" || s.Dir != "/home/u/x" {
		t.Errorf("an older file: %+v\n%s", s, outline(es))
	}
}

// A file may be larger than what fits in memory: what is held of it is bounded,
// and long results are kept whole beside the log.
func TestLargeFiles(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	r := newRig(t)
	r.write(".codex/sessions/2026/01/02/rollout-1.jsonl", `{"type":"session_meta","payload":{"id":"c1","cwd":"/w"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"x","arguments":"{","call_id":"1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"`+long+`"}}
{"type":"event_msg","payload":{"x":"`+strings.Repeat("y", 33<<20)+`"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}`)
	s, es := r.one(importer.Codex)
	if !slices.Equal(s.Left(), []string{"lines of more than 32 MB: 1"}) || s.ID != "c1" {
		t.Errorf("%s: left %q", s.ID, s.Left())
	}
	got := outline(es)
	if !strings.Contains(got, "/spilled/100000") || len(got) > 45_000 || !strings.Contains(got, "reply done") || !strings.Contains(got, `{"input":"{"}`) {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

func TestHelpersAndEmptySessions(t *testing.T) {
	r := newRig(t)
	r.write(".codex/sessions/2026/01/02/rollout-1.jsonl", `{"type":"session_meta","payload":{"id":"c1","thread_source":"subagent"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`)
	r.write(".claude/projects/-w/empty.jsonl", `{"type":"summary","summary":"nothing","leafUuid":"x"}`)
	for from, want := range map[string]error{importer.Codex: importer.ErrHelper, importer.ClaudeCode: importer.ErrEmpty} {
		srcs, err := r.Find(t.Context(), from)
		if err != nil || len(srcs) != 1 {
			t.Fatal(srcs, err)
		}
		if _, es, err := r.read(t.Context(), srcs[0]); !errors.Is(err, want) || es != nil {
			t.Errorf("%s: %v, %d events", from, err, len(es))
		}
	}
	if _, err := r.Find(t.Context(), "nobody"); err == nil {
		t.Error("an agent that does not exist has sessions")
	}
}

// A database that is none is named, and hides no other one.
func TestBrokenDatabase(t *testing.T) {
	r := newRig(t)
	r.fixtures()
	r.write("bad/.crush/crush.db", strings.Repeat("no database ", 1000))
	r.write(".local/share/crush/projects.json", fmt.Sprintf(`{"projects":[{"path":"/a","data_dir":%q},{"path":"/b","data_dir":%q}]}`, filepath.Join(r.home, "bad", ".crush"), filepath.Join(r.home, "calc", ".crush")))
	srcs, err := r.Find(t.Context(), importer.Crush)
	if len(srcs) != 1 || err == nil || !strings.Contains(err.Error(), filepath.Join("bad", ".crush", "crush.db")) {
		t.Errorf("%v, %v", srcs, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.read(ctx, srcs[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// A title that was given wins over one that was found, and that over what a summary
// of this session, and of no other, says.
func TestTitlesOfClaudeCode(t *testing.T) {
	const (
		here  = `{"type":"summary","summary":"About this","leafUuid":"2"}`
		other = `{"type":"summary","summary":"About another","leafUuid":"far"}`
	)
	for want, lines := range map[string][]string{
		"About this": {other, here, said("2", "1", "a"), said("3", "2", "b"), other},
		"":           {other, said("2", "1", "a")},
		"Found":      {here, said("2", "1", "a"), `{"type":"ai-title","aiTitle":"Found"}`},
		"Given":      {`{"type":"custom-title","customTitle":"Given"}`, here, said("2", "1", "a")},
	} {
		r := newRig(t)
		r.write(".claude/projects/-w/s.jsonl", claude(lines...))
		srcs, err := r.Find(t.Context(), importer.ClaudeCode)
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err := r.read(t.Context(), srcs[0]); err != nil || s.Title != want {
			t.Errorf("%q, %v; want %q", s.Title, err, want)
		}
	}
}

// What begin or a sink refuses is the error, and ends the reading.
func TestARefusedCopyReadsNoMore(t *testing.T) {
	r := newRig(t)
	r.write(".claude/projects/-w/s.jsonl", claude(said("2", "1", "a"), `{"type":"custom-title","customTitle":"T"}`, said("3", "2", "b")))
	srcs, err := r.Find(t.Context(), importer.ClaudeCode)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for at := range 3 {
		puts := 0
		s, err := r.Copy(t.Context(), srcs[0], func(s importer.Session) (importer.Sink, error) {
			if s.Title != "T" || s.Dir != "/w" || s.Began.IsZero() {
				t.Errorf("begun with %+v", s)
			}
			if at == 0 {
				return importer.Sink{}, refused
			}
			return importer.Sink{Put: func(event.Event) error {
				if puts++; puts == at {
					return refused
				}
				return nil
			}}, nil
		})
		if !errors.Is(err, refused) || puts != at || s.NewID() == "" {
			t.Errorf("at %d: %d events, %v", at, puts, err)
		}
	}
}

// What a megabyte of a transcript costs.
func BenchmarkCopy(b *testing.B) {
	var text strings.Builder
	text.WriteString(claude() + "\n")
	for n := 2; text.Len() < 8<<20; n++ {
		result := strings.Repeat("\tif err != nil { // \"quoted\"\n", 300)
		fmt.Fprintf(&text, `{"type":"assistant","uuid":"%d","parentUuid":"%d","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{}}]}}`+"\n", n, n-1, n, n)
		fmt.Fprintf(&text, `{"type":"user","uuid":"%d","parentUuid":"%d","toolUseResult":{"file":%q},"message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}}`+"\n", n+1, n, result, n, result)
		n++
	}
	r := newRig(b)
	r.write(".claude/projects/-w/s.jsonl", text.String())
	srcs, err := r.Find(b.Context(), importer.ClaudeCode)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := r.Copy(b.Context(), srcs[0], func(importer.Session) (importer.Sink, error) {
			return importer.Sink{Put: func(event.Event) error { return nil }}, nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"claude-code-2.1.197.jsonl", "codex-0.169.0.jsonl", "gemini-0.61.0.jsonl"} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Add([]byte(claude(said("2", "1", "a"))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := newRig(t)
		r.write(".claude/projects/-w/s.jsonl", string(raw))
		r.write(".codex/sessions/2026/01/02/rollout-1.jsonl", string(raw))
		r.write(".gemini/tmp/x/chats/session-1.jsonl", string(raw))
		for _, from := range []string{importer.ClaudeCode, importer.Codex, importer.Gemini} {
			srcs, _ := r.Find(t.Context(), from)
			for _, src := range srcs {
				if _, es, err := r.read(t.Context(), src); err == nil {
					paired(t, es)
				}
			}
		}
	})
}
