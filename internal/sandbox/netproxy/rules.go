package netproxy

import (
	"fmt"
	"net/netip"
	"strings"
)

// Rules are what may be reached. The zero value is nothing.
type Rules struct {
	// Allowed and Denied are names, *.names (every name below, not the name
	// itself) and addresses. Denied wins. A name may end in :port.
	Allowed, Denied []string
}

// cleanHost checks a host as a client wrote it and returns it in the form that is
// compared and resolved: lower case, without a final dot. Only letters,
// digits, hyphens and dots pass (RFC 1123; an underscore too, as some real
// names have one), or an IP address: a name with any other character may mean
// another host to the resolver than to the comparison.
func cleanHost(s string) (string, error) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		if a.Zone() != "" {
			return "", fmt.Errorf("host %q has a zone", s)
		}
		return a.Unmap().String(), nil
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return "", fmt.Errorf("host name of %d characters", len(s))
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return "", fmt.Errorf("host %q is no host name", s)
		}
		for _, r := range l {
			if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
				return "", fmt.Errorf("host %q holds a character that no host name has", s)
			}
		}
	}
	// What some resolvers take for an IPv4 address (127.1, 0x7f.1, 2130706433)
	// is not a name: the last label of a real one is never a number.
	last := labels[len(labels)-1]
	if last[0] >= '0' && last[0] <= '9' {
		return "", fmt.Errorf("host %q is neither a name nor an address", s)
	}
	return s, nil
}

// verdict of the lists alone.
type verdict int

const (
	unknown verdict = iota
	allowed
	denied
)

// judge compares a host in the form of cleanHost.
func (r Rules) judge(host string, port int) verdict {
	for _, d := range r.Denied {
		if matches(d, host, port) {
			return denied
		}
	}
	for _, a := range r.Allowed {
		if matches(a, host, port) {
			return allowed
		}
	}
	return unknown
}

// exactly reports whether host itself, not a wildcard, is allowed: only then
// may it lead to an address inside.
func (r Rules) exactly(host string, port int) bool {
	for _, a := range r.Allowed {
		if name, _ := splitRule(a); !strings.Contains(name, "*") && matches(a, host, port) {
			return true
		}
	}
	return false
}

func splitRule(rule string) (name, port string) {
	rule = strings.ToLower(strings.TrimSpace(rule))
	if strings.Count(rule, ":") == 1 || strings.HasPrefix(rule, "[") {
		if i := strings.LastIndexByte(rule, ':'); i > strings.LastIndexByte(rule, ']') {
			return strings.Trim(rule[:i], "[]"), rule[i+1:]
		}
	}
	return strings.Trim(rule, "[]"), ""
}

func matches(rule, host string, port int) bool {
	name, p := splitRule(rule)
	if p != "" && p != fmt.Sprint(port) {
		return false
	}
	if name == "*" {
		return true
	}
	if below, ok := strings.CutPrefix(name, "*."); ok {
		b, err := cleanHost(below)
		return err == nil && strings.HasSuffix(host, "."+b)
	}
	n, err := cleanHost(name)
	return err == nil && n == host
}
