package price

import "strings"

// siblings are the cheap models of each provider, used for titles, summaries
// and classification. The first entry whose prefix fits the main model wins;
// an empty prefix fits all.
var siblings = []struct{ provider, prefix, small string }{
	{"anthropic", "", "claude-haiku-5-5"},
	{"openai", "gpt-4", "gpt-4.1-mini"},
	{"openai", "", "gpt-6-luna"},
	{"gemini", "", "gemini-3.5-flash-lite"},
	{"groq", "", "llama-3.1-8b-instant"},
	{"deepseek", "", "deepseek-flash"},
	{"mistral", "", "mistral-small-latest"},
	{"openrouter", "anthropic/", "anthropic/claude-haiku-5.5"},
	{"openrouter", "openai/", "openai/gpt-6-luna"},
	{"openrouter", "google/", "google/gemini-3.5-flash-lite"},
	{"bedrock", "", "anthropic.claude-haiku-5-5"},
	{"vertex", "", "claude-haiku-5-5"},
}

// Small names the cheap sibling of a model of the same provider. Where none
// is known it is the model itself.
func Small(provider, model string) string {
	for _, s := range siblings {
		if s.provider == provider && strings.HasPrefix(model, s.prefix) {
			return s.small
		}
	}
	return model
}

// aliases are the names people use instead of "provider/model".
var aliases = map[string]string{
	"opus":    "anthropic/claude-opus-5-5",
	"sonnet":  "anthropic/claude-sonnet-5-5",
	"haiku":   "anthropic/claude-haiku-5-5",
	"fable":   "anthropic/claude-fable-5-2",
	"best":    "anthropic/claude-opus-5-5",
	"gpt":     "openai/gpt-6.1-sol",
	"gemini":  "gemini/gemini-4-argon",
	"default": "anthropic/claude-sonnet-5-5",
	"fast":    "anthropic/claude-haiku-5-5",

	// Names of other agents: opus while the mode is plan (package app sees to that), and
	// the model that there is anyway.
	OpusPlan:  "anthropic/claude-sonnet-5-5",
	"inherit": "anthropic/claude-sonnet-5-5",
}

// OpusPlan is the alias of two models: opus in the mode plan, else sonnet.
const OpusPlan = "opusplan"

// Alias resolves one of the built-in names to "provider/model".
func Alias(name string) (string, bool) {
	full, ok := aliases[strings.ToLower(name)]
	return full, ok
}

// Aliases are the built-in names, in the order they are shown.
func Aliases() []string {
	return []string{"default", "fast", "best", "opus", "sonnet", "haiku", "fable", "gpt", "gemini"}
}

// Default is the model of a provider when only the provider is known.
func Default(provider string) string {
	switch provider {
	case "anthropic":
		return "claude-sonnet-5-5"
	case "openai":
		return "gpt-6.1-sol"
	case "gemini":
		return "gemini-4-argon"
	case "openrouter":
		return "anthropic/claude-sonnet-5.5"
	case "groq":
		return "openai/gpt-oss-120b"
	case "deepseek":
		return "deepseek-v4-pro"
	case "mistral":
		return "devstral-latest"
	case "xai":
		return "grok-4.7"
	case "together":
		return "openai/gpt-oss-120b"
	}
	return ""
}
