package servers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/diff"
)

// A Program is a file of the folder that a server's command names: what runs is what
// stands in it.
type Program struct {
	Path string // below the folder, with slashes
	Size int64  // bytes
	Sum  string // SHA-256 of its content in hex; "" where there is no such file
	// Text is its content, where it is short enough to be kept with an answer.
	Text string
}

// describe is a line about the file.
func (p Program) describe() string {
	if p.Sum == "" {
		return clip.Visible(p.Path) + ", which is not there"
	}
	return fmt.Sprintf("%s (%s, #%s)", clip.Visible(p.Path), clip.Size(p.Size), p.Sum[:12])
}

// sums are the contents of the programs, for Hash.
func sums(list []Program) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, p := range list {
		out[p.Path] = p.Sum
	}
	return out
}

// Texts are the contents of a server's programs that are kept with an answer.
func (s Server) Texts() map[string]string {
	out := map[string]string{}
	for _, p := range s.Programs {
		if p.Text != "" {
			out[p.Path] = p.Text
		}
	}
	return out
}

// Changed shows how a server differs from what a person said yes to, as unified
// differences: of its configuration, and of the programs whose content was kept. ""
// when nothing was said, or nothing differs.
func Changed(s Server, a Answer) string {
	if a.Said == "" || a.Hash == s.Hash() {
		return ""
	}
	var b strings.Builder
	b.WriteString(diff.Shown(s.Name, a.Said, s.Describe(), false).Unified)
	now := s.Texts()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if was, kept := a.Texts[path]; kept && was != now[path] {
			b.WriteString(clip.Visible(path) + ":\n" + diff.Shown(path, was, now[path], false).Unified)
		}
	}
	return b.String()
}
