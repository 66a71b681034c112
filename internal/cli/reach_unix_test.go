//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
)

// A tail is adze tail --json, line by line.
type tail struct {
	*bufio.Scanner
	c *exec.Cmd
}

func (p *place) tail(args ...string) tail {
	p.t.Helper()
	c := p.adze(append([]string{"tail", "--json"}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Process.Kill() })
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<20)
	return tail{in, c}
}

// to reads up to the first line that has all these words.
func (x tail) to(t *testing.T, words ...string) (lines []string) {
	t.Helper()
	for x.Scan() {
		lines = append(lines, x.Text())
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(x.Text(), w) }) {
			return lines
		}
	}
	t.Fatalf("nothing has %q: %v\n%s", words, x.Err(), strings.Join(lines, "\n"))
	return nil
}

// rest reads to the end, and waits for the process.
func (x tail) rest(t *testing.T) (lines []string) {
	t.Helper()
	for x.Scan() {
		lines = append(lines, x.Text())
	}
	if err := x.c.Wait(); err != nil {
		t.Errorf("tail ended with %v", err)
	}
	return lines
}

// A session that a program drives is followed by two others, takes a prompt from a third, and
// goes on when one leaves. All see one order, which is that of the log, and hear of its end.
func TestTailAndSend(t *testing.T) {
	p := newPlace(t)
	h := p.host("> one\n---\n> two\n---\n> three\n")
	h.prompt("first")
	h.next("result/success")
	one, two := p.tail("--all"), p.tail("--all", "--detail", "everything")
	one.to(t, `"turn_ended"`)
	two.to(t, `"turn_ended"`)
	run := func(args ...string) string {
		t.Helper()
		c := p.adze(args...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("adze %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("send", "second")
	one.to(t, `"turn_ended"`)
	var list []struct {
		ID, State, Title string
		Last             int
	}
	if out := run("ps", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].Title != "first" || list[0].State != "idle" {
		t.Fatal(out)
	}
	if err := two.c.Process.Signal(os.Interrupt); err != nil { // leaving ends nothing
		t.Fatal(err)
	}
	for two.Scan() {
	}
	if _ = two.c.Wait(); two.c.ProcessState.ExitCode() != 130 {
		t.Errorf("an interrupted tail: %v", two.c.ProcessState)
	}
	three := p.tail("--all", list[0].ID[:8])
	all := three.to(t, `"turn_ended"`)
	h.prompt("third")
	h.next("result/success") // of what was sent
	h.next("result/success")
	if err := h.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(); err != nil {
		t.Error(err)
	}
	all = append(all, three.rest(t)...)
	last := one.rest(t)
	if len(last) == 0 || !slices.Equal(all[len(all)-len(last):], last) {
		t.Errorf("the two saw\n%s\nand\n%s", strings.Join(all, "\n"), strings.Join(last, "\n"))
	}
	log := strings.Split(strings.TrimSpace(run("export", "--format", "jsonl", list[0].ID)), "\n")
	if len(log) != len(all) {
		t.Errorf("the log has %d events, and %d were followed", len(log), len(all))
	}
}

// A second terminal shows what happens in the first one and may answer there; the first
// answer counts, leaving it ends nothing, and what is left says how it goes on.
func TestUIAttaches(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, `
> I look first.
---
@ Bash {"command": "touch made", "description": "Make a file"}
---
> It is there.
---
> The last word.
`, "--disallowed-tools", "Bash(rm:*)")
	x.until(`What shall be done here`)
	x.keys("look", enter)
	x.until(`● I look first\.`)
	x.gone(`interrupts`)
	attach := func() *terminal { return p.inTerminal(p.adze("attach"), 90, 24) }
	y := attach()
	y.until(`› look`)
	y.until(`● I look first\.`)
	x.keys("make it", enter)
	x.dialog(`Run this command\?`)
	z := attach() // while a question is open
	z.dialog(`Run this command\?`)
	y.dialog(`Run this command\?`)
	y.keys(enter)
	for _, s := range []*terminal{x, y, z} {
		s.gone(`Run this command\?`)
		s.until(`● It is there\.`)
		s.gone(`interrupts`)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err != nil {
		t.Error(err)
	}
	z.keys("/status", enter)
	z.until(`model +script/`)
	z.keys("/permissions check rm x", enter)
	z.until(`deny +rm x`) // as this run has it
	z.keys("/clear", enter)
	z.until(`session of another process`)
	y.keys("/exit", enter)
	if code := y.ended(); code != 0 || !strings.Contains(y.all(), "adze: the session goes on; adze attach ") {
		t.Errorf("exit %d:\n%s", code, y.all())
	}
	z.keys("and then?", enter) // also what is typed there
	x.until(`› and then\?`)
	x.until(`● The last word\.`)
	x.gone(`interrupts`)
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	z.until(`cannot be reached any more`)
	z.until(`adze attach [0-9a-f-]+ shows it again`)
	z.until(`adze --resume`)
	z.keys(ctrlC, ctrlC)
	if code := z.ended(); code != 0 || !strings.Contains(z.all(), "cannot be reached; where") {
		t.Errorf("exit %d:\n%s", code, z.all())
	}
}

// What was typed at a session of another process is in the box again where that session is
// shown again: by attaching, and by going on with it when its process was killed.
func TestDraftsOfAnAttachedTerminal(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One.\n", "first")
	x.until(`● One\.`)
	leave := func(y *terminal) {
		y.keys("\x04")
		y.until(`again to quit`)
		y.keys("\x04")
		y.ended()
	}
	y := p.inTerminal(p.adze("attach"), 80, 24)
	y.until(`● One\.`)
	y.keys("half a thought")
	y.until(`│ › half a thought`)
	leave(y)
	y = p.inTerminal(p.adze("attach"), 80, 24)
	y.until(`│ › half a thought`)
	y.keys(" more")
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-x.done
	y.until(`cannot be reached any more`)
	leave(y)
	x = p.ui(80, 24, "> Two.\n", "--continue")
	x.until(`│ › half a thought more`)
}

// Whether the folder is trusted is asked in each terminal; what one says counts.
func TestAttachAsksForTrust(t *testing.T) {
	p := newPlace(t)
	if err := os.Mkdir(filepath.Join(p.dir, ".adze"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.put(".adze/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch stopped"}]}]}}`)
	x := p.ui(80, 24, "> One.\n")
	x.dialog(`Trust .*\?`)
	x.keys("\x1b") // later
	x.gone(`Trust .*\?`)
	y := p.inTerminal(p.adze("attach"), 80, 24)
	y.dialog(`Trust .*\?`)
	y.keys("\x1b[B", enter)
	y.until(`The folder is trusted now`)
	x.keys("first", enter)
	x.until(`● One\.`)
	x.gone(`interrupts`)
	if _, err := os.Stat(filepath.Join(p.dir, "stopped")); err != nil {
		t.Errorf("the folder's hook did not run: %v", err)
	}
}

// The client that docs/clients.md shows does what the page says.
func TestExampleOfAClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the example is in Python")
	}
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "```python\n")
	text, _, whole := strings.Cut(text, "```")
	if !ok || !whole {
		t.Fatal("the page has no example")
	}
	p := newPlace(t)
	h := p.host("> one\n---\n@ Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n---\n> done\n")
	h.prompt("first")
	h.next("result/success")
	c := exec.Command(python, "-u", p.put("client.py", text))
	c.Env, c.Stderr = []string{"HOME=" + p.home}, os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	x := tail{bufio.NewScanner(out), c}
	x.to(t, "following first")
	h.prompt("write it") // the host is asked as well, and says nothing
	x.to(t, "Write was refused")
	x.to(t, "the turn is over: done")
	h.next("result/success")
	if err := h.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(); err != nil {
		t.Error(err)
	}
	x.rest(t)
	if _, err := os.Stat(filepath.Join(p.dir, "a.txt")); err == nil {
		t.Error("it was written")
	}
	_, es := p.history()
	by := ""
	for _, e := range es {
		if a, is := e.Body.(event.Answered); is {
			by += a.By.String()
		}
	}
	if by != "example-1" {
		t.Errorf("answered by %q", by)
	}
}

// Two terminals and a tail are at one session: they see one order, the first answer to a
// question counts, wherever it is given, and when one leaves, the session and the others
// go on.
func TestAttach(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, `
> One.
---
@ Bash {"command": "touch made", "description": "Make a file"}
---
> It is there.
---
@ Bash {"command": "touch other", "description": "Make another file"}
---
> So is that.
---
> Still here.
`)
	x.until(`What shall be done here`)
	x.keys("first", enter)
	x.until(`● One\.`)
	follow := p.tail("--all")
	follow.to(t, `"turn_ended"`)
	y := p.inTerminal(p.adze("attach"), 80, 24)
	y.until(`● One\.`) // what was said before
	y.keys("make it", enter)
	for _, z := range []*terminal{x, y} {
		z.dialog(`Run this command\?`)
	}
	y.keys(enter) // from the second, and the first sees it
	for _, z := range []*terminal{x, y} {
		z.until(`● It is there\.`)
		z.gone(`Run this command`)
	}
	follow.to(t, `"answered"`, `"by":"attach-`)
	follow.to(t, `"turn_ended"`)
	x.keys("and another", enter)
	for _, z := range []*terminal{x, y} {
		z.dialog(`Run this command\?`)
	}
	x.keys(enter)
	y.until(`● So is that\.`)
	follow.to(t, `"answered"`, `"by":"terminal"`)
	follow.to(t, `"turn_ended"`)
	y.gone(`interrupts`)
	y.keys(ctrlC, ctrlC) // leaving one ends nothing
	if code := y.ended(); code != 0 {
		t.Errorf("exit %d:\n%s", code, y.all())
	}
	y.restored()
	if !strings.Contains(y.all(), "the session goes on; adze attach") {
		t.Errorf("it does not say that the session goes on:\n%s", y.all())
	}
	x.keys("are you there?", enter)
	x.until(`● Still here\.`)
	x.gone(`interrupts`)
	z := p.inTerminal(p.adze("attach"), 80, 24)
	z.until(`● Still here\.`)
	x.keys(ctrlC, ctrlC)
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	z.until(`The session ended`)
	z.keys(ctrlC, ctrlC)
	if code := z.ended(); code != 0 {
		t.Errorf("exit %d:\n%s", code, z.all())
	}
	follow.rest(t)
	for _, name := range []string{"made", "other"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			t.Error(err)
		}
	}
	said := regexp.MustCompile(`(?m)^[›●] (.*)$`)
	want := "first One. make it It is there. and another So is that."
	for _, z := range []*terminal{x, y} {
		var got []string
		for _, m := range said.FindAllStringSubmatch(z.all(), -1) {
			got = append(got, strings.TrimSpace(m[1]))
		}
		if all := strings.Join(got, " "); !strings.HasPrefix(all, want) {
			t.Errorf("a terminal shows %q", all)
		}
	}
}
