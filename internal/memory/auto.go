package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of the automatic memory's index.
const (
	IndexLines = 200
	IndexBytes = 25_000
)

// Index reads the index of a project's automatic memory, MEMORY.md in its
// folder: its first lines, cut at a line. warning says that it was cut. No
// index is empty text.
func Index(dir string) (text, warning string) {
	path := filepath.Join(dir, "MEMORY.md")
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return "", path + " not read: it is no regular file"
	}
	b, err := confedit.Disk{}.Read(path, maxFile)
	if err != nil {
		if r := reason(err); r != "no such file" {
			return "", path + " not read: " + r
		}
		return "", ""
	}
	all := clip.Clean(string(b))
	var keep strings.Builder
	lines := 0
	for line := range strings.Lines(all) {
		if lines == IndexLines || keep.Len()+len(line) > IndexBytes {
			return keep.String(), fmt.Sprintf("%s is read up to line %d; keep it under %d lines and %d bytes", path, lines, IndexLines, IndexBytes)
		}
		keep.WriteString(line)
		lines++
	}
	return keep.String(), ""
}
