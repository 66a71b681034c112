//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/transcript"
)

// A planting is a model that brings one fact into the conversation in each turn, in
// the way that kinds says.
type planting struct {
	kinds []string // of each turn
	turn  int
	step  int // of the turn
	sums  int
}

// fact is a word that stands nowhere else.
func fact(kind string, turn int) string { return fmt.Sprintf("%sfact%dx", kind, 1000+turn) }

func (p *planting) reply(_ int, body []byte) llmtest.Reply {
	if bytes.Contains(body, []byte("under these nine headings")) {
		p.sums++
		return llmtest.Say("the work went on")
	}
	p.step++
	i := p.turn
	word, filler := fact(p.kinds[i], i), strings.Repeat("and more of the same, ", 100)
	if p.step > 1 {
		p.turn, p.step = i+1, 0
		return llmtest.Say("so it is. " + filler)
	}
	use := llm.ToolUse{ID: fmt.Sprint("toolu_", i), Name: "Bash"}
	in := map[string]any{}
	switch p.kinds[i] {
	case "said":
		p.turn, p.step = i+1, 0
		return llmtest.Say(word + " is what I found. " + filler)
	case "ran":
		in["command"] = "echo " + word + " >/dev/null; seq 1 200"
	case "result": // the command does not have the word
		in["command"] = fmt.Sprintf("printf '%%s%%s\\n' %s %s; seq 1 300", word[:7], word[7:])
	case "file":
		use.Name, in["file_path"], in["content"] = "Write", word+".txt", "x\n"
	case "todo":
		use.Name = "TodoWrite"
		in["todos"] = []any{
			map[string]any{"content": word, "status": "pending", "activeForm": "working"},
		}
	}
	use.Input, _ = json.Marshal(in)
	return llmtest.Reply{Stop: llm.WantTools, ID: "m", Parts: []llmtest.Part{{Part: llm.Text{S: "I do it."}}, {Part: use}}}
}

// Facts are planted in 150 turns, as prompts, replies, commands, results, todo
// items and changed files. After at least five compactions each of those that are
// pinned stands in the window word for word: what people said, what is open on the
// todo list, the files that changed. Every other one is found: by the search over
// sessions, or, of a result, in the record that the window names.
func TestFactsOutliveCompactions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		if seed > 0 && !slowtest.Due(fmt.Sprint("facts ", seed)) {
			continue
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			const turns = 150
			r := rand.New(rand.NewPCG(seed, 7))
			p := &planting{}
			files := 0
			for range turns {
				kind := []string{"said", "said", "ran", "result", "result", "todo", "file"}[r.IntN(7)]
				if kind == "file" {
					if files++; files > 12 { // of more, the window has room for some
						kind = "said"
					}
				}
				p.kinds = append(p.kinds, kind)
			}
			s := &llmtest.Strict{Wire: wires["local/any"], Window: 32_000, Every: 20, Play: p.reply}
			srv := httptest.NewServer(s)
			defer srv.Close()
			pl := newPlace(t)
			settings := fmt.Sprintf(`{"sandbox":{"enabled":false},"providers":{"local":{"base_url":%q,"wire":"compat"}},"models":{"local/any":{"window":32000,"output":4000}}}`, srv.URL)
			k := pl.talk("--model", "local/any", "--settings", settings, "--dangerously-skip-permissions")
			for i := range turns {
				k.prompt("turn " + fact("prompt", i))
			}
			_ = k.in.Close()
			if err := k.wait(); err != nil || p.turn != turns || len(s.Refused()) > 0 || s.TooLong() > 0 {
				t.Fatalf("%v after %d turns, refused %q, %d too long\n%s", err, p.turn, s.Refused(), s.TooLong(), k.errs)
			}
			if p.sums < 5 {
				t.Fatalf("%d compactions", p.sums)
			}
			st, _ := pl.history()
			window := spoken(st)
			records := ""
			for _, path := range st.Records {
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(window, path) {
					t.Errorf("the window does not name %s", path)
				}
				records += string(raw)
			}
			open := ""
			for i, kind := range p.kinds {
				if kind == "todo" {
					open = fact(kind, i)
				}
			}
			state := filepath.Join(pl.home, ".adze")
			index := fulltext.In(state, nil)
			if err := index.Update(t.Context(), sessions.In(state), nil); err != nil {
				t.Fatal(err)
			}
			for i, kind := range p.kinds {
				word := fact(kind, i)
				in := strings.Contains(window, word)
				if prompt := fact("prompt", i); !strings.Contains(window, prompt) {
					t.Errorf("what was said in turn %d is not in the window", i)
				}
				hits, err := index.Search(t.Context(), fulltext.Query{Words: word})
				if err != nil {
					t.Fatal(err)
				}
				found, pinned := len(hits) == 1, kind == "file" || word == open
				switch kind {
				case "result":
					found = in || strings.Contains(records, word)
				case "todo": // what a list had is in its call
					found = in || strings.Contains(records, word)
				}
				if pinned && !in || !found {
					t.Errorf("%s: in the window %t, which it has to be %t; found %t", word, in, pinned, found)
				}
			}
		})
	}
}

// spoken are all texts of a conversation.
func spoken(st transcript.State) string {
	var b strings.Builder
	for _, m := range st.Messages() {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				b.WriteString(p.S + "\n")
			case llm.ToolResult:
				b.WriteString(p.Text + "\n")
			case llm.ToolUse:
				b.Write(p.Input)
			case llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	return b.String()
}
