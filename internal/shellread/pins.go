package shellread

import (
	"path"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// goFetches is why go needs pins.
const goFetches = "go may fetch the toolchain and the modules that go.mod names"

// reportUnpinned says of each command that only reads or edits why it may do more in
// an environment that is not pinned. Where all commands are such, they get one
// that is, so nothing is looked at.
func (r *reader) reportUnpinned() {
	mixed, fetched := r.Unclear, map[string]bool{} // folders where a go command needs a ruling of its own
	for _, a := range r.Actions {
		if e, ok := a.(policy.Exec); ok && !e.ReadOnly && !e.Edits && e.Sure < policy.Possible {
			mixed = true
			if e.Argv[0] == "go" && e.Dir != "" {
				fetched[e.Dir] = true
			}
		}
	}
	said := map[string]string{}
	for i, a := range r.Actions {
		e, ok := a.(policy.Exec)
		if !ok || e.Unpinned == "" {
			continue
		}
		key := e.Unpinned
		e.Unpinned = ""
		if mixed {
			why, known := said[key]
			if !known {
				why = r.unpinnedWhy(strings.Split(key, "\x00"))
				said[key] = why
			}
			if why != goFetches || !fetched[e.Dir] { // that one fetches the same
				e.Unpinned = why
			}
		}
		r.Actions[i] = e
	}
}

// unpinnedWhy is the reason for one program, with the folders of git.
func (r *reader) unpinnedWhy(words []string) string {
	name, dirs := words[0], words[1:]
	if r.World.Program != nil && path.Base(name) == name {
		if why := r.World.Program(name); why != "" {
			return why
		}
	}
	switch programs.Base(name) {
	case "find", "xargs":
		if len(dirs) > 0 {
			return r.unpinnedWhy(dirs)
		}
	case "go":
		return goFetches
	case "git":
		if r.World.GitUnpinned == nil {
			return "nobody looked at the repository's settings"
		}
		for _, d := range dirs {
			if ok, why := r.World.GitUnpinned(d); !ok {
				return why
			}
		}
	}
	return ""
}
