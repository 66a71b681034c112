//go:build unix

package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/transcript"
)

// A wire is a provider's format and how adze is told to speak it.
type wireName string

const (
	messages  wireName = "anthropic/claude-sonnet-4-6"
	responses wireName = "openai/gpt-5.1"
	chat      wireName = "local/any"
	gemini    wireName = "gemini/gemini-2.5-pro"
)

var wires = map[wireName]llmtest.Wire{
	messages: llmtest.Anthropic{}, responses: llmtest.Responses{}, chat: llmtest.Chat{}, gemini: llmtest.Gemini{},
}

// A provider answers each request with the next reply; the last one counts
// for all that follow.
type provider struct {
	URL  string
	said map[string]any // further settings of the provider "local"

	mu sync.Mutex // guards the rest
	// refuse is what a body is refused with, "" for nothing; nil: none is. A refused one takes no reply.
	refuse  func(body map[string]any) string
	answers map[string]string // what other paths answer
	replies []llmtest.Step
	bodies  []string
}

// answer makes a path other than that of the wire answer.
func (p *provider) answer(path, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers == nil {
		p.answers = map[string]string{}
	}
	p.answers[path] = body
}

func (p *provider) answerOf(path string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, ok := p.answers[path]
	return body, ok
}

// provide starts one that speaks a wire.
func provide(t *testing.T, w wireName, replies ...llmtest.Step) *provider {
	t.Helper()
	p := &provider{replies: replies}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if answer, ok := p.answerOf(r.URL.Path); ok {
			_, _ = io.WriteString(rw, answer)
			return
		}
		if r.Method != http.MethodPost || len(body) == 0 {
			http.NotFound(rw, r)
			return
		}
		p.mu.Lock()
		refuse := p.refuse
		p.mu.Unlock()
		if refuse != nil {
			var all map[string]any
			if err := json.Unmarshal(body, &all); err != nil {
				t.Error(err)
			}
			if why := refuse(all); why != "" {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(rw, wires[w].ErrorBody(http.StatusBadRequest, why))
				return
			}
		}
		p.mu.Lock()
		step := p.replies[min(len(p.bodies), len(p.replies)-1)]
		p.bodies = append(p.bodies, string(body))
		p.mu.Unlock()
		for k, v := range step.Header {
			rw.Header().Set(k, v)
		}
		frames := wires[w].Frames(step.Reply)
		switch {
		case step.Raw != nil:
			step.Raw(rw, frames)
		case step.Status != 0:
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(step.Status)
			_, _ = io.WriteString(rw, wires[w].ErrorBody(step.Status, "as asked"))
		default:
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, strings.Join(frames, ""))
		}
	}))
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// sent are the bodies of the requests so far.
func (p *provider) sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies[:len(p.bodies):len(p.bodies)]
}

// asking is adze with a prompt for the model behind p.
func (pl *place) asking(w wireName, p *provider, args ...string) *exec.Cmd {
	local := map[string]any{"base_url": p.URL, "wire": "compat"}
	for k, v := range p.said {
		local[k] = v
	}
	settings, _ := json.Marshal(map[string]any{"providers": map[string]any{"local": local}})
	c := pl.adze(append([]string{"-p", "go", "--model", string(w), "--settings", string(settings)}, args...)...)
	c.Env = append(c.Env, "ANTHROPIC_API_KEY=k-0123456789", "OPENAI_API_KEY=k-0123456789", "GEMINI_API_KEY=k-0123456789",
		"ANTHROPIC_BASE_URL="+p.URL, "OPENAI_BASE_URL="+p.URL, "GOOGLE_GEMINI_BASE_URL="+p.URL)
	return c
}

// saying is a reply of these parts; stop "" fits them.
func saying(stop llm.Stop, parts ...llm.Part) llmtest.Step {
	s := llmtest.Step{Reply: llmtest.Reply{Stop: stop, Usage: llm.Usage{In: 10, Out: 5}, ID: "reply_1", Model: "m"}}
	for _, p := range parts {
		if _, call := p.(llm.ToolUse); call && stop == "" {
			s.Reply.Stop = llm.WantTools
		}
		s.Reply.Parts = append(s.Reply.Parts, llmtest.Part{Part: p})
	}
	if s.Reply.Stop == "" {
		s.Reply.Stop = llm.EndTurn
	}
	return s
}

// A local server says its model's window: the instructions and the room for a
// reply are made for it.
func TestLocalWindow(t *testing.T) {
	small, large := provide(t, chat, saying("", llm.Text{S: "hi"})), provide(t, chat, saying("", llm.Text{S: "hi"}))
	small.answer("/props", `{"default_generation_settings":{"n_ctx":12000}}`)
	large.answer("/props", `{"default_generation_settings":{"n_ctx":64000}}`)
	size := map[*provider]int{}
	for p, room := range map[*provider]int{small: 3000, large: 8192} {
		pl := newPlace(t)
		out, err := pl.asking(chat, p).CombinedOutput()
		if err != nil || len(p.sent()) != 1 {
			t.Fatalf("%v %s", err, out)
		}
		var body struct {
			Max int `json:"max_tokens"`
		}
		if err := json.Unmarshal([]byte(p.sent()[0]), &body); err != nil || body.Max != room {
			t.Errorf("max_tokens %d, want %d; %v", body.Max, room, err)
		}
		size[p] = len(p.sent()[0])
	}
	if size[small]*3/2 > size[large] {
		t.Errorf("a request of %d bytes for the small window, %d for the large one", size[small], size[large])
	}
}

// A window that is only assumed is named, once, and by doctor.
func TestAssumedWindowIsSaid(t *testing.T) {
	p := provide(t, chat, saying("", llm.Text{S: "hi"}))
	p.answer("/api/show", `{"model_info":{"q.context_length":40960}}`)
	for env, want := range map[string]int{"OLLAMA_HOST=" + p.URL: 1, "OLLAMA_CONTEXT_LENGTH=8000": 0} {
		pl := newPlace(t)
		c := pl.asking(chat, p, "--fallback-model", "ollama/q")
		c.Args[slices.Index(c.Args, string(chat))] = "ollama/q"
		c.Env = append(c.Env, "OLLAMA_HOST="+p.URL, env)
		out, err := c.CombinedOutput()
		if n := strings.Count(string(out), "the window of ollama/q is assumed to be 32768 tokens: it is not loaded; Ollama says at most 40960"); err != nil || n != want {
			t.Errorf("%s: said %d times, want %d; %v %s", env, n, want, err, out)
		}
		doctor := pl.adze("doctor")
		doctor.Env = append(doctor.Env, "ADZE_MODEL=ollama/q", "OLLAMA_HOST="+p.URL, env)
		out, _ = doctor.CombinedOutput()
		if strings.Contains(string(out), "an assumed window of 32768 tokens") != (want > 0) {
			t.Errorf("%s: %s", env, out)
		}
	}
}

// A server under a name of one's own is asked as its settings say.
func TestProviderQuirks(t *testing.T) {
	p := provide(t, chat, saying("", llm.Text{S: "hi"}))
	p.said = map[string]any{"effort": "reasoning_effort", "images": true}
	out, err := newPlace(t).asking(chat, p, "--effort", "high").CombinedOutput()
	if err != nil || !strings.Contains(p.sent()[0], `"reasoning_effort":"high"`) {
		t.Errorf("%v %s %q", err, out, p.sent())
	}
}

// speaks is the wire of a model's provider.
func speaks(model wireName) wireName {
	provider, _, _ := strings.Cut(string(model), "/")
	for w := range wires {
		if strings.HasPrefix(string(w), provider+"/") {
			return w
		}
	}
	return model
}

// An effort that a model is not told is named, once.
func TestEffortPassedOn(t *testing.T) {
	t.Parallel()
	const note = "effort has no effect on "
	for _, c := range []struct {
		wire   wireName
		effort string
		said   map[string]any
		want   int
	}{
		{chat, "high", nil, 1}, {chat, "", nil, 0}, {chat, "high", map[string]any{"effort": "reasoning_effort"}, 0}, {chat, "high", map[string]any{"effort": "none"}, 1},
		{messages, "high", nil, 0}, {"anthropic/claude-3-5-haiku-20241022", "high", nil, 1},
		{responses, "high", nil, 0}, {"openai/gpt-4.1", "high", nil, 1},
		{gemini, "high", nil, 0}, {"gemini/gemini-2.0-flash", "high", nil, 1},
	} {
		p := provide(t, speaks(c.wire), saying("", llm.Text{S: "hi"}))
		p.said = c.said
		args := []string{"--fallback-model", string(c.wire)}
		if c.effort != "" {
			args = append(args, "--effort", c.effort)
		}
		out, err := newPlace(t).asking(c.wire, p, args...).CombinedOutput()
		if n := strings.Count(string(out), note+string(c.wire)); err != nil || n != c.want {
			t.Errorf("%s, effort %q, %v: said %d times, want %d; %v %s", c.wire, c.effort, c.said, n, c.want, err, out)
		}
	}
}

// What a provider refused is not sent to it again when the session goes on.
func TestRefusedTurnIsNotSentAgain(t *testing.T) {
	for w := range wires {
		p := provide(t, w, saying(llm.Refused, llm.Text{S: "rather not"}), saying("", llm.Text{S: "fine"}))
		pl := newPlace(t)
		if out, err := pl.asking(w, p).CombinedOutput(); err == nil {
			t.Errorf("%s: a refused turn succeeded: %s", w, out)
		}
		again := pl.asking(w, p, "-c")
		for i, a := range again.Args {
			if a == "go" {
				again.Args[i] = "something-else"
			}
		}
		out, err := again.CombinedOutput()
		if sent := p.sent(); err != nil || len(sent) != 2 || strings.Contains(sent[1], `"go"`) || strings.Contains(sent[1], "rather not") ||
			!strings.Contains(sent[1], "something-else") || !strings.Contains(sent[1], transcript.LeftOut) {
			t.Errorf("%s: %v %s\n%q", w, err, out, sent)
		}
	}
}

// The work of a refused turn is known when the session goes on, on each wire
// as a call and its result; when that is refused, too, it goes as well.
func TestWorkOfARefusedTurnStays(t *testing.T) {
	for w := range wires {
		t.Run(string(w), func(t *testing.T) {
			read := saying("", llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(`{"file_path":"f.txt"}`)})
			no := saying(llm.Refused, llm.Text{S: "rather not"})
			p := provide(t, w, read, no, no, saying("", llm.Text{S: "fine"}))
			pl := newPlace(t)
			pl.put("f.txt", "the content of the file\n")
			for i, prompt := range []string{"go", "second-words", "third-words"} {
				c := pl.asking(w, p)
				if i > 0 {
					c = pl.asking(w, p, "-c")
				}
				c.Args[slices.Index(c.Args, "go")] = prompt
				if out, err := c.CombinedOutput(); (err == nil) != (i == 2) {
					t.Fatalf("%s: %v %s", prompt, err, out)
				}
			}
			sent := p.sent()
			if len(sent) != 4 {
				t.Fatalf("%d requests", len(sent))
			}
			for i, c := range []struct {
				has, not []string
			}{
				2: {[]string{"the content of the file", "second-words", transcript.LeftOut, transcript.Refused}, []string{`"go"`, "rather not"}},
				3: {[]string{"third-words", transcript.AllLeftOut}, []string{"the content of the file", "second-words", "call_1", "rather not"}},
			} {
				if _, err := wires[w].History([]byte(sent[i])); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				for _, x := range c.has {
					if !strings.Contains(sent[i], x) {
						t.Errorf("request %d has no %q: %s", i, x, sent[i][max(0, len(sent[i])-2000):])
					}
				}
				for _, x := range c.not {
					if strings.Contains(sent[i], x) {
						t.Errorf("request %d has %q", i, x)
					}
				}
			}
		})
	}
}

var inRequest = regexp.MustCompile(`"data":"([A-Za-z0-9+/=]{50,})"`)

// Images that a person attaches, and those that Read shows, are as large as
// the model in use sees them.
func TestImagesFitTheModel(t *testing.T) {
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 3000, 60))); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[wireName]int{messages: 1568, "anthropic/claude-opus-4-8": 2000} {
		p := provide(t, messages, saying("", llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(`{"file_path":"wide.png"}`)}), saying("", llm.Text{S: "seen"}))
		pl := newPlace(t)
		pl.put("wide.png", wide.String())
		c := pl.asking(model, p, "--input-format", "stream-json", "--output-format", "stream-json")
		c.Args = slices.DeleteFunc(c.Args, func(a string) bool { return a == "go" })
		c.Stdin = strings.NewReader(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}}`, base64.StdEncoding.EncodeToString(wide.Bytes())))
		out, err := c.CombinedOutput()
		sent := p.sent()
		if err != nil || len(sent) != 2 {
			t.Fatalf("%v %s", err, out)
		}
		pictures := inRequest.FindAllStringSubmatch(sent[1], -1)
		if len(pictures) != 2 {
			t.Fatalf("%d images in the request", len(pictures))
		}
		for i, m := range pictures {
			raw, _ := base64.StdEncoding.DecodeString(m[1])
			if cfg, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil || cfg.Width != want {
				t.Errorf("%s: image %d has %d pixels, want %d (%v)", model, i, cfg.Width, want, err)
			}
		}
	}
}

// Thinking is turned off on each wire where that can be, at the start and in
// the middle of a session; where it cannot, that is said, once.
func TestThinkingIsTurnedOff(t *testing.T) {
	t.Parallel()
	const note = "thinking cannot be turned off on "
	for i, c := range []struct {
		model wireName
		said  map[string]any
		off   string // of the request, "" where it cannot be said
		notes int
	}{
		{"anthropic/claude-sonnet-5-5", nil, `"thinking":{"type":"disabled"}`, 0},
		{"anthropic/claude-sonnet-4-5-20250929", nil, `"max_tokens"`, 0}, // it does not unless it is asked to
		{responses, nil, `"reasoning":{"effort":"none"`, 0}, {"openai/gpt-5-pro", nil, "", 1}, {"openai/gpt-4.1", nil, `"max_output_tokens"`, 0},
		{"gemini/gemini-2.5-flash", nil, `"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}`, 0}, {gemini, nil, "", 1},
		{chat, map[string]any{"effort": "reasoning_effort"}, `"reasoning_effort":"none"`, 0}, {chat, map[string]any{"effort": "thinking"}, `"thinking":{"type":"disabled"}`, 0},
		{chat, map[string]any{"effort": "reasoning"}, `"reasoning":{"enabled":false}`, 0}, {chat, nil, "", 1},
	} {
		ways := []string{"request", "--thinking=disabled", "--max-thinking-tokens=0", "--effort=none"}
		if i > 0 { // the flags are one setting
			ways = ways[:2]
		}
		for _, way := range ways {
			p := provide(t, speaks(c.model), saying("", llm.Text{S: "hi"}))
			p.said = c.said
			args := []string{"--input-format", "stream-json", "--output-format", "stream-json"}
			in := `{"type":"user","message":{"role":"user","content":"hi"}}` + "\n"
			if way == "request" {
				off := `{"type":"control_request","request_id":"r","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":0}}` + "\n"
				in = off + off + in
			} else {
				args = append(args, way)
			}
			cmd := newPlace(t).asking(c.model, p, args...)
			cmd.Args = slices.DeleteFunc(cmd.Args, func(a string) bool { return a == "go" })
			cmd.Stdin = strings.NewReader(in)
			out, err := cmd.CombinedOutput()
			if err != nil || len(p.sent()) != 1 {
				t.Fatalf("%s %s: %v %s", c.model, way, err, out)
			}
			if n := strings.Count(string(out), note+string(c.model)); n != c.notes || !strings.Contains(p.sent()[0], c.off) {
				t.Errorf("%s %v %s: said %d times, want %d: %s\n%s", c.model, c.said, way, n, c.notes, out, p.sent()[0][:300])
			}
		}
	}
}

// A model that does not take it that thinking is disabled is asked without it.
func TestThinkingThatCannotBeDisabled(t *testing.T) {
	no := llmtest.Step{Status: 400, Raw: func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"thinking: disabled is not supported by this model"}}`)
	}}
	p := provide(t, messages, no, saying("", llm.Text{S: "hi"}))
	out, err := newPlace(t).asking("anthropic/claude-sonnet-5-5", p, "--effort", "none").CombinedOutput()
	if sent := p.sent(); err != nil || len(sent) != 2 || strings.Contains(sent[1], `"thinking"`) || !strings.Contains(string(out), "hi") {
		t.Errorf("%v %s %d", err, out, len(sent))
	}
}

// An effort that is changed in the middle of a session is no different, nor is
// one that is none.
func TestEffortChangedInASession(t *testing.T) {
	p := provide(t, messages, saying("", llm.Text{S: "hi"}))
	set := func(level string) string {
		return `{"type":"control_request","request_id":"` + level + `","request":{"subtype":"apply_flag_settings","settings":{"effortLevel":"` + level + `"}}}` + "\n"
	}
	c := newPlace(t).asking("anthropic/claude-3-5-haiku-20241022", p, "--input-format", "stream-json", "--output-format", "stream-json")
	c.Args = slices.DeleteFunc(c.Args, func(a string) bool { return a == "go" })
	c.Stdin = strings.NewReader(set("high") + `{"type":"user","message":{"role":"user","content":"hi"}}` + "\n" + set("low") + `{"type":"user","message":{"role":"user","content":"hi"}}` + "\n")
	out, err := c.CombinedOutput()
	if n := strings.Count(string(out), "effort has no effect on anthropic/claude-3-5-haiku-20241022"); err != nil || n != 1 {
		t.Errorf("said %d times: %v %s", n, err, out)
	}
}

// A model that ends without the structured answer is made to give it, on each
// wire; where a server does not take that, it is only asked to.
func TestStructuredAnswerIsForced(t *testing.T) {
	answer := saying("", llm.ToolUse{ID: "call_1", Name: "StructuredOutput", Input: json.RawMessage(`{"n":3}`)})
	for model, forced := range map[wireName]string{
		"anthropic/claude-sonnet-5-5": `"tool_choice":{"type":"tool","name":"StructuredOutput"}`, responses: `"tool_choice":{"type":"function","name":"StructuredOutput"}`,
		chat: `"tool_choice":{"type":"function","function":{"name":"StructuredOutput"}}`, gemini: `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["StructuredOutput"]}}`,
	} {
		for _, refused := range []bool{false, true} {
			replies := []llmtest.Step{saying("", llm.Text{S: "it is three"}), answer}
			if refused && (model == gemini || model == responses) {
				continue // each of their models takes it
			}
			if refused {
				no := llmtest.Step{Raw: func(w http.ResponseWriter, _ []string) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(400)
					_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"tool_choice: this model does not support a forced tool"}}`)
				}}
				replies = slices.Insert(replies, 1, no)
			}
			p := provide(t, speaks(model), replies...)
			out, err := newPlace(t).asking(model, p, "--output-format", "json", "--json-schema", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, "--effort", "high").CombinedOutput()
			sent := p.sent()
			if err != nil || !strings.Contains(string(out), `"structured_output":{"n":3}`) || len(sent) != len(replies) {
				t.Fatalf("%s: %v %s", model, err, out)
			}
			if strings.Contains(sent[0], forced) || !strings.Contains(sent[1], forced) || refused && strings.Contains(sent[2], forced) {
				t.Errorf("%s: %q", model, sent)
			}
			if strings.HasPrefix(string(model), "anthropic") && (!strings.Contains(sent[0], `"adaptive"`) || !strings.Contains(sent[1], `"thinking":{"type":"disabled"}`)) {
				t.Errorf("reasoning and a forced tool: %s", sent[1][:300])
			}
		}
	}
}

// A refused reply that has a call ends its turn all the same, and what follows
// is a conversation that each provider takes.
func TestRefusedReplyWithACall(t *testing.T) {
	for w := range wires {
		p := provide(t, w, saying(llm.Refused, llm.Text{S: "that is not for me"}, llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(`{"file_path":"f.txt"}`)}), saying("", llm.Text{S: "fine"}))
		pl := newPlace(t)
		pl.put("f.txt", "content\n")
		if out, err := pl.asking(w, p).CombinedOutput(); codeOf(err) != 1 || !strings.Contains(string(out), "declined to answer") || !strings.Contains(string(out), "that is not for me") || len(p.sent()) != 1 {
			t.Fatalf("%s: %v, %d requests: %s", w, err, len(p.sent()), out)
		}
		out, err := pl.asking(w, p, "-c").CombinedOutput()
		if err != nil || len(p.sent()) != 2 {
			t.Fatalf("%s: %v %s", w, err, out)
		}
		if _, err := wires[w].History([]byte(p.sent()[1])); err != nil || strings.Contains(p.sent()[1], "call_1") {
			t.Errorf("%s: %v %s", w, err, p.sent()[1])
		}
	}
}

// A server that takes neither tools nor a role of the system answers all the same, also in a
// session that is taken up again; each time people are told that the model has no tools.
func TestServerWithoutTools(t *testing.T) {
	for w := range wires {
		p := provide(t, w, saying("", llm.Text{S: "hi"}))
		refuse := func(body map[string]any) string {
			if body["tools"] != nil {
				return "tools is not supported by this model"
			}
			apart := body["system"] != nil || body["instructions"] != nil || body["systemInstruction"] != nil
			if list, ok := body["messages"].([]any); ok && list[0].(map[string]any)["role"] == "system" {
				apart = true
			}
			if apart {
				return "System role not supported"
			}
			return ""
		}
		p.mu.Lock()
		p.refuse = refuse
		p.mu.Unlock()
		pl := newPlace(t)
		for n, args := range [][]string{nil, {"-c"}, {"-c", "--output-format", "stream-json"}} {
			out, err := pl.asking(w, p, args...).CombinedOutput()
			if told := strings.Count(string(out), "gets no tools"); err != nil || told != 1 || len(p.sent()) != n+1 {
				t.Fatalf("%s, run %d: %v, told %d times, %d requests answered\n%s", w, n, err, told, len(p.sent()), out)
			}
		}
		if last := p.sent()[2]; !strings.Contains(last, "you have no tools") || strings.Count(last, "hi") < 2 {
			t.Errorf("%s: %s", w, last)
		}
	}
}
