package compat

// Quirks are how a server differs from the common ground. The zero value is
// the common ground.
type Quirks struct {
	MaxCompletion  bool       // max_completion_tokens instead of max_tokens
	NoUsageOption  bool       // refuses stream_options; sends usage by itself
	Effort         EffortWire // how reasoning is asked for
	EffortSaid     bool       // a person said so: models that nobody described take it, too
	Reasoning      string     // the field in which reasoning goes back, "" when it must not
	Details        bool       // reasoning_details go back as they came
	ShortIDs       bool       // call ids are nine letters or digits
	ToolName       bool       // a result repeats the name of its tool
	BridgeResults  bool       // no user message may follow a result directly
	CacheMarks     bool       // takes cache_control for models of Anthropic
	CacheKey       bool       // takes prompt_cache_key
	PDF            bool       // takes documents as file parts
	NoForce        bool       // a tool cannot be forced
	ObjectContents bool       // text must be a list of parts
	NoNull         bool       // content must not be null: it is ""
	NoEmpty        bool       // content must not be "" either: it is left out
	Version        bool       // the API is below /v1, and the base URL does not say so
}

// An EffortWire is a way to ask for reasoning.
type EffortWire int

// Ways to ask for reasoning.
const (
	NoEffort        EffortWire = iota
	ReasoningEffort            // "reasoning_effort": "high"
	ReasoningObject            // "reasoning": {"effort": "high"} or {"max_tokens": n}
	ThinkingObject             // "thinking": {"type": "enabled"} with "reasoning_effort"
	ReasoningToggle            // "reasoning": {"enabled": true}
)

// Said lays what a person says of a server over q: the field that asks for
// reasoning and the one in which reasoning goes back, "none" for no such
// field, "" for what is known.
func (q Quirks) Said(effort, reasoning string) Quirks {
	switch effort {
	case "none":
		q.Effort, q.EffortSaid = NoEffort, true
	case "reasoning_effort":
		q.Effort, q.EffortSaid = ReasoningEffort, true
	case "reasoning":
		q.Effort, q.EffortSaid = ReasoningObject, true
	case "thinking":
		q.Effort, q.EffortSaid = ThinkingObject, true
	}
	switch reasoning {
	case "none":
		q.Reasoning = ""
	case "reasoning_content", "reasoning":
		q.Reasoning = reasoning
	}
	return q
}

// An Endpoint is a server people use.
type Endpoint struct {
	Name    string
	BaseURL string
	KeyEnv  string // "" for a local server
	Local   bool
	Also    []string // further base URLs of a local server
	Start   string   // how to start a local server
	Quirks  Quirks
}

// endpoints are the servers known by name. Base URLs, key variables and
// peculiarities are from each one's public API documentation.
var endpoints = []Endpoint{
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY",
		Quirks: Quirks{Effort: ReasoningObject, Details: true, Reasoning: "reasoning", CacheMarks: true, PDF: true}},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY",
		Quirks: Quirks{MaxCompletion: true, Effort: ReasoningEffort}},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com", KeyEnv: "DEEPSEEK_API_KEY",
		Quirks: Quirks{Effort: ThinkingObject, Reasoning: "reasoning_content"}},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY",
		Quirks: Quirks{ShortIDs: true, ToolName: true, NoUsageOption: true, BridgeResults: true}},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY",
		Quirks: Quirks{MaxCompletion: true, Effort: ReasoningEffort}},
	{Name: "together", BaseURL: "https://api.together.ai/v1", KeyEnv: "TOGETHER_API_KEY",
		Quirks: Quirks{Effort: ReasoningToggle}},
	{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", KeyEnv: "FIREWORKS_API_KEY",
		Quirks: Quirks{Effort: ReasoningEffort, Reasoning: "reasoning_content"}},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", KeyEnv: "CEREBRAS_API_KEY",
		Quirks: Quirks{MaxCompletion: true, Effort: ReasoningEffort}},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", KeyEnv: "MOONSHOT_API_KEY",
		Quirks: Quirks{Reasoning: "reasoning_content", CacheKey: true}},
	{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", KeyEnv: "ZAI_API_KEY",
		Quirks: Quirks{Effort: ThinkingObject, Reasoning: "reasoning_content"}},
	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true, Start: `start it with "ollama serve"`,
		Quirks: Quirks{Effort: ReasoningEffort}},
	{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Local: true, Start: `start its server with "lms server start"`},
	{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", Also: []string{"http://127.0.0.1:9931/v1"}, Local: true, Start: `start it with "llama-server --jinja -m model.gguf"`,
		Quirks: Quirks{Reasoning: "reasoning_content"}},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Local: true, Start: `start it with "vllm serve"`,
		Quirks: Quirks{Effort: ReasoningEffort}},
}

// Endpoints returns the servers known by name.
func Endpoints() []Endpoint { return append([]Endpoint(nil), endpoints...) }
