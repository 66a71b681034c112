package shellread

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// walkers read all of a folder that they are given, seekers also the one they
// stand in when they are given none.
var (
	walkers = map[string]bool{"tar": true, "bsdtar": true, "zip": true, "7z": true, "7za": true, "rar": true, "rsync": true, "scp": true, "ag": true, "ack": true, "ugrep": true, "ug": true, "rgrep": true, "pax": true, "grep": true, "egrep": true, "fgrep": true, "rg": true, "diff": true, "bat": true}
	seekers = map[string]bool{"ag": true, "ack": true, "ugrep": true, "ug": true, "rgrep": true, "rg": true}
)

// pickGo is for programs that read Go files only.
func pickGo(u *use) string {
	u.pick.names = []string{"*.go"}
	return ""
}

// flagged are the values of flags, the current folder when there are none.
func (u *use) flagged(names ...string) []word {
	var out []word
	for _, f := range u.flags {
		if slices.Contains(names, f.name) {
			out = append(out, f.val)
		}
	}
	if len(out) == 0 {
		out = []word{lit(".")}
	}
	return out
}

// somewhere adds folders below which something is written, not known what.
func (u *use) somewhere(folders []word) {
	for _, w := range folders {
		if w.kind != exact {
			w = lit("/")
		}
		u.put(w, policy.Write{Within: true, Maybe: true})
	}
}

// inside lists what is in a folder that a word names; nil when that is not known.
func (u *use) inside(s word) *policy.Below {
	out := &policy.Below{}
	for _, t := range u.sources(s) {
		l, ok := u.r.tree(t.real)
		if !ok || len(l.Entries) > maxMade {
			return nil
		}
		for _, e := range l.Entries {
			out.Paths = append(out.Paths, policy.Place{Path: t.real + "/" + e.Name, Named: t.named + "/" + e.Name})
		}
	}
	return out
}

// unpacks adds where programs write that take the names from an archive or a
// patch: listing that would mean to read foreign data without an end.
func (u *use) unpacks(ws []word) {
	var flags []string // before which, or glued to which, the folder stands
	switch u.name {
	case "tar", "bsdtar", "gtar":
		if len(ws) < 2 || !slices.ContainsFunc(ws[1:], func(w word) bool {
			return w.is("--extract") || w.is("--get") || strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "x")
		}) && !strings.Contains(ws[1].text, "x") {
			return
		}
		flags = []string{"-C", "--directory", "--one-top-level"}
		if slices.ContainsFunc(ws, func(w word) bool { return w.is("-P") || w.is("--absolute-names") }) {
			u.somewhere([]word{lit("/")})
		}
	case "unzip":
		flags = []string{"-d"}
	case "7z", "7za", "7zr", "unrar", "rar", "unar":
		flags = []string{"-o"}
	case "cpio", "pax":
		u.somewhere([]word{lit("/")}) // absolute names are followed
		return
	case "ar", "jar", "bsdcpio", "patch", "uudecode", "ditto", "degit":
	default:
		return
	}
	u.somewhere(valuesOf(ws[1:], flags))
}

// valuesOf are the values that stand behind or in flags, and the current
// folder: what comes before a flag may count for other operands.
func valuesOf(ws []word, flags []string) []word {
	out := []word{lit(".")}
	for i, w := range ws {
		for _, f := range flags {
			switch val, glued := strings.CutPrefix(w.text, f); {
			case w.is(f) && i+1 < len(ws):
				out = append(out, ws[i+1])
			case glued && val != "":
				out = append(out, word{kind: w.kind, text: strings.TrimPrefix(val, "="), src: w.src})
			}
		}
	}
	return out
}

// synced adds what rsync and scp write here. With flags that remove or name
// more, anything in the destination may be meant.
func (u *use) synced(ws []word) {
	var names []word
	loose := false
	for _, w := range ws {
		if w.kind == exact && strings.HasPrefix(w.text, "-") {
			loose = loose || strings.HasPrefix(w.text, "--delete") || strings.HasPrefix(w.text, "--files-from") || strings.HasPrefix(w.text, "--remove") || w.text == "-R" || w.text == "--relative"
			u.flags = append(u.flags, given{name: w.text})
			continue
		}
		names = append(names, w)
	}
	if len(names) < 2 {
		return
	}
	dst, srcs := names[len(names)-1], names[:len(names)-1]
	if dst.kind != exact || strings.Contains(dst.text, ":") {
		return
	}
	u.args = names
	for _, s := range srcs {
		loose = loose || s.kind != exact && s.kind != pattern || strings.Contains(s.text, ":")
	}
	if u.copied(dst, srcs, true, false) != "" || loose {
		u.somewhere([]word{dst})
	}
}

// gitTrees adds what git commands may change of the working tree by themselves:
// files that are tracked now, and with clean any. What another commit brings
// is not known.
func (u *use) gitTrees(rest []word) {
	all := false
	switch rest[0].text {
	case "clean", "checkout-index", "archive", "sparse-checkout", "apply", "am", "read-tree":
		all = true
	case "stash":
		all = slices.ContainsFunc(rest, func(w word) bool {
			return w.is("-u") || w.is("-a") || w.is("--include-untracked") || w.is("--all")
		})
		if len(rest) > 1 && (rest[1].is("list") || rest[1].is("show") || rest[1].is("drop")) {
			return
		}
	case "checkout", "switch", "restore", "reset", "pull", "merge", "rebase", "cherry-pick", "revert", "bisect", "submodule":
	default:
		return
	}
	if len(u.dirs) == 0 {
		return
	}
	for _, d := range u.dirs {
		top := u.r.gitTop(d)
		w := policy.Write{Path: top, Named: top, Asked: top, Arg: true, Within: true, Maybe: true}
		if u.r.world.Tracked != nil && !all {
			if files, ok := u.r.world.Tracked(top, maxBelow); ok {
				w.Below = &policy.Below{}
				for _, f := range files {
					w.Below.Paths = append(w.Below.Paths, policy.Place{Path: f})
				}
			}
		}
		u.acts = append(u.acts, w)
	}
}
