package hint

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// What Shell writes, a shell reads as the words it was made of.
func TestShell(t *testing.T) {
	for in, want := range map[string]string{
		"db": "db", "": "''", "my server": "'my server'", "a;rm -rf x": "'a;rm -rf x'", "it's": `'it'\''s'`, "$(id)": "'$(id)'",
		"name@market": "name@market", "/a/b-c_d.e": "/a/b-c_d.e", "*": "'*'", "~": "'~'", "#x": "'#x'", "=x": "'=x'", "a=b": "a=b",
		"a\nb": `$'a\x0ab'`, "\x1b[31m'": `$'\x1b[31m\''`, "\u202ea": `$'\xe2\x80\xaea'`, "ü": "ü", "a\xffb": `$'a\xffb'`, "a\u00a0b": `$'a\xc2\xa0b'`,
	} {
		got := Shell(in)
		if got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		out, err := exec.Command(bash, "-c", "printf '%s\\0' "+got+" "+Shell("the", "end x")).Output()
		if back := strings.Join([]string{in, "the", "end x", ""}, "\x00"); err != nil || !bytes.Equal(out, []byte(back)) {
			t.Errorf("bash reads %s as %q, %v", got, out, err)
		}
	}
}
