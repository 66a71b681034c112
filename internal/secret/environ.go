package secret

import (
	"net/url"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

var (
	// named matches names of variables that hold secrets.
	named = pattern.Lazy(`(?i)KEY|TOKEN|SECRET|PASS|CRED|AUTH(?:_|$|ORIZATION)|COOKIE|PRIVATE|SIGNATURE|_PAT$|_DSN$`)
	// places matches names of variables that hold where a secret is.
	places = pattern.Lazy(`(?i)(?:_FILE|_PATH|_DIR|_HOME|_SOCK|_URL|_URI|_TYPE|_METHOD|_NAME|ASKPASS|KEYRING_CONTROL|XAUTHORITY)$`)
	// words are values that are a setting, no secret.
	words = pattern.Lazy(`^(?i:true|false|disabled|enabled|required|optional|password|publickey|keyboard(?:-\w+)?|[0-9]{1,9}|(?:/[\w.@+-]+){2,}/?|~/.*|[A-Za-z]:\\.*)$`)
)

// Environ picks the secrets out of an environment, NAME=value each: values of
// variables whose names say so, and passwords inside addresses. Paths, words
// of settings and small numbers are left: hiding them would spoil ordinary output.
func Environ(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		value = strings.TrimSpace(value)
		if len(value) < minValue {
			continue
		}
		if strings.Contains(value, "://") {
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if pw, ok := u.User.Password(); ok && len(pw) >= minValue {
					out = append(out, pw)
				}
			}
		}
		if named().MatchString(name) && !places().MatchString(name) && !words().MatchString(value) {
			out = append(out, value)
		}
	}
	return out
}
