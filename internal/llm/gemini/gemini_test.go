package gemini

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func TestBattery(t *testing.T) {
	llmtest.Run(t, llmtest.Adapter{
		Provider: "gemini", Model: "gemini-test-1", Wire: llmtest.Gemini{}, WholeInput: true, NoWrites: true, NoSummaries: true,
		New: func(_ testing.TB, s llmtest.Server) llm.Model {
			return New(Config{Config: wire.Config{Key: s.Key, KeySource: "GEMINI_API_KEY", Version: "1.2.3", Idle: s.Idle}, BaseURL: s.URL})
		},
	})
}

// canned answers every request with one body and keeps the last request.
type canned struct {
	body, request, url, key string
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	c.request, c.url, c.key = string(b), r.URL.String(), r.Header.Get("X-Goog-Api-Key")
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(c.body))}, err
}

func parts(p, reason string) string {
	return `data: {"candidates":[{"content":{"parts":[` + p + `]},"finishReason":"` + reason + `"}]}` + "\n\n"
}

func hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hi"}}}}}
}

func TestTheKeyIsNotInTheURL(t *testing.T) {
	tr := &canned{body: parts(`{"text":"x"}`, "STOP")}
	m := New(Config{Config: wire.Config{Key: " SECRET-KEY\n", Transport: tr}})
	llmtest.Collect(t, context.Background(), m, hello())
	if tr.url != "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse" || tr.key != "SECRET-KEY" {
		t.Errorf("%s %s", tr.url, tr.key)
	}
}

func TestSignaturesComeBackWithTheirPart(t *testing.T) {
	tr := &canned{body: parts(`{"text":"hm","thought":true}`, "") +
		parts(`{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"A+/="},{"functionCall":{"name":"b","args":{}}}`, "") +
		parts(`{"text":"done"},{"text":"","thoughtSignature":"B+/="}`, "STOP")}
	m := New(Config{Config: wire.Config{Transport: tr}})
	r := hello()
	g := llmtest.Collect(t, context.Background(), m, r)
	if g.Err != nil || g.Finished.Stop != llm.WantTools || g.Inputs["call_1_0"] != `{"x":1}` {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
	r.Messages = append(r.Messages, g.Finished.Message)
	llmtest.Collect(t, context.Background(), m, r)
	if !strings.Contains(tr.request, `"args":{"x":1}},"thoughtSignature":"A+/="}`) {
		t.Errorf("the call lost its signature: %s", tr.request)
	}
	if !strings.Contains(tr.request, `{"text":"","thoughtSignature":"B+/="}]`) {
		t.Errorf("the signature after the last words was lost: %s", tr.request)
	}
	if strings.Count(tr.request, "thoughtSignature") != 2 || strings.Contains(tr.request, `"hm"`) {
		t.Errorf("sent %s", tr.request)
	}
	r.Model = "other"
	llmtest.Collect(t, context.Background(), m, r)
	if strings.Contains(tr.request, "thoughtSignature") {
		t.Errorf("another model was sent a signature: %s", tr.request)
	}
}

func TestForeignCallsOfStrictModels(t *testing.T) {
	r := hello()
	r.Model = "gemini-3.1-pro-preview"
	use := llm.ToolUse{ID: "c1", Name: "a", Input: json.RawMessage(`{}`)}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{use, use}})
	if body := string(written(New(Config{}), r, "gemini/x")); strings.Count(body, `"thoughtSignature":"skip_thought_signature_validator"`) != 1 {
		t.Error(body)
	}
}

func TestEnds(t *testing.T) {
	run := func(body string) llmtest.Got {
		return llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Transport: &canned{body: body}}}), hello())
	}
	for _, reason := range []string{"SAFETY", "RECITATION", "PROHIBITED_CONTENT"} {
		if g := run(parts("", reason)); g.Err != nil || g.Finished.Stop != llm.Refused || g.Finished.Why != reason {
			t.Errorf("%s: %+v %v", reason, g.Finished, g.Err)
		}
	}
	if g := run(`data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}` + "\n\n"); g.Err != nil || g.Finished.Stop != llm.Refused || g.Finished.Usage.In != 4 {
		t.Errorf("blocked: %+v %v", g.Finished, g.Err)
	}
	if k, _ := llmtest.KindOf(run(parts("", "MALFORMED_FUNCTION_CALL")).Err); k != llm.ServerError {
		t.Errorf("malformed: %v", k)
	}
	if k, _ := llmtest.KindOf(run(parts(`{"text":"x"}`, "")).Err); k != llm.Cut {
		t.Errorf("no end: %v", k)
	}
}

func TestDownConvert(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object"}`: ``, `{"type":"object","properties":{}}`: ``, `nonsense`: ``, `true`: ``,
		`{"$schema":"x","additionalProperties":false,"type":"object","properties":{"b":{"type":"string","default":"x","examples":["y"],"format":"uri"},"a":{"type":["integer","null"],"exclusiveMinimum":0,"minimum":1}},"required":["b","gone"]}`: `{"type":"OBJECT","properties":{"b":{"type":"STRING"},"a":{"type":"INTEGER","nullable":true,"minimum":1}},"required":["b"]}`,
		`{"type":"object","properties":{"v":{},"n":{"description":"anything"},"r":{"type":"array"},"i":{"type":"array","items":{}},"a":{"type":"any"},"t":true,"e":{"enum":["k"]},"p":{"properties":{"q":{}}},"l":{"items":{"type":"integer"}}}}`:  `{"type":"OBJECT","properties":{"v":{"type":"STRING","description":"(text, or JSON as text)"},"n":{"type":"STRING","description":"anything (text, or JSON as text)"},"r":{"type":"ARRAY","items":{"type":"STRING"}},"i":{"type":"ARRAY","items":{"type":"STRING","description":"(text, or JSON as text)"}},"a":{"type":"STRING","description":"(text, or JSON as text)"},"t":{"type":"STRING"},"e":{"type":"STRING","enum":["k"]},"p":{"type":"OBJECT","properties":{"q":{"type":"STRING","description":"(text, or JSON as text)"}}},"l":{"type":"ARRAY","items":{"type":"INTEGER"}}}}`,
		`{"type":"object","properties":{"x":{"oneOf":[{"type":"string"},{"const":"k"}]},"y":{"type":["string","number"]},"z":{"type":"array"}}}`:                                                                                                   `{"type":"OBJECT","properties":{"x":{"anyOf":[{"type":"STRING"},{"type":"STRING","enum":["k"]}]},"y":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]},"z":{"type":"ARRAY","items":{"type":"STRING"}}}}`,
		`{"type":"object","properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"object","properties":{"q":{"type":"boolean"}}}}}`:                                                                                                          `{"type":"OBJECT","properties":{"p":{"type":"OBJECT","properties":{"q":{"type":"BOOLEAN"}}}}}`,
		`{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]},"m":{"allOf":[{"type":"string"}],"description":"d"}}}`:                                                                                                                 `{"type":"OBJECT","properties":{"n":{"type":"INTEGER"},"m":{"type":"STRING","description":"d"}}}`,
	} {
		if got := string(downConvert(json.RawMessage(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	deep := json.RawMessage(`{"type":"object","properties":{"p":{"$ref":"#"}}}`)
	if out := downConvert(deep); !json.Valid(out) || len(out) > 10000 {
		t.Errorf("a schema that contains itself: %d bytes", len(out))
	}
}

func FuzzDownConvert(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":["string","null"],"$ref":"#/x"}}}`)
	f.Fuzz(func(t *testing.T, s string) {
		if out := downConvert(json.RawMessage(s)); out != nil && !json.Valid(out) {
			t.Fatalf("%s", out)
		}
	})
}

func TestThinkingByFacts(t *testing.T) {
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{Facts: func(m string) (price.Facts, bool) { return tab.Lookup("gemini", m) }})
	for _, tc := range []struct {
		r    llm.Request
		want string
	}{
		{llm.Request{Model: "gemini-3.1-pro-preview", Effort: llm.EffortLow}, `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{llm.Request{Model: "gemini-3.1-pro-preview", Effort: llm.EffortMax}, `"thinkingLevel":"HIGH"`},
		{llm.Request{Model: "gemini-2.5-pro", Effort: llm.EffortMedium}, `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}`},
		{llm.Request{Model: "gemini-2.5-pro"}, `"thinkingConfig":{"includeThoughts":true}`},
		{llm.Request{Model: "gemini-4-unheard-of", Effort: llm.EffortMax}, `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{llm.Request{Model: "gemini-3.9-flash", Effort: llm.EffortLow}, `"thinkingLevel":"LOW"`},
		{llm.Request{Model: "gemini-2.5-unheard-of", Effort: llm.EffortLow}, `"thinkingBudget":2048`},
		{llm.Request{Model: "gemini-2.5-pro", ThinkingTokens: 99999}, `"thinkingBudget":24576`},
	} {
		if body := string(written(c, tc.r, "")); !strings.Contains(body, tc.want) {
			t.Errorf("%+v: %s", tc.r, body)
		}
	}
	if body := string(written(c, llm.Request{Model: "unheard-of", Effort: llm.EffortMax, MaxTokens: 5}, "")); strings.Contains(body, "thinking") {
		t.Error(body)
	}
}

// written is a request as it is sent.
func written(c *Client, r llm.Request, reader string) []byte {
	body, _ := c.request(r, reader)
	return body.Bytes()
}
