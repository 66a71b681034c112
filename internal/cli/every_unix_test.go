//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// everyday are lines as people type them: each command that ends by itself, sends
// nothing to a model, and asks nobody. TestEverydayIsAll holds it to the commands
// there are.
var everyday = strings.Split(strings.TrimSpace(`
agents check
agents list
agents new made
auth status --json
completion bash
config check
config get max_turns
config list
config describe sandbox
config path
config schema
config set max_turns 7
config unset max_turns
context
diff
doctor
export
help
help flags
help environment
hooks check
hooks list
hooks test Stop
import
login --list
mcp add other true
mcp add-from-claude-desktop
mcp add-json json {"command":"true"}
mcp approve db
mcp call db/x
mcp get db
mcp info db
mcp list
mcp logout db
mcp read db x:y
mcp remove other
mcp reset-choices
mcp resources db
mcp tools db
models --all
permissions add Bash(ls)
permissions check ls
permissions list
permissions rm Bash(ls)
plugin disable x
plugin enable x
plugin install x
plugin list
plugin marketplace add ./none
plugin marketplace list
plugin marketplace remove x
plugin marketplace update
plugin new made
plugin uninstall x
plugin update x
plugin validate made
prompt
rewind
sandbox explain
sandbox run -- true
ps
ps --json
sessions list
sessions reindex
sessions rm nothing
sessions search hello
sessions show
skills check
skills list
skills new made
stats
trust
version
workflow check batch
schedule list
schedule delete dnone
schedule allow dnone
schedule add 2h hello
workflow list
worktree clean
worktree list
worktree merge none
--version
`), "\n")

// What sends nothing needs no key, whatever the model is; and whose output cannot
// be written has failed, and says so in one line and a hint.
func TestEveryCommand(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	p := newPlace(t)
	p.put("hello.txt", "> hello\n")
	p.put(".mcp.json", `{"mcpServers":{"db":{"command":"true"}}}`)
	if b, err := p.adze("-p", "say hello", "--model", "script/hello.txt").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, b)
	}
	slots := make(chan struct{}, 3)
	var all sync.WaitGroup
	defer all.Wait()
	for _, line := range everyday {
		wait := func() {}
		if changes(line) { // what others see must not change between their two runs
			all.Wait()
			wait = all.Wait
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			args := strings.Fields(line)
			if i := strings.Index(line, " -- "); i >= 0 {
				args = append(append(strings.Fields(line[:i]), "--model", "anthropic/claude-sonnet-4-6"), strings.Fields(line[i:])...)
			} else if line != "--version" {
				args = append(args, "--model", "anthropic/claude-sonnet-4-6")
			}
			var out, errs bytes.Buffer
			c := p.adze(args...)
			c.Stdout, c.Stderr = &out, &errs
			code := codeOf(c.Run())
			if code == 4 || strings.Contains(errs.String(), "no key is set") {
				t.Errorf("adze %s wants a key: exit code %d, %s", line, code, errs.String())
			}
			if code != 0 || out.Len() == 0 {
				return
			}
			errs.Reset()
			c = p.adze(args...)
			c.Stdout, c.Stderr = full, &errs
			code, text := codeOf(c.Run()), errs.String()
			done := strings.Contains(text, "made already") // by the first run
			if !done && (code != 1 || !strings.Contains(text, "adze: the output cannot be written: no space left on device\nhint: ")) {
				t.Errorf("adze %s into a full disk: exit code %d, %q", line, code, text)
			}
		})
		wait()
	}
}

// changes reports whether a command may write what another one reads.
func changes(line string) bool {
	words := strings.Fields(line + " -")
	return slices.Contains([]string{"trust", "import", "plugin"}, words[0]) ||
		slices.Contains([]string{"set", "unset", "add", "add-from-claude-desktop", "add-json", "approve", "remove", "reset-choices", "logout", "rm", "reindex", "new"}, words[1])
}

// Lists fit the terminal, whatever they are of, and are whole in a pipe.
func TestListsFitTheTerminal(t *testing.T) {
	p := newPlace(t)
	long := strings.Repeat("a-long-name-", 25)
	p.put("hello.txt", "> hello\n")
	p.settings(p.home+"/.adze/settings.json", `{"cost":{"warn_usd":3},"permissions":{"allow":["Bash(`+long+`:*)"]}}`)
	if b, err := p.adze("-p", "say "+long, "--model", "script/hello.txt").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, b)
	}
	for _, line := range []string{"config list", "config path", "sessions list", "rewind", "skills list", "agents list", "models --all --sources", "prompt --sizes"} {
		b, err := p.adze(strings.Fields(line)...).Output()
		if err != nil {
			t.Errorf("adze %s: %v", line, err)
		}
		if line == "config list" && !bytes.Contains(b, []byte(long+":*")) {
			t.Errorf("adze %s is cut in a pipe: %s", line, b)
		}
		x := p.inTerminal(p.adze(strings.Fields(line)...), 100, 50)
		<-x.done
		for _, row := range strings.Split(string(x.bytes), "\r\n") {
			if n := len([]rune(strings.TrimRight(row, " "))); n > 100 && !strings.Contains(row, "\x1b") {
				t.Errorf("adze %s: a line of %d at a terminal of 100: %q", line, n, row)
			}
		}
	}
}
