package cli

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A ground is what the environment says of a person's folders, put
// right: nothing of it is relative, and nothing that decides whose a file is
// comes from the folder that is worked on.
type ground struct {
	home    string // "" when nobody knows one
	temp    string // where temporary files go
	environ []string
	hidden  []string // variables that children see and adze does not use
	notes   []string // what was put right, a line each
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
func stand(s surroundings) ground {
	g := ground{environ: slices.Clone(s.environ), home: s.user, temp: s.temp}
	value := func(name string) (string, bool) {
		for i := len(g.environ) - 1; i >= 0; i-- {
			if k, v, _ := strings.Cut(g.environ[i], "="); k == name {
				return v, true
			}
		}
		return "", false
	}
	drop := func(name, why string) {
		g.environ = proc.Unset(g.environ, name)
		g.note("%s is ignored: %s", name, why)
	}
	for _, kv := range s.environ {
		name, v, _ := strings.Cut(kv, "=")
		switch {
		case !personal(name):
		case v == "":
			g.environ = proc.Unset(g.environ, name)
		case !filepath.IsAbs(v):
			drop(name, fmt.Sprintf("%q is not an absolute path", clip.Line(v, 80)))
		case (strings.HasPrefix(name, "XDG_") || name == "CLAUDE_CONFIG_DIR") && s.repo != "" && inside(s.repo, v):
			g.hidden = append(g.hidden, name)
			g.note("%s is not used for adze's own files: it leads into this repository", name)
		}
	}
	homeVar := "HOME"
	if _, ok := value(homeVar); !ok && s.windows {
		homeVar = "USERPROFILE"
	}
	switch h, ok := value(homeVar); {
	case !ok && s.user != "" && !s.windows:
		g.environ = proc.Set(g.environ, "HOME="+s.user)
	case ok && s.repo != "" && inside(s.repo, h) && !same(h, s.user):
		g.note("%s is not used for adze's own files: it leads into this repository", homeVar)
	case ok:
		g.home = h
	}
	for _, name := range tempVars(s.windows) {
		v, ok := value(name)
		switch {
		case !ok:
			continue
		case inside(s.dir, v) && !same(v, s.temp), s.repo != "" && inside(s.repo, v):
			drop(name, "it leads into the folder that is worked on")
			continue
		}
		g.temp = v
		break
	}
	return g
}

func (g *ground) note(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(g.notes, line) {
		g.notes = append(g.notes, line)
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

func inside(dir, path string) bool { return paths.Within(real(dir), real(path)) }

func same(a, b string) bool { return b != "" && real(a) == real(b) }

// real is where a path leads, as far as that can be told.
func real(path string) string {
	if p, err := place.Resolve(path); err == nil {
		return p
	}
	return filepath.Clean(path)
}

// ground is stand for this process and a folder to work in.
func (sys System) ground(dir string) ground {
	s := surroundings{environ: sys.Environ, dir: real(dir), user: databaseHome(), windows: runtime.GOOS == "windows", temp: "/tmp"}
	s.repo = conf.Root(s.dir)
	if s.windows {
		s.temp = filepath.Join(s.user, "AppData", "Local", "Temp")
	}
	return stand(s)
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

// apply makes a session start on g.
func (g ground) apply(o *app.Surroundings) {
	o.Home, o.Temp, o.Environ = g.home, g.temp, g.environ
	env := System{Environ: g.environ}.Env
	o.Env = func(name string) string {
		if slices.Contains(g.hidden, name) {
			return ""
		}
		return env(name)
	}
}
