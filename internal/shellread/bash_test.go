package shellread_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestArgvAgainstBash makes words of quoting, escapes, braces and variables,
// and holds our argv against what bash passes to a function that only prints.
func TestArgvAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	pieces := []string{
		"a", "b c", "'", `"`, `\`, `\\`, `\'`, `\"`, `'x y'`, `"x y"`, `"a'b"`, `'a"b'`, `$'a\tb'`, `$'\x41\102'`, `"\$x"`, `'$x'`, "$v", `"$v"`, "${v}", `"${v}z"`, "$w", `"$w"`, "{p,q}", "{1..3}", "x{a,b}y",
		"~", "~/k", "a~", "#", "a#b", " #", "=", "a=b", "-n", "--", "$", "!", "%", "@", "^", ",", ":", ".", "é", "🚀", "]", "}", "{}", `\ `, `"\\"`, `"\a"`, `$"`, "$((1+1))", "\\\n", " ", "  ", "\t", `''`, `""`, "&", ";", "|", "<", ">", "(", ")",
	}
	rng := rand.New(rand.NewPCG(7, 11))
	w := world.World{Dir: "/", Home: "/h", Glob: func(string) []string { return []string{} }}
	var scripts []string
	var ours [][]string
	for len(scripts) < 1500 {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		words := b.String()
		got := shellread.Read("v=val; w='two words'; zz "+words, w)
		argv := literal(got)
		if argv == nil {
			continue
		}
		scripts = append(scripts, words)
		ours = append(ours, argv)
	}
	var run strings.Builder
	run.WriteString("HOME=/h; cd /; v=val; w='two words'; zz() { printf '%s\\0' row \"$i\" \"$@\"; }\n")
	for i, s := range scripts {
		run.WriteString("i=" + itoa(i) + "\nzz " + s + "\n")
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", run.String())
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/nonexistent", "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bash: %v", err)
	}
	theirs := make([][]string, len(scripts))
	for _, row := range strings.Split("\x00"+strings.TrimSuffix(string(out), "\x00"), "\x00row\x00")[1:] {
		f := strings.Split(row, "\x00")
		n, err := strconv.Atoi(f[0])
		if err != nil || n >= len(scripts) || theirs[n] != nil {
			t.Fatalf("bash prints %q", row)
		}
		theirs[n] = f[1:]
	}
	for i, s := range scripts {
		if !slices.Equal(ours[i], theirs[i]) {
			t.Errorf("%q: bash passes %q, we read %q", s, theirs[i], ours[i])
		}
	}
	t.Logf("%d words agree", len(scripts))
}

// literal returns the arguments of zz when the script was read exactly.
func literal(s shellread.Script) []string {
	var argv []string
	n := 0
	for a := range policy.All(s.Actions) {
		switch a := a.(type) {
		case policy.Opaque, policy.Write, policy.Read:
			return nil
		case policy.Exec:
			if n++; a.Argv[0] != "zz" || a.Loose {
				return nil
			}
			argv = a.Argv[1:]
			if argv == nil {
				argv = []string{}
			}
		case policy.Net, policy.Call, policy.Spawn, policy.Skill, policy.Person, policy.None:
		}
	}
	if n != 1 {
		return nil
	}
	return argv
}
