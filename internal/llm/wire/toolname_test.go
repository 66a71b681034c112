package wire

import "testing"

func TestRealToolNames(t *testing.T) {
	n := toolNames{"Bash", "Read", "KillShell", "mcp__s__put", "mcp__s__Put", "final", "KillBash"}
	for name, want := range map[string]string{
		"Bash": "Bash", "bash": "Bash", "READ": "Read", "functions.Bash": "Bash", "functions.Bash:0": "Bash", "default_api:Bash": "Bash", "default_api.read": "Read",
		"Bash<|channel|>commentary": "Bash", "functions.Bash<|channel|>commentary to=functions.Bash": "Bash", "<|start|>Bash": "Bash", `"Bash"`: "Bash", " Bash\n": "Bash", "Bash()": "Bash",
		"functions_Bash": "Bash", "default_api_bash": "Bash", "functions.mcp__s__put": "mcp__s__put", "mcp__s__PUT": "mcp__s__PUT", "tools/KillBash": "KillBash",
		"final": "final", "Bash.Read": "Bash.Read", "evil.Bash": "evil.Bash", "BashX": "BashX", "functions": "functions", "": "", "..": "..", "Bash(rm)": "Bash(rm)",
		Dispatcher: Dispatcher, "not_Bash": "not_Bash",
	} {
		if got := n.real(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
