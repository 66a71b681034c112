package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// leavesAlone reports whether a program only reads or runs the files among its
// operands, so that a rule which denies to edit them says nothing of it; what its
// flags name may still be written. sed, git and the writers are judged by what
// they do.
func (u *Invocation) leavesAlone(ws []Word) bool {
	switch {
	case !StandardPath(ws[0].Text):
		return true // a program of the project: as any build, it may do anything
	case u.is(inPlaceEditor) && slices.ContainsFunc(ws, func(w Word) bool {
		return strings.HasPrefix(w.Text, "--in-place") || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "i")
	}):
		return false
	case u.name == "git" || u.name == "find":
		return false // which of their words they write is known
	case u.is(editor | writesFirst):
		return false
	case u.is(inPlaceEditor | checker | starter), policy.Runner(u.name), Launches(u.name), u.r.Table.Changes(u.name):
		return true
	}
	p := u.r.Table.of(u.name)
	return p.changesFolders() && p.is&clusters == 0 || p.row != nil || len(p.reads) > 0
}

// outputFlag reports whether a word, or the value in it, stands behind a flag that
// says where a program writes, or in which folder.
func outputFlag(before, w Word) bool {
	flag, _, glued := strings.Cut(w.Text, "=")
	if !glued || !strings.HasPrefix(flag, "-") {
		if flag = before.Text; !strings.HasPrefix(flag, "-") {
			return false
		}
	}
	low := strings.ToLower(strings.TrimLeft(flag, "-"))
	if slices.Contains(folderFlags, flag) || slices.Contains(outputLetters, flag) {
		return true
	}
	return slices.ContainsFunc(outputNames, func(n string) bool { return strings.Contains(low, n) })
}

var (
	outputLetters = []string{"-o", "-O", "-B", "-d", "-t", "-P", "-C", "-out"}
	outputNames   = []string{"out", "dest", "prefix", "target", "save", "dump", "log", "report", "in-place", "inplace", "cache", "write", "dir", "tmp", "temp", "file", "cov", "junit", "map"}
)
