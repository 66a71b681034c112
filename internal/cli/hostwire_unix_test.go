//go:build unix

package cli_test

import (
	"fmt"
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
