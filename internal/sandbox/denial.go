package sandbox

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Denial says what the sandbox kept a command from, when that is why it
// failed: exit is its exit code, output the end of what it wrote; command, which
// may be empty, tells what the output leaves out. ok is false
// when the failure has another reason, as far as can be told. Of a command that
// succeeded, or whose exit code is another one's, what the sandbox itself saw is told once.
func (s *Sandbox) Denial(command string, exit int, output string) (blocked string, ok bool) {
	if s.mech == nil {
		return "", false
	}
	blocked, ok = denial(command, exit, output, s.policy)
	saw := s.saw()
	if ok && (!strings.HasPrefix(blocked, network) || noDomain().MatchString(output)) || saw == "" {
		return blocked, ok
	}
	if ok && saw == nearRefused { // what the output says is more
		return blocked, ok
	}
	s.told.Lock()
	defer s.told.Unlock()
	if exit == 0 && (s.told.once[saw] || saw == nearRefused && s.running.Load() > 0) { // another one may have asked
		return "", false
	}
	if s.told.once == nil {
		s.told.once = map[string]bool{}
	}
	s.told.once[saw] = true
	return saw, true
}

// saw is what was refused on the network since it was asked the last time, "" for nothing:
// most programs do not show what the proxy says to them, nor where they wanted to go.
func (s *Sandbox) saw() string {
	near := false
	if m, is := s.mech.(interface{ unheard() bool }); is {
		near = m.unheard()
	}
	var hosts []string
	if s.proxy != nil {
		for h, why := range s.proxy.Refused() {
			hosts = append(hosts, h+" is refused, "+why)
		}
	}
	switch {
	case len(hosts) > 0:
		slices.Sort(hosts)
		return network + strings.Join(hosts[:min(3, len(hosts))], "; ") + "; sandbox.network.allowed_domains can allow a domain"
	case near:
		return nearRefused
	}
	return ""
}

// nearRefused is said of a connection to localhost that nobody took.
const nearRefused = network + "a connection was refused; localhost inside the sandbox is its own, so that what listens outside is not reached there; sandbox.network.local_ports can let a port through"

// network begins what is said of it.
const network = "the network: "

// Lines that failures of a sandbox leave: the C library's texts, Go's and
// Node's, in any locale that keeps them English.
var (
	readOnly  = pattern.Lazy(`(?i)read-only file ?system|EROFS`)
	noAccess  = pattern.Lazy(`(?i)permission denied|operation not permitted|EACCES|EPERM|PermissionError|device or resource busy|EBUSY`)
	busy      = pattern.Lazy(`(?i)device or resource busy|EBUSY`)
	crossed   = pattern.Lazy(`(?i)(invalid )?cross-device link|EXDEV`)
	gitWrites = pattern.Lazy(`(?i)could not (?:write|lock) config file ([^\s:]+)`)
	// A file that git makes before it writes, in any folder of its own.
	gitLock = pattern.Lazy(`Unable to create '(/[^'\n]+\.lock)': Read-only file system`)
	// A file of the work tree that git could not change, and goes on.
	gitHalf = pattern.Lazy(`(?m)(?:unable to (?:unlink|create file|write file)|failed to remove) (?:old )?'?([^'\n]+?)'?: Read-only file system$`)
	// What git says of a file that it tracks and cannot read; the path is one of the repository.
	gitReads  = pattern.Lazy(`cannot hash ([^'\n]+)|unable to index file '([^'\n]+)'|Unable to process path ([^'\n]+)`)
	noNetwork = pattern.Lazy(`(?i)network is unreachable|ENETUNREACH|could not resolve host|temporary failure in name resolution|name or service not known|getaddrinfo|EAI_AGAIN|no such host|failed to connect|couldn't connect to|name resolution|connection refused.*proxy|lookup .* on .*: (dial|read) udp`)
	// A host that a line says cannot be reached.
	farHost = pattern.Lazy(`(?i)(?:could not resolve (?:host(?:name)?|proxy):?|connect to host|getaddrinfo(?: [A-Z_]+)?|failed to connect to|connection to|\blookup|connectionpool\(host=|resolve)\s*['"(]*([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})\b`)
	// A push to a repository beside the workspace says what, and then where.
	unpacked  = pattern.Lazy(`unable to create temporary object directory|insufficient permission for adding an object|unpacker error`)
	pushedTo  = pattern.Lazy(`(?m)^To (?:file://)?(~?[./][^\n]*)$`)
	noDomain  = pattern.Lazy(`adze's sandbox: ([^\s]+) is refused: ([^\n]*)`)
	tunnel403 = pattern.Lazy(`(?i)(CONNECT tunnel failed, response 403|proxy.*\b403\b|403 Forbidden from proxy|tunneling socket could not be established, statusCode=403|status(?:code)?=403)`)
	// What the filter of system calls answers who asks for a family that is not
	// there: mostly that of unix sockets.
	noFamily  = pattern.Lazy(`(?i)address family not supported|EAFNOSUPPORT`)
	socketErr = pattern.Lazy(`(?i)(unix (?:domain )?socket|\.sock\b|docker daemon|ssh-agent|authentication agent|gpg-agent|D-?Bus|X11|display|AF_UNIX|Error creating socket)`)
	// A call in a stack trace, whose last line has no more than the error.
	socketCall = pattern.Lazy(`_socket\.socket|AF_UNIX|UNIXSocket|net\.createConnection`)
	// A command line that asks for a unix socket.
	namesSocket = pattern.Lazy(`--(?:abstract-)?unix-socket\b|(?i:\b(?:http\+)?unix://|UNIX-CONNECT:|ABSTRACT-CONNECT:)|\b(?:nc|ncat|netcat)\s(?:\S+\s)*-[a-zA-Z]*U|--socket[= ]\S*\.sock\b`)
	taken       = pattern.Lazy(`(?i)address already in use|EADDRINUSE`)
	numbers     = pattern.Lazy(`\d+`)
	nearHost    = pattern.Lazy(`(?i)\b(?:localhost|127\.\d+\.\d+\.\d+)\b|\[?::1\]?`)
	// A socket that is not among the listed ones does not listen.
	unheard = pattern.Lazy(`(?i)connection refused|ECONNREFUSED|cannot connect|could not connect`)
	refused = pattern.Lazy(`(?i)connection refused|ECONNREFUSED`)
	quoted  = pattern.Lazy(`['"‘“\x60]([^'"’”\x60]+)['"’”\x60]`)
	pathish = pattern.Lazy(`(?:^|[\s'"‘“:=(\x60\[])(~?/[^\s'"’”:;,)\x60\]]+|\.{1,2}/[^\s'"’”:;,)\x60\]]+|\.[A-Za-z][^\s'"’”:;,)\x60\]/]*(?:/[^\s'"’”:;,)\x60\]]+)*)`)
)

// unixSocket is all that can be said of a socket that was refused.
const unixSocket = "using a unix socket; sandbox.network.allow_unix_sockets can name sockets, or folders of them, and then a command can make its own as well"

// protectedWhy ends what is said of a protected path.
const protectedWhy = ": it is protected, as it steers other programs"

// outsideWhy ends what is said of a path that is in no writable folder.
const outsideWhy = ": it is outside the writable folders; a command that names all it changes, and runs nothing else, is asked about and may do so after a yes; sandbox.filesystem.allow_write allows it to all"

// temporaryWhy ends what is said of a temporary file.
const temporaryWhy = ": commands have a folder of their own for temporary files, $TMPDIR"

// shutWhy ends what is said of a path that is in no writable folder.
func shutWhy(path string) string {
	if in := filepath.Dir(path); in == "/tmp" || in == "/var/tmp" {
		return temporaryWhy
	}
	return outsideWhy
}

// gitElsewhere ends what is said of a git folder that a .git leads to.
const gitElsewhere = ": this .git leads to a folder that does not lead back here, and is read-only in the sandbox"

// leaveOut is how git goes on without a file that it tracks and may not read, where that is
// what failed.
func leaveOut(blocked, output string) string {
	m := gitReads().FindStringSubmatch(output)
	if m == nil || !strings.HasPrefix(blocked, "reading ") {
		return ""
	}
	return fmt.Sprintf("; git reads each changed file that it tracks: leave it out with -- . ':!%s' at the end, of git diff, git commit (without -a), git add -A or git stash push", m[1]+m[2]+m[3])
}

// gitHalfWhy ends what is said of a file of git's work tree.
const gitHalfWhy = ": git went on without it, so that only a part is done; git status shows what differs. As a call of its own, not in a script and not behind an alias, the git command is asked about first, and then does all of it"

// absentWhy ends what is said of a path that the settings name and that is not there: only
// what is there when a command starts can be made writable for it.
const absentWhy = ": sandbox.filesystem.allow_write names it, and it is not there; make it outside of the sandbox first (touch, or mkdir for a folder), or name the folder that it is in"

// maxExplained is how much of the end of an output is looked at.
const maxExplained = 16 << 10

// denial is Sandbox.Denial for a policy alone.
func denial(command string, exit int, output string, p Policy) (blocked string, ok bool) {
	output = output[max(0, len(output)-maxExplained):]
	if m := gitWrites().FindStringSubmatch(output); m != nil && (readOnly().MatchString(output) || busy().MatchString(output)) {
		return "writing " + strings.TrimSuffix(m[1], ".lock") + ": git's settings are protected; the git command that changes them can do so when no other program runs beside it", true
	}
	if m := gitLock().FindStringSubmatch(output); m != nil {
		switch {
		case paths.WithinAny(p.Protected, m[1]):
			return "writing " + m[1] + gitElsewhere, true
		case !paths.WithinAny(p.Writable, m[1]):
			return "writing " + m[1] + outsideWhy, true
		}
	}
	if m := gitHalf().FindStringSubmatch(output); m != nil {
		return "changing " + m[1] + gitHalfWhy, true
	}
	if exit == 0 { // it went on, so only what is certain is told
		for _, line := range strings.Split(output, "\n") {
			if readOnly().MatchString(line) {
				for _, n := range pathsIn(line, p) {
					if protects(p, n.at) {
						return "writing " + n.said + protectedWhy, true
					}
				}
			}
		}
		return "", false
	}
	if m := noDomain().FindStringSubmatch(output); m != nil {
		return fmt.Sprintf(network+"%s is refused, %s; sandbox.network.allowed_domains can allow it", m[1], strings.TrimSpace(m[2])), true
	}
	if tunnel403().MatchString(output) {
		return network + "the proxy of the sandbox refused a domain; sandbox.network.allowed_domains can allow it", true
	}
	lines := strings.Split(output, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := explainLine(lines[i], p); s != "" {
			return s + leaveOut(s, output), true
		}
	}
	if noFamily().MatchString(output) || socketCall().MatchString(output) && noAccess().MatchString(output) {
		return unixSocket, true
	}
	if m := pushedTo().FindStringSubmatch(output); m != nil && unpacked().MatchString(output) && !inWritable(p, m[1]) {
		return "writing " + m[1] + outsideWhy, true
	}
	for i := len(lines) - 1; i >= 0; i-- {
		switch {
		case len(p.Denied)+len(p.Fixed)+len(p.Protected)+len(p.Git) == 0:
		case busy().MatchString(lines[i]):
			return "moving or removing a folder that holds something protected" + heldIn(lines[i], p), true
		case crossed().MatchString(lines[i]):
			return "renaming into or out of a folder that holds something protected" + heldIn(lines[i], p) + "; copying works", true
		}
	}
	for _, line := range lines {
		for _, port := range p.Network.Ports {
			if taken().MatchString(line) && slices.Contains(numbers().FindAllString(line, 20), strconv.Itoa(port)) {
				return fmt.Sprintf("listening on port %d: sandbox.network.local_ports leads it to this machine's", port), true
			}
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if !noNetwork().MatchString(lines[i]) {
			continue
		}
		if namesSocket().MatchString(command) { // programs say nothing of it
			if p.Network.AllUnix {
				return "", false
			}
			return unixSocket, true
		}
		return farAway(lines[i], p), true
	}
	for i := len(lines) - 1; i >= 0; i-- { // most programs do not say where they wanted to go
		if refused().MatchString(lines[i]) {
			return nearRefused, true
		}
	}
	return "", false
}

// farAway says why nothing was reached, and which host, if the line tells.
func farAway(line string, p Policy) string {
	host, allow := "", "a domain"
	if nearHost().MatchString(line) && !farHost().MatchString(line) {
		return network + "localhost inside the sandbox is its own, so that what listens outside is not reached there; sandbox.network.local_ports can let a port through"
	}
	if m := farHost().FindStringSubmatch(line); m != nil {
		host, allow = ", so not "+m[1], m[1]
	}
	if p.Network.Off() {
		return network + "nothing can leave the sandbox" + host + "; sandbox.network.allowed_domains can allow " + allow
	}
	return network + "only programs that use HTTP_PROXY or ALL_PROXY reach it, through the proxy of the sandbox" + host
}

// heldIn names what is protected in a folder that a line names.
func heldIn(line string, p Policy) string {
	held := slices.Concat(p.Denied, p.Fixed, p.Protected, p.Git)
	for _, m := range quoted().FindAllStringSubmatch(line, 20) {
		for _, dir := range absolute(m[1], p) {
			if i := slices.IndexFunc(held, func(h string) bool { return paths.Within(dir, h) }); i >= 0 && !slices.Contains(p.Writable, dir) {
				return ", such as " + held[i]
			}
		}
	}
	return ""
}

func inWritable(p Policy, path string) bool {
	return slices.ContainsFunc(absolute(path, p), func(at string) bool { return paths.WithinAny(p.Writable, at) })
}

// explainLine looks for a path or a socket in a line that tells of a refusal.
func explainLine(line string, p Policy) string {
	ro, no := readOnly().MatchString(line), noAccess().MatchString(line)
	if socketErr().MatchString(line) && (no || len(p.Network.Unix) > 0 && unheard().MatchString(line)) {
		return unixSocket
	}
	if !ro && !no {
		return ""
	}
	named, does := pathsIn(line, p), verb(line)
	for _, n := range named {
		switch path := n.at; {
		case paths.WithinAny(p.Denied, path):
			return "reading " + n.said + ": a permission rule denies it"
		case paths.WithinAny(p.Fixed, path):
			return does + n.said + ": a permission rule denies it"
		case paths.WithinAny(p.Hidden, path) && !paths.WithinAny(p.Readable, path):
			return "reading " + n.said + ": it is hidden, as it may hold secrets"
		case protects(p, path):
			return does + n.said + protectedWhy
		}
	}
	for _, n := range named {
		switch {
		case !ro:
		case slices.Contains(p.Writable, n.at) && !exists(n.at):
			return does + n.said + absentWhy
		case !paths.WithinAny(p.Writable, n.at):
			return does + n.said + shutWhy(n.at)
		}
	}
	if ro {
		return "writing outside the writable folders"
	}
	return ""
}

// verbs are what programs say they could not do, by its word in our sentence;
// the first that fits counts.
var verbs = []struct {
	said func() *regexp.Regexp
	word string
}{
	{pattern.Lazy(`(?i)remove|unlink|rmdir|delete`), "removing "},
	{pattern.Lazy(`(?i)permissions|ownership|chmod|chown|setting times|utime`), "changing the mode, owner or times of "},
	{pattern.Lazy(`(?i)cannot create|create (?:regular|directory|symbolic|hard)|mkdir|symlink|failed to create`), "creating "},
}

// verb is what the command was kept from doing to the path of a line.
func verb(line string) string {
	for _, v := range verbs {
		if v.said().MatchString(line) {
			return v.word
		}
	}
	return "writing "
}

func protects(p Policy, path string) bool {
	if paths.WithinAny(p.Protected, path) {
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

// A naming is a path in a line: as the program wrote it, which is what a person
// is told, because nobody knows in which folder the program was; and where it
// may lead.
type naming struct{ said, at string }

// pathsIn are what looks like paths in a line.
func pathsIn(line string, p Policy) []naming {
	var out []naming
	found := pathish().FindAllStringSubmatch(line, 20)
	if len(found) > 1 && strings.HasPrefix(line, found[0][1]+":") { // who says it was kept from nothing itself
		found = found[1:]
	}
	for _, m := range found {
		for _, at := range absolute(m[1], p) {
			out = append(out, naming{m[1], at})
		}
	}
	return out
}

// absolute is where a path may lead: a relative one against each writable
// folder in which a program may be.
func absolute(path string, p Policy) []string {
	switch {
	case filepath.IsAbs(path):
		return []string{filepath.Clean(path)}
	case strings.HasPrefix(path, "~"):
		return nil
	}
	var out []string
	for _, w := range p.Writable {
		if !paths.WithinAny(p.Hidden, w) && w != p.Temp && w != p.Cache { // nobody works there
			out = append(out, filepath.Join(w, path))
		}
	}
	return out
}
