package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// folderFlags name the folder in which what a program starts is run.
var folderFlags = []string{"-C", "-D", "--chdir", "--directory", "--working-directory", "--cwd"}

// gitWritingFlags are flags of git's subcommands whose value is a file or folder
// that is written. What git commands write otherwise is known.
var gitWritingFlags = []string{"-o", "--output", "--output-directory", "--export-marks", "--separate-git-dir"}

// toldToWrite says of each word of a command whether the program may write what it
// names, because nobody knows that it does not.
func (u *Invocation) toldToWrite(ws []Word) []bool {
	told := make([]bool, len(ws))
	if StandardPath(ws[0].Text) && u.OnlyReads() {
		return told
	}
	script := policy.Runner(u.name) && !u.is(editor|writesFirst) && u.name != "make" && u.name != "just" // the first operand is what it runs
	for i := 1; i < len(ws) && strings.HasPrefix(ws[i].Text, "-"); i++ {
		script = script && !strings.ContainsAny(ws[i].Text, " (;/\"'`") // what it runs stands there
	}
	first := 1
	if len(ws) > 2 && u.r.Table.of(u.name).form(ws[1:2], func(f *form) bool { return f.script }).script {
		first, script = 2, true
	}
	archives, made := packs(u.name, ws)
	for i := first; i < len(ws); i++ {
		before, flag := ws[i-1].Text, strings.HasPrefix(ws[i].Text, "-")
		if made && !slices.Contains(archives, i) {
			continue
		}
		switch u.name {
		case "git":
			told[i] = slices.Contains(gitWritingFlags, before) || gluedOutput(ws[i].Text) || i > 1 && before == "create" && ws[i-2].Is("bundle")
			continue
		case "find":
			told[i] = strings.HasPrefix(before, "-fprint") || before == "-fls"
			continue
		case "ssh":
			told[i] = flag || before == "-E" || before == "-S" // what stands behind the host is done there
			continue
		}
		switch {
		case strings.IndexByte(taken(u.r.Table.of(u.name).takes, before), takesRead) >= 0, u.excluded(ws, i):
		case script && (before == "-o" || before == "--output"): // time -o, strace -o
			told[i] = true
		case slices.Contains(folderFlags, before):
			told[i] = true
		case script && !flag:
			script = false
		default:
			told[i] = true
		}
	}
	return told
}

// excluded reports a word that says what an archive or a copy leaves out.
func (u *Invocation) excluded(ws []Word, i int) bool {
	switch u.name {
	case "tar", "bsdtar", "gtar", "rsync":
		return ws[i].Kind == Exact && strings.HasPrefix(ws[i].Text, "--exclude=")
	case "zip":
		for i--; i > 2 && ws[i].Kind == Exact && !strings.HasPrefix(ws[i].Text, "-"); i-- {
		}
		return i > 2 && ws[i].Is("-x") && ws[i-1].Kind == Exact && !strings.HasPrefix(ws[i-1].Text, "-") // no value of another flag
	}
	return false
}

// gluedOutput reports a word of short flags of git with a file behind -o (-qo.git/x).
func gluedOutput(text string) bool {
	at := strings.IndexByte(text, 'o')
	return clustered(text, 'o') && at < maxCluster && len(text) > at+1 && strings.ContainsAny(text, "./")
}

// OnlyReads reports whether the program writes no file that it is told of.
func (u *Invocation) OnlyReads() bool {
	row := u.r.Table.of(u.name).row
	return u.is(reader) || row != nil && row.safe
}
