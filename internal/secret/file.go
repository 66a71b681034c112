package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of a file whose values are looked for.
const (
	maxFile  = 256 << 10 // bytes
	maxBare  = 50        // lines of one of bare values
	maxValue = 4 << 10   // bytes of such a value
)

var (
	// assigned matches NAME=value and "name": "value" on a line of a file that holds secrets.
	assigned = pattern.Lazy(`^\s*(?:export\s+)?["']?([\w.:/@-]+?)["']?\s*[=:]\s*(.+?)\s*,?\s*$`)
	// headed matches a name whose values stand on the lines below it.
	headed = pattern.Lazy(`^["']?([\w./-]+)["']?\s*:\s*(?:[|>][+-]?\d?)?$`)
	// paired matches pairs and texts in brackets on a line.
	paired = pattern.Lazy(`(?:["']?([\w./-]+)["']?\s*[=:]\s*)?(?:"((?:[^"\\]|\\.)*)"|'([^']*)')`)
	// harmless are values that no name makes a secret.
	harmless = pattern.Lazy(`^(?:[a-z]+://[^@?#]*|[\w.-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost(?::\d+)?|[A-Za-z]+(?:[ _-][A-Za-z]+)*|[\d .,:+-]+|[\w./~-]*/[\w./~-]*)$`)
	// common are values that stand in for a secret, or are one that everybody knows: hiding
	// them would blank out ordinary words.
	common = pattern.Lazy(`(?i)^(?:postgres(?:ql)?|mongodb|rabbitmq|keycloak|wordpress|minioadmin|changeme|change[-_]me|changeit|development|production|administrator|anonymous|placeholder|undefined|localhost|password\d{0,3}|your[-_ ].*|x{8,}|\*{8,}|<.*>|\$\w+|\$\{.*\}|\{\{.*\}\}|%\w+%)$`)
	// choices matches names that say how secrets are used, by a word of their own.
	choices = pattern.Lazy(`(?i)[_.-](?:PROVIDER|STRATEGY|MODE|DRIVER|BACKEND|ISSUER|AUDIENCE|DOMAIN|HOST|USER|USERNAME|ALGORITHM|ALG|REGION|SCHEME|REALM|FORMAT|HEADER|POLICY|LEVEL)$`)
)

// Values are the values of 8 bytes or more in a file of that name that holds secrets, such
// as .env: all of those whose name says that they are, others unless they are plain words,
// numbers, places or addresses without a password, which ordinary output has as well.
func Values(file, text string) []string {
	if len(text) > maxFile {
		text = text[:maxFile]
	}
	var v values
	switch name := strings.ToLower(filepath.Base(file)); {
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text): // no text
	case name == ".netrc" || name == "_netrc":
		v.netrc(text)
	case name == ".pgpass":
		for line := range strings.Lines(text) {
			v.add("password", line[strings.LastIndexByte(line, ':')+1:])
		}
	case v.json(name, text):
	case !strings.Contains(name, ".env") && v.bare(text):
	default:
		v.lines(text)
	}
	return usable(slices.DeleteFunc(v.out, func(s string) bool { return common().MatchString(strings.TrimSpace(s)) }))
}

// values are those that were found.
type values struct {
	out   []string
	named bool // only those whose name says that they are secrets
}

// add takes the value of a name, if it is a secret.
func (v *values) add(name, value string) {
	if value = strings.TrimSpace(value); len(value) < minValue {
		return
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			v.out = append(v.out, value, password)
		} else if user := u.User.Username(); !harmless().MatchString(user) {
			v.out = append(v.out, user)
		}
		return
	}
	says := named().MatchString(name) && !places().MatchString(name) && !choices().MatchString(name)
	if words().MatchString(value) || !says && (v.named || harmless().MatchString(value)) {
		return
	}
	v.out = append(v.out, value)
	if name == "auth" { // of Docker: the name and the password
		if b, err := base64.StdEncoding.DecodeString(value); err == nil {
			_, password, _ := strings.Cut(string(b), ":")
			v.out = append(v.out, password)
		}
	}
}

// json takes what is in JSON; it reports whether text is that.
func (v *values) json(file, text string) bool {
	var all any
	if text = strings.TrimSpace(text); text == "" || text[0] != '{' && text[0] != '[' || json.Unmarshal([]byte(text), &all) != nil {
		return false
	}
	v.named = strings.HasSuffix(file, ".tfstate") // the rest describes what is there
	v.within("", all)
	return true
}

// within takes what is below a name in JSON. What is called value is named by what it is in.
func (v *values) within(name string, of any) {
	switch of := of.(type) {
	case string:
		v.add(name, of)
	case []any:
		for _, item := range of {
			v.within(name, item)
		}
	case map[string]any:
		for key, item := range of {
			if strings.EqualFold(key, "value") {
				key = name
			}
			v.within(key, item)
		}
	}
}

// netrc takes the passwords of a .netrc file, which may stand on one line.
func (v *values) netrc(text string) {
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "password", "account":
			v.out = append(v.out, words[i+1])
			i++
		case "machine", "login":
			i++
		}
	}
}

// bare takes the lines of a file that holds nothing but values; it reports whether it does.
func (v *values) bare(text string) bool {
	lines := strings.Fields(text)
	if len(lines) == 0 || len(lines) > maxBare || len(lines) != len(strings.Split(strings.TrimSpace(text), "\n")) {
		return false
	}
	for _, line := range lines {
		m := assigned().FindStringSubmatch(line)
		if m != nil && strings.Trim(m[2], "=") != "" || len(line) > maxValue || strings.HasPrefix(line, "-") || strings.HasSuffix(line, ":") {
			return false
		}
	}
	for _, line := range lines {
		if !words().MatchString(line) {
			v.out = append(v.out, line)
		}
	}
	return true
}

// lines takes the pairs of a file of lines, and the items and texts below a name.
func (v *values) lines(text string) {
	above, deep := "", -1 // the last name without a value, and how far it is indented
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if _, of, ok := strings.Cut(line, "/:"); ok && strings.HasPrefix(line, "//") {
			line = of // of a registry, in .npmrc
		}
		item, listed := strings.CutPrefix(line, "- ")
		if listed {
			line = strings.TrimSpace(item)
		}
		if deep >= 0 && indent <= deep && !(listed && indent == deep) {
			deep = -1
		}
		m := assigned().FindStringSubmatch(line)
		switch h := headed().FindStringSubmatch(line); {
		case h != nil:
			above, deep = h[1], indent
		case strings.ContainsAny(line[:1], "[{") || m != nil && strings.ContainsAny(m[2][:1], "[{"):
			v.inline(line)
		case m != nil:
			v.add(m[1], bareValue(m[2]))
		case deep >= 0 && !strings.HasPrefix(line, "-----"):
			v.add(above, bareValue(line))
		}
	}
}

// inline takes the pairs and texts in brackets on one line.
func (v *values) inline(line string) {
	name := ""
	if m := assigned().FindStringSubmatch(line); m != nil {
		name = m[1]
	}
	for _, m := range paired().FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			name = m[1]
		}
		v.add(name, m[2]+m[3])
	}
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

// With returns a redactor that hides what r does, and more values.
func (r *Redactor) With(values []string) *Redactor {
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
