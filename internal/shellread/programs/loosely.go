package programs

import (
	"regexp"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// secretsMatching are the files below a pattern's folder that may hold secrets and that
// it matches, where nobody can say all that it does: it matches too many, has a class of
// characters in it, or the shell was told to match more (loose), such as names with a
// leading dot, or any number of folders for **.
func (r *Recorder) secretsMatching(full, src string, loose bool) (out []target) {
	base := world.GlobBase(full)
	real, err := r.Real(base)
	if err != nil {
		return nil
	}
	listing, ok := r.Tree(real)
	if !ok && len(listing.Entries) == 0 {
		return nil
	}
	var segs []looseSegment
	rest := strings.Split(strings.Trim(full, "/"), "/")
	above := strings.Count(strings.Trim(base, "/"), "/") + 1
	if strings.Trim(base, "/") == "" {
		above = 0
	}
	for _, s := range rest[min(above, len(rest)):] {
		segs = append(segs, newLooseSegment(s, loose))
	}
	for _, e := range listing.Entries {
		at := strings.TrimSuffix(real, "/") + "/" + e.Name
		if policy.HoldsSecrets(at) && matchesLoosely(segs, strings.Split(e.Name, "/"), loose) {
			out = append(out, r.resolveIn("", at, src)...)
		}
	}
	return out
}

// A looseSegment is what a pattern says of one name, or of any number of folders.
type looseSegment struct {
	name *regexp.Regexp
	deep bool // **
	dot  bool // it begins with a dot
}

func newLooseSegment(s string, loose bool) looseSegment {
	out := looseSegment{deep: loose && strings.Contains(s, "**"), dot: strings.HasPrefix(strings.TrimPrefix(s, `\`), ".")}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteString(".")
		case c == '[':
			b.WriteString(".*") // as wide as it may be
			if end := strings.LastIndexByte(s[i:], ']'); end > 0 {
				i += end
			}
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		}
	}
	out.name = regexp.MustCompile("(?s)^" + b.String() + "$")
	return out
}

// matchesLoosely reports whether the names of a path may be matched by a pattern.
func matchesLoosely(pattern []looseSegment, names []string, dots bool) bool {
	if len(pattern) == 0 || len(names) == 0 {
		return len(pattern) == 0 && len(names) == 0
	}
	p := pattern[0]
	hidden := strings.HasPrefix(names[0], ".") && !p.dot && !dots
	if p.deep && !hidden && matchesLoosely(pattern, names[1:], dots) {
		return true
	}
	if p.deep && matchesLoosely(pattern[1:], names, dots) {
		return true
	}
	return !hidden && p.name.MatchString(names[0]) && matchesLoosely(pattern[1:], names[1:], dots)
}
