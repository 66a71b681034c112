package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Settings are those of an agent that apply to all its projects, in the words of
// adze's own.
type Settings struct {
	Servers []Server
	Rules   []Rule
	Notes   []Note
	Errors  []error // files that could not be read
}

// A Server is one of MCP. Why says why it cannot be taken, else it is "".
type Server struct {
	From, Name string
	Config     json.RawMessage // as in mcpServers
	Why        string
}

// A Rule is one of permissions. Why says why it cannot be taken, else it is "".
type Rule struct {
	From   string
	Theirs string
	Effect policy.Effect
	Ours   string
	Why    string
}

// A Note is a file with a person's own instructions for every project.
type Note struct {
	From, Path string
	Size       int64
}

// maxSettings bounds a settings file, in bytes.
const maxSettings = 8 << 20

// Settings reads the settings of all agents. What one file has wrong hides no
// other file.
func (a *Agents) Settings() Settings {
	var s Settings
	a.claudeSettings(&s, a.folder("CLAUDE_CONFIG_DIR"))
	codex := a.folder("CODEX_HOME", ".codex")
	a.codexSettings(&s, filepath.Join(codex, "config.toml"))
	a.geminiSettings(&s, filepath.Join(a.gemini(), "settings.json"))
	for _, name := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
		a.openSettings(&s, filepath.Join(a.config(), "opencode", name))
	}
	for _, dir := range []string{a.config(), a.data()} {
		a.crushSettings(&s, filepath.Join(dir, "crush", "crush.json"))
	}
	for _, n := range []Note{
		{From: ClaudeCode, Path: filepath.Join(a.folder("CLAUDE_CONFIG_DIR", ".claude"), "CLAUDE.md")}, {From: Codex, Path: filepath.Join(codex, "AGENTS.md")},
		{From: Gemini, Path: filepath.Join(a.gemini(), "GEMINI.md")}, {From: OpenCode, Path: filepath.Join(a.config(), "opencode", "AGENTS.md")},
		{From: Crush, Path: filepath.Join(a.config(), "crush", "CRUSH.md")}, {From: Crush, Path: filepath.Join(a.config(), "AGENTS.md")},
	} {
		if info, err := os.Stat(n.Path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			n.Size = info.Size()
			s.Notes = append(s.Notes, n)
		}
	}
	return s
}

// read decodes a settings file, JSON with comments or TOML; false when there is
// none, or nothing of it can be used. What is wrong inside it is in the table.
func (s *Settings) read(path string) (table, bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return table{}, false
	}
	var raw []byte
	switch {
	case err != nil:
	case info.Size() > maxSettings:
		err = fmt.Errorf("it has more than %d MB", maxSettings>>20)
	default:
		raw, err = whole(path)
	}
	var v any = map[string]any{}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) // of editors on Windows
	if err == nil && filepath.Ext(path) == ".toml" {
		var m map[string]any
		err = toml.Unmarshal(raw, &m)
		v = m
	} else if err == nil && len(bytes.TrimSpace(raw)) > 0 {
		if raw, err = hujson.Standardize(append(bytes.Clone(raw), '\n')); err == nil {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			err = d.Decode(&v)
		}
	}
	if err != nil {
		s.Errors = append(s.Errors, fmt.Errorf("read %s: %w", path, err))
		return table{}, false
	}
	return tableOf(v), true
}

// wrong names what is wrong with a file beside its servers and rules.
func (s *Settings) wrong(path string, t table) {
	for _, what := range *t.wrong {
		s.Errors = append(s.Errors, fmt.Errorf("read %s: %s", path, what))
	}
}

// A server is what all agents say of one, in adze's words.
type server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout int               `json:"timeout,omitempty"` // milliseconds
}

var serverName = pattern.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// server adds one. expand makes of a value what has the same meaning here, or
// says why there is nothing.
func (s *Settings) server(from, name string, c server, why string, expand func(string) (string, string)) {
	text := func(v string) string {
		out, not := expand(v)
		if why == "" {
			why = not
		}
		return out
	}
	for _, p := range []*string{&c.Command, &c.URL} {
		*p = text(*p)
	}
	for i := range c.Args {
		c.Args[i] = text(c.Args[i])
	}
	for _, m := range []map[string]string{c.Env, c.Headers} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			m[k] = text(m[k])
		}
	}
	if why == "" {
		switch {
		case !serverName().MatchString(name):
			why = "its name has other characters than letters, digits, - and _"
		case (c.Command == "") == (c.URL == ""):
			why = "it has to have either a command or a URL"
		}
	}
	if c.Type == "stdio" { // what it is without a type, which others leave out
		c.Type = ""
	}
	raw, err := json.Marshal(c)
	if err != nil {
		why = err.Error()
	}
	s.Servers = append(s.Servers, Server{from, name, raw, why})
}

// same is for values in which ${VAR} means what it means here, or cannot be.
func same(v string) (string, string) { return v, "" }

const replaced = "a value has ${…}, which adze would replace"

// literal says why values without variables cannot stay as they are.
func (c server) literal() string {
	all := slices.Concat([]string{c.Command, c.URL}, c.Args, slices.Collect(maps.Values(c.Env)), slices.Collect(maps.Values(c.Headers)))
	if slices.ContainsFunc(all, func(v string) bool { return strings.Contains(v, "${") }) {
		return replaced
	}
	return ""
}

// rule adds one. Ours that adze cannot read is named, and not taken.
func (s *Settings) rule(from, theirs string, e policy.Effect, ours, why string) {
	if why == "" {
		if _, err := policy.ParseRule(ours, e, "", "", ""); err != nil {
			why = err.Error()
		}
	}
	s.Rules = append(s.Rules, Rule{from, theirs, e, ours, why})
}
