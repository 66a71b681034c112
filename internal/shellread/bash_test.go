package shellread_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
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
	w := shellread.World{Dir: "/", Home: "/h", Glob: func(string) []string { return []string{} }}
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
	run.WriteString("HOME=/h; cd /; v=val; w='two words'; zz() { printf '%s\\0' \"$#\" \"$@\"; }\n")
	for _, s := range scripts {
		run.WriteString("zz " + s + "\n")
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", run.String())
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/nonexistent", "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bash: %v", err)
	}
	fields := strings.Split(string(out), "\x00")
	for i, s := range scripts {
		n := 0
		for _, c := range fields[0] {
			n = n*10 + int(c-'0')
		}
		if n+1 >= len(fields) {
			t.Fatalf("bash prints too little at %q", s)
		}
		theirs := fields[1 : n+1]
		fields = fields[n+1:]
		if !slices.Equal(ours[i], theirs) {
			t.Fatalf("%q: bash passes %q, we read %q", s, theirs, ours[i])
		}
	}
	t.Logf("%d words agree", len(scripts))
}

// literal returns the arguments of zz when the script was read exactly.
func literal(s shellread.Script) []string {
	var argv []string
	n := 0
	for _, a := range s.Actions {
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
