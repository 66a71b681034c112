package sandbox

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	p := Policy{
		Writable: []string{"/nowhere/out", "/tmp/t", "/w/project"}, Protected: []string{"/w/project/.claude", "/w/project/.mcp.json", "/w/project/linked/.git", "/w/project/deps/.vscode"},
		Git: []string{"/w/project/.git"}, Hidden: []string{"/home/u/.ssh", "/home/u/.aws"},
		Network: Network{Allowed: []string{"example.com"}},
	}
	for _, c := range []struct {
		exit         int
		output, want string // want is the start; "" is not the sandbox
	}{
		{0, "touch: cannot touch '/etc/x': Read-only file system", ""},
		{1, "touch: cannot touch '/etc/x': Read-only file system", "writing /etc/x: it is outside"},
		{1, "open /home/u/.cache/x: read-only file system\nexit status 1", "writing /home/u/.cache/x: it is outside"},
		{1, "Error: EROFS: read-only file system, open '/usr/lib/x'", "writing /usr/lib/x: it is outside"},
		{1, "cat: /home/u/.ssh/id_rsa: Permission denied", "reading /home/u/.ssh/id_rsa: it is hidden"},
		{1, "mkdir: cannot create directory ‘.claude’: File exists", ""},
		{1, "touch: cannot touch '.mcp.json': Read-only file system", "writing .mcp.json: it is protected"},
		{0, "./build: 1: cannot create .git/hooks/pre-commit: Read-only file system\ndone", "writing .git/hooks/pre-commit: it is protected"},
		{2, "/usr/bin/sh: 1: cannot create .git/config: Read-only file system", "creating .git/config: it is protected"},
		{1, "/usr/bin/touch: cannot touch '/etc/x': Read-only file system", "writing /etc/x: it is outside"},
		{1, "/etc/x: Read-only file system", "writing /etc/x: it is outside"},
		{1, "bash: line 1: /tmp/x: Read-only file system", "writing /tmp/x: commands have a folder of their own for temporary files, $TMPDIR"},
		{1, "rm: cannot remove '/usr/share/doc/x': Read-only file system", "removing /usr/share/doc/x: it is outside"},
		{2, "/opt/mytool: 2: cannot create /opt/out.txt: Read-only file system", "creating /opt/out.txt: it is outside"},
		{1, "cp: cannot create regular file '/nowhere/out': Read-only file system", "creating /nowhere/out: sandbox.filesystem.allow_write names it, and it is not there"},
		{1, "mkdir: cannot create directory ‘/opt/y’: Read-only file system", "creating /opt/y: it is outside"},
		{1, "chmod: changing permissions of '/etc': Read-only file system", "changing the mode, owner or times of /etc: it is outside"},
		{1, "  File \"/usr/lib/python3.11/socket.py\", line 232, in __init__\n    _socket.socket.__init__(self, family, type, proto, fileno)\nPermissionError: [Errno 1] Operation not permitted", "using a unix socket"},
		{0, "error: could not write config file .git/config: Device or resource busy", "writing .git/config: git's settings"},
		{1, "error: could not lock config file sub/.git/config: Read-only file system", "writing sub/.git/config: git's settings"},
		{1, "mv: cannot move 'src' to 'lib': Device or resource busy", "moving or removing a folder that holds something protected"},
		{1, "OSError: [Errno 18] Invalid cross-device link: 'a' -> 'src/a'", "renaming into or out of a folder"},
		{1, "mv: cannot move '.git' to 'g': Device or resource busy", "writing .git: it is protected"},
		{128, "fatal: Unable to create '/srv/sep.git/index.lock': Read-only file system", "writing /srv/sep.git/index.lock: it is outside"},
		{0, "fatal: Unable to create '/srv/sep.git/index.lock': Read-only file system\nrc=128", "writing /srv/sep.git/index.lock: it is outside"},
		{128, "fatal: Unable to create '/w/project/linked/.git/index.lock': Read-only file system", "writing /w/project/linked/.git/index.lock: this .git leads to a folder"},
		{0, "fatal: Unable to create '/w/project/.git/index.lock': File exists", ""},
		{128, "error: open(\"/home/u/.ssh/config\"): Permission denied\nfatal: cannot hash .ssh/config", "reading /home/u/.ssh/config: it is hidden, as it may hold secrets; git reads each changed file that it tracks: leave it out with -- . ':!.ssh/config'"},
		{4, "error: could not lock config file .git/config: Device or resource busy", "writing .git/config: git's settings"},
		{1, "touch: cannot touch '.git/hooks/pre-commit': Read-only file system", "writing .git/hooks/pre-commit: it is protected"},
		{6, "curl: (6) Could not resolve host: example.org", "the network: only programs"},
		{56, "curl: (56) CONNECT tunnel failed, response 403", "the network: the proxy"},
		{22, "adze's sandbox: evil.example is refused: no rule allows it", "the network: evil.example is refused"},
		{1, "ping: connect: Network is unreachable", "the network: only programs"},
		{1, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock: dial unix: socket: operation not permitted", "using a unix socket"},
		{1, "bash: line 1: ../../x: Read-only file system", "writing ../../x: it is outside"},
		{1, "[Errno 97] Address family not supported by protocol", "using a unix socket"},
		{1, "Error: listen EAFNOSUPPORT: address family not supported /tmp/x\n    at Server.setupListenHandle", "using a unix socket"},
		{1, "error: remote unpack failed: unable to create temporary object directory\nTo ../remote.git\n ! [remote rejected] main -> main (unpacker error)", "writing ../remote.git: it is outside"},
		{1, "remote: error: insufficient permission for adding an object to repository database ./objects\nTo file:///srv/r.git\n ! [remote rejected]", "writing /srv/r.git: it is outside"},
		{1, "error: remote unpack failed: unable to create temporary object directory\nTo copy.git\n", ""},
		{1, "error: remote unpack failed: unable to create temporary object directory\nTo ./copy.git\n", ""},
		{128, "ssh: connect to host git.example.com port 22: Network is unreachable", "the network: only programs that use HTTP_PROXY or ALL_PROXY reach it, through the proxy of the sandbox, so not git.example.com"},
		{128, "fatal: unable to access 'https://example.org/x/': Could not resolve host: example.org", "the network: only programs that use HTTP_PROXY or ALL_PROXY reach it, through the proxy of the sandbox, so not example.org"},
		{1, "mv: cannot move 'deps' to 'x': Device or resource busy", "moving or removing a folder that holds something protected, such as /w/project/deps/.vscode"},
		{1, "--- FAIL: TestX\nexpected 1, got 2", ""},
		{1, "cat: /w/project/unreadable: Permission denied", ""},
		{2, "ls: cannot access 'x': No such file or directory", ""},
		{1, "mkdir: cannot create directory 'build': File exists", ""},
	} {
		got, ok := denial("", c.exit, c.output, p)
		if ok != (c.want != "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%d %q: got %q %v, want %q", c.exit, c.output, got, ok, c.want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(1, "touch: cannot touch '/etc/x': Read-only file system")
	f.Add(1, "‘~/x’ EROFS ./../.. ''")
	p := Policy{Writable: []string{"/w"}, Hidden: []string{"/h"}, Git: []string{"/w/.git"}}
	f.Fuzz(func(t *testing.T, exit int, output string) {
		if got, ok := denial("curl "+output, exit, output, p); ok != (got != "") || ok && exit == 0 {
			t.Errorf("%q %v", got, ok)
		}
	})
}

// TestExplainListed: a socket that is not among the listed ones does not listen.
func TestExplainListed(t *testing.T) {
	said := "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
	for _, c := range []struct {
		listed []string
		want   bool
	}{{nil, false}, {[]string{"/run/x"}, true}} {
		got, ok := denial("docker ps", 1, said, Policy{Network: Network{Unix: c.listed}})
		if ok != c.want || ok && !strings.Contains(got, "allow_unix_sockets") {
			t.Errorf("%v: %q %v", c.listed, got, ok)
		}
	}
}

// TestExplainNearby: what curl says of a unix socket is what it says of a host; the
// command line tells them apart. Localhost is not the network.
func TestExplainNearby(t *testing.T) {
	const said = "curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server"
	for _, c := range []struct {
		command, said string
		all           bool
		want          string // the start
	}{
		{"curl -sS --unix-socket /run/x.sock http://localhost/", said, false, "using a unix socket"},
		{"curl --abstract-unix-socket=x http://h/", said, false, "using a unix socket"},
		{"nc -U /run/x.sock", "nc: failed to connect to", false, "using a unix socket"},
		{"DOCKER_HOST=unix:///run/x docker ps", "failed to connect to the docker API", false, "using a unix socket"},
		{"curl --unix-socket /run/x.sock http://localhost/", said, true, ""},
		{"curl http://localhost/", said, false, "the network: localhost inside the sandbox is its own, so that what listens outside is not reached there; sandbox.network.local_ports can"},
		{"npm run dev", "Error: listen EADDRINUSE: address already in use 127.0.0.1:3000", false, "listening on port 3000: sandbox.network.local_ports leads it"},
		{"npm run dev", "Error: listen EADDRINUSE: address already in use :::13000", false, ""},
		{"python3 t.py", "ConnectionRefusedError: [Errno 111] Connection refused", false, "the network: a connection was refused; localhost inside"},
		{"node t.js", "ECONNREFUSED", false, "the network: a connection was refused; localhost inside"},
		{"curl http://[::1]:80/", "curl: (7) Failed to connect to ::1 port 80", false, "the network: localhost inside"},
		{"curl http://example.com/", "curl: (6) Could not resolve host: example.com", false, "the network: nothing can leave"},
		{"curl http://localhost.example.com/", "curl: (7) Failed to connect to localhost.example.com port 80", false, "the network: nothing can leave the sandbox, so not localhost.example.com"},
	} {
		got, ok := denial(c.command, 7, c.said, Policy{Network: Network{AllUnix: c.all, Ports: []int{3000}}})
		if ok != (c.want != "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q %v, want %q", c.command, got, ok, c.want)
		}
	}
}
