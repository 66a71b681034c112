//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A person goes back to before a prompt with Esc Esc, sees what changes, has
// the prompt again to write it anew, and takes it back again.
func TestUIRewind(t *testing.T) {
	p := newPlace(t)
	p.put("calc.txt", "one\n")
	p.put("a.txt", "keep\n")
	x := p.ui(100, 40, `
> Said.
---
@ Bash {"command": "echo two > calc.txt; rm a.txt; touch $'a\\e[2Jx'", "description": "Change things"}
---
> Done.
---
> The second way.
`, "--dangerously-skip-permissions")
	content := func(want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(p.dir, "calc.txt"))
		_, err2 := os.Stat(filepath.Join(p.dir, "a\x1b[2Jx"))
		if string(got) != want || err != nil || (err2 == nil) != (want == "two\n") {
			t.Errorf("calc.txt has %q, %v; the new file: %v", got, err, err2)
		}
	}
	x.until(`What shall be done here`)
	x.keys("first prompt", enter)
	x.until(`● Said\.`)
	x.keys("second prompt", enter)
	x.until(`✓ Bash`)
	x.gone(`interrupts`)
	content("two\n")
	x.keys(esc)
	time.Sleep(150 * time.Millisecond) // a person's pace: two keys, not one with Alt
	x.keys(esc)
	x.until(`❯ second prompt +3 files changed`)
	x.keys(enter)
	s := x.until(`❯ \d Conversation and code`)
	for _, want := range []string{"3 files would change on disk", `removed a\x1b[2Jx`, "changed calc.txt", "created a.txt"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
	x.keys(enter)
	x.until(`Went back in the conversation and files`)
	x.until(`│ › second prompt`)
	content("one\n")
	x.keys(" again", enter)
	x.until(`● The second way\.`)
	x.keys("\x0f", "g") // the transcript
	x.until(`› second prompt +taken back`)
	x.keys("q", "/rewind undo", enter)
	x.until(`❯ \d Yes, take it back`)
	x.keys(enter)
	x.until(`Took the last rewind back`)
	content("two\n")
	x.keys("/exit", enter)
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	x.restored()
}
