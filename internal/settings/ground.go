package settings

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Ground is what the environment says of a person's folders, put
// right: nothing of it is relative, and nothing that decides whose a file is
// comes from the folder that is worked on.
type Ground struct {
	Home    string // "" when nobody knows one
	Temp    string // where temporary files go
	Environ []string
	Hidden  []string // variables that children see and adze does not use
	Notes   []string // what was put right, a line each
}

// surroundings are what ground is worked out from.
type surroundings struct {
	environ []string
	dir     string // that is worked in
	repo    string // the git repository around it, "" when there is none
	user    string // the home folder in the user database, "" when there is none
	windows bool
	temp    string // the system's folder for temporary files when no variable names one
}

// stand puts the variables right.
func stand(s surroundings) Ground {
	g := Ground{Environ: slices.Clone(s.environ), Home: s.user, Temp: s.temp}
	value := func(name string) (string, bool) {
		for i := len(g.Environ) - 1; i >= 0; i-- {
			if k, v, _ := strings.Cut(g.Environ[i], "="); k == name {
				return v, true
			}
		}
		return "", false
	}
	drop := func(name, why string) {
		g.Environ = proc.Unset(g.Environ, name)
		g.note("%s is ignored: %s", name, why)
	}
	for _, kv := range s.environ {
		name, v, _ := strings.Cut(kv, "=")
		switch {
		case !personal(name):
		case v == "":
			g.Environ = proc.Unset(g.Environ, name)
		case !filepath.IsAbs(v):
			drop(name, fmt.Sprintf("%q is not an absolute path", clip.Line(v, 80)))
		case (strings.HasPrefix(name, "XDG_") || name == "CLAUDE_CONFIG_DIR") && s.repo != "" && insideOf(s.repo, v):
			g.Hidden = append(g.Hidden, name)
			g.note("%s is not used for adze's own files: it leads into this repository", name)
		}
	}
	homeVar := "HOME"
	if _, ok := value(homeVar); !ok && s.windows {
		homeVar = "USERPROFILE"
	}
	switch h, ok := value(homeVar); {
	case !ok && s.user != "" && !s.windows:
		g.Environ = proc.Set(g.Environ, "HOME="+s.user)
	case ok && s.repo != "" && insideOf(s.repo, h) && !sameFolder(h, s.user):
		g.note("%s is not used for adze's own files: it leads into this repository", homeVar)
	case ok:
		g.Home = h
	}
	for _, name := range tempVars(s.windows) {
		v, ok := value(name)
		switch {
		case !ok:
			continue
		case insideOf(s.dir, v) && !sameFolder(v, s.temp), s.repo != "" && insideOf(s.repo, v):
			drop(name, "it leads into the folder that is worked on")
			continue
		}
		g.Temp = v
		break
	}
	return g
}

func (g *Ground) note(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(g.Notes, line) {
		g.Notes = append(g.Notes, line)
	}
}

// personal reports whether a variable names a folder of the person who works.
func personal(name string) bool {
	switch name {
	case "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP", "CLAUDE_CONFIG_DIR":
		return true
	}
	return strings.HasPrefix(name, "XDG_") && (strings.HasSuffix(name, "_HOME") || name == "XDG_RUNTIME_DIR")
}

func tempVars(windows bool) []string {
	if windows {
		return []string{"TMP", "TEMP"}
	}
	return []string{"TMPDIR"}
}

func insideOf(dir, path string) bool { return paths.Within(Real(dir), Real(path)) }

func sameFolder(a, b string) bool { return b != "" && Real(a) == Real(b) }

// Real is where a path leads, as far as that can be told.
func Real(path string) string {
	if p, err := place.Resolve(path); err == nil {
		return p
	}
	return filepath.Clean(path)
}

// databaseHome is the home folder that the system knows of this user, whatever
// the environment says.
func databaseHome() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if runtime.GOOS == "windows" { // by the process's token
		u, err = user.Current()
	}
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return filepath.Clean(u.HomeDir)
}

// GroundOf is that of a folder to work in.
func GroundOf(environ []string, dir string) Ground {
	s := surroundings{environ: environ, dir: Real(dir), user: databaseHome(), windows: runtime.GOOS == "windows", temp: "/tmp"}
	s.repo = conf.Root(s.dir)
	if s.windows {
		s.temp = filepath.Join(s.user, "AppData", "Local", "Temp")
	}
	return stand(s)
}

// Leads reports whether it can be told where a path leads.
func Leads(path string) bool {
	_, err := place.Resolve(path)
	return err == nil
}
