package effect

import "slices"

// Changed names what a call changed on disk, in such a way that it can be
// undone. Missed says in plain words what of it cannot.
type Changed struct {
	Files  []Change `json:"files,omitempty"`
	Missed []string `json:"missed,omitempty"`
}

func (Changed) effect() {}

// Then is what was changed when next was changed after it: of each path the first
// state before and the last one after.
func (c Changed) Then(next Changed) Changed {
	at, out := map[string]int{}, Changed{Files: slices.Clone(c.Files), Missed: slices.Concat(c.Missed, next.Missed)}
	for i, f := range out.Files {
		at[f.Path] = i
	}
	for _, f := range next.Files {
		if i, ok := at[f.Path]; ok {
			out.Files[i].After = f.After
			continue
		}
		at[f.Path] = len(out.Files)
		out.Files = append(out.Files, f)
	}
	return out
}

// Any reports whether anything was changed, or is not known.
func (c Changed) Any() bool { return len(c.Files)+len(c.Missed) > 0 }

// Unknown is what Missed says besides of Files.
func (c Changed) Unknown() []string {
	return slices.DeleteFunc(slices.Clone(c.Missed), func(m string) bool {
		return slices.ContainsFunc(c.Files, func(f Change) bool { return f.Before.Lost != "" && m == f.Path+": "+f.Before.Lost })
	})
}

// A Change is a path before and after a call.
type Change struct {
	Path   string  `json:"path"` // absolute
	Before Version `json:"before"`
	After  Version `json:"after"`
	// Names are paths that were the same file before (hard links), the ones that
	// stayed so first; at most eight.
	Names []string `json:"names,omitempty"`
}

// A Version is what stood at a path. The zero value is nothing.
type Version struct {
	Kind VersionKind `json:"kind,omitempty"`
	Mode uint32      `json:"mode,omitempty"` // the bits of fs.FileMode without the type
	Size int64       `json:"size,omitempty"` // of a file, in bytes
	Hash string      `json:"hash,omitempty"` // of a file's content, SHA-256 as hex, under which it is kept
	Link string      `json:"link,omitempty"` // where a link points
	Lost string      `json:"lost,omitempty"` // why a file's content is not kept
}

// A VersionKind is what a Version is.
type VersionKind string

// Kinds of versions. Elsewhere is something that was there before the call, in
// a place that is not looked at, and that the call moved to the path.
const (
	Absent    VersionKind = ""
	IsFile    VersionKind = "file"
	IsFolder  VersionKind = "folder"
	IsLink    VersionKind = "link"
	IsSpecial VersionKind = "special" // a pipe, a socket or a device
	Elsewhere VersionKind = "elsewhere"
)
