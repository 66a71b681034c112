package memory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// copilot is what another agent reads as instructions of a repository.
const copilot = ".github/copilot-instructions.md"

// names are the files of a project's folder that are read as instructions, by adze or
// by others that work there.
func names() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".claude/CLAUDE.md", ".adze/AGENTS.md", "AGENTS.local.md", "CLAUDE.local.md", copilot}
}

// Instructs reports whether a file of a project is read as instructions where it stands.
func Instructs(path string) bool {
	path = strings.ToLower(filepath.ToSlash(path))
	return slices.ContainsFunc(names(), func(name string) bool { return strings.HasSuffix(path, "/"+strings.ToLower(name)) }) ||
		strings.HasSuffix(path, ".md") && (strings.Contains(path, "/.claude/rules/") || strings.Contains(path, "/.adze/rules/"))
}

// Places are the files that may be read as instructions when a session starts in dir,
// there or not, in the folders from root on, and in those above it without its rules.
func Places(root, dir string) (out []string) {
	for _, d := range above(root) {
		for _, name := range plain() {
			out = append(out, filepath.Join(d, name))
		}
	}
	for _, d := range between(root, dir) {
		for _, name := range names() {
			out = append(out, filepath.Join(d, filepath.FromSlash(name)))
		}
		for _, rules := range []string{".claude", ".adze"} {
			_ = filepath.WalkDir(filepath.Join(d, rules, "rules"), func(path string, e os.DirEntry, err error) error {
				if len(out) >= maxFiles {
					return filepath.SkipAll
				}
				if err == nil && !e.IsDir() && Instructs(path) {
					out = append(out, path)
				}
				return nil // what cannot be looked at is not read either
			})
		}
	}
	return out
}
