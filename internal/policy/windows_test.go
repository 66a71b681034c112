package policy

import (
	"strings"
	"testing"
)

// A drive is written in several ways, which all mean the same.
func TestPathRulesOfWindows(t *testing.T) {
	const secret, other = `C:\work\p\secret.txt`, `D:\x\y.txt`
	for _, fold := range []bool{true, false} {
		for _, c := range []struct {
			spec, file string
			want       bool
		}{
			{`C:/work/p/secret.txt`, secret, true}, {`C:\work\p\secret.txt`, secret, true}, {`c:/work/p/secret.txt`, secret, true}, {`//c/work/p/secret.txt`, secret, true},
			{`//C/work/p/secret.txt`, secret, true}, {`//C:/work/p/secret.txt`, secret, true}, {`//C:/**`, secret, true}, {`//**`, secret, true}, {`//**`, other, true}, {`C:/**`, secret, true}, {`C:\**`, secret, true},
			{`C:/**`, other, false}, {`//d/**`, other, true}, {`//d`, other, true}, {`D:/x`, other, true}, {`//*/x/*.txt`, other, true}, {`//**/secret.txt`, secret, true},
			{`/secret.txt`, secret, true}, {`.\secret.txt`, secret, true}, {`./secret.txt`, secret, true}, {`**/secret.txt`, secret, true}, {`secret.txt`, secret, true}, {`..\p\secret.txt`, secret, true}, {`../p/*`, secret, true},
			{`~/private/**`, `C:\Users\u\private\x`, true}, {`~\private\**`, `C:\Users\u\private\x`, true}, {`~/private/**`, `D:\Users\u\private\x`, false},
			{`\[ab\].txt`, `C:\work\p\[ab].txt`, true}, {`\[ab\].txt`, `C:\work\p\a.txt`, false}, {`src\*.go`, `C:\work\p\src\a.go`, true},
		} {
			rules := Rules{Dir: `C:\work\p`, Home: `C:\Users\u`, FoldCase: fold}
			r := compiledRule{Rule: Rule{Tool: "Read", Spec: c.spec, Effect: Deny, Root: `C:\work\p`}}
			r.places = r.compilePaths(Allow, rules)
			if got := r.matchPath(rules, c.file); got != c.want {
				t.Errorf("%s on %s (fold %v): %v", c.spec, c.file, fold, got)
			}
			if c.want && !r.matchBelow(rules, `C:\`) && strings.HasPrefix(c.file, "C") {
				t.Errorf("%s: nothing below the drive is named", c.spec)
			}
		}
	}
}

// What can match nothing on Windows is said to.
func TestDeadPathsOfWindows(t *testing.T) {
	for spec, want := range map[string]string{
		`//server/share/x`: `no drive "server"`, `\\server\share`: `no drive "server"`, `/c/Users/x`: "counts from the folder", `/c`: "counts from the folder", `C:secret.txt`: "holds a colon", `a.txt:stream`: "holds a colon",
		`secret.txt.`: "ends in a dot", `C:/w/x `: "", `dir./x`: "ends in a dot", `PROGRA~1/x`: "short one", `C:/PROGRA~1/**`: "short one", `//cc/x`: `no drive "cc"`,
		`C:/work/p/secret.txt`: "", `C:\work\**`: "", `//c/work`: "", `//C:/**`: "", `//**`: "", `//*/x`: "", `~/x`: "", `./c/x`: "", `../x`: "", `/src/**`: "", `.env`: "", `**/*.pem`: "", `/`: "", `//`: "", `c`: "",
	} {
		if want == "" {
			spec = strings.TrimSpace(spec)
		}
		if got := deadPath(spec, true); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
		if got := deadPath(spec, false); got != "" {
			t.Errorf("%s elsewhere: %q", spec, got)
		}
	}
}
