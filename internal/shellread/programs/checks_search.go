package programs

import (
	"strings"
)

const grepFlags = "-EFGPivwxcLloqsbHhnTUzaIrRyuZ -A=x -B=x -C=x -m=x -D=x -d=x -e=x -f=p --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count=x --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label=x --line-number --initial-tab --null --null-data --after-context=x --before-context=x --context=x --text --binary-files=x --devices=x --directories=x --exclude=x --exclude-from=p --exclude-dir=x --include=x --recursive --dereference-recursive --line-buffered --binary --regexp=x --file=p --group-separator=x --no-group-separator"

var grepRow = &command{flags: grepFlags, args: "x p*", given: "-e --regexp -f --file", deep: "-r --recursive -R --dereference-recursive", digits: true, safe: true, min: 0, check: func(u *Invocation) string {
	u.pickGrep()
	if u.has("-R", "--dereference-recursive") {
		folders := u.args
		if !u.has("-e", "--regexp", "-f", "--file") && len(folders) > 0 {
			folders = folders[1:]
		}
		if len(folders) == 0 {
			folders = []Word{Lit(".")}
		}
		if why := u.linksBelow(folders); why != "" {
			return why
		}
	}
	for _, f := range u.flags {
		if f.name != "-d" && f.name != "--directories" {
			continue
		}
		if f.val.Text != "read" && f.val.Text != "skip" && f.val.Text != "recurse" {
			return "grep " + f.name + " " + f.val.Source + " is not known"
		}
		if f.val.Text == "recurse" {
			u.row = &command{args: "x t*", given: "-e --regexp -f --file", here: "t"}
		}
	}
	return ""
}}

// pagerRow is a pager: without a terminal, which no command has, it copies what it is
// given, and only LESSOPEN, which pins take away, makes it start another program.
var pagerRow = &command{flags: "-RFXSNre", args: "p*", check: func(u *Invocation) string {
	if u.r.Unpinned {
		return u.name + " may start other programs, unless variables are taken away that say so"
	}
	for _, w := range u.args {
		if w.Kind == Exact && strings.HasPrefix(w.Text, "+") || w.Kind != Exact && w.Head == "" {
			return w.Source + " may be a command of " + u.name
		}
	}
	return ""
}}

var fdRow = &command{
	flags: "-HIuisgFa0p1q -d=x -t=x -e=x -E=x -S=x -c=x -j=x -n=x --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --print0 --full-path --max-depth=x --min-depth=x --exact-depth=x --type=x --extension=x --exclude=x --size=x --color=x --threads=x --max-results=x --changed-within=x --changed-before=x --no-ignore-vcs --no-ignore-parent --prune --quiet --one-file-system --strip-cwd-prefix --path-separator=x --regex",
	args:  "x d*", here: "d",
}

// findTests are the expressions of find that only look; the number is how
// many words they take. -1 is a path whose file is only looked at.
var findTests = map[string]int{
	"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-lname": 1, "-ilname": 1, "-regex": 1, "-iregex": 1, "-regextype": 1,
	"-type": 1, "-xtype": 1, "-size": 1, "-empty": 0, "-maxdepth": 1, "-mindepth": 1, "-mtime": 1, "-mmin": 1, "-atime": 1, "-amin": 1, "-ctime": 1, "-cmin": 1,
	"-newer": -1, "-anewer": -1, "-cnewer": -1, "-samefile": -1, "-newermt": 1, "-newerct": 1, "-newerat": 1, "-perm": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1,
	"-links": 1, "-inum": 1, "-readable": 0, "-writable": 0, "-executable": 0, "-nouser": 0, "-nogroup": 0, "-fstype": 1, "-used": 1,
	"-print": 0, "-print0": 0, "-printf": 1, "-ls": 0, "-prune": 0, "-quit": 0, "-depth": 0, "-mount": 0, "-xdev": 0, "-daystart": 0, "-noleaf": 0,
	"-true": 0, "-false": 0, "-not": 0, "-and": 0, "-or": 0, "-a": 0, "-o": 0, "!": 0, "(": 0, ")": 0, ",": 0, "-warn": 0, "-nowarn": 0,
	"-ignore_readdir_race": 0, "-noignore_readdir_race": 0,
}

// checkFind reads folders, then an expression of tests.
func checkFind(u *Invocation) string {
	ws := u.args
	u.args = nil
	u.row = &command{args: "d*", here: "d"}
	for len(ws) > 0 && (ws[0].Is("-H") || ws[0].Is("-P") || ws[0].Is("-O1") || ws[0].Is("-O2") || ws[0].Is("-O3")) {
		ws = ws[1:]
	}
	for len(ws) > 0 {
		w := ws[0]
		if w.Kind != Exact && w.FlagLike() {
			return w.Source + " may turn out to be an expression of find"
		}
		if w.Kind == Exact && (strings.HasPrefix(w.Text, "-") || w.Text == "!" || w.Text == "(" || w.Text == ")" || w.Text == ",") {
			break
		}
		u.args = append(u.args, w)
		ws = ws[1:]
	}
	for i := 0; i < len(ws); i++ {
		if ws[i].Kind != Exact {
			return ws[i].Source + " may turn out to be an expression of find"
		}
		if ws[i].Is("-exec") {
			return u.findRuns(ws[i+1:], ws[:i])
		}
		n, ok := findTests[ws[i].Text]
		if !ok {
			return "find " + ws[i].Text + " is not known to be read-only"
		}
		if n == 0 {
			continue
		}
		if i++; i >= len(ws) {
			return "find " + ws[i-1].Text + " needs a value"
		}
		if ws[i].Many || ws[i].Gone {
			return ws[i].Source + " may become several words, or none"
		}
		if n < 0 {
			if why := u.touch('l', ws[i]); why != "" {
				return why
			}
		}
	}
	return ""
}
