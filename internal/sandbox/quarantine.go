package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// quarantineAge is how long what nobody kept stays in quarantine.
const quarantineAge = 30 * 24 * time.Hour

func shortID() string { return strings.ToLower(rand.Text()[:10]) }

// Bounds of what is shown of a thing in quarantine.
const (
	shownText  = 16_000 // bytes of a file, and of all files of a folder
	shownFiles = 200
)

// preview is what a thing in quarantine says: a file's text, a link's target,
// the files of a folder with the text of the first of them.
func preview(at string) string {
	info, err := os.Lstat(at)
	if err != nil {
		return "" // it was a socket, or the like
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		to, _ := os.Readlink(at) // "" is shown as well
		return "a link to " + clip.Visible(to)
	case !info.IsDir():
		return head(at)
	}
	var b strings.Builder
	n := 0
	_ = filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if n++; n > shownFiles {
			fmt.Fprintf(&b, "[NOT ALL IS SHOWN: there are more than %d files; look at %s before you keep them]\n", shownFiles, clip.Visible(at))
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(at, p)
		fmt.Fprintf(&b, "%s\n", clip.Visible(rel))
		if d.Type().IsRegular() && b.Len() >= shownText {
			b.WriteString("    [NOT SHOWN: look at it before you keep it]\n")
		} else if d.Type().IsRegular() {
			for _, l := range strings.Split(strings.TrimRight(head(p), "\n"), "\n") {
				fmt.Fprintf(&b, "    %s\n", l)
			}
		}
		return nil
	})
	return strings.TrimRight(b.String(), "\n")
}

func head(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, shownText+1)
	n, _ := f.Read(b) // what was read is shown
	text := string(b[:min(n, shownText)])
	if n > shownText {
		text += fmt.Sprintf("\n[NOT ALL IS SHOWN: the file is longer than %d bytes; look at %s before you keep it]", shownText, clip.Visible(file))
	}
	if bytes.IndexByte(b[:n], 0) >= 0 {
		return "(not text)"
	}
	return clip.VisibleText(text)
}

// Changed reports whether what was there before is there again.
func (f Found) Changed() bool { return f.before != nil }

// Back is the command by which a person brings it back.
func (f Found) Back() string {
	return "mv " + hint.Shell(f.At, f.Path)
}

// writeAbout says in the quarantine where a thing came from.
func writeAbout(dir string, f Found) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.ID, "about.json"), b, 0o600)
}

// sweepQuarantine removes what nobody asked for.
func sweepQuarantine(dir string) {
	list, _ := os.ReadDir(dir) // there is none yet, mostly
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > quarantineAge {
			_ = safe.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
