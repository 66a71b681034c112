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

// options are what a world with one session is made of.
type options struct {
	Process
	settings.Sources
	Front
	Spec
}

// opened is the one session of a world.
type opened struct{ *Running }

func (o options) open(t *testing.T) (*opened, error) {
	w, err := Open(t.Context(), o.Process, o.Sources, o.Front)
	if err != nil {
		return nil, err
	}
	r, err := w.Start(t.Context(), o.Spec)
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	return &opened{r}, nil
}

// Close ends the world.
func (o *opened) Close() error { return o.world.Close() }

// here is a process in these folders that knows nothing else.
func here(dir, home string) Process {
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": home}
	return Process{
		Environment: settings.Environment{Dir: dir, Home: home, Env: func(n string) string { return env[n] }},
		Version:     "test", Environ: []string{"PATH=" + env["PATH"], "HOME=" + home},
	}
}

func mode(m string) []config.Given {
	return []config.Given{{Key: "permissions.defaultMode", Value: m, From: "--permission-mode"}}
}
