package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// printRows are commands that only print, or do nothing.
var printRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"echo":     {verbatim: true, args: "x*", safe: true},
		"printf":   {verbatim: true, args: "x*", min: 1, safe: true},
		"true":     {verbatim: true, args: "x*", safe: true},
		"false":    {verbatim: true, args: "x*", safe: true},
		"pwd":      {flags: "-LP --logical --physical"},
		"yes":      {},
		"seq":      {flags: "-w --equal-width -f=x --format=x -s=x --separator=x", args: "x x x", digits: true, min: 1},
		"basename": {flags: "-az --multiple --zero -s=x --suffix=x", args: "x*", safe: true},
		"dirname":  {flags: "-z --zero", args: "x*", safe: true},
		"date": {flags: "-uRI? --utc --universal --rfc-email --iso-8601? --rfc-3339=x -d=x --date=x -r=p --reference=p --debug", args: "x", check: func(u *Invocation) string {
			if len(u.args) == 1 && (u.args[0].Kind != Exact || !strings.HasPrefix(u.args[0].Text, "+")) {
				return "date with an operand may set the clock"
			}
			return ""
		}},
		"cal": {flags: "-13myjn=x", args: "x x x"},
		"sleep": {args: "x*", check: func(u *Invocation) string {
			for _, w := range u.args {
				if w.Kind == Exact && strings.Trim(w.Text, "0123456789.smhd") != "" {
					return "sleep " + w.Source + " may never end"
				}
			}
			return ""
		}},
		"uname":    {flags: "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system"},
		"whoami":   {},
		"id":       {flags: "-ugGnrza --user --group --groups --name --real --zero", args: "x*"},
		"groups":   {args: "x*"},
		"logname":  {},
		"tty":      {flags: "-s --silent --quiet"},
		"arch":     {},
		"nproc":    {flags: "--all --ignore=x"},
		"hostname": {flags: "-fsidAI --fqdn --short --ip-address --domain --all-fqdns --all-ip-addresses --long"},
		"uptime":   {flags: "-ps --pretty --since"},
		"locale":   {flags: "-a --all-locales -m --charmaps -k --keyword-name", args: "x*"},
		"getconf":  {args: "x"},
		"tput": {args: "x x x", min: 1, check: func(u *Invocation) string {
			switch u.args[0].Text {
			case "cols", "lines", "colors", "bold", "sgr0", "setaf", "setab", "rev", "smul", "rmul":
				return ""
			}
			return "this form of tput is not known to be harmless"
		}},
		"type":       {flags: "-aftpP", args: "x*", safe: true},
		"which":      {flags: "-as --all", args: "x*", safe: true},
		"whereis":    {flags: "-bms", args: "x*"},
		"command -v": {args: "x*"},
		"command -V": {args: "x*"},
		"jobs":       {flags: "-lnprs"},
		"cksum":      {flags: "-a=x --algorithm=x --tag --untagged -z --zero --base64 --raw", args: "p*", safe: true},
		"factor":     {args: "x*"},
		"expr":       {verbatim: true, args: "x*", safe: true},
		"clear":      {},
		"help":       {flags: "-dms", args: "x*"},
		"kill -l":    {args: "x*"},
	}
})

const hashFlags = "-btz --binary --text --tag --zero"

// fileRows are commands about files and folders themselves.
var fileRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"ls": {
			flags: "-aAbBcCdDfFgGhHiklmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape --block-size=x --ignore-backups --color? --directory --dired --classify? --file-type --format=x --full-time --group-directories-first --no-group --human-readable --si --hide=x --hyperlink? --indicator-style=x --inode -I=x --ignore=x --kibibytes --literal --numeric-uid-gid --hide-control-chars --show-control-chars --quote-name --quoting-style=x --reverse --recursive --size --sort=x --time=x --time-style=x -T=x --tabsize=x -w=x --width=x --context --zero",
			args:  "l*", here: "l", safe: true, check: func(u *Invocation) string {
				if u.has("-R", "--recursive") {
					u.row = &command{args: "d*", here: "d"}
				}
				return ""
			},
		},
		"tree": {
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
		},
		"stat": {flags: "-LftZ -c=x --format=x --printf=x --dereference --file-system --terse", args: "l*", min: 1, safe: true},
		"file": {flags: "-bhikLNnprsSvzZ0E -F=x --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension --keep-going --no-pad --print0 --raw -e=x --exclude=x --separator=x -P=x --parameter=x", args: "p*", min: 1, check: func(u *Invocation) string {
			if u.has("-z", "-Z", "-S", "-s", "-p") {
				return "this flag of file starts other programs or writes"
			}
			return ""
		}},
		"du":       {flags: "-0abcDhHklmPsSx -d=x --max-depth=x -B=x --block-size=x --all --apparent-size --bytes --total --human-readable --si --null --summarize --separate-dirs --one-file-system --exclude=x -t=x --threshold=x --inodes --time? --time-style=x", args: "d*", here: "d", safe: true},
		"df":       {flags: "-aBhHiklPT --all --human-readable --si --inodes --portability --print-type --total --output? -t=x --type=x -x=x --exclude-type=x", args: "l*"},
		"realpath": {flags: "-eEmLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to=d --relative-base=d", args: "l*", min: 1, safe: true},
		"readlink": {flags: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero", args: "l*", min: 1, safe: true},
		"pathchk":  {flags: "-pP --portability", args: "x*"},
		"namei":    {flags: "-xmolvn --long --modes --owners", args: "l*"},
		"cmp":      {flags: "-bls -i=x --ignore-initial=x -n=x --bytes=x --print-bytes --verbose --silent --quiet", args: "p p x x", min: 1, safe: true},
		"diff": {
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
		},
		"diff3":     {flags: "-aeEAxX3imT", args: "p p p", min: 3},
		"comm":      {flags: "-123z --check-order --nocheck-order --output-delimiter=x --total --zero-terminated", args: "p p", min: 2},
		"md5sum":    {flags: hashFlags, args: "p*", safe: true},
		"sha1sum":   {flags: hashFlags, args: "p*", safe: true},
		"sha224sum": {flags: hashFlags, args: "p*", safe: true},
		"sha256sum": {flags: hashFlags, args: "p*", safe: true},
		"sha384sum": {flags: hashFlags, args: "p*", safe: true},
		"sha512sum": {flags: hashFlags, args: "p*", safe: true},
		"b2sum":     {flags: hashFlags + " -l=x --length=x", args: "p*", safe: true},
		"shasum":    {flags: "-bt0 -a=x --algorithm=x --binary --text", args: "p*"},
		"sum":       {flags: "-rs --sysv", args: "p*", safe: true},
		"md5":       {flags: "-qr", args: "p*"},
		"tar":       {flags: "-tvzjJa -f=p --list --verbose --file=p --gzip --gunzip --bzip2 --xz --zstd --auto-compress --wildcards --no-wildcards --anchored --show-defaults --numeric-owner --full-time --utc -R --block-number --exclude=x --strip-components=x", args: "x*", check: checkTar},
		"unzip": {flags: "-lvZtqpc12hsm", args: "p x*", min: 1, early: true, check: func(u *Invocation) string {
			if !u.has("-l", "-v", "-Z", "-t", "-p", "-c") {
				return "unzip without -l or -p writes what it unpacks"
			}
			return archive(u)
		}},
		"zipinfo": {flags: "-12smlvhtTz", args: "p x*", min: 1, early: true, check: archive},
		"gzip":    {flags: "-lvtqcd --list --verbose --test --quiet --stdout --to-stdout --decompress --uncompress", args: "p*", check: toStdout},
		"gunzip":  {flags: "-lvtqcd --list --verbose --test --quiet --stdout --to-stdout", args: "p*", check: toStdout},
		"zcat":    {flags: "-fq", args: "p*", check: packed},
		"bc":      {flags: "-lqsw --mathlib --quiet --standard --warn", args: "p*"},
		"xz":      {flags: "-dclktqvT=x --decompress --stdout --to-stdout --list --test --quiet --verbose --robot", args: "p*", check: toStdout},
		"zstd":    {flags: "-dclqv --decompress --stdout --list --test --quiet", args: "p*", check: toStdout},
		"bzip2":   {flags: "-dctqv --decompress --stdout --test", args: "p*", check: toStdout},
		"bzcat":   {args: "p*", check: packed},
		"xzcat":   {args: "p*", check: packed},
		"zstdcat": {args: "p*", check: packed},
		"lsblk":   {flags: "-abfmpSt"},
		"mount": {check: func(u *Invocation) string {
			if len(u.args) > 0 || len(u.flags) > 0 {
				return "mount changes the file system"
			}
			return ""
		}},
		"nm":      {flags: "-aABCDgnopPrSuV --demangle? --dynamic --defined-only --extern-only --undefined-only --size-sort --numeric-sort", args: "p*", check: noResponse},
		"size":    {flags: "-ABdtx --totals", args: "p*", check: noResponse},
		"readelf": {flags: "-ahlSegsndruWVcAI --all --file-header --headers --sections --symbols --dynamic --wide --notes --relocs --segments", args: "p*", min: 1, check: noResponse},
		"objdump": {flags: "-afhpxdDtTrRsGgCw --disassemble --demangle? --file-headers --private-headers --all-headers --syms --dynamic-syms -M=x -j=x --section=x", args: "p*", min: 1, check: noResponse},
		"otool":   {flags: "-hlLtv", args: "p*"},
	}
})

// archive asks for one zip archive that is there: another name is tried with a
// suffix, and taken for a pattern.
func archive(u *Invocation) string {
	w := u.args[0]
	if w.Kind != Exact || strings.ContainsAny(w.Text, "*?[") || !u.r.there(w, u.dirs) && !strings.HasSuffix(w.Text, ".zip") {
		return w.Source + " may be another archive"
	}
	return ""
}

// packed asks for archives that are there: for another name these programs look
// for the name with a suffix.
func packed(u *Invocation) string {
	for _, w := range u.args {
		suffix := slices.Contains([]string{".gz", ".bz2", ".xz", ".zst", ".lzma", ".Z"}, path.Ext(w.Text))
		if w.Kind == Exact && w.Text != "-" && !suffix && !u.r.there(w, u.dirs) {
			return "there is no " + w.Source + ", and " + u.name + " would look for another name"
		}
	}
	return ""
}

// toStdout lets a packer list, test and print; its last mode counts, so that
// unpacking must not stand beside the others.
func toStdout(u *Invocation) string {
	prints := u.has("-c", "--stdout", "--to-stdout")
	looks := u.has("-l", "--list", "-t", "--test") && !u.has("-d", "--decompress", "--uncompress")
	if len(u.args) > 0 && !prints && !looks {
		return u.name + " replaces its files"
	}
	return packed(u)
}

// noResponse refuses @file, from which the binary utilities take more
// arguments, plugins among them.
func noResponse(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind == Exact && strings.HasPrefix(w.Text, "@") || w.Kind != Exact && strings.HasPrefix(w.Head, "@") {
			return w.Source + " names a file with more arguments"
		}
	}
	for _, f := range u.flags {
		if f.has && (f.val.Kind != Exact || strings.HasPrefix(f.val.Text, "@")) {
			return f.val.Source + " names a file with more arguments"
		}
	}
	return ""
}

// checkTar lets tar only list.
func checkTar(u *Invocation) string {
	if !u.has("-t", "--list") {
		return "tar writes what it packs or unpacks"
	}
	if !u.has("-f", "--file") {
		return ""
	}
	for _, f := range u.flags {
		if f.name == "-f" || f.name == "--file" {
			if f.val.Kind != Exact || strings.Contains(f.val.Text, ":") {
				return "tar may fetch an archive whose name holds a colon"
			}
		}
	}
	return ""
}

// textRows are filters of text.
var textRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"cat":  {flags: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting", args: "p*", safe: true},
		"tac":  {flags: "-br -s=x --before --regex --separator=x", args: "p*", safe: true},
		"rev":  {flags: "-0 --zero", args: "p*", safe: true},
		"head": {flags: "-n=x -c=x -qvz --lines=x --bytes=x --quiet --silent --verbose --zero-terminated", args: "p*", digits: true, safe: true},
		"tail": {flags: "-n=x -c=x -qvz --lines=x --bytes=x --quiet --silent --verbose --zero-terminated", args: "p*", digits: true, safe: true},
		"wc":   {flags: "-clmwL --bytes --chars --lines --words --max-line-length --total=x", args: "p*", safe: true},
		"nl":   {flags: "-b=x -d=x -f=x -h=x -i=x -l=x -n=x -p -s=x -v=x -w=x --body-numbering=x --number-width=x --number-format=x --number-separator=x --starting-line-number=x", args: "p*", safe: true},
		"cut":  {flags: "-b=x -c=x -d=x -f=x -ns -z --bytes=x --characters=x --delimiter=x --fields=x --complement --only-delimited --output-delimiter=x --zero-terminated", args: "p*", safe: true},
		"tr":   {flags: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", args: "x x", min: 1},
		"uniq": {early: true, flags: "-cdDiuz -f=x -s=x -w=x --count --repeated --all-repeated? --group? --ignore-case --skip-fields=x --skip-chars=x --unique --check-chars=x --zero-terminated", args: "p"},
		"sort": {flags: "-bdfgiMhnRrVcCmsuz -k=x -t=x -S=x --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --check? --key=x --merge --stable --unique --field-separator=x --zero-terminated --sort=x --parallel=x --buffer-size=x --debug --batch-size=x", args: "p*"},
		"shuf": {flags: "-erz -i=x -n=x --echo --input-range=x --head-count=x --repeat --zero-terminated", args: "p", check: func(u *Invocation) string {
			if u.has("-e", "--echo") {
				u.row = &command{args: "x*"}
			}
			return ""
		}},
		"paste":    {flags: "-sz -d=x --serial --delimiters=x --zero-terminated", args: "p*", safe: true},
		"join":     {flags: "-iz -1=x -2=x -a=x -e=x -j=x -o=x -t=x -v=x --header --check-order --nocheck-order --ignore-case", args: "p p", min: 2},
		"fold":     {flags: "-bs -w=x --bytes --spaces --width=x", args: "p*", safe: true},
		"fmt":      {flags: "-cstu -w=x -p=x -g=x --width=x --prefix=x", args: "p*", digits: true},
		"column":   {flags: "-tnexLJ -s=x -o=x -c=x -N=x -R=x -H=x -W=x --table --separator=x --output-separator=x --columns=x --table-columns=x", args: "p*"},
		"expand":   {flags: "-i -t=x --initial --tabs=x", args: "p*", safe: true},
		"unexpand": {flags: "-a -t=x --all --first-only --tabs=x", args: "p*", safe: true},
		"od":       {flags: "-abcdfilosxv -A=x -j=x -N=x -S=x -t=x -w? --address-radix=x --skip-bytes=x --read-bytes=x --format=x --output-duplicates --width? --endian=x", args: "p*", safe: true},
		"hexdump":  {flags: "-bcCdovx -e=x -n=x -s=x", args: "p*"},
		"hd":       {flags: "-v -n=x -s=x", args: "p*"},
		"xxd":      {flags: "-a -b -C -d -e -E -h -i -p -u -v -c=x -g=x -l=x -o=x -s=x -n=x -cols=x -len=x -seek=x -plain -ps -postscript -uppercase -bits", args: "p", dash: true, early: true},
		"strings":  {flags: "-afow -n=x -t=x -e=x --all --print-file-name --bytes=x --radix=x --encoding=x", args: "p*", digits: true, safe: true, check: noResponse},
		"base64":   {flags: "-di -w=x --decode --ignore-garbage --wrap=x -D", args: "p", safe: true},
		"base32":   {flags: "-di -w=x --decode --ignore-garbage --wrap=x", args: "p", safe: true},
		"iconv": {flags: "-f=x -t=x -lcs --from-code=x --to-code=x --list --silent", args: "p*", check: func(u *Invocation) string {
			for _, f := range u.flags {
				if f.has && (f.val.Kind != Exact || strings.Contains(strings.TrimSuffix(strings.TrimSuffix(f.val.Text, "//TRANSLIT"), "//IGNORE"), "/")) {
					return f.val.Source + " may name a file"
				}
			}
			return ""
		}},
		"dos2unix": nil,
		"look":     {flags: "-adf -t=x", args: "x p", min: 1},
		"tsort":    {args: "p"},
		"numfmt":   {flags: "-z --from=x --to=x --from-unit=x --to-unit=x --field=x -d=x --delimiter=x --format=x --grouping --header? --invalid=x --padding=x --round=x --suffix=x", args: "x*"},
		"ptx":      nil,
		"cmark":    nil,
		"json_pp":  {},
		"sed":      {early: true, flags: "-nEruzs -e=x --quiet --silent --regexp-extended -l=x --line-length=x --expression=x --null-data --posix --sandbox --separate --unbuffered --debug", args: "x p*", given: "-e --expression", check: checkSed},
		"awk":      awkRow, "gawk": awkRow, "mawk": awkRow, "nawk": awkRow,
		"jq": {flags: "-ncrRsSCMeaj --null-input --compact-output --raw-output --raw-output0 --raw-input --slurp --sort-keys --color-output --monochrome-output --exit-status --ascii-output --join-output --tab --indent=x --unbuffered --stream --seq --arg=2 --argjson=2 --slurpfile=q --rawfile=q", args: "x p*", min: 1, safe: true, check: checkJQ},
		"yq": {flags: "-rPCMeNn -o=x -p=x -I=x --output-format=x --input-format=x --indent=x --unwrapScalar --prettyPrint --colors --no-colors --no-doc --exit-status --null-input", args: "x p*", min: 1, check: checkYQ},
	}
})

// systemRows are commands that look at the machine.
var systemRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"ps":      {flags: "-AadefFlLjHMTwyc -o=x -p=x -u=x -U=x -C=x -t=x --pid=x --user=x --sort=x --forest --no-headers --headers --ppid=x --format=x", args: "x*", check: checkPs},
		"pgrep":   {flags: "-lafnovxicw -u=x -U=x -P=x -t=x -d=x --list-name --list-full --newest --oldest --exact --full --count --ignore-case", args: "x*"},
		"pstree":  {flags: "-pcnuThGU", args: "x"},
		"ss":      {flags: "-tulnaemoispx46H --processes --tcp --udp --listening --numeric --all --extended --memory --options --summary --unix --ipv4 --ipv6 --no-header"},
		"ip addr": ipShow, "ip address": ipShow, "ip a": ipShow, "ip link": ipShow, "ip route": ipShow, "ip r": ipShow, "ip neigh": ipShow, "ip rule": ipShow,
		"printenv": {args: "x*", check: func(u *Invocation) string {
			if len(u.args) == 0 {
				return "printenv prints the environment, which may hold secrets"
			}
			for _, w := range u.args {
				if w.Kind != Exact || !publicVariables()[w.Text] {
					return w.Source + " may be a variable that holds a secret"
				}
			}
			return ""
		}},
		"pidof":   {flags: "-sxcq", args: "x*"},
		"free":    {flags: "-bkmghtwlv --human --bytes --kibi --mebi --gibi --si --total --wide"},
		"lscpu":   {flags: "-aebcpJ --all --json"},
		"lsusb":   {flags: "-tv"},
		"w":       {flags: "-hsfi"},
		"who":     {flags: "-abdHlmpqrstTu --count --heading"},
		"last":    nil,
		"vmstat":  {flags: "-a -s -S=x"},
		"sw_vers": {flags: "-productVersion -productName -buildVersion", dash: true},
		"top": {flags: "-b -n=x -o=x -d=x -p=x", check: func(u *Invocation) string {
			if !u.has("-b") || !u.has("-n") {
				return "top never ends"
			}
			return ""
		}},
	}
})

// checkPs refuses the forms that print environments.
func checkPs(u *Invocation) string {
	const why = "ps e prints environments, which may hold secrets"
	// Where a value is refused, ps reads the whole line again in BSD's way: then
	// every e in it may be that one.
	e := u.has("-e")
	// Flags of threads and of trees conflict, and then the line is read again.
	retried := u.has("-T", "-L", "-m", "-M") && u.has("-H", "-f", "--forest", "-T", "-L", "-m", "-M")
	for _, f := range u.flags {
		text := f.val.Text
		if f.has && f.val.Kind != Exact && f.val.Kind != Number {
			return f.val.Source + " is not known before it runs"
		}
		switch f.name {
		case "-o", "--format":
			if strings.Contains(text, "env") {
				return why
			}
		case "-u", "-U", "-t", "-p", "--user", "--pid", "--ppid":
			retried = retried || strings.Trim(text, "0123456789,") != ""
			e = e || strings.Contains(text, "e")
		}
	}
	if e && retried {
		return why
	}
	for _, w := range u.args {
		if w.Kind != Exact || strings.ContainsAny(w.Text, "eE") && !scan.Number(w.Text) || retried {
			return why
		}
	}
	return ""
}

// ipShow is ip where it only prints: nothing behind the object, or the word for it.
var ipShow = &command{args: "x*", check: func(u *Invocation) string {
	if len(u.args) > 0 && !u.args[0].Is("show") && !u.args[0].Is("list") && !u.args[0].Is("ls") {
		return "ip may change the network"
	}
	return ""
}}

// publicVariables say where and how a command runs, and are never secrets.
var publicVariables = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"PATH": true, "HOME": true, "PWD": true, "OLDPWD": true, "USER": true, "LOGNAME": true, "SHELL": true, "TERM": true, "LANG": true, "LC_ALL": true, "TZ": true, "EDITOR": true, "PAGER": true, "TMPDIR": true,
		"HOSTNAME": true, "CI": true, "NODE_ENV": true, "GOPATH": true, "GOROOT": true, "GOFLAGS": true, "JAVA_HOME": true, "VIRTUAL_ENV": true, "CONDA_PREFIX": true, "PYTHONPATH": true, "CARGO_HOME": true, "RUSTUP_HOME": true,
		"XDG_CONFIG_HOME": true, "XDG_CACHE_HOME": true, "XDG_DATA_HOME": true, "XDG_RUNTIME_DIR": true, "DISPLAY": true,
	}
})
