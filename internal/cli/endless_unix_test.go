//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A provider whose reply has no end is given up before it fills the memory,
// whatever it is that does not end.
func TestEndlessReplies(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector needs a multiple of the memory")
	}
	const most = 150 << 20 // bytes resident
	words := strings.Repeat("words ", 150)
	messages := []string{`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`}
	block := func(kind, delta string) (begin []string, again string) {
		return append(messages[:1:1], `{"type":"content_block_start","index":0,"content_block":`+kind+`}`), `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
	}
	text, textMore := block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"`+words+`"}`)
	_, letter := block("", `{"type":"text_delta","text":"a"}`)
	think, thinkMore := block(`{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":"`+words+`"}`)
	sign, signMore := block(`{"type":"thinking","thinking":""}`, `{"type":"signature_delta","signature":"`+strings.Repeat("QUJD", 250)+`"}`)
	call, callMore := block(`{"type":"tool_use","id":"c","name":"Write","input":{}}`, `{"type":"input_json_delta","partial_json":"`+words+`"}`)
	const long = "LONG" // stands for 63 MB
	piece := []byte(strings.Repeat("x", 1<<20))
	for name, c := range map[string]struct {
		path  string // of the wire
		begin []string
		again string
		args  []string
	}{
		"text":        {"/v1/messages", text, textMore, nil},
		"text, drawn": {"/v1/messages", text, textMore, []string{"--output-format", "stream-json", "--include-partial-messages", "--verbose"}},
		"letters":     {"/v1/messages", text, letter, nil},
		"thinking":    {"/v1/messages", think, thinkMore, nil},
		"signature":   {"/v1/messages", sign, signMore, nil},
		"input":       {"/v1/messages", call, callMore, nil},
		"blocks":      {"/v1/messages", messages, `{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":"a"}}`, nil},
		"pings":       {"/v1/messages", messages, `{"type":"ping"}`, nil},
		"one event":   {"/v1/messages", text, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + long + `"}}`, nil},
		"one block":   {"/v1/messages", messages, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"` + long + `"}}`, nil},
		"chat":        {"/chat/completions", nil, `{"choices":[{"delta":{"content":"` + words + `"}}]}`, nil},
		"chat calls":  {"/chat/completions", nil, `{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%[1]d","function":{"name":"Read","arguments":"{}"}}]}}]}`, nil},
		"responses":   {"/responses", []string{`{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}`}, `{"type":"response.output_text.delta","output_index":0,"delta":"` + words + `"}`, nil},
		"gemini":      {":streamGenerateContent", nil, `{"candidates":[{"content":{"parts":[{"text":"` + words + `"}]}}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, c.path) {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for _, e := range c.begin {
					fmt.Fprintf(w, "data: %s\n\n", e)
				}
				for i := 0; ; i++ {
					e := "data: " + c.again + "\n\n"
					if strings.Contains(e, "%") {
						e = fmt.Sprintf(e, i)
					}
					before, after, huge := strings.Cut(e, long)
					_, err := io.WriteString(w, before)
					for n := 0; huge && n < 63 && err == nil; n++ {
						_, err = w.Write(piece)
					}
					if err == nil {
						_, err = io.WriteString(w, after)
					}
					if err != nil {
						return
					}
				}
			}))
			defer server.Close()
			p := newPlace(t)
			model := map[string]string{"/v1/messages": "anthropic/m", "/chat/completions": "local/m", "/responses": "openai/m", ":streamGenerateContent": "gemini/gemini-2.5-pro"}[c.path]
			p.put(".settings.json", `{"providers": {"local": {"base_url": "`+server.URL+`", "wire": "compat"}}}`)
			cmd := p.adze(append([]string{"-p", "go", "--model", model, "--settings", ".settings.json"}, c.args...)...)
			cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY=k-0123456789", "OPENAI_API_KEY=k-0123456789", "GEMINI_API_KEY=k-0123456789",
				"ANTHROPIC_BASE_URL="+server.URL, "OPENAI_BASE_URL="+server.URL, "GOOGLE_GEMINI_BASE_URL="+server.URL)
			var words bytes.Buffer
			cmd.Stderr = &words
			err := cmd.Run()
			rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
			if runtime.GOOS == "linux" {
				rss *= 1024
			}
			t.Logf("%d MB", rss>>20)
			if codeOf(err) != 1 || !strings.Contains(words.String(), "larger than") && !strings.Contains(words.String(), "longer than") {
				t.Errorf("%v: %s", err, words.String())
			}
			// Linux counts for a process what it was started from was, until it is larger.
			var own syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
				t.Fatal(err)
			}
			if rss > max(most, own.Maxrss<<10) {
				t.Errorf("%d MB resident", rss>>20)
			}
		})
	}
}
