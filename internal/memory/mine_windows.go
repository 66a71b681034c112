package memory

import "github.com/adze-agent/adze/internal/text/paths"

// mine reports whether a path is in the person's own folder: other places are open to
// others on most machines.
func mine(path, home string, _ bool) bool { return home != "" && paths.Within(home, path) }
