package policy

import "strings"

// Why is the reason together with the rule that settled it and where that rule
// stands, each once.
func (v Verdict) Why() string {
	var rule []string
	if v.Rule != "" && !strings.Contains(v.Reason, v.Rule) {
		rule = append(rule, "rule "+v.Rule)
	}
	if v.Rule != "" && v.Source != "" {
		rule = append(rule, v.Source)
	}
	if len(rule) == 0 {
		return v.Reason
	}
	return v.Reason + " (" + strings.Join(rule, ", ") + ")"
}
