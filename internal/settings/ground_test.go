package settings

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
)

// TestStand: no variable makes adze take a folder of the repository, or one
// relative to it, for the person's own.
func TestStand(t *testing.T) {
	root := t.TempDir()
	at := func(rel string) string { return filepath.Join(root, rel) }
	for _, c := range []struct {
		name string
		env  string // $R is root
		repo bool   // $R/w is a git repository
		user string
		home string
		temp string
		sees string // of HOME, TMPDIR and XDG_*, by children
		own  string // XDG_STATE_HOME as adze sees it
		note string
	}{
		{name: "plain", env: "HOME=$R/h TMPDIR=$R/t", home: "$R/h", temp: "$R/t", sees: "HOME=$R/h TMPDIR=$R/t"},
		{name: "nothing", user: "$R/db", home: "$R/db", temp: "/tmp", sees: "HOME=$R/db"},
		{name: "nothing known", temp: "/tmp"},
		{name: "empty", env: "HOME= TMPDIR= XDG_STATE_HOME=", user: "$R/db", home: "$R/db", temp: "/tmp", sees: "HOME=$R/db"},
		{name: "relative", env: "HOME=. TMPDIR=tmp XDG_STATE_HOME=x", user: "$R/db", home: "$R/db", temp: "/tmp", sees: "HOME=$R/db", note: "HOME is ignored: \".\" is not an absolute path"},
		{name: "relative and nothing known", env: "HOME=.", temp: "/tmp", note: "not an absolute path"},
		{name: "the last one counts", env: "HOME=$R/h HOME=$R/i", home: "$R/i", temp: "/tmp", sees: "HOME=$R/h HOME=$R/i"},
		{name: "home in a repository", env: "HOME=$R/w/h", repo: true, user: "$R/db", home: "$R/db", temp: "/tmp", sees: "HOME=$R/w/h", note: "leads into this repository"},
		{name: "home is the repository", env: "HOME=$R/w", repo: true, user: "$R/db", home: "$R/db", temp: "/tmp", sees: "HOME=$R/w", note: "leads into this repository"},
		{name: "home is under git", env: "HOME=$R/w", repo: true, user: "$R/w", home: "$R/w", temp: "/tmp", sees: "HOME=$R/w"},
		{name: "home below a plain folder", env: "HOME=$R/w/h", home: "$R/w/h", temp: "/tmp", sees: "HOME=$R/w/h"},
		{name: "temporary files in the workspace", env: "HOME=$R/h TMPDIR=$R/w/t", home: "$R/h", temp: "/tmp", sees: "HOME=$R/h", note: "TMPDIR is ignored"},
		{name: "state", env: "HOME=$R/h XDG_STATE_HOME=$R/s", repo: true, home: "$R/h", temp: "/tmp", sees: "HOME=$R/h XDG_STATE_HOME=$R/s", own: "$R/s"},
		{name: "state in a repository", env: "HOME=$R/h XDG_STATE_HOME=$R/w/s", repo: true, home: "$R/h", temp: "/tmp", sees: "HOME=$R/h XDG_STATE_HOME=$R/w/s", note: "XDG_STATE_HOME is not used"},
		{name: "relative in use", env: "HOME=$R/h USERPROFILE=x APPDATA=y", home: "$R/h", temp: "/tmp", sees: "HOME=$R/h", note: "APPDATA is ignored"},
	} {
		expand := func(s string) string { return strings.ReplaceAll(s, "$R", root) }
		s := surroundings{environ: strings.Fields(expand(c.env)), dir: at("w"), user: expand(c.user), temp: "/tmp"}
		if c.repo {
			s.repo = at("w")
		}
		g := stand(s)
		state := proc.Getenv(g.Environ, "XDG_STATE_HOME")
		if slices.Contains(g.Hidden, "XDG_STATE_HOME") {
			state = ""
		}
		got := []string{g.Home, g.Temp, strings.Join(g.Environ, " "), state}
		want := []string{expand(c.home), c.temp, expand(c.sees), expand(c.own)}
		want[1] = expand(want[1])
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
		if said := func(n string) bool { return c.note != "" && strings.Contains(n, c.note) }; (len(g.Notes) > 0) != (c.note != "") || c.note != "" && !slices.ContainsFunc(g.Notes, said) {
			t.Errorf("%s: notes %q, want %q", c.name, g.Notes, c.note)
		}
	}
	g := stand(surroundings{environ: []string{"USERPROFILE=/u", "TMP=/w/t", "TEMP=/t"}, dir: "/w", windows: true, temp: "/d"})
	if g.Home != "/u" || g.Temp != "/t" {
		t.Errorf("windows: %q, %q", g.Home, g.Temp)
	}
}
