// Package config is the settings: layered files, flags and environment folded
// into one immutable value that knows where each part of it came from. It
// reads through what it is given, never writes, never touches the operating
// system, and holds no credentials.
package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A Config is all settings of one start. It is never changed: a reload makes
// another one. Field names in JSON are the published names of the keys.
type Config struct {
	Models
	Budgets
	Texts

	Permissions Permissions `json:"permissions"`
	Tools       Tools       `json:"tools"`
	Bash        Bash        `json:"bash"`
	Agents      Agents      `json:"agents"`
	Env         Env         `json:"env"`
	ChildEnv    []string    `json:"child_env"`
	Network     Network     `json:"network"`
	UI          UI          `json:"ui"`
	Print       Print       `json:"print"`
	Compat      Compat      `json:"compat"`
	Memory      Memory      `json:"memory"`
	Context     Context     `json:"context"`
	Sandbox     Sandbox     `json:"sandbox"`
	Worktree    Worktree    `json:"worktree"`
	Extensions

	CleanupDays int     `json:"cleanup_days"` // age at which sessions are removed; 0 keeps them
	Titles      bool    `json:"titles"`       // the small model names sessions
	Helpers     Helpers `json:"helpers"`

	Report `json:"-"`
	tree   *node
	// covered are servers of layers of which a stronger one has the name.
	covered []member
	// What a reload starts from: what each file said when it could be read,
	// and what counted of each layer of the repository.
	said map[string]*node
	repo map[layerKey]*node
}

// Models choose and describe models.
type Models struct {
	Model         string `json:"model"`
	FallbackModel string `json:"fallback_model"`
	SmallModel    string `json:"small_model"`
	Effort        Effort `json:"effort"`
	// MaxOutput is how many tokens a reply may have; 0 leaves it to the model's facts.
	MaxOutput Count               `json:"max_output_tokens"`
	Aliases   map[string]string   `json:"model_aliases"`
	Providers map[string]Provider `json:"providers"`
	// Facts corrects or extends the embedded table: "provider/model" → its
	// window, output cap, prices; package price reads the objects.
	Facts map[string]json.RawMessage `json:"models"`
	// APIKeyHelper is a command that prints the key of the anthropic provider.
	APIKeyHelper string `json:"apiKeyHelper"`
}

// A Provider is an endpoint that speaks one of the wires.
type Provider struct {
	Wire    string            `json:"wire"` // one of wires
	BaseURL string            `json:"base_url"`
	KeyEnv  string            `json:"key_env"` // name of the variable that holds the key
	Headers map[string]string `json:"headers"`
	Models  []string          `json:"models"` // names it offers, where it cannot be asked
	// Effort, Reasoning and Images say what its servers take; "" and nil: what is known.
	Effort    string `json:"effort"`
	Reasoning string `json:"reasoning"`
	Images    *bool  `json:"images"`
}

// An Effort is "", none, low, medium, high, xhigh, max, or a number of reasoning tokens.
type Effort struct {
	Level  string
	Tokens int
}

// Budgets end a turn. Zero means none.
type Budgets struct {
	MaxTurns int    `json:"max_turns"`
	CacheTTL string `json:"cache_ttl"`
	// CacheRetention and ReasoningSummary are for the wire openai.
	CacheRetention   string `json:"cache_retention"`
	ReasoningSummary string `json:"reasoning_summary"`
	// StreamIdleTimeout is in seconds; 0 leaves it to the defaults.
	StreamIdleTimeout int     `json:"stream_idle_timeout"`
	MaxBudgetUSD      float64 `json:"max_budget_usd"`
	TokenBudget       Count   `json:"token_budget"`
	Cost              Cost    `json:"cost"`
}

// Cost is what to say and do about money.
type Cost struct {
	WarnUSD        float64 `json:"warn_usd"`
	UnknownPriceOK bool    `json:"unknown_price_ok"` // a model without a known price does not end a turn that has a budget
}

// Texts steer what the model is told.
type Texts struct {
	Profile            string `json:"profile"` // auto, full or small
	OutputStyle        string `json:"output_style"`
	Language           string `json:"language"`
	Agent              string `json:"agent"`
	SystemPrompt       string `json:"system_prompt"`
	AppendSystemPrompt string `json:"append_system_prompt"`
}

// Permissions are rules and modes. The lists keep where each entry stands,
// which a rule's "/x" pattern and a verdict's reason need.
type Permissions struct {
	Allow []Rule `json:"-"`
	Ask   []Rule `json:"-"`
	Deny  []Rule `json:"-"`
	// Dirs are additional folders, as written: relative ones count from
	// their Origin.Root, "~/" is the home folder.
	Dirs          []Rule   `json:"-"`
	DefaultMode   string   `json:"defaultMode"` // a name of policy.ParseMode
	DisableBypass Disabled `json:"disableBypassPermissionsMode"`
	DisableAuto   Disabled `json:"disableAutoMode"`
	// ManagedOnly, when managed settings say so, leaves only managed allow
	// rules in force. Load has dropped the others already.
	ManagedOnly bool     `json:"managed_only"`
	AutoMode    AutoMode `json:"-"`
	// Refused is the mode that a flag or a variable asks for and settings forbid, "" when
	// there is none. No session begins then.
	Refused policy.Mode `json:"-"`
	// Unsafe, when not empty, says why nothing may pass without a question:
	// a permissions block could not be read.
	Unsafe string `json:"-"`
}

// Mode returns the mode to start in.
func (p Permissions) Mode() policy.Mode {
	m, _ := policy.ParseMode(p.DefaultMode)
	return m
}

// A Rule is one entry of a permissions list and where it stands.
type Rule struct {
	Text string
	Origin
}

// AutoMode are plain sentences for the classifier.
type AutoMode struct {
	Allow       []string `json:"allow"`
	SoftDeny    []string `json:"soft_deny"`
	HardDeny    []string `json:"hard_deny"`
	Environment []string `json:"environment"`
}

// Tools says which tools there are and how they run.
type Tools struct {
	MaxParallel int      `json:"max_parallel"`
	DeferAbove  Share    `json:"defer_above"` // of tool schemas; more are loaded on demand
	Allowed     []string `json:"allowed"`     // empty: all
	Disallowed  []string `json:"disallowed"`
	TaskList    string   `json:"task_list"` // auto, tasks or todos
}

// Agents are how sessions that work for another one are started.
type Agents struct {
	Background string  `json:"background"` // auto, always or never
	MaxAlive   int     `json:"max_alive"`  // at once
	AskUSD     float64 `json:"ask_usd"`    // 0 asks about no amount
	Verify     bool    `json:"verify"`     // what was done is checked by an agent
}

// Bash are the bounds of commands.
type Bash struct {
	MaxMemory    Amount `json:"max_memory"` // of one command and of all of a process together; 0 is no limit
	MaxProcesses int    `json:"max_processes"`
	Wake         bool   `json:"wake"` // the end of one in the background begins a turn of an idle session
	OnTimeout    string `json:"on_timeout"`
}

// Env are variables for commands, hooks and servers.
type Env map[string]string

// Network is how providers are reached.
type Network struct {
	Proxy  string `json:"proxy"`
	CAFile string `json:"ca_file"`
}

// Print is what print mode writes for programs.
type Print struct {
	ProviderPrefix bool `json:"provider_prefix"` // models are called provider/model
	StrictExit     bool `json:"strict_exit"`     // a refused call is exit code 3
}

// Compat is what is done for programs that know another agent.
type Compat struct {
	Transcripts string `json:"transcripts"` // auto, on or off
}

// UI is the terminal.
type UI struct {
	Fullscreen   bool   `json:"fullscreen"`
	Theme        string `json:"theme"`
	EditorMode   string `json:"editor_mode"` // normal or vim
	Plain        bool   `json:"plain"`       // for screen readers: no spinner, no redraw
	ASCII        bool   `json:"ascii"`       // no sign that is not ASCII
	Title        bool   `json:"title"`       // set the terminal's title
	ShowThinking bool   `json:"show_thinking"`
	Notify       string `json:"notify"` // auto, bell or off
}

// Context is how a conversation is kept within its model's window.
type Context struct {
	ProviderEditing bool `json:"provider_editing"` // the provider clears old results where it can
}

// Memory bounds memory files. Sizes are characters and bytes per file.
type Memory struct {
	WarnChars int      `json:"warn_chars"`
	MaxBytes  int      `json:"max_bytes"`
	Excludes  []string `json:"excludes"` // globs of files not to read
	Imports   []string `json:"imports"`  // files and folders outside of the repository
	Auto      bool     `json:"auto"`     // automatic memory
	Session   bool     `json:"session"`  // notes of each session
}

// Worktree is how worktrees are made. Paths are relative to the top of the repository.
type Worktree struct {
	BaseRef     string   `json:"base_ref"` // "" is head
	Uncommitted bool     `json:"uncommitted"`
	Check       string   `json:"check"` // "" is none
	Links       []string `json:"symlink_directories"`
	Sparse      []string `json:"sparse_paths"`
}

// Helpers are what models do beside a session besides titles, notes and the memory.
type Helpers struct {
	Suggestions bool `json:"suggestions"` // of the next prompt
	Progress    bool `json:"progress"`    // lines about what agents work on
}

// Sandbox is the confinement of commands. Paths are as written.
type Sandbox struct {
	Enabled           bool              `json:"enabled"`
	FailIfUnavailable bool              `json:"fail_if_unavailable"`
	AutoAllow         bool              `json:"auto_allow"`
	AllowUnsandboxed  bool              `json:"allow_unsandboxed_commands"`
	ExcludedCommands  []string          `json:"excluded_commands"`
	Network           SandboxNetwork    `json:"network"`
	Filesystem        SandboxFilesystem `json:"filesystem"`
	Credentials       json.RawMessage   `json:"credentials"`
}

// SandboxNetwork says what may be reached from inside.
type SandboxNetwork struct {
	AllowedDomains  []string `json:"allowed_domains"`
	DeniedDomains   []string `json:"denied_domains"`
	StrictAllowlist bool     `json:"strict_allowlist"`
	UnixSockets     []string `json:"allow_unix_sockets"`
	AllUnixSockets  bool     `json:"allow_all_unix_sockets"`
	LocalBinding    bool     `json:"allow_local_binding"`
	LocalPorts      []string `json:"local_ports"` // numbers
	Registries      bool     `json:"registries"`
}

// SandboxFilesystem adds to what may be read and written inside.
type SandboxFilesystem struct {
	AllowWrite []string `json:"allow_write"`
	DenyWrite  []string `json:"deny_write"`
	AllowRead  []string `json:"allow_read"`
	DenyRead   []string `json:"deny_read"`
}

// A PluginConfig is what a person set for one plugin.
type PluginConfig struct {
	Options map[string]any `json:"options"`
}

// Extensions are kept as they were written, checked for shape only: the
// packages that own them read them.
type Extensions struct {
	Hooks           json.RawMessage `json:"hooks"` // event → matchers; see compat 4.3
	DisableAllHooks bool            `json:"disableAllHooks"`
	// ManagedHooksOnly leaves only hooks of managed settings.
	ManagedHooksOnly bool                       `json:"allowManagedHooksOnly"`
	StatusLine       *StatusLine                `json:"statusLine"`
	MCP              MCP                        `json:"-"`
	Waits            Waits                      `json:"mcp"`
	EnabledPlugins   map[string]bool            `json:"enabledPlugins"` // "name@marketplace"
	Marketplaces     map[string]json.RawMessage `json:"extraKnownMarketplaces"`
	StrictMarkets    json.RawMessage            `json:"strictKnownMarketplaces"`
	BlockedMarkets   json.RawMessage            `json:"blockedMarketplaces"`
	PluginConfigs    map[string]PluginConfig    `json:"pluginConfigs"` // by "name@marketplace"
}

// A StatusLine is a command that draws the footer.
type StatusLine struct {
	Type            string `json:"type"`
	Command         string `json:"command"`
	Padding         int    `json:"padding"`
	RefreshInterval int    `json:"refreshInterval"` // seconds
}

// Waits are times of MCP servers.
type Waits struct {
	Start int `json:"wait"` // seconds that a print run waits for those it was started for
}

// MCP are servers and what was decided about those a project brings.
type MCP struct {
	Servers          map[string]json.RawMessage `json:"mcpServers"`
	EnableAllProject bool                       `json:"enableAllProjectMcpServers"`
	Enabled          []string                   `json:"enabledMcpjsonServers"`
	Disabled         []string                   `json:"disabledMcpjsonServers"`
	Allowed          []json.RawMessage          `json:"allowedMcpServers"`
	Denied           []json.RawMessage          `json:"deniedMcpServers"`
	// ManagedListOnly: Allowed is what managed settings list, and nobody adds to it.
	ManagedListOnly bool `json:"allowManagedMcpServersOnly"`
}

// A Count is a number of tokens; in files also "500k" or "+1.5M".
type Count int

// UnmarshalJSON reads a number or a string such as "500k".
func (c *Count) UnmarshalJSON(b []byte) error {
	n, ok := parseCount(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("%s is not a number of tokens", b)
	}
	*c = Count(n)
	return nil
}

func parseCount(s string) (int, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "+")
	unit := 1.0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'k', 'K':
			unit, s = 1e3, s[:n-1]
		case 'm', 'M':
			unit, s = 1e6, s[:n-1]
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f*unit <= 1e12) || f*unit < 1 && !zero([]byte(s)) || unit == 1 && f != math.Trunc(f) {
		return 0, false
	}
	return int(math.Round(f * unit)), true
}

// A Share is a number of tokens, or a part of the model's window.
type Share struct {
	Tokens  int     // used when Percent is 0
	Percent float64 // of the window
}

// Of returns the share of a window in tokens.
func (s Share) Of(window int) int {
	if s.Percent > 0 {
		return int(float64(window) * s.Percent / 100)
	}
	return s.Tokens
}

// UnmarshalJSON reads a number of tokens or "10%".
func (s *Share) UnmarshalJSON(b []byte) error {
	v, ok := parseShare(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("%s is neither a number of tokens nor a percentage", b)
	}
	*s = v
	return nil
}

func parseShare(t string) (Share, bool) {
	if p, isPercent := strings.CutSuffix(strings.TrimSpace(t), "%"); isPercent {
		f, err := strconv.ParseFloat(p, 64)
		return Share{Percent: f}, err == nil && f > 0 && f <= 100
	}
	n, ok := parseCount(t)
	return Share{Tokens: n}, ok
}

// UnmarshalJSON reads a level or a number.
func (e *Effort) UnmarshalJSON(b []byte) error {
	t := strings.Trim(string(b), `"`)
	if n, ok := parseCount(t); ok {
		*e = Effort{Tokens: n}
		return nil
	}
	*e = Effort{Level: t}
	return nil
}

// Disabled is true or the word "disable".
type Disabled bool

// UnmarshalJSON reads true, false or "disable".
func (d *Disabled) UnmarshalJSON(b []byte) error {
	*d = string(b) == "true" || string(b) == `"disable"`
	return nil
}
