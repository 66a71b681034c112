// Package runs finds which files a command runs: its program, the scripts of
// interpreters, and, of the commands of MCP servers, what these lead to without naming
// it (scripts of package.json, recipes of make, packages of Go, Python and Rust). Such
// files are protected from a session's own commands, and a yes to a repository's server
// is bound to them.
package runs

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Finder collects the files of some folders that commands run.
type Finder struct {
	Dir  string // where commands start
	Root string // the project's folder
	Home string // the person's, resolved; "" for none
	// Dirs are the folders whose files count, resolved.
	Dirs []string

	Found []policy.Steer
	// Searching are the commands of servers that look for code where they start.
	Searching [][]string

	parts     []sourced // of programs that are followed
	following bool
	followed  int // how far, at the moment
}

// Server adds what an MCP server runs, and what gets its headers: also what these lead to
// without naming it.
func (r *Finder) Server(s servers.Server, what string) {
	r.following = true
	defer func() { r.following = false }()
	if s.Transport == servers.Stdio {
		r.Command(behindCmd(append([]string{s.Command}, s.Args...)), what)
	}
	r.Line(s.HeadersHelper, what)
}

// Line adds what a command for the shell runs. what names who runs it: "a hook of
// the settings".
func (r *Finder) Line(command, what string) {
	r.line(command, r.Dir, what)
}

// line is Line in a folder.
func (r *Finder) line(command, dir, what string) {
	if command == "" {
		return
	}
	command = projectDir(r.Root).Replace(command)
	for _, a := range shellread.Read(command, place.World(dir, r.Home)).Actions {
		if e, ok := a.(policy.Exec); ok {
			r.add(e.Argv, cmp.Or(e.Dir, dir), what)
		}
	}
}

// projectDir puts the project's folder in place of the variables by which commands of
// hooks name it.
func projectDir(root string) *strings.Replacer {
	var pairs []string
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "ADZE_PROJECT_DIR", "GEMINI_PROJECT_DIR"} {
		pairs = append(pairs, "${"+name+"}", root, "$"+name, root)
	}
	return strings.NewReplacer(pairs...)
}

// Command adds what a program with its arguments runs, also behind a shell.
func (r *Finder) Command(argv []string, what string) {
	r.add(argv, r.Dir, what)
	if len(argv) > 1 {
		r.Line(policy.QuoteCommand(argv), what)
	}
}

// Folder adds a folder with all that is in it.
func (r *Finder) Folder(dir, what string) { r.file(dir, what+" is in it") }

func (r *Finder) add(argv []string, dir, what string) {
	for _, file := range programsOf(argv) {
		if at := paths.Absolute(dir, r.Home, file); !onlyData(at) {
			r.file(at, what+" runs it")
		}
		for _, place := range placesOf(argv) {
			if at := paths.Absolute(paths.Absolute(dir, r.Home, place), r.Home, file); !onlyData(at) {
				r.there(at, what)
			}
		}
	}
	if r.following {
		if len(argv) > 0 && searches(argv) {
			r.Searching = append(r.Searching, argv)
		}
		r.follow(argv, dir, what)
	}
}

// resolved is a path without links, as far as that can be told.
func resolved(at string) string {
	if real, err := place.Resolve(at); err == nil {
		return real
	}
	return at
}

func (r *Finder) file(at, why string) {
	at = resolved(at)
	known := slices.ContainsFunc(r.Found, func(s policy.Steer) bool { return s.Path == at })
	if paths.WithinAny(r.Dirs, at) && !slices.Contains(r.Dirs, at) && !known {
		r.Found = append(r.Found, policy.Steer{Path: at, Why: why})
	}
}

// behindCmd is what "cmd /c" runs, as servers are written for Windows, where npx is a
// batch file. What else cmd.exe is told stays as it is.
func behindCmd(argv []string) []string {
	name := strings.ToLower(argv[0][strings.LastIndexAny(argv[0], `/\`)+1:])
	if name != "cmd" && name != "cmd.exe" {
		return argv
	}
	for i, a := range argv[1:] {
		switch strings.ToLower(a) {
		case "/d", "/s", "/q":
		case "/c":
			if rest := argv[i+2:]; len(rest) > 0 {
				return rest
			}
			return argv
		default:
			return argv
		}
	}
	return argv
}

// searches reports whether a program runs code that it finds by the folder in which it
// starts: packages, modules, tasks.
func searches(argv []string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(argv[0]), ".exe"), ".cmd")
	name = strings.TrimRight(name, "0123456789.")
	switch {
	case slices.Contains(launchers, name) || manifests[name] != nil || slices.Contains([]string{"make", "gmake", "deno", "bun", "pnpx", "tsx", "ts-node", "bundler", "mise", "direnv"}, name):
		return true
	case slices.Contains(shells, name):
		return false // what it is told to run is looked at by itself
	}
	return slices.Contains(interpreters, name) && slices.ContainsFunc(argv[1:], func(a string) bool { return saysItself(name, a) })
}
