package title

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

type model struct {
	answer string
	err    error
	asked  string
}

func (m *model) Complete(_ context.Context, system string, msgs []llm.Message) (string, event.Spent, error) {
	m.asked = system + "\n" + msgs[0].Parts[0].(llm.Text).S
	return m.answer, event.Spent{For: "ruling", Model: "p/m", Usage: llm.Usage{In: 7}}, m.err
}

func TestTitles(t *testing.T) {
	for answer, want := range map[string]string{
		"Fix the parser":              "Fix the parser",
		"\"Fix the parser.\"\n":       "Fix the parser",
		"**Title:** Fix the parser":   "Fix the parser",
		"# Title: Fix  the\tparser":   "Fix the parser",
		"\n\nFix it\nIt was broken.":  "Fix it",
		"<think>\nhm\n</think>\nFix":  "Fix",
		"```\nFix it\n```":            "Fix it",
		"\x1b[31mFix\x1b[0m \u202eit": "Fix it",
		"索引を直す。":                      "索引を直す",
		"...":                         "",
		"":                            "",
	} {
		got, spent, err := Make(t.Context(), &model{answer: answer}, "p", "r")
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q gives %q, %v; want %q", answer, got, err, want)
		}
		if spent.For != event.ForTitle || spent.Usage.In != 7 {
			t.Errorf("spent %+v", spent)
		}
	}
	got, _, _ := Make(t.Context(), &model{answer: strings.Repeat("long ", 1<<16)}, "p", "r")
	if n := utf8.RuneCountInString(got); n > maxChars || n < 20 {
		t.Errorf("a title of %d characters", n)
	}
}

func TestBounds(t *testing.T) {
	m := &model{err: errors.New("no")}
	if _, spent, err := Make(t.Context(), m, strings.Repeat("p", 1<<20), strings.Repeat("r", 1<<20)); err == nil || spent.For != event.ForTitle {
		t.Errorf("%+v, %v", spent, err)
	}
	if n := len(m.asked); n > maxPrompt+maxReply+3000 {
		t.Errorf("the model is shown %d bytes", n)
	}
}
