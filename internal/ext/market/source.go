package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Kind is how something is fetched.
type Kind string

// Kinds of sources.
const (
	Folder  Kind = "path" // of this machine, or of the marketplace's own files
	Git     Kind = "git"
	NPM     Kind = "npm"
	Archive Kind = "archive" // zip, tar.gz
	JSON    Kind = "url"     // of a marketplace alone: its marketplace.json by HTTP
)

// A Source is where a plugin or a marketplace comes from.
type Source struct {
	Kind Kind `json:"kind"`
	// Path is of a Folder: absolute, or below the marketplace's root. Of Git and
	// Archive it is the folder inside.
	Path string `json:"path,omitempty"`
	URL  string `json:"url,omitempty"`
	Ref  string `json:"ref,omitempty"` // of Git: a branch or tag; "" is the default branch
	// SHA is of Git, a commit that is wanted; of Archive the SHA-256 of the file.
	SHA      string `json:"sha,omitempty"`
	Package  string `json:"package,omitempty"`
	Version  string `json:"version,omitempty"`
	Registry string `json:"registry,omitempty"`
}

// String names the source for people.
func (s Source) String() string {
	out := s.URL
	switch s.Kind {
	case Folder:
		return clip.Visible(s.Path)
	case NPM:
		out = "npm:" + s.Package
		if s.Version != "" {
			out += "@" + s.Version
		}
		return clip.Visible(out)
	case Git, Archive, JSON:
	}
	if repo, ok := github(s.URL); ok {
		out = repo
	}
	if s.Ref != "" {
		out += "#" + s.Ref
	}
	if s.Path != "" {
		out += " (" + s.Path + ")"
	}
	return clip.Visible(out)
}

// local reports whether the source is on this machine.
func (s Source) local() bool {
	return s.Kind == Folder || strings.HasPrefix(s.URL, "file://")
}

// github is OWNER/REPO of an address there.
func github(address string) (repo string, ok bool) {
	repo, ok = strings.CutPrefix(address, "https://github.com/")
	repo = strings.TrimSuffix(repo, ".git")
	return repo, ok && repoForm().MatchString(repo)
}

var (
	repoForm    = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
	refForm     = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._/+@-]{0,199}$`)
	shaForm     = pattern.Lazy(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	sumForm     = pattern.Lazy(`^[0-9a-f]{64}$`)
	packageForm = pattern.Lazy(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]{0,200}$`)
	versionForm = pattern.Lazy(`^[A-Za-z0-9^~<>=.*][A-Za-z0-9^~<>=.*+ -]{0,99}$`)
	scpForm     = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^:\x00-\x20-][^\x00-\x20]*$`)
)

// check says why a source cannot be used. near: it may be on this machine,
// because a person gave it, or because what names it is there itself.
func (s Source) check(near bool) error {
	if s.Path != "" && s.Kind != Folder {
		if _, err := plugin.Local(s.Path); err != nil {
			return fmt.Errorf("the path %q %w", clip.Line(s.Path, 100), err)
		}
	}
	switch s.Kind {
	case Folder:
		if filepath.IsAbs(s.Path) && !near {
			return errors.New("a folder of this machine, named by somebody elsewhere")
		}
		return nil
	case Git:
		if s.Ref != "" && (!refForm().MatchString(s.Ref) || strings.Contains(s.Ref, "..") || strings.Contains(s.Ref, "@{")) {
			return fmt.Errorf("%q is no branch or tag", clip.Line(clip.Visible(s.Ref), 100))
		}
		if s.SHA != "" && !shaForm().MatchString(s.SHA) {
			return fmt.Errorf("%q is no commit: expected its whole hash", clip.Line(clip.Visible(s.SHA), 100))
		}
		if scpForm().MatchString(s.URL) {
			return nil
		}
		return address(s.URL, near, "https", "ssh")
	case Archive:
		if s.SHA != "" && !sumForm().MatchString(s.SHA) {
			return fmt.Errorf("%q is no SHA-256", clip.Line(clip.Visible(s.SHA), 100))
		}
		return address(s.URL, near, "https")
	case JSON:
		return address(s.URL, false, "https")
	case NPM:
		switch {
		case !packageForm().MatchString(s.Package):
			return fmt.Errorf("%q is no name of an npm package", clip.Line(clip.Visible(s.Package), 100))
		case s.Version != "" && !versionForm().MatchString(s.Version):
			return fmt.Errorf("%q is no version of an npm package", clip.Line(clip.Visible(s.Version), 100))
		case s.Registry != "":
			return address(s.Registry, false, "https")
		}
		return nil
	}
	return fmt.Errorf("there is no kind of source %q", s.Kind)
}

// address says why a URL is not one of these schemes. Plain http, which
// anybody between can change, is only for this machine.
func address(s string, near bool, schemes ...string) error {
	u, err := url.Parse(s)
	if err != nil || clip.Visible(s) != s || strings.HasPrefix(s, "-") || len(s) > 2000 {
		return fmt.Errorf("%q is no address", clip.Line(clip.Visible(s), 100))
	}
	if u.User != nil {
		if _, has := u.User.Password(); has || u.Scheme != "ssh" {
			return errors.New("a name and a password do not belong into an address; git and npm have places of their own for them")
		}
	}
	switch {
	case slices.Contains(schemes, u.Scheme) && u.Hostname() != "" && !strings.HasPrefix(u.Hostname(), "-"):
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Scheme == "file" && near && filepath.IsAbs(u.Path):
		return nil
	}
	return fmt.Errorf("expected %s://…, found %q", strings.Join(schemes, ":// or "), clip.Line(clip.Visible(s), 100))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// parseSource reads a source as a marketplace or settings write it: a path, or
// an object with "source". The fields are those that Claude Code publishes
// (code.claude.com/docs, marketplace reference).
func parseSource(raw json.RawMessage) (Source, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Source{Kind: Folder, Path: text}, nil
	}
	var o struct {
		Source, Repo, URL, Ref, SHA, Path string
		Package, Version, Registry        string
		SHA256                            string `json:"sha256"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return Source{}, errors.New("a source is a path or an object")
	}
	s := Source{Path: strings.TrimSuffix(strings.TrimPrefix(o.Path, "./"), "/"), URL: o.URL, Ref: o.Ref, SHA: strings.ToLower(o.SHA)}
	switch o.Source {
	case "github":
		if !repoForm().MatchString(o.Repo) {
			return s, fmt.Errorf("repo: expected OWNER/REPO, found %q", clip.Line(clip.Visible(o.Repo), 100))
		}
		s.Kind, s.URL = Git, "https://github.com/"+o.Repo+".git"
	case "git", "git-subdir":
		s.Kind = Git
		if repoForm().MatchString(o.URL) { // OWNER/REPO
			s.URL = "https://github.com/" + o.URL + ".git"
		}
	case "url":
		s.Kind = kindOf(o.URL)
	case "archive":
		s.Kind, s.SHA = Archive, strings.ToLower(strings.TrimPrefix(o.SHA256, "sha256:"))
	case "npm":
		s = Source{Kind: NPM, Package: o.Package, Version: o.Version, Registry: o.Registry}
	case "path", "local", "directory", "file":
		s = Source{Kind: Folder, Path: o.Path}
	case "command":
		return s, errors.New("its source is a command; adze runs none to fetch a plugin")
	default:
		return s, fmt.Errorf("there is no kind of source %q", clip.Line(clip.Visible(o.Source), 60))
	}
	return s, nil
}

// kindOf tells by an address what is there.
func kindOf(address string) Kind {
	p := address
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		p = u.Path
	}
	switch {
	case archiveName(p):
		return Archive
	case strings.HasSuffix(p, ".json"):
		return JSON
	}
	return Git
}

func archiveName(p string) bool {
	return strings.HasSuffix(p, ".zip") || strings.HasSuffix(p, ".tar.gz") || strings.HasSuffix(p, ".tgz")
}

// GivenSource reads what a person gives: OWNER/REPO, an address, with "#REF" for
// a branch or tag, "npm:PACKAGE[@VERSION]", or a path, which counts from dir.
func GivenSource(s, dir, home string) (Source, error) {
	if rest, ok := strings.CutPrefix(s, "npm:"); ok {
		out := Source{Kind: NPM, Package: rest}
		if i := strings.LastIndexByte(rest, '@'); i > 0 {
			out.Package, out.Version = rest[:i], rest[i+1:]
		}
		return out, out.check(true)
	}
	base, ref, _ := strings.Cut(s, "#")
	switch {
	case repoForm().MatchString(base) && !strings.HasPrefix(base, "."):
		out := Source{Kind: Git, URL: "https://github.com/" + strings.TrimSuffix(base, ".git") + ".git", Ref: ref}
		return out, out.check(true)
	case schemeForm().MatchString(base), scpForm().MatchString(base):
		out := Source{Kind: kindOf(base), URL: base, Ref: ref}
		if out.Kind != Git && ref != "" {
			return out, errors.New("only a git repository has branches and tags")
		}
		return out, out.check(true)
	}
	p := s
	if rest, ok := strings.CutPrefix(s, "~/"); ok && home != "" {
		p = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	p = filepath.Clean(p)
	if archiveName(p) {
		return Source{Kind: Archive, URL: (&url.URL{Scheme: "file", Path: filepath.ToSlash(p)}).String()}, nil
	}
	return Source{Kind: Folder, Path: p}, nil
}

var schemeForm = pattern.Lazy(`^[a-z][a-z0-9+.-]*://`)

// A Policy is what an administrator lets people use.
type Policy struct {
	strict  []rule // nil: everything
	only    bool   // there is such a list
	blocked []rule
	bad     error
}

// A rule is a source of the lists strictKnownMarketplaces and
// blockedMarketplaces: an exact one, or a pattern of hosts or paths.
type rule struct {
	source Source
	host   *regexp.Regexp
	path   *regexp.Regexp
}

// ParsePolicy reads the two lists. What cannot be read forbids everything: a
// list that is meant to keep things out must not let them in for a slip.
func ParsePolicy(strict, blocked json.RawMessage) Policy {
	var p Policy
	if len(strict) > 0 && string(strict) != "null" {
		p.only = true
		p.strict, p.bad = rules(strict)
	}
	if len(blocked) > 0 && string(blocked) != "null" {
		var err error
		p.blocked, err = rules(blocked)
		p.bad = errors.Join(p.bad, err)
	}
	return p
}

func rules(raw json.RawMessage) (out []rule, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("expected a list of sources")
	}
	for _, one := range list {
		var o struct{ Source, HostPattern, PathPattern string }
		if err := json.Unmarshal(one, &o); err != nil {
			return nil, fmt.Errorf("expected a source, found %s", clip.Line(string(one), 100))
		}
		var r rule
		switch o.Source {
		case "hostPattern":
			r.host, err = regexp.Compile(o.HostPattern)
		case "pathPattern":
			r.path, err = regexp.Compile(o.PathPattern)
		default:
			r.source, err = parseSource(one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip.Line(string(one), 100), err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Allows says why a marketplace may not be used.
func (p Policy) Allows(s Source) error {
	switch {
	case p.bad != nil:
		return fmt.Errorf("the managed lists of marketplaces cannot be read: %w", p.bad)
	case slices.ContainsFunc(p.blocked, func(r rule) bool { return r.covers(s, false) }):
		return fmt.Errorf("%s is on the managed list of marketplaces that may not be used (blockedMarketplaces)", s)
	case p.only && !slices.ContainsFunc(p.strict, func(r rule) bool { return r.covers(s, true) }):
		return fmt.Errorf("%s is not on the managed list of marketplaces that may be used (strictKnownMarketplaces)", s)
	}
	return nil
}

// covers reports whether a rule is about a source. One that allows is exact;
// one that forbids holds for every branch and folder unless it names one.
func (r rule) covers(s Source, exact bool) bool {
	switch {
	case r.host != nil:
		h := host(s)
		return h != "" && r.host.MatchString(h)
	case r.path != nil:
		return s.Kind == Folder && r.path.MatchString(s.Path)
	case r.source.Kind != s.Kind:
		return false
	case s.Kind == Folder:
		return path.Clean(filepath.ToSlash(r.source.Path)) == path.Clean(filepath.ToSlash(s.Path))
	case s.Kind == NPM:
		return r.source.Package == s.Package
	}
	same := func(a, b string) bool { return a == b || !exact && a == "" }
	return plainURL(r.source.URL) == plainURL(s.URL) && same(r.source.Ref, s.Ref) && same(r.source.Path, s.Path)
}

// plainURL makes spellings of one address equal.
func plainURL(s string) string {
	if rest, ok := strings.CutPrefix(s, "git@"); ok {
		s = "ssh://git@" + strings.Replace(rest, ":", "/", 1)
	}
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	out := strings.ToLower(u.Host) + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), ".git")
	if strings.EqualFold(u.Hostname(), "github.com") {
		out = strings.ToLower(out)
	}
	return out
}

func host(s Source) string {
	if scpForm().MatchString(s.URL) {
		_, rest, _ := strings.Cut(s.URL, "@")
		h, _, _ := strings.Cut(rest, ":")
		return strings.ToLower(h)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
