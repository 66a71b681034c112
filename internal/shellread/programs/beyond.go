package programs

import (
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// launchFlags are flags that make a command run another program or do what a
// rule for the command does not speak of. A trailing "=" also matches the flag
// with a value attached; "*" any flag that begins so.
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
		"make":   {"-f*", "--file*", "--makefile*", "-C*", "--directory*", "-I*", "--eval*", "SHELL=*", "--include-dir*"},
		"pip":    {"--python*", "--index-url*", "-i*", "--extra-index-url*", "--proxy*", "--log*"}, "pip3": {"--python*", "--index-url*", "-i*", "--extra-index-url*"},
		"man":      {"-P*", "--pager*", "-H*", "--html*", "-l", "--local-file", "-C*"},
		"xxd":      {"-r*", "-revert"},
		"zip":      {"-T*", "-TT*", "--unzip-command*"},
		"less":     {"-o*", "-O*", "--log-file*", "--LOG-FILE*", "-k*", "--lesskey*", "+*"},
		"docker":   {"--config*", "-H*", "--host*", "-v*", "--volume*", "--mount*", "--privileged*", "--pid*", "--cap-add*", "--device*", "--entrypoint*", "--security-opt*"},
		"podman":   {"-v*", "--volume*", "--mount*", "--privileged*", "--entrypoint*"},
		"kubectl":  {"--kubeconfig*", "-s", "--server*", "--token*"},
		"tsc":      {"--build*"},
		"pytest":   {"-p*", "--pdbcls*", "-c", "--rootdir*", "--confcutdir*", "-o*", "--override-ini*"},
		"eslint":   {"--rulesdir*", "--resolve-plugins*", "-c", "--config*", "--plugin*", "--parser*", "-f*", "--format*", "-o*", "--output*"},
		"prettier": {"--plugin*", "--config*"},
		"jest":     {"--config*", "-c", "--globalSetup*", "--runner*", "--testRunner*", "--transform*", "--setupFiles*", "--reporters*", "--resolver*"},
		"gcc":      {"-fplugin*", "-wrapper*", "-B*", "@*", "-specs*"}, "cc": {"-fplugin*", "-wrapper*", "-B*", "@*", "-specs*"}, "g++": {"-fplugin*", "-wrapper*", "-B*", "@*"}, "clang": {"-fplugin*", "-Xclang*", "-B*", "@*", "-load*"},
		"gh":      {"--jq-file*"},
		"date":    {"-s*", "--set*"},
		"diff":    {"--to-file*", "--from-file*"},
		"tree":    {"-o*", "-R"},
		"file":    {"-C*", "--compile", "-m*", "--magic-file*"},
		"ps":      {},
		"shuf":    {"-o*", "--output*", "--random-source*"},
		"iconv":   {"-o*", "--output*"},
		"split":   {"--filter*"},
		"openssl": {"-engine*", "-provider-path*"},
		"psql":    {"-c*", "--command*", "-f*", "-o*", "-L*"}, "sqlite3": {"-cmd*", "-init*"},
		"mysql": {"-e*", "--execute*"},
		"nmap":  {"--script*", "-oN*", "-oX*", "-oA*"},
		"ctags": {"--options*", "-o*", "-f*"},
		"emacs": {"--eval*", "-l*", "--batch*"}, "vim": {"-c*", "+*", "-S*", "-u*", "--cmd*"}, "vi": {"-c*", "+*"}, "nvim": {"-c*", "+*", "-S*"},
		"script": {"-c*", "--command*"}, "watch": {}, "npx": {"-c*", "--call*"}, "gdb": {"-ex*", "--ex*", "-x*", "--command*"}, "nodemon": {"-x*", "--exec*"}, "nc": {"-c*", "-e*"}, "ncat": {"-c*", "-e*", "--exec*", "--sh-exec*"},
		"ed": {}, "capsh": {"-c", "--"}, "watchexec": {"--"}, "uv": {"--python*", "--with*", "--index*", "--default-index*"},
	}
})

// launchWords are subcommands that run what stands behind them.
var launchWords = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"git submodule": {"foreach", "add", "update"}, "git rebase": {"-x*", "--exec*", "-i", "--interactive"}, "git bisect": {"run", "view", "visualize"},
		"git filter-branch": {"*"}, "git difftool": {"*"}, "git mergetool": {"*"}, "git clone": {"-u*", "--upload-pack*", "-c*", "--config*", "--template*", "--recurse-submodules*"},
		"git fetch": {"--upload-pack*", "-u*"}, "git pull": {"--upload-pack*", "--rebase=interactive", "--rebase=i", "-s*", "--strategy*"}, "git push": {"--receive-pack*", "--exec*"}, "git archive": {"--exec*", "--remote*", "-o*", "--output*"},
		"git merge": {"-s*", "--strategy*"}, "git send-email": {"*"}, "git commit": {"--template*", "-t", "-F*", "--file*"}, "git grep": {"-O*", "--open-files*"}, "git log": {"--ext-diff", "--textconv"},
		"git am": {"-x*"}, "git init": {"--template*"}, "git ls-remote": {"--upload-pack*", "--exec*"}, "git daemon": {"*"}, "git gui": {"*"}, "git web--browse": {"*"}, "git instaweb": {"*"}, "git credential": {"*"},
		"git remote": {"add", "set-url"}, "git worktree": {}, "git alias": {"*"}, "git merge-index": {"*"}, "git merge-one-file": {"*"}, "git for-each-repo": {"*"}, "git maintenance": {"*"}, "git hook": {"*"}, "git notes": {"edit"}, "git branch": {"--edit-description"},
		"npm exec": {"*"}, "npm x": {"*"}, "npm config": {"set", "edit"}, "npm explore": {"*"}, "npm edit": {"*"}, "pnpm exec": {"*"}, "pnpm dlx": {"*"}, "yarn exec": {"*"}, "yarn dlx": {"*"},
		"go generate": {"*"}, "go tool": {"*"}, "go env": {"-w", "-u"}, "cargo run": {}, "docker exec": {"*"}, "docker run": {"*"}, "docker compose": {"exec", "run"}, "kubectl exec": {"*"}, "kubectl run": {"*"}, "kubectl cp": {"*"}, "kubectl debug": {"*"},
		"gh alias": {"*"}, "gh extension": {"*"}, "gh config": {"*"}, "gh codespace": {"*"}, "uv tool": {"*"}, "bundle exec": {"*"}, "poetry run": {"*"}, "pipenv run": {"*"}, "conda run": {"*"},
	}
})

// Beyond says why a rule with a wildcard does not cover a command: a flag, a
// subcommand or a script in it makes it run another program. "" when nothing does.
func (t *Table) Beyond(name string, ws []Word) string {
	args := ws[1:]
	if name == "git" {
		if t.gitSpeaks(args) {
			return ""
		}
		_, rest, why := gitSplit(args)
		if why != "" {
			return why
		}
		args = rest
	}
	if why := beyondFlags(name, args); why != "" {
		return why
	}
	switch name {
	case "npx", "bunx", "uvx", "pnpx":
		if len(args) > 0 && args[0].Kind == Exact && !strings.HasPrefix(args[0].Text, "-") {
			return t.Beyond(Base(args[0].Text), args)
		}
		return name + " with flags may run anything"
	case "tar":
		if len(args) > 0 && args[0].Kind == Exact && !strings.HasPrefix(args[0].Text, "-") && strings.ContainsAny(args[0].Text, "IF") {
			return "tar " + args[0].Text + " may run another program"
		}
	case "git":
		if len(args) == 0 {
			break
		}
		switch args[0].Text {
		case "config":
			return gitConfigBeyond(args)
		case "grep":
			if why := gitGrepBeyond(args[1:]); why != "" {
				return why
			}
		case "commit":
			args = withoutMessage(args)
		}
	}
	if why := beyondWords(name, args); why != "" {
		return why
	}
	return t.BeyondScript(name, args)
}

// beyondFlags looks at the flags that a program has whatever its subcommand is.
func beyondFlags(name string, args []Word) string {
	for _, w := range args {
		if w.Kind != Exact {
			continue
		}
		if w.Text == "--" {
			break
		}
		if LaunchFlag(name, w) {
			return name + " " + w.Text + " makes it do more than " + name + " does"
		}
		if name == "go" && strings.Contains(w.Text, "extld") {
			return "go " + w.Text + " chooses the linker that go runs"
		}
		if why := cluster(name, w.Text); why != "" {
			return why
		}
	}
	return ""
}

// beyondWords looks at a subcommand and at the flags that it alone has.
func beyondWords(name string, args []Word) string {
	if len(args) == 0 || args[0].Kind != Exact {
		return ""
	}
	for _, f := range launchWords()[name+" "+args[0].Text] {
		if f == "*" {
			return name + " " + args[0].Text + " runs other programs"
		}
		for _, w := range args[1:] {
			if w.Kind == Exact && matchFlag(f, w.Text) {
				return name + " " + args[0].Text + " " + w.Text + " runs other programs or writes elsewhere"
			}
		}
	}
	return ""
}

// gitGrepBeyond finds -O, which opens the matches in a pager.
func gitGrepBeyond(args []Word) string {
	for _, w := range args {
		if w.Kind == Exact && len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "O") {
			return "git grep " + w.Text + " may start a pager"
		}
	}
	return ""
}

// withoutMessage takes -F - out of git commit's words: the message comes from
// the standard input.
func withoutMessage(args []Word) []Word {
	var out []Word
	for i := 0; i < len(args); i++ {
		switch {
		case args[i].Is("--file=-") || args[i].Is("-F-"):
		case (args[i].Is("-F") || args[i].Is("--file")) && i+1 < len(args) && args[i+1].Is("-"):
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// clusters are short flags that hide in a bundle: sort -uo F, sed -ni.
var clusters = map[string]string{"sort": "oT", "rg": "z", "fd": "xX", "fdfind": "xX", "shuf": "o", "tree": "o", "tar": "IF", "rsync": "e", "ssh": "oFJWLRDwESI", "scp": "oFSJ"}

func cluster(name, t string) string {
	bad, ok := clusters[name]
	if !ok || len(t) < 3 || t[0] != '-' || t[1] == '-' {
		return ""
	}
	for _, c := range t[1:] {
		if strings.ContainsRune(bad, c) {
			return name + " " + t + " may hold a flag that does more than " + name + " does"
		}
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			break
		}
	}
	return ""
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

// BeyondScript looks into the scripts that filters carry.
func (t *Table) BeyondScript(name string, args []Word) string {
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		for i, w := range args {
			if w.Kind != Exact {
				return "the program of awk is not known before it runs"
			}
			if len(args) == 1 && w.Text == "--version" {
				break
			}
			if w.Text == "-f" || strings.HasPrefix(w.Text, "--file") || strings.HasPrefix(w.Text, "-f") || w.Text == "-i" || w.Text == "-l" || w.Text == "-e" || w.Text == "-E" || strings.HasPrefix(w.Text, "--") {
				return "awk " + w.Text + " takes its program from elsewhere"
			}
			if strings.HasPrefix(w.Text, "-") {
				continue
			}
			if i > 0 && (args[i-1].Is("-F") || args[i-1].Is("-v")) {
				continue
			}
			if why := scan.Awk(w.Text); why != "" {
				return why
			}
			break
		}
	case "sed":
		return t.beyondSed(args)
	}
	return ""
}

// beyondSed checks every script that a sed command carries.
func (t *Table) beyondSed(args []Word) string {
	row := t.changes["sed"]
	u := &Invocation{name: "sed", r: &Recorder{Table: t}}
	if why := u.parse(&row.command, args); why != "" {
		return why
	}
	var scripts []Word
	for _, f := range u.flags {
		switch f.name {
		case "-e", "--expression":
			scripts = append(scripts, f.val)
		case "-f", "--file":
			return "sed takes its script from a file"
		}
	}
	if u.has("--version", "--help") {
		return ""
	}
	if len(scripts) == 0 && len(u.args) > 0 {
		scripts = u.args[:1]
	}
	for _, s := range scripts {
		if s.Kind != Exact {
			return "the script of sed is not known before it runs"
		}
		if why := scan.Sed(s.Text); why != "" {
			return why
		}
	}
	return ""
}

// gitConfigReads knows the forms that only read settings of the usual files.
func gitConfigReads(args []Word) bool {
	get, operands := false, 0
	for i, w := range args {
		if w.Kind != Exact {
			return false
		}
		if operands > 0 && strings.HasPrefix(w.Text, "-") {
			return false // behind the key it is a value to set
		}
		switch w.Text {
		case "--get", "--get-all", "--get-regexp", "--list", "-l":
			get = true
		case "get", "list":
			get = get || i == 0
		case "--local", "--global", "--system", "--worktree", "--null", "-z", "--name-only", "--show-origin", "--show-scope", "--bool", "--int", "--path", "--all":
		default:
			if strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--type=") {
				return false
			}
			operands++
		}
	}
	return get || operands == 1 && len(args) == 1 && strings.Contains(args[0].Text, ".")
}

// gitConfigBeyond: reading a setting is what a rule for git config means;
// some settings make git run programs.
func gitConfigBeyond(args []Word) string {
	if gitConfigReads(args[1:]) {
		return ""
	}
	for _, w := range args[1:] {
		if w.Kind != Exact {
			return "git config of something that is not known"
		}
		low := strings.ToLower(w.Text)
		for _, s := range []string{"alias.", "core.", "filter.", "diff.", "merge.", "include", "credential.", "gpg.", "url.", "protocol.", "sequence.", "pager.", "--edit", "-e", "-f", "--file", "http.", "remote.", "submodule.", "uploadpack.", "receive", "trailer.", "difftool.", "mergetool.", "browser.", "man.", "interactive.", "ssh.", "safe.", "extensions.", "init."} {
			if strings.HasPrefix(low, s) {
				return "git config " + w.Text + " may make git run a program"
			}
		}
	}
	return ""
}
