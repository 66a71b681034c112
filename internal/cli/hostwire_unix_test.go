//go:build unix

package cli_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// request sends a control request.
func (h *pipeHost) request(id string, body map[string]any) {
	h.t.Helper()
	h.send(map[string]any{"type": "control_request", "request_id": id, "request": body})
}

// answer reads up to the answer of a request, and returns its response, or its error.
func (h *pipeHost) answer(id string) (response any, err string) {
	h.t.Helper()
	for {
		r := h.next("control_response")["response"].(map[string]any)
		if r["request_id"] != id {
			continue
		}
		text, _ := r["error"].(string)
		return r["response"], text
	}
}

// folder makes a folder to work in.
func (p *place) folder(name string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, name), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// over ends the input and reads what still comes.
func (h *pipeHost) over() {
	h.t.Helper()
	if err := h.in.Close(); err != nil {
		h.t.Error(err)
	}
	for h.out.Scan() {
	}
	if err := h.wait(); err != nil {
		h.t.Errorf("%v: %s", err, h.errs.String())
	}
}

func TestHost_PromptsComeBackWhenTheirTurnTakesThem(t *testing.T) {
	p := newPlace(t)
	h := p.host(command("touch made"), "--replay-user-messages")
	const first, second = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	content := []any{map[string]any{"type": "text", "text": "go"}}
	h.send(map[string]any{"type": "user", "uuid": first, "message": map[string]any{"role": "user", "content": content}})
	h.next("system/init")
	l := h.next("user")
	if l["uuid"] != first || l["isReplay"] != true || fmt.Sprint(dig(l, "message", "content")) != fmt.Sprint(content) || l["timestamp"] == nil {
		t.Errorf("the prompt came back as %v", l)
	}
	h.next("assistant")
	h.reply(h.next(ask), map[string]any{"behavior": "deny", "message": "no"})
	h.next("user") // the result
	h.send(map[string]any{"type": "user", "uuid": second, "message": map[string]any{"role": "user", "content": "more"}})
	if l = h.next("user"); l["uuid"] != second || l["isReplay"] != true || dig(l, "message", "content") != "more" {
		t.Errorf("the second prompt came back as %v", l)
	}
	h.over()
}

func TestHost_EventsOfHooksThatThereAreNotAreALine(t *testing.T) {
	p := newPlace(t)
	h := p.host("> over\n")
	group := []any{map[string]any{"hookCallbackIds": []string{"h"}}}
	h.request("i", map[string]any{"subtype": "initialize", "hooks": map[string]any{"PreTool": group, "OfTomorrow": group, "PreSkillShellCommand": group}})
	if l := fmt.Sprint(h.next("system/informational")["content"]); !strings.Contains(l, "OfTomorrow, PreTool (did you mean PreToolUse?)") || strings.Contains(l, "PreSkill") {
		t.Errorf("what is told of the events: %s", l)
	}
	if _, err := h.answer("i"); err != "" {
		t.Errorf("initialize: %s", err)
	}
	h.prompt("go")
	h.end()
}

// A server that the host serves answers when the session is there, so a start that
// waited for it would wait in vain, however it is named.
func TestHost_ServersOfItsOwnAreNotWaitedFor(t *testing.T) {
	for _, flags := range [][]string{
		{"--mcp-config", `{"mcpServers":{"acp":{"type":"sdk","name":"acp"}}}`},
		{"--allowed-tools", "mcp__acp__hello"},
	} {
		p := newPlace(t)
		h := p.host("@ mcp__acp__hello {}\n---\n> over\n", flags...)
		h.request("i", map[string]any{"subtype": "initialize", "sdkMcpServers": []string{"acp"}})
		h.prompt("go")
		// The answer comes although nothing that is asked of the server was answered.
		var asked []map[string]any
		l := h.next("control_")
		for ; l["type"] != "control_response"; l = h.next("control_") {
			asked = append(asked, l)
		}
		h.serve(asked, map[string]any{
			"initialize": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "acp", "version": "1"}},
			"tools/list": map[string]any{"tools": []any{map[string]any{"name": "hello", "inputSchema": map[string]any{"type": "object"}}}},
			"tools/call": map[string]any{"content": []any{map[string]any{"type": "text", "text": "hello there"}}},
		})
		if s := h.errs.String(); strings.Contains(s, "goes on without") {
			t.Errorf("%v: %s", flags, s)
		}
	}
}

// serve answers a server's messages, and questions with yes, until the turn is over:
// first those that were read already.
func (h *pipeHost) serve(read []map[string]any, results map[string]any) {
	h.t.Helper()
	for {
		var l map[string]any
		if len(read) > 0 {
			l, read = read[0], read[1:]
		} else {
			l = h.next("")
		}
		switch {
		case l["type"] == "result":
			h.over()
			return
		case dig(l, "request", "subtype") == "can_use_tool":
			h.reply(l, allow)
		case dig(l, "request", "subtype") == "mcp_message":
			m := dig(l, "request", "message")
			answer := map[string]any{"jsonrpc": "2.0", "id": dig(m, "id")}
			if r, ok := results[fmt.Sprint(dig(m, "method"))]; ok {
				answer["result"] = r
			} else {
				answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
			}
			h.reply(l, map[string]any{"mcp_response": answer})
		}
	}
}

// The sandbox is no reason to pass by the screen on which a host shows what is about
// to run, unless somebody said that it is.
func TestHost_IsAskedAboutCommandsInTheSandbox(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no sandbox here")
	}
	p := newPlace(t)
	for _, tt := range []struct {
		settings string
		asked    bool
	}{{`{}`, true}, {`{"sandbox":{"autoAllowBashIfSandboxed":true}}`, false}, {`{"sandbox":{"autoAllowBashIfSandboxed":false}}`, true}} {
		h := p.host(command("ls", "echo 1 > made"), "--sandbox", "on", "--settings", tt.settings)
		h.prompt("go")
		asked := false
		for l := h.next(""); l["type"] != "result"; l = h.next("") {
			if dig(l, "request", "subtype") == "can_use_tool" {
				if got := dig(l, "request", "input", "command"); got != "echo 1 > made" {
					t.Errorf("%s: asked about %v", tt.settings, got)
				}
				asked = true
				h.reply(l, allow)
			}
		}
		h.over()
		if asked != tt.asked {
			t.Errorf("%s: asked %v, want %v", tt.settings, asked, tt.asked)
		}
	}
}

func TestHost_ResultsHaveTheirPublishedShapes(t *testing.T) {
	p := newPlace(t)
	p.put("z.txt", "one\ntwo\n")
	todos := `{"todos":[{"content":"a","status":"in_progress","activeForm":"b"}]}`
	h := p.host(`@ Read {"file_path":"z.txt"}
---
@ Edit {"file_path":"z.txt","old_string":"two","new_string":"TWO"}
---
@ Write {"file_path":"new.txt","content":"x\n"}
---
@ Bash {"command":"echo out"}
---
@ Bash {"command":"false"}
---
@ Glob {"pattern":"*.txt"}
---
@ Grep {"pattern":"TWO"}
---
@ Grep {"pattern":"TWO","output_mode":"content"}
---
@ MultiEdit {"file_path":"z.txt","edits":[{"old_string":"one","new_string":"1"},{"old_string":"TWO","new_string":"2"}]}
---
@ TodoWrite `+todos+`
---
@ TodoWrite {"todos":[]}
---
> over
`, "--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions")
	group := []any{map[string]any{"hookCallbackIds": []string{"h"}}}
	h.request("i", map[string]any{"subtype": "initialize", "hooks": map[string]any{"PostToolUse": group}})
	h.prompt("go")
	var results, responses []any
	for l := h.next(""); l["type"] != "result"; l = h.next("") {
		switch {
		case dig(l, "request", "subtype") == "hook_callback":
			responses = append(responses, dig(l, "request", "input", "tool_response"))
			h.reply(l, map[string]any{})
		case l["type"] == "user":
			results = append(results, l["tool_use_result"])
		}
	}
	h.over()
	patch := map[string]any{"oldStart": 1., "oldLines": 2., "newStart": 1., "newLines": 2., "lines": []any{" one", "-two", "+TWO"}}
	todo := map[string]any{"content": "a", "status": "in_progress", "activeForm": "b"}
	in := func(name string) string { return filepath.Join(p.dir, name) }
	want := []map[string]any{
		{"type": "text", "file": map[string]any{"filePath": in("z.txt"), "content": "one\ntwo", "numLines": 2., "startLine": 1., "totalLines": 2.}},
		{"filePath": in("z.txt"), "oldString": "two", "newString": "TWO", "originalFile": "one\ntwo\n", "structuredPatch": []any{patch}, "userModified": false, "replaceAll": false},
		{"type": "create", "filePath": in("new.txt"), "content": "x\n", "originalFile": nil, "structuredPatch": []any{}, "userModified": false},
		{"stdout": "out", "stderr": "", "interrupted": false, "isImage": false},
		nil,
		{"numFiles": 3., "filenames": []any{"model.txt", "new.txt", "z.txt"}, "truncated": false, "totalMatches": 3.},
		{"mode": "files_with_matches", "numFiles": 2., "totalFiles": 2.},
		{"mode": "content", "numFiles": 2., "filenames": []any{}},
		{"filePath": in("z.txt"), "oldString": "one\nTWO", "newString": "1\n2", "replaceAll": false, "userModified": false, "originalFile": "one\nTWO\n"},
		{"oldTodos": []any{}, "newTodos": []any{todo}},
		{"oldTodos": []any{todo}, "newTodos": []any{}},
	}
	if len(results) != len(want) || len(responses) != len(want)-1 {
		t.Fatalf("%d results and %d responses: %v", len(results), len(responses), results)
	}
	sorted := func(v any) any {
		if names, ok := v.([]any); ok {
			slices.SortFunc(names, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return v
	}
	next := 0
	for i, w := range want {
		if w == nil { // a call that fails has words
			if _, words := results[i].(string); !words {
				t.Errorf("%d: %v", i, results[i])
			}
			continue
		}
		got := results[i].(map[string]any)
		for name, value := range w {
			if name == "filenames" {
				sorted(got[name])
			}
			if !reflect.DeepEqual(got[name], value) {
				t.Errorf("%d: %s is %v, want %v", i, name, got[name], value)
			}
			if said := dig(responses[next], name); name != "filenames" && !reflect.DeepEqual(said, value) {
				t.Errorf("%d: for hooks %s is %v, want %v", i, name, said, value)
			}
		}
		next++
	}
	if dig(responses[1], "success") != true || dig(responses[1], "text") == nil {
		t.Errorf("what hooks of adze are promised is gone: %v", responses[1])
	}
}

func TestHost_CommandsOfAdzesOwnAreNotPaidFor(t *testing.T) {
	p := newPlace(t)
	h := p.host("> first\n---\n> the summary of what was said\n---\n> after\n", "--replay-user-messages")
	say := func(text string) (lines []map[string]any, result map[string]any) {
		h.send(map[string]any{"type": "user", "uuid": "11111111-1111-4111-8111-111111111111", "message": map[string]any{"role": "user", "content": text}})
		for l := h.next(""); ; l = h.next("") {
			if l["type"] == "result" {
				return lines, l
			}
			lines = append(lines, l)
		}
	}
	kinds := func(lines []map[string]any) string {
		var out []string
		for _, l := range lines {
			kind := fmt.Sprint(l["type"])
			if s, ok := l["subtype"].(string); ok {
				kind = s
			}
			if l["isReplay"] == true {
				kind += " again"
			}
			out = append(out, kind)
		}
		return strings.Join(out, ", ")
	}
	for text, words := range map[string]string{"/cost": "Total cost", "/context": "tokens", "/status": "script/", "/help": "/compact", "/nosuch": "Unknown command: /nosuch", "/": "Unknown command: /", "/vim": "terminal UI",
		"/mcp": "No MCP server is configured", "/skills": "| review | ", "/agents": "| explore | ", "/mcp enable x": "terminal UI", "/add-dir ..": "terminal UI", "/output-style concise": "terminal UI"} {
		lines, result := say(text)
		if got := fmt.Sprint(result["result"]); !strings.Contains(got, words) || result["subtype"] != "success" || result["num_turns"] != 0. {
			t.Errorf("%s: %v", text, result)
		}
		if got := kinds(lines); got != "init, user again, assistant" {
			t.Errorf("%s: %s", text, got)
		}
	}
	if _, result := say("hello /cost"); result["result"] != "first" {
		t.Errorf("words: %v", result["result"])
	}
	lines, result := say("/clear")
	if got := kinds(lines); result["subtype"] != "success" || !strings.Contains(got, "conversation_reset") {
		t.Errorf("/clear: %s, %v", got, result)
	}
	h.over()
}

func TestHost_ABlockOfAMessage(t *testing.T) {
	p := newPlace(t)
	p.folder(".claude/commands")
	p.put(".claude/commands/lint.md", "LINT-EXPANDED $ARGUMENTS\n")
	h := p.host(`? prompt contains "LINT-EXPANDED main.go"
> expanded
---
> between
---
? prompt contains "DOC"
> read
---
> between
---
? prompt contains "NOTE"
> noted
`, "--trust")
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	say := func(content any, more map[string]any) {
		l := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}}
		maps.Copy(l, more)
		h.send(l)
	}
	say([]any{text("context"), text("/lint main.go")}, nil)
	if r := h.next("result"); r["result"] != "expanded" {
		t.Errorf("a command in the last block: %v", r)
	}
	between := func() {
		say("and", nil)
		if r := h.next("result"); r["result"] != "between" {
			t.Errorf("between: %v", r)
		}
	}
	between()
	say([]any{text("hi"), map[string]any{"type": "document", "source": map[string]any{"type": "text", "media_type": "text/plain", "data": "DOC"}}, map[string]any{"type": "novel"}}, nil)
	if l := fmt.Sprint(h.next("system/informational")["content"]); !strings.Contains(l, `"novel"`) {
		t.Errorf("what is left out: %s", l)
	}
	if r := h.next("result"); r["result"] != "read" {
		t.Errorf("a document: %v", r)
	}
	between()
	say("NOTE", map[string]any{"shouldQuery": false})
	say("go on", nil)
	if r := h.next("result"); r["result"] != "noted" {
		t.Errorf("a note that asks nothing: %v", r)
	}
	h.over()
}

func TestHost_RequestsBesides(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "hello\n")
	p.folder("secret")
	p.put("secret/b.txt", "hidden\n")
	h := p.host("> over\n", "--disallowed-tools", "Read(secret/**)")
	h.request("i", map[string]any{"subtype": "initialize"})
	got, _ := h.answer("i")
	if dig(dig(got, "models").([]any)[0], "supportsAutoMode") != true {
		t.Errorf("models: %v", dig(got, "models"))
	}
	for _, tt := range []struct {
		request string
		more    map[string]any
		member  string
		says    string // in it, or in the error where member is ""
	}{
		{"get_session_cost", nil, "text", "Total cost"},
		{"get_usage", nil, "session", "total_cost_usd"},
		{"get_binary_version", nil, "version", ""},
		{"read_file", map[string]any{"path": "a.txt"}, "contents", "hello"},
		{"read_file", map[string]any{"path": "a.txt", "max_bytes": 3}, "truncated", "true"},
		{"read_file", map[string]any{"path": "secret/b.txt"}, "", "is not read"},
		{"read_file", map[string]any{"path": "nowhere"}, "", "cannot be read"},
		{"file_suggestions", map[string]any{"query": "a.tx"}, "suggestions", "a.txt"},
		{"cancel_async_message", map[string]any{"message_uuid": "x"}, "cancelled", "false"},
		{"generate_session_title", map[string]any{"description": "mend the parser"}, "title", "mend the parser"},
		{"reload_skills", nil, "skills", ""},
		{"reload_plugins", nil, "plugins", ""},
		{"reload_output_styles", nil, "available_output_styles", "default"},
		{"set_has_subscribers", map[string]any{"has_subscribers": true}, "-", ""},
		{"set_color", nil, "", "no colour"},
		{"mcp_call", nil, "", "no MCP server"},
		{"mcp_read_resource", map[string]any{"serverName": "nosuch", "uri": "mem://a"}, "", `no MCP server "nosuch": none is configured`},
		{"dance", nil, "", "not supported"},
	} {
		body := map[string]any{"subtype": tt.request}
		maps.Copy(body, tt.more)
		h.request("r", body)
		got, err := h.answer("r")
		switch {
		case tt.member == "" && !strings.Contains(err, tt.says), tt.member != "" && err != "":
			t.Errorf("%s: %v, %s", tt.request, got, err)
		case tt.member != "" && tt.member != "-" && (dig(got, tt.member) == nil || !strings.Contains(fmt.Sprint(dig(got, tt.member)), tt.says)):
			t.Errorf("%s: %v", tt.request, got)
		}
	}
	h.prompt("go")
	h.end()
}

// A host's /compact, as clients of the published protocol read it:
// what it does, the boundary, the summary as nobody's word, what the command printed, and a
// result without text or turns.
func TestHost_CompactsWhenItIsAsked(t *testing.T) {
	p := newPlace(t)
	h := p.host("> " + strings.Repeat("much of what was asked, ", 400) + "\n---\n> the summary of what was said\n---\n? prompt contains \"the summary of what was said\"\n> and on\n")
	h.prompt("first of all")
	h.next("result")
	h.prompt("/compact")
	if l := h.next("system/status"); l["status"] != "compacting" {
		t.Errorf("it begins with %v", l)
	}
	if l := h.next("system/status"); l["status"] != nil || l["compact_result"] != "success" {
		t.Errorf("it is over with %v", l)
	}
	l := h.next("system/compact_boundary")
	meta, _ := l["compact_metadata"].(map[string]any)
	before, _ := meta["pre_tokens"].(float64)
	after, _ := meta["post_tokens"].(float64)
	if meta["trigger"] != "manual" || after <= 0 || before <= after {
		t.Errorf("the boundary is %v", meta)
	}
	if l = h.next("user"); l["isSynthetic"] != true || !strings.Contains(fmt.Sprint(dig(l, "message", "content")), "the summary of what was said") {
		t.Errorf("the summary came as %v", l)
	}
	if l = h.next("user"); l["isReplay"] != true || !strings.HasPrefix(fmt.Sprint(dig(l, "message", "content")), "<local-command-stdout>") {
		t.Errorf("what the command printed came as %v", l)
	}
	if l = h.next("result"); l["subtype"] != "success" || l["result"] != "" || l["num_turns"] != 0.0 || l["is_error"] != false {
		t.Errorf("the result is %v", l)
	}
	h.prompt("go on") // the script's last step reads the summary
	if l = h.next("result"); l["result"] != "and on" {
		t.Errorf("the next turn came to %v", l)
	}
	h.over()
}

// What settings change before the first prompt, a host reads then, and once; so the mode
// that they forbid.
func TestHost_ReadsWhatChangesBeforeTheFirstPrompt(t *testing.T) {
	p := newPlace(t)
	p.folder(".adze")
	h := p.host("> over\n", "--permission-mode", "auto")
	h.request("i", map[string]any{"subtype": "initialize"})
	h.answer("i")
	p.put(".adze/settings.json", `{"permissions": {"disableAutoMode": true}}`)
	said := func(l map[string]any) (out string) {
		switch l["subtype"] {
		case "informational":
			return fmt.Sprint(l["content"])
		case "status", "init":
			return fmt.Sprint(l["subtype"], " ", l["permissionMode"])
		}
		return ""
	}
	if got := said(h.next("system/informational")); !strings.Contains(got, "settings changed: permissions.disableAutoMode") {
		t.Errorf("it reads %q", got)
	}
	if got := said(h.next("system/status")); got != "status default" {
		t.Errorf("it reads %q", got)
	}
	h.prompt("go")
	var then []string
	for l := h.next(""); l["type"] != "result"; l = h.next("") {
		if text := said(l); text != "" {
			then = append(then, text)
		}
	}
	if !slices.Equal(then, []string{"init default"}) {
		t.Errorf("with the prompt it reads %q", then)
	}
	h.over()
}

// A file that a host says the model has read may be edited, unless it changed since, or a
// rule keeps it.
func TestHost_SeedsWhatWasRead(t *testing.T) {
	p := newPlace(t)
	p.folder("secret")
	p.put("secret/b.txt", "one\n")
	h := p.host(`@ Edit {"file_path":"a.txt","old_string":"one","new_string":"two"}
---
@ Write {"file_path":"a.txt","content":"three\n"}
---
@ Edit {"file_path":"old.txt","old_string":"one","new_string":"two"}
---
> over
`, "--permission-mode", "acceptEdits", "--disallowed-tools", "Read(secret/**)")
	h.request("i", map[string]any{"subtype": "initialize"})
	h.answer("i")
	seed := func(name string, later int64) (any, string) {
		fi, err := os.Stat(filepath.Join(p.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		h.request("s", map[string]any{"subtype": "seed_read_state", "path": filepath.Join(p.dir, name), "mtime": fi.ModTime().UnixMilli() + later})
		got, said := h.answer("s")
		return dig(got, "seeded"), said
	}
	p.put("a.txt", "one\n")
	p.put("old.txt", "one\n")
	if got, said := seed("a.txt", 0); got != true {
		t.Errorf("as it was: %v, %s", got, said)
	}
	if got, said := seed("old.txt", -1); got != false {
		t.Errorf("changed since: %v, %s", got, said)
	}
	if got, said := seed("secret/b.txt", 0); got != nil || !strings.Contains(said, "is not read") {
		t.Errorf("kept: %v, %s", got, said)
	}
	h.prompt("go")
	for _, want := range []string{"a.txt was changed", "Read", "old.txt has not been read"} {
		if got := h.result(); !strings.Contains(got, want) {
			t.Errorf("the model reads %q, not %q", got, want)
		}
	}
	h.end()
}
