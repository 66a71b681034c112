package hook

import "testing"

func TestShort(t *testing.T) {
	for want, h := range map[string]Hook{
		"echo":          {Handler: Handler{Type: Command, Command: `echo '{"hookSpecificOutput":{"a":1}}'`}},
		"guard.sh":      {Handler: Handler{Type: Command, Command: `A=1 bash "$CLAUDE_PROJECT_DIR/hooks/guard.sh" --all`}},
		"check.py":      {Handler: Handler{Type: Command, Command: "python3", Args: []string{"/home/u/check.py", "secret"}}},
		"my guard.sh":   {Handler: Handler{Type: Command, Command: `bash "$CLAUDE_PROJECT_DIR"/'my hooks/my guard.sh' x`}},
		"my check":      {Handler: Handler{Type: Command, Command: "/home/u/my check", Args: []string{"x"}}},
		"uv":            {Handler: Handler{Type: Command, Command: "uv --project x run y"}},
		"tool.exe":      {Handler: Handler{Type: Command, Command: `C:\\hooks\\tool.exe x`}},
		"command":       {Handler: Handler{Type: Command, Command: "(cat >/dev/null; exit 2)"}},
		"guard.example": {Handler: Handler{Type: HTTP, URL: "https://u:pw@guard.example/x?token=1"}},
		"http":          {Handler: Handler{Type: HTTP, URL: "::"}},
		"s/t":           {Handler: Handler{Type: MCPTool, Server: "s", Tool: "t"}},
		"prompt":        {Handler: Handler{Type: Prompt, Prompt: "is it fine?"}},
		"agent":         {Handler: Handler{Type: Agent, Prompt: "is it fine?"}},
		"callback c1":   {Handler: Handler{Type: Callback, Callback: "c1"}},
	} {
		if got := h.Short(); got != want {
			t.Errorf("%+v: %q, want %q", h.Handler, got, want)
		}
	}
}
