package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/paths"
)

// seatbelt is the profile for macOS's sandbox-exec. port is the proxy's, 0
// is none. Of several rules that match the last one counts, so what protects
// comes after what allows. What is protected and does not exist is settled when
// it comes into being.
func seatbelt(p Policy, port int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("(version 1)")
	line("(deny default)")
	line("(allow process-exec* process-fork process-info* (with no-report))")
	line("(allow signal (target same-sandbox))")
	line("(allow sysctl-read)")
	line("(allow mach-lookup (global-name \"com.apple.system.notification_center\") (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\") (global-name \"com.apple.trustd.agent\") (global-name \"com.apple.SystemConfiguration.configd\") (global-name \"com.apple.dnssd.service\"))")
	line("(allow ipc-posix-shm* ipc-posix-sem*)")
	line("(allow pseudo-tty)")
	line("(allow file-read* file-test-existence file-map-executable)")
	line("(allow file-write* file-ioctl (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\"))")
	for _, w := range p.Writable {
		line("(allow file-write* (subpath %s))", quote(w))
	}
	for _, g := range p.Protected {
		line("(deny file-write* (subpath %s))", quote(g))
	}
	for _, g := range p.Git {
		for _, name := range []string{"hooks", "config", "config.worktree", "commondir", "info/attributes"} {
			line("(deny file-write* (subpath %s))", quote(filepath.Join(g, name)))
		}
		for _, guard := range conf.Guards(g, p.holds[g]) { // of its worktrees and submodules
			line("(deny file-write* (subpath %s))", quote(guard))
		}
	}
	for _, o := range p.open {
		line("(allow file-write* (subpath %s) (literal %s))", quote(o), quote(o+".lock"))
	}
	for _, f := range p.Fixed {
		line("(deny file-write* (subpath %s))", quote(f))
	}
	// Neither a protected path nor anything above it can be moved away.
	for _, dir := range above(p) {
		line("(deny file-write-unlink (literal %s))", quote(dir))
	}
	for _, h := range p.Hidden {
		line("(deny file-read* file-write* (subpath %s))", quote(h))
	}
	for _, r := range p.Readable {
		line("(allow file-read* (subpath %s))", quote(r))
	}
	if port != 0 {
		line("(allow network-outbound (remote ip \"localhost:%d\"))", port)
	}
	for _, own := range p.Network.Ports {
		line("(allow network-outbound (remote ip \"localhost:%d\"))", own)
	}
	if p.Network.Listen {
		line("(allow network-bind network-inbound (local ip \"localhost:*\"))")
		line("(allow network-outbound (remote ip \"localhost:*\"))")
	}
	if p.Network.AllUnix {
		line("(allow network-bind network-outbound (subpath \"/\"))")
	}
	for _, u := range p.Network.Unix {
		line("(allow network-outbound (literal %s))", quote(u))
	}
	return b.String()
}

// above are the folders between a writable folder and what is protected or
// hidden in it, and the protected paths themselves.
func above(p Policy) []string {
	seen := map[string]bool{}
	var out []string
	for _, g := range slices.Concat(p.Protected, p.Git, p.Fixed, p.Hidden) {
		for at := g; paths.WithinAny(p.Writable, at) && !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
			out = append(out, at)
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return out
}

// quote writes a string of the profile's language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}
