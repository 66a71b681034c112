package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// corePrograms are what prints, and what makes, shows, changes and filters files.
func corePrograms() []program {
	return []program{
		{names: "cmark ptx", is: known},
		{names: "dos2unix", is: known, forms: []form{{edits: "*"}}},
		{names: "arch", is: launcher, row: &command{}},
		{names: "awk", is: eachFile | inPlaceEditor, takes: "-f=c --file=c", row: awkRow, reads: rows{"--version": {}}},
		{names: "b2sum", is: eachFile, row: &command{flags: hashFlags + " -l=x --length=x", args: "p*", safe: true}},
		{names: "base32", row: &command{flags: "-di -w=x --decode --ignore-garbage --wrap=x", args: "p", safe: true}},
		{names: "base64", row: &command{flags: "-di -w=x --decode --ignore-garbage --wrap=x -D", args: "p", safe: true}},
		{names: "basename", is: eachFile, row: &command{flags: "-az --multiple --zero -s=x --suffix=x", args: "x*", safe: true}},
		{names: "bc", row: &command{flags: "-lqsw --mathlib --quiet --standard --warn", args: "p*"}},
		{names: "bzcat", is: packer, row: &command{args: "p*", check: packed}},
		{names: "bzip2", row: &command{flags: "-dctqv --decompress --stdout --test", args: "p*", check: toStdout}, changes: &changeRow{command{safe: true, flags: "-123456789dfkqv"}, applyPack}},
		{names: "cal", row: &command{flags: "-13myjn=x", args: "x x x"}},
		{names: "cat", is: eachFile, takes: "@=l", row: &command{flags: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting", args: "p*", safe: true}},
		{names: "chgrp chown", is: quiet, changes: &changeRow{command{safe: true, flags: "-cfvRhHLP --recursive --reference=p --no-dereference"}, applyMode}},
		{names: "chmod", is: quiet, changes: &changeRow{command{safe: true, flags: "-cfvR --changes --quiet --silent --verbose --recursive --reference=p"}, applyMode}},
		{names: "cksum", is: eachFile, row: &command{flags: "-a=x --algorithm=x --tag --untagged -z --zero --base64 --raw", args: "p*", safe: true}},
		{names: "clear json_pp logname whoami yes", row: &command{}},
		{names: "cmp", row: &command{flags: "-bls -i=x --ignore-initial=x -n=x --bytes=x --print-bytes --verbose --silent --quiet", args: "p p x x", min: 1, safe: true}},
		{names: "column", row: &command{flags: "-tnexLJ -s=x -o=x -c=x -N=x -R=x -H=x -W=x --table --separator=x --output-separator=x --columns=x --table-columns=x", args: "p*"}},
		{names: "comm", row: &command{flags: "-123z --check-order --nocheck-order --output-delimiter=x --total --zero-terminated", args: "p p", min: 2}},
		{names: "command", reads: rows{"-V": {args: "x*"}, "-v": {args: "x*"}}},
		{names: "cp", is: copier | speaker,
			changes: &changeRow{command{safe: true, flags: "-abdfilLnPpRrsTuvxH -t=x -S=x --archive --backup? --force --interactive --link --dereference --no-clobber --no-dereference --preserve? --no-preserve=x --parents --recursive --symbolic-link --suffix=x --target-directory=x --no-target-directory --update? --verbose --one-file-system --reflink? --sparse=x --strip-trailing-slashes --remove-destination --attributes-only"}, applyCopy(false)}},
		{names: "cut", is: eachFile, row: &command{flags: "-b=x -c=x -d=x -f=x -ns -z --bytes=x --characters=x --delimiter=x --fields=x --complement --only-delimited --output-delimiter=x --zero-terminated", args: "p*", safe: true}},
		{names: "date", valued: "dfrI", runs: "-s* --set*",
			row: &command{flags: "-uRI? --utc --universal --rfc-email --iso-8601? --rfc-3339=x -d=x --date=x -r=p --reference=p --debug", args: "x", check: func(u *Invocation) string {
				if len(u.args) == 1 && (u.args[0].Kind != Exact || !strings.HasPrefix(u.args[0].Text, "+")) {
					return "date with an operand may set the clock"
				}
				return ""
			}}},
		{names: "dd", changes: &changeRow{command{safe: true}, applyDD}},
		{names: "df", row: &command{flags: "-aBhHiklPT --all --human-readable --si --inodes --portability --print-type --total --output? -t=x --type=x -x=x --exclude-type=x", args: "l*"}},
		{names: "diff", is: walker, runs: "--to-file* --from-file*",
			row: &command{
				flags: "-aBbcdeEfiHnNpPqrstTuwyZ -C=x --context? -U=x --unified? --brief --report-identical-files --side-by-side --width=x -W=x --left-column --suppress-common-lines --show-c-function -F=x --show-function-line=x --label=x --expand-tabs --initial-tab --tabsize=x --recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case -x=x --exclude=x -X=p --exclude-from=p -S=x --starting-file=x --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines -I=x --ignore-matching-lines=x --text --strip-trailing-cr --minimal --horizon-lines=x --speed-large-files --color? --normal",
				args:  "p p", min: 2, digits: true, deep: "-r --recursive", safe: true, check: func(u *Invocation) string {
					if !u.has("-r", "--recursive") && !slices.ContainsFunc(u.args, u.folder) {
						return ""
					}
					u.row = &command{args: "t t", safe: true} // diff FILE FOLDER looks into it
					if u.has("--no-dereference") {
						return ""
					}
					return u.linksBelow(u.args)
				},
			}},
		{names: "diff3", row: &command{flags: "-aeEAxX3imT", args: "p p p", min: 3}},
		{names: "dirname", is: eachFile, row: &command{flags: "-z --zero", args: "x*", safe: true}},
		{names: "du", is: eachFile, takes: "--files0-from=l",
			row: &command{flags: "-0abcDhHklmPsSx -d=x --max-depth=x -B=x --block-size=x --all --apparent-size --bytes --total --human-readable --si --null --summarize --separate-dirs --one-file-system --exclude=x -t=x --threshold=x --inodes --time? --time-style=x", args: "d*", here: "d", safe: true}},
		{names: "echo", is: eachFile, row: &command{verbatim: true, args: "x*", safe: true}},
		{names: "expand", row: &command{flags: "-i -t=x --initial --tabs=x", args: "p*", safe: true}},
		{names: "expr false true", row: &command{verbatim: true, args: "x*", safe: true}},
		{names: "factor groups", row: &command{args: "x*"}},
		{names: "file", is: eachFile, valued: "eFfP", runs: "-C* --compile -m* --magic-file*",
			row: &command{flags: "-bhikLNnprsSvzZ0E -F=x --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension --keep-going --no-pad --print0 --raw -e=x --exclude=x --separator=x -P=x --parameter=x", args: "p*", min: 1, check: refuses("this flag of file starts other programs or writes", "-z", "-Z", "-S", "-s", "-p")}},
		{names: "fmt", row: &command{flags: "-cstu -w=x -p=x -g=x --width=x --prefix=x", args: "p*", digits: true}},
		{names: "fold", row: &command{flags: "-bs -w=x --bytes --spaces --width=x", args: "p*", safe: true}},
		{names: "gawk", is: inPlaceEditor, takes: "-f=c --file=c", row: awkRow, reads: rows{"--version": {}}},
		{names: "getconf", row: &command{args: "x"}},
		{names: "gunzip", is: clusters | packer | walker, row: &command{flags: "-lvtqcd --list --verbose --test --quiet --stdout --to-stdout", args: "p*", check: toStdout}, changes: &changeRow{command{safe: true, flags: "-cfknqrtv"}, applyPack}, forms: []form{{flags: "-r --recursive", edits: "*"}}},
		{names: "gzip", is: clusters | walker, row: &command{flags: "-lvtqcd --list --verbose --test --quiet --stdout --to-stdout --decompress --uncompress", args: "p*", check: toStdout},
			changes: &changeRow{command{safe: true, flags: "-123456789dfknqrv --keep --force --decompress --best --fast"}, applyPack},
			forms:   []form{{flags: "-r --recursive", edits: "*"}}},
		{names: "hd", row: &command{flags: "-v -n=x -s=x", args: "p*"}},
		{names: "head tail", is: eachFile, row: &command{flags: "-n=x -c=x -qvz --lines=x --bytes=x --quiet --silent --verbose --zero-terminated", args: "p*", digits: true, safe: true}},
		{names: "help", row: &command{flags: "-dms", args: "x*"}},
		{names: "hexdump", row: &command{flags: "-bcCdovx -e=x -n=x -s=x", args: "p*"}},
		{names: "hostname", row: &command{flags: "-fsidAI --fqdn --short --ip-address --domain --all-fqdns --all-ip-addresses --long"}},
		{names: "iconv", valued: "ft", runs: "-o* --output*", takes: "--output=w -o=w",
			row: &command{flags: "-f=x -t=x -lcs --from-code=x --to-code=x --list --silent", args: "p*", check: values(" may name a file", func(text string) bool {
				return strings.Contains(strings.TrimSuffix(strings.TrimSuffix(text, "//TRANSLIT"), "//IGNORE"), "/")
			})}},
		{names: "id", row: &command{flags: "-ugGnrza --user --group --groups --name --real --zero", args: "x*"}},
		{names: "install", is: copier | packer | writer, changes: &changeRow{command{safe: true, flags: "-bcCdDpsTv -g=x -m=x -o=x -t=x -S=x --directory --mode=x --owner=x --group=x --target-directory=x --verbose --preserve-timestamps --backup?"}, applyInstall}},
		{names: "jobs", row: &command{flags: "-lnprs"}},
		{names: "join", row: &command{flags: "-iz -1=x -2=x -a=x -e=x -j=x -o=x -t=x -v=x --header --check-order --nocheck-order --ignore-case", args: "p p", min: 2}},
		{names: "jq", is: checker | eachFile | reader | takesTexts, takes: "-f=c --from-file=c",
			row: &command{flags: "-ncrRsSCMeaj --null-input --compact-output --raw-output --raw-output0 --raw-input --slurp --sort-keys --color-output --monochrome-output --exit-status --ascii-output --join-output --tab --indent=x --unbuffered --stream --seq --arg=2 --argjson=2 --slurpfile=q --rawfile=q", args: "x p*", min: 1, safe: true, check: checkJQ}, reads: rows{"--version": {}}},
		{names: "kill", is: namesOthers, lost: killLoses, reads: rows{"-l": {args: "x*"}}, shows: rows{"": {args: "x*", min: 1, verbatim: true, check: killsOwn}, "-0": {args: "x*", min: 1}}},
		{names: "ln", is: copier, changes: &changeRow{command{safe: true, flags: "-bdfFiLnPrsTv -t=x -S=x --symbolic --force --relative --no-dereference --target-directory=x --verbose --backup?"}, applyLink}},
		{names: "locale", row: &command{flags: "-a --all-locales -m --charmaps -k --keyword-name", args: "x*"}},
		{names: "look", row: &command{flags: "-adf -t=x", args: "x p", min: 1}},
		{names: "ls", is: eachFile,
			row: &command{
				flags: "-aAbBcCdDfFgGhHiklmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape --block-size=x --ignore-backups --color? --directory --dired --classify? --file-type --format=x --full-time --group-directories-first --no-group --human-readable --si --hide=x --hyperlink? --indicator-style=x --inode -I=x --ignore=x --kibibytes --literal --numeric-uid-gid --hide-control-chars --show-control-chars --quote-name --quoting-style=x --reverse --recursive --size --sort=x --time=x --time-style=x -T=x --tabsize=x -w=x --width=x --context --zero",
				args:  "l*", here: "l", safe: true, check: becomes(&command{args: "d*", here: "d"}, "-R", "--recursive"),
			}, reads: rows{"--version": {}}},
		{names: "lsblk", row: &command{flags: "-abfmpSt"}},
		{names: "mawk", takes: "-f=c", row: awkRow},
		{names: "md5", row: &command{flags: "-qr", args: "p*"}},
		{names: "md5sum sha1sum sha256sum sha512sum", is: eachFile, row: &command{flags: hashFlags, args: "p*", safe: true}},
		{names: "mkdir", is: quiet | speaker, changes: &changeRow{command{safe: true, flags: "-pv -m=x --parents --verbose --mode=x"}, applyAll(policy.Write{Makes: true})}},
		{names: "mount", row: &command{check: func(u *Invocation) string {
			if len(u.args) > 0 || len(u.flags) > 0 {
				return "mount changes the file system"
			}
			return ""
		}}},
		{names: "mv", is: copier | speaker, changes: &changeRow{command{safe: true, flags: "-bfinTuv -t=x -S=x --backup? --force --interactive --no-clobber --strip-trailing-slashes --suffix=x --target-directory=x --no-target-directory --update? --verbose"}, applyCopy(true)}},
		{names: "namei", row: &command{flags: "-xmolvn --long --modes --owners", args: "l*"}},
		{names: "nawk", row: awkRow},
		{names: "nl", is: eachFile, row: &command{flags: "-b=x -d=x -f=x -h=x -i=x -l=x -n=x -p -s=x -v=x -w=x --body-numbering=x --number-width=x --number-format=x --number-separator=x --starting-line-number=x", args: "p*", safe: true}},
		{names: "nm", row: &command{flags: "-aABCDgnopPrSuV --demangle? --dynamic --defined-only --extern-only --undefined-only --size-sort --numeric-sort", args: "p*", check: noResponse}},
		{names: "nproc", row: &command{flags: "--all --ignore=x"}},
		{names: "numfmt", row: &command{flags: "-z --from=x --to=x --from-unit=x --to-unit=x --field=x -d=x --delimiter=x --format=x --grouping --header? --invalid=x --padding=x --round=x --suffix=x", args: "x*"}},
		{names: "objdump", row: &command{flags: "-afhpxdDtTrRsGgCw --disassemble --demangle? --file-headers --private-headers --all-headers --syms --dynamic-syms -M=x -j=x --section=x", args: "p*", min: 1, check: noResponse}},
		{names: "od", row: &command{flags: "-abcdfilosxv -A=x -j=x -N=x -S=x -t=x -w? --address-radix=x --skip-bytes=x --read-bytes=x --format=x --output-duplicates --width? --endian=x", args: "p*", safe: true}},
		{names: "otool", row: &command{flags: "-hlLtv", args: "p*"}},
		{names: "paste", row: &command{flags: "-sz -d=x --serial --delimiters=x --zero-terminated", args: "p*", safe: true}},
		{names: "patch", is: interpreter | writer,
			changes: &changeRow{command{safe: true, flags: "-p=x -i=p -o=x -R -N -s -d=x -b -f -t -E -u -c -n -l -r=x --input=p --output=x --dry-run --reverse --forward --silent --quiet"}, func(u *Invocation) bool {
				u.all(u.args, policy.Write{})
				return false
			}}},
		{names: "pathchk", row: &command{flags: "-pP --portability", args: "x*"}},
		{names: "printf", row: &command{verbatim: true, args: "x*", min: 1, safe: true}},
		{names: "pwd", row: &command{flags: "-LP --logical --physical"}},
		{names: "readelf", row: &command{flags: "-ahlSegsndruWVcAI --all --file-header --headers --sections --symbols --dynamic --wide --notes --relocs --segments", args: "p*", min: 1, check: noResponse}},
		{names: "readlink", is: eachFile, row: &command{flags: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero", args: "l*", min: 1, safe: true}},
		{names: "realpath", is: eachFile, row: &command{flags: "-eEmLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to=d --relative-base=d", args: "l*", min: 1, safe: true}},
		{names: "rev", is: packer, row: &command{flags: "-0 --zero", args: "p*", safe: true}},
		{names: "rm", is: quiet | speaker, lost: rmLoses, forms: []form{{flags: "--no-preserve-root", loses: "--no-preserve-root may remove everything on this system"}}, changes: &changeRow{command{safe: true, flags: "-fiIrRdv --force --interactive? --recursive --dir --verbose --one-file-system --preserve-root? --no-preserve-root"}, applyRemove}},
		{names: "rmdir", is: quiet, changes: &changeRow{command{safe: true, flags: "-pv --parents --verbose --ignore-fail-on-non-empty"}, applyAll(policy.Write{Remove: true})}},
		{names: "sed", is: eachFile | takesTexts, takes: "-f=c --file=c",
			row: &command{early: true, flags: "-nEruzs -e=x --quiet --silent --regexp-extended -l=x --line-length=x --expression=x --null-data --posix --sandbox --separate --unbuffered --debug", args: "x p*", given: "-e --expression", check: checkSed}, reads: rows{"--version": {}},
			changes: &changeRow{command{safe: true, flags: "-nErsuz -i? -e=x -f=p -l=x --line-length=x --sandbox --debug --unbuffered --version --help --in-place? --quiet --silent --regexp-extended --expression=x --file=p --null-data --posix --separate --follow-symlinks"}, applySed}},
		{names: "seq", row: &command{flags: "-w --equal-width -f=x --format=x -s=x --separator=x", args: "x x x", digits: true, min: 1}},
		{names: "sha224sum sha384sum", row: &command{flags: hashFlags, args: "p*", safe: true}},
		{names: "shasum", is: eachFile, row: &command{flags: "-bt0 -a=x --algorithm=x --binary --text", args: "p*"}},
		{names: "shred", changes: &changeRow{command{safe: true, flags: "-fuvxz -n=x -s=x --force --iterations=x --remove? --zero --verbose"}, applyEmpty(policy.Write{Remove: true})}},
		{names: "shuf", valued: "ein", runs: "-o* --output* --random-source*", takes: "--output=w -o=w",
			row: &command{flags: "-erz -i=x -n=x --echo --input-range=x --head-count=x --repeat --zero-terminated", args: "p", check: becomes(&command{args: "x*"}, "-e", "--echo")}},
		{names: "size", row: &command{flags: "-ABdtx --totals", args: "p*", check: noResponse}},
		{names: "sleep", is: namesOthers,
			row: &command{args: "x*", check: func(u *Invocation) string {
				for _, w := range u.args {
					if w.Kind == Exact && strings.Trim(w.Text, "0123456789.smhd") != "" {
						return "sleep " + w.Source + " may never end"
					}
				}
				return ""
			}}},
		{names: "sort", is: eachFile, valued: "kSt", runs: "--compress-program* -o* --output* -T* --temporary* --comp* --o* --t*", takes: "--output=w -o=w --files0-from=l",
			row: &command{flags: "-bdfgiMhnRrVcCmsuz -k=x -t=x -S=x --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --check? --key=x --merge --stable --unique --field-separator=x --zero-terminated --sort=x --parallel=x --buffer-size=x --debug --batch-size=x", args: "p*"},
			changes: &changeRow{command{safe: true, flags: "-bdfgiMhnRrVcCmsuz -k=x -t=x -S=x -o=x --output=x --key=x --numeric-sort --reverse --unique"}, func(u *Invocation) bool {
				for _, f := range u.flags {
					if f.name == "-o" || f.name == "--output" {
						u.put(f.val, policy.Write{})
					}
				}
				for _, w := range u.args {
					u.get(w, policy.Read{})
				}
				return true
			}}},
		{names: "split", is: writer, runs: "--filter*",
			changes: &changeRow{command{safe: true, flags: "-l=x -b=x -n=x -C=x -a=x -d -x"}, func(u *Invocation) bool {
				if len(u.args) > 0 {
					u.get(u.args[0], policy.Read{})
				}
				return false
			}}},
		{names: "stat", is: eachFile, row: &command{flags: "-LftZ -c=x --format=x --printf=x --dereference --file-system --terse", args: "l*", min: 1, safe: true}},
		{names: "strings", row: &command{flags: "-afow -n=x -t=x -e=x --all --print-file-name --bytes=x --radix=x --encoding=x", args: "p*", digits: true, safe: true, check: noResponse}},
		{names: "sum", row: &command{flags: "-rs --sysv", args: "p*", safe: true}},
		{names: "tac", is: eachFile | packer, row: &command{flags: "-br -s=x --before --regex --separator=x", args: "p*", safe: true}},
		{names: "tar", is: tarLike | walker | writer, valued: "fCbgHKLNTVX", runs: "-I* --use-compress* --to-command* --checkpoint-action* --rsh-command* -F* --info-script* --new-volume-script* --rmt-command* !--checkpoint", takes: "-T=l --files-from=l",
			row: &command{flags: "-tvzjJa -f=p --list --verbose --file=p --gzip --gunzip --bzip2 --xz --zstd --auto-compress --wildcards --no-wildcards --anchored --show-defaults --numeric-owner --full-time --utc -R --block-number --exclude=x --strip-components=x", args: "x*", check: checkTar}, reads: rows{"--version": {}}},
		{names: "tee", is: speaker, changes: &changeRow{command{safe: true, flags: "-aip --append --ignore-interrupts --output-error?"}, applyEmpty(policy.Write{}, "-a", "--append")}},
		{names: "touch", is: quiet | speaker, changes: &changeRow{command{safe: true, flags: "-acmhf -d=x -r=p -t=x --no-create --date=x --reference=p --time=x --no-dereference"}, applyAll(policy.Write{})}},
		{names: "tput", row: &command{args: "x x x", min: 1, check: func(u *Invocation) string {
			switch u.args[0].Text {
			case "cols", "lines", "colors", "bold", "sgr0", "setaf", "setab", "rev", "smul", "rmul":
				return ""
			}
			return "this form of tput is not known to be harmless"
		}}},
		{names: "tr", row: &command{flags: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", args: "x x", min: 1}},
		{names: "tree", valued: "LPI", runs: "-o* -R", takes: "-o=w",
			row: &command{
				flags: "-adfxlqNQpugshDFivtcrnC1 -L=x -P=x -I=x --dirsfirst --filesfirst --noreport --prune --sort=x --gitignore --charset=x --filelimit=x --du --si --inodes --device --matchdirs --ignore-case -J -X -S -A",
				args:  "d*", here: "d", check: func(u *Invocation) string {
					if u.has("-l") {
						return "tree -l follows links out of the folder"
					}
					for _, f := range u.flags {
						// What is attached to -L, -P and -I are more flags for tree.
						if len(f.name) == 2 && f.has && f.val.Kind == Exact && strings.HasPrefix(f.val.Source, "-") && !(f.name == "-L" && scan.Number(f.val.Text)) {
							return "tree " + f.val.Source + " holds flags that are not known"
						}
					}
					return ""
				},
			}},
		{names: "truncate", changes: &changeRow{command{safe: true, flags: "-co -s=x -r=p --no-create --size=x --reference=p"}, applyEmpty(policy.Write{})}},
		{names: "tsort", row: &command{args: "p"}},
		{names: "tty", row: &command{flags: "-s --silent --quiet"}},
		{names: "type", row: &command{flags: "-aftpP", args: "x*", safe: true}},
		{names: "uname", row: &command{flags: "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system"}},
		{names: "unexpand", row: &command{flags: "-a -t=x --all --first-only --tabs=x", args: "p*", safe: true}},
		{names: "uniq", row: &command{early: true, flags: "-cdDiuz -f=x -s=x -w=x --count --repeated --all-repeated? --group? --ignore-case --skip-fields=x --skip-chars=x --unique --check-chars=x --zero-terminated", args: "p"},
			changes: &changeRow{command{safe: true, early: true, flags: "-cdDiuz -f=x -s=x -w=x"}, func(u *Invocation) bool {
				for i, w := range u.args {
					if w.Many {
						return false // the second of several would be written
					}
					if i == 0 {
						u.get(w, policy.Read{})
					} else {
						u.put(w, policy.Write{})
					}
				}
				return len(u.args) <= 2
			}}},
		{names: "unlink", changes: &changeRow{command{safe: true}, applyAll(policy.Write{Remove: true})}},
		{names: "unzip", is: packer | writer,
			row: &command{flags: "-lvZtqpc12hsm", args: "p x*", min: 1, early: true, check: all(needs("unzip without -l or -p writes what it unpacks", "-l", "-v", "-Z", "-t", "-p", "-c"), archive)}},
		{names: "uptime", row: &command{flags: "-ps --pretty --since"}},
		{names: "wc", is: eachFile, takes: "--files0-from=l", row: &command{flags: "-clmwL --bytes --chars --lines --words --max-line-length --total=x", args: "p*", safe: true}},
		{names: "whereis", is: namesOthers, row: &command{flags: "-bms", args: "x*"}},
		{names: "which", row: &command{flags: "-as --all", args: "x*", safe: true}},
		{names: "xxd", is: writer, runs: "-r* -revert", row: &command{flags: "-a -b -C -d -e -E -h -i -p -u -v -c=x -g=x -l=x -o=x -s=x -n=x -cols=x -len=x -seek=x -plain -ps -postscript -uppercase -bits", args: "p", dash: true, early: true}},
		{names: "xz", row: &command{flags: "-dclktqvT=x --decompress --stdout --to-stdout --list --test --quiet --verbose --robot", args: "p*", check: toStdout}, changes: &changeRow{command{safe: true, flags: "-0123456789dfkqvzeT=x"}, applyPack}},
		{names: "xzcat zstdcat", row: &command{args: "p*", check: packed}},
		{names: "yq", is: checker | takesTexts | writer,
			row: &command{flags: "-rPCMeNn -o=x -p=x -I=x --output-format=x --input-format=x --indent=x --unwrapScalar --prettyPrint --colors --no-colors --no-doc --exit-status --null-input", args: "x p*", min: 1, check: checkYQ}, reads: rows{"--version": {}},
			shows: rows{"e": yqEval, "ea": yqEval, "eval": yqEval, "eval-all": yqEval}},
		{names: "zcat", row: &command{flags: "-fq", args: "p*", check: packed}},
		{names: "zipinfo", row: &command{flags: "-12smlvhtTz", args: "p x*", min: 1, early: true, check: archive}},
		{names: "zstd", is: clusters | walker | writer, row: &command{flags: "-dclqv --decompress --stdout --list --test --quiet", args: "p*", check: toStdout}, changes: &changeRow{command{safe: true, flags: "-123456789dfkqvT=x --rm"}, applyPack},
			forms: []form{{flags: "-r --recursive", edits: "*"}}},
	}
}
