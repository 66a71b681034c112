package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// inRepo asks whether git, which the command starts, runs nothing else.
func inRepo(u *Invocation) string { return u.gitFolders() }

// goRows are Go's own tools.
var goRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"go version":      {early: true, flags: "-m -v", dash: true, args: "p*"},
		"go env":          {early: true, flags: "-json -changed", dash: true, args: "x*"},
		"go help":         {args: "x*"},
		"go --help":       {},
		"go -h":           {},
		"go doc":          {early: true, flags: "-all -c -cmd -short -src -u", dash: true, args: "x x", check: goDoc},
		"go list":         {early: true, flags: "-json? -m -f=x -deps -test -e -find -u -versions -retracted -reuse=p -tags=x -mod=x -buildvcs=x", dash: true, args: "x*", check: goList},
		"go mod graph":    {check: inRepo},
		"go mod why":      {early: true, flags: "-m", dash: true, args: "x*", check: inRepo},
		"gofmt":           {early: true, flags: "-l -d -s -e -r=x", dash: true, args: "t*", check: pickGo},
		"goimports":       {early: true, flags: "-l -d -e -v -local=x", dash: true, args: "t*", check: pickGo},
		"cargo --version": rustVersion, "cargo -V": rustVersion, "cargo --help": rustVersion, "cargo -h": rustVersion, "cargo version": rustVersion, "rustc --version": rustVersion, "rustc -V": rustVersion, "rustup --version": rustVersion,
		"cargo locate-project": {flags: "--workspace --message-format=x", check: noCargoConfig},
		"cargo metadata": {flags: "--no-deps --format-version=x --offline --locked --frozen --manifest-path=p -q --quiet", check: func(u *Invocation) string {
			if !u.has("--no-deps") {
				return "cargo metadata may fetch and write Cargo.lock"
			}
			return noCargoConfig(u)
		}},
		"cargo tree": {flags: "-dieqv -p=x --offline --locked --frozen --depth=x --edges=x --invert=x --prefix=x --format=x -f=x --duplicates --no-dedupe --package=x --all-features --features=x --no-default-features --target=x --charset=x", check: func(u *Invocation) string {
			if !u.has("--frozen") && !(u.has("--locked") && u.has("--offline")) {
				return "cargo tree may fetch and write Cargo.lock"
			}
			return noCargoConfig(u)
		}},
		"cargo pkgid": nil,
	}
})

// inHost is inRepo for gh: its programs of jq see the environment, and it asks
// the host that is named.
func inHost(u *Invocation) string {
	for _, w := range u.args {
		if !ownHost(w) || u.name == "gh repo list" && strings.Contains(w.Text, "/") {
			return w.Source + " names another host"
		}
	}
	return hostFlags(u)
}

// hostFlags is inHost for gh whose operands name no host.
func hostFlags(u *Invocation) string {
	for _, f := range u.flags {
		switch f.name {
		case "-q", "--jq", "-t", "--template":
			if f.val.Kind != Exact {
				return f.val.Source + " is not known before it runs"
			}
			if why := scan.JQ(f.val.Text); why != "" {
				return why
			}
		case "-R", "--repo":
			if !ownHost(f.val) {
				return f.val.Source + " names another host"
			}
		}
	}
	return inRepo(u)
}

// ownHost reports a name of gh that holds no host.
func ownHost(w Word) bool {
	return w.Kind == Number || w.Kind == Exact && strings.Count(w.Text, "/") < 2 && !strings.Contains(w.Text, ":")
}

// rustVersion starts the toolchain that the project may choose.
var rustVersion = &command{check: noCargoConfig}

// packageFolder adds the folder that a package's name is a path of.
func (u *Invocation) packageFolder(w Word) string {
	if w.Kind != Exact {
		return w.Source + " is not known before it runs"
	}
	if !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, ".") && !strings.Contains(w.Text, "..") {
		return ""
	}
	text := strings.TrimSuffix(strings.TrimSuffix(w.Text, "..."), "/")
	if text == "" {
		text = "/"
	}
	u.pick.names = []string{"*.go", "go.*"}
	return u.touch('t', Word{Kind: Exact, Text: text, Source: w.Source})
}

// goDoc is go doc, whose operands may be folders.
func goDoc(u *Invocation) string {
	for _, w := range u.args {
		if why := u.packageFolder(w); why != "" {
			return why
		}
	}
	return inRepo(u)
}

// goList refuses values that make go list change go.mod.
func goList(u *Invocation) string {
	for _, f := range u.flags {
		if f.name == "-mod" && f.val.Text != "readonly" && f.val.Text != "vendor" {
			return "go list -mod=" + f.val.Text + " may change go.mod"
		}
		if f.name == "-u" || f.name == "-versions" || f.name == "-retracted" {
			return "go list " + f.name + " uses the network"
		}
	}
	for _, w := range u.args {
		if w.Kind != Exact || strings.Contains(w.Text, "@") {
			return "go list of a version uses the network"
		}
		if why := u.packageFolder(w); why != "" {
			return why
		}
	}
	if u.has("-m") && len(u.args) > 0 && !u.args[0].Is("all") {
		return "go list -m of a module may use the network"
	}
	if !slices.ContainsFunc(u.flags, func(f given) bool { return f.name == "-buildvcs" && f.val.Is("false") }) {
		if why := u.otherVersions(); why != "" {
			return why
		}
	}
	return inRepo(u)
}

// otherVersions says which version control but git go would ask for the commit, whose
// settings lie in the folder and can make it run programs.
func (u *Invocation) otherVersions() string {
	for _, d := range u.dirs {
		for at := d; ; at = path.Dir(at) {
			for _, name := range []string{".hg", ".svn", ".bzr", ".fslckout", "_FOSSIL_"} {
				if u.r.mayBe(path.Join(at, name)) {
					return "go list starts the version control that " + path.Join(at, name) + " is of, unless -buildvcs=false is given"
				}
			}
			if at == path.Dir(at) {
				break
			}
		}
	}
	return ""
}

// noRC refuses where an .npmrc of the project steers npm, and values that npm
// takes for options.
func noRC(u *Invocation) string {
	for _, f := range u.flags {
		if f.has && (f.val.Kind != Exact || strings.HasPrefix(f.val.Text, "-")) {
			return f.val.Source + " may be an option of npm"
		}
	}
	if u.r.World.Glob == nil || len(u.dirs) != 1 {
		return "whether the project steers npm is not known"
	}
	for d := u.dirs[0]; d != u.r.World.Home; {
		if u.r.mayBe(strings.TrimSuffix(d, "/") + "/.npmrc") {
			return d + "/.npmrc may change what npm does"
		}
		i := strings.LastIndexByte(d, '/')
		if i <= 0 {
			break
		}
		d = d[:i]
	}
	return ""
}

// noCargoConfig refuses where the project chooses what cargo runs.
func noCargoConfig(u *Invocation) string {
	if u.r.World.Glob == nil || len(u.dirs) != 1 {
		return "whether the project changes what cargo runs is not known"
	}
	for d := u.dirs[0]; ; {
		for _, f := range []string{"rust-toolchain", "rust-toolchain.toml", ".cargo/config", ".cargo/config.toml"} {
			if d != u.r.World.Home && u.r.mayBe(strings.TrimSuffix(d, "/")+"/"+f) {
				return d + "/" + f + " may change what cargo runs"
			}
		}
		i := strings.LastIndexByte(d, '/')
		if i <= 0 {
			return ""
		}
		d = d[:i]
	}
}

// packageRows are package managers; what asks a registry is not here.
var packageRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"npm --version": {check: noRC}, "npm -v": {check: noRC}, "node --version": {}, "node -v": {}, "npm prefix": {flags: "-g --global", check: noRC}, "npm root": {flags: "-g --global", check: noRC},
		"npm ls": npmList, "npm list": npmList, "npm ll": npmList, "npm la": npmList, "npm why": npmList, "npm explain": npmList, "npm query": {args: "x", min: 1, check: func(u *Invocation) string {
			if u.args[0].Kind != Exact || strings.ContainsAny(u.args[0].Text, ":") {
				return "npm query with a selector may ask the registry"
			}
			return noRC(u)
		}},
		"npm pkg get": {args: "x*", check: noRC}, "npm config get": {args: "x", min: 1, check: func(u *Invocation) string {
			if w := u.args[0]; w.Kind != Exact || strings.Contains(w.Text, "_") || strings.Contains(w.Text, ":") {
				return w.Source + " may be a secret of npm"
			}
			return noRC(u)
		}},
		"pip --version": {}, "pip3 --version": {}, "pip list": pipList, "pip3 list": pipList, "pip show": pipShow, "pip3 show": pipShow, "pip freeze": pipFreeze, "pip3 freeze": pipFreeze, "pip cache dir": {}, "pip3 cache dir": {}, "pip check": {check: noCargoConfig}, "pip3 check": {check: noCargoConfig},
		"python --version": {}, "python3 --version": {}, "python -V": {}, "python3 -V": {}, "ruby --version": {}, "ruby -v": {}, "perl --version": {}, "perl -v": {}, "php --version": {}, "php -v": {},
		"java -version": {}, "java --version": {}, "javac -version": {}, "javac --version": {}, "uv --version": {}, "uv version": nil, "uvx --version": {}, "deno --version": {}, "bun --version": {},
		"make --version": {}, "make -v": {}, "cmake --version": {}, "gcc --version": {}, "g++ --version": {}, "clang --version": {}, "ld --version": {}, "rg --version": {}, "fd --version": {},
		"jq --version": {}, "yq --version": {}, "grep --version": {}, "sed --version": {}, "awk --version": {}, "gawk --version": {}, "bash --version": {}, "zsh --version": {}, "find --version": {}, "ls --version": {},
		"tar --version": {}, "curl --version": {}, "wget --version": {}, "openssl version": {flags: "-a"}, "sqlite3 --version": {}, "gh --version": {}, "docker --version": {}, "docker-compose --version": {},
		"terraform --version": {}, "kubectl version": {flags: "-o=x --output=x --client"}, "helm version": {flags: "--short --client"}, "brew --version": {}, "apt --version": {}, "dpkg --version": {},
		"dpkg -l": {args: "x*"}, "dpkg -L": {args: "x*"}, "dpkg -s": {args: "x*"}, "dpkg-query": {flags: "-Wls -f=x", args: "x*"}, "apt list": {flags: "--installed --upgradable --all-versions", args: "x*"},
		"apt-cache show": {args: "x*"}, "apt-cache policy": {args: "x*"}, "apt-cache search": {flags: "-nf --names-only", args: "x*"}, "rpm -q": {args: "x*"}, "rpm -qa": {args: "x*"},
		"brew list": {flags: "-1lvrt --versions --formula --cask --full-name", args: "x*", check: func(u *Invocation) string {
			for _, w := range u.args {
				if w.Kind != Exact || strings.Contains(w.Text, "/") || strings.HasSuffix(w.Text, ".rb") {
					return w.Source + " may be a formula that brew runs"
				}
			}
			return ""
		}},
	}
})

var (
	npmList = &command{flags: "-agl --all --json --long --parseable --global --depth=x --omit=x --include=x --prod --production --dev --link --package-lock-only", args: "x*", check: noRC}
	// pip asks rustc for its version, which starts the toolchain of the project.
	pipList   = &command{flags: "-eliv --editable --local --user --format=x --not-required --exclude-editable --exclude=x --pre --verbose", check: noCargoConfig}
	pipFreeze = &command{flags: "-l --local --user --all --exclude=x --exclude-editable", check: noCargoConfig}
	pipShow   = &command{flags: "-f --files --verbose -v", args: "x*", min: 1, check: noCargoConfig}
)

// containerRows are the read forms of docker and kubectl.
var containerRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"docker ps": dockerList, "docker images": dockerList, "docker container ls": dockerList, "docker container list": dockerList, "docker image ls": dockerList,
		"docker network ls": dockerList, "docker volume ls": dockerList, "docker context ls": dockerList,
		"docker compose ls": dockerList, "docker compose version": {flags: "--short -f=x --format=x"}, "docker buildx ls": {}, "docker buildx version": {},
		"docker version": {flags: "-f=x --format=x"}, "docker info": {flags: "-f=x --format=x"}, "docker top": {args: "x", min: 1}, "docker port": {args: "x x", min: 1}, "docker diff": {args: "x", min: 1},
		"docker history": {flags: "-qH --no-trunc --quiet --human --format=x", args: "x", min: 1},
		"docker logs":    {flags: "-tn=x --tail=x --since=x --until=x --timestamps --details", args: "x", min: 1},
		"docker stats": {flags: "-a --no-stream --all --format=x --no-trunc", args: "x*", check: func(u *Invocation) string {
			if !u.has("--no-stream") {
				return "docker stats never ends"
			}
			return ""
		}},
		"docker inspect": {flags: "-s -f=x --format=x --size --type=x", args: "x*", min: 1}, "docker container inspect": {flags: "-s -f=x --format=x --size", args: "x*", min: 1},
		"docker image inspect": {flags: "-f=x --format=x", args: "x*", min: 1}, "docker network inspect": {flags: "-f=x --format=x -v", args: "x*", min: 1}, "docker volume inspect": {flags: "-f=x --format=x", args: "x*", min: 1},
		"docker system df": {flags: "-v --verbose --format=x"},
		"kubectl get":      {flags: kubeFlags + " -o=x --output=x -l=x --selector=x --show-labels --no-headers --sort-by=x --field-selector=x -L=x --label-columns=x --ignore-not-found --chunk-size=x --show-kind", args: "x*", min: 1, check: checkKube},
		"kubectl describe": {flags: kubeFlags + " -l=x --selector=x --show-events?", args: "x*", min: 1, check: checkKube},
		"kubectl logs": {flags: kubeFlags + " -c=x --container=x -p --previous --tail=x --since=x --since-time=x --timestamps --all-containers --prefix -l=x --selector=x --limit-bytes=x", args: "x x", check: func(u *Invocation) string {
			if len(u.args) == 0 && !u.has("-l", "--selector") {
				return "kubectl logs of what is not said"
			}
			return ""
		}},
		"kubectl events": {flags: kubeFlags + " --for=x --types=x --no-headers -o=x --output=x", check: checkKube}, "kubectl rollout history": {flags: kubeFlags + " --revision=x", args: "x*", min: 1},
		"kubectl config view":   {flags: "--minify -o=x --output=x", check: checkKube},
		"kubectl top":           {flags: kubeFlags + " -l=x --selector=x --containers --no-headers --sort-by=x", args: "x*", min: 1},
		"kubectl explain":       {flags: "--recursive --api-version=x --output=x", args: "x", min: 1},
		"kubectl api-resources": {flags: "-o=x --output=x --namespaced? --api-group=x --verbs=x --no-headers"}, "kubectl api-versions": {}, "kubectl cluster-info": {},
		"kubectl config current-context": {}, "kubectl config get-contexts": {flags: "-o=x --output=x --no-headers", args: "x*"}, "kubectl config get-clusters": {},
		"kubectl auth can-i": {flags: kubeFlags + " --list", args: "x*"},
		"helm list":          {flags: "-Aaqn=x --all --all-namespaces --namespace=x -o=x --output=x"}, "helm status": {flags: "-n=x --namespace=x -o=x --output=x", args: "x", min: 1, check: helmTable}, "helm history": {flags: "-n=x --namespace=x -o=x --max=x", args: "x", min: 1},
	}
})

// helmTable refuses other forms than a table, which have the values and manifests of a release.
func helmTable(u *Invocation) string {
	for _, f := range u.flags {
		if strings.HasSuffix(f.name, "o") && !f.val.Is("table") || f.name == "--output" && !f.val.Is("table") {
			return "helm status prints the values of a release, which may hold secrets"
		}
	}
	return ""
}

var dockerList = &command{flags: "-aqnls -f=x --all --filter=x --format=x --last=x --latest --no-trunc --quiet --size --digests --tree", args: "x"}

const kubeFlags = "-n=x -A --namespace=x --all-namespaces --context=x --request-timeout=x"

// checkKube refuses what prints secrets or never ends.
func checkKube(u *Invocation) string {
	for _, w := range u.args {
		if w.Kind != Exact {
			return w.Source + " is not known before it runs"
		}
		low := strings.ToLower(w.Text)
		if strings.Contains(low, "secret") {
			return "kubectl may print secrets"
		}
	}
	for _, f := range u.flags {
		if (f.name == "-o" || f.name == "--output") && strings.Contains(f.val.Text, "file") {
			return "kubectl reads a template from a file"
		}
	}
	return ""
}

const ghFlags = "-R=x --repo=x --json=x -q=x --jq=x -t=x --template=x "

// hostRows are the read forms of gh. It starts git in the folder.
var hostRows = sync.OnceValue(func() map[string]*command {
	return map[string]*command{
		"gh pr list":       {flags: ghFlags + "-L=x --limit=x -s=x --state=x -l=x --label=x -A=x --author=x -a=x --assignee=x -B=x --base=x -H=x --head=x -S=x --search=x -d --draft", check: inHost},
		"gh pr view":       {flags: ghFlags + "-c --comments", args: "x", check: inHost},
		"gh pr status":     {flags: ghFlags + "-c --conflict-status", check: inHost},
		"gh pr diff":       {flags: ghFlags + "--color=x --patch --name-only", args: "x", check: inHost},
		"gh pr checks":     {flags: ghFlags + "--required", args: "x", check: inHost},
		"gh issue list":    {flags: ghFlags + "-L=x --limit=x -s=x --state=x -l=x --label=x -A=x --author=x -a=x --assignee=x -S=x --search=x -m=x --milestone=x --mention=x", check: inHost},
		"gh issue view":    {flags: ghFlags + "-c --comments", args: "x", check: inHost},
		"gh issue status":  {flags: ghFlags, check: inHost},
		"gh repo view":     {flags: ghFlags + "-b=x --branch=x", args: "x", check: inHost},
		"gh repo list":     {flags: ghFlags + "-L=x --limit=x --source --fork -l=x --language=x --visibility=x --no-archived --archived --topic=x", args: "x", check: inHost},
		"gh run list":      {flags: ghFlags + "-L=x --limit=x -w=x --workflow=x -b=x --branch=x -u=x --user=x -e=x --event=x -s=x --status=x -c=x --commit=x", check: inHost},
		"gh run view":      {flags: ghFlags + "-v -j=x --job=x --log --log-failed --exit-status --verbose -a=x --attempt=x", args: "x", check: inHost},
		"gh workflow list": {flags: ghFlags + "-a -L=x --all --limit=x", check: inHost},
		"gh release list":  {flags: ghFlags + "-L=x --limit=x --exclude-drafts --exclude-pre-releases", check: inHost},
		"gh release view":  {flags: ghFlags, args: "x", check: inHost},
		"gh label list":    {flags: ghFlags + "-L=x --limit=x -S=x --search=x --sort=x --order=x", check: inHost},
		"gh status":        {flags: "-e=x --exclude=x -o=x --org=x", check: inHost},
		"gh cache list":    {flags: ghFlags + "-L=x --limit=x -k=x --key=x -r=x --ref=x -S=x --sort=x -O=x --order=x", check: inHost},
		"gh org list":      {flags: "-L=x --limit=x"},
		"gh search issues": ghSearch, "gh search prs": ghSearch, "gh search repos": ghSearch, "gh search code": ghSearch, "gh search commits": ghSearch,
		"gh api":         {flags: "--paginate --slurp -i --include --silent --cache=x -q=x --jq=x -t=x --template=x -X=x --method=x", args: "x", min: 1, check: ghRead},
		"gh auth status": {},
		"gh version":     {},
	}
})

var ghSearch = &command{flags: ghFlags + "-L=x --limit=x --state=x --author=x --assignee=x --label=x --language=x --owner=x --sort=x --order=x --match=x --created=x --updated=x --closed=x --merged? --draft? --archived? --include-prs --extension=x --filename=x --size=x --stars=x --topic=x --visibility=x", args: "x*", check: inHost}

// ghRead lets only requests of the REST interface pass that read, at the host that gh
// is signed in to.
func ghRead(u *Invocation) string {
	for _, f := range u.flags {
		if (f.name == "-X" || f.name == "--method") && !f.val.Is("GET") && !f.val.Is("HEAD") {
			return "gh api with another method than GET may change something"
		}
	}
	if w := u.args[0]; w.Kind != Exact || strings.Contains(w.Text, "//") || strings.Trim(w.Text, "/") == "graphql" {
		return w.Source + " is not known to be read-only"
	}
	return hostFlags(u)
}
