package find

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/secret"
)

// maxKeys bounds what is read of a file to see where private keys are, in bytes.
const maxKeys = 4 << 20

// withoutKeys hides lines of private keys: a few of them do not say by themselves
// what they are, the file that they are from does.
func withoutKeys(root string, f search.File) search.File {
	if !slices.ContainsFunc(f.Lines, func(l search.Line) bool { return secret.KeyLine(l.Text) }) {
		return f
	}
	path := root
	if !isFile(root) {
		path = filepath.Join(root, filepath.FromSlash(f.Rel))
	}
	b, err := regular.Head(path, maxKeys)
	if err != nil {
		return f
	}
	clean, err := io.ReadAll(secret.Keys(bytes.NewReader(b)))
	if err != nil || bytes.Equal(clean, b) {
		return f
	}
	lines := strings.Split(string(clean), "\n")
	f.Lines = slices.Clone(f.Lines)
	for i, l := range f.Lines {
		if l.Number <= len(lines) && strings.Contains(lines[l.Number-1], secret.Masked) {
			f.Lines[i].Text = strings.TrimSuffix(lines[l.Number-1], "\r")
		}
	}
	return f
}
