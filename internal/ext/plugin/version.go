package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
)

// A Version is one of semver.org. The zero value is 0.0.0.
type Version struct {
	Major, Minor, Patch uint64
	Pre                 string // what follows "-"
}

// ParseVersion reads "1.2.3", "v1.2.3-rc.1+build".
func ParseVersion(s string) (Version, error) {
	v, n, err := parsePartial(s)
	if err == nil && n < 3 {
		err = fmt.Errorf("the version %q is not of the form 1.2.3", clip.Line(clip.Visible(s), 60))
	}
	return v, err
}

// parsePartial reads a version of which parts may be missing, or be "x"; n is
// how many numbers it has.
func parsePartial(s string) (v Version, n int, err error) {
	bad := fmt.Errorf("%q is no version", clip.Line(clip.Visible(s), 60))
	s, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(s), "v"), "+")
	s, v.Pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) > 3 || len(s) > 60 || len(v.Pre) > 60 {
		return v, 0, bad
	}
	for i, p := range parts {
		if p == "*" || p == "x" || p == "X" {
			return v, i, nil
		}
		k, err := strconv.ParseUint(p, 10, 63)
		if err != nil || p[0] == '+' {
			return v, 0, bad
		}
		*[]*uint64{&v.Major, &v.Minor, &v.Patch}[i] = k
	}
	return v, len(parts), nil
}

// Compare is -1, 0 or 1, as semver.org orders versions.
func (v Version) Compare(w Version) int {
	if c := cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch)); c != 0 || v.Pre == w.Pre {
		return c
	}
	switch {
	case v.Pre == "":
		return 1
	case w.Pre == "":
		return -1
	}
	a, b := strings.Split(v.Pre, "."), strings.Split(w.Pre, ".")
	for i := range min(len(a), len(b)) {
		x, errX := strconv.ParseUint(a[i], 10, 64)
		y, errY := strconv.ParseUint(b[i], 10, 64)
		c := 0
		switch {
		case errX == nil && errY == nil:
			c = cmp.Compare(x, y)
		case errX == nil:
			c = -1
		case errY == nil:
			c = 1
		default:
			c = strings.Compare(a[i], b[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// A Range is a set of versions, as npm writes them: "^1.2", "~1.2.3",
// ">=1 <3", "1.x || 2.0.1", "1.0 - 2.0"; "" and "*" are all.
type Range struct{ any [][]bound }

type bound struct {
	op string // >= < > <= =
	v  Version
}

// ParseRange reads a range.
func ParseRange(s string) (Range, error) {
	var r Range
	if len(s) > 500 {
		return r, errors.New("the range of versions is too long")
	}
	for _, part := range strings.Split(s, "||") {
		all, err := parseAll(part)
		if err != nil {
			return Range{}, err
		}
		r.any = append(r.any, all)
	}
	return r, nil
}

func parseAll(s string) ([]bound, error) {
	var out []bound
	if from, to, ok := strings.Cut(s, " - "); ok {
		lo, _, err := parsePartial(from)
		if err != nil {
			return nil, err
		}
		hi, n, err := parsePartial(to)
		if err != nil {
			return nil, err
		}
		out = append(out, bound{">=", lo})
		if n == 3 {
			return append(out, bound{"<=", hi}), nil
		}
		if n == 0 {
			return out, nil
		}
		return append(out, bound{"<", hi.next(n)}), nil
	}
	for _, op := range []string{">=", "<=", ">", "<", "=", "^", "~"} { // "> 1" is ">1"
		for strings.Contains(s, op+" ") {
			s = strings.ReplaceAll(s, op+" ", op)
		}
	}
	for _, word := range strings.Fields(s) {
		b, err := parseOne(word)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

func parseOne(word string) ([]bound, error) {
	rest := strings.TrimLeft(word, "<>=^~")
	op := word[:len(word)-len(rest)]
	v, n, err := parsePartial(rest)
	if err != nil {
		return nil, err
	}
	if n == 0 && op != "<" && op != ">" {
		return nil, nil
	}
	switch op {
	case "", "=":
		if n == 3 {
			return []bound{{"=", v}}, nil
		}
		return []bound{{">=", v}, {"<", v.next(n)}}, nil
	case "~":
		return []bound{{">=", v}, {"<", v.next(min(n, 2))}}, nil
	case "^":
		up := 1 // the first number that is not 0 may not change
		for up < n && []uint64{v.Major, v.Minor, v.Patch}[up-1] == 0 {
			up++
		}
		return []bound{{">=", v}, {"<", v.next(up)}}, nil
	case ">":
		if n < 3 && n > 0 {
			return []bound{{">=", v.next(n)}}, nil
		}
		return []bound{{">", v}}, nil
	case "<=":
		if n < 3 {
			return []bound{{"<", v.next(n)}}, nil
		}
		return []bound{{"<=", v}}, nil
	case ">=", "<":
		return []bound{{op, v}}, nil
	}
	return nil, fmt.Errorf("%q is no range of versions", clip.Line(clip.Visible(word), 60))
}

// next is the first version, with what comes before its release, whose n-th
// number is one more.
func (v Version) next(n int) Version {
	switch n {
	case 1:
		return Version{Major: v.Major + 1, Pre: "0"}
	case 2:
		return Version{Major: v.Major, Minor: v.Minor + 1, Pre: "0"}
	}
	return Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch + 1, Pre: "0"}
}

// Has reports whether a version is in the range. What comes before a release
// is only when the range names one of the same release.
func (r Range) Has(v Version) bool {
	for _, all := range r.any {
		ok, named := true, v.Pre == ""
		for _, b := range all {
			c := v.Compare(b.v)
			switch b.op {
			case ">=":
				ok = ok && c >= 0
			case ">":
				ok = ok && c > 0
			case "<=":
				ok = ok && c <= 0
			case "<":
				ok = ok && c < 0
			case "=":
				ok = ok && c == 0
			}
			named = named || b.op != "<" && b.v.Pre != "" && b.v.Major == v.Major && b.v.Minor == v.Minor && b.v.Patch == v.Patch
		}
		if ok && (named || len(all) == 0) {
			return true
		}
	}
	return false
}
