//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

// A Write that the output limit cuts off is not tried for ever: the limit is
// raised, then the model reads what happened, then the turn ends.
func TestOutputCapInsideACall(t *testing.T) {
	for _, w := range []wireName{messages, responses, chat} { // gemini sends calls whole
		t.Run(string(w), func(t *testing.T) {
			pl := newPlace(t)
			step := saying(llm.MaxTokens, llm.ToolUse{ID: "call_1", Name: "Write", Input: json.RawMessage(`{}`)})
			step.Reply.Parts[0].Pieces = []string{`{\"file_path\": \"long.txt\", \"content\": \"once upon a`}
			p := provide(t, w, step)
			out, err := pl.asking(w, p, "--permission-mode", "acceptEdits").CombinedOutput()
			if codeOf(err) != 1 || !strings.Contains(string(out), "output limit") {
				t.Errorf("%v: %s", err, out)
			}
			sent := p.sent()
			want := 4
			if w != chat { // whose model has no facts
				want++
			}
			if len(sent) != want {
				t.Fatalf("%d requests, want %d", len(sent), want)
			}
			if last := sent[len(sent)-1]; !strings.Contains(last, "cut off by the output limit") || strings.Contains(last, "not valid JSON") {
				t.Errorf("the model reads %s", last[max(0, len(last)-1500):])
			}
			if _, err := os.Stat(filepath.Join(pl.dir, "long.txt")); err == nil {
				t.Error("a part was written")
			}
		})
	}
}

// Gemini sends calls whole. One that its server could not read is a reply that
// broke off: it is billed, and asked for again three times and no more; one
// that the output limit cut off is asked for with more room.
func TestCallsThatGeminiLost(t *testing.T) {
	t.Parallel()
	lost := func(text, reason string) llmtest.Step {
		return llmtest.Step{Status: 200, Raw: func(w http.ResponseWriter, _ []string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[%s]},\"finishReason\":%q}],\"usageMetadata\":{\"promptTokenCount\":1000,\"candidatesTokenCount\":7}}\n\n", text, reason)
		}}
	}
	words := `{"text":"I write it"}`
	for name, c := range map[string]struct {
		replies  []llmtest.Step
		requests int
		code, in int
		says     string
	}{
		"again and again": {[]llmtest.Step{lost("", "MALFORMED_FUNCTION_CALL")}, 4, 1, 4000, "its own server could not read"},
		"after words":     {[]llmtest.Step{lost(words, "MALFORMED_FUNCTION_CALL"), saying("", llm.Text{S: "done"})}, 2, 0, 1010, `"result":"done"`},
		"cut off":         {[]llmtest.Step{lost("", "MAX_TOKENS"), saying("", llm.Text{S: "done"})}, 2, 0, 1010, `"result":"done"`},
		"words cut off":   {[]llmtest.Step{lost(words, "MAX_TOKENS"), lost(words, "MAX_TOKENS"), saying("", llm.Text{S: " and done"})}, 3, 0, 2010, `"result":"I write it and done"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pl := newPlace(t)
			p := provide(t, gemini, c.replies...)
			out, err := pl.asking(gemini, p, "--output-format", "json").CombinedOutput()
			if codeOf(err) != c.code || len(p.sent()) != c.requests || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, %d requests, want %d: %s", err, len(p.sent()), c.requests, out)
			}
			if st, _ := pl.history(); st.Total.Usage.In != c.in {
				t.Errorf("%d tokens billed, want %d", st.Total.Usage.In, c.in)
			}
		})
	}
}

// What was sent before is the beginning of what is sent after a restart, byte
// for byte, whatever the repository and the date did meanwhile.
func TestResumeKeepsThePrefix(t *testing.T) {
	t.Parallel()
	for w := range wires {
		t.Run(string(w), func(t *testing.T) {
			pl := newPlace(t)
			git := func(args ...string) {
				t.Helper()
				c := exec.Command("git", append([]string{"-C", pl.dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
				if b, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, b)
				}
			}
			git("init", "-q")
			git("commit", "-q", "--allow-empty", "-m", "first commit")
			pl.put("AGENTS.md", "speak softly\n")
			pl.put("f.txt", "some <text> & more\n")
			raw := `{"file_path": "f.txt",  "note":"a\u003cb\/c <&> \ud83d\ude00 \u00e9"}`
			call := saying("", llm.Thinking{S: "hm <&> \u2028", Opaque: json.RawMessage(`"c2ln\/bmF0dXJl\u003d+<>"`)}, llm.Text{S: "I look & see"}, llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(raw)})
			if w == messages || w == responses || w == chat {
				call.Reply.Parts[2].Pieces = []string{strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(raw)}
			}
			if w == responses {
				call.Reply.Parts[1].Part = llm.Text{S: "I look & see", Opaque: json.RawMessage(`"comm\u0065ntary"`)}
			}
			p := provide(t, w, call, saying("", llm.Text{S: "done <&>"}))
			run := func(args ...string) string {
				t.Helper()
				if b, err := pl.asking(w, p, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, b)
				}
				sent := p.sent()
				return sent[len(sent)-1]
			}
			before := run()
			git("add", ".")
			git("commit", "-q", "-m", "second commit")
			git("checkout", "-q", "-b", "other")
			pl.put("AGENTS.md", "speak loudly\n")
			pl.put("new.txt", "x")
			after := run("--continue")
			samePrefix(t, before, after)
			if w == responses && strings.Count(after, `"phase":"comm\u0065ntary"`) != 1 {
				t.Errorf("the phase of a message is not what it was: %s", after)
			}
			if n := strings.Count(after, "second commit"); n != 1 {
				t.Errorf("the new commit is told %d times", n)
			}
			if n := strings.Count(after, "speak loudly"); n != 1 {
				t.Errorf("the new memory is told %d times", n)
			}
			again := run("--continue")
			samePrefix(t, after, again)
			if n := strings.Count(again, "second commit") + strings.Count(again, "speak loudly"); n != 2 {
				t.Errorf("what had been told is told again: %d", n)
			}
		})
	}
}

// samePrefix reports an error unless the conversation of one request begins
// that of another, and all else of both is the same.
func samePrefix(t *testing.T, before, after string) {
	t.Helper()
	read := func(body string) map[string]json.RawMessage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(strings.ReplaceAll(body, `,"cache_control":{"type":"ephemeral"}`, "")), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	b, a := read(before), read(after)
	for key, was := range b {
		now := string(a[key])
		old := string(was)
		if key == "messages" || key == "input" || key == "contents" {
			old = strings.TrimSuffix(old, "]")
			now = now[:min(len(now), len(old))]
		}
		if old != now {
			i := 0
			for i < min(len(old), len(now)) && old[i] == now[i] {
				i++
			}
			t.Errorf("%s differs at byte %d of %d:\n%.200s\n%.200s", key, i, len(old), old[max(0, i-40):], now[max(0, i-40):])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d members, then %d", len(b), len(a))
	}
}

// broken is a reply whose connection goes away after n events.
func broken(step llmtest.Step, n int) llmtest.Step {
	step.Raw = func(w http.ResponseWriter, frames []string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, f := range frames[:n] {
			_, _ = io.WriteString(w, f)
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return step
}

// What a provider bills of a reply that broke off is counted, also when
// nothing of it was shown, and a budget sees it.
func TestBrokenRepliesCost(t *testing.T) {
	t.Parallel()
	whole := saying("", llm.Text{S: "all of it"})
	whole.Reply.Usage = llm.Usage{In: 1000, Out: 5}
	for _, c := range []struct {
		w      wireName
		frames int
		in     int
	}{{messages, 1, 2000}, {messages, 4, 2000}, {responses, 1, 1000}, {gemini, 1, 1000}} {
		pl := newPlace(t)
		out, err := pl.asking(c.w, provide(t, c.w, broken(whole, c.frames), whole), "--output-format", "json").Output()
		var res struct {
			Result string
			Usage  struct {
				In int `json:"input_tokens"`
			}
			Cost float64 `json:"total_cost_usd"`
		}
		if err != nil || json.Unmarshal(out, &res) != nil || res.Result != "all of it" || res.Usage.In != c.in || res.Cost == 0 {
			t.Errorf("%s after %d events: %v\n%s", c.w, c.frames, err, out)
		}
	}
}

// A reply that a person interrupts counts what the provider had reported.
func TestInterruptedRepliesCost(t *testing.T) {
	t.Parallel()
	for _, frames := range []int{1, 4} {
		pl := newPlace(t)
		up, left := make(chan struct{}), make(chan struct{})
		step := saying("", llm.Text{S: "all of it"})
		step.Reply.Usage = llm.Usage{In: 1000, Out: 5}
		step.Raw = func(w http.ResponseWriter, fs []string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, strings.Join(fs[:frames], ""))
			w.(http.Flusher).Flush()
			for range 20 { // more than what waits on the way: adze has read the beginning
				_, _ = io.WriteString(w, ": "+strings.Repeat("wait ", 200_000)+"\n\n")
			}
			close(up)
			<-left
		}
		c := pl.asking(messages, provide(t, messages, step))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-up
		_ = c.Process.Signal(os.Interrupt)
		code := codeOf(c.Wait())
		close(left)
		if code != 130 {
			t.Errorf("exit %d", code)
		}
		if st, _ := pl.history(); st.Total.Usage.In != 1000 || st.Total.Cost == 0 {
			t.Errorf("after %d events: %+v", frames, st.Total)
		}
	}
}

// A price that nobody knows is not called nothing.
func TestUnknownPriceIsUnknown(t *testing.T) {
	pl := newPlace(t)
	p := provide(t, chat, saying("", llm.Text{S: "hello"}))
	if b, err := pl.asking(chat, p).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	for _, args := range [][]string{{"sessions", "list"}, {"sessions", "show"}, {"stats"}, {"stats", "--by", "day"}} {
		if b, err := pl.adze(args...).CombinedOutput(); err != nil || !strings.Contains(string(b), "unknown") || strings.Contains(string(b), "$0") {
			t.Errorf("%v: %v\n%s", args, err, b)
		}
	}
}

// A person is told once when a session cost as much as they said, on stderr.
func TestCostWarning(t *testing.T) {
	step := saying("", llm.Text{S: "hello"})
	step.Reply.Usage = llm.Usage{In: 100_000, Out: 5}
	for _, format := range []string{"text", "json", "stream-json"} {
		pl := newPlace(t)
		p := provide(t, messages, step, step)
		c := pl.asking(messages, p, "--output-format", format, "--settings", `{"cost": {"warn_usd": 0.01}}`)
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		where := stderr.String()
		if format == "stream-json" {
			where = string(out)
		}
		if err != nil || strings.Count(where, "this session has cost $0.") != 1 || !strings.Contains(where, "cost.warn_usd is $0.01") {
			t.Errorf("%s: %v\n%s\n%s", format, err, out, stderr.String())
		}
		// It is said when it is passed, and not each time.
		more, err := pl.asking(messages, p, "--continue", "--settings", `{"cost": {"warn_usd": 0.01}}`).CombinedOutput()
		if err != nil || strings.Contains(string(more), "has cost") {
			t.Errorf("%s, again: %v\n%s", format, err, more)
		}
	}
}

// A signal that comes while adze starts ends it, and a turn that begins all the
// same: here one that would not end by itself.
func TestSignalsDuringTheStart(t *testing.T) {
	for sig, want := range map[string]int{"INT": 130, "TERM": 143, "QUIT": 131, "HUP": 129} {
		pl := newPlace(t)
		over := make(chan struct{})
		step := saying("", llm.Text{S: "hello"})
		step.Raw = func(w http.ResponseWriter, frames []string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, frames[0])
			w.(http.Flusher).Flush()
			<-over
		}
		p := provide(t, messages, step)
		// The command that gets the key is a moment in the middle of the start.
		settings := fmt.Sprintf(`{"apiKeyHelper": "kill -%s $PPID; echo k-0123456789", "providers": {"anthropic": {"base_url": %q}}}`, sig, p.URL)
		if err := os.MkdirAll(filepath.Join(pl.home, ".adze"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pl.home, ".adze", "settings.json"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := pl.adze("-p", "go", "--model", string(messages)).CombinedOutput()
		close(over)
		if codeOf(err) != want || strings.Contains(string(out), "goroutine") {
			t.Errorf("%s: %v\n%s", sig, err, out)
		}
	}
}

// A provider that wants to be left alone for an hour is not waited for, one
// that says not to try again is not asked again, and who answers instead is said.
func TestProvidersWishes(t *testing.T) {
	t.Parallel()
	pl := newPlace(t)
	p := provide(t, messages, llmtest.Step{Status: 429, Header: map[string]string{"Retry-After": "3600"}})
	out, err := pl.asking(messages, p).CombinedOutput()
	if codeOf(err) != 1 || !strings.Contains(string(out), "wait 1h0m0s: try again at ") || len(p.sent()) != 1 {
		t.Errorf("%v, %d requests\n%s", err, len(p.sent()), out)
	}
	pl.put("other.txt", "> from the other\n")
	for w := range wires {
		p = provide(t, w, llmtest.Step{Status: 529, Header: map[string]string{"X-Should-Retry": "false"}})
		out, err = pl.asking(w, p, "--fallback-model", "script/other.txt").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "from the other") || !strings.Contains(string(out), "going on with the fallback model script/other.txt") || len(p.sent()) != 1 {
			t.Errorf("%s: %v, %d requests\n%s", w, err, len(p.sent()), out)
		}
		p = provide(t, w, llmtest.Step{Status: 400, Header: map[string]string{"X-Should-Retry": "true", "Retry-After-Ms": "1"}}, saying("", llm.Text{S: "now"}))
		if out, err = pl.asking(w, p).CombinedOutput(); err != nil || len(p.sent()) != 2 {
			t.Errorf("%s: %v, %d requests\n%s", w, err, len(p.sent()), out)
		}
	}
}

// A model that is newer than adze takes an effort.
func TestUnheardOfModelsTakeEffort(t *testing.T) {
	for model, want := range map[wireName]string{
		"openai/unheard-of": `"reasoning":{"effort":"high"}`, "gemini/gemini-4-unheard-of": `"thinkingLevel":"HIGH"`,
	} {
		pl := newPlace(t)
		w := responses
		if strings.HasPrefix(string(model), "gemini") {
			w = gemini
		}
		p := provide(t, w, saying("", llm.Text{S: "hello"}))
		if b, err := pl.asking(model, p, "--effort", "high").CombinedOutput(); err != nil || !strings.Contains(p.sent()[0], want) {
			t.Errorf("%s: %v\n%s\n%s", model, err, b, p.sent())
		}
	}
}
