package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/mcp/servers"
)

// Bounds of the programs of servers: how much of a file counts, and how much is kept
// with an answer to show differences by, in bytes.
const (
	maxProgram  = 64 << 20
	maxKeptText = 8 << 10
	maxKept     = 5 // files
)

// ProgramsOf are the files of the folder that a server's command, and what gets its
// headers, name. A file beyond 64 MB counts by its beginning and its size.
func (p Paths) ProgramsOf(s servers.Server) (out []servers.Program) {
	runs := Runs{Paths: p, Dirs: []string{p.Root}}
	if s.Transport == servers.Stdio {
		runs.Command(append([]string{s.Command}, s.Args...), "")
	}
	runs.Line(s.HeadersHelper, "")
	for _, f := range runs.Found {
		rel, err := filepath.Rel(p.Root, f.Path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(f.Path); err == nil && info.IsDir() {
			continue
		}
		one := servers.Program{Path: filepath.ToSlash(rel)}
		if file, info, err := regular.Open(f.Path); err == nil {
			h, head := sha256.New(), &bytes.Buffer{}
			_, err := io.Copy(io.MultiWriter(h, head), io.LimitReader(file, maxKeptText))
			if err == nil {
				_, err = io.Copy(h, io.LimitReader(file, maxProgram))
			}
			_ = file.Close() // it was read
			if one.Size = info.Size(); err == nil {
				fmt.Fprintf(h, "%d", one.Size)
				one.Sum = hex.EncodeToString(h.Sum(nil))
			}
			if one.Size <= maxKeptText && len(out) < maxKept && utf8.Valid(head.Bytes()) {
				one.Text = head.String()
			}
		}
		out = append(out, one)
	}
	return out
}
