package trust

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of the copies of trusted content, and of a difference that is shown.
const (
	maxCopy   = 256 << 10 // of one file
	maxCopies = 2 << 20   // of one folder
	maxDiff   = 400       // lines of one file
)

func (s Store) copies(root string) string {
	return filepath.Join(filepath.Dir(s.Path), "trust", sum([]byte(root))[:32])
}

// keepCopies keeps the content that is being trusted. What cannot be kept is
// done without: the sums are what counts.
func (s Store) keepCopies(v Verdict) {
	at := s.copies(v.Folder.Root)
	if os.MkdirAll(at, 0o700) != nil {
		return
	}
	dir, err := os.OpenRoot(at)
	if err != nil {
		return
	}
	defer dir.Close()
	total := 0
	wanted := map[string]bool{}
	for _, f := range v.Files {
		if total += len(f.text); len(f.text) > maxCopy || total > maxCopies || f.text == nil {
			continue
		}
		wanted[f.Sum] = true
		if _, err := dir.Lstat(f.Sum); err == nil {
			continue
		}
		_ = safe.Replace(dir, safe.File{Name: f.Sum, Text: f.text, Mode: 0o600, Brief: true}) // without it a change is shown less well
	}
	kept, _ := confedit.Disk{}.Names(at) // what stays is in nobody's way
	for _, name := range kept {
		if !wanted[name] {
			_ = dir.Remove(name) // of an earlier trust
		}
	}
}

// Diff shows what changed since the folder was trusted: a unified difference
// of each file, clean and bounded.
func (s Store) Diff(v Verdict) string {
	now, large := map[string]string{}, map[string]bool{}
	for _, f := range v.Files {
		now[f.Path], large[f.Path] = string(f.text), f.text == nil && f.size > 0
	}
	var b strings.Builder
	for _, c := range v.Changes {
		if large[c.Path] {
			fmt.Fprintf(&b, "%s: %s; it is large, or no text\n", clip.Visible(c.Path), c.How)
			continue
		}
		old, known := s.trusted(v.by, c.old)
		if c.old != "" && !known {
			fmt.Fprintf(&b, "%s: %s; what it was is not known any more\n", clip.Visible(c.Path), c.How)
			continue
		}
		from, to := "trusted/"+clip.Visible(c.Path), "now/"+clip.Visible(c.Path)
		if c.How == "added" {
			from = "/dev/null"
		}
		if c.How == "removed" {
			to = "/dev/null"
		}
		b.WriteString(shorten(clip.VisibleText(udiff.Unified(from, to, old, now[c.Path]))))
	}
	return b.String()
}

// Mentions reports whether settings or hooks of a folder have a name in them, as they are
// or as they were trusted.
func (s Store) Mentions(v Verdict, name string) bool {
	has := func(text string) bool { return strings.Contains(text, `"`+name+`"`) }
	for _, f := range v.Files {
		if (f.Kind == Settings || f.Kind == Hooks) && has(string(f.text)) {
			return true
		}
	}
	return slices.ContainsFunc(v.Changes, func(c Change) bool {
		if name := path.Base(c.Path); c.old == "" || !strings.HasPrefix(name, "settings") && !strings.HasPrefix(name, "hooks.") && name != "config.toml" {
			return false
		}
		old, _ := s.trusted(v.by, c.old)
		return has(old)
	})
}

// trusted returns a copy, if it is still what it was.
func (s Store) trusted(root, want string) (string, bool) {
	text, err := confedit.Disk{}.Read(filepath.Join(s.copies(root), want), maxCopy)
	return string(text), err == nil && sum(text) == want
}

func shorten(diff string) string {
	lines := slices.Collect(strings.Lines(diff))
	if len(lines) <= maxDiff {
		return diff
	}
	return strings.Join(lines[:maxDiff], "") + "[" + clip.Count(len(lines)-maxDiff, "more line") + "]\n"
}
