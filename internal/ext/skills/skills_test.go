package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a session with skills, and a Bash that says what it would run.
type rig struct {
	*session.Session
	desk  *Desk
	model *fake.Model

	mu  sync.Mutex
	ran []string
}

func (r *rig) commands() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.ran, "|")
}

// read is what these places and adze itself have.
func read(places ...skill.Place) (skill.Library, []skill.Problem) {
	list, bad := Read(places, nil)
	return extension.Library(list...), bad
}

// library reads skills from texts, by path.
func library(t *testing.T, text map[string]string) skill.Library {
	t.Helper()
	commands := map[string]string{}
	for name := range text {
		if !strings.HasSuffix(name, "SKILL.md") {
			commands[name] = text[name]
			delete(text, name)
		}
	}
	lib, bad := read(skill.Place{Kind: skill.Skills, From: "a test", Text: text}, skill.Place{Kind: skill.Commands, From: "a test", Text: commands})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return lib
}

func start(t *testing.T, c Config, rules []policy.Rule, replies ...fake.Reply) *rig {
	t.Helper()
	r := &rig{model: &fake.Model{Replies: replies}}
	c.Env = tool.Env{Dir: "/w", Roots: []string{"/w"}}
	c.Session, c.Project = "s1", "/w"
	r.desk = New(c)
	bash := tool.New(tool.Spec{Name: "Bash"}, func(in struct {
		Command     string `json:"command"`
		Description string `json:"description,omitempty"`
	}, _ tool.Env) (tool.Plan, error) {
		var as []policy.Action
		for c := range strings.SplitSeq(in.Command, ";") {
			argv := strings.Fields(c)
			as = append(as, policy.Exec{Argv: argv, ReadOnly: argv[0] == "look"})
		}
		return tool.Plan{Actions: as}, nil
	}, func(_ context.Context, in struct {
		Command     string `json:"command"`
		Description string `json:"description,omitempty"`
	}, _ tool.Env) (tool.Result, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ran = append(r.ran, in.Command)
		return tool.Result{Text: "output of " + in.Command + "\n"}, nil
	})
	set, err := tool.NewSet(append(r.desk.Contribution().Tools, bash)...)
	if err != nil {
		t.Fatal(err)
	}
	r.Session, err = session.Start(t.Context(), session.Config{
		Record: session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{ID: "s1", Schema: event.Schema, Dir: "/w"}, Again: event.Resumed{Dir: "/w"}},
		Turns: session.Turns{Target: agent.Target{Model: r.model, Provider: "fake", Name: "m"}, Loop: &agent.Loop{
			Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }, Env: c.Env, Touched: r.desk.Touched,
		}},
		Hands: session.Hands{Tools: set, Commands: r.desk, Attach: func(_ context.Context, n session.Naming) []event.Attached {
			if strings.Contains(n.Text, "@secret") {
				return []event.Attached{{Name: "secret", About: "a rule denies it", Refused: true}}
			}
			return []event.Attached{{Name: "x", Text: "<attached>" + n.Text + "</attached>"}}
		}},
		Permissions: session.Permissions{Mode: policy.Default, Rules: policy.Rules{Dir: "/w", Dirs: []string{"/w"}, List: rules}},
		Now:         time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	r.desk.Attach(r.Session)
	return r
}

// run submits a prompt and returns how its turn ended.
func (r *rig) run(t *testing.T, text string) event.TurnEnded {
	t.Helper()
	after := r.State().Seq
	if err := r.Submit(t.Context(), op.Prompt{Text: text, Command: strings.HasPrefix(text, "/")}); err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Follow(t.Context(), after, event.Durable) {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := e.Body.(event.TurnEnded); ok {
			return end
		}
	}
	return event.TurnEnded{}
}

// read is everything that the newest request says to the model.
func (r *rig) read() string {
	rs := r.model.Requests()
	var b strings.Builder
	for _, m := range rs[len(rs)-1].Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				b.WriteString(p.S + "\n")
			case llm.ToolResult:
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

func use(name, args string) llm.ToolUse {
	in, err := json.Marshal(input{name, args})
	if err != nil {
		panic(err)
	}
	return llm.ToolUse{ID: "u" + name, Name: Name, Input: in}
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		no := strings.TrimPrefix(w, "!")
		if strings.Contains(text, no) != (no == w) {
			t.Errorf("%q in:\n%s", w, text)
		}
	}
}

// A person's command is expanded: values, commands by the ordinary decision with
// what it lends, files. What is refused is not run, and says why in its place.
func TestCommandOfAPerson(t *testing.T) {
	r := start(t, Config{}, []policy.Rule{{Tool: "Bash", Spec: "never *", Effect: policy.Deny}}, fake.Say("done"))
	r.desk.Use(library(t, map[string]string{
		"fix.md": "---\nallowed-tools: Bash(make:*), Bash(never:*)\nmodel: \n---\nFix $0 in ${CLAUDE_PROJECT_DIR}.\nState: !`look now`\nBuild: !`make $1`\nBad: !`never x`\nOdd: !`make a; wipe b`\nSee @a.go",
	}))
	if end := r.run(t, "/fix 12 'all of it'"); end.How != event.Done {
		t.Fatalf("%+v", end)
	}
	has(t, r.read(), "Fix 12 in /w.", "State: output of look now\n", "Build: output of make all of it\n", "Bad: [not run: never x: ", "Odd: [not run: make a; wipe b: ", "See @a.go", "<attached>", "!/fix")
	if got := r.commands(); got != "look now|make all of it" {
		t.Errorf("ran %s", got)
	}
	if st := r.State(); st.Said[0].Text != "/fix 12 'all of it'" || len(st.Skills) != 1 || st.Skills[0].Rules[0] != "Bash(make:*)" || !strings.Contains(st.Skills[0].Text, "Fix 12") {
		t.Errorf("%+v %+v", st.Said, st.Skills)
	}
	for name, want := range map[string]string{"/none": "there is no command /none", "/fox": "did you mean fix"} {
		if err := r.Submit(t.Context(), op.Prompt{Text: name, Command: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The model uses a skill by the tool. One that brings rules asks first; one that
// is not for it is an error that says so.
func TestSkillOfTheModel(t *testing.T) {
	lib := map[string]string{
		"words/SKILL.md":  "---\nname: words\ndescription: d\n---\nOnly words about $ARGUMENTS.\n!`look`",
		"rules/SKILL.md":  "---\nname: rules\ndescription: d\nallowed-tools: Bash(make *)\n---\nx",
		"people/SKILL.md": "---\nname: people\ndescription: d\ndisable-model-invocation: true\n---\nx",
	}
	r := start(t, Config{}, nil, fake.Use(use("words", "tea"), use("rules", ""), use("people", ""), use("wrds", "")), fake.Say("done"))
	r.desk.Use(library(t, lib))
	r.run(t, "go")
	has(t, r.read(), "Only words about tea.", "output of look", "for people only: they type /people", "did you mean words", "rules", "!\nx\n")
	st := r.State()
	if len(st.Turn.Denials) != 1 || len(st.Skills) != 1 || st.Skills[0].Name != "words" {
		t.Errorf("%+v %+v", st.Turn.Denials, st.Skills)
	}

	// A rule allows it, and what it lends counts for the rest of the turn, no longer.
	make1 := llm.ToolUse{ID: "b1", Name: "Bash", Input: json.RawMessage(`{"command":"make it"}`)}
	make2 := llm.ToolUse{ID: "b2", Name: "Bash", Input: json.RawMessage(`{"command":"make more"}`)}
	r = start(t, Config{}, []policy.Rule{{Tool: "Skill", Spec: "rules", Effect: policy.Allow}}, fake.Use(use("rules", "")), fake.Use(make1), fake.Say("ok"), fake.Use(make2), fake.Say("ok"))
	r.desk.Use(library(t, map[string]string{"rules/SKILL.md": lib["rules/SKILL.md"], "x/SKILL.md": "---\nname: x\ndescription: d\n---\nx"}))
	r.run(t, "go")
	r.run(t, "again")
	if got := r.commands(); got != "make it" {
		t.Errorf("ran %s", got)
	}
	// A deny rule of a person's is for any skill.
	r = start(t, Config{}, []policy.Rule{{Tool: "Skill", Spec: "x", Effect: policy.Deny}}, fake.Use(use("x", "")), fake.Say("ok"))
	r.desk.Use(library(t, map[string]string{"x/SKILL.md": "---\nname: x\ndescription: d\n---\nthe text"}))
	r.run(t, "go")
	has(t, r.read(), "!the text")
}

// A skill with context: fork is done by an agent of its own.
func TestFork(t *testing.T) {
	var got Fork
	conf := Config{Fork: func(_ context.Context, f Fork) (string, effect.Changed, error) {
		if got = f; f.Skill == "bad" {
			return "", effect.Changed{}, errors.New("the money is used up")
		}
		return "it found 3", effect.Changed{}, nil
	}}
	text := map[string]string{
		"look/SKILL.md": "---\nname: look\ndescription: d\ncontext: fork\nagent: Explore\nmodel: haiku\neffort: low\n---\nLook at $0",
		"bad/SKILL.md":  "---\nname: bad\ndescription: d\ncontext: fork\n---\nx",
		"odd/SKILL.md":  "---\nname: odd\ndescription: d\ncontext: fork\nagent: nobody\n---\nx",
	}
	r := start(t, conf, []policy.Rule{{Tool: "Skill", Effect: policy.Allow}}, fake.Use(use("look", "a.go"), use("bad", ""), use("odd", "")), fake.Say("done"), fake.Say("done"))
	r.desk.Use(library(t, text))
	r.run(t, "go")
	has(t, r.read(), "it found 3", "!Look at a.go", "the skill bad: the money is used up", "it wants the agent nobody")
	r.run(t, "/look b.go")
	has(t, r.read(), "The person ran /look b.go.", "<result>\nit found 3\n</result>")
	if got.Prompt != "Look at b.go" || got.Model != "haiku" || got.Effort != "low" || got.Agent.Name != "explore" {
		t.Errorf("%+v", got)
	}
	if end := r.run(t, "/bad"); !strings.Contains(end.Err, "/bad: the money is used up") {
		t.Errorf("%+v", end)
	}
}

// What changes is told behind all that the model has read, and each other context
// is told of conditional skills anew.
func TestChanges(t *testing.T) {
	r := start(t, Config{}, nil, fake.Say("one"), fake.Say("two"))
	one := func(name, about string) string {
		return "---\nname: " + name + "\ndescription: " + about + "\n---\nx"
	}
	r.desk.Use(library(t, map[string]string{"a/SKILL.md": one("a", "old"), "b/SKILL.md": one("b", "gone soon")}))
	r.run(t, "go")
	first := r.model.Requests()[0]
	r.desk.Use(library(t, map[string]string{"a/SKILL.md": one("a", "new"), "c/SKILL.md": one("c", "came"), "d.md": "---\ndescription: d\ndisable-model-invocation: true\n---\n"}))
	r.run(t, "on")
	has(t, r.read(), "- changed: a: new", "- new: c: came", "- gone: b", "!new: d")
	if second := r.model.Requests()[1]; len(second.Messages) <= len(first.Messages) || fmt.Sprint(second.System) != fmt.Sprint(first.System) {
		t.Error("what was sent before is not the same")
	}
	r.desk.Use(r.desk.Library()) // nothing is different
	lib := library(t, map[string]string{"go/SKILL.md": "---\nname: go\ndescription: about Go\npaths: '**/*.go'\n---\nx"})
	r.desk.Use(lib)
	for i, c := range []struct {
		begins event.Seq
		path   string
		want   int
	}{{0, "/w/a.md", 0}, {0, "/other/a.go", 0}, {0, "/w/x/a.go", 1}, {0, "/w/b.go", 0}, {7, "/w/b.go", 1}} {
		if got := r.desk.Touched(c.begins, []string{c.path}); len(got) != c.want || c.want == 1 && !strings.Contains(got[0], "go: about Go") {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// Files of a skill's own may be read, and where they are is said.
func TestFilesOfASkill(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s", "SKILL.md"), []byte("---\nname: s\ndescription: d\n---\nRun scripts/x.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib, _ := read(skill.Place{Dir: dir, Kind: skill.Skills})
	r := start(t, Config{}, nil, fake.Use(use("s", "")), fake.Say("done"))
	r.desk.Use(lib)
	r.run(t, "go")
	has(t, r.read(), "The files of this skill are in "+filepath.Join(dir, "s")+".\n\nRun scripts/x.sh")
	if k := r.State().Skills[0]; len(k.Rules) != 1 || k.Rules[0] != "Read(/"+filepath.Join(dir, "s")+"/**)" {
		t.Errorf("%+v", k)
	}
	if e, ok := effect.Of[effect.Skill](nil); ok {
		t.Error(e)
	}
}

// A shelf reads in the background, and again when files change.
func TestShelf(t *testing.T) {
	for _, rest := range []time.Duration{0, time.Millisecond} {
		t.Run(fmt.Sprint("rest ", rest), func(t *testing.T) { followed(t, rest) })
	}
}

func followed(t *testing.T, rest time.Duration) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "skills", "begun"), 0o755); err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 10)
	s := Open(ShelfConfig{
		Places: func() []skill.Place { return []skill.Place{{Dir: filepath.Join(dir, "skills"), Kind: skill.Skills}} },
		Rest:   rest, Changed: func() { told <- struct{}{} },
	})
	defer s.Close()
	list, bad := s.Contributions(10 * time.Second)
	if _, ok := extension.Library(list...).Find("review"); !ok || len(bad) > 0 {
		t.Errorf("adze's own are not there: %v", bad)
	}
	until := func(what string, ok func(skill.Library) bool) {
		t.Helper()
		for {
			select {
			case <-told:
				if list, _ := s.Contributions(0); ok(extension.Library(list...)) {
					return
				}
			case <-time.After(time.Minute):
				t.Fatal(what)
			}
		}
	}
	write("skills/begun/SKILL.md", "---\nname: begun\ndescription: one\n---\nx")
	until("a skill whose folder was there", func(l skill.Library) bool { _, ok := l.Find("begun"); return ok })
	write("skills/a/SKILL.md", "---\nname: a\ndescription: one\n---\nx")
	until("a new skill", func(l skill.Library) bool { _, ok := l.Find("a"); return ok })
	write("skills/a/SKILL.md", "---\nname: a\ndescription: two\n---\nx")
	until("a changed skill", func(l skill.Library) bool { a, _ := l.Find("a"); return a.Description == "two" })
	if err := os.RemoveAll(filepath.Join(dir, "skills", "a")); err != nil {
		t.Fatal(err)
	}
	until("a skill that is gone", func(l skill.Library) bool { _, ok := l.Find("a"); return !ok })
}

// Adze's own skills keep to the specification, are short, and name only what
// there is.
func TestOwn(t *testing.T) {
	lib, bad := read()
	if len(bad) > 0 {
		t.Error(bad)
	}
	want := "batch commit config-help debug init loop pr remember review security-review simplify skillify stuck verify"
	var got []string
	for _, s := range lib.Skills() {
		got = append(got, s.Name)
		body, err := s.Body()
		if err != nil || len(body) < 300 || len(s.Description) > 100 || !s.BuiltIn {
			t.Errorf("%s: %d bytes, %q, %v", s.Name, len(body), s.Description, err)
		}
		if text := fmt.Sprint(s.Expand(body, skill.Use{Args: "THE ARGUMENT"})); !strings.Contains(text, "THE ARGUMENT") || strings.Contains(text, "Arguments: ") {
			t.Errorf("%s has no place for what a person adds", s.Name)
		}
		if runs := skill.Runs(s.Expand(body, skill.Use{})); len(runs) > 0 {
			t.Errorf("%s runs %q", s.Name, runs)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	var styles []string
	for _, s := range lib.Styles() {
		if !s.Keep || s.Description == "" {
			t.Errorf("%+v", s)
		}
		styles = append(styles, s.Name)
	}
	if strings.Join(styles, " ") != "concise explanatory learning" {
		t.Errorf("%v", styles)
	}
	n := 0
	for _, l := range List(lib, 200_000) {
		n += len(l.Name) + len(l.Text) + 5
	}
	if n > 800 {
		t.Errorf("the model is told %d bytes of adze's own", n)
	}
}

// Each of adze's own skills is followed by a scripted model: what a person types
// becomes the skill's text, and the model's calls go on in the same turn.
func TestOwnAreFollowed(t *testing.T) {
	lib, _ := read()
	for _, s := range lib.Skills() {
		t.Run(s.Name, func(t *testing.T) {
			look := llm.ToolUse{ID: "b", Name: "Bash", Input: json.RawMessage(`{"command":"look ` + s.Name + `"}`)}
			r := start(t, Config{Log: "/w/debug.log"}, nil, func(ctx context.Context, req llm.Request, yield func(llm.Chunk, error) bool) {
				last := req.Messages[len(req.Messages)-1]
				text := last.Parts[len(last.Parts)-1].(llm.Text).S
				if !strings.Contains(text, "this and that") || strings.Contains(text, "/"+s.Name+" this") || strings.Contains(text, "${") {
					fake.Say("that is not the skill: "+text)(ctx, req, yield)
					return
				}
				fake.Use(look)(ctx, req, yield)
			}, fake.Say("done"))
			r.desk.Use(lib)
			if end := r.run(t, "/"+s.Name+" this and that"); end.How != event.Done || r.commands() != "look "+s.Name {
				t.Errorf("%+v, ran %q\n%s", end, r.commands(), r.read())
			}
			if s.Name == "debug" {
				has(t, r.read(), "/w/debug.log", "The session is s1.")
			}
		})
	}
}

// Who did not wait for the first reading is told of it.
func TestLateLibrary(t *testing.T) {
	go1, told := make(chan struct{}), make(chan struct{}, 1)
	s := Open(ShelfConfig{Places: func() []skill.Place { <-go1; return nil }, Changed: func() { told <- struct{}{} }})
	defer s.Close()
	if list, _ := s.Contributions(0); len(list) > 0 {
		t.Error("it was read before it could be")
	}
	close(go1)
	<-told
	if list, _ := s.Contributions(0); len(extension.Library(list...).Skills()) == 0 {
		t.Error("adze's own are not there")
	}
}
