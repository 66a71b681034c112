package place

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/paths"
)

// refuseWindows rejects paths that mean another file on Windows than they seem to: UNC,
// device and NT namespace paths, the device names that it finds in every folder,
// streams, and names that end in a dot or a blank, which it drops.
func refuseWindows(p string) error {
	s := strings.ReplaceAll(p, `\`, "/")
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/??/") {
		return fmt.Errorf("resolving %q: a network share or device is not opened", p)
	}
	for i, c := range components(s) {
		name, _, _ := strings.Cut(strings.ToUpper(strings.TrimRight(c, ". ")), ".")
		switch {
		case device(strings.TrimRight(name, " ")):
			return fmt.Errorf("resolving %q: %s is a device", p, c)
		case strings.Contains(c, ":") && (i > 0 || !paths.Drive(c)):
			return fmt.Errorf("resolving %q: alternate streams are not opened", p)
		case c != ".." && strings.HasSuffix(c, "."), strings.HasSuffix(c, " "):
			return fmt.Errorf("resolving %q: Windows drops dots and blanks at the end of a name, so it would mean another file", p)
		}
	}
	return nil
}

// device reports whether an upper-case name without its ending is that of a device.
func device(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isPort := strings.CutPrefix(name, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(name, "LPT")
	}
	return isPort && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "0123456789¹²³")
}

// errShort is why a name that may be another file's short one is not used.
var errShort = errors.New("it may be the short name of another file; write the long one")

// shellPath is an absolute path as Git's bash has it on Windows, as Windows has it: /c/x
// is C:/x. Where its own folders are (/tmp, /etc, /usr) is not known.
func shellPath(p string) (string, error) {
	rest, rooted := strings.CutPrefix(p, "/")
	if !rooted || strings.HasPrefix(rest, "/") || p == "/dev/null" {
		return p, nil
	}
	rest = strings.TrimPrefix(rest, "cygdrive/")
	if letter, below, _ := strings.Cut(rest, "/"); paths.Drive(letter + ":") {
		return strings.ToUpper(letter) + ":/" + below, nil
	}
	return "", fmt.Errorf("resolving %q: where Git's bash has this folder is not known", p)
}

// ofGitsBash are Real and Glob of a world in which paths may be written as Git's bash has
// them.
func ofGitsBash(real func(string) (string, error), glob func(string) []string) (func(string) (string, error), func(string) []string) {
	return func(p string) (string, error) {
			at, err := shellPath(p)
			if err != nil || at == "/dev/null" {
				return at, err
			}
			return real(at)
		}, func(p string) []string {
			at, err := shellPath(p)
			if err != nil {
				return nil
			}
			return glob(at)
		}
}
