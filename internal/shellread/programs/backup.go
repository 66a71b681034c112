package programs

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// suffixBackups adds the backups that sed -i makes of what it edits: each is a
// path of its own. It returns why one is not known, "" when all are. In the
// suffix of sed a star stands for the file's name, and a slash leads elsewhere.
func (u *Invocation) suffixBackups(edited []Word) (why string) {
	for _, f := range u.flags {
		if f.name != "-i" && f.name != "--in-place" || !f.has || f.val.Kind == Exact && f.val.Text == "" {
			continue
		}
		if f.val.Kind != Exact || strings.ContainsAny(f.val.Text, "*/") {
			why = "where it keeps a backup is not known: the suffix " + f.val.Source + " names another path"
			for _, w := range edited {
				u.starBackup(w, f.val)
			}
			continue
		}
		for _, w := range edited {
			for _, t := range u.sources(w) {
				u.backup(t.Named + f.val.Text)
			}
		}
	}
	return why
}

// starBackup adds, for rules that forbid, where sed puts a backup whose suffix
// holds a star or a slash.
func (u *Invocation) starBackup(w, suffix Word) {
	if suffix.Kind != Exact {
		return
	}
	for _, t := range u.sources(w) {
		dir, name := t.Named[:strings.LastIndexByte(t.Named, '/')+1], t.Named[strings.LastIndexByte(t.Named, '/')+1:]
		made := strings.ReplaceAll(suffix.Text, "*", name)
		if !strings.Contains(suffix.Text, "*") {
			made = name + suffix.Text
		}
		if strings.HasPrefix(made, "/") {
			dir = ""
		}
		u.put(Lit(dir+made), policy.Write{})
	}
}

func (u *Invocation) backup(named string) { u.put(Lit(named), policy.Write{}) }

// copyBackups adds the backups that cp, mv, install and ln make of what stands
// where they write; from is the first of their actions. A folder that is set
// aside takes its content along. It returns why one is not known, "" when all
// are.
func (u *Invocation) copyBackups(from int) (why string) {
	suffix, makes := "~", false
	for _, f := range u.flags {
		switch f.name {
		case "-b", "--backup":
			makes = true
		case "-S", "--suffix":
			if makes = true; f.val.Kind != Exact {
				return "the suffix of its backups is not known"
			}
			suffix = f.val.Text
		}
	}
	if !makes {
		return ""
	}
	if strings.Contains(suffix, "/") {
		return fmt.Sprintf("the suffix %s of its backups names another path", suffix)
	}
	for _, a := range u.Actions[from:] {
		w, ok := a.(policy.Write)
		if !ok || w.Remove {
			continue
		}
		u.setAside(w.Named, suffix)
		if w.Below != nil {
			for _, p := range w.Below.Paths {
				if p.Named == "" {
					p.Named = p.Path
				}
				u.setAside(p.Named, suffix)
			}
		}
	}
	return ""
}

// setAside adds what setting one path aside changes.
func (u *Invocation) setAside(named, suffix string) {
	if named == "" {
		return
	}
	u.backup(named + suffix)
	if w := Lit(named); u.folder(w) {
		u.put(w, policy.Write{Remove: true, Moved: true, Tree: true, Below: u.inside(w)})
	}
}

// formatted adds the Go files that a formatter rewrites below a folder, each
// where it really is: it follows links to files. It reports whether that is all.
func (u *Invocation) formatted(w Word) bool {
	known := true
	for _, t := range u.sources(w) {
		if !u.r.IsFolder(t.Real) {
			u.put(Lit(t.Named), policy.Write{})
			continue
		}
		l, ok := u.r.Tree(t.Real)
		if !ok || len(l.Entries) > world.MaxListed {
			u.put(Lit(t.Named), policy.Write{Tree: true})
			u.Why, known = "what it rewrites below "+t.Asked+" is not known, or too much", false
			continue
		}
		below := &policy.Below{}
		for _, e := range l.Entries {
			name := e.Name[strings.LastIndexByte(e.Name, '/')+1:]
			if e.Dir || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") {
				continue
			}
			at := policy.Place{Path: t.Real + "/" + e.Name, Named: t.Named + "/" + e.Name}
			if e.Link {
				real, err := u.r.Real(at.Path)
				if err != nil {
					u.Why, known = err.Error(), false
					continue
				}
				at.Path = real
			}
			below.Paths = append(below.Paths, at)
		}
		u.put(Lit(t.Named), policy.Write{Tree: true, Below: below})
	}
	return known
}
