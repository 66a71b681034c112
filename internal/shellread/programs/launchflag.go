package programs

import (
	"slices"
	"strings"
	"sync"
)

// launchFlags are flags that make a command run another program or do what a
// rule for the command does not speak of. A trailing "=" also matches the flag
// with a value attached; "*" any flag that begins so. A long one is meant by what it
// begins with, too: see matches.
var launchFlags = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"find":   {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint*", "-fls", "-files0-from"},
		"fd":     {"-x", "-X", "--exec*"},
		"fdfind": {"-x", "-X", "--exec*"},
		"rg":     {"--pre", "--pre=", "--hostname-bin*", "-z", "--search-zip"},
		"go":     {"-exec*", "--exec*", "-toolexec*", "--toolexec*", "-vettool*", "--vettool*", "-overlay*", "-gccgoflags*", "--gccgoflags*", "-o", "-o="},
		"sort":   {"--compress-program*", "-o*", "--output*", "-T*", "--temporary*", "--comp*", "--o*", "--t*"},
		"tar":    {"-I*", "--use-compress*", "--to-command*", "--checkpoint-action*", "--rsh-command*", "-F*", "--info-script*", "--new-volume-script*", "--rmt-command*"},
		"git":    {"--upload-pack*", "--receive-pack*", "--exec*", "--open-files-in-pager*", "--ext-diff", "--textconv", "--output", "--output=", "--outpu", "--outpu=", "--outp", "--outp=", "--template*", "--separate-git-dir*", "--config*", "--extcmd*"},
		"ssh":    {"-o*", "-F*", "-J*", "-W*", "-L*", "-R*", "-D*", "-w*", "-E*", "-S*", "-I*"},
		"scp":    {"-o*", "-F*", "-S*", "-J*", "-D*"},
		"sftp":   {"-o*", "-F*", "-S*", "-J*", "-b*"},
		"rsync":  {"-e*", "--rsh*", "--rsync-path*", "--daemon", "--config*"},
		"curl":   {"-o*", "-O", "--output*", "--remote-name*", "-K*", "--config*", "-T*", "--upload-file*", "--unix-socket*", "--libcurl*", "-c", "--cookie-jar*", "--trace*", "-D", "--dump-header*", "--engine*", "--netrc-file*"},
		"wget":   {"-O*", "--output*", "-i*", "--input-file*", "--use-askpass*", "-e*", "--execute*", "--config*", "--post-file*", "-P*"},
		"npm":    {"--script-shell*", "--node-options*", "--prefix*", "-C", "--userconfig*", "--globalconfig*", "--shell*"},
		"pnpm":   {"--script-shell*", "--node-options*", "-C", "--dir*"},
		"yarn":   {"--script-shell*", "--use-yarnrc*", "--cwd*"},
		"cargo":  {"--config*", "-Z*", "--manifest-path*", "-C"},
		"make":   {"-f*", "--file*", "--makefile*", "-C*", "--directory*", "-I*", "-E*", "--eval*", "SHELL=*", "--include-dir*"},
		"pip":    {"--python*", "--index-url*", "-i*", "--extra-index-url*", "--proxy*", "--log*"}, "pip3": {"--python*", "--index-url*", "-i*", "--extra-index-url*"},
		"man":      {"-P*", "--pager*", "-H*", "--html*", "-l", "--local-file", "-C*"},
		"xxd":      {"-r*", "-revert"},
		"zip":      {"-T*", "-TT*", "--unzip-command*"},
		"less":     {"-o*", "-O*", "--log-file*", "--LOG-FILE*", "-k*", "--lesskey*", "+*"},
		"docker":   {"--config*", "-H*", "--host*", "-v*", "--volume*", "--mount*", "--privileged*", "--pid*", "--cap-add*", "--device*", "--security-opt*"},
		"podman":   {"-v*", "--volume*", "--mount*", "--privileged*"},
		"kubectl":  {"--kubeconfig*", "-s", "--server*", "--token*"},
		"tsc":      {"--build*"},
		"cmake":    {"-E", "-P", "-C*", "--toolchain*", "-DCMAKE_TOOLCHAIN_FILE*", "-DCMAKE_PROJECT_INCLUDE*", "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES*", "--install-prefix*"},
		"pytest":   {"-p*", "--pdbcls*", "-c", "--config-file*", "--tx*", "--basetemp*", "@*", "--rootdir*", "--confcutdir*", "-o*", "--override-ini*"},
		"eslint":   {"--rulesdir*", "--resolve-plugins*", "-c", "--config*", "--plugin*", "--parser*", "-f*", "--format*", "-o*", "--output*"},
		"prettier": {"--plugin*", "--config*"},
		"jest":     {"--config*", "-c", "--globalSetup*", "--runner*", "--testRunner*", "--transform*", "--setupFiles*", "--reporters*", "--resolver*"},
		"gcc":      {"-fplugin*", "-wrapper*", "-B*", "@*", "-specs*"}, "cc": {"-fplugin*", "-wrapper*", "-B*", "@*", "-specs*"}, "g++": {"-fplugin*", "-wrapper*", "-B*", "@*"}, "clang": {"-fplugin*", "-Xclang*", "-B*", "@*", "-load*"},
		"gh":      {"--jq-file*"},
		"date":    {"-s*", "--set*"},
		"diff":    {"--to-file*", "--from-file*"},
		"tree":    {"-o*", "-R"},
		"file":    {"-C*", "--compile", "-m*", "--magic-file*"},
		"shuf":    {"-o*", "--output*", "--random-source*"},
		"iconv":   {"-o*", "--output*"},
		"split":   {"--filter*"},
		"openssl": {"-engine*", "-provider-path*"},
		"psql":    {"-c*", "--command*", "-f*", "--file*", "-o*", "--output*", "-L*", "--log-file*"}, "sqlite3": {"-cmd*", "-init*"},
		"mysql": {"-e*", "--execute*"}, "mariadb": {"-e*", "--execute*"},
		"nmap":  {"--script*", "-oN*", "-oX*", "-oA*"},
		"ctags": {"--options*", "-o*", "-f*"},
		"emacs": {"--eval*", "-l*", "--batch*"}, "vim": {"-c*", "+*", "-S*", "-u*", "--cmd*"}, "vi": {"-c*", "+*"}, "nvim": {"-c*", "+*", "-S*"},
		"script": {"-c*", "--command*"}, "npx": {"-c*", "--call*"}, "gdb": {"-ex*", "--ex*", "-x*", "--command*"}, "nodemon": {"-x*", "--exec*"}, "nc": {"-c*", "-e*"}, "ncat": {"-c*", "-e*", "--exec*", "--sh-exec*"},
		"capsh": {"-c"}, "uv": {"--python*", "--with*", "--index*", "--default-index*"},
	}
})

// launchWords are subcommands that run what stands behind them.
var launchWords = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"git submodule": {"foreach", "add"}, "git rebase": {"-x*", "--exec*", "-i", "--interactive", "-s*", "--strategy", "--strategy="}, "git bisect": {"run", "view", "visualize"},
		"git filter-branch": {"*"}, "git difftool": {"*"}, "git mergetool": {"*"}, "git clone": {"-u*", "--upload-pack*", "-c*", "--config*", "--template*", "--recurse-submodules*"},
		"git fetch": {"--upload-pack*", "-u*"}, "git pull": {"--upload-pack*", "--rebase=interactive", "--rebase=i", "-s*", "--strategy", "--strategy="}, "git push": {"--receive-pack*", "--exec*"}, "git archive": {"--exec*", "--remote*", "-o*", "--output*"},
		"git merge": {"-s*", "--strategy", "--strategy="}, "git cherry-pick": {"--strategy", "--strategy="}, "git revert": {"--strategy", "--strategy="}, "git send-email": {"*"}, "git commit": {"--template*", "-t", "-F*", "--file*"}, "git grep": {"-O*", "--open-files*"}, "git log": {"--ext-diff", "--textconv"},
		"git am": {"-x*"}, "git init": {"--template*"}, "git ls-remote": {"--upload-pack*", "--exec*"}, "git daemon": {"*"}, "git gui": {"*"}, "git web--browse": {"*"}, "git instaweb": {"*"}, "git credential": {"*"},
		"git alias": {"*"}, "git merge-index": {"*"}, "git merge-one-file": {"*"}, "git for-each-repo": {"*"}, "git maintenance": {"*"}, "git hook": {"*"}, "git notes": {"edit"}, "git branch": {"--edit-description"},
		"npm exec": {"*"}, "npm x": {"*"}, "npm config": {"set", "edit"}, "npm explore": {"*"}, "npm edit": {"*"}, "pnpm exec": {"*"}, "pnpm dlx": {"*"}, "yarn exec": {"*"}, "yarn dlx": {"*"},
		"go tool": {"*"}, "go env": {"-w", "-u"}, "cargo run": {}, "docker exec": {"*"}, "docker run": {"*"}, "docker compose": {"exec", "run"}, "docker volume": {"-o*", "--opt*", "-d*", "--driver*"}, "podman volume": {"-o*", "--opt*", "-d*", "--driver*"}, "kubectl exec": {"*"}, "kubectl run": {"*"}, "kubectl cp": {"*"}, "kubectl debug": {"*"},
		"adze sandbox": {"run"}, "adze record": {"*"}, "adze replay": {"*"}, "adze mcp": {"call", "serve"}, "adze hooks": {"test"}, "adze -p": {"*"}, "adze --print": {"*"},
		"gh alias": {"*"}, "gh extension": {"*"}, "gh config": {"*"}, "gh codespace": {"*"}, "uv tool": {"*"}, "bundle exec": {"*"}, "poetry run": {"*"}, "pipenv run": {"*"}, "conda run": {"*"},
	}
})

// wholeFlags are flags that a longer one of launchFlags begins with, and that are none
// of its short forms because they stand for themselves.
var wholeFlags = map[string][]string{"curl": {"--netrc", "--cookie"}, "tar": {"--checkpoint"}, "pytest": {"--pdb"}, "rsync": {"--rsh"}, "gh": {"--jq"}, "git": {"--rebase"}}

// matches reports whether t is one of the flags that patterns mean. Most programs
// take a long flag by what it begins with, as long as that means no other: --ex is
// --exec (getopt_long(3), gitcli(7), and argparse of Python). What is no flag at all
// there is an error, so that nothing is lost with those that do not.
func matches(patterns []string, name, t string) bool {
	flag, _, _ := strings.Cut(t, "=")
	short := len(flag) > 2 && strings.HasPrefix(flag, "--") && !slices.Contains(wholeFlags[name], flag)
	return slices.ContainsFunc(patterns, func(p string) bool {
		return matchFlag(p, t) || short && strings.HasPrefix(p, flag)
	})
}

func matchFlag(pattern, t string) bool {
	if p, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(t, p)
	}
	if p, ok := strings.CutSuffix(pattern, "="); ok {
		return strings.HasPrefix(t, p+"=")
	}
	return t == pattern
}

// A bundle is what short flags of a program mean when several stand in one word: launch
// are those that run a program or do what a rule does not speak of, and takes
// those whose value is the rest of the word.
type bundle struct{ launch, takes string }

// bundles are by program, or by program and subcommand.
var bundles = map[string]bundle{
	"sort": {"oT", "kSt"}, "rg": {"z", "ABCefgjmMrtTE"}, "fd": {"xX", "detEc"}, "fdfind": {"xX", "detEc"}, "shuf": {"o", "ein"}, "tree": {"o", "LPI"}, "tar": {"IF", "fCbgHKLNTVX"},
	"rsync": {"e", "BMfT"}, "ssh": {"oFJWLRDwESI", "BbcilmpQe"}, "scp": {"oFSJ", "cilPX"}, "make": {"fCIE", "jlWo"}, "wget": {"OieP", "aBtTQUwRAIDlX"},
	"curl": {"oOKTcD", "XHduAbeFmrxyYzECwQPtU"}, "less": {"oOk", "bhjpPtTxyz"}, "man": {"PHlC", "LmMSseREr"}, "psql": {"cfoL", "dhpUvFPRT"}, "mysql": {"e", "uhpPDS"}, "mariadb": {"e", "uhpPDS"},
	"script": {"c", "BEIOToTm"}, "date": {"s", "dfrI"}, "nc": {"ce", "iIMmOpPqsTVWwXx"}, "ncat": {"ce", "gGimdwpsx"}, "file": {"Cm", "eFfP"}, "pytest": {"pco", "kmrnW"},
	"iconv": {"o", "ft"}, "git rebase": {"xis", "XCS"}, "git clone": {"uc", "objt"}, "git difftool": {"x", "tSGO"}, "git pull": {"s", "jXS"}, "git merge": {"s", "mFXS"},
	"git commit": {"tF", "mcCuS"}, "git archive": {"o", ""},
}

// bundled finds a launching flag in a word of short flags, and what is glued to it.
func bundled(name, t string) (glued string, ok bool) {
	b, known := bundles[name]
	if !known || len(t) < 3 || t[0] != '-' || t[1] == '-' {
		return "", false
	}
	for i, c := range t[1:] {
		switch {
		case strings.ContainsRune(b.launch, c):
			return t[i+2:], true
		case strings.ContainsRune(b.takes, c), (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9'):
			return "", false
		}
	}
	return "", false
}
