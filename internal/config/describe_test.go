package config

import (
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	for path, want := range map[string]string{
		"ui.notify": "ui.notify", "maxTurns": "max_turns", "env.CI": "env", "providers.mine.baseUrl": "providers.*.base_url",
		"providers.mine.headers.X": "providers.*.headers", "statusLine": "statusLine.type statusLine.command statusLine.padding statusLine.refreshInterval",
		"pluginConfigs": "pluginConfigs pluginConfigs.*.options", "no.such": "", "": "",
	} {
		var got []string
		for _, k := range Keys(path) {
			got = append(got, k.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", path, strings.Join(got, " "), want)
		}
	}
	for _, k := range Table() {
		if k.Takes() == "" || k.From() == "" || k.Doc == "" || k.When == "" {
			t.Errorf("%s: takes %q, set by %q, %q, counts %q", k.Name, k.Takes(), k.From(), k.Doc, k.When)
		}
	}
}
