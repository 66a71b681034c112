package config

import (
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A Kind is the shape of a value.
type Kind string

// Kinds. Those with a star take further names: see Key.Name.
const (
	String    Kind = "string"
	Int       Kind = "integer"
	Number    Kind = "number"
	Bool      Kind = "boolean"
	Tokens    Kind = "tokens"     // a number, or "500k"
	Portion   Kind = "portion"    // a number of tokens, or "10%"
	Space     Kind = "memory"     // a number of bytes, "4GB", or "75%" of the machine's
	Level     Kind = "level"      // low, medium, high, xhigh, max, or a number of tokens
	Off       Kind = "off-switch" // a boolean, or "disable"
	Strings   Kind = "list of strings"
	StringMap Kind = "map of strings"
	Bools     Kind = "map of booleans"
	Objects   Kind = "map of objects"
	Object    Kind = "object"
	List      Kind = "list"
	Anything  Kind = "any value"
)

// A Guard says who may set a key.
type Guard string

// Guards.
const (
	Free    Guard = ""        // any layer
	Person  Guard = "person"  // never a project's or local file
	Own     Guard = "own"     // never a project's file; the local one when its folder is trusted
	Tighten Guard = "tighten" // a project's or local file only in the stricter sense
	Admin   Guard = "managed" // managed settings only
)

// A Key is one setting. The table of them drives reading, the JSON Schema,
// `config list` and the documentation.
type Key struct {
	Name    string // dotted; a segment "*" stands for any name
	Kind    Kind
	Default any // nil: unset
	Doc     string
	Flag    string // the command line flag, without dashes
	Guard   Guard
	Enum    []string
	Min     float64
	Max     float64 // 0: no bound; of Strings: they are whole numbers up to this
	CC      bool    // shared in meaning with Claude Code's files
	Alias   []string
	// Replaces: a flag's list replaces what files say instead of adding to it.
	Replaces bool
	Runs     bool // could run code or loosen a rule: trust shows it
	Forbids  bool // what it says forbids or confines: when it cannot be read, everything asks
	Paths    bool // a list of folders: as text it is split as PATH is
	// When a change counts in a session that runs, and what is made anew then
	// besides what is read where it is needed.
	When  When
	Makes Parts
	// Absent names the feature that the key is for and this version lacks. A
	// run says so, unless it is Quiet because nothing that runs depends on it.
	Absent string
	Quiet  bool
}

// A When says when a change of a setting counts.
type When string

// Whens.
const (
	AtOnce      When = "at once"      // for the next decision, request or command
	NextTurn    When = "next turn"    // from the next prompt on
	NextSession When = "next session" // for sessions that begin after it
	NextStart   When = "next start"   // of adze
)

// Later reports whether sessions that run go on as they were.
func (w When) Later() bool { return w == NextSession || w == NextStart }

// Parts are what is made from settings.
type Parts uint8

// Parts.
const (
	MakesModels     Parts = 1 << iota // what names of models lead to, and the fallback
	MakesTarget                       // the model in use, with its effort
	MakesClassifier                   // of the mode auto
	MakesSandbox
)

// Env is the variable that sets the key, or "".
func (k Key) Env() string {
	if k.Flag == "" {
		return ""
	}
	return EnvName(k.Flag)
}

// EnvName is the environment form of a flag: "max-turns" → ADZE_MAX_TURNS.
func EnvName(flag string) string {
	return "ADZE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// ByFlag returns the key that a flag sets; ok is false for a flag that is not
// a setting.
func ByFlag(flag string) (k Key, ok bool) {
	for _, k := range Table() {
		if k.Flag == flag && flag != "" {
			return k, true
		}
	}
	return Key{}, false
}

// Table returns every key, in the order of the documentation.
func Table() []Key {
	out := make([]Key, 0, 128)
	for _, part := range [][]Key{modelKeys, promptKeys, permissionKeys, toolKeys, bashKeys, sandboxKeys, uiKeys, extensionKeys} {
		out = append(out, part...)
	}
	return out
}

// What a server of the wire compat can be said to take.
var (
	effortFields    = []string{"none", "reasoning_effort", "reasoning", "thinking"}
	reasoningFields = []string{"none", "reasoning_content", "reasoning"}
)

// The wires that a provider of the settings can speak.
var wires = []string{"anthropic", "openai", "compat", "gemini"}

var modelKeys = []Key{
	{Name: "model", When: NextSession, Kind: String, Flag: "model", CC: true, Doc: "Model to use, as provider/model or an alias. Unset: the first provider with a key, then a local server."},
	{Name: "fallback_model", When: NextTurn, Makes: MakesModels, Kind: String, Flag: "fallback-model", Doc: "Model to switch to when the first one stays overloaded; of several, with commas, one after the other."},
	{Name: "small_model", When: AtOnce, Makes: MakesModels | MakesClassifier, Kind: String, Flag: "small-model", Doc: "Model for titles, summaries and classification. Unset: the cheap sibling of the main model."},
	{Name: "effort", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: Level, Flag: "effort", Alias: []string{"effortLevel"}, CC: true, Enum: []string{"none", "low", "medium", "high", "xhigh", "max"}, Doc: "How hard the model thinks: none, low, medium, high, xhigh, max, or a number of tokens."},
	{Name: "max_output_tokens", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: Tokens, Default: 0, Doc: "Most tokens of one reply, reasoning included; 0 is what is known of the model."},
	{Name: "cache_retention", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: String, Enum: []string{"in_memory", "24h"}, Guard: Person, Doc: "How long the wire openai keeps what was sent (prompt_cache_retention); unset, as the provider does. Not all models take 24h."},
	{Name: "reasoning_summary", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: String, Enum: []string{"auto", "concise", "detailed", "none"}, Doc: "Which summary of its reasoning a model of the wire openai is asked for; unset, auto."},
	{Name: "cache_ttl", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: String, Enum: []string{"5m", "1h"}, Doc: "How long the provider anthropic keeps what was sent; unset, an hour at a terminal and 5 minutes in print mode. Writing for an hour costs twice the input."},
	{Name: "stream_idle_timeout", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: Int, Default: 0, Doc: "Seconds that a provider may be silent in the middle of a reply; 0 is 90, and 600 while the model reasons."},
	{Name: "max_turns", When: NextTurn, Kind: Int, Default: 0, Flag: "max-turns", Doc: "Most model requests of one turn, with those of agents that do skills; 0 is no limit."},
	{Name: "max_budget_usd", When: NextTurn, Kind: Number, Default: 0.0, Flag: "max-budget-usd", Doc: "Most US dollars a session may cost in one run of adze, with all that works for it; 0 is no limit."},
	{Name: "token_budget", When: NextTurn, Kind: Tokens, Default: 0, Flag: "token-budget", Doc: "Tokens that a turn should use (500000, or \"500k\"): a model that stops earlier is asked to go on, for long tasks; 0 is none."},
	{Name: "cost.warn_usd", When: AtOnce, Kind: Number, Default: 5.0, Doc: "Say so when a session has cost this many US dollars; 0 never does."},
	{Name: "cost.unknown_price_ok", When: NextTurn, Kind: Bool, Default: false, Guard: Person, Doc: "Let a turn with a money budget use a model whose price is not known."},
	{Name: "model_aliases", When: AtOnce, Makes: MakesModels | MakesClassifier, Kind: StringMap, Doc: "Short names for models: {\"mine\": \"compat/qwen3\"}."},
	{Name: "models", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: Objects, Guard: Person, Doc: "Facts about models that correct or extend the built-in table, by provider/model."},
	{Name: "providers", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: Objects, Guard: Person, Runs: true, Doc: "Endpoints by name."},
	{Name: "providers.*.wire", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: String, Enum: wires, Guard: Person, Doc: "The protocol the endpoint speaks."},
	{Name: "providers.*.base_url", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: String, Guard: Person, Alias: []string{"url"}, Doc: "Where it is, up to and without the path of a single call."},
	{Name: "providers.*.key_env", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: String, Guard: Person, Doc: "Name of the environment variable that holds its key; none for local servers."},
	{Name: "providers.*.headers", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: StringMap, Guard: Person, Doc: "Further headers of every request. Not for keys."},
	{Name: "providers.*.effort", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: String, Enum: effortFields, Guard: Person, Doc: "How an effort is asked for: the name of the request's field. For the wire compat."},
	{Name: "providers.*.reasoning", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: String, Enum: reasoningFields, Guard: Person, Doc: "The field in which a model's reasoning goes back to it. For the wire compat."},
	{Name: "providers.*.images", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: Bool, Guard: Person, Doc: "Its models take images."},
	{Name: "providers.*.models", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: Strings, Guard: Person, Doc: "Models it offers, where it cannot be asked."},
	{Name: "apiKeyHelper", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier | MakesSandbox, Kind: String, CC: true, Guard: Person, Runs: true, Doc: "Command that prints the key for the anthropic provider."},
	{Name: "network.proxy", When: AtOnce, Makes: MakesModels | MakesTarget | MakesSandbox, Kind: String, Guard: Person, Doc: "Proxy for providers, MCP servers and downloads of plugins, and behind the sandbox's own for commands; http(s):// or socks5://. Unset: HTTPS_PROXY and friends."},
	{Name: "network.ca_file", When: AtOnce, Makes: MakesModels | MakesTarget, Kind: String, Guard: Person, Doc: "File with further root certificates, PEM."},
}

var promptKeys = []Key{
	{Name: "profile", When: NextSession, Kind: String, Default: "auto", Enum: []string{"auto", "full", "small"}, Doc: "Size of the instructions: small is for small windows; auto chooses small for local models with at most 32,000 tokens, and when a server says that the full ones do not fit."},
	{Name: "output_style", When: NextSession, Kind: String, CC: true, Doc: "How the model answers: concise, explanatory, learning, or an output style of yours or of a plugin."},
	{Name: "language", When: NextSession, Kind: String, CC: true, Doc: "Language the model answers in. Unset: that of the prompt."},
	{Name: "agent", When: NextSession, Kind: String, Flag: "agent", CC: true, Runs: true, Doc: "Agent that sessions begin as: its definition has their instructions, tools, model, mode and the rest (adze agents list)."},
	{Name: "system_prompt", When: NextSession, Kind: String, Flag: "system-prompt", Doc: "Text that replaces the built-in instructions."},
	{Name: "append_system_prompt", When: NextSession, Kind: String, Flag: "append-system-prompt", Doc: "Text added after all instructions."},
	{Name: "memory.warn_chars", When: NextSession, Kind: Int, Default: 40000, Min: 1, Doc: "Warn about a memory file with more characters."},
	{Name: "memory.max_bytes", When: NextSession, Kind: Int, Default: 256 << 10, Min: 1024, Max: 2 << 20, Doc: "Most bytes read of one memory file; the rest is cut and said so."},
	{Name: "memory.excludes", When: NextSession, Kind: Strings, Alias: []string{"claudeMdExcludes"}, Doc: "Globs of memory files not to read."},
	{Name: "memory.imports", When: NextSession, Kind: Strings, Guard: Own, Doc: "Files and folders outside of the repository that its memory files may import from, such as ~/prefs.md."},
	{Name: "memory.auto", When: NextSession, Kind: Bool, Default: true, Alias: []string{"autoMemoryEnabled"}, CC: true, Doc: "Let the model keep notes of its own between sessions, per project. They are looked through in the background in the terminal UI."},
	{Name: "memory.session", When: AtOnce, Kind: Bool, Default: true, Doc: "Keep notes of each session in the background (terminal UI), for compaction."},
	{Name: "context.provider_editing", When: AtOnce, Makes: MakesTarget, Kind: Bool, Default: false, Doc: "Let Anthropic's API clear old results in place of adze (context editing, in beta)."},
	{Name: "titles", When: AtOnce, Kind: Bool, Default: true, Doc: "Let the small model name a session after its first turn, in the terminal UI. Names that a person gave stay."},
	{Name: "helpers.progress", When: AtOnce, Kind: Bool, Default: true, Doc: "Say every half minute in a line what an agent works on (terminal UI), in the list of tasks."},
	{Name: "helpers.suggestions", When: AtOnce, Kind: Bool, Default: true, Doc: "Suggest the next prompt after a turn, in grey in the empty prompt box (terminal UI); Tab takes it."},
	{Name: "cleanup_days", When: AtOnce, Kind: Int, Default: 90, Alias: []string{"cleanupPeriodDays"}, CC: true, Guard: Person, Doc: "Remove sessions older than this many days; 0 keeps them."},
}

var permissionKeys = []Key{
	{Name: "permissions.allow", When: AtOnce, Kind: Strings, Flag: "allowed-tools", CC: true, Runs: true, Doc: "Rules for what runs without a question: \"Bash(npm run test:*)\", \"Edit(src/**)\"."},
	{Name: "permissions.ask", Forbids: true, When: AtOnce, Kind: Strings, CC: true, Doc: "Rules for what always asks."},
	{Name: "permissions.deny", Forbids: true, When: AtOnce, Kind: Strings, Flag: "disallowed-tools", CC: true, Doc: "Rules for what never runs. Deny wins over everything, from any file."},
	{Name: "permissions.defaultMode", When: NextSession, Kind: String, Default: "default", Flag: "permission-mode", CC: true, Guard: Tighten, Enum: policy.ModeNames(), Doc: "Mode to start in. manual is default, bypass is bypassPermissions. bypassPermissions counts by the flag or its variable only, never from a file."},
	{Name: "permissions.additionalDirectories", When: AtOnce, Kind: Strings, Flag: "add-dir", CC: true, Runs: true, Paths: true, Doc: "Further folders that may be read and, by mode, written."},
	{Name: "permissions.disableBypassPermissionsMode", Forbids: true, When: AtOnce, Kind: Off, Default: false, CC: true, Guard: Tighten, Doc: "Forbid the bypass mode."},
	{Name: "permissions.disableAutoMode", Forbids: true, When: AtOnce, Kind: Off, Default: false, CC: true, Guard: Tighten, Doc: "Forbid the auto mode."},
	{Name: "permissions.managed_only", Forbids: true, When: AtOnce, Kind: Bool, Default: false, Guard: Admin, Alias: []string{"allowManagedPermissionRulesOnly"}, Doc: "Only managed allow rules count, and none that a session is given; ask and deny rules of every file always do."},
	{Name: "autoMode.allow", When: AtOnce, Makes: MakesClassifier, Kind: Strings, Guard: Person, Doc: "Auto mode: what may run, in plain sentences."},
	{Name: "autoMode.soft_deny", Forbids: true, When: AtOnce, Makes: MakesClassifier, Kind: Strings, Guard: Person, Doc: "Auto mode: what should not run unless the user asked for it."},
	{Name: "autoMode.hard_deny", Forbids: true, When: AtOnce, Makes: MakesClassifier, Kind: Strings, Guard: Person, Doc: "Auto mode: what must never run."},
	{Name: "autoMode.environment", When: AtOnce, Makes: MakesClassifier, Kind: Strings, Guard: Person, Doc: "Auto mode: facts about this environment."},
}

var toolKeys = []Key{
	{Name: "tools.max_parallel", When: NextTurn, Kind: Int, Default: 10, Min: 1, Max: 100, Doc: "Most tool calls at once."},
	{Name: "tools.defer_above", When: NextSession, Kind: Portion, Default: "10%", Doc: "Tokens of tool descriptions, or a share of the window, above which rarely used tools are loaded on demand."},
	{Name: "tools.allowed", Forbids: true, When: AtOnce, Kind: Strings, Flag: "tools", Replaces: true, Doc: "Names of the only tools there are. Unset, or [] in a file: all. With the flag, \"\" is no tool."},
	{Name: "tools.task_list", When: NextSession, Kind: String, Default: "auto", Enum: []string{"auto", "tasks", "todos"}, Doc: "Tools for the list of what is to be done: one that writes it as a whole (todos), four that see its tasks one by one (tasks), or both, the four loaded on demand."},
	{Name: "tools.disallowed", Forbids: true, When: AtOnce, Kind: Strings, Doc: "Names of tools to leave out."},
	{Name: "env", When: AtOnce, Makes: MakesModels | MakesTarget | MakesClassifier, Kind: StringMap, CC: true, Guard: Tighten, Runs: true, Doc: "Variables for commands, hooks and servers, and of your own settings those of providers and proxies (ANTHROPIC_BASE_URL, HTTPS_PROXY …), before the environment's. A project's file cannot redirect a provider or a runtime with it."},
	{Name: "child_env", When: AtOnce, Kind: Strings, Guard: Person, Doc: "Names of further variables that commands may see."},
	{Name: "web.search", When: NextStart, Absent: "web search", Kind: String, Enum: []string{"", "brave", "tavily", "exa", "searxng"}, Guard: Person, Doc: "Search engine where the provider has none."},
	{Name: "web.search_url", When: NextStart, Absent: "web search", Quiet: true, Kind: String, Guard: Person, Doc: "Address of a SearXNG instance."},
}

var bashKeys = []Key{
	{Name: "bash.max_memory", When: NextSession, Kind: Space, Default: "75%", Min: 10e6, Guard: Person, Doc: "Most memory the processes of one command may use, and all commands of a process of adze together; above it they are killed: bytes, \"4GB\", or a share of what this machine has. 0 is no limit."},
	{Name: "bash.max_processes", When: NextSession, Kind: Int, Default: 4096, Min: 1, Guard: Person, Doc: "Most processes of one command at once; above it they are killed."},
	{Name: "bash.wake", When: AtOnce, Kind: Bool, Default: true, Doc: "Begin a turn when a command in the background ends or a monitor tells something while the session is idle: for commands at most 10 in a row without a prompt. With -p, wait 5 seconds for commands at the end. Otherwise the model reads it with the next prompt."},
	{Name: "bash.on_timeout", When: NextSession, Kind: String, Default: "background", Enum: []string{"background", "end"}, Doc: "What becomes of a command that runs into its time limit: it goes on in the background, or it is ended."},
	{Name: "agents.background", When: AtOnce, Kind: String, Default: "auto", Enum: []string{"auto", "always", "never"}, Doc: "Whether agents work in the background: as each call of the model says (auto), always, or never."},
	{Name: "agents.ask_usd", When: AtOnce, Kind: Number, Default: 1.0, Guard: Person, Doc: "Ask before agents are started that together are likely to cost more US dollars than this; 0 asks about no amount."},
	{Name: "agents.verify", When: AtOnce, Kind: Bool, Default: false, Guard: Person, Doc: "After a turn that changed files and says that it is done, have the agent verify check that, once for what you asked for."},
	{Name: "agents.max_alive", When: AtOnce, Kind: Int, Default: 20, Min: 1, Max: 64, Guard: Person, Doc: "Most agents of a session, and of its agents, that work at once."},
}

var sandboxKeys = []Key{
	{Name: "sandbox.enabled", When: NextTurn, Makes: MakesSandbox, Kind: Bool, Default: true, Flag: "sandbox", CC: true, Guard: Tighten, Doc: "Confine commands where the system can. The flag takes on, off or strict: run nothing when the sandbox cannot start (sandbox.fail_if_unavailable)."},
	{Name: "sandbox.fail_if_unavailable", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Bool, Default: false, CC: true, Guard: Tighten, Doc: "Run nothing when the sandbox cannot start."},
	{Name: "sandbox.auto_allow", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Bool, Default: true, CC: true, Guard: Person, Alias: []string{"autoAllowBashIfSandboxed"}, Doc: "Run sandboxed commands without a question."},
	{Name: "sandbox.allow_unsandboxed_commands", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Bool, Default: true, CC: true, Guard: Person, Doc: "Let the model ask to run a command outside the sandbox."},
	{Name: "sandbox.excluded_commands", When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Guard: Person, Doc: "Commands that never run inside."},
	{Name: "sandbox.network.allowed_domains", When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Guard: Own, Runs: true, Doc: "Domains reachable from inside; others are asked about; [] is none."},
	{Name: "sandbox.network.denied_domains", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Doc: "Domains never reachable."},
	{Name: "sandbox.network.strict_allowlist", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Bool, CC: true, Guard: Tighten, Doc: "Refuse other domains without a question."},
	{Name: "sandbox.network.allow_unix_sockets", When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Guard: Person, Doc: "Unix sockets reachable from inside, or folders of them. With any, commands can make sockets of their own."},
	{Name: "sandbox.network.allow_all_unix_sockets", When: NextTurn, Makes: MakesSandbox, Kind: Bool, CC: true, Guard: Person, Doc: "All unix sockets are."},
	{Name: "sandbox.network.allow_local_binding", When: NextTurn, Makes: MakesSandbox, Kind: Bool, CC: true, Guard: Person, Doc: "Commands may listen on local ports."},
	{Name: "sandbox.network.local_ports", When: NextTurn, Makes: MakesSandbox, Kind: Strings, Min: 1, Max: 65535, Guard: Person, Doc: "TCP ports of this machine's localhost that commands reach: [3000, 5432]. Inside they cannot listen on these."},
	{Name: "sandbox.network.registries", When: NextTurn, Makes: MakesSandbox, Kind: Bool, Default: false, Guard: Person, Doc: "Let commands fetch from the hosts that your package managers (npm, yarn, pnpm, pip, uv, cargo, go, apt) are set to, without a question and without uploads. Denied domains stay so."},
	{Name: "sandbox.filesystem.allow_write", When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Guard: Person, Doc: "Further folders and files that are writable inside; what is not there must be made first."},
	{Name: "sandbox.filesystem.deny_write", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Doc: "Paths never writable inside."},
	{Name: "sandbox.filesystem.allow_read", When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Guard: Person, Doc: "Paths readable in spite of deny_read."},
	{Name: "sandbox.filesystem.deny_read", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Strings, CC: true, Doc: "Paths never readable inside."},
	{Name: "sandbox.credentials", Forbids: true, When: NextTurn, Makes: MakesSandbox, Kind: Object, CC: true, Guard: Person, Doc: "Files and variables kept out of the sandbox: {\"files\": [{\"path\": \"~/.config/gh/hosts.yml\", \"mode\": \"deny\"}], \"envVars\": [{\"name\": \"GITHUB_TOKEN\", \"mode\": \"deny\"}]}. The mode mask hides, too."},
}

var uiKeys = []Key{
	{Name: "print.provider_prefix", When: NextStart, Kind: Bool, Default: false, Doc: "Put the provider in front of the names of models in json and stream-json output (anthropic/claude-…)."},
	{Name: "print.strict_exit", When: NextStart, Kind: Bool, Default: false, Flag: "strict-exit", Doc: "End a run with exit code 3 when permissions refused a call, though it has an answer. Not with stream-json."},
	{Name: "compat.transcripts", When: NextSession, Kind: String, Default: "auto", Enum: []string{"auto", "on", "off"}, Guard: Person, Doc: "Keep each session also in the form and the place (~/.claude/projects) where agent SDKs, editors and usage counters look for it: auto does where an SDK starts adze."},
	{Name: "ui.fullscreen", When: AtOnce, Kind: Bool, Default: false, Doc: "Use the alternate screen instead of the terminal's scrollback."},
	{Name: "ui.theme", When: AtOnce, Kind: String, Default: "auto", Alias: []string{"theme"}, Doc: "Colours: auto, dark, light, or a theme's name."},
	{Name: "ui.editor_mode", When: AtOnce, Kind: String, Default: "normal", Enum: []string{"normal", "vim"}, Alias: []string{"editorMode"}, Doc: "Keys of the prompt box."},
	{Name: "ui.plain", When: NextStart, Kind: Bool, Default: false, Flag: "plain", Doc: "No spinner and no redraw, for screen readers."},
	{Name: "ui.ascii", When: AtOnce, Kind: Bool, Default: false, Doc: "Draw signs and borders with ASCII characters."},
	{Name: "ui.title", When: AtOnce, Kind: Bool, Default: true, Doc: "Set the title of the terminal's window."},
	{Name: "ui.show_thinking", When: AtOnce, Kind: Bool, Default: false, Doc: "Show the model's reasoning unfolded."},
	{Name: "ui.notify", When: AtOnce, Kind: String, Default: "auto", Enum: []string{"auto", "bell", "off"}, Doc: "How to say that a person is needed."},
}

var extensionKeys = []Key{
	{Name: "hooks", Forbids: true, When: AtOnce, Makes: MakesSandbox, Kind: Object, CC: true, Runs: true, Doc: "Commands run at events: {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": […]}]}."},
	{Name: "disableAllHooks", When: AtOnce, Kind: Bool, Default: false, CC: true, Guard: Person, Doc: "Run no hook; an administrator's run unless managed settings say so."},
	{Name: "allowManagedHooksOnly", Forbids: true, When: AtOnce, Kind: Bool, Default: false, CC: true, Guard: Admin, Doc: "Run only hooks of managed settings."},
	{Name: "statusLine.type", When: AtOnce, Kind: String, CC: true, Enum: []string{"command"}, Doc: "Always command."},
	{Name: "statusLine.command", When: AtOnce, Makes: MakesSandbox, Kind: String, CC: true, Runs: true, Doc: "Command that prints the footer; gets JSON on stdin."},
	{Name: "statusLine.padding", When: AtOnce, Kind: Int, CC: true, Doc: "Columns left free at both ends."},
	{Name: "statusLine.refreshInterval", When: AtOnce, Kind: Int, CC: true, Doc: "Seconds between runs; 0 is only on changes."},
	{Name: "mcpServers", When: AtOnce, Kind: Objects, Guard: Own, Runs: true, Doc: "MCP servers by name: {\"db\": {\"command\": \"db-server\"}}; see adze mcp."},
	{Name: "enableAllProjectMcpServers", When: AtOnce, Kind: Bool, Default: false, CC: true, Guard: Person, Runs: true, Doc: "Approve every server of a project's .mcp.json."},
	{Name: "enabledMcpjsonServers", When: AtOnce, Kind: Strings, CC: true, Guard: Person, Runs: true, Doc: "Approved servers of .mcp.json."},
	{Name: "disabledMcpjsonServers", Forbids: true, When: AtOnce, Kind: Strings, CC: true, Doc: "Refused servers of .mcp.json."},
	{Name: "allowedMcpServers", Forbids: true, When: AtOnce, Kind: List, CC: true, Guard: Person, Doc: "The only servers that may be used."},
	{Name: "allowManagedMcpServersOnly", Forbids: true, When: AtOnce, Kind: Bool, Default: false, CC: true, Guard: Admin, Doc: "Only the list allowedMcpServers of managed settings counts."},
	{Name: "deniedMcpServers", Forbids: true, When: AtOnce, Kind: List, CC: true, Doc: "Servers that may not be used."},
	{Name: "mcp.wait", When: NextSession, Kind: Int, Default: 5, Max: 600, Doc: "Seconds that a run without a person waits for MCP servers it was started for, before it goes on and says so; 0 waits for none."},
	{Name: "enabledPlugins", When: AtOnce, Kind: Bools, CC: true, Runs: true, Doc: "Which plugins are used, by name@marketplace. Only those count that you installed: adze plugin install."},
	{Name: "pluginConfigs", When: AtOnce, Kind: Objects, CC: true, Guard: Person, Doc: "Options of plugins, by name@marketplace: {\"options\": {\"url\": \"http://localhost\"}}. Secret ones are not here: adze plugin enable NAME --set."},
	{Name: "pluginConfigs.*.options", When: AtOnce, Kind: Object, CC: true, Guard: Person, Doc: "Options of the plugin, by name."},
	{Name: "extraKnownMarketplaces", When: NextStart, Kind: Objects, CC: true, Runs: true, Doc: "Marketplaces that are offered, by name: {\"source\": {\"source\": \"github\", \"repo\": \"OWNER/REPO\"}}. Nothing is fetched before you add one."},
	{Name: "strictKnownMarketplaces", Forbids: true, When: AtOnce, Kind: Anything, CC: true, Guard: Admin, Doc: "The only marketplaces that may be used: a list of sources, or {\"source\": \"hostPattern\", \"hostPattern\": …}."},
	{Name: "blockedMarketplaces", Forbids: true, When: AtOnce, Kind: Anything, CC: true, Guard: Admin, Doc: "Marketplaces that may not be used: a list like that of strictKnownMarketplaces."},
	{Name: "lsp", When: NextStart, Absent: "language servers", Kind: Objects, Runs: true, Doc: "Language servers by name, beside the built-in list."},
	{Name: "worktree.base_ref", When: AtOnce, Kind: String, CC: true, Doc: "The commit that a worktree begins at: head (unless set), fresh (what origin has as its main branch), or a branch, a tag or a commit."},
	{Name: "worktree.uncommitted", When: AtOnce, Kind: Bool, Default: false, Guard: Person, Doc: "A worktree begins with what is not committed in the checkout, as a commit of its branch."},
	{Name: "worktree.check", When: AtOnce, Kind: String, Guard: Person, Runs: true, Doc: "Command that must succeed on the result before a worktree is merged, such as \"go test ./...\". It runs in the worktree, confined as commands of an agent there."},
	{Name: "worktree.symlink_directories", When: AtOnce, Kind: Strings, CC: true, Doc: "Folders that git ignores, such as node_modules, which are links to those of the checkout in a worktree."},
	{Name: "worktree.sparse_paths", When: AtOnce, Kind: Strings, CC: true, Doc: "The only folders that are checked out in a worktree, with the files of the top."},
}

// Fold makes spellings of one name equal: "fallbackModel" and
// "fallback_model" fold alike.
func Fold(name string) string {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
