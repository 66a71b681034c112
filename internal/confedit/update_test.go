package confedit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// The test binary is also the program that updates, for Fault06 and Fault17.
func TestMain(m *testing.M) {
	if file := os.Getenv("ADZE_TEST_REWRITE_FILE"); file != "" {
		rewriteForever(file)
	}
	if file := os.Getenv("ADZE_TEST_UPDATE_FILE"); file != "" {
		n, _ := strconv.Atoi(os.Getenv("ADZE_TEST_UPDATE_COUNT"))
		for i := range n {
			e := Edit{Op: Set, Key: "env." + os.Getenv("ADZE_TEST_UPDATE_NAME") + strconv.Itoa(i%50), Value: json.RawMessage(strconv.Quote(strconv.Itoa(i)))}
			if err := (Editor{}).Update(context.Background(), Target{Path: file}, e); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Fault 6: eight processes, a thousand updates each: valid JSON, no lost key.
func TestFault06EightProcesses(t *testing.T) {
	count := 1000
	if testing.Short() || raceDetector {
		count = 60
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(file, []byte("{\n  // mine\n  \"unknown\": [1],\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cmds []*exec.Cmd
	for p := range 8 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "ADZE_TEST_UPDATE_FILE="+file, "ADZE_TEST_UPDATE_COUNT="+strconv.Itoa(count), "ADZE_TEST_UPDATE_NAME=P"+strconv.Itoa(p)+"_")
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, c)
	}
	start := time.Now()
	for _, c := range cmds {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d updates in %v", 8*count, time.Since(start))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	env, _ := got["env"].(map[string]any)
	for p := range 8 {
		for i := max(0, count-50); i < count; i++ {
			if k := fmt.Sprintf("P%d_%d", p, i%50); env[k] != strconv.Itoa(i) {
				t.Errorf("%s = %v, want %d", k, env[k], i)
			}
		}
	}
	if !strings.Contains(string(text), "// mine") || got["unknown"] == nil {
		t.Errorf("comment or unknown key lost:\n%.200s", text)
	}
	onlyFile(t, dir, "settings.json")
}

func onlyFile(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("left in the folder: %v, want %v", got, names)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

var setModel = Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}

// Fault 7: an update of a file that was cut to nothing keeps what it held.
func TestFault07UpdateOfEmptyFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c", "settings.json")
	e := Editor{Good: &Good{Dir: filepath.Join(dir, "good")}}
	if err := e.Update(t.Context(), Target{Path: file}, Edit{Op: Set, Key: "permissions", Value: json.RawMessage(`{"deny":["X"]}`)}); err != nil {
		t.Fatal(err)
	}
	write(t, file, "")
	if err := e.Update(t.Context(), Target{Path: file}, setModel); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(file)
	if got, err := read(b); err != nil || got["model"] != "m" || got["permissions"] == nil {
		t.Errorf("%s %v", b, err)
	}
	if err := os.Remove(file); err != nil { // with all that it allowed
		t.Fatal(err)
	}
	if err := e.Update(t.Context(), Target{Path: file}, setModel); err != nil {
		t.Fatal(err)
	}
	b, _ = os.ReadFile(file)
	if got, err := read(b); err != nil || got["model"] != "m" || got["permissions"] != nil {
		t.Errorf("a file that was removed came back: %s %v", b, err)
	}
}

// Fault 8: what a newer version wrote stays.
func TestFault08UnknownFieldsStay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	const text = "{\n  \"from_the_future\": {\"deep\": [1, 2]}, // why\n  \"model\": \"a\"\n}\n"
	write(t, file, text)
	if err := (Editor{}).Update(t.Context(), Target{Path: file}, setModel); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(file)
	if string(b) != strings.Replace(text, `"a"`, `"m"`, 1) {
		t.Errorf("%s", b)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestBrokenFileIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	write(t, file, `{"model": oops`)
	if err := (Editor{}).Update(t.Context(), Target{Path: file}, setModel); err == nil || !strings.Contains(err.Error(), "left as it is") {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != `{"model": oops` {
		t.Errorf("%s", b)
	}
	onlyFile(t, dir, "settings.json")
}

// Faults 11 and 12: whatever step fails is reported, and the file is intact.
func TestFault11_12_FailedStepsLeaveTheFile(t *testing.T) {
	bad := errors.New("input/output error")
	for name, s := range map[string]safe.Disk{
		"create": {Create: func(*os.Root, string, int, fs.FileMode) (safe.Handle, error) { return nil, bad }},
		"rename": {Rename: func(*os.Root, string, string) error { return bad }},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "settings.json")
		write(t, file, `{"model":"old"}`)
		e := Editor{disk: s}
		if err := e.Update(t.Context(), Target{Path: file}, setModel); !errors.Is(err, bad) {
			t.Errorf("%s: %v", name, err)
		}
		if b, _ := os.ReadFile(file); string(b) != `{"model":"old"}` {
			t.Errorf("%s: %s", name, b)
		}
		onlyFile(t, dir, "settings.json")
	}
}

func TestStaleLocks(t *testing.T) {
	host, _ := os.Hostname()
	tests := []struct {
		name  string
		lock  string
		age   time.Duration
		stale bool
	}{
		{"dead process here", fmt.Sprintf(`{"pid":1073741824,"host":%q,"token":"x"}`, host), 0, true},
		{"living process here", fmt.Sprintf(`{"pid":%d,"host":%q,"token":"x"}`, os.Getpid(), host), 20 * time.Second, false},
		{"living process here, stuck", fmt.Sprintf(`{"pid":%d,"host":%q,"token":"x"}`, os.Getpid(), host), time.Minute, true},
		{"another process of this number", fmt.Sprintf(`{"pid":%d,"host":%q,"start":1,"token":"x"}`, os.Getpid(), host), 0, runtime.GOOS == "linux" || runtime.GOOS == "windows"},
		{"other machine", `{"pid":1073741824,"host":"elsewhere.invalid","token":"x"}`, 20 * time.Second, false},
		{"other machine, lease over", `{"pid":1,"host":"elsewhere.invalid","token":"x"}`, time.Minute, true},
		{"clock was set back", `{"pid":1,"host":"elsewhere.invalid","token":"x"}`, -time.Hour, true},
		{"garbage, fresh", "x", 0, false},
		{"garbage, old", "x", time.Minute, true},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		file := filepath.Join(dir, "settings.json")
		write(t, file+".lock", tt.lock)
		at := time.Now().Add(-tt.age)
		if err := os.Chtimes(file+".lock", at, at); err != nil {
			t.Fatal(err)
		}
		wait := 80 * time.Millisecond
		if tt.stale {
			wait = time.Minute // it is not waited for, but the machine may be busy
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		err := (Editor{}).Update(ctx, Target{Path: file}, setModel)
		cancel()
		if tt.stale != (err == nil) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.stale {
			onlyFile(t, dir, "settings.json")
		}
	}
}

// A lock that was taken over does not write.
func TestLostLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	tries := 0
	err := (Editor{}).Rewrite(t.Context(), Target{Path: file}, func([]byte) ([]byte, error) {
		if tries++; tries == 1 {
			write(t, file+".lock", `{"pid":1,"host":"elsewhere.invalid","token":"thief"}`)
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file+".lock", old, old); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Appendf(nil, "{\"try\": %d}", tries), nil
	})
	b, _ := os.ReadFile(file)
	if err != nil || string(b) != `{"try": 2}` {
		t.Errorf("%s %v", b, err)
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	write(t, secret, "{}")
	repo := filepath.Join(dir, "repo")
	if err := os.MkdirAll(filepath.Join(repo, ".adze"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(repo, ".adze", "settings.local.json")
	if err := os.Symlink(secret, link); err != nil {
		t.Skip(err)
	}
	if err := (Editor{}).Update(t.Context(), Target{Path: link, Root: repo}, setModel); err == nil {
		t.Error("wrote through a repository's link")
	}
	other := filepath.Join(dir, "repo2")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(other, ".adze")); err != nil {
		t.Fatal(err)
	}
	if err := (Editor{}).Update(t.Context(), Target{Path: filepath.Join(other, ".adze", "secret"), Root: other}, setModel); err == nil {
		t.Error("wrote through a repository's linked folder")
	}
	if b, _ := os.ReadFile(secret); string(b) != "{}" {
		t.Errorf("%s", b)
	}
	// A person's own link is followed, and stays a link.
	if err := (Editor{}).Update(t.Context(), Target{Path: link}, setModel); err != nil {
		t.Error(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if b, _ := os.ReadFile(secret); !strings.Contains(string(b), `"m"`) {
		t.Errorf("%s", b)
	}
	onlyFile(t, dir, "repo", "repo2", "secret")
}

func TestHideFromGit(t *testing.T) {
	repo := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Skipf("git: %s", out)
	}
	write(t, filepath.Join(repo, ".adze", "settings.local.json"), "{}")
	for range 2 {
		if err := HideFromGit(t.Context(), filepath.Join(repo, ".git"), ".adze/settings.local.json"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("git", "-C", repo, "status", "--short", "-uall").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%s %v", out, err)
	}
	b, _ := os.ReadFile(filepath.Join(repo, ".git", "info", "exclude"))
	if strings.Count(string(b), "settings.local.json") != 1 {
		t.Errorf("%s", b)
	}
}
