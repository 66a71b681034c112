//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
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
