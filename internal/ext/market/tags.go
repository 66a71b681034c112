package market

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ext/plugin"
)

// A need is which versions of a plugin others need.
type need struct {
	by     string // who needs it, for people
	ranges []plugin.Range
	texts  []string // as they are written
}

// and is the need with one more range; "" is any version.
func (n need) and(text string) (need, error) {
	if text == "" {
		return n, nil
	}
	r, err := plugin.ParseRange(text)
	if err != nil {
		return n, err
	}
	n.ranges, n.texts = append(slices.Clip(n.ranges), r), append(slices.Clip(n.texts), text)
	return n, nil
}

// fits says why a plugin's version is not what is needed.
func (n need) fits(p plugin.Plugin) error {
	for _, r := range n.ranges {
		if err := fits(p, r, true); err != nil {
			return err
		}
	}
	return nil
}

// needs are the versions of a plugin that those need which are installed.
func (s *Store) needs(l lockFile, id string) (n need) {
	var by []string
	for other, p := range l.Plugins {
		sum, err := s.summary(p)
		if err != nil || other == id {
			continue
		}
		for _, d := range sum.Depends {
			if d.Name+"@"+first(d.Market, p.Market) != id || d.Range == "" {
				continue
			}
			if next, err := n.and(d.Range); err == nil {
				n, by = next, append(by, other)
			}
		}
	}
	slices.Sort(by)
	n.by = strings.Join(by, ", ")
	return n
}

// other is where a version of a plugin comes from that fits a need, when the one that
// its marketplace has does not: of a git repository the highest tag that fits, of an
// npm package the range itself. ok is false when nothing else is to be had.
func (s *Store) other(ctx context.Context, m Market, e Entry, n need, work string) (src Source, ok bool, err error) {
	src = e.Source
	named := false // tags are of this plugin only when they name it
	switch {
	case src.Kind == NPM && src.Version == "":
		src.Version = strings.Join(n.texts, " ")
		return src, src.check(false) == nil, nil
	case src.Kind == Git && src.SHA == "" && src.Ref == "":
	case src.Kind == Folder && m.Source.Kind == Git && m.Source.SHA == "" && !filepath.IsAbs(src.Path):
		src, named = Source{Kind: Git, URL: m.Source.URL, Path: path.Join(m.Source.Path, filepath.ToSlash(src.Path))}, true
	default:
		return src, false, nil
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return src, false, mended(err)
	}
	tags, err := s.tags(ctx, src, m.Source.local(), work)
	if err != nil {
		return src, false, err
	}
	var best plugin.Version
	for _, tag := range tags {
		v, is := versionOf(tag, e.Name, named)
		if !is || n.fits(plugin.Plugin{Version: v}) != nil {
			continue
		}
		have, err := plugin.ParseVersion(v)
		if err == nil && (!ok || have.Compare(best) > 0) {
			src.Ref, best, ok = tag, have, true
		}
	}
	return src, ok, nil
}

// versionOf is the version that a tag says: v1.2.3, 1.2.3, or behind the plugin's name
// and "--", "-" or "@", which named wants.
func versionOf(tag, name string, named bool) (version string, ok bool) {
	rest, has := strings.CutPrefix(tag, name)
	if has {
		for _, sep := range []string{"--", "-", "@"} {
			if v, ok := strings.CutPrefix(rest, sep); ok {
				rest = v
				break
			}
		}
	} else if rest = tag; named {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "v")
	_, err := plugin.ParseVersion(rest)
	return rest, err == nil
}

// maxTags bounds the tags of a repository that are looked at.
const maxTags = 10_000

// tags are the tags of a repository, by name.
func (s *Store) tags(ctx context.Context, src Source, near bool, work string) ([]string, error) {
	if err := src.check(near); err != nil {
		return nil, err
	}
	git, err := s.program("git")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	out, err := s.run(ctx, work, s.gitEnv(src, near), git, "ls-remote", "--tags", "--refs", "--quiet", "--", src.URL)
	if err != nil {
		return nil, fmt.Errorf("the tags of %s cannot be listed: %w", src, err)
	}
	var tags []string
	for line := range strings.Lines(out) {
		_, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok && refForm().MatchString(tag) {
			tags = append(tags, tag)
		}
		if len(tags) > maxTags {
			return nil, errors.New("it has too many tags")
		}
	}
	return tags, nil
}
