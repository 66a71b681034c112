package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const plantedKey = "planted-key-0123456789"

// person is somebody without a terminal, with a home of their own.
type person struct {
	t         *testing.T
	home, dir string
	env       []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, home: t.TempDir(), dir: t.TempDir()}
	p.env = []string{"HOME=" + p.home, "ADZE_HOME=" + filepath.Join(p.home, "state")}
	return p
}

// run is one command line; in is its stdin.
func (p *person) run(in string, args ...string) (code int, out, errs string) {
	p.t.Helper()
	stdin := filepath.Join(p.t.TempDir(), "in")
	stdout, err := os.Create(stdin + "out")
	if err == nil {
		err = os.WriteFile(stdin, []byte(in), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer stdout.Close()
	f, err := os.Open(stdin)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	var stderr bytes.Buffer
	sys := System{Args: args, Environ: p.env, Stdin: f, Stdout: &Output{File: stdout}, Stderr: &stderr, Version: "0.0.0-test"}
	flags := &runFlags{}
	root := &cobra.Command{Use: "adze", SilenceErrors: true, SilenceUsage: true}
	flags.add(root.PersistentFlags())
	root.AddCommand(newLogin(sys, flags), newLogout(sys, flags), newTrust(sys, flags))
	p.t.Chdir(p.dir) // --cwd changes the folder of this process; back again after the test
	root.SetArgs(append(args, "--cwd", p.dir))
	c, err := root.ExecuteContextC(p.t.Context())
	code = tellError(&stderr, usageError(c, err))
	b, err := os.ReadFile(stdin + "out")
	if err != nil {
		p.t.Fatal(err)
	}
	if s := string(b) + stderr.String(); strings.Contains(s, plantedKey) {
		p.t.Errorf("adze %v shows the key: %s", args[0], s)
	}
	return code, string(b), stderr.String()
}

func TestLogin(t *testing.T) {
	p := newPerson(t)
	file := filepath.Join(p.home, "state", "credentials.json")
	keyFile := filepath.Join(p.dir, "key")
	if err := os.WriteFile(keyFile, []byte(plantedKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "OPENAI_API_KEY=x")
	for _, c := range []struct {
		in, args  string
		code      int
		out, errs string
	}{
		{"", "login --list", 0, "", "no key is saved"},
		{plantedKey + "\nmore\n", "login anthropic", 0, "", "saved the key of anthropic (" + strconv.Itoa(len(plantedKey)) + " characters) in " + file},
		{plantedKey, "login OpenAI", 0, "", "note: OPENAI_API_KEY is set here"},
		{"", "login google --key-file " + keyFile, 0, "", "saved the key of gemini"},
		{"", "login --list", 0, "anthropic  " + file + "\ngemini     " + file + "\nopenai     " + file + "\n", ""},
		{"", "login --list --json", 0, `"provider": "anthropic"`, ""},
		{"", "login anthropic", 4, "", "the key is empty"},
		{"two words\n", "login anthropic", 4, "", "the key holds blanks"},
		{"", "login antropic", 2, "", "did you mean anthropic?"},
		{"", "login bedrock", 2, "", "takes a key"},
		{"", "login", 2, "", "which provider?"},
		{"", "login " + plantedKey, 2, "", "hint: one of anthropic"},
		{"", "login anthropic " + plantedKey, 2, "", "not taken as an argument"},
		{"", "login anthropic --key-file /nowhere", 2, "", "--key-file: no such file"},
		{"", "login anthropic --key-file " + p.dir, 2, "", "not a regular file"},
		{"", "logout antropic", 2, "", "did you mean anthropic?"},
		{"", "logout groq", 4, "", "no key is saved for groq"},
		{"", "logout anthropic", 0, "", "forgot the key of anthropic"},
		{"", "logout --all", 0, "", "forgot the key of openai"},
		{"", "logout --all", 4, "", "no key is saved"},
	} {
		code, out, errs := p.run(c.in, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("adze %s: %d\n%s\n%s", c.args, code, out, errs)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"login", "--list"}, {"login", "anthropic"}, {"logout", "--all"}, {"logout", "anthropic"}} {
		if code, _, errs := p.run(plantedKey, args...); code != 4 || !strings.Contains(errs, "hint: chmod 600") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

func TestTrust(t *testing.T) {
	p := newPerson(t)
	step := func(args string, code int, wants ...string) {
		t.Helper()
		got, out, errs := p.run("y\n", strings.Fields(args)...)
		if got != code {
			t.Errorf("adze %s: %d, want %d\n%s\n%s", args, got, code, out, errs)
		}
		for _, w := range wants {
			if !strings.Contains(out+errs, w) {
				t.Errorf("adze %s: no %q in\n%s\n%s", args, w, out, errs)
			}
		}
	}
	settings := filepath.Join(p.dir, ".adze", "settings.json")
	put := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	step("trust", 0, "brings nothing that needs trust")
	step("trust --list", 0, "no folder is trusted")
	put(`{"permissions":{"allow":["Bash(make *)"]}}`)
	step("trust", 3, "permissions.allow", `Bash(make *)`, "nobody is here to ask", "adze trust --yes")
	step("trust --json", 0, `"state": "untrusted"`, `"what": "permissions.allow"`)
	step("trust --yes", 0, "trusted "+p.dir)
	step("trust", 0, "is trusted with:")
	step("trust --list", 0, p.dir, "trusted", "1 file")
	put(`{"permissions":{"allow":["Bash"]}}`)
	step("trust", 3, "changed since you trusted it", `-{"permissions":{"allow":["Bash(make *)"]}}`, `+{"permissions":{"allow":["Bash"]}}`)
	step("trust --list", 0, "changed")
	step("trust --yes "+p.dir, 0)
	step("trust --revoke "+p.dir, 0, "no longer trusted")
	step("trust --revoke "+p.dir, 1, "was not trusted")
	step("trust --yes", 0)
	if err := os.Rename(p.dir, p.dir+".moved"); err != nil {
		t.Fatal(err)
	}
	gone := p.dir
	p.dir = p.home
	step("trust --list", 0, gone, "gone")
	step("trust --revoke "+gone, 0, "no longer trusted")
	step("trust /nowhere/at/all", 2)
}
