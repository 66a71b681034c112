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
			git archive -vo x HEAD
			git commit -qF x
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
			make -sf x
			make --fil=x
			curl --conf a
			curl -sK a u
			psql -qc x
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
