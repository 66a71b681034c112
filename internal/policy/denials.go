package policy

import (
	"path"
	"path/filepath"
	"strings"
)

// Denials are the deny rules about files, for who keeps commands from what they
// name that nobody has read.
type Denials struct {
	rules Rules
	read  []compiledRule
	edit  []compiledRule
	key   string
}

// FileDenials are those among rules. A rule without a path is not: it takes the
// tool away, and says nothing of a file.
func FileDenials(r Rules) Denials {
	d := Denials{rules: r}
	var key strings.Builder
	for _, rule := range compileRules(r).by[Deny] {
		if rule.Spec == "" {
			continue
		}
		switch rule.family() {
		case "Read":
			d.read = append(d.read, rule)
		case "Edit":
			d.edit = append(d.edit, rule)
		default:
			continue
		}
		key.WriteString(rule.family() + "(" + rule.Spec + ")")
		for _, p := range rule.places {
			key.WriteString(p.dir + "\x00")
		}
	}
	d.key = key.String()
	return d
}

// Key differs between rules that name different paths.
func (d Denials) Key() string { return d.key }

// Names says what is denied of a path, which is absolute: reading it, changing
// it. A folder counts when all that can be in it is denied.
func (d Denials) Names(file string, folder bool) (read, edit bool) {
	named := func(list []compiledRule) bool {
		for i := range list {
			if list[i].matchPath(d.rules, file) || folder && list[i].matchAll(d.rules, file) {
				return true
			}
		}
		return false
	}
	return named(d.read), named(d.edit)
}

// Empty reports whether no path is denied.
func (d Denials) Empty() bool { return len(d.read)+len(d.edit) == 0 }

// Starts are where the paths lie that rules deny to read: paths that a rule
// spells out, and folders in which a pattern counts.
func (d Denials) Starts() (spelled, folders []string) {
	for _, rule := range d.read {
		for _, p := range rule.places {
			if p.outside {
				continue
			}
			at, segs := p.dir, p.g.segs
			for len(segs) > 0 && !strings.ContainsAny(segs[0], `*?[\`) {
				at, segs = path.Join(at, segs[0]), segs[1:]
			}
			if len(segs) == 0 || len(segs) == 1 && segs[0] == "**" {
				spelled = append(spelled, filepath.FromSlash(at))
			} else {
				folders = append(folders, filepath.FromSlash(at))
			}
		}
	}
	return spelled, folders
}
