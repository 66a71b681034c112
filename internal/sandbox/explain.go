package sandbox

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Explain says what the sandbox kept a command from, when that is why it
// failed: exit is its exit code, output the end of what it wrote. ok is false
// when the failure has another reason, as far as can be told.
func (s *Sandbox) Explain(exit int, output string) (blocked string, ok bool) {
	if s.mech == nil {
		return "", false
	}
	blocked, ok = Explain(exit, output, s.policy)
	if exit == 0 {
		return blocked, ok
	}
	if s.proxy == nil || ok && (!strings.HasPrefix(blocked, network) || noDomain.MatchString(output)) {
		return blocked, ok
	}
	// Most programs do not show what the proxy says to them.
	refused := s.proxy.Refused()
	if len(refused) == 0 {
		return blocked, ok
	}
	var hosts []string
	for h, why := range refused {
		hosts = append(hosts, h+" is refused, "+why)
	}
	slices.Sort(hosts)
	return network + strings.Join(hosts[:min(3, len(hosts))], "; ") + "; sandbox.network.allowed_domains can allow a domain", true
}

// network begins what is said of it.
const network = "the network: "

// Lines that failures of a sandbox leave: the C library's texts, Go's and
// Node's, in any locale that keeps them English.
var (
	readOnly  = regexp.MustCompile(`(?i)read-only file ?system|EROFS`)
	noAccess  = regexp.MustCompile(`(?i)permission denied|operation not permitted|EACCES|EPERM|PermissionError|device or resource busy|EBUSY`)
	busy      = regexp.MustCompile(`(?i)device or resource busy|EBUSY`)
	crossed   = regexp.MustCompile(`(?i)(invalid )?cross-device link|EXDEV`)
	gitWrites = regexp.MustCompile(`(?i)could not (?:write|lock) config file ([^\s:]+)`)
	noNetwork = regexp.MustCompile(`(?i)network is unreachable|ENETUNREACH|could not resolve host|temporary failure in name resolution|name or service not known|getaddrinfo|EAI_AGAIN|no such host|failed to connect|couldn't connect to|name resolution|connection refused.*proxy|lookup .* on .*: (dial|read) udp`)
	noDomain  = regexp.MustCompile(`adze's sandbox: ([^\s]+) is refused: ([^\n]*)`)
	tunnel403 = regexp.MustCompile(`(?i)(CONNECT tunnel failed, response 403|proxy.*\b403\b|403 Forbidden from proxy|tunneling socket could not be established, statusCode=403|status(?:code)?=403)`)
	socketErr = regexp.MustCompile(`(?i)(unix (?:domain )?socket|\.sock\b|docker daemon|ssh-agent|authentication agent|gpg-agent|D-?Bus|X11|display|AF_UNIX|Error creating socket)`)
	// A call in a stack trace, whose last line has no more than the error.
	socketCall = regexp.MustCompile(`_socket\.socket|AF_UNIX|UNIXSocket|net\.createConnection`)
	pathish    = regexp.MustCompile(`(?:^|[\s'"‘“:=(\x60\[])(~?/[^\s'"’”:;,)\x60\]]+|\.{1,2}/[^\s'"’”:;,)\x60\]]+|\.[A-Za-z][^\s'"’”:;,)\x60\]/]*(?:/[^\s'"’”:;,)\x60\]]+)*)`)
)

// unixSocket is all that can be said of a socket that was refused.
const unixSocket = "a unix socket; sandbox.network.allow_unix_sockets can allow it"

// protectedWhy ends what is said of a protected path.
const protectedWhy = ": it is protected, as it steers other programs"

// maxExplained is how much of the end of an output is looked at.
const maxExplained = 16 << 10

// Explain is Sandbox.Explain for a policy alone.
func Explain(exit int, output string, p Policy) (blocked string, ok bool) {
	output = output[max(0, len(output)-maxExplained):]
	if m := gitWrites.FindStringSubmatch(output); m != nil && (readOnly.MatchString(output) || busy.MatchString(output)) {
		return "writing " + strings.TrimSuffix(m[1], ".lock") + ": git's settings are protected; the git command that changes them, run by itself, asks for that", true
	}
	if exit == 0 { // it went on, so only what is certain is told
		for _, line := range strings.Split(output, "\n") {
			if readOnly.MatchString(line) {
				for _, path := range pathsIn(line, p) {
					if protects(p, path) {
						return "writing " + path + protectedWhy, true
					}
				}
			}
		}
		return "", false
	}
	if m := noDomain.FindStringSubmatch(output); m != nil {
		return fmt.Sprintf(network+"%s is refused, %s; sandbox.network.allowed_domains can allow it", m[1], strings.TrimSpace(m[2])), true
	}
	if tunnel403.MatchString(output) {
		return network + "the proxy of the sandbox refused a domain; sandbox.network.allowed_domains can allow it", true
	}
	lines := strings.Split(output, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := explainLine(lines[i], p); s != "" {
			return s, true
		}
	}
	if socketCall.MatchString(output) && noAccess.MatchString(output) {
		return unixSocket, true
	}
	for i := len(lines) - 1; i >= 0; i-- {
		switch held := slices.Concat(p.Denied, p.Fixed, p.Protected, p.Git); {
		case len(held) == 0:
		case busy.MatchString(lines[i]):
			return "moving or removing a folder that holds something protected, such as " + held[0], true
		case crossed.MatchString(lines[i]):
			return "renaming into or out of a folder that holds something protected, such as " + held[0] + "; copying works", true
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if noNetwork.MatchString(lines[i]) {
			if p.Network.Off() {
				return network + "nothing can leave the sandbox", true
			}
			return network + "only programs that use HTTP_PROXY or ALL_PROXY reach it, through the proxy of the sandbox", true
		}
	}
	return "", false
}

// explainLine looks for a path or a socket in a line that tells of a refusal.
func explainLine(line string, p Policy) string {
	ro, no := readOnly.MatchString(line), noAccess.MatchString(line)
	if !ro && !no {
		return ""
	}
	paths, does := pathsIn(line, p), verb(line)
	for _, path := range paths {
		switch {
		case withinAny(p.Denied, path):
			return "reading " + path + ": a permission rule denies it"
		case withinAny(p.Fixed, path):
			return does + path + ": a permission rule denies it"
		case withinAny(p.Hidden, path) && !withinAny(p.Readable, path):
			return "reading " + path + ": it is hidden, as it may hold secrets"
		case protects(p, path):
			return does + path + protectedWhy
		}
	}
	for _, path := range paths {
		if ro && !withinAny(p.Writable, path) {
			return does + path + ": it is outside the writable folders; sandbox.filesystem.allow_write can allow it"
		}
	}
	if no && socketErr.MatchString(line) {
		return unixSocket
	}
	if ro {
		return "writing outside the writable folders"
	}
	return ""
}

// verbs are what programs say they could not do, by its word in our sentence;
// the first that fits counts.
var verbs = []struct {
	said *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`(?i)remove|unlink|rmdir|delete`), "removing "},
	{regexp.MustCompile(`(?i)permissions|ownership|chmod|chown|setting times|utime`), "changing the mode, owner or times of "},
	{regexp.MustCompile(`(?i)cannot create|create (?:regular|directory|symbolic|hard)|mkdir|symlink|failed to create`), "creating "},
}

// verb is what the command was kept from doing to the path of a line.
func verb(line string) string {
	for _, v := range verbs {
		if v.said.MatchString(line) {
			return v.word
		}
	}
	return "writing "
}

func protects(p Policy, path string) bool {
	if withinAny(p.Protected, path) {
		return true
	}
	for _, g := range p.Git {
		rel, err := filepath.Rel(g, path)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		switch first, _, _ := strings.Cut(filepath.ToSlash(rel), "/"); first {
		case ".", "hooks", "config", "config.lock", "config.worktree", "commondir", "modules":
			return true
		}
	}
	return false
}

// pathsIn are what looks like paths in a line, made absolute against each
// writable folder.
func pathsIn(line string, p Policy) []string {
	var out []string
	found := pathish.FindAllStringSubmatch(line, 20)
	if len(found) > 1 && strings.HasPrefix(line, found[0][1]+":") { // who says it comes last
		found = append(found[1:], found[0])
	}
	for _, m := range found {
		switch t := m[1]; {
		case filepath.IsAbs(t):
			out = append(out, filepath.Clean(t))
		case strings.HasPrefix(t, "~"):
		default:
			for _, w := range p.Writable {
				if !withinAny(p.Hidden, w) { // nobody works there
					out = append(out, filepath.Join(w, t))
				}
			}
		}
	}
	return out
}
