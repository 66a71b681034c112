//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A pipeHost drives adze as a program does: prompts and answers go in, lines
// come out.
type pipeHost struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	errs heard
	wait func() error
}

// host starts adze with a script as its model. Commands run outside of the
// sandbox, where they are asked about.
func (p *place) host(model string, flags ...string) *pipeHost {
	p.t.Helper()
	c := p.adze(append([]string{
		"-p", "--model", "script/" + p.put("model.txt", model), "--input-format", "stream-json", "--output-format", "stream-json",
		"--permission-prompt-tool", "stdio", "--sandbox", "off",
	}, flags...)...)
	h := &pipeHost{t: p.t, wait: c.Wait}
	in, err := c.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	c.Stderr = &h.errs
	h.in, h.out = in, bufio.NewScanner(out)
	h.out.Buffer(nil, 1<<20)
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Process.Kill() })
	return h
}

func (h *pipeHost) send(line any) {
	h.t.Helper()
	raw, err := json.Marshal(line)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.in.Write(append(raw, '\n')); err != nil {
		h.t.Fatalf("%v; stderr: %s", err, h.errs.String())
	}
}

func (h *pipeHost) prompt(text string) {
	h.send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func (h *pipeHost) reply(question map[string]any, response any) {
	h.send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": question["request_id"], "response": response,
	}})
}

// next reads up to a line of a type (and subtype, after a slash); one that ends in
// "_" is the beginning of a type, and "" is any.
func (h *pipeHost) next(want string) map[string]any {
	h.t.Helper()
	var seen []string
	for h.out.Scan() {
		var l map[string]any
		if err := json.Unmarshal(h.out.Bytes(), &l); err != nil {
			h.t.Fatalf("%q: %v", h.out.Text(), err)
		}
		kind := fmt.Sprint(l["type"])
		if s, ok := l["subtype"].(string); ok {
			kind += "/" + s
		}
		if r, ok := l["request"].(map[string]any); ok {
			kind += "/" + fmt.Sprint(r["subtype"])
		}
		if kind == want || strings.HasPrefix(kind, want+"/") || want == "" || strings.HasSuffix(want, "_") && strings.HasPrefix(kind, want) {
			return l
		}
		seen = append(seen, h.out.Text())
	}
	h.t.Fatalf("no %s in:\n%s\nstderr: %s", want, strings.Join(seen, "\n"), h.errs.String())
	return nil
}

// result reads up to the text of the next tool result.
func (h *pipeHost) result() string {
	h.t.Helper()
	l := h.next("user")
	block := dig(l, "message", "content").([]any)[0].(map[string]any)
	return fmt.Sprint(block["content"])
}

func (h *pipeHost) end() {
	h.t.Helper()
	h.next("result")
	if err := h.in.Close(); err != nil {
		h.t.Error(err)
	}
	for h.out.Scan() {
	}
	if err := h.wait(); err != nil {
		h.t.Errorf("%v: %s", err, h.errs.String())
	}
}

func dig(v any, path ...string) any {
	for _, k := range path {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

const ask = "control_request/can_use_tool"

var allow = map[string]any{"behavior": "allow"}

func command(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		raw, _ := json.Marshal(map[string]string{"command": l})
		fmt.Fprintf(&b, "@ Bash %s\n---\n", raw)
	}
	return b.String() + "> over\n"
}

func TestHost_AQuestionSaysWhatADialogNeeds(t *testing.T) {
	p := newPlace(t)
	if err := os.Symlink("real.txt", filepath.Join(p.dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	h := p.host(command("ls && touch link.txt"))
	h.prompt("go")
	q := h.next(ask)
	r := dig(q, "request")
	for _, want := range []struct{ key, value string }{
		{"tool_name", "Bash"}, {"display_name", "Bash"}, {"blocked_path", filepath.Join(p.dir, "real.txt")},
	} {
		if got := dig(r, want.key); got != want.value {
			t.Errorf("%s is %v, want %s", want.key, got, want.value)
		}
	}
	if got := dig(r, "input", "command"); got != "ls && touch link.txt" {
		t.Errorf("the command is %v", got)
	}
	if why := fmt.Sprint(dig(r, "decision_reason")); !strings.Contains(why, "link.txt") {
		t.Errorf("the reason is %q", why)
	}
	raw, _ := json.Marshal(dig(r, "permission_suggestions"))
	if want := `[{"behavior":"allow","destination":"localSettings","rules":[{"ruleContent":"touch link.txt","toolName":"Bash"}],"type":"addRules"}]`; string(raw) != want {
		t.Errorf("suggestions %s, want %s", raw, want)
	}
	var parts []string
	for _, x := range dig(r, "verdict", "parts").([]any) {
		parts = append(parts, fmt.Sprintf("%v %v %v", dig(x, "kind"), dig(x, "text"), dig(x, "effect")))
	}
	for _, want := range []string{"command ls allow", "command touch link.txt allow", "write link.txt ask"} {
		if !slices.Contains(parts, want) {
			t.Errorf("the parts %q lack %q", parts, want)
		}
	}
	h.reply(q, allow)
	h.result()
	if _, err := os.Stat(filepath.Join(p.dir, "real.txt")); err != nil {
		t.Errorf("what was allowed did not run: %v", err)
	}
	h.end()
}

func TestHost_Answers(t *testing.T) {
	made := func(p *place) bool {
		_, err := os.Stat(filepath.Join(p.dir, "made"))
		return err == nil
	}
	tests := []struct {
		name     string
		response any
		ran      bool
		text     string // in the result
	}{
		{"allow", allow, true, ""},
		{"the same arguments", map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "touch made"}}, true, ""},
		{"deny", map[string]any{"behavior": "deny", "message": "use the other folder"}, false, "use the other folder"},
		{"nonsense", "yes please", false, "counts as a no"},
		{"unknown", map[string]any{"behavior": "maybe"}, false, `"maybe"`},
		{"rewritten", map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "echo 'other words'"}}, false, "other words"},
		{"rewritten into what is denied", map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "chmod 600 x; touch made"}}, false, "Bash(chmod:*)"},
		{"rewritten into nonsense", map[string]any{"behavior": "allow", "updatedInput": map[string]any{"cmd": 7}}, false, "cmd"},
		{"a rule that is none", map[string]any{"behavior": "allow", "updatedPermissions": []any{
			map[string]any{"type": "addRules", "behavior": "allow", "destination": "session", "rules": []any{map[string]any{"toolName": "Bash", "ruleContent": "("}}},
		}}, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			h := p.host(command("touch made"), "--disallowed-tools", "Bash(chmod:*)")
			h.prompt("go")
			h.reply(h.next(ask), tt.response)
			text := h.result()
			if made(p) != tt.ran {
				t.Errorf("ran: %v, want %v; the result: %s", made(p), tt.ran, text)
			}
			if !strings.Contains(text, tt.text) {
				t.Errorf("the result %q lacks %q", text, tt.text)
			}
			h.end()
		})
	}
}

func TestHost_RulesHoldAsLongAsTheAnswerSays(t *testing.T) {
	for _, tt := range []struct{ destination, file string }{
		{"session", ""}, {"localSettings", ".adze/settings.local.json"}, {"projectSettings", ".adze/settings.json"},
	} {
		t.Run(tt.destination, func(t *testing.T) {
			p := newPlace(t)
			h := p.host(command("touch a", "touch b", "mkdir c"))
			h.prompt("go")
			h.reply(h.next(ask), map[string]any{"behavior": "allow", "updatedPermissions": []any{map[string]any{
				"type": "addRules", "behavior": "allow", "destination": tt.destination,
				"rules": []any{map[string]any{"toolName": "Bash", "ruleContent": "touch:*"}},
			}}})
			q := h.next(ask) // touch b is not asked about any more
			if got := dig(q, "request", "input", "command"); got != "mkdir c" {
				t.Errorf("asked about %v", got)
			}
			h.reply(q, allow)
			h.end()
			if tt.file == "" {
				return
			}
			b, err := os.ReadFile(filepath.Join(p.dir, tt.file))
			if err != nil || !strings.Contains(string(b), `"Bash(touch:*)"`) {
				t.Errorf("%s: %q, %v", tt.file, b, err)
			}
		})
	}
}

func TestHost_QuestionsAndPlans(t *testing.T) {
	p := newPlace(t)
	h := p.host(`@ AskUserQuestion {"questions":[{"question":"Which?","header":"Kind","options":[{"label":"red","description":"r"},{"label":"blue","description":"b"}]}]}
---
@ ExitPlanMode {"plan":"Make the file."}
---
@ Write {"file_path":"made","content":"x"}
---
> over
`, "--permission-mode", "plan")
	h.prompt("go")
	h.reply(h.next(ask), map[string]any{"behavior": "allow", "updatedInput": map[string]any{"answers": map[string]any{"Which?": "blue"}}})
	if got := h.result(); !strings.Contains(got, "→ blue") {
		t.Errorf("the answer came as %q", got)
	}
	h.reply(h.next(ask), map[string]any{"behavior": "allow", "updatedPermissions": []any{
		map[string]any{"type": "setMode", "mode": "acceptEdits", "destination": "session"},
	}})
	h.result()
	h.result() // of Write: not asked about
	h.end()
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err != nil {
		t.Error(err)
	}
}

func TestHost_AQuestionThatIsOver(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		p := newPlace(t)
		h := p.host(command("touch made"))
		h.prompt("go")
		q := h.next(ask)
		h.send(map[string]any{"type": "control_request", "request_id": "i", "request": map[string]any{"subtype": "interrupt"}})
		if l := h.next("control_cancel_request"); l["request_id"] != q["request_id"] {
			t.Errorf("withdrawn is %v, not %v", l["request_id"], q["request_id"])
		}
		h.reply(q, allow) // too late
		if l := h.next("system/informational"); !strings.Contains(fmt.Sprint(l["content"]), "no open request") {
			t.Errorf("a late answer brings %v", l)
		}
		if err := h.in.Close(); err != nil {
			t.Error(err)
		}
		for h.out.Scan() {
		}
		_ = h.wait() // an interrupted turn is no success
		if _, err := os.Stat(filepath.Join(p.dir, "made")); err == nil {
			t.Error("it ran")
		}
	})
	t.Run("the host is gone", func(t *testing.T) {
		p := newPlace(t)
		h := p.host(command("touch made", "touch again"))
		h.prompt("go")
		h.next(ask)
		if err := h.in.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if got := h.result(); !strings.Contains(got, "the input ended") {
				t.Errorf("the result is %q", got)
			}
		}
		for h.out.Scan() {
		}
		_ = h.wait()
	})
}

func TestHost_HooksThatItAnswers(t *testing.T) {
	t.Parallel()
	const callback = "control_request/hook_callback"
	begin := func(h *pipeHost, more map[string]any) {
		group := map[string]any{"matcher": "Bash", "hookCallbackIds": []string{"h"}}
		maps.Copy(group, more)
		h.send(map[string]any{"type": "control_request", "request_id": "i", "request": map[string]any{"subtype": "initialize", "hooks": map[string]any{"PreToolUse": []any{group}}}})
		h.prompt("go")
	}
	made := func(p *place, name string, want bool) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(p.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := newPlace(t)
	h := p.host(command("touch made", "touch last"), "--dangerously-skip-permissions")
	begin(h, nil)
	q := h.next(callback)
	if dig(q, "request", "callback_id") != "h" || dig(q, "request", "input", "tool_input", "command") != "touch made" {
		t.Errorf("asked %v", q)
	}
	h.reply(q, map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the host says no"}})
	if got := h.result(); !strings.Contains(got, "the host says no") {
		t.Errorf("the result is %q", got)
	}
	q = h.next(callback)
	h.send(map[string]any{"type": "control_response", "response": map[string]any{"subtype": "error", "request_id": q["request_id"], "error": "broken"}})
	if l := h.next("system/informational"); !strings.Contains(fmt.Sprint(l["content"]), "failed in the program that drives adze: broken") {
		t.Errorf("told %v", l["content"])
	}
	h.end()
	made(p, "made", false)
	made(p, "last", true)

	p = newPlace(t) // one that does not answer
	h = p.host(command("touch again"), "--dangerously-skip-permissions")
	begin(h, map[string]any{"timeout": 5}) // of seconds, within which the question must be on its way
	q = h.next(callback)
	if l := h.next("control_cancel_request"); l["request_id"] != q["request_id"] { // at once, and not with the next question
		t.Errorf("withdrawn is %v, not %v", l["request_id"], q["request_id"])
	}
	h.result()
	h.end()
	made(p, "again", true)
}

func TestHost_ANoIsReadAsItIs(t *testing.T) {
	h := newPlace(t).host(command("touch made"))
	h.prompt("go")
	h.reply(h.next(ask), map[string]any{"behavior": "deny", "message": "use the other folder"})
	if l := h.next("system/permission_denied"); dig(l, "message") != "use the other folder" || dig(l, "decision_reason") != "use the other folder" {
		t.Errorf("the refusal says %v", l)
	}
	if got := h.result(); got != "use the other folder" {
		t.Errorf("the model reads %q", got)
	}
	h.end()
}

func TestHost_AnInterruptIsNoFailure(t *testing.T) {
	h := newPlace(t).host("~50ms\n> " + strings.Repeat("word ", 400) + "\n---\n> after\n")
	h.prompt("go")
	h.next("system/init")
	h.send(map[string]any{"type": "control_request", "request_id": "1", "request": map[string]any{"subtype": "interrupt"}})
	if l := h.next("control_response"); dig(l, "response", "subtype") != "success" {
		t.Errorf("it was answered with %v", l)
	}
	h.end() // whose exit code is 0
}

func TestHost_WhatWaitsCanBeTakenBack(t *testing.T) {
	h := newPlace(t).host("@ Bash {\"command\": \"touch made\"}\n---\n> after\n")
	h.prompt("go")
	h.next(ask)
	h.send(map[string]any{"type": "user", "uuid": "waits", "message": map[string]any{"role": "user", "content": "more"}})
	h.send(map[string]any{"type": "control_request", "request_id": "1", "request": map[string]any{"subtype": "interrupt", "cancel_queued": true}})
	l := h.next("control_response")
	if got := fmt.Sprint(dig(l, "response", "response", "cancelled"), dig(l, "response", "response", "still_queued")); got != "[waits] []" {
		t.Errorf("taken back and still there: %s", got)
	}
	h.end()
}
