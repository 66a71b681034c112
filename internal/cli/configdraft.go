package cli

import (
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/settings"
)

// mistakes are what is wrong with settings. The error is of a value that was given for
// this run.
func mistakes(o invocation, p settings.Paths, cfg *config.Config) ([]config.Problem, error) {
	_, rules, err := settings.Rules(cfg, p)
	if err != nil {
		return nil, err
	}
	problems := append(append([]config.Problem(nil), cfg.Problems...), rules...)
	if m, err := o.models(p, cfg); err == nil {
		problems = append(problems, m.Problems()...)
	} else if p, ok := networkProblem(cfg, err); ok { // a run says other errors
		problems = append(problems, p)
	}
	if live, err := settings.Open(o.Environment, o.Sources); err == nil { // a run says the error
		problems = append(append(problems, live.Servers(settings.Servers{}).Problems...), o.values(cfg, live)...)
		live.Close()
	}
	_, bad := hooks.Load(cfg)
	for _, err := range bad {
		problems = append(problems, config.Problem{Severity: config.Warning, Key: "hooks", Message: err.Error()})
	}
	return problems, nil
}

// judged says what would be wrong with the settings that is not now, if a file were
// changed: an error where what is written would not count, else warnings.
func judged(o invocation, path string, edits []confedit.Edit) (warnings []string, err error) {
	for _, e := range edits {
		if e.Op == confedit.Unset || e.Op == confedit.Drop {
			return nil, nil
		}
	}
	was, _ := regular.Read(path, config.MaxFile) // whatever is wrong with the file is for the change to find
	text, err := confedit.Apply(was, edits...)
	if err != nil {
		return nil, nil
	}
	o.Sources.Only, o.Sources.Bare, o.Sources.Trusted = nil, false, true
	before, _ := o.mistakes()
	o.Sources.Draft = map[string][]byte{path: text}
	after, err := o.mistakes()
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for _, p := range before {
		known[wrong(p)]++
	}
	for _, p := range after {
		if known[wrong(p)]--; known[wrong(p)] >= 0 {
			continue
		}
		p.Origin = config.Origin{}
		words := strings.TrimPrefix(p.Words(), ": ")
		if p.Absent || p.Severity == config.Warning && p.Key == "permissions.allow" && p.Rule == "" { // it allows nothing
			warnings = append(warnings, words)
			continue
		}
		return nil, usagef(takesHint(p.Key), "not written, because it would not count: %s", words)
	}
	return warnings, nil
}

// mistakes are those of the settings of an invocation.
func (i invocation) mistakes() ([]config.Problem, error) {
	p, cfg, err := i.load()
	if err != nil {
		return nil, err
	}
	return mistakes(i, p, cfg)
}

// wrong tells problems apart wherever they stand in their file.
func wrong(p config.Problem) string {
	return strings.Join([]string{string(p.Severity), p.File, p.Key, p.Message, p.Found, p.Rule}, "\x00")
}
