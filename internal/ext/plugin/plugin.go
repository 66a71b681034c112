// Package plugin reads a plugin: a folder with a manifest, which brings
// commands, skills, hooks, servers and more. It knows the manifests of four
// agents, gives one value for all of them, and says in a line what of it
// cannot be used. It looks only at the file system that it is given, starts
// nothing, and decides nothing.
//
// The formats are public: plugin.json and its folders as published for Claude
// Code (code.claude.com/docs, plugins reference), Codex
// (developers.openai.com/codex, plugins) and Gemini CLI
// (geminicli.com/docs/extensions/reference).
package plugin

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Format says whose manifest a plugin has.
type Format string

// Formats.
const (
	Adze   Format = "adze"
	Claude Format = "claude"
	Codex  Format = "codex"
	Gemini Format = "gemini"
	Bare   Format = "none" // no manifest: the default folders speak for themselves
)

// A Plugin is what a folder brings. It is a value; nothing changes it. Paths
// are below the root, with slashes; Path makes them absolute. It can be kept
// as JSON: the fields that are not part of that are filled in by whoever knows
// where the plugin lies.
type Plugin struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"` // as written; "" when nobody says
	About    string `json:"about,omitempty"`
	Author   string `json:"author,omitempty"`
	Homepage string `json:"homepage,omitempty"`
	License  string `json:"license,omitempty"`
	Format   Format `json:"format"`
	Manifest string `json:"manifest,omitempty"`

	// Skills are folders: of a skill, or of folders of skills. Commands and
	// Agents are folders or Markdown files (commands of Gemini: TOML), Styles and
	// Themes folders or files.
	Skills   []string `json:"skills,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	Styles   []string `json:"styles,omitempty"`
	Themes   []string `json:"themes,omitempty"`
	// Palettes are themes in the form of Gemini's agent.
	Palettes []Palette `json:"palettes,omitempty"`
	// Context are Markdown files that Gemini's agent reads into every session.
	Context []string `json:"context,omitempty"`

	Hooks    []HookGroup `json:"hooks,omitempty"`
	Servers  []Server    `json:"servers,omitempty"`
	LSP      []Server    `json:"lsp,omitempty"` // kept; nothing uses them yet
	Monitors []Monitor   `json:"monitors,omitempty"`
	// Bin is the folder of Programs, which go on the PATH of commands; "" is none.
	Bin      string   `json:"bin,omitempty"`
	Programs []string `json:"programs,omitempty"` // their names

	// What of its settings is used: nothing of it allows anything.
	Agent      string          `json:"agent,omitempty"` // the agent that sessions start with
	StatusLine json.RawMessage `json:"status_line,omitempty"`
	Deny       []string        `json:"deny,omitempty"` // permission rules
	Ask        []string        `json:"ask,omitempty"`

	Options []Option     `json:"options,omitempty"`
	Depends []Dependency `json:"depends,omitempty"`

	// Unread are files with hooks that cannot be read, each with its name.
	Unread []error `json:"-"`

	// Market is where it was installed from, "" for a folder that was given.
	Market string `json:"-"`
	// Root is its folder, absolute: of an installed plugin read-only, and another
	// one for each version. Data is a folder of its own that lasts across updates;
	// it is there once somebody made it.
	Root string `json:"-"`
	Data string `json:"-"`
	// Bytecode is where Python keeps what it compiles of the plugin, which no confined
	// command can write; "" is beside its scripts.
	Bytecode string `json:"-"`
	// Values are those of Options that are no secrets, with their defaults.
	Values map[string]string `json:"-"`
}

// A Palette is a theme as a Gemini extension writes it.
type Palette struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// A HookGroup is the hooks of one matcher at an event, as hook.Parse takes it, or
// hook.ParseOther when Format is Codex or Gemini.
type HookGroup struct {
	Event string          `json:"event"`
	JSON  json.RawMessage `json:"json"`
	From  string          `json:"from"` // the file and its line, below the root
}

// A Server is one that the plugin configures, as it is written: see Expand.
type Server struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
	From string          `json:"from"`
}

// A Monitor is a command that runs as long as the session, and whose lines of
// output are told to the model.
type Monitor struct {
	Name    string `json:"name"`
	Command string `json:"command"` // for the shell: see Expand
	About   string `json:"about,omitempty"`
	// Skill is the one with whose first use the monitor starts; "" is with the
	// session.
	Skill string `json:"skill,omitempty"`
	From  string `json:"from"`
}

// An Option is a value that people are asked for when they enable the plugin.
type Option struct {
	Key      string   `json:"key"`
	Type     string   `json:"type"` // string, number, boolean, directory or file
	Title    string   `json:"title,omitempty"`
	About    string   `json:"about,omitempty"`
	Env      string   `json:"env,omitempty"` // a further name for its variable
	Required bool     `json:"required,omitempty"`
	Secret   bool     `json:"secret,omitempty"`
	Multiple bool     `json:"multiple,omitempty"` // it has several values: see Join
	Default  string   `json:"default,omitempty"`
	Min      *float64 `json:"min,omitempty"` // of a number
	Max      *float64 `json:"max,omitempty"`
}

// A Dependency is another plugin that this one needs.
type Dependency struct {
	Name   string `json:"name"`
	Market string `json:"market,omitempty"` // "" is the same as of who needs it
	Range  string `json:"range,omitempty"`  // of versions, as npm writes them; "" is any
}

// ID is "name@market", or the name alone of a folder that was given.
func (p Plugin) ID() string {
	if p.Market == "" {
		return p.Name
	}
	return p.Name + "@" + p.Market
}

// Origin names the plugin for people.
func (p Plugin) Origin() string { return "the plugin " + p.ID() }

// Path is the absolute path of one below the root.
func (p Plugin) Path(rel string) string { return filepath.Join(p.Root, filepath.FromSlash(rel)) }

// Expand replaces in the strings of a JSON value what stands for the plugin's
// folders, and ${user_config.KEY} by a value of Values or of secrets. What has
// no value stays as it is.
func (p Plugin) Expand(raw json.RawMessage, secrets map[string]string) (json.RawMessage, error) {
	r := p.replacer(secrets)
	return fastjson.MapStrings(raw, r.Replace)
}

func (p Plugin) replacer(secrets map[string]string) *strings.Replacer {
	pairs := p.pairs(secrets)
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = listed(pairs[i])
	}
	return strings.NewReplacer(pairs...)
}

// Join makes the values of an option that may have several into one text.
func Join(values []string) string { return strings.Join(values, "\n") }

// Split is the values of an option as Join made them one text.
func Split(value string) []string { return strings.Split(value, "\n") }

// listed is a value, or several with commas between them.
func listed(v string) string { return strings.ReplaceAll(v, "\n", ",") }

// pairs are what stands for something, each followed by that.
func (p Plugin) pairs(secrets map[string]string) []string {
	pairs := []string{
		"${CLAUDE_PLUGIN_ROOT}", p.Root, "${CLAUDE_PLUGIN_DATA}", p.Data,
		"${ADZE_PLUGIN_ROOT}", p.Root, "${ADZE_PLUGIN_DATA}", p.Data,
	}
	switch p.Format {
	case Codex:
		pairs = append(pairs, "${PLUGIN_ROOT}", p.Root, "${PLUGIN_DATA}", p.Data)
	case Gemini:
		sep := string(filepath.Separator)
		pairs = append(pairs, "${extensionPath}", p.Root, "${/}", sep, "${pathSeparator}", sep, "${workspacePath}", "${CLAUDE_PROJECT_DIR}")
	case Adze, Claude, Bare:
	}
	for _, o := range p.Options {
		if v, ok := p.value(o, secrets); ok {
			pairs = append(pairs, "${user_config."+o.Key+"}", v)
		}
	}
	return pairs
}

// value is what an option is set to. A secret is never taken from Values.
func (p Plugin) value(o Option, secrets map[string]string) (string, bool) {
	from := p.Values
	if o.Secret {
		from = secrets
	}
	v, ok := from[o.Key]
	return v, ok
}

// Environ are the variables of processes that the plugin brings: its hooks,
// servers and monitors. They go to no other process.
func (p Plugin) Environ(secrets map[string]string) []string {
	out := []string{"CLAUDE_PLUGIN_ROOT=" + p.Root, "CLAUDE_PLUGIN_DATA=" + p.Data}
	if p.Bytecode != "" { // Python also reads what it compiled from there alone, and nothing that somebody put beside a script
		out = append(out, "PYTHONPYCACHEPREFIX="+p.Bytecode)
	}
	for _, o := range p.Options {
		v, ok := p.value(o, secrets)
		if !ok {
			continue
		}
		v = listed(v)
		out = append(out, "CLAUDE_PLUGIN_OPTION_"+strings.ToUpper(o.Key)+"="+v)
		if o.Env != "" {
			out = append(out, o.Env+"="+v)
		}
	}
	return out
}

// Secrets are the keys of its options that are kept in the keyring.
func (p Plugin) Secrets() (keys []string) {
	for _, o := range p.Options {
		if o.Secret {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// Missing are the keys of options that are required and not in set.
func (p Plugin) Missing(set map[string]string) (keys []string) {
	for _, o := range p.Options {
		if _, ok := set[o.Key]; o.Required && !ok && o.Default == "" {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// Option finds one by its key.
func (p Plugin) Option(key string) (Option, bool) {
	i := slices.IndexFunc(p.Options, func(o Option) bool { return o.Key == key })
	if i < 0 {
		return Option{}, false
	}
	return p.Options[i], true
}

// A Problem is something in a plugin that is not used, and why.
type Problem struct {
	File string `json:"file,omitempty"` // below the root
	Line int    `json:"line,omitempty"` // 0 when it is unknown
	Text string `json:"text"`           // clean and bounded
	// Note: nothing is wrong; this version has no use for it, or another name is
	// better.
	Note bool `json:"note,omitempty"`
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return at(clip.Visible(p.File), p.Line) + ": " + p.Text
}
