package bash

import (
	"encoding/json"
	"strings"
	"testing"
)

// A command that is nothing but a long sleep is refused, with the way to wait.
func TestSleep(t *testing.T) {
	r := newRig(t, nil)
	for command, refused := range map[string]string{
		"sleep 30": "30s", "sleep 1m": "1m0s", "sleep 5 6": "11s", "sleep infinity": "8760h0m0s", "  sleep 0.5h  # wait": "30m0s",
		"timeout 20 sleep 30": "30s", "sleep 10": "", "sleep 2": "", "sleep $N": "", "sleep 30 && ls": "", "sleep x": "", "sleep": "", "sleep -1": "", "sleep 1e3 & wait": "", "echo sleep 30": "",
	} {
		for _, background := range []bool{false, true} {
			in, _ := json.Marshal(map[string]any{"command": command, "run_in_background": background})
			_, err := r.tools["Bash"].Plan(in, r.env)
			if want := refused != "" && !background; (err != nil) != want || want && !strings.HasPrefix(err.Error(), "sleep alone holds everything up for "+refused+",") {
				t.Errorf("%q: %v", command, err)
			}
		}
	}
}
