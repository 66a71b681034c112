package programs

// searchPrograms find things in files and folders.
func searchPrograms() []program {
	return []program{
		{names: "locate", is: known},
		{names: "cloc", is: checker | known},
		{names: "ag", is: known | reader | seeker | walker},
		{names: "egrep fgrep", is: eachFile | walker, row: grepRow},
		{names: "fd fdfind", lost: startsRemoval("-x", "-X", "--exec", "--exec-batch"), valued: "detEc", runs: "-x -X --exec*", row: fdRow, reads: rows{"--version": {}}},
		{names: "find", is: takesTexts, lost: startsRemoval("-exec", "-execdir", "-ok", "-okdir"), forms: []form{{flags: "-delete", loses: "-delete removes every match for good"}}, runs: "-exec -execdir -ok -okdir -delete -fprint* -fls -files0-from", takes: "-delete=n -fls=w -fprint=w -fprint0=w -files0-from=l", row: &command{verbatim: true, check: checkFind}, reads: rows{"--version": {}}},
		{names: "grep", is: eachFile | takesTexts | walker, row: grepRow, reads: rows{"--version": {}}},
		{names: "less", is: checker | reader, valued: "bhjpPtTxyz", runs: "-o* -O* --log-file* --LOG-FILE* -k* --lesskey* +*", row: pagerRow},
		{names: "more", is: checker | reader, row: pagerRow},
		{names: "rg", is: reader | seeker | takesTexts | walker, valued: "ABCefgjmMrtTE", runs: "--pre --pre= --hostname-bin* -z --search-zip", takes: "--files-from=l",
			row: &command{
				flags: "-ivwxcloqsnNHhFPSUuuu0LaIp -A=x -B=x -C=x -m=x -e=x -f=p -g=x -t=x -T=x -j=x -r=x -M=x -d=x -E=x -b.V --version --no-ignore-files --unicode --auto-hybrid-regex --pcre2-version --ignore-file=p --byte-offset --type-add=x --context-separator=x --no-context-separator --dfa-size-limit=x --regex-size-limit=x --no-follow --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --files --only-matching --quiet --line-number --no-line-number --column --with-filename --no-filename --fixed-strings --pcre2 --multiline --multiline-dotall --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot --unrestricted --null --text --after-context=x --before-context=x --context=x --max-count=x --regexp=x --file=p --glob=x --iglob=x --type=x --type-not=x --type-list --threads=x --replace=x --max-columns=x --max-columns-preview --max-depth=x --encoding=x --sort=x --sortr=x --heading --no-heading --color=x --colors=x --json --stats --trim --vimgrep --passthru --no-messages --no-config --pretty --line-buffered --block-buffered --engine=x --max-filesize=x --one-file-system --path-separator=x --crlf --null-data --no-unicode --sort-files --include-zero --field-match-separator=x --field-context-separator=x --debug --binary --max-count=x",
				args:  "x t*", given: "-e --regexp -f --file --files --type-list", here: "t", check: func(u *Invocation) string {
					if u.has("-L") {
						return "rg -L follows links out of the folder"
					}
					switch { // names alone, and nothing at all
					case u.has("--files"):
						u.row = &command{args: "d*", here: "d"}
						return ""
					case u.has("--type-list", "--version", "-V", "--pcre2-version") && len(u.args) == 0:
						u.row = &command{}
						return ""
					}
					u.pickRg()
					if u.r.World.Tree != nil {
						return "" // the listing says what ignore files let pass
					}
					for _, name := range []string{".ignore", ".rgignore", ".gitignore"} {
						// Such a file may let names with a dot pass.
						u.visible = u.visible && !u.r.there(Lit(name), u.dirs)
					}
					return ""
				},
			}, reads: rows{"--version": {}}},
		{names: "tokei", is: checker, row: &command{flags: "-fs --files -e=x --exclude=x -o=x --output=x -t=x --type=x --hidden --no-ignore", args: "d*", here: "d"}},
	}
}
