package hook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/hook"
)

// What of an answer means nothing at its event is said.
func TestUnheard(t *testing.T) {
	for _, c := range []struct{ event, out, want string }{
		{"PreToolUse", `{"continue":false,"decision":"block","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r","updatedInput":{},"additionalContext":"c"}}`, ""},
		{"SessionStart", `{"continue":false}`, `"continue": false, and there is no turn that it could end then`},
		{"SessionStart", `{"hookSpecificOutput":{"additionalContext":"c","sessionTitle":"t","initialUserMessage":"u","watchPaths":["/x"],"reloadSkills":true}}`, ""},
		{"Notification", `{"decision":"block","reason":"r"}`, `the decision "block", and hooks of that event can block nothing`},
		{"SessionEnd", `{"hookSpecificOutput":{"additionalContext":"c"}}`, "additionalContext, and no model reads it then"},
		{"Stop", `{"hookSpecificOutput":{"updatedInput":{}}}`, "updatedInput, which is for hooks of PreToolUse"},
		{"PreToolUse", `{"hookSpecificOutput":{"updatedToolOutput":"x"}}`, "updatedToolOutput, which is for hooks of PostToolUse, PostToolUseFailure"},
		{"PreToolUse", `{"hookSpecificOutput":{"permisionDecision":"deny"}}`, `the field "permisionDecision", which there is not (did you mean permissionDecision`},
		{"PostToolUse", `{"hookSpecificOutput":{"classifierContext":"fine"}}`, "classifierContext, and adze's classifier goes by what people wrote alone"},
		{"UserPromptSubmit", `{"hookSpecificOutput":{"suppressOriginalPrompt":true}}`, "suppressOriginalPrompt, which means something only beside"},
		{"UserPromptSubmit", `{"decision":"block","hookSpecificOutput":{"suppressOriginalPrompt":true}}`, ""},
		{"Elicitation", `{"hookSpecificOutput":{"action":"accept","content":{}}}`, ""},
		{"Stop", `{"terminalSequence":"\u001b[2J"}`, "a terminalSequence that is not allowed"},
	} {
		h := parse(t, c.event, `{"hooks":[{"type":"command","command":"x"}]}`).All()[0]
		a := h.Read(out(c.out))
		got := strings.Join(a.Unheard, "\n")
		if len(a.Failed) > 0 || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s of %s: %q, failed %q; want %q", c.out, c.event, got, a.Failed, c.want)
		}
	}
}

// A terminal does nothing for a hook but ring, and name itself.
func TestTerminalSequence(t *testing.T) {
	for _, c := range []struct {
		text string // as JSON
		ok   bool
	}{
		{`\u0007`, true}, {`\u001b]9;done\u0007`, true}, {`\u001b]2;a title\u001b\\\u0007`, true}, {`\u001b]777;notify;a;b\u001b\\`, true}, {`\u001b]99;i=1;a\u001b\\\u001b]0;t\u0007`, true},
		{`hello`, false}, {`\u001b[2J`, false}, {`\u001b]52;c;aGk=\u0007`, false}, {`\u001b]8;;http://x\u0007`, false}, {`\u001b]9;a`, false}, {`\u001b]9;a\u001b[2Jb\u0007`, false},
		{`\u001b]2;a\u009c\u0007`, false}, {`\u001b]2;a\nb\u0007`, false}, {`\u001bP1$r\u001b\\`, false}, {`\u001b]\u0007`, false},
	} {
		h := parse(t, "Notification", `{"hooks":[{"type":"command","command":"x"}]}`).All()[0]
		a := h.Read(out(`{"terminalSequence":"` + c.text + `"}`))
		if (a.Terminal != "") != c.ok || (len(a.Unheard) == 0) != c.ok {
			t.Errorf("%s: %q, %q", c.text, a.Terminal, a.Unheard)
		}
	}
}

// Hooks of an agent are asked about what it does, and about nothing else.
func TestMatchingOfAgents(t *testing.T) {
	own := parse(t, "PreToolUse", `{"hooks":[{"type":"command","command":"own"}]}`).All()[0]
	all := parse(t, "PreToolUse", `{"hooks":[{"type":"command","command":"all"}]}`).All()[0]
	own.Agent = "agent-1"
	set := hook.NewSet(own, all)
	for agent, want := range map[string][]string{"": {"all"}, "agent-1": {"own", "all"}, "agent-2": {"all"}} {
		var got []string
		for _, h := range set.Matching(hook.PreToolInput{Call: hook.Call{Tool: "Bash"}}, hook.Scene{Agent: agent}) {
			got = append(got, h.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("for %q: %q", agent, got)
		}
	}
}
