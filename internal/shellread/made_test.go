package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestLinksMadeBefore: what goes through a link that the same command makes is judged
// by where it leads, as what goes through one that is there.
func TestLinksMadeBefore(t *testing.T) {
	f := newFixture()
	f.mkdir("/home/u/project/src/deep")
	f.links["/home/u/project/links/src"] = "../src"
	f.links["/home/u/project/here"] = "src"
	denied := []string{"deny:Read(src/**)", "deny:Edit(src/**)"}
	for _, c := range []struct {
		want     policy.Effect // or stricter
		mode     policy.Mode
		rules    []string
		commands []string
	}{
		{policy.Ask, policy.Bypass, denied, []string{
			"ln -s . x; cat x/src/a.go", "ln -s $PWD x; cat x/src/a.go", "ln -s src x; cat x/a.go", "ln -s src x && cat ./x/a.go", "ln -s ./src/ x; cat x/*", "ln -s src x; cat */a.go", "ln -s src x; cat [a-z]/a.go",
			"ln -s . x; echo y > x/src/a.go", "ln -s . x; cp main.go x/src/b.go", "ln -s . x; cd x; cat src/a.go", "ln -s src x; cd x && cat a.go", "ln -s src/deep x; cat x/../a.go", "ln -s src/deep x; cat x/../*.go",
			"ln -s . x; ln -s x y; cat y/src/a.go", "ln -s . x; ln -s x/src y; cat y/a.go", "mkdir d; ln -s .. d/x; cat d/x/src/a.go", "mkdir d; ln -s .. d; cat d/../src/a.go", "ln -sr . sub/x; cat sub/x/src/a.go", "ln -s .. sub/x; cat sub/x/src/a.go", "ln -s -t sub $PWD; cat sub/project/src/a.go", "cd sub; ln -s ..; cat x/src/a.go; ln -s .. y; cat y/src/a.go",
			"ln src/a.go x; cat x", "cp -s $PWD/src/a.go x; cat x", "cp -rs $PWD x; cat x/src/a.go", "cp -al . ../x; cat ../x/src/a.go", "mv links/src sub/y; cat sub/y/a.go", "mv here y; cat y/a.go", "cp -P here y; cat y/a.go", "cp -a here y; cat y/a.go",
			"ln -s \"$A\" x; cat x/src/a.go", "ln -s $(git rev-parse --show-toplevel) x; cat x/a.go", "ln --symbolic --force . x; cat x/src/a.go", "sudo ln -s . x; cat x/src/a.go", "env ln -s . x; cat x/src/a.go", "for i in 1 2; do cat x/src/a.go; ln -s . x; done", "while read l; do cat x/src/a.go; ln -s . x; done",
			"f() { ln -s . x; }; f; cat x/src/a.go", "(ln -s . x); cat x/src/a.go", "ln -s . x & cat x/src/a.go", "if true; then ln -s . x; fi; cat x/src/a.go", "bash -c 'ln -s . x'; cat x/src/a.go", "ln -s . x; git -C x/src diff", "ln -s . x; grep -r a x/src", "mkdir d; ln -s ../src d/y; grep -R a d", "ln -s . x; head -1 < x/src/a.go", "rm -rf sub; ln -s . sub; cat sub/src/a.go",
		}},
		{policy.Ask, policy.Default, []string{"Bash(ln:*)"}, []string{
			"ln -s / x; cat x/etc/hostname", "ln -s / x; cat x/etc/*", "ln -s ~ x; cat x/secret", "ln -s .. x; cat x/secret", "ln -s ../../.. x; ls x/etc", "ln -s / x; cd x; cat etc/hostname", "ln -s $A x; cat x/y", "ln -s . x; cat x/.env", "ln -s .env x; cat x", "ln -s / x; grep -r a x/etc",
		}},
		{policy.Ask, policy.AcceptEdits, []string{"Bash(ln:*)"}, []string{
			"ln -s /tmp/c x; echo y > x/c", "ln -s /tmp/c x; touch x/c", "ln -s / x; cp main.go x/tmp/c", "ln -s .git x; touch x/y", "ln -s . x; touch x/.git/y", "ln -s /tmp x; mv main.go x", "ln -s /tmp x; sed -i s/a/b/ x/c",
		}},
		{policy.Ask, policy.Bypass, nil, []string{
			"ln -s . x; rm -rf x/*", "ln -s / x; rm -rf x/*", "ln -s ~ x; rm -rf x/*", "cp -s / x; rm -rf x/*", "ln -s . x; rm -rf x/", "ln -s . x; rm -rf x/.", "ln -s . x; cd x; rm -rf *", "ln -s . x; cd x && rm -rf ./*", "ln -s \"$A\" x; rm -rf x/*", "ln -s .git x; touch x/hooks/y", "ln -s .git/hooks x; cp evil.sh x/pre-commit", "ln -s . x; find x/ -delete", "ln -s . x; rm -rf x/.git",
			"ln -s .git/config x; echo y >> x",
		}},
	} {
		for _, command := range c.commands {
			if v := decide(t, f, command, c.mode, c.rules...); v.Effect < c.want {
				t.Errorf("%s, %q with %q: got %s (%s: %s), want %s", c.mode, command, c.rules, v.Effect, v.Check, v.Reason, c.want)
			}
		}
	}
	for _, c := range []struct {
		mode     policy.Mode
		rules    []string
		commands []string
	}{
		{policy.Bypass, denied, []string{
			"ln -s main.go x; cat x", "ln -s sub x; cat x/a", "ln -s sub x; echo y > x/a", "ln -s ../scripts sub/x; ls sub/x", "mv junk.txt y; cat y", "cp -r sub y; cat y/a", "cp -s $PWD/main.go x; cat x", "ln -sf main.go x; cat README.md", "ln -s . x; cat main.go", "ln -s . x; cat x/main.go",
		}},
		{policy.Bypass, nil, []string{
			"ln -s . x; rm x", "ln -s / x; rm -f x", "ln -s . x; rm -rf x", "ln -s sub x; rm -rf x/*", "ln -sfn sub x; rm -rf src/deep", "ln -s sub x && cd x && rm -rf ./*.o", "ln -s . x; rm x/*.o", "mv here y; rm y", "ln -s / x; ls x", "ln -sfn releases/1 current; ls current/", "ln -s ../node_modules node_modules; npm test",
			"cp -r sub ../x; rm -rf ../x/*", "mv src y; rm -rf y/*",
		}},
		{policy.Default, []string{"Bash(ln:*)"}, []string{
			"ln -s main.go x; cat x", "ln -s src x; cat x/a.go", "ln -s src x; cat x/*.go", "ln -s src x; cd x && cat a.go", "ln -s ../main.go src/x; cat src/x", "for f in src/*.go; do ln -s $f x; done; ls",
		}},
		{policy.AcceptEdits, []string{"Bash(ln:*)"}, []string{"ln -s src x; touch x/c", "ln -s src x; echo y > x/c.go", "ln -s src x; rm x"}},
	} {
		for _, command := range c.commands {
			if v := decide(t, f, command, c.mode, c.rules...); v.Effect != policy.Allow {
				t.Errorf("%s, %q with %q: got %s (%s: %s), want allow", c.mode, command, c.rules, v.Effect, v.Check, v.Reason)
			}
		}
	}
}
