package ext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext/plugin"
)

func TestSecretsThatAreNotSetAreTold(t *testing.T) {
	x := plugin.Plugin{
		Name: "a", Market: "mkt",
		Options: []plugin.Option{{Key: "TOK", Secret: true}, {Key: "KEY", Secret: true, Required: true}, {Key: "spare", Secret: true}, {Key: "plain", Required: true}},
		Servers: []plugin.Server{{Name: "s", JSON: json.RawMessage(`{"command": "x", "env": {"T": "${user_config.TOK}"}}`)}},
	}
	got := unset(x, nil)
	if len(got) != 2 || !strings.Contains(got[0], "adze plugin enable a@mkt --set TOK=-") || !strings.Contains(got[1], "KEY is not set") {
		t.Errorf("%q", got)
	}
	if got := unset(x, map[string]string{"TOK": "1", "KEY": ""}); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Plugins that are not installed are one line at a start, however many there are.
func TestAbsent(t *testing.T) {
	for n, want := range map[int]string{0: "[]", 1: "[p (how)]", 17: "[17 plugins are enabled and not installed: adze plugin list shows them]"} {
		if got := fmt.Sprint((&plugged{missing: slices.Repeat([]string{"p (how)"}, n)}).absent()); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
