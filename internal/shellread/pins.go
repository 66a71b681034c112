package shellread

import (
	"path"

	"github.com/adze-agent/adze/internal/policy"
)

// goFetches is why go needs pins.
const goFetches = "go may fetch the toolchain and the modules that go.mod names"

// withoutPins says why the command may do more than its row says in an
// environment that is not pinned, "" when it does not.
func (u *use) withoutPins(name string) string {
	if u.r.w.Program != nil && path.Base(name) == name {
		if why := u.r.w.Program(name); why != "" {
			return why
		}
	}
	switch base(name) {
	case "git":
		return u.gitUnpinned()
	case "go":
		return goFetches
	}
	return ""
}

func (u *use) gitUnpinned() string {
	if u.r.w.GitUnpinned == nil {
		return "nobody looked at the repository's settings"
	}
	for _, d := range u.st.dirs {
		if ok, why := u.r.w.GitUnpinned(d); !ok {
			return why
		}
	}
	return ""
}

// fetches takes back that go needs pins where another go command in the same
// folder needs a ruling of its own: that one fetches the same.
func (r *reader) fetches() {
	rules := map[string]bool{} // folders
	for _, a := range r.acts {
		if e, ok := a.(policy.Exec); ok && e.Argv[0] == "go" && e.Dir != "" && !e.ReadOnly && !e.Edits && !e.Maybe {
			rules[e.Dir] = true
		}
	}
	for i, a := range r.acts {
		if e, ok := a.(policy.Exec); ok && e.Unpinned == goFetches && rules[e.Dir] {
			e.Unpinned = ""
			r.acts[i] = e
		}
	}
}
