package servers

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/pattern"
)

var (
	// variables are those of a text; what stands in for one is a value of the file.
	variables = pattern.Lazy(`\$\{[A-Za-z_][A-Za-z0-9_]*(?::-([^}]*))?\}`)
	// schemes stand before a secret in a header.
	schemes = pattern.Lazy(`(?i)^(?:bearer|basic|token|digest|apikey)\s+`)
	// dense are values that nobody makes up: letters and digits, and no words.
	dense = pattern.Lazy(`^[A-Za-z0-9_.~+=-]*(?:[0-9][A-Za-z_.~+=-]*[A-Za-z]|[A-Za-z][A-Za-z_.~+=-]*[0-9])[A-Za-z0-9_.~+=-]*$`)
)

// standsInFile says of a value that it is a secret.
const standsInFile = "a secret that stands in the file"

// minDense is how long a value is at least that is taken for a secret by its looks.
const minDense = 20

// shown is a value for people who are to say yes to it: what comes from their
// environment stands as it is written, and of what looks like a secret only that
// another one is another.
func shown(name, v string) string {
	scheme := schemes().FindString(v)
	rest := v[len(scheme):]
	if names := variables().FindAllString(rest, -1); len(names) > 0 {
		v += " (from your environment)"
		rest = variables().ReplaceAllString(rest, "$1")
	}
	if rest == "" || !secretive(name, rest) {
		return v
	}
	return fmt.Sprintf("%s("+standsInFile+": %d characters, #%s)", scheme, len([]rune(rest)), digest([]byte(rest))[:6])
}

func secretive(name, v string) bool {
	return config.SecretName(name) || strings.Contains(strings.ToLower(name), "cookie") || len(v) >= minDense && dense().MatchString(v)
}

// shownURL is an address without secrets in its query.
func shownURL(address string) string {
	path, query, ok := strings.Cut(address, "?")
	if !ok {
		return address
	}
	parts := strings.Split(query, "&")
	for i, p := range parts {
		name, v, has := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(v)
		if err != nil {
			plain = v
		}
		if s := shown(name, plain); has && s != plain {
			parts[i] = name + "=" + s
		}
	}
	return path + "?" + strings.Join(parts, "&")
}

// shownArgs are arguments without secrets: of --token=VALUE and --token VALUE, and what
// looks like one.
func shownArgs(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		name, v, ok := strings.Cut(a, "=")
		switch {
		case ok && name != "":
			if s := shown(name, v); s != v {
				a = name + "=" + s
			}
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") && !strings.HasPrefix(a, "-"):
			a = shown(args[i-1], a)
		default:
			a = shown("", a)
		}
		out[i] = a
	}
	return out
}

// withoutSecrets are arguments for one line: shownArgs in which secrets take one word.
func withoutSecrets(args []string) []string {
	out := shownArgs(args)
	for i, s := range out {
		name, _, ok := strings.Cut(args[i], "=")
		switch {
		case !strings.Contains(s, "("+standsInFile):
			out[i] = args[i]
		case ok && strings.HasPrefix(s, name+"="):
			out[i] = name + "=(secret)"
		default:
			out[i] = "(secret)"
		}
	}
	return out
}
