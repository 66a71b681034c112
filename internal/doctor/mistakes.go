package doctor

import (
	"strings"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/settings"
)

// Mistakes are what is wrong with settings. The error is of a value that was given for
// this run.
func Mistakes(o app.Invocation, p settings.Paths, cfg *config.Config) ([]config.Problem, error) {
	_, rules, err := settings.Rules(cfg, p)
	if err != nil {
		return nil, err
	}
	problems := append(append([]config.Problem(nil), cfg.Problems...), rules...)
	if m, err := o.Models(p.Folders, cfg, !o.Print, nil); err == nil {
		problems = append(problems, m.Problems()...)
	} else if p, ok := networkProblem(cfg, err); ok { // a run says other errors
		problems = append(problems, p)
	}
	if live, err := o.Open(); err == nil { // a run says the error
		problems = append(append(problems, live.Servers(settings.Servers{}).Problems...), values(o, cfg, live)...)
		live.Close()
	}
	_, bad := hooks.Load(cfg)
	for _, err := range bad {
		problems = append(problems, config.Problem{Severity: config.Warning, Key: "hooks", Message: err.Error()})
	}
	return problems, nil
}

// Judged says what would be wrong with the settings that is not now, if a file were
// changed: why what is written would not count, with its key, else warnings.
func Judged(o app.Invocation, path string, edits []confedit.Edit) (warnings []string, key, why string, err error) {
	for _, e := range edits {
		if e.Op == confedit.Unset || e.Op == confedit.Drop {
			return nil, "", "", nil
		}
	}
	was, _ := regular.Read(path, config.MaxFile) // whatever is wrong with the file is for the change to find
	text, err := confedit.Apply(was, edits...)
	if err != nil {
		return nil, "", "", nil
	}
	o.Sources.Only, o.Sources.Bare, o.Sources.Trusted = nil, false, true
	before, _ := all(o)
	o.Sources.Draft = map[string][]byte{path: text}
	after, err := all(o)
	if err != nil {
		return nil, "", "", err
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
		return nil, p.Key, words, nil
	}
	return warnings, "", "", nil
}

// all are the mistakes of the settings of an invocation.
func all(i app.Invocation) ([]config.Problem, error) {
	p, cfg, err := i.Load()
	if err != nil {
		return nil, err
	}
	return Mistakes(i, p, cfg)
}

// wrong tells problems apart wherever they stand in their file.
func wrong(p config.Problem) string {
	return strings.Join([]string{string(p.Severity), p.File, p.Key, p.Message, p.Found, p.Rule}, "\x00")
}
