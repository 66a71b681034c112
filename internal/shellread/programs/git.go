package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/git/setting"
	"github.com/adze-agent/adze/internal/policy"
)

// gitGlobal are git's flags before the subcommand: the value says whether one
// takes a value, and what it means for reading.
var gitGlobal = sync.OnceValue(func() map[string]struct {
	valued, safe bool
} {
	return map[string]struct {
		valued, safe bool
	}{
		"-C": {true, true}, "--no-pager": {false, true}, "-P": {false, true}, "--no-optional-locks": {false, true}, "--no-replace-objects": {false, true},
		"--literal-pathspecs": {false, true}, "--glob-pathspecs": {false, true}, "--noglob-pathspecs": {false, true}, "--icase-pathspecs": {false, true}, "--no-lazy-fetch": {false, true}, "--no-literal-pathspecs": {false, true},
		"--version": {false, true}, "-v": {false, true}, "--no-advice": {false, true},
		"-c": {true, false}, "--git-dir": {true, false}, "--work-tree": {true, false}, "--namespace": {true, false}, "--config-env": {true, false},
		"--exec-path": {false, false}, "--super-prefix": {true, false}, "--attr-source": {true, false}, "--shallow-file": {true, false}, "--list-cmds": {false, false}, "--bare": {false, false}, "-p": {false, true},
		"--paginate": {false, true}, "--html-path": {false, true}, "--man-path": {false, true}, "--info-path": {false, true}, "-h": {false, true}, "--help": {false, false},
	}
})

// gitSplit separates the flags before the subcommand. why names the first one
// that is not harmless.
func gitSplit(ws []Word) (dirs []Word, rest []Word, why string) {
	for len(ws) > 0 {
		w := ws[0]
		if w.Kind != Exact || !strings.HasPrefix(w.Text, "-") {
			return dirs, ws, why
		}
		name, _, attached := strings.Cut(w.Text, "=")
		g, ok := gitGlobal()[name]
		if name == "-c" && len(ws) > 1 && ws[1].Kind == Exact && plainSetting(ws[1].Text) {
			ws = ws[2:]
			continue
		}
		if (!ok || !g.safe) && why == "" {
			why = "git " + name + " may make git run something else or look elsewhere"
		}
		ws = ws[1:]
		if ok && g.valued && !attached {
			if len(ws) == 0 {
				return dirs, nil, "git " + name + " needs a value"
			}
			if name == "-C" {
				dirs = append(dirs, ws[0])
			}
			ws = ws[1:]
		}
	}
	return dirs, ws, why
}

// plainSetting reports NAME=value of a setting that makes git run nothing.
func plainSetting(s string) bool {
	name, val, _ := strings.Cut(s, "=")
	return setting.Named(name, val) == setting.Plain || strings.EqualFold(s, "core.pager=cat")
}

// gitRests are the words from the subcommand on, as gitSplit has them and, behind a
// flag that is not known, as they are when it takes a value: another version of git
// may have one. No words are none.
func gitRests(ws []Word) (rests [][]Word) {
	starts := []int{0}
	for n := 0; n < len(starts); n++ {
		from := ws[starts[n]:]
		_, rest, _ := gitSplit(from)
		if len(rest) > 0 && !slices.ContainsFunc(rests, func(r []Word) bool { return len(r) == len(rest) }) {
			rests = append(rests, rest)
		}
		for i, w := range from[:len(from)-len(rest)] {
			name, _, attached := strings.Cut(w.Text, "=")
			_, known := gitGlobal()[name]
			if behind := starts[n] + i + 2; !known && !attached && strings.HasPrefix(w.Text, "-") && behind < len(ws) && !slices.Contains(starts, behind) {
				starts = append(starts, behind)
			}
		}
	}
	return rests
}

// GitPlain are the spellings of the command without git's own flags, for deny and ask
// rules.
func GitPlain(ws []Word) (plain [][]string) {
	if as := gitAsFlags(ws); as != nil {
		plain = append(GitPlain(as), Literals(as))
	}
	for _, rest := range gitRests(ws[1:]) {
		if len(rest) < len(ws)-1 {
			plain = append(plain, append([]string{"git"}, Literals(rest)...))
		}
	}
	return plain
}

// git holds a git command against its rows and asks the World about each
// folder it would run in.
func (u *Invocation) git(ws []Word) string {
	if u.r.Table.gitSpeaks(ws) {
		return ""
	}
	dirs, rest, why := gitSplit(ws)
	if why != "" {
		return why
	}
	if len(rest) == 0 {
		for _, w := range ws {
			if w.Is("--version") || w.Is("-v") {
				return ""
			}
		}
		return "git without a command is not known"
	}
	if rest[0].Kind != Exact {
		return "the git command is not known before it runs"
	}
	for _, d := range dirs {
		if why := u.moveGit(d); why != "" {
			return why
		}
	}
	u.moved = true
	row, args := u.r.Table.find("git", rest)
	if row == nil {
		return u.r.Table.unknownForm("git "+rest[0].Text, rest[1:])
	}
	command := strings.Join(Literals(rest[:len(rest)-len(args)]), " ")
	u.name = "git " + command
	if why := u.hold(row, args); why != "" {
		return why
	}
	literal := slices.ContainsFunc(ws[:len(ws)-len(rest)], func(w Word) bool { return w.Is("--literal-pathspecs") })
	if why := u.gitPrints(command, literal); why != "" {
		return why
	}
	if command == "grep" && !u.has("--cached") && u.linked() {
		return "git grep reads what is tracked behind a folder that has become a link"
	}
	return u.gitFolders()
}

// gitSpeaks knows the words with which git only speaks of itself. Help on a
// command starts man.
func (t *Table) gitSpeaks(ws []Word) bool {
	switch {
	case len(ws) == 1 && ws[0].Kind == Exact:
		switch ws[0].Text {
		case "help", "--help", "-h", "--version", "-v", "--exec-path", "--html-path", "--man-path", "--info-path":
			return true
		}
	case len(ws) == 2 && ws[1].Is("-h") && ws[0].Kind == Exact:
		return t.of("git").reads[ws[0].Text] != nil || slices.Contains([]string{"add", "am", "checkout", "cherry-pick", "clone", "commit", "fetch", "init", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "stash", "switch", "worktree"}, ws[0].Text)
	case len(ws) == 2 && ws[0].Is("help"):
		return ws[1].Is("-a") || ws[1].Is("--all") || ws[1].Is("-g") || ws[1].Is("--guides")
	}
	return false
}

// moveAll applies all -C of a command, and reports whether their folders are known.
func (u *Invocation) moveAll(ws []Word) bool {
	dirs, _, _ := gitSplit(ws[1:])
	from := u.dirs
	for _, d := range dirs {
		if u.moveGit(d) != "" {
			u.dirs = from
			return false
		}
	}
	return true
}

// moveGit applies -C: later paths are relative to that folder.
func (u *Invocation) moveGit(d Word) string {
	if d.Kind != Exact {
		return "the folder git works in is not known before it runs"
	}
	var found []target
	u.Actions = append(u.Actions, u.r.apart(func() { found = u.r.Resolve(d, u.dirs) })...)
	if len(found) == 0 {
		return "the folder git works in is not known"
	}
	u.dirs = nil
	for _, t := range found {
		u.Actions = append(u.Actions, policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, List: true})
		u.dirs = append(u.dirs, t.Real)
	}
	return ""
}

func (u *Invocation) gitFolders() string {
	if u.r.Unpinned {
		return "git without the variables that keep it from running programs"
	}
	if u.r.World.Git == nil {
		return "nobody looked at the repository's settings, which can make git run programs"
	}
	if len(u.dirs) == 0 {
		return "the folder git works in is not known"
	}
	for _, d := range u.dirs {
		if why := u.r.GitWhy(d); why != "" {
			return "git may run programs here: " + why
		}
	}
	return ""
}

// Flags that several git commands share.
const (
	gitDiffFlags = " -p -u -s -U? -z -B? -M? -C? -D -l=x -S=x -G=x -w -b -a -R -W -X? --patch --no-patch --unified? --raw --patch-with-raw --patch-with-stat --indent-heuristic --no-indent-heuristic --minimal --patience --histogram --diff-algorithm=x --anchored=x --stat? --numstat --shortstat --dirstat? --summary --compact-summary --name-only --name-status --color? --no-color --color-moved? --no-color-moved --word-diff? --word-diff-regex=x --color-words? --no-renames --find-renames? --find-copies? --find-copies-harder --rename-empty --no-rename-empty --check --ws-error-highlight=x --full-index --binary --abbrev? --no-abbrev --break-rewrites? --diff-filter=x --pickaxe-all --pickaxe-regex --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines -I=x --ignore-matching-lines=x --inter-hunk-context=x --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix=x --dst-prefix=x --no-prefix --default-prefix --line-prefix=x --ita-invisible-in-index --output-indicator-new=x --output-indicator-old=x --output-indicator-context=x --stat-width=x --stat-name-width=x --stat-count=x --cumulative --irreversible-delete --rotate-to=x --skip-to=x -c --cc --combined-all-paths -m --submodule? -t"
	gitRevFlags  = " -n=x" + gitRevLong
	gitRevLong   = " --max-count=x --skip=x --since=x --after=x --until=x --before=x --author=x --committer=x --grep=x --all-match --invert-grep -i -E -F -P --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents=x --max-parents=x --no-min-parents --no-max-parents --first-parent --not --all --branches? --tags? --remotes? --glob=x --exclude=x --reflog --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --left-right --cherry --walk-reflogs -g --merge --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --abbrev-commit --no-abbrev-commit --oneline --parents --children --graph --show-linear-break? --count --since-as-filter=x --exclude-first-parent-only"
	gitLogFlags  = " --follow --no-decorate --decorate? --decorate-refs=x --decorate-refs-exclude=x --clear-decorations --source --mailmap --no-mailmap --use-mailmap --full-diff --log-size --pretty? --format=x --encoding=x --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date --date=x -L=x --diff-merges=x --no-diff-merges --no-standard-notes --standard-notes"
	gitRefFlags  = " --sort=x --format=x --points-at=x --contains? --no-contains? --merged? --no-merged? -i --ignore-case --color? --no-color --column? --no-column"
)

// signed refuses formats that check signatures, which runs gpg.
func signed(u *Invocation) string {
	for _, f := range u.flags {
		if (f.name == "--format" || f.name == "--pretty") && setting.Verifies(f.val.Text) {
			return "the format checks signatures, which runs gpg"
		}
		if f.name == "--sort" && strings.Contains(f.val.Text, "signature") {
			return "the order goes by signatures, which runs gpg"
		}
		if f.name == "--submodule" && f.val.Text != "" && f.val.Text != "short" && f.val.Text != "log" {
			return "git starts itself in the submodules for this"
		}
		if f.name == "--diff-merges" && strings.HasPrefix(f.val.Text, "r") {
			return "git merges anew to show this, which writes objects and runs merge drivers"
		}
		if f.has && f.val.Kind != Exact && f.name != "-n" && f.name != "-S" && f.name != "-G" && f.name != "--grep" && f.name != "--author" {
			return f.val.Source + " is not known before it runs"
		}
	}
	return u.gitBlobs()
}

// gitBlobs adds the file behind REV:PATH as read.
func (u *Invocation) gitBlobs() string {
	for _, w := range u.args {
		if w.Kind != Exact {
			continue
		}
		_, file, ok := strings.Cut(w.Text, ":")
		if strings.HasPrefix(w.Text, ":") && len(file) > 2 && file[0] >= '0' && file[0] <= '3' && file[1] == ':' {
			file = file[2:]
		}
		if ok && file != "" && !strings.HasPrefix(w.Text, ":/") && !strings.HasPrefix(w.Text, ":(") {
			if why := u.touchBlob(file, w.Source); why != "" {
				return why
			}
		}
	}
	return ""
}

// touchBlob adds the file of a REV:PATH, which counts from the top of the
// repository, and with a dot before it from the folder git works in.
func (u *Invocation) touchBlob(file, src string) string {
	if !strings.HasPrefix(file, "./") && !strings.HasPrefix(file, "../") {
		for _, d := range u.dirs {
			if top := u.r.GitTop(d); top != d {
				if why := u.touch('p', Word{Kind: Exact, Text: top + "/" + file, Source: src}); why != "" {
					return why
				}
			}
		}
	}
	return u.touch('p', Word{Kind: Exact, Text: file, Source: src})
}

// stashShow refuses -u, which for this one adds files that git does not track: by
// those that it tracks nobody can tell what they hold.
func stashShow(u *Invocation) string {
	if u.has("-u") {
		return "git stash show -u prints files that are not tracked"
	}
	return signed(u)
}

// oneOf asks for one of the flags that make a command only show what it would do.
func oneOf(flags ...string) func(u *Invocation) string {
	return func(u *Invocation) string {
		if !u.has(flags...) {
			return u.name + " without " + flags[len(flags)-1] + " changes something"
		}
		return ""
	}
}

// branchLike lets git branch and git tag pass when they list: without names,
// or with names behind a flag that makes them patterns or commits.
func branchLike(flags ...string) func(u *Invocation) string {
	return func(u *Invocation) string {
		if why := signed(u); why != "" {
			return why
		}
		if len(u.args) == 0 || u.has(flags...) {
			return ""
		}
		// --contains REV, --merged REV: the commit may stand as a word of its own.
		if len(u.args) == 1 && u.has("--contains", "--no-contains", "--merged", "--no-merged") {
			return ""
		}
		return u.name + " with a name makes or changes something"
	}
}

func configSecret(u *Invocation) string {
	if u.has("--get-urlmatch", "--url") && (len(u.args) == 0 || !strings.Contains(u.args[0].Text, ".")) {
		return "it prints all settings of a section, which may hold secrets"
	}
	if u.has("--get-regexp", "--regexp") && !u.has("--name-only") && len(u.args) > 0 {
		// A pattern without a dot or a mark is a part of the names that it finds.
		part := strings.ToLower(strings.Trim(u.args[0].Text, "^\\.$"))
		if part != "" && slices.ContainsFunc([]string{"http.https://x/.extraheader", "credential.helper"}, func(name string) bool { return strings.Contains(name, part) }) {
			return "the settings this names may hold secrets"
		}
	}
	if u.has("--get-regexp", "--regexp") && !u.has("--name-only") {
		for _, w := range u.args {
			if w.Kind != Exact || strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ^\\.-") != "" || !strings.ContainsAny(w.Text, "abcdefghijklmnopqrstuvwxyz") || strings.Contains(strings.ReplaceAll(w.Text, "\\.", ""), ".") {
				return "the settings this names are not known, and may hold secrets"
			}
		}
	}
	for _, w := range u.args {
		if w.Kind != Exact {
			return w.Source + " is not known before it runs"
		}
		low := strings.ToLower(w.Text)
		if strings.Contains(low, "credential") || strings.Contains(low, "extraheader") || strings.Contains(low, "token") || strings.Contains(low, "password") {
			return "the setting may hold a secret"
		}
	}
	return ""
}

func reflogForm(u *Invocation) string {
	if len(u.args) > 0 {
		if u.args[0].Kind != Exact {
			return u.args[0].Source + " is not known before it runs"
		}
		switch u.args[0].Text {
		case "expire", "delete", "drop", "write":
			return "git reflog " + u.args[0].Text + " removes history"
		}
	}
	return signed(u)
}

// WithoutPins is what stands in Exec.Unpinned until the whole script is read:
// the program, and the folders that git works in.
func (u *Invocation) WithoutPins(name string) string {
	if u.runs != "" {
		return name + "\x00" + u.runs
	}
	if Base(name) != "git" {
		return name
	}
	return strings.Join(append([]string{name}, u.dirs...), "\x00")
}
