package place

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// FoldsCase reports whether names in dir that differ in case alone lead to the
// same file. On macOS and Windows they do, whatever the file system says.
// Elsewhere it is looked up how a name in dir is found when its case is another: file
// systems of other systems are mounted there, too.
func FoldsCase(dir string) bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	var names []string
	if f, err := os.Open(dir); err == nil {
		names, _ = f.Readdirnames(16) // one with a letter is enough
		_ = f.Close()                 // it was only read
	}
	return foldsCase(dir, names, func(a, b string) bool {
		was, err := os.Lstat(a)
		if err != nil {
			return false
		}
		is, err := os.Lstat(b)
		return err == nil && os.SameFile(was, is)
	})
}

// foldsCase tries the first of the names in dir that has another case, or else
// dir's own.
func foldsCase(dir string, names []string, same func(a, b string) bool) bool {
	for _, name := range names {
		if other := otherCase(name); other != name {
			return same(filepath.Join(dir, name), filepath.Join(dir, other))
		}
	}
	parent, name := filepath.Dir(dir), filepath.Base(dir)
	other := otherCase(name)
	return other != name && same(dir, filepath.Join(parent, other))
}

// otherCase is name with each letter in its other case.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}
