package settings

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// apart says of a server that a person configured for all folders how it is kept from
// running what stands in this one, which nobody trusts. A program that looks for code
// where it starts (npx in node_modules, python3 -m beside it, go run in go.mod) starts
// apart from it, in a folder of its own. One that is given a path of this folder cannot
// be used here, and problem says why.
func (p Paths) apart(s servers.Server) (apart bool, problem string) {
	here := p.Runs([]string{p.Root, p.Dir})
	here.Server(s, "")
	// What is found from another folder too, the person wrote whole, as long as no
	// variable made it so.
	there := p.Runs(here.Dirs)
	there.Dir = filepath.Join(p.State, serverDirs)
	there.Root = there.Dir
	there.Server(s, "")
	written := func(at string) bool {
		return !pathVariable().Match(s.Raw) && slices.ContainsFunc(there.Found, func(f policy.Steer) bool { return f.Path == at })
	}
	if apart = len(here.Searching) > 0; apart {
		here.Found = there.Found
	}
	named := ""
	for _, argv := range here.Searching {
		named = cmp.Or(named, relative(p.Dir, argv))
	}
	for _, f := range here.Found {
		if !written(f.Path) {
			named = cmp.Or(named, paths.Short(p.Root, f.Path))
		}
	}
	if named == "" {
		return apart, ""
	}
	return apart, wouldTake + clip.Visible(named) + " from this folder, which is not trusted" + whatThen
}

// ForTrust are the servers of the person's that would start in the folder, or at all, if
// it were trusted: each with how it is kept from what stands there.
func (l *Live) ForTrust(s Servers) (out []string) {
	for _, x := range l.Servers(s).Servers {
		switch {
		case x.Approval != servers.Approved:
		case x.Apart && x.Problem == "":
			out = append(out, clip.Visible(x.Name)+" starts in a folder of its own")
		case x.Problem != "" && strings.HasPrefix(x.Problem, wouldTake):
			out = append(out, clip.Visible(x.Name)+" cannot be used: "+strings.TrimSuffix(x.Problem, whatThen))
		}
	}
	return out
}

// The beginning and the end of the problem of a server that would run what stands in an
// untrusted folder.
const (
	wouldTake = "it would take "
	whatThen  = "; adze trust lets it, and adze mcp add --scope local configures it here alone"
)

// serverDirs is the folder of the state in which servers that are Apart have theirs.
const serverDirs = "mcp-servers"

// ServerDirs is where servers that are Apart have their folders.
func (p Paths) ServerDirs() string { return filepath.Join(p.State, serverDirs) }

// pathVariable are variables that name the folder of the session.
var pathVariable = pattern.Lazy(`\$\{?(PWD|[A-Z]+_PROJECT_DIR)`)

// relative is the first argument of a command that means a path of a folder, "" of none.
func relative(dir string, argv []string) string {
	operand := false // the first is the package
	for _, a := range argv[1:] {
		_, v, _ := strings.Cut(a, "=")
		for _, w := range []string{a, v} {
			if w == "." || w == ".." || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") {
				return w
			}
		}
		if strings.HasPrefix(a, "-") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, a)); operand && err == nil && a != "" && !filepath.IsAbs(a) {
			return a
		}
		operand = true
	}
	return ""
}
