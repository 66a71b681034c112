package auto

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/op"
)

func TestForbidding(t *testing.T) {
	for text, want := range map[string]string{
		"Fix the bug. NEVER push anything! Thanks.":         "NEVER push anything!",
		"please\nDo not touch prod\nok":                     "Do not touch prod",
		"use only the staging host; it is fine":             "use only the staging host;",
		"don’t delete it without asking. go":                "don’t delete it without asking.",
		"Bitte niemals pushen. Danke.":                      "Bitte niemals pushen.",
		"请不要推送。谢谢":                                          "请不要推送。谢谢",
		"ordinary leaves of a tree, nonstop, an online one": "",
	} {
		if got := strings.Join(forbidding(text), "|"); got != want {
			t.Errorf("%.60q: %q", text, got)
		}
	}
	if got := forbidding(strings.Repeat("é ", 5000) + "never push " + strings.Repeat("é ", 5000)); len(got) != 1 || len(got[0]) > 2*maxSentence || !strings.Contains(got[0], "é never push é") {
		t.Errorf("%q", got)
	}
}

// Whatever a person forbids, and wherever it stands, the classifier reads it.
func TestWhatIsForbiddenStays(t *testing.T) {
	const limit = "NEVER PUSH ANYTHING"
	log := strings.Repeat("Log line of the build.\n", 20_000)
	many := func(n, bytes int, first string) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("prompt %d ", i)+strings.Repeat("words ", bytes/6))
		}
		out[0] = first + out[0]
		return out
	}
	noisy := strings.Repeat("warning: cannot find x\n", 20_000) // sentences of the same kind
	for name, texts := range map[string][]string{
		"in the middle of a long prompt":     {log + limit + "\n" + log},
		"in one line":                        {strings.ReplaceAll(log, "\n", " ") + limit + " " + strings.ReplaceAll(log, "\n", " ")},
		"at the end of the oldest":           many(60, 4000, strings.Repeat("a ", 3000)+limit+". "),
		"in the second of many":              append([]string{"hello", limit + ". " + strings.Repeat("a ", 3000)}, many(60, 4000, "")...),
		"before more prompts than are kept":  append([]string{"hello", limit}, many(3*maxSteps, 10, "")...),
		"before many long ones":              append([]string{"hello", limit}, many(3*maxSteps, 2000, "")...),
		"beside a log that says such things": {noisy + limit + "\n" + noisy},
	} {
		t.Run(name, func(t *testing.T) {
			h := said(History{}, texts...)
			raw, err := AppendHistory(nil, h)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParseHistory(raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []History{h, again} {
				steps, _ := h.render()
				all, _ := json.Marshal(steps)
				if !strings.Contains(string(all), limit) || len(all) > maxSaid+3*maxSentences {
					t.Errorf("%d bytes, %.300s", len(all), all)
				}
				if first := fmt.Sprint(steps); !strings.Contains(first, judge.Visible(texts[0][:5])) || !strings.Contains(first, texts[len(texts)-1][:9]) {
					t.Error("the first or the last is not there")
				}
			}
		})
	}
}

// What nobody typed is not a person's word, whatever it says; an event of an older
// version, which does not tell, is that of nobody.
func TestOnlyWhatWasTypedIsAPersons(t *testing.T) {
	for _, c := range []struct {
		e    event.InputAccepted
		want string
	}{
		{event.InputAccepted{Text: "fix it", Typed: op.All("fix it")}, `[{"person":"fix it"}]`},
		{event.InputAccepted{Text: "fix it\n\npush all", Typed: op.All("fix it")}, `[{"person":"fix it"},{"attached":"push all"}]`},
		{event.InputAccepted{Text: "push all\n\nfix it", Typed: op.All("fix it").Behind(10)}, `[{"person":"fix it"},{"attached":"push all"}]`},
		{event.InputAccepted{Text: "push\nfix\nsend", Typed: op.Span{From: 5, To: 8}}, `[{"person":"fix"},{"attached":"push\n\n\nsend"}]`},
		{event.InputAccepted{Text: "push all"}, `[{"attached":"push all"}]`},
		{event.InputAccepted{Text: "push all", Typed: op.Span{From: 3, To: 99}}, `[{"attached":"push all"}]`},
		{event.InputAccepted{Text: "push all", Typed: op.Span{From: -1, To: 4}}, `[{"attached":"push all"}]`},
		{event.InputAccepted{Text: "push all", Typed: op.All("push all"), Hidden: true}, `[]`},
		{event.InputAccepted{Text: strings.Repeat("x", 2*maxOneAttached)}, ""},
	} {
		steps, _ := History{}.Apply(event.Event{Body: c.e}).render()
		raw, _ := json.Marshal(steps)
		if c.want == "" && len(raw) < maxOneAttached+100 && strings.HasPrefix(string(raw), `[{"attached"`) {
			continue
		}
		if string(raw) != c.want {
			t.Errorf("%+v: %s", c.e, raw)
		}
	}
}

// A large file is judged whole.
func TestLargeCalls(t *testing.T) {
	k := bash("make")
	for _, n := range []int{60_000, 200_000} {
		k.Call.Input, _ = json.Marshal(map[string]string{"file_path": "a.txt", "content": strings.Repeat("x", n)})
		if text, err := k.document(); err != nil || strings.Count(text, "x") < n {
			t.Errorf("%d: %v", n, err)
		}
	}
}
