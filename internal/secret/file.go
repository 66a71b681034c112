package secret

import (
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// maxFile bounds a file whose values are looked for, in bytes.
const maxFile = 256 << 10

var (
	// assigned matches NAME=value and "name": "value" on a line of a file that holds secrets.
	assigned = pattern.Lazy(`^\s*(?:export\s+)?["']?([\w.:/@-]+?)["']?\s*[=:]\s*(.+?)\s*,?\s*$`)
	// harmless are values that no name makes a secret.
	harmless = pattern.Lazy(`^(?:[a-z]+://[^@?#]*|[\w.-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost(?::\d+)?|[A-Za-z]+(?:[ _-][A-Za-z]+)*|[\d .,:+-]+|[\w./~-]*/[\w./~-]*)$`)
)

// Values are the values of 8 bytes or more in a file that holds secrets, such as .env: all
// of those whose name says that they are, others unless they are plain words, numbers,
// places or addresses without a password, which ordinary output has as well.
func Values(text string) (out []string) {
	if len(text) > maxFile {
		text = text[:maxFile]
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if _, of, ok := strings.Cut(line, "/:"); ok && strings.HasPrefix(line, "//") {
			line = of // of a registry, in .npmrc
		}
		m := assigned().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, value := m[1], bareValue(m[2])
		if len(value) < minValue {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				out = append(out, value, password)
			}
			continue
		}
		says := named().MatchString(name) && !places().MatchString(name) && !words().MatchString(value)
		if says || !harmless().MatchString(value) && !words().MatchString(value) {
			out = append(out, value)
		}
	}
	return usable(out)
}

// bareValue is a value without its quotes, or the comment behind it.
func bareValue(v string) string {
	if q := v[0]; q == '"' || q == '\'' || q == '`' {
		if end := strings.IndexByte(v[1:], q); end >= 0 {
			return v[1 : 1+end]
		}
		return v[1:]
	}
	if i := strings.Index(v, " #"); i > 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

// Files returns a redactor that hides what r does, and the values in files, by path.
func (r *Redactor) Files(files map[string]string) *Redactor {
	var values []string
	for _, text := range files {
		values = append(values, Values(text)...)
	}
	if values = usable(values); len(values) == 0 {
		return r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	base := r.ix.Load()
	if r.more == nil || r.moreOf != base || !slices.Equal(r.moreBy, values) {
		r.more, r.moreOf, r.moreBy = New(slices.Concat(base.values, values)...), base, values
	}
	return r.more
}
