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
	row, args := u.r.Table.findGit(rest)
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
		return t.git[ws[0].Text] != nil || slices.Contains([]string{"add", "am", "checkout", "cherry-pick", "clone", "commit", "fetch", "init", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "stash", "switch", "worktree"}, ws[0].Text)
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

func (t *Table) findGit(ws []Word) (*command, []Word) {
	if len(ws) > 1 && ws[1].Kind == Exact {
		if row, ok := t.git[ws[0].Text+" "+ws[1].Text]; ok {
			return row, ws[2:]
		}
	}
	if row, ok := t.git[ws[0].Text]; ok {
		return row, ws[1:]
	}
	return nil, nil
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

var gitRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"status":           {flags: "-sbvzu? --short --branch --no-branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --null", args: "l*"},
		"diff":             {flags: "--cached --staged --merge-base --no-index -0123" + gitDiffFlags + " --base --ours --theirs", args: "p*", check: signed},
		"log":              {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed},
		"show":             {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed},
		"whatchanged":      {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed},
		"shortlog":         {flags: gitRevLong + " -nsecw? --numbered --summary --email --group=x --format=x", args: "p*", check: signed},
		"blame":            {flags: "-bltfnscwpekhM?C? -L=x --root --show-stats --show-name --show-number --porcelain --line-porcelain --incremental --date=x --encoding=x --score-debug --show-email --abbrev? --ignore-rev=x --ignore-revs-file=p --color-lines --color-by-age --minimal --since=x --first-parent --reverse --progress --no-progress", args: "p*", min: 1},
		"annotate":         {flags: "-bltfnscwpe -L=x --root --porcelain", args: "p*", min: 1},
		"ls-files":         {flags: "-cdmoiksutzvft -x=x -X=p --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --exclude=x --exclude-from=p --exclude-standard --error-unmatch --full-name --abbrev? --deduplicate --format=x --resolve-undo --with-tree=x --sparse --debug", args: "l*"},
		"ls-tree":          {flags: "-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=x", args: "x l*"},
		"cat-file":         {flags: "-tspe --batch? --batch-check? --batch-all-objects --buffer --unordered --allow-unknown-type --follow-symlinks -Z -z", args: "p*", check: func(u *Invocation) string { return u.gitBlobs() }},
		"rev-parse":        {flags: "-q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --show-ref-format --show-object-format? --revs-only --no-revs --flags --no-flags --default=x --not --since=x --until=x --path-format=x --local-env-vars --git-path=x --sq --disambiguate=x --exclude=x --glob=x", args: "p*", check: func(u *Invocation) string { return u.gitBlobs() }},
		"rev-list":         {flags: gitRevFlags + gitLogFlags + " --objects --objects-edge --quiet --timestamp --header --disk-usage? --no-object-names --object-names --in-commit-order --unpacked --use-bitmap-index", args: "x*", digits: true, check: signed},
		"merge-base":       {flags: "-a --all --octopus --is-ancestor --independent --fork-point", args: "x*"},
		"describe":         {flags: "--all --tags --contains --abbrev? --candidates=x --exact-match --debug --long --match=x --exclude=x --always --first-parent", args: "x*"},
		"name-rev":         {flags: "--tags --refs=x --exclude=x --all --name-only --no-undefined --always", args: "x*"},
		"for-each-ref":     {flags: "--count=x --shell --perl --python --tcl --exclude=x --stdin --omit-empty --include-root-refs" + gitRefFlags, args: "x*", check: signed},
		"show-ref":         {flags: "-dqsh --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev? --exclude-existing? --exists", args: "x*"},
		"show-branch":      {flags: "-ar --all --remotes --current --topo-order --date-order --sparse --more=x --list --merge-base --independent --no-name --sha1-name --topics --color? --no-color", args: "x*"},
		"diff-tree":        {flags: "-rtmvs --root --stdin --no-commit-id --always --pretty? --format=x --merge-base" + gitDiffFlags, args: "p*", check: signed},
		"diff-index":       {flags: "-m --cached --merge-base" + gitDiffFlags, args: "p*", check: signed},
		"diff-files":       {flags: "-0123q --base --ours --theirs" + gitDiffFlags, args: "p*", check: signed},
		"range-diff":       {flags: "--creation-factor=x --left-only --right-only --no-dual-color" + gitDiffFlags, args: "x*", check: signed},
		"cherry":           {flags: "-v --abbrev?", args: "x*"},
		"count-objects":    {flags: "-vH --verbose --human-readable"},
		"check-ignore":     {flags: "-qvzn --quiet --verbose --non-matching --no-index", args: "l*"},
		"check-attr":       {flags: "-az --all --cached", args: "x*"},
		"check-ref-format": {flags: "--branch --allow-onelevel --no-allow-onelevel --refspec-pattern --normalize", args: "x*"},
		"var":              {args: "x", min: 1},
		"version":          {flags: "--build-options"},
		"grep": {flags: "-inwvhHlLcoqazIEFGPWpe=x -A=x -B=x -C=x -m=x -f=p --cached --untracked --no-index --no-exclude-standard --exclude-standard --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --after-context=x --before-context=x --context=x --function-context --max-count=x --threads=x --and --or --not --all-match --quiet --max-depth=x --recursive --no-recursive",
			args: "x p*", given: "-e -f", here: "t", digits: true, check: func(u *Invocation) string { return u.gitBlobs() }},
		"branch":         {flags: "-arvlq --all --remotes --list --verbose --show-current --abbrev? --no-abbrev --quiet" + gitRefFlags, args: "x*", check: branchLike("--list", "-l")},
		"tag":            {flags: "-ln? --list" + gitRefFlags, args: "x*", check: branchLike("--list", "-l", "-n")},
		"remote":         {flags: "-v --verbose"},
		"remote get-url": {flags: "--push --all", args: "x", min: 1},
		"stash list":     {flags: gitDiffFlags + gitRevFlags + gitLogFlags, check: signed},
		"stash show":     {flags: gitDiffFlags, args: "x p*", check: stashShow},
		"remote show": {flags: "-n", args: "x*", check: func(u *Invocation) string {
			if len(u.args) > 0 && !u.has("-n") {
				return "git remote show asks the other side"
			}
			return ""
		}},
		"clean":     {flags: "-ndxXqf -e=x --dry-run --exclude=x --quiet", args: "l*", check: oneOf("-n", "--dry-run")},
		"apply":     {flags: "-Rzv -p=x -C=x --stat --numstat --summary --check --reverse --verbose --directory=x --include=x --exclude=x --ignore-whitespace --recount --unidiff-zero", args: "p*", check: oneOf("--stat", "--numstat", "--summary", "--check")},
		"fsck":      {flags: "-v --verbose --no-dangling --dangling --full --no-full --strict --unreachable --connectivity-only --no-progress --root --tags --cache --no-reflogs --name-objects", args: "x*"},
		"ls-remote": {early: true, flags: "-q --get-url", args: "x", check: oneOf("--get-url")},
		"am":        {flags: "--show-current-patch?", check: oneOf("--show-current-patch")},

		"sparse-checkout list": {}, "notes": {}, "rerere status": {}, "check-mailmap": {args: "x*", min: 1},
		"config": {early: true, flags: "-lz --get --get-all --get-regexp --get-urlmatch --list --global --local --system --worktree --show-origin --show-scope --null --name-only --type=x --bool --int --path --bool-or-int --expiry-date --includes --no-includes --default=x", args: "x x", check: func(u *Invocation) string {
			if u.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list") || len(u.args) == 1 && strings.Contains(u.args[0].Text, ".") { // NAME alone is read, from whichever file
				return configSecret(u)
			}
			return "this form of git config may write"
		}},
		"config get":        {early: true, flags: "-z --all --regexp --value=x --fixed-value --url=x --global --local --system --worktree --show-origin --show-scope --null --show-names --no-show-names --type=x --default=x --bool --int", args: "x", min: 1, check: configSecret},
		"config list":       {flags: "-z --global --local --system --worktree --show-origin --show-scope --null --name-only --includes --no-includes"},
		"reflog":            {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "x*", digits: true, check: reflogForm},
		"reflog show":       {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "x*", digits: true, check: signed},
		"reflog exists":     {args: "x"},
		"reflog list":       {},
		"worktree list":     {flags: "-vz --verbose --porcelain"},
		"notes list":        {args: "x"},
		"notes show":        {args: "x"},
		"bisect log":        {},
		"hash-object":       {flags: "-t=x --no-filters --literally", args: "p*", min: 1},
		"symbolic-ref":      {flags: "-q --quiet --short --recurse --no-recurse", args: "x", min: 1},
		"verify-pack":       {flags: "-vs --verbose --stat-only", args: "p*"},
		"get-tar-commit-id": {},
		"column":            {flags: "--mode=x --width=x --indent=x --nl=x --padding=x"},
		"stripspace":        {flags: "-sc --strip-comments --comment-lines"},
		"patch-id":          {flags: "--stable --unstable --verbatim"},
	}
})

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
