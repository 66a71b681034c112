//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The themes of plugins are in the list of /theme by plugin and name, what is
// wrong in one is said with its line, and one that was chosen counts at the next start.
func TestUIThemesOfPlugins(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	dir := filepath.Join(p.dir, "neon")
	for name, text := range map[string]string{
		".claude-plugin/plugin.json":   `{"name": "neon", "version": "1.0.0"}`,
		"themes/night.json":            `{"name": "Night", "base": "dark", "colors": {"accent": "#ff00ff"}}`,
		"themes/odd.json":              "{\"base\": \"dark\", \"colors\": {\n\"acent\": \"#ff00ff\"}}",
		"themes/notes.txt":             "no theme",
		"../gem/gemini-extension.json": `{"name": "gem", "version": "1.0.0", "themes": [{"name": "Deep Sea", "text": {"accent": "#0000ff"}}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		p.put(filepath.Join("neon", name), text)
	}
	flags := []string{"--model", "script/" + p.put("model.txt", "> One.\n"), "--sandbox", "off", "--plugin-dir", dir, "--plugin-dir", filepath.Join(p.dir, "gem")}
	x := p.inTerminal(p.adze(flags...), 100, 40)
	x.until(`What shall be done here`)
	x.keys("/theme", enter)
	x.until(`(?s)neon:night.*neon:odd.*gem:Deep Sea`)
	x.keys("\x1b")
	x.gone(`neon:night`)
	x.keys("/theme neon:odd", enter)
	x.until(`the theme neon:odd: .*did you mean "accent"`)
	x.keys("/theme gem:Deep Sea", enter)
	x.when("the colours of Deep Sea", func(string) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return bytes.Contains(x.bytes, []byte("38;2;0;0;255"))
	})
	x.keys("/theme neon:night", enter)
	x.keys("/exit", enter)
	x.ended()
	x = p.inTerminal(p.adze(flags...), 100, 40)
	x.until(`What shall be done here`)
	x.keys("/exit", enter)
	x.ended()
	if !bytes.Contains(x.bytes, []byte("38;2;255;0;255")) || strings.Contains(x.all(), "there is no theme") {
		t.Errorf("the theme does not count at the next start:\n%s", x.all())
	}
}
