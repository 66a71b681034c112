package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// Handles says whether a program only handles files: it reads, packs or copies them, or is
// git. It has no need of what only the programs of a project need, a file with their
// passwords.
func (t *Table) Handles(name string, ws []Word) policy.Handling {
	switch {
	case name == "git":
		return handlesGit(ws)
	case runsNothing(name, ws), t.is(name, quiet):
		return policy.HandlesQuietly
	case t.is(name, handles|walker|packer), t.Changes(name):
		return policy.HandlesAny
	case (name == "source" || name == ".") && len(ws) > 1 && ws[1].Kind != Exact, name == "history", name == "fc":
		return policy.HandlesAny
	}
	return policy.NoHandling
}

// ofShell are what the shell does itself, with the letters of the flags by which that runs
// something.
var ofShell = map[string]string{
	"set": "", "read": "", "printf": "", "unset": "", "test": "", "[": "", "exit": "", "return": "", "break": "", "continue": "", "shift": "", "wait": "", "umask": "", "ulimit": "", "hash": "", "let": "", "alias": "", "unalias": "",
	"export": "", "declare": "", "typeset": "", "readonly": "", "local": "", "getopts": "", "popd": "", "dirs": "", "shopt": "", "disown": "", "bg": "", "fg": "", "caller": "", "times": "", "suspend": "", "logout": "", "compopt": "",
	"mapfile": "C", "readarray": "C", "enable": "f", "bind": "x", "complete": "CF", "compgen": "CF",
}

// runsNothing reports what the shell does itself, in a form that runs no command.
func runsNothing(name string, ws []Word) bool {
	if name == "trap" {
		return len(ws) < 2 || ws[1].Kind == Exact && (ws[1].Text == "" || ws[1].Text[0] == '-')
	}
	letters, ok := ofShell[name]
	return ok && (letters == "" || !slices.ContainsFunc(ws[1:], func(w Word) bool {
		if w.Kind != Exact {
			return w.Head == "" || w.Head[0] == '-'
		}
		return len(w.Text) > 1 && w.Text[0] == '-' && strings.ContainsAny(w.Text[1:], letters)
	}))
}

// quietly are git's subcommands that print no content of files, unless one of
// loudFlags is given.
var quietly = map[string]bool{
	"add": true, "commit": true, "push": true, "pull": true, "fetch": true, "checkout": true, "switch": true, "branch": true, "merge": true, "rebase": true, "tag": true, "mv": true, "rm": true, "restore": true, "reset": true, "stash": true, "stash push": true, "clone": true, "init": true, "remote": true, "submodule": true,
	"worktree": true, "config": true, "status": true, "cherry-pick": true, "revert": true, "clean": true, "gc": true, "prune": true, "notes": true, "sparse-checkout": true, "lfs": true, "maintenance": true, "bisect": true, "rev-parse": true, "ls-files": true,
}

// loudFlags have them print content, or ask about it.
var loudFlags = []string{"--patch", "--interactive", "--verbose", "--dry-run"}

func handlesGit(ws []Word) policy.Handling {
	for _, rest := range gitRests(ws[1:]) {
		if rest[0].Kind != Exact || !quietly[rest[0].Text] || rest[0].Is("stash") && len(rest) > 1 && !rest[1].Is("push") && !strings.HasPrefix(rest[1].Text, "-") {
			return policy.HandlesAny
		}
		for i, w := range rest[1:] {
			before := rest[i].Text
			switch {
			case before == "-m" || before == "-am" || before == "--message":
			case w.Kind != Exact && (w.Head == "" || w.Head[0] == '-'), slices.Contains(loudFlags, w.Text), clustered(w.Text, 'v'), clustered(w.Text, 'p'), clustered(w.Text, 'i'):
				return policy.HandlesAny
			}
		}
	}
	return policy.HandlesQuietly
}
