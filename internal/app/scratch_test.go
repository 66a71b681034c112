package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/settings"
)

// scratch is a folder to work in and a home, both real paths.
func scratch(t *testing.T) (dir, home string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home = filepath.Join(root, "project"), filepath.Join(root, "home")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, home
}

// options are what a process with one session is made of.
type options struct {
	Surroundings
	settings.Sources
	Front
	Spec
}

// opened is the one session of a process.
type opened struct{ *Running }

func (o options) open(t *testing.T) (*opened, error) {
	all, at, err := openAt(t, o.Surroundings, o.Sources, o.Front)
	if err != nil {
		return nil, err
	}
	r, err := at.Start(t.Context(), o.Spec)
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	return &opened{r}, nil
}

// Close ends the process.
func (o *opened) Close() error { return o.place.process.Close() }

// openAt opens the folder of these surroundings in a process of its own.
func openAt(t *testing.T, s Surroundings, from settings.Sources, f Front) (*Process, *Place, error) {
	t.Helper()
	all, err := Open(t.Context(), s, from, f)
	if err != nil {
		return nil, nil, err
	}
	at, err := all.Place(s.Dir)
	if err != nil {
		_ = all.Close()
		return nil, nil, err
	}
	return all, at, nil
}

// here are these folders, and nothing else.
func here(dir, home string) Surroundings {
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": home}
	return Surroundings{
		Environment: settings.Environment{Dir: dir, Home: home, Env: func(n string) string { return env[n] }},
		Version:     "test", Environ: []string{"PATH=" + env["PATH"], "HOME=" + home},
	}
}

func mode(m string) []config.Given {
	return []config.Given{{Key: "permissions.defaultMode", Value: m, From: "--permission-mode"}}
}
