//go:build linux

package hostiletest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted are keys that adze is started with. No file that it writes and
// nothing that it prints may hold one, in any form.
var planted = map[string]string{
	"ANTHROPIC_API_KEY": "planted-anthropic-Qx7Zt0Lw93mK", "OPENAI_API_KEY": "planted-openai-Vb2Nn8Rj41cY",
	"MY_SERVICE_TOKEN": "planted-token+/=Hs6Dd5Ff", "DB_PASSWORD": "planted pass \"word\" 88",
}

// forms are what a key looks like in the output of ordinary programs.
func forms(v string) []string {
	j, _ := json.Marshal(v) // a string always encodes
	back := []byte(v)
	slices.Reverse(back)
	h := hex.EncodeToString([]byte(v))
	b := base64.StdEncoding.EncodeToString([]byte(v))
	jj, _ := json.Marshal(string(j[1 : len(j)-1]))
	return []string{v, string(j[1 : len(j)-1]), string(jj[1 : len(jj)-1]), string(back), h, strings.ToUpper(h), b, b[:len(b)-4], base64.URLEncoding.EncodeToString([]byte(v))}
}

func TestNoKeyIsWrittenAnywhere(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	var lines []string
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MY_SERVICE_TOKEN", "DB_PASSWORD"} {
		lines = append(lines, name+"="+planted[name])
	}
	text := strings.Join(lines, "\n") + "\n" + "other=sk" + "-ant-api03-" + strings.Repeat("Ab3", 20) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, c := range []string{
		"env", "cat keys.txt", "base64 keys.txt", "base64 -w0 keys.txt", "xxd -p keys.txt || od -An -tx1 keys.txt", "rev keys.txt",
		"while IFS= read -r -n 3 x; do printf %s \"$x\"; sleep 0.001; done < keys.txt", "cat keys.txt >&2; exit 3",
		"for i in $(seq 2000); do cat keys.txt; done", "cat /proc/$PPID/environ | tr '\\\\0' '\\\\n'",
	} {
		script.WriteString(`@ Bash {"command":` + string(must(json.Marshal(c))) + `,"description":"look"}` + "\n---\n")
	}
	script.WriteString(`@ Read {"file_path":` + string(must(json.Marshal(filepath.Join(dir, "keys.txt")))) + "}\n---\n")
	script.WriteString(`@ Grep {"pattern":"planted","output_mode":"content","path":` + string(must(json.Marshal(dir))) + "}\n---\n> finished\n")
	path := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json", "stream-json"} {
		cmd := exec.Command(adze, "-p", "hello", "--model", "script/"+path, "--output-format", format, "--debug", "--log-file", filepath.Join(home, "debug.log"),
			"--settings", `{"permissions":{"allow":["Bash","Read","Grep"]}}`, "--permission-mode", "default")
		cmd.Dir = dir
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + now.home, "ADZE_HOME=" + home, "LANG=C.UTF-8"}
		for k, v := range planted {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "finished") {
			t.Fatalf("%s: %v\n%.2000s\n%.2000s", format, err, out.String(), errs.String())
		}
		leaks(t, format+" stdout", out.Bytes())
		leaks(t, format+" stderr", errs.Bytes())
	}
	files, masked := 0, false
	err := filepath.WalkDir(home, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		files++
		masked = masked || bytes.Contains(text, []byte("[masked]"))
		rel, _ := filepath.Rel(home, p)
		leaks(t, rel, text)
		return err
	})
	if err != nil || files < 3 || !masked {
		t.Errorf("%d files, masked %v, %v", files, masked, err)
	}
}

func leaks(t *testing.T, where string, text []byte) {
	t.Helper()
	for name, v := range planted {
		for i, f := range forms(v) {
			if at := bytes.Index(text, []byte(f)); at >= 0 {
				t.Errorf("%s holds %s (form %d) at byte %d: …%q…", where, name, i, at, text[max(0, at-60):min(len(text), at+60)])
				break
			}
		}
	}
	if bytes.Contains(text, []byte("Ab3Ab3Ab3Ab3")) {
		t.Errorf("%s holds a key that is known by its shape", where)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // of a constant
	}
	return v
}
