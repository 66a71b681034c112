package choose

import (
	"testing"
)

// settingsOf has variables of settings; firm says that the start named these settings.
func settingsOf(vars map[string]string, firm bool) Variables {
	return func(name string) (string, bool, bool) {
		v, ok := vars[name]
		return v, firm, ok
	}
}

func TestNamesBehindAnAddress(t *testing.T) {
	process := map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_AUTH_TOKEN": "t"}
	both := map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "OPENAI_API_KEY": "k"}
	router := map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
	aliases := map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_DEFAULT_OPUS_MODEL": "glm-5[1m]", "ANTHROPIC_DEFAULT_SONNET_MODEL": "glm-4.7", "ANTHROPIC_DEFAULT_FABLE_MODEL": "big"}
	for _, tt := range []struct {
		name      string
		env       map[string]string
		own       Variables
		wish      string
		want      string
		wantError bool
	}{
		{name: "any name", env: process, wish: "deepseek-chat", want: "anthropic/deepseek-chat"},
		{name: "of Bedrock", env: process, wish: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", want: "anthropic/us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{name: "an ARN", env: process, wish: "arn:aws:bedrock:us-east-1:1:application-inference-profile/x", want: "anthropic/arn:aws:bedrock:us-east-1:1:application-inference-profile/x"},
		{name: "of a router, with a comma", env: process, wish: "openrouter,qwen/qwen3", want: "anthropic/openrouter,qwen/qwen3"},
		{name: "of a provider without a key", env: process, wish: "deepseek/deepseek-chat", want: "anthropic/deepseek/deepseek-chat"},
		{name: "known, and nobody else has a key", env: process, wish: "gpt-6.1-sol", want: "anthropic/gpt-6.1-sol"},
		{name: "known, and its provider has a key", env: both, wish: "gpt-6.1-sol", want: "openai/gpt-6.1-sol"},
		{name: "nothing named, and no key", env: both, want: "anthropic/claude-sonnet-5-5"},
		{name: "a script", env: process, own: settingsOf(router, true), wish: "script/x", want: "script/x"},
		{name: "firm: known elsewhere", env: both, own: settingsOf(router, true), wish: "gpt-6.1-sol", want: "anthropic/gpt-6.1-sol"},
		{name: "firm: another provider by name", env: both, own: settingsOf(router, true), wish: "openai/gpt-6.1-sol", want: "anthropic/openai/gpt-6.1-sol"},
		{name: "firm: another provider alone", env: both, own: settingsOf(router, true), wish: "openai", want: "anthropic/openai"},
		{name: "firm: a name of the person's", env: both, own: settingsOf(router, true), wish: "mine", want: "anthropic/openai/gpt-6.1-sol"},
		{name: "firm: nothing named", env: map[string]string{"OPENAI_API_KEY": "k"}, own: settingsOf(router, true), want: "anthropic/claude-sonnet-5-5"},
		{name: "firm: a local server", own: settingsOf(router, true), wish: "ollama/qwen3", want: "anthropic/ollama/qwen3"},
		{name: "opus by variable", own: settingsOf(aliases, false), wish: "opus", want: "anthropic/glm-5"},
		{name: "best is opus", own: settingsOf(aliases, false), wish: "best", want: "anthropic/glm-5"},
		{name: "twice wide", own: settingsOf(aliases, false), wish: "opus[1m]", want: "anthropic/glm-5"},
		{name: "opusplan is sonnet here", own: settingsOf(aliases, false), wish: "opusplan", want: "anthropic/glm-4.7"},
		{name: "the default is sonnet", own: settingsOf(aliases, false), want: "anthropic/glm-4.7"},
		{name: "inherit is the default", own: settingsOf(aliases, false), wish: "inherit", want: "anthropic/glm-4.7"},
		{name: "fable", own: settingsOf(aliases, false), wish: "fable", want: "anthropic/big"},
		{name: "an alias behind the provider", own: settingsOf(aliases, false), wish: "anthropic/opus", want: "anthropic/glm-5"},
		{name: "wide", env: process, wish: "claude-opus-4-8[1M]", want: "anthropic/claude-opus-4-8"},
		{name: "without an address", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, wish: "deepseek-chat", wantError: true},
		{name: "without an address, wide", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, wish: "nosuch[1m]", wantError: true},
		{name: "an unknown provider", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, wish: "nosuch/model", wantError: true},
	} {
		ch, err := New(Config{Env: func(n string) string { return tt.env[n] }, Own: tt.own, Aliases: map[string]string{"mine": "openai/gpt-6.1-sol"}})
		if err != nil {
			t.Fatal(err)
		}
		p, model, err := ch.find(t.Context(), []string{tt.wish})
		model, _ = narrow(model)
		if got := p.name + "/" + model; (err != nil) != tt.wantError || err == nil && got != tt.want {
			t.Errorf("%s: %s %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// A key of the process is not for an address of the settings that have one of their own,
// and an empty variable of theirs hides the process's.
func TestKeysOfSettings(t *testing.T) {
	process := map[string]string{"ANTHROPIC_AUTH_TOKEN": "theirs", "ANTHROPIC_API_KEY": "theirs"}
	for _, tt := range []struct {
		own         map[string]string
		key, source string
	}{
		{map[string]string{"ANTHROPIC_API_KEY": "mine"}, "mine", "ANTHROPIC_API_KEY"},
		{map[string]string{"ANTHROPIC_AUTH_TOKEN": "mine"}, "mine", "ANTHROPIC_AUTH_TOKEN"},
		{map[string]string{"ANTHROPIC_AUTH_TOKEN": ""}, "theirs", "ANTHROPIC_API_KEY"},
		{map[string]string{"ANTHROPIC_AUTH_TOKEN": "", "ANTHROPIC_API_KEY": ""}, "", ""},
	} {
		ch, err := New(Config{Env: func(n string) string { return process[n] }, Own: settingsOf(tt.own, false)})
		if err != nil {
			t.Fatal(err)
		}
		p, _ := ch.provider("anthropic")
		if key, source, _ := ch.key(p); key != tt.key || source != tt.source {
			t.Errorf("%v: %q of %q", tt.own, key, source)
		}
	}
}

func TestWideWindow(t *testing.T) {
	ch, err := New(Config{Env: func(n string) string { return map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}[n] }})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"glm-4.6[1m]": 1_000_000, "claude-opus-4-8[1m]": 1_000_000, "claude-sonnet-4-5[1m]": 200_000} {
		c, err := ch.Describe(t.Context(), name)
		if err != nil || c.Facts.Window != want || c.Name == name {
			t.Errorf("%s: %s has %d tokens, %v", name, c.Name, c.Facts.Window, err)
		}
	}
}

func TestCustomHeaders(t *testing.T) {
	got := HeadersOf(func(string) string { return "X-A: 1\nnothing\n X-B :  two: three \n: x\n" })
	if len(got) != 2 || got["X-A"] != "1" || got["X-B"] != "two: three" {
		t.Errorf("%q", got)
	}
}
