package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// A rule with a wildcard speaks of what its program does, not of the programs that it
// can be made to run, nor of the files that it can be made to write: however short the
// flag is written.
func TestShortFlagsUnderAWildcard(t *testing.T) {
	f := newFixture()
	for _, c := range []struct {
		want     policy.Effect
		commands string
	}{
		{policy.Ask, `
			git rebase --ex x HEAD~1
			git rebase -ix x
			git clone --upload-p x . y
			git clone -qccore.sshCommand=x a b
			git push --rec=x
			git fetch --upload-pac x
			git difftool -yx x
			git merge -qs x
			git pull -qs x
			git archive -vo ../x HEAD
			git commit -qF /x
			tar --use-comp=x -cf a b
			tar --checkpoint-a=exec=x -cf a b
			tar --info-s=x -cf a b
			tar --rsh-c=x -cf a b
			rsync --rsync-p=x a b
			split --filt=x a
			wget --use-ask=x u
			wget -qe x u
			make --ev=x
			make -sE x
			make -sf /x
			make --fil=x
			curl --conf a
			curl -sK a u
			psql -qc '\! x'
			date -us x
			sort --comp=x a
			less -Ro x a
			man -aP x a`},
		{policy.Allow, `
			git commit -qam m
			git commit -qaSm m
			git merge --no-ff x
			git clone --depth 1 a b
			git clone -qb x a b
			git push --no-verify
			make -j4 test
			make -sj4 test
			make -sf x
			psql -qc x
			tar --checkpoint -tf a
			pytest --pdb -xvs
			pytest -xk x_test`},
	} {
		for line := range strings.Lines(strings.TrimSpace(c.commands)) {
			command := strings.TrimSpace(line)
			prog, _, _ := strings.Cut(command, " ")
			rule, err := policy.ParseRule("Bash("+prog+":*)", policy.Allow, policy.CLI, "test", "/home/u/project")
			if err != nil {
				t.Fatal(err)
			}
			r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u", List: []policy.Rule{rule}}
			v := policy.Decide(r, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(command, f.world()).Actions})
			if v.Effect != c.want {
				t.Errorf("%q: %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, c.want)
			}
		}
	}
}

// TestPatternsNameSecrets: a pattern among the words of any program counts as every name
// that it matches, wherever the pattern comes from. One that matches no secret asks nothing.
func TestPatternsNameSecrets(t *testing.T) {
	f := newFixture()
	f.files["/home/u/project/sub/.env"] = true
	for _, program := range []string{"base64", "base32", "xxd", "perl -pe1", "python3 x.py", "python3 -c 'import sys;print(open(sys.argv[1]).read())'", "somecmd --in", "./x.sh", "node x.js", "sudo base64", "timeout 5 base64", "bash x.sh", "git add", "chmod 600", "cat"} {
		for _, form := range []string{"P .e*", "P /home/u/project/.e*", "P .en?", "P .[e]nv", "P .{e,x}n*", "P .e{n,}v*", "P */.env", "P **/.env", "p='.e*'; P $p", "p='e*'; P .$p", "p='main.go .e*'; P $p", "P ${x:-.e*}", "P $(echo .e*)", `for f in .e*; do P "$f"; done`, "for f in .e*; do P $f; done", `set -- .e*; P "$@"`, `f() { P "$1"; }; f .e*`, "f() { P $1; }; f .e*"} {
			command := strings.ReplaceAll(form, "P", program)
			if v := inSandbox(f, command); v.Effect != policy.Ask || v.Check != policy.CheckSecret {
				t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
			v := decide(t, f, command, policy.Bypass, "deny:Read(.env)", "deny:Read(sub/.env)")
			if v.Effect == policy.Allow {
				t.Errorf("%q where a rule denies that: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
		}
		for _, form := range []string{"P *", "P src/*", "P *.go", "P .x*", "P *env", "p='src/*.go'; P $p", "for f in src/*.go; do P $f; done", `f() { P "$1"; }; f *.go`, "P links/i*", "P '.e*'", `P "$p"`} {
			command := strings.ReplaceAll(form, "P", program)
			if v := inSandbox(f, command); v.Effect != policy.Allow {
				t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
			if v := decide(t, f, command, policy.Bypass, "deny:Read(.env)", "deny:Read(sub/.env)"); v.Effect != policy.Allow && form != `P "$p"` && program != "git add" {
				t.Errorf("%q where a rule denies something else: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
		}
	}
	for _, command := range []string{"echo .e*", "printf '%s\n' .e*", "ls -la .e*", "stat .e*", "rm -f .e*", "touch .e*", "test -f .e*", "git commit -m x *.go", "npx prettier --write src/*.ts", "wc -l *", "python3 -m json.tool *.json"} {
		if v := inSandbox(f, command); v.Effect != policy.Allow {
			t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	// What a pattern matches in full is not known where the shell was told to match more, or
	// where it has classes of characters; secrets that it may match are seen all the same.
	f.files["/home/u/project/sub/deep.key"] = true
	for _, program := range []string{"cat", "base64", "python3 x.py", "for f in W; do base64 \"$f\"; done"} {
		for words, secret := range map[string]bool{
			"shopt -s extglob§P @(.env|x)": true, "shopt -s extglob§P .@(env|x)": true, "shopt -s extglob§P ?(.)env": true, "shopt -s extglob§P +(.|e|n|v)": true, "shopt -s extglob§P src/!(x)": false, "shopt -s extglob§P !(x)": false, "shopt -s extglob§P @(main|x).go": false,
			"P .[[:alpha:]]*": true, "P sub/[[:lower:]]*": true, "P [[:alpha:]]*": false, "P src/[[:alpha:]]*": false,
			"shopt -s dotglob; P *": true, "shopt -s dotglob; P src/*": false, "shopt -s globstar; P **/*.key": true, "shopt -s globstar; P **": true, "shopt -s globstar; P **/*.go": false, "shopt -s dotglob; P *.go": false,
		} {
			command := strings.ReplaceAll(strings.ReplaceAll(words, "P", program), "§", "\n")
			if before, with, ok := strings.Cut(command, "for f in W; do base64 \"$f\"; done "); ok {
				command = before + "for f in " + with + "; do base64 \"$f\"; done"
			}
			v := inSandbox(f, command)
			if want := map[bool]policy.Effect{true: policy.Ask, false: policy.Allow}[secret]; v.Effect != want {
				t.Errorf("%q in the sandbox: %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, want)
			}
		}
	}
	for _, command := range []string{"shopt -s dotglob; ls *", "ls .[[:alpha:]]*", "shopt -s extglob\nls @(.env|x)"} {
		if v := inSandbox(f, command); v.Effect != policy.Allow {
			t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	crowded := newFixture()
	crowded.crowded = "/home/u/project/"
	crowded.files["/home/u/project/server.key"] = true
	for command, want := range map[string]policy.Effect{"base64 *": policy.Ask, "cat s*": policy.Ask, "base64 m*": policy.Allow, "eslint src/*": policy.Allow, "ls *": policy.Allow} {
		if v := inSandbox(crowded, command); v.Effect != want {
			t.Errorf("%q in a crowded folder: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	// A rule for the program covers what it is given, and no rule about editing is forgotten.
	if v := decide(t, f, "prettier --write src/*", policy.Default, "Bash(prettier:*)"); v.Effect != policy.Allow {
		t.Errorf("%+v", v)
	}
	for _, command := range []string{"perl -pi -es/x/y/ src/*", "perl -pi -es/x/y/ src/a.go", "perl -pi -e 's/x/y/' sr?/a.go", "python3 x.py src/a*", "p='src/*'; somecmd $p"} {
		if v := decide(t, f, command, policy.Bypass, "deny:Edit(src/**)"); v.Effect == policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}
