package programs

import (
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// pickGo is for programs that read Go files only.
func pickGo(u *Invocation) string {
	u.pick.names = []string{"*.go"}
	return ""
}

// mayWriteBelow adds folders below which something is written, not known what.
func (u *Invocation) mayWriteBelow(folders []Word) {
	for _, w := range folders {
		if w.Kind != Exact {
			w = Lit("/")
		}
		u.put(w, policy.Write{Within: true, Sure: policy.Possible})
	}
}

// inside lists what is in a folder that a word names; nil when that is not known.
func (u *Invocation) inside(s Word) *policy.Below {
	out := &policy.Below{}
	for _, t := range u.sources(s) {
		l, ok := u.r.Tree(t.Real)
		if !ok || len(l.Entries) > maxMade {
			return nil
		}
		for _, e := range l.Entries {
			out.Paths = append(out.Paths, policy.Place{Path: t.Real + "/" + e.Name, Named: t.Named + "/" + e.Name})
		}
	}
	return out
}

// valuesOf are the values that stand behind or in flags, and the current
// folder: what comes before a flag may count for other operands.
func valuesOf(ws []Word, flags []string) []Word {
	out := []Word{Lit(".")}
	for i, w := range ws {
		for _, f := range flags {
			switch val, glued := strings.CutPrefix(w.Text, f); {
			case w.Is(f) && i+1 < len(ws):
				out = append(out, ws[i+1])
			case glued && val != "":
				out = append(out, Word{Kind: w.Kind, Text: strings.TrimPrefix(val, "="), Source: w.Source})
			}
		}
	}
	return out
}

// synced adds what rsync and scp write here. With flags that remove or name
// more, anything in the destination may be meant.
func (u *Invocation) synced(ws []Word) {
	var names []Word
	loose := false
	for i, w := range ws {
		if i > 1 && ws[i-1].Is("--exclude") && takesNone(ws[i-2]) {
			continue
		}
		if w.Kind == Exact && strings.HasPrefix(w.Text, "-") {
			loose = loose || strings.HasPrefix(w.Text, "--delete") || strings.HasPrefix(w.Text, "--files-from") || strings.HasPrefix(w.Text, "--remove") || w.Text == "-R" || w.Text == "--relative"
			u.flags = append(u.flags, given{name: w.Text})
			continue
		}
		names = append(names, w)
	}
	if len(names) < 2 {
		return
	}
	dst, srcs := names[len(names)-1], names[:len(names)-1]
	if dst.Kind != Exact || strings.Contains(dst.Text, ":") {
		return
	}
	u.args = names
	for _, s := range srcs {
		loose = loose || s.Kind != Exact && s.Kind != Pattern || strings.Contains(s.Text, ":")
	}
	if u.copied(dst, srcs, true, false) != "" || loose {
		u.mayWriteBelow([]Word{dst})
	}
}

// takesNone reports a word of rsync's that is no flag, or one which takes no value from
// the word behind it.
func takesNone(w Word) bool {
	flags, long := strings.CutPrefix(w.Text, "-")
	return w.Kind == Exact && (!long || strings.Contains(w.Text, "=") || flags != "" && strings.Trim(flags, "avzrtlpuhnqciPHAXSW") == "" || w.Is("--archive") || w.Is("--delete") || w.Is("--progress"))
}

// gitTrees adds what git commands may change of the working tree by themselves:
// files that are tracked now, and with clean any. What another commit brings
// is not known.
func (u *Invocation) gitTrees(rest []Word) {
	all := false
	switch rest[0].Text {
	case "clean":
		if all = true; cleansNamed(rest[1:]) {
			return
		}
	case "checkout-index", "archive", "sparse-checkout", "apply", "am", "read-tree":
		all = true
	case "stash":
		_, _, all = gitTakes("stash", rest[1:])
		if len(rest) > 1 && (rest[1].Is("list") || rest[1].Is("show") || rest[1].Is("drop")) {
			return
		}
	case "checkout", "switch", "restore", "reset", "pull", "merge", "rebase", "cherry-pick", "revert", "bisect", "submodule", "lfs":
	default:
		return
	}
	if len(u.dirs) == 0 {
		return
	}
	for _, d := range u.dirs {
		top := u.r.GitTop(d)
		w := policy.Write{Path: top, Named: top, Asked: top, Within: true, Sure: policy.Possible}
		w.Opens = u.gitWhole(rest, d, top)
		if rest[0].Is("clean") {
			w.Standing = u.gitStanding(rest, top)
		}
		if u.r.World.Tracked != nil && !all {
			if files, ok := u.r.World.Tracked(top, world.MaxListed); ok {
				w.Below = &policy.Below{}
				for _, f := range files {
					w.Below.Paths = append(w.Below.Paths, policy.Place{Path: f})
				}
			}
		}
		u.Actions = append(u.Actions, w)
	}
}
