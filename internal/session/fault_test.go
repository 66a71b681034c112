package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// Fault 50: a call whose input was cut at any byte never runs, and the model
// is told.
func TestFault50_CutInputNeverRuns(t *testing.T) {
	whole := `{"s": "été \"🙂\"", "wait": 10, "deaf": false}`
	for n := range len(whole) {
		bubble(fmt.Sprint(n), t, func(t *testing.T) {
			input, bad := wire.Input(whole[:n])
			if n == 0 {
				// A call without any input is one with no arguments (many
				// tools have none), and not one that was cut.
				return
			}
			if bad == "" {
				t.Fatalf("%q passed as %s", whole[:n], input)
			}
			r := start(t, nil, nil, fake.Use(llm.ToolUse{ID: "c1", Name: "act", Input: input, Bad: bad}), fake.Say("ok"))
			r.prompt("go")
			es := r.turns(1, nil)
			if ran := r.bench.started.Load(); ran != 0 || len(all[event.ToolStarted](es)) != 0 {
				t.Errorf("%q ran", whole[:n])
			}
			if txt := result(es, "c1"); !strings.Contains(txt, "not valid JSON") {
				t.Errorf("%q: the model is told %q", whole[:n], txt)
			}
			r.last(es, agent.Completed)
			told := r.model.Requests()[1].Messages
			if res := told[len(told)-1].Parts[0].(llm.ToolResult); !res.IsErr {
				t.Errorf("%q: no error: %+v", whole[:n], res)
			}
			r.Close()
		})
	}
}

// Fault 50, on the wire: the connection breaks inside a call, after every
// word of it. The call of the broken reply does not run; that of the next
// reply does, once.
func TestFault50_CutStreamNeverRuns(t *testing.T) {
	const line = `@ act {"s": "one two three four", "wait": 0}`
	for n := range 4 {
		bubble(fmt.Sprint(n), t, func(t *testing.T) {
			sc, err := script.Parse(fmt.Sprintf("%s\n!disconnect after=%d\n---\n%s\n---\n> ok\n", line, n, line))
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, nil, func(c *session.Config) { c.Target.Model = script.New(sc, script.Config{}) })
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, agent.Completed)
			if ran := r.bench.started.Load(); ran != 1 {
				t.Errorf("it ran %d times; %v", ran, kinds(es))
			}
			r.Close()
		})
	}
}

// Fault 53: the provider says that the prompt is too long. What is old is
// cleared from the window and the request sent again; when that does not
// help, the turn ends with a clear error, and the session is not bricked: the
// next prompt reaches the model.
func TestFault53_PromptTooLong(t *testing.T) {
	tooLong := fake.Fail(llm.Error{Kind: llm.TooLong, Provider: "fake", Status: 400, Err: errors.New("prompt is too long: 250000 tokens > 200000 maximum")})
	// Results of Read can be cleared, all but the newest five.
	reads := func() (replies []fake.Reply) {
		for i := range 8 {
			replies = append(replies, fake.Use(call(fmt.Sprint("c", i), "Read", strings.Repeat("x", 40_000), 0)))
		}
		return replies
	}
	withRead := func(c *session.Config) {
		b := &bench{}
		set, err := tool.NewSet(b.tool("Read", true, false, policy.None{}))
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = set
	}
	bubble("cleared and sent again", t, func(t *testing.T) {
		r := start(t, nil, withRead, append(reads(), tooLong, fake.Say("ok"))...)
		r.prompt("go")
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		if cleared := all[event.Cleared](es); len(cleared) != 1 || len(cleared[0].Calls) != 3 {
			t.Errorf("cleared %+v", cleared)
		}
		req := r.model.Requests()
		if before, after := size(req[8]), size(req[9]); after > before-100_000 {
			t.Errorf("the request had %d bytes, then %d", before, after)
		}
		r.Close()
	})
	bubble("for good", t, func(t *testing.T) {
		r := start(t, nil, withRead, append(reads(), slices.Repeat([]fake.Reply{tooLong}, 30)...)...)
		r.prompt("go")
		es := r.turns(1, nil)
		end := r.last(es, agent.PromptTooLong)
		if end.How != event.Failed || end.Kind != "prompt_too_long" || !strings.Contains(end.Err, "window") && !strings.Contains(end.Err, "too long") || end.Hint == "" {
			t.Errorf("ended %+v", end)
		}
		r.model.Replies = append(r.model.Replies[:len(r.model.Requests())], fake.Say("on we go"))
		r.prompt("and now?")
		r.last(r.turns(2, nil), agent.Completed)
		r.Close()
	})
}

func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += len(p.S)
			case llm.ToolUse:
				n += len(p.Input)
			case llm.ToolResult:
				n += len(p.Text)
			case llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	return n
}

// Fault 32: whatever a tool returns, wherever it is cut, and whatever half a
// character the model writes: what is stored and sent is UTF-8.
func TestFault32_OnlyCharactersAreSent(t *testing.T) {
	emoji := strings.Repeat("🙂", 60_000)
	for name, text := range map[string]string{
		"an emoji at every cut": emoji, "shifted by one": "a" + emoji, "by two": "ab" + emoji, "by three": "abc" + emoji,
		"half a character": "x\xf0\x9f\x99", "a surrogate in UTF-8": "\xed\xa0\xbd\xed\xb9\x82", "no UTF-8 at all": "\xff\xfe\x80",
	} {
		bubble(name, t, func(t *testing.T) {
			echo := tool.New(tool.Spec{Name: "echo"},
				func(in, tool.Env) (tool.Plan, error) {
					return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
				},
				func(context.Context, in, tool.Env) (tool.Result, error) { return tool.Result{Text: text}, nil })
			set, err := tool.NewSet(echo)
			if err != nil {
				t.Fatal(err)
			}
			// The model writes a lone surrogate, which Go's reader of JSON
			// turns into U+FFFD.
			use := llm.ToolUse{ID: "c1", Name: "echo", Input: json.RawMessage(`{"s":"a\ud83d"}`)}
			r := start(t, nil, func(c *session.Config) { c.Tools = set }, fake.Use(use), fake.Say("ok"))
			r.prompt("go")
			es := r.turns(1, nil)
			r.last(es, agent.Completed)
			for _, m := range r.model.Requests()[1].Messages {
				for _, p := range m.Parts {
					res, ok := p.(llm.ToolResult)
					if !ok {
						continue
					}
					if utf8.ValidString(text) && !utf8.ValidString(res.Text) {
						t.Errorf("a character was cut: %.100q…%.100q", res.Text, res.Text[max(0, len(res.Text)-100):])
					}
					// What is sent is the same before and after a resume.
					var now, later wire.JSON
					now.Str(res.Text)
					raw, err := json.Marshal(res.Text) // as the log has it
					var kept string
					if err := errors.Join(err, json.Unmarshal(raw, &kept)); err != nil {
						t.Fatal(err)
					}
					later.Str(kept)
					if sent := now.Bytes(); !json.Valid(sent) || !utf8.Valid(sent) || string(sent) != string(later.Bytes()) {
						t.Errorf("sent %.100q, and after a resume %.100q", sent, later.Bytes())
					}
				}
			}
			r.Close()
		})
	}
}
