package cli_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// No command leaves a person alone with a disk that is full or read-only: what cannot
// be done says so, and how to go on; what only reads works; sessions can be removed to
// make room, and nothing that was there is lost.
func TestEveryCommandWithoutRoom(t *testing.T) {
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted: %v %s", err, out)
	}
	writes := []string{
		"config set max_turns 7", "mcp add other true", `mcp add-json json {"command":"true"}`, "permissions add Bash(ls)",
		"skills new made", "trust --yes", "-p hi --model script/hello.txt --continue",
	}
	// What writes is above, and an exit code 1 of auth status is its answer.
	lines := slices.DeleteFunc(slices.Clone(everyday), func(s string) bool {
		return s == "config set max_turns 7" || s == "auth status --json" || strings.HasPrefix(s, "mcp add") || s == "permissions add Bash(ls)" || s == "skills new made" || s == "plugin new made" || s == "sandbox run -- true"
	})
	for how, fill := range map[string]string{"full": "cat /dev/zero >$HOME/fill 2>/dev/null", "read-only": "mount -o remount,ro $HOME"} {
		t.Run(how, func(t *testing.T) {
			p := newPlace(t)
			p.put("hello.txt", "> hello\n")
			p.put(".mcp.json", `{"mcpServers":{"db":{"command":"true"}}}`)
			script := "mount -t tmpfs -o size=2m none $HOME || exit 9\n" +
				"adze -p 'say hello' --model script/hello.txt >/dev/null 2>&1; adze -p 'say more' --model script/hello.txt --session-id 0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b99 >/dev/null 2>&1; adze config set max_steps 3 2>/dev/null; adze config set max_turns 5\n" + fill + "\n"
			scope := map[bool]string{true: " --scope user", false: ""}
			for _, line := range append(slices.Clone(writes), lines...) {
				words := make([]string, 0, 9)
				for _, w := range strings.Fields(line) {
					words = append(words, "'"+w+"'")
				}
				rest := scope[strings.HasPrefix(line, "mcp add ") || strings.HasPrefix(line, "mcp add-json")]
				script += fmt.Sprintf("adze %s %s >/dev/null 2>err; echo \"== %s == $?\"; cat err\n", strings.Join(words, " "), rest, strings.ReplaceAll(line, `"`, `\"`))
			}
			script += "adze config get max_turns\nadze sessions list\nadze sessions rm 0199c5a2 && rm -f $HOME/fill && adze -p hi --model script/hello.txt\n"
			c := exec.Command("unshare", "-rm", "sh", "-c", script)
			c.Dir, c.Env = p.dir, p.adze().Env
			out, err := c.CombinedOutput()
			text := string(out)
			parts := regexp.MustCompile(`(?m)^== (.*) == (\d+)$`).FindAllStringSubmatchIndex(text, -1)
			if len(parts) != len(writes)+len(lines) {
				t.Fatalf("%d of %d commands ran: %v %s", len(parts), len(writes)+len(lines), err, text)
			}
			for i, m := range parts {
				line, code := text[m[2]:m[3]], text[m[4]:m[5]]
				end := len(text)
				if i+1 < len(parts) {
					end = parts[i+1][0]
				}
				said := text[m[1]:end]
				if n, _ := strconv.Atoi(code); n > 4 {
					t.Errorf("adze %s ends with %s: %s", line, code, said)
				}
				if slices.Contains(writes, line) && code == "0" {
					t.Errorf("adze %s says that it did what it cannot: %s", line, said)
				}
				if code != "0" && i+1 < len(parts) && (!strings.Contains(said, "adze: ") || !strings.Contains(said, "hint: ")) && !strings.HasPrefix(line, "doctor") {
					t.Errorf("adze %s ends with %s and does not say what to do: %s", line, code, said)
				}
				if strings.Contains(said, "no space left") && !strings.Contains(said, "room") || strings.Contains(said, "read-only file system\n") && code != "0" && !strings.Contains(said, "hint: ") {
					t.Errorf("adze %s: %s", line, said)
				}
			}
			last := text[parts[len(parts)-1][1]:]
			if !strings.Contains(last, "\n5\n") || !strings.Contains(last, "say hello") || how == "full" && (!strings.Contains(last, "removed ") || !strings.HasSuffix(strings.TrimSpace(last), "hello")) {
				t.Errorf("afterwards: %s", last)
			}
		})
	}
}
