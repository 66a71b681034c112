package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A holder is a file that holds secrets.
type holder struct {
	path, real string
	mark       mark
	values     []string
}

// secrets says which secrets are hidden from a command, and which values are masked in
// what it prints, by its needs.
func (t *auditor) secrets(seen sight, needs policy.Needs) policy.Kept {
	var in policy.Kept
	if needs.Hide == policy.HideNothing || len(seen.keys) == 0 {
		return in
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hold(seen.keys)
	in.Masked = t.masked(needs.Shown)
	for _, h := range t.holders {
		switch {
		case h.within(needs.Shown), h.within(t.policy.Readable): // the settings show it
		case needs.Hide == policy.HideValues:
		case needs.Hide == policy.HideUntracked && t.survey.tracked(h.path, seen.dots):
		default:
			in.Hidden = append(in.Hidden, h.real)
		}
	}
	return in
}

// within reports whether a file is one of some, or lies in one.
func (h holder) within(list []string) bool {
	return paths.WithinAny(list, h.real) || paths.WithinAny(list, h.path)
}

// hold takes the values of files, anew where they changed; t.mu is held.
func (t *auditor) hold(files []string) {
	now, known := time.Now(), make(map[string]holder, len(t.holders))
	for _, h := range t.holders {
		known[h.path] = h
	}
	public := t.public == nil // later, a command may have written what it says is public
	if public {
		t.public = map[string]bool{}
	}
	t.holders = t.holders[:0]
	for _, at := range files {
		is := real(at)
		m := markOf(is, now)
		h, ok := known[at]
		if !ok || h.real != is || h.mark != m || !m.settled {
			h = holder{path: at, real: is, mark: m, values: secret.Values(at, string(t.text(is)))}
		}
		t.holders = append(t.holders, h)
		if public && len(h.values) > 0 {
			for _, example := range policy.Examples(at) {
				for _, v := range secret.Values(example, string(t.text(example))) {
					t.public[v] = true
				}
			}
		}
	}
}

// masked are the values of the files that were held last, but those that stand in some
// paths as well, or in an example; t.mu is held.
func (t *auditor) masked(shown []string) (out []string) {
	open := map[string]bool{}
	for _, h := range t.holders {
		if h.within(shown) || h.within(t.policy.Readable) {
			for _, v := range h.values {
				open[v] = true
			}
		}
	}
	for _, h := range t.holders {
		for _, v := range h.values {
			if !open[v] && !t.public[v] {
				out = append(out, v)
			}
		}
	}
	return out
}

// Secrets are the values in files of the workspace that hold secrets, when the last
// command began, but those that stand in some paths.
func (s *Sandbox) Secrets(shown []string) []string {
	if s.auditor == nil {
		return nil
	}
	s.auditor.mu.Lock()
	defer s.auditor.mu.Unlock()
	return s.auditor.masked(shown)
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
