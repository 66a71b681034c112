package confedit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rewriteForever is what the test binary does when it is started for
// TestFault17: it sets a key to 1, 2, 3, … and says which values are safe. The
// value is long, so that a file that was not replaced as a whole would show.
func rewriteForever(file string) {
	for n := 1; ; n++ {
		fmt.Println("writing", n)
		e := Edit{Op: Set, Key: "env.N", Value: json.RawMessage(fmt.Sprintf("%q", strings.Repeat(fmt.Sprintf("%06d", n%1_000_000), 20_000)))}
		if err := (Editor{}).Update(context.Background(), Target{Path: file}, e); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("safe", n)
	}
}

// Fault 17: killed at any point of a rewrite, the file is whole: it has the
// value that was last reported safe, or the one that was being written. The
// next update is not held up by what the dead process left.
func TestFault17_KilledDuringARewrite(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	write(t, file, "{\n  // mine\n  \"model\": \"a\"\n}\n")
	r := rand.New(rand.NewPCG(17, 17))
	between := 0 // kills that met a rewrite under way
	for round := range 15 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "ADZE_TEST_REWRITE_FILE="+file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writing, safe := 0, 0
		lines := bufio.NewScanner(out)
		for stopAt, n := r.IntN(8), 0; lines.Scan(); n++ {
			switch what, rest, _ := strings.Cut(lines.Text(), " "); what {
			case "writing":
				fmt.Sscan(rest, &writing)
			case "safe":
				fmt.Sscan(rest, &safe)
			default:
				t.Fatal(lines.Text())
			}
			if n == stopAt {
				time.AfterFunc(time.Duration(r.IntN(4000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // killed, as it should be
		if writing > safe {
			between++
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(text)
		if err != nil || !bytes.Contains(text, []byte("// mine")) || got["model"] != "a" {
			t.Fatalf("round %d: %v\n%.200s", round, err, text)
		}
		env, _ := got["env"].(map[string]any)
		value, _ := env["N"].(string)
		is := func(n int) bool { return value == strings.Repeat(fmt.Sprintf("%06d", n), 20_000) }
		if safe > 0 && !is(safe) && !is(writing) {
			t.Fatalf("round %d: the value is %.12q…, want %06d or %06d", round, value, safe, writing)
		}
	}
	if between == 0 {
		t.Error("no kill met a rewrite under way")
	}
	// What the dead left beside the file goes away in time, and nothing else.
	old := time.Now().Add(-time.Hour)
	mine := []string{".settings.json.x.tmp.mine", ".other.json.x.tmp"}
	dead := []string{".adze-ABCDEFGHIJ27.tmp"}
	for _, n := range append(mine, dead...) {
		write(t, filepath.Join(dir, n), "")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".adze-ABCDEFGHIJ22.tmp"), "young")
	if err := (Editor{}).Update(t.Context(), Target{Path: file}, setModel); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, ".adze-ABCDEFGHIJ22.tmp", ".other.json.x.tmp", ".settings.json.x.tmp.mine", "settings.json")
}
