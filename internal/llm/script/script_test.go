package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

func TestBattery(t *testing.T) {
	llmtest.Run(t, llmtest.Adapter{Provider: "script", Model: "test", Make: play, NoOpaque: true})
}

// play writes the steps as a script.
func play(t testing.TB, idle time.Duration, steps []llmtest.Step) llm.Model {
	var b strings.Builder
	for _, s := range steps {
		if s.Status != 0 {
			fmt.Fprintf(&b, "!%d", s.Status)
			if after, ok := s.Header["Retry-After"]; ok {
				fmt.Fprintf(&b, " retry-after=%s", after)
			}
			b.WriteString("\n---\n")
			continue
		}
		if s.Raw != nil {
			return nil
		}
		u := s.Reply.Usage
		fmt.Fprintf(&b, "!usage in=%d out=%d cache_read=%d cache_write=%d reasoning=%d\n", u.In, u.Out, u.CacheRead, u.CacheWrite, u.Reasoning)
		fmt.Fprintf(&b, "!stop %s\n", s.Reply.Stop)
		if s.Cut > 0 {
			fmt.Fprintf(&b, "!disconnect after=%d\n", s.Cut)
		}
		for _, p := range s.Reply.Parts {
			switch p := p.Part.(type) {
			case llm.Text:
				if s.Stall > 0 {
					b.WriteString("> some words\n!stall\n")
				}
				for _, line := range strings.Split(p.S, "\n") {
					fmt.Fprintf(&b, "> %s\n", line)
				}
			case llm.Thinking:
				fmt.Fprintf(&b, "%% %s\n", p.S)
			case llm.ToolUse:
				fmt.Fprintf(&b, "@ %s %s\n", p.Name, p.Input)
			case llm.ToolResult, llm.Image, llm.Document:
				t.Fatal("a model cannot say that")
			}
		}
		b.WriteString("---\n")
	}
	s, err := Parse(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return New(s, Config{Idle: idle})
}

const example = `# comment
> I will look at the test first.
@ Read {"file_path": "calc_test.go"}
@ Bash {"command": "go test ./..."}          # two calls in one reply
---                                          # end of reply
? is_error == false && result contains "FAIL"
> The sum is wrong; fixing it.
@ Edit {"file_path": "calc.go", "old_string": "a - b", "new_string": "a + b"}
---
> Done.
`

func mustParse(t *testing.T, text string) *Model {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return New(s, Config{})
}

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.User, Parts: parts} }

func ask(t *testing.T, m *Model, msgs ...llm.Message) llmtest.Got {
	t.Helper()
	if len(msgs) == 0 {
		msgs = []llm.Message{user(llm.Text{S: "go"})}
	}
	return llmtest.Collect(t, context.Background(), m, llm.Request{Model: "demo", Messages: msgs})
}

// follow answers the calls of g with results and asks again.
func follow(t *testing.T, m *Model, g llmtest.Got, results ...string) llmtest.Got {
	t.Helper()
	msgs := []llm.Message{user(llm.Text{S: "go"}), g.Finished.Message}
	var parts []llm.Part
	for _, p := range g.Parts {
		if u, ok := p.(llm.ToolUse); ok {
			res := llm.ToolResult{ID: u.ID, Text: results[0]}
			if text, bad := strings.CutPrefix(res.Text, "!"); bad {
				res.Text, res.IsErr = text, true
			}
			parts = append(parts, res)
			results = results[1:]
		}
	}
	return ask(t, m, append(msgs, user(parts...))...)
}

func TestExample(t *testing.T) {
	m := mustParse(t, example)
	g := ask(t, m)
	want := []llm.Part{
		llm.Text{S: "I will look at the test first."},
		llm.ToolUse{ID: "toolu_script_1_1", Name: "Read", Input: []byte(`{"file_path":"calc_test.go"}`)},
		llm.ToolUse{ID: "toolu_script_1_2", Name: "Bash", Input: []byte(`{"command":"go test ./..."}`)},
	}
	if !reflect.DeepEqual(g.Parts, want) || g.Finished.Stop != llm.WantTools || g.Finished.Model != "demo" {
		t.Fatalf("%+v", g.Finished)
	}
	words := 0
	for _, c := range g.Chunks {
		if _, ok := c.(llm.TextDelta); ok {
			words++
		}
	}
	if words != 7 {
		t.Errorf("%d deltas for 7 words", words)
	}
	g = follow(t, m, g, "package calc", "--- FAIL: TestSum")
	if g.Text != "The sum is wrong; fixing it." || len(g.Parts) != 2 {
		t.Fatalf("%+v", g.Parts)
	}
	if g = follow(t, m, g, "ok"); g.Text != "Done." || g.Finished.Stop != llm.EndTurn {
		t.Fatalf("%+v", g.Finished)
	}
	if g = ask(t, m); g.Text != OutOfReplies || g.Finished.Stop != llm.EndTurn {
		t.Fatalf("%+v", g.Finished)
	}
}

func TestExampleWhenTheTestPasses(t *testing.T) {
	m := mustParse(t, example)
	if g := follow(t, m, ask(t, m), "package calc", "ok"); g.Text != "Done." {
		t.Fatalf("%q", g.Text)
	}
}

func TestChoice(t *testing.T) {
	const text = "@ Run\n---\n? is_error\n> error\n---\n? result contains \"a\"\n> has a\n---\n? else\n> other\n---\n> after\n"
	for result, want := range map[string]string{"!boom": "error", "abc": "has a", "xyz": "other"} {
		m := mustParse(t, text)
		if g := follow(t, m, ask(t, m), result); g.Text != want {
			t.Errorf("%s: %q, want %q", result, g.Text, want)
		}
		if g := ask(t, m); g.Text != "after" {
			t.Errorf("after the choice: %q", g.Text)
		}
	}
}

func TestConditions(t *testing.T) {
	s := scene{isError: true, result: "line one\nFAIL 3", tool: "Read Bash", prompt: "fix it", system: "be kind", request: 2}
	for cond, want := range map[string]bool{
		`is_error`: true, `!is_error`: false, `is_error == true`: true, `is_error == false`: false, `is_error != false`: true,
		`result contains "FAIL"`: true, `result contains "PASS"`: false, `result matches "FAIL \\d"`: true, `result matches "^FAIL"`: false,
		`result matches "(?m)^FAIL"`: true, `tool == "Read Bash"`: true, `tool contains "Bash" && prompt contains "fix"`: true,
		`false || system == "be kind"`: true, `false || false && true`: false, `true || true && false`: true,
		`(true || true) && false`: false, `!(is_error && false)`: true, `!!is_error`: true, `request == 2`: true, `request == "2"`: true,
		``: true, `else`: true, `result == "" # comment`: false, `is_error # "`: true,
	} {
		e, err := parseCond(cond)
		if err != nil {
			t.Errorf("%s: %v", cond, err)
		} else if got := e.eval(s).truth(); got != want {
			t.Errorf("%s = %v", cond, got)
		}
	}
	for _, bad := range []string{`result contains`, `nonsense`, `is_error ==`, `"open`, `(is_error`, `is_error)`, `&& true`, `result matches "("`,
		`result matches prompt`, `is_error is_error`, strings.Repeat("(", 1000), strings.Repeat("!", 1000) + "true", `result = "x"`} {
		if _, err := parseCond(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestPromptCondition(t *testing.T) {
	m := mustParse(t, "? prompt contains \"tests\"\n> running tests\n---\n? prompt contains \"docs\"\n> writing docs\n")
	if g := ask(t, m, user(llm.Text{S: "write the docs"})); g.Text != "writing docs" {
		t.Errorf("%q", g.Text)
	}
}

func TestFaultsAnswerOneRequestEach(t *testing.T) {
	m := mustParse(t, "!429 retry-after=1\n!529 message=\"too # busy\"   # comment\n> now\n---\n!500\n---\n> end\n")
	var kinds []string
	for range 5 {
		g := ask(t, m)
		if e := new(llm.Error); errors.As(g.Err, &e) {
			kinds = append(kinds, fmt.Sprintf("%d %v %s", e.Status, e.RetryAfter, e.RequestID))
			continue
		}
		kinds = append(kinds, g.Text)
	}
	want := []string{"429 1s req_script_1", "529 0s req_script_2", "now", "500 0s req_script_4", "end"}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("%q", kinds)
	}
}

func TestDisconnectAfterWords(t *testing.T) {
	m := mustParse(t, "!disconnect after=3\n> one two three four\n---\n> one two\n!disconnect\n> three\n---\n> again\n")
	g := ask(t, m)
	if k, _ := llmtest.KindOf(g.Err); k != llm.Cut || g.Text != "one two three " {
		t.Errorf("%q %v", g.Text, g.Err)
	}
	g = ask(t, m)
	if k, _ := llmtest.KindOf(g.Err); k != llm.Cut || g.Text != "one two" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
	if g = ask(t, m); g.Text != "again" {
		t.Errorf("%q", g.Text)
	}
}

func TestDisconnectNeverCompletesACall(t *testing.T) {
	m := mustParse(t, "!disconnect after=2\n> a\n@ Write {\"path\": \"one two three\"}\n")
	g := ask(t, m)
	for _, p := range g.Parts {
		if _, ok := p.(llm.ToolUse); ok {
			t.Errorf("a call that was cut off was handed over: %+v", p)
		}
	}
	if k, _ := llmtest.KindOf(g.Err); k != llm.Cut {
		t.Error(g.Err)
	}
}

func TestPaceAndStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mustParse(t, "~50ms\n> one two three\n!stall 5s\n> four\n---\n> five six\n---\n~0s\n> seven\n---\n> x\n!stall\n> y\n")
		took := func() time.Duration {
			start := time.Now()
			if g := ask(t, m); g.Err != nil {
				t.Fatal(g.Err)
			}
			return time.Since(start)
		}
		if d := took(); d != 5*time.Second+4*50*time.Millisecond {
			t.Errorf("first reply took %v", d)
		}
		if d := took(); d != 2*50*time.Millisecond {
			t.Errorf("the pace did not stay: %v", d)
		}
		if d := took(); d != 0 {
			t.Errorf("the pace did not change: %v", d)
		}
		start := time.Now()
		g := ask(t, m)
		if k, _ := llmtest.KindOf(g.Err); k != llm.Stalled || time.Since(start) != 90*time.Second {
			t.Errorf("%v after %v", g.Err, time.Since(start))
		}
	})
}

func TestThinkingUsageStop(t *testing.T) {
	m := mustParse(t, "% first\n% second\n!think third\n> text\n>\n>  indented\n!usage in=9 out=2 cache_read=5 cache_write=1\n!stop max_tokens\n@! Run not json\n")
	g := ask(t, m)
	if g.Thinking != "first\nsecondthird" || g.Text != "text\n\n indented" || g.Finished.Stop != llm.MaxTokens ||
		g.Finished.Usage != (llm.Usage{In: 9, Out: 2, CacheRead: 5, CacheWrite: 1}) {
		t.Errorf("%+v", g.Finished)
	}
	if u, ok := g.Parts[len(g.Parts)-1].(llm.ToolUse); !ok || u.Bad == "" || string(u.Input) != `"not json"` {
		t.Errorf("%+v", g.Parts)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"> a\nb":                              "line 2: \"b\" begins no kind of line",
		"@":                                   "line 1: a call is",
		"@ Read {":                            "line 1: input of Read: the JSON has no end on this line",
		"@ Read {} x":                         "line 1: input of Read: \"x\" stands behind the JSON",
		"> a\n? true":                         "line 2: a condition stands at the head",
		"\n? nonsense":                        "line 2: condition:",
		"~fast":                               "line 1: \"fast\" is no time",
		"!700":                                "line 1: !700 is no error status",
		"> a\n!429":                           "line 2: !429 comes before",
		"!429 again":                          "line 1: \"again\" after !429",
		"!dance":                              "line 1: !dance is none of",
		"!stop now":                           "line 1: stop \"now\"",
		"!usage in=-1":                        "line 1: usage: \"in=-1\"",
		"!usage x=1":                          "line 1: usage: \"x\" is none",
		"!disconnect 5":                       "line 1: disconnect takes after=<words>",
		"!stall soon":                         "line 1: \"soon\" is no time",
		"!429 message=\"x":                    "line 1: the quotes of message= have no end",
		strings.Repeat("> a\n", 99) + "%%\n^": "line 101:",
	} {
		_, err := Parse(text)
		pe := new(ParseError)
		if !errors.As(err, &pe) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestSeparatorMayHaveAComment(t *testing.T) {
	s, err := Parse("> a\n---   # end\n\n# only a comment\n---\n---\n> b\r\n---\n")
	if err != nil || len(s.parts[0].replies) != 2 {
		t.Errorf("%v %v", s, err)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txt")
	if _, err := Load(path, Config{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("\uFEFF> hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path, Config{})
	if err != nil || ask(t, m).Text != "hi" || m.common.next != 1 {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("\nhi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path, Config{}); err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("!429 retry-after=1\n~50ms\n!stall 5s\n!disconnect after=10\n% x\n@! A {\n? (is_error||!result matches \"x\")&&prompt==\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if pe := new(ParseError); !errors.As(err, &pe) || pe.Line < 1 || pe.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m := New(s, Config{})
		for range min(len(s.parts[0].replies), 20) + 1 {
			m.mu.Lock()
			m.common.pace = 0
			m.mu.Unlock()
			for _, r := range s.parts[0].replies { // no waiting
				for i, it := range r.items {
					switch it.(type) {
					case stall, pace:
						r.items[i] = pace(0)
					case say, think, use, cut:
					}
				}
			}
			llmtest.Collect(t, ctx, m, llm.Request{Model: "x", Messages: []llm.Message{user(llm.Text{S: "go"})}})
		}
	})
}

func BenchmarkStream(b *testing.B) {
	s, err := Parse("> " + strings.Repeat("word ", 200_000) + "\n")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, err := range New(s, Config{}).Stream(context.Background(), llm.Request{Model: "x"}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What a condition found can be said again, and questions without a conversation have a
// part of their own.
func TestFoundIsSaid(t *testing.T) {
	s, err := Parse("> main\n=== system contains \"rule\"\n? prompt matches \"token: ([0-9a-f]+)\"\n> yes ${1}, ${2}\n---\n> again")
	if err != nil {
		t.Fatal(err)
	}
	m := New(s, Config{})
	say := func(system, prompt, key string) string {
		var out string
		r := llm.Request{Model: "m", System: []string{system}, CacheKey: key, MaxTokens: 10, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: prompt}}}}}
		for c, err := range m.Stream(t.Context(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if f, ok := c.(llm.Finished); ok {
				out = f.Message.Text()
			}
		}
		return out
	}
	got := []string{say("rule", "token: 4f2a", ""), say("talk", "token: 1", ""), say("rule", "token: 5", ""), say("rule", "token: 6", "c")}
	if want := []string{"yes 4f2a, ${2}", "main", "again", "yes 6, ${2}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
