package toolkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/transcript"
)

// What a task of an earlier process wrote is read from the session's folder alone, whatever
// its log says.
func TestPastOutput(t *testing.T) {
	dir := t.TempDir()
	scratch := filepath.Join(dir, "s")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"s/b1.output": "one\ntwo\n", "secret": "key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(scratch, "link")); err != nil {
		t.Fatal(err)
	}
	p := past{scratch: scratch}
	for path, want := range map[string]string{scratch + "/b1.output": "two\n", dir + "/secret": "", scratch + "/../secret": "", scratch + "/link": "", "": "", scratch: ""} {
		if b, _ := p.output(path, 4); string(b) != want {
			t.Errorf("%s: %q", path, b)
		}
	}
	if _, total := p.output(scratch+"/b1.output", 4); total != 8 {
		t.Errorf("%d bytes", total)
	}
}

func TestHowTasksEnded(t *testing.T) {
	for want, end := range map[string]event.TaskEnded{
		"ended with exit code 3 after 1s": {Exit: 3, Took: 1e9}, "was ended: adze ended": {Killed: "adze ended"}, "ended: lost": {Status: event.TaskLost, Killed: "adze ended"},
	} {
		if got := how(transcript.Past{End: end}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
