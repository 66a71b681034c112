package proc

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Lookup finds a program in the folders of searchPath, skipping relative
// folders and those inside avoid that are no [System] ones: a repository must not decide what runs.
func Lookup(name, searchPath string, avoid []string) (string, bool) {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name}
	}
	for _, dir := range filepath.SplitList(searchPath) {
		inside := func(root string) bool { return paths.Within(root, dir) }
		if !filepath.IsAbs(dir) || slices.ContainsFunc(avoid, inside) && !System(dir) {
			continue
		}
		for _, n := range names {
			if file := filepath.Join(dir, n); Executable(file) {
				return file, true
			}
		}
	}
	return "", false
}

// Executable reports whether file is a regular file that may be run.
func Executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// Shell finds the shell for commands: /bin/bash, else bash on searchPath
// outside of avoid, else sh.
func Shell(searchPath string, avoid []string) (string, error) {
	if runtime.GOOS != "windows" && Executable("/bin/bash") {
		return "/bin/bash", nil
	}
	dirs := searchPath
	if runtime.GOOS == "windows" {
		// System32's bash.exe starts a Linux of its own, with other paths.
		var keep []string
		for _, d := range filepath.SplitList(searchPath) {
			if !strings.EqualFold(filepath.Base(d), "system32") {
				keep = append(keep, d)
			}
		}
		keep = append(keep, `C:\Program Files\Git\bin`, `C:\Program Files (x86)\Git\bin`)
		dirs = strings.Join(keep, string(filepath.ListSeparator))
	}
	if file, ok := Lookup("bash", dirs, avoid); ok {
		return file, nil
	}
	if runtime.GOOS == "windows" {
		return "", hint.With(errors.New("no bash was found"), "install Git for Windows, which brings one")
	}
	for _, file := range []string{"/bin/sh", "/usr/bin/sh"} {
		if Executable(file) {
			return file, nil
		}
	}
	if file, ok := Lookup("sh", dirs, avoid); ok {
		return file, nil
	}
	return "", hint.With(errors.New("neither bash nor sh was found"), "install bash")
}
