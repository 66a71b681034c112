package settings

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/config"
)

// withoutEffect are the problems of settings of features that this
// version does not have, so that nobody relies on them, and those a run should
// name.
func withoutEffect(cfg *config.Config) (all []config.Problem, loud []string) {
	add := func(at config.Origin, key, what string, quiet bool) {
		all = append(all, config.Problem{Severity: config.Warning, Origin: at, Key: key, Message: "it has no effect: this version has no " + what + " yet", Absent: true})
		if !quiet {
			loud = append(loud, fmt.Sprintf("%s (%s)", key, at))
		}
	}
	for _, k := range config.Table() {
		if k.Absent == "" {
			continue
		}
		s, ok := cfg.Setting(k.Name)
		if !ok || s.Origin.Scope == config.Default {
			continue
		}
		switch strings.TrimSpace(string(s.Value)) {
		case "null", "{}", "[]", `""`, "false", "0":
			continue
		}
		add(s.Origin, k.Name, k.Absent, k.Quiet)
	}
	return all, loud
}
