package cli

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/adze-agent/adze/internal/proc"
)

// version is set when a release is built (-ldflags "-X …/internal/cli.version=1.2.3").
var version = ""

// A System is the process as commands see it. Nothing else in the program
// reads the environment.
type System struct {
	Name    string   // of the program, as a person starts it
	Args    []string // without the program's name
	Environ []string
	Stdin   *os.File
	Stdout  *Output
	Stderr  io.Writer
	// ErrTTY and InTTY say whether a person sits there.
	OutTTY, ErrTTY, InTTY bool
	Version               string
	// Record, when set, gets a cassette of what providers answer.
	Record io.Writer
	// abort is called when the process ends at once, on a second signal.
	abort *atomic.Pointer[func()]
	// interrupts says that the terminal UI takes Ctrl+C for itself, where it
	// comes as a signal.
	interrupts *atomic.Bool
}

// Process is the real one.
func Process() System {
	return System{
		Name: started(os.Args[0]), Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: &Output{File: os.Stdout}, Stderr: os.Stderr,
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		InTTY: term.IsTerminal(int(os.Stdin.Fd())), Version: versionOf(), abort: &atomic.Pointer[func()]{}, interrupts: &atomic.Bool{},
	}
}

// versionOf is the release, or the module's version when it was installed with
// go install, or "0.0.0-dev".
func versionOf() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok {
		if v := strings.TrimPrefix(bi.Main.Version, "v"); v != "" && v != "(devel)" {
			return v
		}
	}
	return "0.0.0-dev"
}

// Env returns a variable, "" when it is not set.
func (s System) Env(name string) string {
	return proc.Getenv(s.Environ, name)
}

// started is how a person starts the program that was started as arg0.
func started(arg0 string) string {
	switch {
	case strings.Contains(filepath.ToSlash(arg0), "/go-build"):
		return "go run ./cmd/adze"
	case arg0 == "":
		return "adze"
	}
	return arg0
}

// published is the version whose interface adze has under that program's name: its flags,
// messages and files.
const published = "2.1.332"

// versionAs is what --version prints. Under another program's name it begins with the
// version of that, because whoever starts one wants to know what it can do, and reads the
// first number.
func versionAs(name, version string) string {
	if base := filepath.Base(name); base == "claude" || base == "claude.exe" {
		return published + " (adze " + version + ")"
	}
	return "adze " + version
}
