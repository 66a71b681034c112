package plugin

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// A value stands in a command as the text that it is, for a real shell.
func TestExpandShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, v := range []string{
		"plain", "two words", "it's", `say "hi"`, "$HOME", "`id`", "$(id)", `back\slash`, "; exit 3", "*", "a & b", "'", `'"'"'`, "", "~/x", "ünï",
	} {
		p := Plugin{Root: "/opt/it's here", Options: []Option{{Key: "k"}}, Values: map[string]string{"k": v}}
		for _, c := range []string{
			`printf '%s|' "${user_config.k}"`, `printf '%s|' '${user_config.k}'`, `printf '%s|' x${user_config.k}y`, `printf '%s|' "a\"${user_config.k}"'b'${CLAUDE_PLUGIN_ROOT}/x`,
		} {
			want := map[byte]string{'"': v, '\'': v}[c[len(c)-1]] + "|"
			switch {
			case strings.HasSuffix(c, "y"):
				want = "x" + v + "y|"
			case strings.HasSuffix(c, "/x"):
				want = `a"` + v + `b/opt/it's here/x|`
			}
			got, err := exec.Command(sh, "-c", p.ExpandShell(c)).CombinedOutput()
			if err != nil || string(got) != want {
				t.Errorf("%s with %q: %s\ngot  %q, %v\nwant %q", c, v, p.ExpandShell(c), got, err, want)
			}
		}
	}
}

func TestExpandHooks(t *testing.T) {
	p := Plugin{Root: "/r", Options: []Option{{Key: "k"}}, Values: map[string]string{"k": `it's "it"`}}
	for in, want := range map[string]string{
		`{"matcher":"Bash","hooks":[{"type":"command","command":"say ${user_config.k}","timeout":5}]}`:   `{"hooks":[{"command":"say 'it'\\''s \"it\"'","timeout":5,"type":"command"}],"matcher":"Bash"}`,
		`{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/p","args":["${user_config.k}"]}]}`: `{"hooks":[{"args":["it's \"it\""],"command":"/r/p","type":"command"}]}`,
		`{"hooks":[{"type":"http","url":"http://localhost/${user_config.k}"}]}`:                          `{"hooks":[{"type":"http","url":"http://localhost/it's \"it\""}]}`,
		`{"hooks":[{"type":"command","command":"say ${user_config.k}","shell":"powershell"}]}`:           `{"hooks":[{"command":"say it's \"it\"","shell":"powershell","type":"command"}]}`,
		`{"hooks":3}`: `{"hooks":3}`,
	} {
		got, err := p.ExpandHooks(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", in, got, err, want)
		}
	}
}
