package settings

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/servers"
)

// What a person configured for all folders runs nothing of a folder that nobody
// trusts: it starts elsewhere, or not at all.
func TestServersForAllFoldersRunNothingOfThisOne(t *testing.T) {
	const fine, apart = "", "apart"
	for _, c := range []struct{ command, want string }{
		{`"command":"my-server"`, fine},
		{`"command":"my-server","args":["."]`, fine}, // data, and no package or program
		{`"command":"node","args":["~/servers/x.js"]`, fine},
		{`"command":"sh","args":["-c","exec my-server"]`, fine},
		{`"command":"mcp-remote","args":["https://x.example/sse"]`, fine},
		{`"command":"my-db","args":["postgresql://localhost/db"]`, fine},
		{`"command":"docker","args":["run","-i","--rm","-e","TOKEN","ghcr.io/x/server"]`, fine},
		{`"command":"python3","args":["/opt/x.py","0","5","--port","8080"]`, fine},
		{`"command":"python3","args":["-u","/opt/x.py","src"]`, fine},
		{`"command":"sh","args":["-c","exec python3 /opt/x.py 0 5"]`, fine},
		{`"command":"npx","args":["-y","@scope/x-server","postgresql://localhost/db"]`, apart},
		{`"command":"npx","args":["-y","x-server"]`, apart},
		{`"command":"/usr/bin/npx","args":["-y","x-server"]`, apart},
		{`"command":"env","args":["A=1","npx","-y","x-server"]`, apart},
		{`"command":"sh","args":["-c","exec npx -y x-server"]`, apart},
		{`"command":"npx","args":["-y","x-server","${PWD}"]`, apart},
		{`"command":"npx","args":["-y","x-server","/data"]`, apart},
		{`"command":"cmd","args":["/c","npx","-y","x-server"]`, apart},
		{`"command":"C:\\Windows\\System32\\CMD.EXE","args":["/d","/s","/c","npx.cmd","-y","x-server"]`, apart},
		{`"command":"cmd","args":["/c","my-server"]`, fine},
		{`"command":"cmd","args":["/c","node","server.js"]`, "would take server.js"},
		{`"command":"npm","args":["exec","--","x-server"]`, apart},
		{`"command":"pnpm","args":["dlx","x-server"]`, apart},
		{`"command":"bunx","args":["x-server"]`, apart},
		{`"command":"uvx","args":["x-server"]`, apart},
		{`"command":"uv","args":["run","--directory","/opt/x","x-server"]`, apart},
		{`"command":"python3","args":["-m","x_server"]`, apart},
		{`"command":"python3.12","args":["-c","import x_server"]`, apart},
		{`"command":"node","args":["-e","require('x-server')"]`, apart},
		{`"command":"go","args":["run","example.com/x@latest"]`, apart},
		{`"command":"make","args":["serve"]`, apart},
		{`"type":"http","url":"https://x.example","headersHelper":"npx -y x-token"`, apart},
		{`"type":"http","url":"https://x.example","headersHelper":"sh ./token.sh"`, "would take token.sh"},
		{`"command":"npx","args":["-y","x-server","."]`, "would take ."},
		{`"command":"npx","args":["-y","x-server","--root=../up"]`, "would take ../up"},
		{`"command":"npx","args":["-y","x-server","src"]`, "would take src"},
		{`"command":"npx","args":["./tool"]`, "would take ./tool"},
		{`"command":"node","args":["server.js"]`, "would take server.js"},
		{`"command":"node","args":["later.js"]`, "would take later.js"}, // not there yet
		{`"command":"node","args":["${PWD}/server.js"]`, "would take server.js"},
		{`"command":"node","args":["--require","./hook.js","/opt/x.js"]`, "would take hook.js"},
		{`"command":"./server"`, "would take server"},
		{`"command":"sh","args":["-c","cd src && ./run"]`, "would take src/run"},
		{`"command":"go","args":["run","./cmd/x"]`, "would take ./cmd/x"},
	} {
		e := run(t, map[string]string{
			"~/.adze/settings.json": `{"mcpServers":{"x":{` + c.command + `}}}`,
			"server.js":             "", "src/run": "", "package.json": "{}",
		})
		env := e.Env
		e.Env = func(name string) string {
			if name == "PWD" {
				return e.Dir
			}
			return env(name)
		}
		l := open(t, e, Sources{})
		x, ok := l.Servers(Servers{}).Get("x")
		x0, got := x, x.Problem
		if x.Apart && got == "" {
			got = apart
		}
		if !ok || (c.want == fine || c.want == apart) && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, apart %v; want %q", c.command, x.Problem, x.Apart, c.want)
		}
		// For this folder alone, the person may say what they want.
		l = open(t, e, Sources{})
		set := l.Servers(Servers{Given: []servers.Given{{Name: "x", JSON: []byte("{" + c.command + "}")}}, Strict: true})
		if x, _ := set.Get("x"); x.Apart || x.Problem != "" {
			t.Errorf("%s, given: %q, apart %v", c.command, x.Problem, x.Apart)
		}
		// A definition of an agent that they have everywhere says it everywhere.
		set = l.Servers(Servers{Given: []servers.Given{{Name: "x", JSON: []byte("{" + c.command + "}"), Origin: config.Origin{Scope: config.User}}}})
		if agents, _ := set.Get("x"); agents.Apart != x0.Apart || agents.Problem != x0.Problem {
			t.Errorf("%s, of an agent: %q, apart %v", c.command, agents.Problem, agents.Apart)
		}
	}
}

// In a folder that is trusted they are used as they are written.
func TestServersForAllFoldersWhereTrusted(t *testing.T) {
	e := run(t, map[string]string{
		"~/.adze/settings.json": `{"mcpServers":{"x":{"command":"npx","args":["-y","x"]},"y":{"command":"node","args":["server.js"]}}}`,
		".adze/settings.json":   `{"permissions":{"allow":["Bash(ls)"]}}`,
	})
	for _, trusted := range []bool{false, true} {
		set := open(t, e, Sources{Trusted: trusted}).Servers(Servers{})
		x, _ := set.Get("x")
		y, _ := set.Get("y")
		if x.Apart == trusted || (y.Problem == "") != trusted {
			t.Errorf("trusted %v: %+v %+v", trusted, x, y)
		}
	}
}
