// Package shellread reads a shell script into the actions it would do. It
// never runs anything, never guesses, and answers policy.Opaque for whatever
// it does not fully understand.
package shellread

import "github.com/adze-agent/adze/internal/policy"

// A World is what a script's meaning depends on. Its functions may look at
// the file system but never change it and never run anything.
type World struct {
	Dir  string // where the script starts: absolute, resolved
	Home string
	// Real resolves every symlink of an absolute path, also when its last
	// components do not exist yet. nil cleans the path lexically.
	Real func(path string) (string, error)
	// Glob lists what a pattern (absolute) matches now; nil means unknown.
	Glob func(pattern string) []string
	// Git says whether git in this folder runs nothing but git, and if not, why.
	// nil means it was not looked at, and git is not read-only.
	Git func(dir string) (ok bool, why string)
}

// A Script is what was read.
type Script struct {
	Actions []policy.Action
	// ReadOnly is true when every command is provably read-only and every
	// redirect harmless; the Read actions still have to be allowed.
	ReadOnly bool
	// Dir is where the shell would stand at the end, "" when unknown.
	Dir string
}

// Read takes script apart as bash would.
func Read(script string, w World) Script {
	return Script{Actions: []policy.Action{policy.Opaque{Source: script, Why: "scripts are not read yet"}}}
}
