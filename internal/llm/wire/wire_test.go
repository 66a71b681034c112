package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/llm"
)

func readAll(t testing.TB, r io.Reader) ([]string, error) {
	t.Helper()
	var out []string
	for rd := newReader(r); ; {
		ev, err := rd.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, string(ev.Name)+"|"+string(ev.Data))
	}
}

func TestReader(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                    nil,
		"\n\n\n":                              nil,
		"data: a\n\n":                         {"|a"},
		"data:a\n\ndata:  b\n\n":              {"|a", "| b"},
		"event: x\ndata: a\n\n":               {"x|a"},
		"event: x\n\ndata: a\n\n":             {"|a"},
		"data: a\ndata: b\ndata\ndata: c\n\n": {"|a\nb\n\nc"},
		"data: a\r\n\r\ndata: b\r\n\r\n":      {"|a", "|b"},
		"data: a\r\rdata: b\r\r":              {"|a", "|b"},
		"data: a\r\n\ndata: b\n\r\n":          {"|a", "|b"},
		"\xEF\xBB\xBFdata: a\n\n":             {"|a"},
		": hello\n\nid: 1\nretry: 5\ndata: a\n:x\n\n": {"|a"},
		"data: a":                       {"|a"},
		"data: a\n":                     {"|a"},
		"data: a\r":                     {"|a"},
		"data: a\n\nevent: y":           {"|a"},
		"nonsense\nevent: x\ndata:\n\n": {"x|"},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "data with EOF": iotest.DataErrReader(strings.NewReader(in))} {
			if got, err := readAll(t, r); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q (%s): %q %v, want %q", in, name, got, err, want)
			}
		}
	}
}

func TestReaderKeepsItsErrorAndBound(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := readAll(t, broken); !errors.Is(err, io.ErrUnexpectedEOF) || !reflect.DeepEqual(got, []string{"|a"}) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := readAll(t, iotest.ErrReader(errors.New("x"))); err == nil {
		t.Error("no error")
	}
	if testing.Short() {
		return
	}
	endless := io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 1<<30))
	if _, err := readAll(t, endless); !errors.Is(err, ErrEventTooLong) {
		t.Errorf("%v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func FuzzReader(f *testing.F) {
	f.Add("event: x\r\ndata: a\ndata: b\r\rdata: c", uint8(3))
	f.Add("\xEF\xBB\xBF:\n\ndata", uint8(1))
	f.Fuzz(func(t *testing.T, in string, n uint8) {
		whole, err := readAll(t, strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		cut := int(n) % (len(in) + 1)
		pieces, err := readAll(t, io.MultiReader(strings.NewReader(in[:cut]), iotest.OneByteReader(strings.NewReader(in[cut:]))))
		if err != nil || !reflect.DeepEqual(whole, pieces) {
			t.Fatalf("%q at once, %q in pieces (%v)", whole, pieces, err)
		}
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{`a`, `b`}, "ab"}, {[]string{`\n\t\r\b\f\"\\\/`}, "\n\t\r\b\f\"\\/"}, {[]string{`\u00e9`, "é"}, "éé"},
		{[]string{`\ud83d`, `\ude00`}, "😀"}, {[]string{`\ud83d\ude00`}, "😀"}, {[]string{`\ud83d`, `x`}, "\uFFFDx"},
		{[]string{`\ud83d`, ``, `\ude00`}, "😀"}, {[]string{`\ud83d`}, "\uFFFD"}, {[]string{`\ude00`}, "\uFFFD"},
		{[]string{"\xf0\x9f", "\x98", "\x80"}, "😀"}, {[]string{"\xf0\x9f", "x"}, "\uFFFD\uFFFDx"}, {[]string{"\xff"}, "\uFFFD"},
		{[]string{`\u12`}, "\uFFFD12"}, {[]string{`\`}, `\`}, {[]string{`\ud83d\ud83d\ude00`}, "\uFFFD😀"},
	} {
		var text Text
		deltas := ""
		for _, p := range c.pieces {
			d := text.AddJSON([]byte(p))
			if !utf8.ValidString(d) {
				t.Errorf("%q: delta %q", c.pieces, d)
			}
			deltas += d
		}
		deltas += text.Close()
		if text.String() != c.want || deltas != c.want {
			t.Errorf("%q: %q, deltas %q, want %q", c.pieces, text.String(), deltas, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a é 😀 \\ \" \n\x00\u2028", uint16(5))
	f.Fuzz(func(t *testing.T, s string, at uint16) {
		raw, err := json.Marshal(s) // its own repair of broken UTF-8 is the measure
		if err != nil {
			t.Skip()
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		raw = raw[1 : len(raw)-1]
		cut := int(at) % (len(raw) + 1)
		if cut > 0 && bytes.LastIndexByte(raw[:cut], '\\') >= max(0, cut-6) {
			cut = 0 // an escape is never cut by a server: it is made of whole characters
		}
		var text Text
		text.AddJSON(raw[:cut])
		text.AddJSON(raw[cut:])
		text.Close()
		if text.String() != want {
			t.Fatalf("%q cut at %d: %q, want %q", raw, cut, text.String(), want)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\"]"}],"d":-12.5e3,"e":null,"f":{}}`)
	f.Fuzz(func(t *testing.T, in string) {
		s := NewScan([]byte(in))
		got := map[string]string{}
		if s.Object() {
			for k, ok := s.Key(); ok; k, ok = s.Key() {
				got[Unquote(k)] = string(s.Raw())
			}
		}
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &want) != nil || want == nil || !utf8.ValidString(in) {
			return // lenient with what is not JSON; it must only end
		}
		if s.Bad() || len(got) != len(want) {
			t.Fatalf("%q: %v", got, s.Bad())
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Fatalf("%q: %q, want %q", k, got[k], v)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add("a\"\\\n\x00é\xff😀")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		if got != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%q", got)
		}
	})
}

func TestInput(t *testing.T) {
	for in, want := range map[string]string{
		"": `{}`, "  ": `{}`, `{"a":1}`: `{"a":1}`, ` {"a" : 1} `: `{"a" : 1}`, `null`: `null`,
		`{"a":"\ud83d"}`: `{"a":"\ufffd"}`, `{"a":"\ud83d\ude00"}`: `{"a":"\ud83d\ude00"}`, `{"a":"\\ud83d"}`: `{"a":"\\ud83d"}`, `{"a":"\ude00\ud83d"}`: `{"a":"\ufffd\ufffd"}`,
		"{\n\"a\":\"x\ny\tz\x01\"}": "{\n\"a\":\"x\\ny\\tz\\u0001\"}", "{\"a\":\"\\\"\nb\"}": `{"a":"\"\nb"}`, "{\"a\":\"cc \\\n-o\"}": `{"a":"cc \\\n-o"}`,
		`"{\"a\":1}"`: `{"a":1}`, `"\"{\\\"a\\\":1}\""`: `{"a":1}`, `"{\"a\":\"\\ud83d\"}"`: `{"a":"\ufffd"}`, `"ls"`: `"ls"`, `"{x"`: `"{x"`, `"[1]"`: `"[1]"`, `""`: `""`, `"\"ls\""`: `"\"ls\""`,
	} {
		if got, bad := Input(in); bad != "" || string(got) != want {
			t.Errorf("%s: %s %s", in, got, bad)
		}
	}
	for _, in := range []string{`{`, `{"a":1}}`, `a`, `{"a":\u}`, "{\"a\":\"x\ny"} {
		got, bad := Input(in)
		var s string
		if bad == "" || json.Unmarshal(got, &s) != nil || s != in {
			t.Errorf("%s: %s %s", in, got, bad)
		}
	}
}

func FuzzInput(f *testing.F) {
	f.Add(`{"a":"\ud83d\ude00\ud83d"}`)
	f.Fuzz(func(t *testing.T, in string) {
		got, bad := Input(in)
		if !json.Valid(got) || bad != "" && got[0] != '"' {
			t.Fatalf("%s %s", got, bad)
		}
	})
}

// Fault 44: what Retry-After may hold.
func TestFault44RetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "0", 0}, {"Retry-After", "1", time.Second}, {"Retry-After", "3600", time.Hour}, {"Retry-After", " 2 ", 2 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond}, {"Retry-After", "-5", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "1e99", 24 * time.Hour},
		{"Retry-After", "NaN", 0}, {"Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute}, {"Retry-After", "Fri, 02 Jan 2026 03:03:05 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond}, {"Retry-After-Ms", "x", 0}, {"X", "1", 0},
	} {
		if got := retryAfter(http.Header{c.key: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s = %v, want %v", c.key, c.value, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   llm.Kind
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 190000 + 32000 > 200000"}}`, llm.TooLong},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, llm.TooLong},
		{400, `{"error":{"message":"too many","code":"context_length_exceeded"}}`, llm.TooLong},
		{400, `{"error":{"message":"输入长度超过限制","code":"1261"}}`, llm.TooLong},
		{400, `{"error":{"message":"Your input exceeds the context window of this model."}}`, llm.TooLong},
		{400, `[{"error":{"code":400,"message":"The input token count (5) exceeds the maximum number of tokens allowed (4).","status":"INVALID_ARGUMENT"}}]`, llm.TooLong},
		{400, `{"code":"x","error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}`, llm.TooLong},
		{413, `{"error":{"message":"Request too large for model llama on tokens per minute (TPM): Limit 6000, Requested 9000","code":"rate_limit_exceeded"}}`, llm.TooLong},
		{400, `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}`, llm.TooLong},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, llm.TooLong},
		{500, `{"error":"prompt too long; exceeded max context length by 5 tokens"}`, llm.TooLong},
		{500, `{"error":{"message":"context length exceeded","code":500}}`, llm.TooLong},
		{500, `{"error":{"message":"The context window was exceeded by this conversation"}}`, llm.TooLong},
		{500, `{"error":{"message":"request is larger than the context size"}}`, llm.TooLong},
		{500, `{"error":{"message":"no context window is configured"}}`, llm.ServerError},
		{429, `{"error":{"message":"context length exceeded for this tier, slow down"}}`, llm.RateLimited},
		{400, `{"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 bytes"}}`, llm.MediaTooBig},
		{400, `{"error":{"message":"Could not process image"}}`, llm.MediaTooBig},
		{400, `{"error":{"message":"A maximum of 100 PDF pages may be provided."}}`, llm.MediaTooBig},
		{404, `{"error":{"message":"No endpoints found that support image input"}}`, llm.MediaTooBig},
		{400, `{"error":{"message":"Your credit balance is too low to access the API"}}`, llm.NoCredit},
		{429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, llm.NoCredit},
		{402, `{"error":{"message":"Insufficient Balance"}}`, llm.NoCredit},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","retryDelay":"34s"}]}}`, llm.RateLimited},
		{429, `{"error":{"message":"image rate limit exceeded"}}`, llm.RateLimited},
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","details":[{"reason":"API_KEY_INVALID"}]}}`, llm.Unauthorized},
		{401, ``, llm.Unauthorized}, {403, `{"error":{"message":"no"}}`, llm.Unauthorized}, {403, `{"error":{"message":"flagged by moderation"}}`, llm.BadRequest},
		{404, `{"error":"model 'x' not found, try pulling it first"}`, llm.NotFound}, {400, `{"error":{"message":"foo/bar is not a valid model ID"}}`, llm.NotFound},
		{503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, llm.Overloaded}, {503, `down`, llm.ServerError},
		{529, ``, llm.Overloaded}, {500, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Overloaded}, {500, ``, llm.ServerError},
		{501, ``, llm.BadRequest}, {501, `<html>`, llm.BadReply}, {408, ``, llm.ServerError}, {504, ``, llm.ServerError}, {407, ``, llm.Transport}, {422, `{"detail":[{"msg":"field required"}]}`, llm.BadRequest},
		{301, ``, llm.BadReply}, {403, `<html>`, llm.BadReply}, {502, `<html>`, llm.ServerError}, {413, `<html>413</html>`, llm.TooLong},
		{400, `{"error":{"message":"max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens"}}`, llm.BadRequest},
	} {
		if got := classify(c.status, ReadFault([]byte(c.body))); got != c.want {
			t.Errorf("%d %s: kind %d, want %d", c.status, c.body, got, c.want)
		}
	}
}

// A page with the status 413 is of a proxy; an answer of the model's server is not.
func TestTooLargeForAProxy(t *testing.T) {
	for body, want := range map[string]bool{"<html><title>413 Request Entity Too Large</title></html>": true, `{"error":{"message":"prompt is too long"}}`: false} {
		if e := (&Client{}).fault(413, ReadFault([]byte(body)), nil); e.Kind != llm.TooLong || strings.Contains(e.Fix, "client_max_body_size") != want {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

func TestReadFault(t *testing.T) {
	for body, want := range map[string]Fault{
		`{"type":"error","error":{"type":"a","message":"m"},"request_id":"r"}`: {Type: "a", Message: "m", RequestID: "r"},
		`{"error":"plain"}`:                            {Message: "plain"},
		`{"detail":"Not Found"}`:                       {Message: "Not Found"},
		`{"message":{"detail":[{"msg":"bad field"}]}}`: {Message: "bad field"},
		`{"error":{"code":402,"message":"m"}}`:         {Code: "402", Message: "m"},
		"just text\x1b[31m\n more":                     {Message: "just text[31m more"},
		`<!doctype html><TITLE>Log in</TITLE>`:         {HTML: true, Message: "Log in"},
		`{"error":{"message":"m","metadata":{"raw":"{\"error\":{\"message\":\"inner\"}}"}}}`: {Message: "m: inner"},
		``: {}, `{}`: {}, `null`: {}, `[]`: {Message: "[]"},
	} {
		if got := ReadFault([]byte(body)); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func FuzzReadFault(f *testing.F) {
	f.Add([]byte(`[{"error":{"message":{"detail":[{"msg":"x"}]},"details":[{"retryDelay":"1s"}]}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := ReadFault(b)
		if strings.ContainsAny(got.Message, "\n\x1b\x00") || len([]rune(got.Message)) > 501 {
			t.Fatalf("%q", got.Message)
		}
	})
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abcdefghijklmnop. See": "Incorrect API key provided: [key] See",
		"key mysecret1 is bad":                   "key [key] is bad",
		"AIzaSyA1234567890abcdef x":              "[key] x",
		"Authorization: Bearer abcdefghijklmnop": "Authorization: [key]",
		"a keyword is not a key":                 "a keyword is not a key",
	} {
		if got := Redact(in, "mysecret1"); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func prepared(msgs []llm.Message, r Rules) []llm.Message { return prepare(msgs, 0, nil, r).out }

func TestPrepareDoesNotTouchWhatItGets(t *testing.T) {
	msgs := []llm.Message{
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "a", Name: "x", Opaque: json.RawMessage(`1`), From: "else"}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "a", Text: "r"}}},
	}
	before, _ := json.Marshal(msgs)
	prepared(msgs, Rules{ID: func(s string) string { return "new_" + s }})
	if after, _ := json.Marshal(msgs); string(after) != string(before) {
		t.Errorf("%s", after)
	}
}

// A reused id belongs to the newest message that used it.
func TestPrepareReusedIDs(t *testing.T) {
	use := func(in string) llm.ToolUse { return llm.ToolUse{ID: "call_0", Name: "x", Input: json.RawMessage(in)} }
	out := prepared([]llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "q"}}},
		{Role: llm.Assistant, Parts: []llm.Part{use(`1`)}},
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "stop"}}},
		{Role: llm.Assistant, Parts: []llm.Part{use(`2`), use(`3`)}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_0", Text: "two"}, llm.ToolResult{ID: "call_0", Text: "three"}}},
	}, Rules{})
	var got []string
	for _, m := range out {
		for _, p := range m.Parts {
			if r, ok := p.(llm.ToolResult); ok {
				got = append(got, r.ID+" "+r.Text)
			}
		}
	}
	want := []string{"call_0 " + interrupted, "call_0_2 two", "call_0_3 three"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
