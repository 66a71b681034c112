package sandbox

import (
	"errors"
	"os"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/sandbox/registries"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Registries are the hosts that a person's package managers are set to.
func (p Policy) Registries(c Config) []registries.Host {
	env := func(name string) string {
		switch {
		case name == "PATH":
			return c.Path
		case c.Env == nil:
			return ""
		}
		return c.Env(name)
	}
	return registries.Person{Home: c.Home, Env: env, Files: registries.Files{Read: p.readOutside, List: p.listOutside, Resolve: p.outside}}.Hosts()
}

func (p Policy) registries(c Config) *registries.Lookup {
	return &registries.Lookup{Now: time.Now, Find: func() []registries.Host { return p.Registries(c) }}
}

// outside is where a path leads, "" where nothing is, or something that commands
// inside can write: that is the repository's word, or theirs.
func (p Policy) outside(path string) string {
	to := real(path)
	if paths.WithinAny(p.Writable, path) || paths.WithinAny(p.Writable, to) || !exists(to) {
		return ""
	}
	return to
}

// maxSettings bounds a file that sets a package manager.
const maxSettings = 1 << 20

func (p Policy) readOutside(path string) ([]byte, error) {
	if path = p.outside(path); path == "" {
		return nil, errors.New("not a file of the person's")
	}
	return regular.Read(path, maxSettings)
}

func (p Policy) listOutside(path string) (names []string) {
	if path = p.outside(path); path == "" {
		return nil
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
