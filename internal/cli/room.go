package cli

import (
	"strings"
	"syscall"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// diskFaults are what a disk may say to any command, and what to do then. keeps are
// words of a hint that says as much itself.
var diskFaults = []struct {
	errno syscall.Errno
	hint  string
	keeps []string
}{
	{syscall.ENOSPC, "make room on that disk; nothing that was there is lost", []string{"room", "the session is kept"}},
	{syscall.EDQUOT, "make room: what you may have on that disk is used up", []string{"room", "the session is kept"}},
	{syscall.EACCES, "look at its owner and its rights: ls -ld; ADZE_HOME=FOLDER is where adze keeps its files", nil},
	{syscall.EROFS, "make it writable, or name another folder; ADZE_HOME=FOLDER is where adze keeps its files", []string{"ADZE_HOME", "you may write to", "--no-session"}},
}

// steps are what was being done, from the outside to the inside: "change a: write a.tmp: ".
var steps = pattern.Lazy(`(\w+ /[^\s:]+: )(?:\w+ [^\s:]+: )*$`)

// ofDisk makes an error of a full or read-only disk say so, whichever command met it,
// and have the hint that helps.
func ofDisk(f *failure) *failure {
	for _, x := range diskFaults {
		before, after, found := strings.Cut(f.cause, x.errno.Error())
		if !found || x.errno == syscall.EACCES && f.hint != "" && !strings.Contains(f.hint, "adze config check") { // who asked knows better what was read
			continue
		}
		out := *f
		if out.code == exitAuth { // the key is not what is wrong
			out.code = exitFailed
		}
		if strings.TrimSpace(strings.ReplaceAll(after, x.errno.Error(), "")) != after { // the same of other files
			after = ""
		}
		out.cause = steps().ReplaceAllString(before, "$1") + x.errno.Error() + after
		for _, word := range x.keeps {
			if strings.Contains(f.hint, word) {
				return &out
			}
		}
		out.hint = x.hint
		return &out
	}
	if strings.Contains(f.cause, "database or disk is full") { // SQLite's words
		return &failure{f.code, strings.ReplaceAll(f.cause, "database or disk is full (13)", "no space left on device"), diskFaults[0].hint}
	}
	return f
}
