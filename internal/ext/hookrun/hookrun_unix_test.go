//go:build unix

package hookrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hookrun"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/proc"
)

// TestMain lets this program be what a table of processes starts it as.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == proc.GuardianArg {
		os.Exit(proc.Guardian(os.Stdin, func(string) {}))
	}
	os.Exit(m.Run())
}

// A rig is a runner, and what it told.
type rig struct {
	*hookrun.Runner
	mu    sync.Mutex // guards the rest
	told  []event.Body
	later []string
	came  chan struct{} // has one for each of later
	noted chan struct{} // and for each note
}

func start(t *testing.T, change func(*hookrun.Config), hooks ...string) *rig {
	t.Helper()
	r := &rig{came: make(chan struct{}, 100), noted: make(chan struct{}, 100)}
	c := hookrun.Config{
		Environ: func(...string) []string { return []string{"PATH=" + os.Getenv("PATH"), "SEEN=yes", "KEY=secret"} },
		Project: "/project", Temp: t.TempDir(), Now: time.Now,
		Version: "7.8",
		Tell: func(b event.Body) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, b)
			if _, ok := b.(event.Noted); ok {
				r.noted <- struct{}{}
			}
		},
		Later: func(text string, wake bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.later = append(r.later, fmt.Sprint(wake, " ", text))
			r.came <- struct{}{}
		},
	}
	if change != nil {
		change(&c)
	}
	r.Runner = hookrun.New(c)
	t.Cleanup(r.Close)
	r.use(t, "PreToolUse", hooks...)
	return r
}

func (r *rig) use(t *testing.T, event string, handlers ...string) {
	t.Helper()
	hooks, problems := hook.Parse(event, []byte(`{"hooks":[`+strings.Join(handlers, ",")+`]}`), hook.Place{From: "f:1"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r.Use(hook.NewSet(hooks...))
}

func (r *rig) fire(ctx context.Context, dir string) hook.Answer {
	in := hook.PreToolInput{Call: hook.Call{Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), ID: "c1"}}
	return r.Fire(ctx, hook.Common{Session: "s", Dir: dir, Effort: &hook.Level{Level: "high"}}, in, hook.Scene{})
}

func command(script string, more ...string) string {
	b, _ := json.Marshal(script)
	return `{"type":"command","command":` + string(b) + strings.Join(append([]string{""}, more...), ",") + `}`
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command(`cat > in; pwd > where; echo "$SEEN $CLAUDE_PROJECT_DIR $CLAUDE_EFFORT" > env; echo '{"hookSpecificOutput":{"additionalContext":"c"}}'; echo talk >&2`))
	a := r.fire(t.Context(), dir)
	if len(a.Context) != 1 || a.Context[0] != "c" || len(a.Failed) > 0 {
		t.Errorf("it says %+v", a)
	}
	for file, want := range map[string]string{"where": dir, "env": "yes /project high"} {
		if got, _ := os.ReadFile(filepath.Join(dir, file)); strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	in, _ := os.ReadFile(filepath.Join(dir, "in"))
	if !strings.HasSuffix(string(in), "\n") || !json.Valid(in) {
		t.Errorf("its input is %q", in)
	}
	if runs := r.Runs(hook.PreToolUse); len(runs) != 1 || runs[0].Stderr != "talk\n" {
		t.Errorf("kept of it: %+v", runs)
	}
}

// A script with the line ends of Windows is named as the reason why it failed.
func TestLineEndsOfWindows(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("run me.sh", "#!/bin/sh\r\nexit 0\r\n")
	put("block.sh", "if true; then\r\nexit 0\r\nfi\r\n")
	put("fine.sh", "#!/bin/sh\necho no >&2\nexit 3\n")
	put("data.txt", "a\r\nb\r\n")
	for script, want := range map[string]bool{`"$HERE"/'run me.sh'`: true, "sh ./block.sh": true, "A=1 ./run\\ me.sh": false, `A=1 "./run me.sh"`: true, "./fine.sh data.txt": false, "cat data.txt; exit 3": false} {
		r := start(t, func(c *hookrun.Config) {
			c.Environ = func(...string) []string { return []string{"PATH=" + os.Getenv("PATH"), "HERE=" + dir} }
		}, command(script))
		a := fmt.Sprintf("%+v", r.fire(t.Context(), dir))
		if got := strings.Contains(a, "has the line ends of Windows, which no shell reads; sed -i 's/\\r$//' "); got != want {
			t.Errorf("%s: %s", script, a)
		}
	}
}

// With arguments no shell looks at the words.
func TestCommandWithArguments(t *testing.T) {
	dir, project := t.TempDir(), t.TempDir()
	r := start(t, func(c *hookrun.Config) { c.Project = project }, `{"type":"command","command":"touch","args":["a b;c","${CLAUDE_PROJECT_DIR}/x$SEEN"]}`)
	if a := r.fire(t.Context(), dir); len(a.Failed) != 0 {
		t.Errorf("it says %+v", a)
	}
	for _, file := range []string{filepath.Join(dir, "a b;c"), filepath.Join(project, "x$SEEN")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	r.use(t, "PreToolUse", `{"type":"command","command":"no-such-program","args":["x"]}`)
	if a := r.fire(t.Context(), dir); len(a.Failed) != 1 || !strings.Contains(a.Failed[0], "no program \"no-such-program\" in PATH") {
		t.Errorf("it says %+v", a)
	}
}

// Hooks of one event run together.
func TestHooksRunTogether(t *testing.T) {
	dir := t.TempDir()
	wait := func(mine, others string) string {
		return command("touch " + mine + "; while ! test -e " + others + "; do sleep 0.01; done; exit 2")
	}
	r := start(t, nil, wait("a", "b"), wait("b", "a"))
	if a := r.fire(t.Context(), dir); a.Permission != hook.Deny {
		t.Errorf("they say %+v", a)
	}
}

// A hook that hangs is ended with all it started, and stops nothing; nothing is
// left of one that leaves a daemon behind.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command("trap '' TERM; sh -c 'echo $$ > pid; exec sleep 1000' & wait; sleep 1000", `"timeout":0.3`))
	a := r.fire(t.Context(), dir)
	if len(a.Failed) != 1 || !strings.Contains(a.Failed[0], "did not answer within 0.3 s") || a.Permission != "" {
		t.Errorf("it says %+v", a)
	}
	gone(t, filepath.Join(dir, "pid"))

	r.use(t, "PreToolUse", command("setsid sh -c 'echo $$ > pid2; exec sleep 1000' >/dev/null 2>&1 & until test -s pid2; do sleep 0.01; done"))
	if a := r.fire(t.Context(), dir); len(a.Failed) != 0 {
		t.Errorf("it says %+v", a)
	}
	gone(t, filepath.Join(dir, "pid2"))
}

func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it runs on: %s", stat)
	}
}

// An interrupt ends a hook, which then says nothing.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command("touch began; sleep 1000", `"onError":"block"`))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
				cancel()
				return
			}
		}
	}()
	if a := r.fire(ctx, dir); a.Permission != "" || len(a.Failed) != 0 {
		t.Errorf("it says %+v", a)
	}
	began, _ := r.told[0].(event.HookStarted)
	ended, _ := r.told[1].(event.HookEnded)
	if began.Input != `{"tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"c1"}` || ended.Err != "was interrupted" {
		t.Errorf("people are told %+v, %+v", began, ended)
	}
}

// A hook may print without end; what is kept of it is bounded.
func TestEndlessOutput(t *testing.T) {
	r := start(t, nil, command("yes | head -c 20000000; yes >&2", `"timeout":0.3`))
	if a := r.fire(t.Context(), t.TempDir()); len(a.Failed) != 1 {
		t.Errorf("it says %+v", a)
	}
}

// Wherever the session went, hooks run where it began: else the model would choose
// which programs they find.
func TestHooksRunWhereTheSessionBegan(t *testing.T) {
	dir := t.TempDir()
	r := start(t, func(c *hookrun.Config) { c.Dir = dir }, command("pwd > where"))
	r.fire(t.Context(), t.TempDir())
	if got, _ := os.ReadFile(filepath.Join(dir, "where")); strings.TrimSpace(string(got)) != dir {
		t.Errorf("it ran in %s", got)
	}
}

// A repository does not decide what a hook's commands are.
func TestHooksFindNoProgramsOfTheProject(t *testing.T) {
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "git"), []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := start(t, func(c *hookrun.Config) {
		c.Project, c.Dir = project, project
		c.Environ = func(...string) []string { return []string{"PATH=.:" + project + ":" + os.Getenv("PATH")} }
	}, command("git --version"), `{"type":"command","command":"git","args":["--version"]}`)
	r.fire(t.Context(), project)
	if _, err := os.Stat(filepath.Join(project, "ran")); err == nil {
		t.Error("the repository's git ran")
	}
}

// A hook may print back all that it was given; beyond its bound it has no answer,
// which is told.
func TestLongAnswers(t *testing.T) {
	r := start(t, nil, command(`printf '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"'; yes | head -c 6000000 | tr -d '\n'; printf '"}}'`))
	if a := r.fire(t.Context(), t.TempDir()); a.Permission != hook.Deny {
		t.Errorf("it says %+v", a.Failed)
	}
	r.use(t, "PreToolUse", command(`yes | head -c 70000000`, `"onError":"block"`))
	if a := r.fire(t.Context(), t.TempDir()); a.Permission != hook.Deny || !strings.Contains(strings.Join(a.Failed, ""), "printed more than 67.1 MB") {
		t.Errorf("it says %+v", a.Failed)
	}
}

func TestOnce(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command("echo x >> ran", `"once":true`), command("echo x >> always"))
	r.fire(t.Context(), dir)
	r.fire(t.Context(), dir)
	for file, want := range map[string]string{"ran": "x\n", "always": "x\nx\n"} {
		if got, _ := os.ReadFile(filepath.Join(dir, file)); string(got) != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// Nobody waits for a hook that is async: its words come later, and exit code 2
// of one that may wake the session is a prompt.
func TestAsync(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command(`until test -e go; do sleep 0.01; done; echo '{"hookSpecificOutput":{"additionalContext":"late"}}'`, `"async":true`),
		command(`until test -e go; do sleep 0.01; done; echo wake up >&2; exit 2`, `"asyncRewake":true`))
	if a := r.fire(t.Context(), dir); a.Permission != "" || len(a.Context) != 0 {
		t.Errorf("it says %+v", a)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.came
	<-r.came
	slices.Sort(r.later)
	if !slices.Equal(r.later, []string{"false late", "true wake up\n"}) {
		t.Errorf("%q", r.later)
	}
}

// A hook may say itself, in its first line, that nobody is to wait for it: what it
// says then comes later, and its time is bounded.
func TestAsyncByAnswer(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command(`echo '{"async":true}'; until test -e go; do sleep 0.01; done; echo '{"hookSpecificOutput":{"additionalContext":"late"}}'`),
		command(`echo '{"async":true,"asyncTimeout":50}'; sleep 1000`))
	if a := r.fire(t.Context(), dir); a.Permission != "" || len(a.Context) != 0 || len(a.Failed) != 0 {
		t.Errorf("it says %+v", a)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.came
	if !slices.Equal(r.later, []string{"false late"}) {
		t.Errorf("%q", r.later)
	}
	<-r.noted
}

// Without a sandbox a hook that is to run in one does not run; with one, what
// confines commands is asked for it, and it sets no variables for others.
func TestSandboxed(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, command("touch ran", `"sandbox":true`))
	if a := r.fire(t.Context(), dir); len(a.Failed) != 1 || !strings.Contains(a.Failed[0], "is to run in the sandbox, and there is none here") {
		t.Errorf("it says %+v", a)
	}
	var wrapped []string
	r = start(t, func(c *hookrun.Config) {
		c.Confine = func(c *proc.Command) error {
			wrapped = append(wrapped, strings.Join(c.Args, " "))
			if c.Gate || slices.ContainsFunc(c.Env, func(s string) bool { return strings.HasPrefix(s, "CLAUDE_ENV_FILE=") }) {
				t.Errorf("%+v", c)
			}
			return nil
		}
	})
	r.use(t, "SessionStart", command("cat", `"sandbox":true`))
	a := r.Fire(t.Context(), hook.Common{Dir: dir}, hook.SessionStartInput{Source: "startup"}, hook.Scene{})
	if len(wrapped) != 1 || len(a.Failed) > 0 {
		t.Errorf("%q, %+v", wrapped, a)
	}
	r.use(t, "PreToolUse", command("touch ran", `"sandbox":true,"onError":"block"`))
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// What a hook wants to be left out is not shown, and what a terminal is to do is
// told beside.
func TestQuiet(t *testing.T) {
	r := start(t, nil, command(`printf '%s' '{"suppressOutput":true,"terminalSequence":"\u0007"}'`))
	r.fire(t.Context(), t.TempDir())
	for _, b := range r.told {
		if e, ok := b.(event.HookEnded); ok && (e.Stdout != "" || e.Terminal != "\a") {
			t.Errorf("%+v", e)
		}
	}
}

func TestHTTP(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		got = append(got, q.URL.Path, q.Header.Get("A"), q.Header.Get("B"), q.Header.Get("Content-Type"), q.Header.Get("User-Agent"))
		if !json.Valid(body) {
			t.Errorf("the body is %q", body)
		}
		switch q.URL.Path {
		case "/deny":
			fmt.Fprint(w, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`)
		case "/away":
			http.Redirect(w, q, "/deny", http.StatusTemporaryRedirect)
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	handler := func(path string) string {
		return fmt.Sprintf(`{"type":"http","url":%q,"headers":{"A":"<$SEEN>","B":"<$KEY>"},"allowedEnvVars":["SEEN"]}`, s.URL+path)
	}
	r := start(t, nil, handler("/deny"))
	if a := r.fire(t.Context(), "/"); a.Permission != hook.Deny {
		t.Errorf("it says %+v", a)
	}
	if want := []string{"/deny", "<yes>", "<>", "application/json", "adze/7.8"}; !slices.Equal(got, want) {
		t.Errorf("it was sent %q", got)
	}
	for path, want := range map[string]string{"/away": "the status 307", "/broken": "the status 500"} {
		r.use(t, "PreToolUse", handler(path))
		if a := r.fire(t.Context(), "/"); a.Permission != "" || len(a.Failed) != 1 || !strings.Contains(a.Failed[0], want) {
			t.Errorf("%s: %+v", path, a)
		}
	}
	s.Close()
	r.use(t, "PreToolUse", handler("/deny"))
	if a := r.fire(t.Context(), "/"); len(a.Failed) != 1 || !strings.Contains(a.Failed[0], "could not be asked") {
		t.Errorf("without a server: %+v", a)
	}
}

// A variable that a hook may name in its headers needs no other leave where the
// hook is a person's own; where one is empty, people are told once.
func TestHeaders(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		got = append(got, q.Header.Get("A"))
	}))
	defer s.Close()
	handler := fmt.Sprintf(`{"hooks":[{"type":"http","url":%q,"headers":{"A":"<$TOKEN>"},"allowedEnvVars":["TOKEN"]}]}`, s.URL)
	for scope, want := range map[string]string{"user": "<t>", "plugin": "<t>", "project": "<>", "local": "<>", "": "<>"} {
		got = nil
		r := start(t, func(c *hookrun.Config) {
			c.Environ = func(more ...string) []string {
				if slices.Contains(more, "TOKEN") {
					return []string{"TOKEN=t"}
				}
				return nil
			}
		})
		list, problems := hook.Parse("PreToolUse", []byte(handler), hook.Place{Scope: scope})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		r.Use(hook.NewSet(list...))
		r.fire(t.Context(), "/")
		r.fire(t.Context(), "/")
		if !slices.Equal(got, []string{want, want}) {
			t.Errorf("%q: it was sent %q", scope, got)
		}
		notes := 0
		for _, b := range r.told {
			if n, ok := b.(event.Noted); ok && strings.Contains(n.Text, "TOKEN (not set, or not passed on: child_env)") {
				notes++
			}
		}
		if told := want == "<>"; notes > 1 || told != (notes == 1) {
			t.Errorf("%q: people were told %d times", scope, notes)
		}
	}
}

func TestPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		handler, answer string
		err             error
		want            hook.Permission
		context, failed int
	}{
		"passes":               {`{"type":"prompt","prompt":"p"}`, `{"ok":true}`, nil, "", 0, 0},
		"refuses":              {`{"type":"prompt","prompt":"p"}`, "Well: {\"ok\":false,\"reason\":\"r\"} indeed", nil, hook.Deny, 0, 0},
		"thinks aloud":         {`{"type":"prompt","prompt":"p"}`, "Of {\"command\":\"x\"} I would say {\"ok\":true}, but:\n```json\n{\"ok\":false,\"reason\":\"{r}\",\"more\":{\"ok\":true}}\n```", nil, hook.Deny, 0, 0},
		"wraps it":             {`{"type":"prompt","prompt":"p"}`, `{"ruling":{"ok":false,"reason":"r"}}`, nil, hook.Deny, 0, 0},
		"never ends":           {`{"type":"prompt","prompt":"p"}`, strings.Repeat(`{"ok":`, 50_000), nil, "", 0, 1},
		"refuses all the same": {`{"type":"prompt","prompt":"p","continueOnBlock":true}`, `{"ok":false,"reason":"r"}`, nil, hook.Deny, 0, 0},
		"says nothing":         {`{"type":"prompt","prompt":"p"}`, `yes`, nil, "", 0, 1},
		"cannot be asked":      {`{"type":"prompt","prompt":"p"}`, ``, errors.New("no model"), "", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			r := start(t, func(h *hookrun.Config) {
				h.Ask = func(_ context.Context, _, question string) (string, event.Spent, error) {
					asked = question
					return c.answer, event.Spent{For: "hook"}, c.err
				}
			}, c.handler)
			a := r.fire(t.Context(), "/")
			if a.Permission != c.want || len(a.Context) != c.context || len(a.Failed) != c.failed {
				t.Errorf("it says %+v", a)
			}
			if !strings.Contains(asked, `"tool_input":{"command":"x"}`) {
				t.Errorf("it was asked %q", asked)
			}
			if !slices.Contains(r.told, event.Body(event.Spent{For: "hook"})) {
				t.Error("nobody was told what it cost")
			}
		})
	}
}

// What hooks set for commands is data, and nothing that makes programs load code.
func TestEnvFile(t *testing.T) {
	r := start(t, nil)
	r.use(t, "SessionStart", command(`printf 'A=1\nexport B="two words"\nC=$(touch x)\nLD_PRELOAD=x\nBASH_ENV=x\nPATH=$PATH:/more\nnonsense\n' > "$CLAUDE_ENV_FILE"`))
	dir := t.TempDir()
	r.Fire(t.Context(), hook.Common{Dir: dir}, hook.SessionStartInput{Source: "startup"}, hook.Scene{})
	want := []string{"A=1", "B=two words", "C=$(touch x)", "PATH=" + os.Getenv("PATH") + ":/more"}
	if got := r.Env(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("it was run")
	}
}

func BenchmarkCommand(b *testing.B) {
	r := hookrun.New(hookrun.Config{
		Environ: func(...string) []string { return []string{"PATH=" + os.Getenv("PATH")} }, Now: time.Now, Tell: func(event.Body) {},
	})
	defer r.Close()
	hooks, _ := hook.Parse("PreToolUse", []byte(`{"hooks":[{"type":"command","command":"/bin/true","args":["x"]}]}`), hook.Place{})
	r.Use(hook.NewSet(hooks...))
	in := hook.PreToolInput{Call: hook.Call{Tool: "Bash", Input: json.RawMessage(`{}`)}}
	for b.Loop() {
		r.Fire(b.Context(), hook.Common{Dir: "/"}, in, hook.Scene{})
	}
}
