package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// inRepo asks whether git, which the command starts, runs nothing else.
func inRepo(u *Invocation) string { return u.gitFolders() }

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
	return all(values(" may be an option of npm", func(text string) bool { return strings.HasPrefix(text, "-") }), unsteered("what npm does", true, ".npmrc"))(u)
}

// noCargoConfig refuses where the project chooses what cargo runs.
func noCargoConfig(u *Invocation) string {
	return unsteered("what cargo runs", true, "rust-toolchain", "rust-toolchain.toml", ".cargo/config", ".cargo/config.toml")(u)
}

var (
	npmList = &command{flags: "-agl --all --json --long --parseable --global --depth=x --omit=x --include=x --prod --production --dev --link --package-lock-only", args: "x*", check: noRC}
	// pip asks rustc for its version, which starts the toolchain of the project.
	pipList   = &command{flags: "-eliv --editable --local --user --format=x --not-required --exclude-editable --exclude=x --pre --verbose", check: noCargoConfig}
	pipFreeze = &command{flags: "-l --local --user --all --exclude=x --exclude-editable", check: noCargoConfig}
	pipShow   = &command{flags: "-f --files --verbose -v", args: "x*", min: 1, check: noCargoConfig}
)

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
