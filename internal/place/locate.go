package place

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

var (
	shellSpelling = pattern.Lazy(`^(~[^/\\]|\$\w|\$\{|%\w+%|=\w+$|\\\\|//[^/]|\\\?\?\\)`)
	processPath   = pattern.Lazy(`^/proc/[^/]+/(task/[^/]+/)?(fd|fdinfo|mem|environ|root|cwd|exe|map_files|clear_refs|pagemap)(/|$)|^/dev/(fd(/|$)|std(in|out|err)$)`)
)

// Absolute makes an absolute path of one that a model, or a file of somebody
// else's, names: from dir, or from home behind "~/". It is not clean: what ".."
// behind a link means is Resolve's to find out. Spellings that only a
// shell would expand are refused, and so are network shares, before anything
// is looked up.
func Absolute(dir, home, asked string) (string, error) {
	switch {
	case strings.TrimSpace(asked) == "":
		return "", errors.New("the path is empty")
	case strings.IndexByte(asked, 0) >= 0:
		return "", errors.New("the path holds a NUL byte")
	case asked == "~" || strings.HasPrefix(asked, "~/"):
		if home == "" {
			return "", fmt.Errorf("%s: the home folder is not known; write the path in full", asked)
		}
		return home + asked[1:], nil
	case shellSpelling().MatchString(asked):
		if asked[0] == '/' || asked[0] == '\\' {
			return "", fmt.Errorf("%s: only a shell expands this; write the path in full", asked)
		}
		return "", fmt.Errorf("%s: only a shell expands this; write the path in full (./%s where the file has this name)", asked, asked)
	case filepath.IsAbs(asked):
		return asked, nil
	case dir == "":
		return "", fmt.Errorf("%s: there is no working directory; write an absolute path", asked)
	}
	return dir + string(filepath.Separator) + asked, nil
}

// Locate is the path on disk that is meant, with all links resolved, whether or
// not something is there. It refuses what Absolute does, and names that stand
// for open descriptors, memory and environments of processes.
func Locate(dir, home, asked string) (string, error) {
	abs, err := Absolute(dir, home, asked)
	if err != nil {
		return "", err
	}
	if err := process(filepath.Clean(abs)); err != nil {
		return "", err
	}
	path, err := Resolve(abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", asked, paths.Cause(err))
	}
	return path, process(path)
}

func process(path string) error {
	if processPath().MatchString(filepath.ToSlash(path)) {
		return fmt.Errorf("%s: names of open descriptors and process internals are refused", path)
	}
	return nil
}

// Named are paths as people write them in settings, resolved as far as they exist: ~/x, //x
// and /x are absolute, anything else starts at dir. A trailing /** means the folder.
func Named(dir, home string, texts []string) (out []string) {
	for _, t := range texts {
		t = strings.TrimSuffix(strings.TrimSuffix(t, "/**"), "/*")
		if t == "" {
			continue
		}
		if strings.HasPrefix(t, "//") {
			t = t[1:]
		}
		out = append(out, Real(paths.Absolute(dir, home, t)))
	}
	return out
}

// Real is Resolve, or the path as it is written where that fails.
func Real(path string) string {
	if r, err := Resolve(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
