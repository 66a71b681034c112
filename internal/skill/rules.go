package skill

import (
	"path/filepath"
	"strings"
)

// Rules are permission rules of the skill with the folders that it names by variables in
// them (${CLAUDE_PLUGIN_ROOT}, $CLAUDE_PROJECT_DIR, and the same with ADZE_), each as the
// text that a rule takes for this folder and nothing else.
func (s Skill) Rules(list []string, u Use) []string {
	v := values{s: s, u: u}
	out := make([]string, 0, len(list))
	for _, rule := range list {
		open := strings.IndexByte(rule, '(')
		if open < 0 || !strings.Contains(rule, "$") {
			out = append(out, rule)
			continue
		}
		tool, spec := rule[:open], rule[open:]
		special := `*?[\` // in a path
		if tool == "Bash" || tool == "PowerShell" {
			special = " \t*'\"\\"
		}
		for _, name := range []string{"PLUGIN_ROOT", "PLUGIN_DATA", "PROJECT_DIR", "SKILL_DIR"} {
			for _, prefix := range []string{"CLAUDE_", "ADZE_"} {
				dir, ok := v.named(prefix + name)
				if !ok || dir == "" {
					continue
				}
				dir = literal(filepath.ToSlash(dir), special)
				for _, form := range []string{"${" + prefix + name + "}", "$" + prefix + name} {
					if tool != "Bash" && tool != "PowerShell" && strings.HasPrefix(dir, "/") { // one slash is the folder of the rule
						spec = strings.ReplaceAll(spec, "("+form, "(/"+dir)
					}
					spec = strings.ReplaceAll(spec, form, dir)
				}
			}
		}
		out = append(out, tool+spec)
	}
	return out
}

// literal escapes what stands for more than itself.
func literal(text, special string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(special, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
