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
	indexLines = 200
	indexBytes = 25_000
)

const indexName = "MEMORY.md"

// Index reads the index of a project's automatic memory, MEMORY.md in its
// folder: its first lines, cut at a line. warning says that it was cut. No
// index is empty text.
func Index(dir string) (text, warning string) {
	path := filepath.Join(dir, indexName)
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
		if lines == indexLines || keep.Len()+len(line) > indexBytes {
			return keep.String(), fmt.Sprintf("%s is read up to line %d; keep it under %d lines and %d bytes", path, lines, indexLines, indexBytes)
		}
		keep.WriteString(line)
		lines++
	}
	return keep.String(), ""
}

// maxTopics bounds how many files of an automatic memory are listed.
const maxTopics = 200

// Topics lists the files of an automatic memory by their paths: the index first,
// then the topics by name.
func Topics(dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch {
		case !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".md") || len(out) == maxTopics:
		case e.Name() == indexName:
			out = append([]string{filepath.Join(dir, e.Name())}, out...)
		default:
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
