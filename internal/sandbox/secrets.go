package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// secrets says which secrets are hidden from a command, by its needs.
func (t *auditor) secrets(seen sight, needs policy.Needs) policy.Kept {
	var in policy.Kept
	if needs.Hide == policy.HideNothing || len(seen.keys) == 0 {
		return in
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, at := range seen.keys {
		is := real(at)
		switch {
		case paths.WithinAny(needs.Shown, is), paths.WithinAny(needs.Shown, at):
		case paths.WithinAny(t.policy.Readable, is): // the settings show it
		case needs.Hide == policy.HideValues:
			if in.Masked == nil {
				in.Masked = map[string]string{}
			}
			in.Masked[at] = string(t.text(is))
		case needs.Hide == policy.HideUntracked && t.survey.tracked(at, seen.dots):
		default:
			in.Hidden = append(in.Hidden, is)
		}
	}
	return in
}

// tooManySecrets is how many files hold secrets.
type tooManySecrets int

func (n tooManySecrets) Error() string {
	return fmt.Sprintf("%d files here may hold secrets, more than a command can be kept from", int(n))
}

// Hint is what to do.
func (tooManySecrets) Hint() string {
	return "name the files that it is to read, or allow the folder with the secrets: Read(testdata/**)"
}

// tracked reports whether git has the content of a file, in the nearest repository of
// those that were seen.
func (v *survey) tracked(file string, dots []string) bool {
	top := ""
	for _, dot := range dots {
		if dir := filepath.Dir(dot); paths.Within(dir, file) && len(dir) > len(top) {
			top = dir
		}
	}
	if top == "" {
		repo, err := conf.Find(filepath.Dir(file))
		if err != nil {
			return false
		}
		top = repo.Top
	}
	git, err := conf.GitDir(filepath.Join(top, ".git"))
	if err != nil {
		return false
	}
	index := markOf(filepath.Join(git, "index"), time.Now())
	known, ok := v.held[top]
	if !ok || known.mark != index || !index.settled {
		known = indexed{mark: index}
		list, whole := conf.Tracked(top, maxFar)
		for _, f := range list {
			if policy.HoldsSecrets(f) {
				known.to = append(known.to, f)
			}
		}
		if !whole {
			known.to = nil
		}
		if v.held == nil {
			v.held = map[string]indexed{}
		}
		v.held[top] = known
	}
	return slices.Contains(known.to, file)
}
