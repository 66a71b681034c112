package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A Pull is a git pull. Which files it brings is known when git has fetched.
type Pull struct {
	Dir string // where git runs
	// Fetch are the arguments of the git fetch that it begins with.
	Fetch []string
	// From and To are two commits, named as World.Changed takes them once git has fetched:
	// it brings what they do not have alike.
	From, To string
}

// pulls adds what git pull brings as far as it was fetched before, and how to know the rest.
func (u *Invocation) pulls(args, names []Word) {
	p := Pull{From: "HEAD...", To: "@{upstream}"}
	if f := gitFlags(Literals(args)); f.has("--rebase", "-r", "--rebase=true", "--rebase=merges") {
		p.From = "HEAD" // it takes all that is not there away first
	}
	literal := !slices.ContainsFunc(names, func(w Word) bool { return w.Kind != Exact })
	switch branch := u.r.switchedTo(); {
	case branch != "":
		p.From, p.To = strings.Replace(p.From, "HEAD", branch, 1), branch+"@{upstream}"
	case literal && len(names) > 0:
		p.Fetch = Literals(names)
		switch remote := names[0].Text; {
		case len(names) != 2:
		case remote == ".":
			p.To = names[1].Text
		case strings.ContainsAny(remote, "/:\\"):
			p.To = "FETCH_HEAD"
		default:
			p.To = "refs/remotes/" + path.Join(remote, names[1].Text)
		}
	}
	for _, d := range u.dirs {
		files, _ := u.r.World.Changed(d, p.From, p.To) // what was not fetched yet, is looked at then
		if top := u.r.GitTop(d); len(files) > 0 {
			below := &policy.Below{}
			for _, f := range files {
				below.Paths = append(below.Paths, policy.Place{Path: f})
			}
			u.Actions = append(u.Actions, policy.Write{Path: top, Named: top, Asked: top, Sure: policy.Possible, Below: below})
		}
	}
	if len(u.dirs) == 1 && !slices.ContainsFunc(args, func(w Word) bool { return w.Is("--abort") || w.Is("--dry-run") }) {
		p.Dir = u.dirs[0]
		u.r.Pulls = append(u.r.Pulls, p)
	}
}

// switchedTo is the branch that a git checkout or switch before leaves; "" when there was
// none, or it is not known.
func (r *Recorder) switchedTo() string {
	for _, a := range slices.Backward(r.Actions) {
		e, ok := a.(policy.Exec)
		if ok && len(e.Argv) == 3 && e.Argv[0] == "git" && (e.Argv[1] == "checkout" || e.Argv[1] == "switch") && !strings.HasPrefix(e.Argv[2], "-") {
			return e.Argv[2]
		}
	}
	return ""
}
