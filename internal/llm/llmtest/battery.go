package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/slowtest"
)

// Run runs the whole battery against a.
func Run(t *testing.T, a Adapter) {
	for _, c := range []struct {
		name string
		wire bool // needs a server
		run  func(*testing.T, Adapter)
	}{
		{"text", false, text},
		{"thinking_signature_returned", false, thinking},
		{"parallel_tool_calls", false, parallel},
		{"tool_input_split_at_every_byte", true, splitInput},
		{"stream_split_at_every_byte", true, splitStream},
		{"unicode_split", true, splitUnicode},
		{"surrogate_pair_split", true, splitSurrogate},
		{"lone_surrogate", true, loneSurrogate},
		{"empty_reply", false, empty},
		{"refusal", false, refusal},
		{"output_cap", false, outputCap},
		{"output_cap_in_tool_input", true, capInInput},
		{"bad_tool_input", true, badInput},
		{"tool_call_without_result", true, orphan},
		{"image_input", true, image},
		{"usage_with_cache", false, usage},
		{"usage_below_zero", true, negative},
		{"abort_midstream", false, abort},
		{"break_midstream", false, leave},
		{"abort_before_headers", true, abortEarly},
		{"statuses", false, statuses},
		{"retry_after", false, retryAfter},
		{"prompt_too_long", true, tooLong},
		{"html_error_page", true, htmlPage},
		{"truncated_stream", true, truncated},
		{"disconnect", false, disconnect},
		{"stalled_stream", false, stalled},
		{"garbage_line", true, garbage},
		{"unknown_events", true, unknown},
		{"ping_and_comment_lines", true, comments},
		{"error_event_midstream", true, midError},
		{"crlf", true, crlf},
		{"gzip", true, packed},
		{"event_of_1_mb", true, bigEvent},
		{"line_of_10_mb", true, bigLine},
		{"gzip_bomb", true, bomb},
		{"handoff", true, handoff},
		{"refused_reasoning_is_not_sent_again", true, refusedReasoning},
		{"same_request_same_bytes", true, sameBytes},
		{"prefix_stays", true, prefix},
		{"headers", true, headers},
		{"strange_usage", true, strangeUsage},
		{"schemas_of_servers", true, schemas},
		{"refused_members_are_learnt", true, learns},
		{"no_tools_and_no_instructions_apart", true, plainServer},
		{"complete_and_open", true, staysOpen},
		{"names_with_junk", true, strangeNames},
		{"error_field", true, errorField},
		{"tools_loaded", true, func(t *testing.T, a Adapter) { Loading(t, a, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.wire && a.Wire == nil {
				t.Skip("this model has no server")
			}
			if slices.Contains(a.Live, c.name) {
				t.Skip("only for a live connection")
			}
			if slices.Contains(slow, c.name) {
				slowtest.Turn(t)
			}
			c.run(t, a)
		})
	}
}

// slow are those that take more time than all the others.
var slow = []string{"stream_split_at_every_byte", "line_of_10_mb", "gzip_bomb"}

func text(t *testing.T, a Adapter) {
	const s = "Hello, wörld – \"quoted\" \\ and\ttabs.\n\nNext line 😀 end"
	f := newFixture(t, a, 0, Step{Reply: Say(s)})
	g := f.send(t, f.ask("hi"))
	want := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: s}}}
	if g.Err != nil || !reflect.DeepEqual(g.Finished.Message, want) || g.Finished.Stop != llm.EndTurn {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
	if n := len(g.Chunks); n < 8 {
		t.Errorf("only %d chunks: it did not stream", n)
	}
	if !a.NoIDs && g.Finished.ID == "" {
		t.Error("the id of the reply is missing")
	}
}

func thinking(t *testing.T, a Adapter) {
	sig := json.RawMessage(`"EqQB+/=\u00e9.sig\/nature=="`)
	if a.NoOpaque {
		sig = nil
	}
	r := Reply{Stop: llm.EndTurn, ID: "reply_1", Parts: []Part{
		{Part: llm.Thinking{S: "Let me think about this.", Opaque: sig}},
		{Part: llm.Text{S: "It is four."}},
	}}
	f := newFixture(t, a, 0, Step{Reply: r}, Step{Reply: Say("ok")})
	req := f.ask("2+2?")
	req.Effort = llm.EffortMedium
	g := f.send(t, req)
	if g.Err != nil || len(g.Parts) != 2 {
		t.Fatalf("%+v %v", g.Parts, g.Err)
	}
	th, ok := g.Parts[0].(llm.Thinking)
	if !ok || th.S != "Let me think about this." || th.From != a.Provider+"/"+a.Model {
		t.Fatalf("%+v", g.Parts[0])
	}
	if a.Wire == nil || a.NoThinking {
		return
	}
	req.Messages = append(req.Messages, g.Finished.Message, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "thanks"}}})
	if g := f.send(t, req); g.Err != nil {
		t.Fatal(g.Err)
	}
	if sig != nil && !bytes.Contains(f.body(1), sig[1:len(sig)-1]) {
		t.Errorf("the signature did not come back byte for byte:\n%s", f.body(1))
	}
	if !a.NoSummaries && !strings.Contains(string(f.body(1)), "Let me think about this.") {
		t.Errorf("the reasoning did not come back:\n%s", f.body(1))
	}
}

func calls(ids ...string) Reply {
	r := Reply{Stop: llm.WantTools, ID: "reply_1", Parts: []Part{{Part: llm.Text{S: "I will look."}}}}
	for i, id := range ids {
		r.Parts = append(r.Parts, Part{Part: llm.ToolUse{ID: id, Name: "Read", Input: json.RawMessage(fmt.Sprintf(`{"path":"f%d.go"}`, i))}})
	}
	return r
}

func parallel(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: calls("call_a", "call_b", "call_c")})
	g := f.send(t, f.ask("look"))
	if g.Err != nil || len(g.Parts) != 4 || g.Finished.Stop != llm.WantTools {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
	done := 0
	for i, c := range g.Chunks {
		if d, ok := c.(llm.PartDone); ok {
			if _, ok := d.Part.(llm.ToolUse); ok && i < len(g.Chunks)-2 {
				done++
			}
		}
	}
	if done < 2 {
		t.Error("no call was handed over before the end of the reply")
	}
	for i, p := range g.Parts[1:] {
		u := p.(llm.ToolUse)
		if string(u.Input) != fmt.Sprintf(`{"path":"f%d.go"}`, i) || u.Bad != "" || u.Name != "Read" {
			t.Errorf("call %d: %+v", i, u)
		}
		if g.Inputs[u.ID] != string(u.Input) {
			t.Errorf("deltas of call %d: %q", i, g.Inputs[u.ID])
		}
	}
}

func splitInput(t *testing.T, a Adapter) {
	if a.WholeInput {
		t.Skip("this wire sends a call's input whole")
	}
	const in = `{"path":"a\"é\n😀.go","n":[1,{"x":null}]}`
	var steps []Step
	for i := 1; i < len(in); i++ {
		r := calls("call_a")
		r.Parts[1] = Part{Part: llm.ToolUse{ID: "call_a", Name: "Read", Input: json.RawMessage(in)}, Pieces: []string{quoteBytes(in[:i]), quoteBytes(in[i:])}}
		steps = append(steps, Step{Reply: r})
	}
	f := newFixture(t, a, 0, steps...)
	for i := range steps {
		g := f.send(t, f.ask("look"))
		if g.Err != nil || len(g.Parts) != 2 {
			t.Fatalf("split at %d: %+v %v", i+1, g.Parts, g.Err)
		}
		if u := g.Parts[1].(llm.ToolUse); string(u.Input) != in || u.Bad != "" || g.Inputs[u.ID] != in {
			t.Fatalf("split at %d: %+v", i+1, u)
		}
	}
}

// quoteBytes escapes for a JSON string and leaves every other byte as it is,
// so a cut inside a rune stays a cut.
func quoteBytes(s string) string {
	return strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s)
}

func splitStream(t *testing.T, a Adapter) {
	r := calls("call_a", "call_b")
	r.Parts[0] = Part{Part: llm.Text{S: "né 😀"}, Pieces: []string{"né 😀"}}
	whole := strings.Join(a.Wire.Frames(r), "")
	step := 1
	if testing.Short() || len(whole) > 2500 {
		step = len(whole)/600 + 1
	}
	var steps []Step
	for i := 1; i < len(whole); i += step {
		steps = append(steps, Step{Raw: func(w http.ResponseWriter, _ []string) {
			stream(w, whole[:i], whole[i:])
		}})
	}
	f := newFixture(t, a, 0, steps...)
	var first []llm.Part
	for i := range steps {
		g := f.send(t, f.ask("look"))
		if g.Err != nil {
			t.Fatalf("split at %d: %v", i*step+1, g.Err)
		}
		if first == nil {
			first = g.Parts
		}
		if !reflect.DeepEqual(g.Parts, first) {
			t.Fatalf("split at %d: %+v", i*step+1, g.Parts)
		}
	}
}

func stream(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range parts {
		_, _ = io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

func oneText(t *testing.T, a Adapter, want string, pieces ...string) {
	t.Helper()
	f := newFixture(t, a, 0, Step{Reply: Reply{Stop: llm.EndTurn, Parts: []Part{{Part: llm.Text{S: want}, Pieces: pieces}}}})
	g := f.send(t, f.ask("hi"))
	if g.Err != nil || g.Text != want {
		t.Fatalf("got %q, want %q (%v)", g.Text, want, g.Err)
	}
}

func splitUnicode(t *testing.T, a Adapter) {
	const s = "é漢😀"
	for i := 1; i < len(s); i++ {
		oneText(t, a, s, s[:i], s[i:])
	}
}

func splitSurrogate(t *testing.T, a Adapter) {
	oneText(t, a, "a😀b", `a\ud83d`, `\ude00b`)
	oneText(t, a, "😀😀", `\uD83D`, `\uDE00\uD83D`, `\uDE00`)
}

func loneSurrogate(t *testing.T, a Adapter) {
	oneText(t, a, "a\uFFFDb", `a\ud83d`, `b`)
	oneText(t, a, "a\uFFFD", `a`, `\ud83d`)
	oneText(t, a, "\uFFFDa", `\ude00`, `a`)
}

func empty(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Reply{Stop: llm.EndTurn, ID: "reply_1"}})
	g := f.send(t, f.ask("hi"))
	if g.Err != nil || len(g.Parts) != 0 || g.Finished.Stop != llm.EndTurn || g.Finished.Message.Role != llm.Assistant {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
}

func refusal(t *testing.T, a Adapter) {
	r := Say("I can not")
	r.Stop = llm.Refused
	f := newFixture(t, a, 0, Step{Reply: r})
	g := f.send(t, f.ask("hi"))
	if g.Err != nil || g.Finished.Stop != llm.Refused {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
}

func outputCap(t *testing.T, a Adapter) {
	r := Say("and so on and")
	r.Stop = llm.MaxTokens
	f := newFixture(t, a, 0, Step{Reply: r})
	g := f.send(t, f.ask("hi"))
	if g.Err != nil || g.Finished.Stop != llm.MaxTokens || g.Text != "and so on and" {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
}

// capInInput: a call whose input was cut off by the cap is never one to run.
func capInInput(t *testing.T, a Adapter) {
	if a.WholeInput {
		t.Skip("this wire sends a call's input whole")
	}
	const in = `{"path":"a","b":{"c":1}}`
	for i := 0; i < len(in); i++ {
		r := calls("call_a")
		r.Stop = llm.MaxTokens
		r.Parts[1].Pieces = []string{quoteBytes(in[:i])}
		f := newFixture(t, a, 0, Step{Reply: r})
		g := f.send(t, f.ask("look"))
		if g.Err != nil || g.Finished.Stop != llm.MaxTokens || len(g.Parts) != 2 {
			t.Fatalf("cut at %d: %+v %v", i, g.Finished, g.Err)
		}
		u := g.Parts[1].(llm.ToolUse)
		var s string
		if u.Bad != llm.CutCall || json.Unmarshal(u.Input, &s) != nil || s != in[:i] {
			t.Fatalf("cut at %d: %+v", i, u)
		}
	}
}

func badInput(t *testing.T, a Adapter) {
	if a.WholeInput {
		t.Skip("this wire sends a call's input whole")
	}
	for _, in := range []string{`{"a":}`, `path=x`, `{"a":1}}`, `{'a':1}`} {
		r := calls("call_a")
		r.Parts[1].Pieces = []string{quoteBytes(in)}
		f := newFixture(t, a, 0, Step{Reply: r})
		g := f.send(t, f.ask("look"))
		if g.Err != nil || len(g.Parts) != 2 {
			t.Fatalf("%s: %+v %v", in, g.Parts, g.Err)
		}
		u := g.Parts[1].(llm.ToolUse)
		var s string
		if u.Bad == "" || json.Unmarshal(u.Input, &s) != nil || s != in {
			t.Errorf("%s: %+v", in, u)
		}
	}
}

func image(t *testing.T, a Adapter) {
	if a.NoImages {
		t.Skip("this wire takes no images")
	}
	f := newFixture(t, a, 0, Step{Reply: Say("a cat")})
	r := f.ask("what is it?")
	img := llm.Image{Media: "image/png", Data: []byte("\x89PNG not really")}
	r.Messages[0].Parts = append(r.Messages[0].Parts, img)
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(`{"path":"x.png"}`)}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_1", Text: "see", Images: []llm.Image{img}}}})
	if g := f.send(t, r); g.Err != nil {
		t.Fatal(g.Err)
	}
	const b64 = "iVBORyBub3QgcmVhbGx5"
	if n := strings.Count(string(f.body(0)), b64); n != 2 {
		t.Errorf("the picture is there %d times, want 2:\n%s", n, f.body(0))
	}
}

func usage(t *testing.T, a Adapter) {
	want := llm.Usage{In: 100, Out: 50, CacheRead: 2000, CacheWrite: 300, Reasoning: 20}
	if a.NoWrites {
		want.CacheWrite = 0
	}
	if a.NoReasoning {
		want.Reasoning = 0
	}
	r := Say("ok")
	r.Usage = want
	f := newFixture(t, a, 0, Step{Reply: r})
	g := f.send(t, f.ask("hi"))
	if g.Err != nil || g.Finished.Usage != want {
		t.Fatalf("%+v, want %+v (%v)", g.Finished, want, g.Err)
	}
}

// No count of tokens is below zero, whatever a server says.
func negative(t *testing.T, a Adapter) {
	r := Say("ok")
	r.Usage = llm.Usage{In: -100, Out: -50, CacheRead: -2000, CacheWrite: -300, Reasoning: -20}
	f := newFixture(t, a, 0, Step{Reply: r})
	g := f.send(t, f.ask("hi"))
	if u := g.Finished.Usage; g.Err != nil || u != u.Bounded() || u.Out != 0 {
		t.Fatalf("%+v (%v)", g.Finished, g.Err)
	}
	for _, c := range g.Chunks {
		if p, ok := c.(llm.Progress); ok && p.Usage != p.Usage.Bounded() {
			t.Errorf("%+v", p)
		}
	}
}

// A usage that cannot be read does not lose the reply, and what of it can be read counts.
func strangeUsage(t *testing.T, a Adapter) {
	whole := regexp.MustCompile(`("usage(?:Metadata)?":)\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`)
	object, number := regexp.MustCompile(`:\{[^{}]*\}`), regexp.MustCompile(`:-?[0-9]+`)
	r := Say("all is well")
	r.Usage = llm.Usage{In: 100, Out: 50}
	for _, bad := range []string{`5`, `-1`, `"x"`, `null`, `true`, `[]`, `[{}]`, `{"x":[]}`} {
		for place, change := range map[string]func(usage string) string{
			"all":     func(usage string) string { return whole.ReplaceAllString(usage, "${1}"+bad) },
			"numbers": func(usage string) string { return number.ReplaceAllString(usage, ":"+bad) },
			"objects": func(usage string) string { // but for the outer one
				key, inner, _ := strings.Cut(usage, "{")
				return key + "{" + object.ReplaceAllString(inner, ":"+bad)
			},
			"one more": func(usage string) string { return strings.Replace(usage, "{", `{"brand_new":`+bad+`,`, 1) },
		} {
			found := false
			f := newFixture(t, a, 0, Step{Reply: r, Raw: func(w http.ResponseWriter, frames []string) {
				stream(w, whole.ReplaceAllStringFunc(strings.Join(frames, ""), func(usage string) string {
					found = true
					return change(usage)
				}))
			}})
			g := f.send(t, f.ask("hi"))
			if g.Err != nil || g.Text != "all is well" || !found {
				t.Errorf("%s %s: %q %v, found %v", place, bad, g.Text, g.Err, found)
			} else if u := g.Finished.Usage; u != u.Bounded() || (place == "objects" || place == "one more") && u.Out != 50 {
				t.Errorf("%s %s: %+v", place, bad, u)
			}
		}
	}
}

func crlf(t *testing.T, a Adapter) {
	for _, end := range []string{"\r\n", "\r"} {
		f := newFixture(t, a, 0, Step{Reply: calls("call_a"), Raw: func(w http.ResponseWriter, frames []string) {
			stream(w, strings.ReplaceAll(strings.Join(frames, ""), "\n", end))
		}})
		if g := f.send(t, f.ask("hi")); g.Err != nil || len(g.Parts) != 2 {
			t.Errorf("%q: %+v %v", end, g.Parts, g.Err)
		}
	}
}

func headers(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")})
	if g := f.send(t, f.ask("hi")); g.Err != nil {
		t.Fatal(g.Err)
	}
	h := f.headers[0]
	if ua := h.Get("User-Agent"); !strings.HasPrefix(ua, "adze/") || strings.ContainsAny(ua, " (") {
		t.Errorf("User-Agent %q", ua)
	}
	if h.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %q", h.Get("Content-Type"))
	}
	for k := range h {
		for _, other := range []string{"Claude", "Codex", "Stainless", "Referer", "X-App"} {
			if strings.Contains(k, other) {
				t.Errorf("header %s", k)
			}
		}
	}
}
