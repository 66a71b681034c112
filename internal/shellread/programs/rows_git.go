package programs

import (
	"strings"
)

// gitPrograms are git, what hosts of repositories bring, and other version control.
func gitPrograms() []program {
	return []program{
		{names: "bzr commitizen commitlint cvs cz darcs fossil gitlint", is: namesOthers},
		{names: "gh", is: checker | speaker | takesTexts, helped: "pr issue run release repo workflow api search label gist auth", runs: "--jq-file* !--jq",
			reads: rows{
				"--version": {}, "api": {flags: "--paginate --slurp -i --include --silent --cache=x -q=x --jq=x -t=x --template=x -X=x --method=x", args: "x", min: 1, check: ghRead},
				"auth status": {}, "cache list": {flags: ghFlags + "-L=x --limit=x -k=x --key=x -r=x --ref=x -S=x --sort=x -O=x --order=x", check: inHost},
				"issue list":   {flags: ghFlags + "-L=x --limit=x -s=x --state=x -l=x --label=x -A=x --author=x -a=x --assignee=x -S=x --search=x -m=x --milestone=x --mention=x", check: inHost},
				"issue status": {flags: ghFlags, check: inHost}, "issue view": {flags: ghFlags + "-c --comments", args: "x", check: inHost},
				"label list": {flags: ghFlags + "-L=x --limit=x -S=x --search=x --sort=x --order=x", check: inHost}, "org list": {flags: "-L=x --limit=x"},
				"pr checks": {flags: ghFlags + "--required", args: "x", check: inHost}, "pr diff": {flags: ghFlags + "--color=x --patch --name-only", args: "x", check: inHost},
				"pr list":   {flags: ghFlags + "-L=x --limit=x -s=x --state=x -l=x --label=x -A=x --author=x -a=x --assignee=x -B=x --base=x -H=x --head=x -S=x --search=x -d --draft", check: inHost},
				"pr status": {flags: ghFlags + "-c --conflict-status", check: inHost}, "pr view": {flags: ghFlags + "-c --comments", args: "x", check: inHost},
				"release list": {flags: ghFlags + "-L=x --limit=x --exclude-drafts --exclude-pre-releases", check: inHost}, "release view": {flags: ghFlags, args: "x", check: inHost},
				"repo list": {flags: ghFlags + "-L=x --limit=x --source --fork -l=x --language=x --visibility=x --no-archived --archived --topic=x", args: "x", check: inHost},
				"repo view": {flags: ghFlags + "-b=x --branch=x", args: "x", check: inHost}, "run list": {flags: ghFlags + "-L=x --limit=x -w=x --workflow=x -b=x --branch=x -u=x --user=x -e=x --event=x -s=x --status=x -c=x --commit=x", check: inHost},
				"run view": {flags: ghFlags + "-v -j=x --job=x --log --log-failed --exit-status --verbose -a=x --attempt=x", args: "x", check: inHost}, "search code": ghSearch,
				"search commits": ghSearch, "search issues": ghSearch, "search prs": ghSearch, "search repos": ghSearch, "status": {flags: "-e=x --exclude=x -o=x --org=x", check: inHost},
				"version": {}, "workflow list": {flags: ghFlags + "-a -L=x --all --limit=x", check: inHost},
			},
			shows: rows{
				"gist list": {flags: "-L=x --limit=x --public --secret"}, "ruleset list": {flags: ghFlags + "-L=x --limit=x -p --parents -o=x --org=x", check: inHost},
				"secret list": {flags: ghFlags + "-e=x --env=x -o=x --org=x -a=x --app=x", check: inHost}, "variable list": {flags: ghFlags + "-e=x --env=x -o=x --org=x", check: inHost},
				"workflow view": {flags: ghFlags + "-y --yaml -r=x --ref=x", args: "x", min: 1, check: inHost},
			},
			forms: []form{
				{words: "alias|codespace|config|extension", runs: "*"}, {words: "repo delete", loses: "removes the repository for everybody"},
				{words: "alias set|import|delete", sets: "~/.config/gh/config.yml"}, {words: "config set", sets: "~/.config/gh/config.yml"},
				{words: "extension|ext install|upgrade|create", sets: "~/.config/gh/extensions"}, {words: "auth login|logout|setup-git|switch|refresh", sets: "~/.config/gh/config.yml"},
				{words: "pr close", says: &prose{"c", "comment", "d"}}, {words: "issue edit", says: &prose{"tbm", "title body milestone", ""}},
				{words: "pr review", says: &prose{"b", "body", "acr"}}, {words: "pr merge", says: &prose{"tb", "subject body", "dmrs"}}, {words: "issue comment", says: &prose{"b", "body", "ew"}},
				{words: "issue close", says: &prose{"c", "comment", ""}}, {words: "release edit", says: &prose{"tn", "title notes", ""}}, {words: "pr comment", says: &prose{"b", "body", "ew"}},
				{words: "issue create", says: &prose{"tblam", "title body label assignee milestone", "ew"}}, {words: "release create", says: &prose{"tn", "title notes", "dp"}},
				{words: "pr create", says: &prose{"tblarm", "title body label assignee reviewer milestone", "dew"}}, {words: "pr edit", says: &prose{"tbm", "title body milestone", ""}},
				{words: "pr", helped: "create list view checkout diff merge review comment edit close ready checks status reopen"},
				{words: "issue", helped: "create list view edit close comment reopen status"}, {words: "release", helped: "create list view upload download edit delete"},
				{words: "repo", helped: "clone create fork view list edit"}, {words: "run", helped: "list view watch rerun download cancel"}, {words: "workflow", helped: "run list view"},
			}},
		{names: "git", is: clusters | takesTexts | verbFirst, runs: "--upload-pack* --receive-pack* --exec* --open-files-in-pager* --ext-diff --textconv --output --output= --outpu --outpu= --outp --outp= --template* --separate-git-dir* --config* --extcmd*", takes: "--output=w -o=w -C=p --pathspec-from-file=l --stdin-paths=l --stdin=l",
			reads: rows{
				"am": {flags: "--show-current-patch?", check: oneOf("--show-current-patch")}, "annotate": {flags: "-bltfnscwpe -L=x --root --porcelain", args: "p*", min: 1},
				"apply":      {flags: "-Rzv -p=x -C=x --stat --numstat --summary --check --reverse --verbose --directory=x --include=x --exclude=x --ignore-whitespace --recount --unidiff-zero", args: "p*", check: oneOf("--stat", "--numstat", "--summary", "--check")},
				"bisect log": {},
				"blame":      {flags: "-bltfnscwpekhM?C? -L=x --root --show-stats --show-name --show-number --porcelain --line-porcelain --incremental --date=x --encoding=x --score-debug --show-email --abbrev? --ignore-rev=x --ignore-revs-file=p --color-lines --color-by-age --minimal --since=x --first-parent --reverse --progress --no-progress", args: "p*", min: 1},
				"branch":     {flags: "-arvlq --all --remotes --list --verbose --show-current --abbrev? --no-abbrev --quiet" + gitRefFlags, args: "x*", check: branchLike("--list", "-l")},
				"cat-file":   {flags: "-tspe --batch? --batch-check? --batch-all-objects --buffer --unordered --allow-unknown-type --follow-symlinks -Z -z", args: "p*", check: func(u *Invocation) string { return u.gitBlobs() }},
				"check-attr": {flags: "-az --all --cached", args: "x*"}, "check-ignore": {flags: "-qvzn --quiet --verbose --non-matching --no-index", args: "l*"},
				"check-mailmap": {args: "x*", min: 1}, "check-ref-format": {flags: "--branch --allow-onelevel --no-allow-onelevel --refspec-pattern --normalize", args: "x*"},
				"cherry": {flags: "-v --abbrev?", args: "x*"}, "clean": {flags: "-ndxXqf -e=x --dry-run --exclude=x --quiet", args: "l*", check: oneOf("-n", "--dry-run")}, "column": {flags: "--mode=x --width=x --indent=x --nl=x --padding=x"},
				"config": {early: true, flags: "-lz --get --get-all --get-regexp --get-urlmatch --list --global --local --system --worktree --show-origin --show-scope --null --name-only --type=x --bool --int --path --bool-or-int --expiry-date --includes --no-includes --default=x", args: "x x", check: func(u *Invocation) string {
					if u.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list") || len(u.args) == 1 && strings.Contains(u.args[0].Text, ".") { // NAME alone is read, from whichever file
						return configSecret(u)
					}
					return "this form of git config may write"
				}},
				"config get":  {early: true, flags: "-z --all --regexp --value=x --fixed-value --url=x --global --local --system --worktree --show-origin --show-scope --null --show-names --no-show-names --type=x --default=x --bool --int", args: "x", min: 1, check: configSecret},
				"config list": {flags: "-z --global --local --system --worktree --show-origin --show-scope --null --name-only --includes --no-includes"}, "count-objects": {flags: "-vH --verbose --human-readable"},
				"describe": {flags: "--all --tags --contains --abbrev? --candidates=x --exact-match --debug --long --match=x --exclude=x --always --first-parent", args: "x*"},
				"diff":     {flags: "--cached --staged --merge-base --no-index -0123" + gitDiffFlags + " --base --ours --theirs", args: "p*", check: signed}, "diff-files": {flags: "-0123q --base --ours --theirs" + gitDiffFlags, args: "p*", check: signed},
				"diff-index":   {flags: "-m --cached --merge-base" + gitDiffFlags, args: "p*", check: signed},
				"diff-tree":    {flags: "-rtmvs --root --stdin --no-commit-id --always --pretty? --format=x --merge-base" + gitDiffFlags, args: "p*", check: signed},
				"for-each-ref": {flags: "--count=x --shell --perl --python --tcl --exclude=x --stdin --omit-empty --include-root-refs" + gitRefFlags, args: "x*", check: signed},
				"fsck":         {flags: "-v --verbose --no-dangling --dangling --full --no-full --strict --unreachable --connectivity-only --no-progress --root --tags --cache --no-reflogs --name-objects", args: "x*"}, "get-tar-commit-id": {},
				"grep": {flags: "-inwvhHlLcoqazIEFGPWpe=x -A=x -B=x -C=x -m=x -f=p --cached --untracked --no-index --no-exclude-standard --exclude-standard --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --after-context=x --before-context=x --context=x --function-context --max-count=x --threads=x --and --or --not --all-match --quiet --max-depth=x --recursive --no-recursive",
					args: "x p*", given: "-e -f", here: "t", digits: true, check: func(u *Invocation) string { return u.gitBlobs() }},
				"hash-object": {flags: "-t=x --no-filters --literally", args: "p*", min: 1}, "log": {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed},
				"ls-files":  {flags: "-cdmoiksutzvft -x=x -X=p --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --exclude=x --exclude-from=p --exclude-standard --error-unmatch --full-name --abbrev? --deduplicate --format=x --resolve-undo --with-tree=x --sparse --debug", args: "l*"},
				"ls-remote": {early: true, flags: "-q --get-url", args: "x", check: oneOf("--get-url")}, "ls-tree": {flags: "-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=x", args: "x l*"},
				"merge-base": {flags: "-a --all --octopus --is-ancestor --independent --fork-point", args: "x*"},
				"name-rev":   {flags: "--tags --refs=x --exclude=x --all --name-only --no-undefined --always", args: "x*"}, "notes": {}, "notes list": {args: "x"}, "notes show": {args: "x"}, "patch-id": {flags: "--stable --unstable --verbatim"},
				"range-diff": {flags: "--creation-factor=x --left-only --right-only --no-dual-color" + gitDiffFlags, args: "x*", check: signed},
				"reflog":     {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "x*", digits: true, check: reflogForm}, "reflog exists": {args: "x"}, "reflog list": {},
				"reflog show": {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "x*", digits: true, check: signed}, "remote": {flags: "-v --verbose"}, "remote get-url": {flags: "--push --all", args: "x", min: 1},
				"remote show": {flags: "-n", args: "x*", check: func(u *Invocation) string {
					if len(u.args) > 0 && !u.has("-n") {
						return "git remote show asks the other side"
					}
					return ""
				}},
				"rerere status": {},
				"rev-list":      {flags: gitRevFlags + gitLogFlags + " --objects --objects-edge --quiet --timestamp --header --disk-usage? --no-object-names --object-names --in-commit-order --unpacked --use-bitmap-index", args: "x*", digits: true, check: signed},
				"rev-parse":     {flags: "-q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --show-ref-format --show-object-format? --revs-only --no-revs --flags --no-flags --default=x --not --since=x --until=x --path-format=x --local-env-vars --git-path=x --sq --disambiguate=x --exclude=x --glob=x", args: "p*", check: func(u *Invocation) string { return u.gitBlobs() }},
				"shortlog":      {flags: gitRevLong + " -nsecw? --numbered --summary --email --group=x --format=x", args: "p*", check: signed}, "show": {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed},
				"show-branch":          {flags: "-ar --all --remotes --current --topo-order --date-order --sparse --more=x --list --merge-base --independent --no-name --sha1-name --topics --color? --no-color", args: "x*"},
				"show-ref":             {flags: "-dqsh --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev? --exclude-existing? --exists", args: "x*"},
				"sparse-checkout list": {}, "stash list": {flags: gitDiffFlags + gitRevFlags + gitLogFlags, check: signed}, "stash show": {flags: gitDiffFlags, args: "x p*", check: stashShow},
				"status":     {flags: "-sbvzu? --short --branch --no-branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --null", args: "l*"},
				"stripspace": {flags: "-sc --strip-comments --comment-lines"}, "symbolic-ref": {flags: "-q --quiet --short --recurse --no-recurse", args: "x", min: 1},
				"tag": {flags: "-ln? --list" + gitRefFlags, args: "x*", check: branchLike("--list", "-l", "-n")}, "var": {args: "x", min: 1}, "verify-pack": {flags: "-vs --verbose --stat-only", args: "p*"}, "version": {flags: "--build-options"},
				"whatchanged": {flags: gitDiffFlags + gitRevFlags + gitLogFlags, args: "p*", digits: true, check: signed}, "worktree list": {flags: "-vz --verbose --porcelain"},
			},
			forms: []form{
				{words: "clean", unless: "-n --dry-run -h --help", valued: "e", loses: "removes files that git does not know, for good"}, // without -f where clean.requireForce is off
				{words: "reset", flags: "--hard --merge", loses: "--hard drops every change that is not committed"}, {words: "checkout", flags: "-- . -f --force", loses: lostFiles},
				{words: "restore", unless: "-S --staged", valued: "s", loses: lostChanges}, {words: "restore", flags: "-W --worktree", plain: true, loses: lostChanges},
				{words: "checkout-index", flags: "-f --force", loses: lostFiles}, {words: "read-tree", flags: "--reset & -u", loses: "--reset -u drops every change that is not committed"},
				{words: "rm", flags: "-f --force", unless: "-n --cached --dry-run", loses: "-f " + lostChanges}, {words: "worktree add", flags: "-B", valued: "b", loses: "-B over another branch drops commits that are only on that one"}, {words: "worktree remove", flags: "-f --force", loses: "--force drops changes in it that are not committed"},
				{words: "submodule deinit|update", flags: "-f --force", loses: "--force drops changes in submodules that are not committed"}, {words: "switch", flags: "-f --force --discard-changes", loses: "--discard-changes " + lostChanges},
				{words: "push", flags: "-f --force --force-with-lease -d --delete --mirror --prune +* :*", loses: "--force replaces what others may have"},
				{words: "fetch|pull", flags: toBranch + " & +* -f --force -p --prune", valued: "joXsS", loses: "into a local branch drops commits that are only there"},
				{words: "fetch|pull", flags: "-P " + pruneTags, valued: "joXsS", loses: "removes tags that are only here"}, {words: "fetch|pull", flags: "-t --tags tag & -f --force", valued: "joXsS", loses: "--force replaces tags that are here"},
				{words: "checkout", flags: "-B", valued: "b", loses: "-B over another branch drops commits that are only on that one"}, {words: "switch", flags: "-C --force-create", valued: "c", loses: "-C over another branch drops commits that are only on that one"},
				{words: "repack", flags: "-a & -d", unless: "-A -k --keep-unreachable --cruft", loses: lostObjects},
				{words: "branch", flags: "-M -C -f --force", valued: "ut", loses: "over another branch drops commits that are only on that one"},
				{words: "update-ref", flags: "-d --stdin", loses: "drops commits that are only on what it deletes"},
				{words: "mv", flags: "-f --force", unless: "-n --dry-run", loses: "-f over a file drops its changes that are not committed"},
				{words: "branch", flags: "-D", loses: lostBranch}, {words: "branch", flags: "-d --delete & -f --force", loses: lostBranch},
				{words: "stash drop|clear", loses: "drops what was stashed"}, {words: "reflog expire|delete|drop", loses: "drops the way back to lost commits"}, {words: "filter-branch|filter-repo", loses: "rewrites history"},
				{words: "gc", flags: "--prune", loses: lostObjects}, {words: "prune", loses: lostObjects},
				{words: "alias|credential|daemon|filter-branch|for-each-repo|gui|hook|instaweb|maintenance|merge-index|merge-one-file|mergetool|send-email|web--browse", runs: "*"},
				{words: "am", runs: "-x*"}, {words: "archive", runs: "--exec* --remote* -o* --output*", valued: "o", takes: "--output=W -o=W"}, {words: "bisect", runs: "run view visualize"},
				{words: "branch", runs: "--edit-description"}, {words: "cherry-pick|revert", runs: "--strategy --strategy="}, {words: "clone", runs: "-u* --upload-pack* -c* --config* --template* --recurse-submodules*", valued: "objt"},
				{words: "commit", runs: "--template* -t -F* --file*", valued: "mcCuS", takes: "--file=p --template=p -F=p -t=p"}, {words: "difftool", runs: "*"}, {words: "fetch", runs: "--upload-pack* -u*"}, {words: "grep", runs: "-O* --open-files*"},
				{words: "init", runs: "--template*"}, {words: "log", runs: "--ext-diff --textconv"}, {words: "ls-remote", runs: "--upload-pack* --exec*"},
				{words: "merge", runs: "-s* --strategy --strategy=", valued: "mFXS"}, {words: "notes", runs: "edit"}, {words: "pull", runs: "--upload-pack* --rebase=interactive --rebase=i -s* --strategy --strategy= !--rebase", valued: "jXS"},
				{words: "push", runs: "--receive-pack* --exec*"}, {words: "rebase", runs: "-x* --exec* -i --interactive -s* --strategy --strategy=", valued: "XCS"},
				{words: "submodule", runs: "foreach add"}, {words: "lfs install|uninstall|update", sets: ".git/hooks/pre-commit"},
				{words: "… clone|bundle|fast-export|worktree|daemon|upload-pack|upload-archive|instaweb|http-backend|shell", packs: true}, {words: "tag", says: &prose{"m", "message", "aefs"}},
				{words: "stash store", says: &prose{"m", "message", "q"}}, {words: "notes append", says: &prose{"m", "message", ""}},
				{words: "commit", says: &prose{"m", "message author date", "aeinopqsvz"}}, {words: "commit-tree", says: &prose{"m", "", ""}}, {words: "merge", says: &prose{"m", "message", "enqv"}},
				{words: "stash push", says: &prose{"m", "message", "akpqu"}}, {words: "notes add", says: &prose{"m", "message", "f"}},
			}},
		{names: "git-lfs", is: packer, forms: []form{{words: "install|uninstall|update", sets: ".git/hooks/pre-commit"}}},
		{names: "git-shell", is: launcher | takesScripts},
		{names: "glab", is: checker | takesTexts},
		{names: "hg", is: namesOthers, forms: []form{{words: "… clone|archive|bundle|cat", packs: true}}},
		{names: "husky", forms: []form{{unless: "-v --version -h --help", sets: ".git/config"}}},
		// Nothing of jj is known to only read: the settings of its repository may name programs.
		{names: "jj", is: namesOthers, runs: "--config* --config-file* --tool*", forms: []form{
			{words: "util", runs: "exec"}, {words: "config set|unset|edit", sets: "~/.config/jj/config.toml"}, {words: "describe", says: &prose{"m", "message", ""}},
			{words: "op abandon", loses: "drops the way back to lost commits"}, {words: "git push", flags: "--deleted", loses: "removes branches that others may have"},
		}},
		{names: "lefthook", forms: []form{{words: "install|uninstall|add", sets: ".git/hooks/pre-commit"}}},
		{names: "overcommit", forms: []form{{unless: "-v --version -h --help -l --list-hooks", sets: ".git/hooks/pre-commit"}}},
		{names: "pre-commit pre_commit", takes: "-c=r --config=r", forms: []form{{words: "install|uninstall|init-templatedir|install-hooks", sets: ".git/hooks/pre-commit"}, {words: "… run", edits: "*"}}},
		{names: "prek", forms: []form{{words: "install|uninstall|init-templatedir", sets: ".git/hooks/pre-commit"}}},
		{names: "svn", is: namesOthers, forms: []form{{words: "… export|import", packs: true}}},
	}
}
