//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// What people bring along, for extensions.
const (
	benchServers = 5
	benchHooks   = 20
	benchSkills  = 50
	benchPlugins = 10
)

// extensions measures a start with many extensions against one with none. The
// servers are adze's own, over stdio.
func (b *bench) extensions() []figure {
	play := func(_ int, w io.Writer) { say(w, "Hello.") }
	args := []string{"-p", "hello", "--model", "anthropic/claude-sonnet-4-6"}
	b.with(1, play, args...) // warms the cache
	none := b.with(b.runs, play, args...)
	home, plugins := b.equipped()
	args = append(args, plugins...)
	was := b.home
	b.home = home
	defer func() { b.home = was }()
	b.with(1, play, args...)
	all := b.with(b.runs, play, args...)
	return []figure{
		{"start to first request, no extensions", ms(durations(none, first)), ""},
		{"5 servers, 20 hooks, 50 skills, 10 plugins: added", ms(durations(all, first) - durations(none, first)), "< 10 ms"},
		{"the same: wall", ms(durations(all, wall)), ""},
		{"the same: bytes of the first request, added", kb(len(all[0].bodies[0]) - len(none[0].bodies[0])), ""},
	}
}

// equipped is a home with extensions, and the flags that name plugins.
func (b *bench) equipped() (home string, flags []string) {
	home = filepath.Join(b.dir, "equipped")
	put := func(path, text string) {
		check(os.MkdirAll(filepath.Dir(path), 0o755))
		check(os.WriteFile(path, []byte(text), 0o644))
	}
	skill := func(dir, name string) {
		put(filepath.Join(dir, name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: does what %s does when somebody asks for it\n---\n%s", name, name, strings.Repeat("One sentence of a skill. ", 100)))
	}
	for i := range benchSkills {
		skill(filepath.Join(home, ".adze", "skills"), fmt.Sprintf("skill-%d", i))
	}
	for i := range benchPlugins {
		dir := filepath.Join(b.dir, fmt.Sprintf("plugin%d", i))
		put(filepath.Join(dir, ".claude-plugin", "plugin.json"), fmt.Sprintf(`{"name": "plugin%d", "version": "1.0.0"}`, i))
		skill(filepath.Join(dir, "skills"), fmt.Sprintf("plugged-%d", i))
		flags = append(flags, "--plugin-dir", dir)
	}
	var hooks []map[string]any
	for i := range benchHooks {
		hooks = append(hooks, map[string]any{"type": "command", "command": fmt.Sprintf("true %d", i)})
	}
	servers := map[string]any{}
	for i := range benchServers {
		servers[fmt.Sprintf("server%d", i)] = map[string]any{"command": b.bin, "args": []string{"mcp", "serve"}}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers, "hooks": map[string]any{"PreToolUse": []any{map[string]any{"hooks": hooks}}}})
	check(err)
	put(filepath.Join(home, ".adze", "settings.json"), string(text))
	return home, flags
}
