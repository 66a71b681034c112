package doctor

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// foreignPrefix begins variables of Claude Code that are about that program alone.
const foreignPrefix = "CLAUDE_CODE_"

// theirOwn are variables that Claude Code and its SDKs set for what they start: they ask for
// nothing.
var theirOwn = []string{"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_EXECPATH"}

// foreignFindings are the variables of Claude Code, of the environment and of the person's
// settings, that have no effect here, in one line.
func foreignFindings(o app.Invocation, cfg *config.Config) []Finding {
	var names []string
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if value != "" {
			names = append(names, name)
		}
	}
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own && v != "" {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, foreignPrefix) || slices.Contains(theirOwn, name) || choose.Reads(name) ||
			slices.ContainsFunc(config.ForeignVars(), func(v config.ForeignVar) bool { return v.Name == name })
	})
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return []Finding{{"variables", "note", "without effect here: " + clip.Visible(strings.Join(names, ", ")), "adze help environment lists those that adze reads"}}
}

// theirs are files of other agents, below the folder that skill.Homes may move or the
// home folder, that no session reads, each with what stands in its place.
var theirs = []struct{ of, glob, what, hint string }{
	{".config", "opencode/agent/*.md", "opencode's agents", agentHint},
	{".config", "opencode/agents/*.md", "opencode's agents", agentHint},
	{".codex", "rules/*.rules", "Codex's rules for commands", "adze permissions add RULE adds one of adze's own"},
}

const agentHint = "an agent of adze's is a Markdown file in ~/.adze/agents or ~/.claude/agents"

// maxTheirs bounds how many extensions of Gemini are looked at.
const maxTheirs = 50

// unreadFindings say what other agents keep for the person that adze does not use:
// extensions of Gemini that are not plugins here, and definitions in other formats.
func unreadFindings(c Config, p settings.Paths) (out []Finding) {
	if p.Home == "" {
		return nil
	}
	homes := skill.Homes(c.Env)
	at := func(of, glob string) []string {
		dir := cmp.Or(homes[of], filepath.Join(p.Home, of))
		list, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(glob)))
		return list[:min(len(list), maxTheirs)]
	}
	store := ext.Market(p, c.Env, c.Environ, c.Version, nil)
	installed, _ := store.Installed() // pluginFindings say what is wrong with the list
	for _, file := range at(".gemini", "extensions/*/gemini-extension.json") {
		dir := filepath.Dir(file)
		x, _, err := store.Look(dir)
		if err != nil {
			out = append(out, Finding{"extensions", "note", clip.Visible(dir) + ": " + err.Error(), "adze plugin validate " + hint.Shell(dir)})
			continue
		}
		if slices.ContainsFunc(installed, func(in market.Installed) bool { return in.Name == x.Name }) || slices.Contains(c.Extensions.PluginDirs, dir) {
			continue
		}
		var has []string
		for _, n := range []struct {
			n    int
			what string
		}{{commandsOf(x), "command"}, {len(x.Servers), "MCP server"}, {len(x.Hooks), "hook"}, {len(x.Skills), "folder of skills"}, {len(x.Context), "text for every session"}, {len(x.Palettes), "theme"}} {
			switch {
			case n.n == 1:
				has = append(has, "1 "+n.what)
			case n.n > 1 && n.what == "folder of skills":
				has = append(has, clip.Thousands(n.n)+" folders of skills")
			case n.n > 1 && n.what == "text for every session":
				has = append(has, clip.Thousands(n.n)+" texts for every session")
			case n.n > 1:
				has = append(has, clip.Count(n.n, n.what))
			}
		}
		text := "Gemini's extension " + x.Name + " is not used"
		if len(has) > 0 {
			text += ": it has " + strings.Join(has, ", ")
		}
		out = append(out, Finding{"extensions", "note", text, "adze plugin validate " + hint.Shell(dir) + " shows what it would run; --plugin-dir " + hint.Shell(dir) + " uses it for one run"})
	}
	for _, t := range theirs {
		if list := at(t.of, t.glob); len(list) > 0 {
			out = append(out, Finding{"extensions", "note", fmt.Sprintf("%s in %s are not used (%s)", t.what, clip.Visible(filepath.Dir(list[0])), clip.Count(len(list), "file")), t.hint})
		}
	}
	return out
}

// commandsOf counts the files of commands in a plugin.
func commandsOf(x plugin.Plugin) (n int) {
	for _, c := range x.Commands {
		_ = filepath.WalkDir(x.Path(c), func(path string, d fs.DirEntry, err error) error { // what cannot be read is none
			if err == nil && !d.IsDir() && slices.Contains([]string{".md", ".toml"}, filepath.Ext(path)) {
				n++
			}
			return nil
		})
	}
	return n
}
