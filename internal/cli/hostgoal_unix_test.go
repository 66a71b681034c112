//go:build unix

package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// A goal that the model proposes is one when the person has agreed, and is pursued and
// checked as one that a person set.
func TestHost_AGoalThatIsProposed(t *testing.T) {
	for _, yes := range []bool{true, false} {
		t.Run(fmt.Sprint(yes), func(t *testing.T) {
			p := newPlace(t)
			judge := p.put("judge.txt", `? prompt matches "\"token\": \"([0-9a-f]+)\"(?s:.*)\"n\": ([0-9]+)"
> {"token":"${1}","verdict":"reached","proof":"${2}","reason":"It is so."}
`)
			h := p.host(`@ ToolSearch {"query": "select:ProposeGoal"}
---
@ ProposeGoal {"condition": "the tests pass"}
---
> Done.
---
> Done.
`, "--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions", "--settings", `{"small_model": "script/`+judge+`"}`)
			h.prompt("go")
			h.result()
			q := h.next(ask)
			if got := fmt.Sprint(dig(q, "request", "input", "condition")); got != "the tests pass" {
				t.Errorf("asked about %q", got)
			}
			if !yes {
				h.reply(q, map[string]any{"behavior": "deny", "message": "not now"})
				if got := h.result(); !strings.Contains(got, "not now") {
					t.Errorf("the model reads %q", got)
				}
				h.end()
				return
			}
			h.reply(q, map[string]any{"behavior": "allow", "updatedInput": map[string]any{"condition": "the tests pass"}})
			var told []string
			for {
				l := h.next("")
				told = append(told, fmt.Sprint(l["content"]))
				if l["type"] == "user" && !strings.Contains(fmt.Sprint(l), "The person agreed") {
					t.Errorf("the model reads %v", l)
				}
				if strings.Contains(told[len(told)-1], "The goal is reached: It is so.") {
					break
				}
			}
			if !strings.Contains(strings.Join(told, "\n"), "the goal of the session: the tests pass") {
				t.Errorf("told was %q", told)
			}
			h.over()
		})
	}
}
