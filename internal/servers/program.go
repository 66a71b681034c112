package servers

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
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
	// Source: no command names it, but what one names leads to it.
	Source bool
	// Loose says, of many sources together, how little of them is looked at.
	Loose string
}

// fewSources is how many sources are described one by one.
const fewSources = 5

// describePrograms are lines about the files: of many sources only what they come to.
func describePrograms(list []Program, line func(what, v string)) {
	var sources []Program
	for _, p := range list {
		switch {
		case p.Loose != "":
			line("  sources of this folder", p.Loose)
		case p.Source:
			sources = append(sources, p)
		default:
			line("  file of this folder", p.describe())
		}
	}
	if len(sources) <= fewSources {
		for _, p := range sources {
			line("  source in this folder", p.describe())
		}
		return
	}
	h, size, dirs := sha256.New(), int64(0), []string{}
	for _, p := range sources {
		fmt.Fprintf(h, "%q %s\n", p.Path, p.Sum)
		size += p.Size
		if d := path.Dir(p.Path); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	shown := clip.Visible(strings.Join(dirs[:min(len(dirs), 3)], ", "))
	if n := len(dirs) - 3; n > 0 {
		shown += " and " + clip.Count(n, "other folder")
	}
	line("  sources of this folder", fmt.Sprintf("%s in %s (%s, #%x)", clip.Count(len(sources), "file"), shown, clip.Size(size), h.Sum(nil)[:6]))
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

// maxSums is how many files are kept with an answer by what they were.
const maxSums = 500

// Sums tell the contents of a server's programs, by path; nil of too many.
func (s Server) Sums() map[string]string {
	if len(s.Programs) > maxSums {
		return nil
	}
	out := map[string]string{}
	for _, p := range s.Programs {
		out[p.Path] = p.Sum[:min(len(p.Sum), 12)]
	}
	return out
}

// maxNamed is how many files that are different are named.
const maxNamed = 20

// others names the files that are not what they were and whose text was not kept.
func others(was, now map[string]string, shown func(path string) bool) string {
	var b strings.Builder
	if was == nil || now == nil {
		return ""
	}
	names, n := slices.Sorted(maps.Keys(now)), 0
	for _, p := range slices.Sorted(maps.Keys(was)) {
		if _, still := now[p]; !still {
			names = append(names, p)
		}
	}
	for _, p := range names {
		before, had := was[p]
		after, has := now[p]
		how := "changed"
		switch {
		case had && before == after || shown(p):
			continue
		case !had:
			how = "new"
		case !has:
			how = "gone"
		}
		if n++; n <= maxNamed {
			fmt.Fprintf(&b, "%s: %s\n", clip.Visible(p), how)
		}
	}
	if n > maxNamed {
		fmt.Fprintf(&b, "and %s\n", clip.Count(n-maxNamed, "other file"))
	}
	return b.String()
}

// Changed shows how a server differs from what a person said yes to, as unified
// differences: of its configuration, and of the programs whose content was kept; others
// are named. "" when nothing was said, or nothing differs.
func Changed(s Server, a Answer) string {
	if a.Said == "" || a.Hash == s.Hash() {
		return ""
	}
	var b strings.Builder
	b.WriteString(diff.Shown(s.Name, a.Said, s.Describe(), false).Unified)
	now := s.Texts()
	for _, p := range slices.Sorted(maps.Keys(now)) {
		if was, kept := a.Texts[p]; kept && was != now[p] {
			b.WriteString(clip.Visible(p) + ":\n" + diff.Shown(p, was, now[p], false).Unified)
		}
	}
	b.WriteString(others(a.Sums, s.Sums(), func(p string) bool {
		_, was := a.Texts[p]
		_, is := now[p]
		return was && is
	}))
	return b.String()
}
