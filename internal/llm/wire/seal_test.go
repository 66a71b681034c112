package wire

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

func TestRefusesSeals(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
		want   bool
	}{
		{400, "messages.1.content.0: Invalid `signature` in `thinking` block", true},
		{400, "messages.3.content.0: Invalid `data` in `redacted_thinking` block", true},
		{400, "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", true},
		{400, "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.", true},
		{400, "The encrypted content for item rs_0a1 could not be verified. Reason: organization_id did not match the target organization.", true},
		{400, "Item 'rs_0a1' of type 'reasoning' was provided without its required following item.", true},
		{404, "Item with id 'rs_0a1' not found.", true},
		{400, "Corrupted thought signature.", true},
		{500, "BadRequestError: Thought signature is not valid", true},
		{400, `Invalid JSON payload received. Unknown name "thoughtSignature": Cannot find field.`, false},
		{400, "Function call is missing a thought_signature in functionCall parts.", false},
		{400, "include: unsupported value 'reasoning.encrypted_content'", false},
		{400, "Expected `thinking` or `redacted_thinking`, but found `tool_use`.", false},
		{400, "messages.1.content.0.thinking.signature: Field required", false},
		{400, "thinking.type: adaptive thinking is not supported on this model", false},
		{400, "The reasoning_content in the thinking mode must be passed back to the API.", false},
		{403, "The request signature we calculated does not match the signature you provided.", false},
	} {
		err := &llm.Error{Kind: classify(c.status, Fault{Message: c.text}), Status: c.status, Err: errors.New(c.text)}
		if got := refusal(err).refusesSeals(); got != c.want {
			t.Errorf("%d %s: %v", c.status, c.text, got)
		}
	}
}

type shelf map[string][]string

func (s shelf) Load() map[string][]string       { return s }
func (s shelf) Save(key string, names []string) { s[key] = names }

// A server of an account that changes often refuses again and again. What is kept of it stays short, is
// read by later processes, and a server that gets no seals is not asked twice.
func TestSealsAreKept(t *testing.T) {
	server, kept := Server{Base: "http://x", Reader: "p/m"}, shelf{}
	var msgs []llm.Message
	asked := 0
	ask := func(send bool) (last error) {
		m := &Memory{}
		m.Use(kept)
		newest := ""
		for _, err := range m.Learning(server, llm.Request{Model: "m", Messages: msgs}, func(r llm.Request, _ []string) (Body, iter.Seq2[llm.Chunk, error]) {
			body := []byte("body")
			for _, m := range r.Messages {
				if th := m.Parts[0].(llm.Thinking); send {
					body = append(body, th.Opaque...)
				}
			}
			return Body{[][]byte{body}}, func(yield func(llm.Chunk, error) bool) {
				asked++
				if newest = string(body); strings.Contains(newest, "old") || !send {
					yield(nil, &llm.Error{Kind: llm.BadRequest, Status: 400, Err: errors.New("invalid signature")})
					return
				}
				yield(llm.TextDelta{S: "hi"}, nil)
			}
		}) {
			last = err
		}
		return last
	}
	for i := range maxSeals + 3 {
		msgs = append(msgs, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{Opaque: []byte(`"old` + string(rune('a'+i)) + `"`), From: "p/m"}}})
		for _, want := range []int{2, 1} {
			if asked = 0; ask(true) != nil || asked != want {
				t.Fatalf("%d: %d requests, not %d", i, asked, want)
			}
		}
	}
	if names := kept[keyOf("http://x", "m")]; len(names) != maxSeals {
		t.Errorf("kept %q", names)
	}
	kept = shelf{}
	if asked = 0; ask(false) == nil || asked != 1 {
		t.Errorf("%d requests of a wire that sends no seals", asked)
	}
}
