package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestSplitElsewhere: what is split at another IFS is judged by the words that it
// becomes, as far as IFS is known.
func TestSplitElsewhere(t *testing.T) {
	f := newFixture()
	for _, command := range []string{
		"IFS=,; x=cat,.env; $x", "IFS=,; x=.env,a; cat $x", "IFS=':'; x=cat:.env; $x", "IFS=,; cat $(echo .env,a)", "IFS=,; for f in $(echo a,.env); do cat $f; done", "IFS=,$IFS; x=cat,.env; $x", "IFS=$y; x=cat,.env; $x", "IFS=, eval 'cat ${x:-.env,a}'", "f() { local IFS=,; cat $1; }; f a,.env",
		"read x <<< .env; cat $x", "IFS=, read a b <<< x,.env; cat $b", "read -r c f <<< 'cat .env'; $c $f",
	} {
		if v := inSandbox(f, command); v.Effect != policy.Ask || v.Check != policy.CheckSecret {
			t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{"IFS=,; x=git,reset,--hard; $x", "IFS=,; x=reset,--hard; git $x", "IFS=,; git ${x:-reset,--hard}", "IFS=_; x=a_.; git checkout $x", "IFS=, eval 'git ${x:-reset,--hard}'", "read a b <<< 'reset --hard'; git $a $b"} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Ask {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	if v := decide(t, f, "IFS=,; x=cat,src/a.go; $x", policy.Bypass, "deny:Read(src/**)"); v.Effect == policy.Allow {
		t.Errorf("%+v", v)
	}
	for _, command := range []string{"IFS=,; x=git,status; $x", "IFS=$'\\n'; for f in $(ls); do wc -l \"$f\"; done", "IFS=,; x=a,b; echo $x", "IFS=,; x=git,reset; echo \"$x,--hard\"", "while IFS= read -r l; do echo \"$l\"; done < main.go", "read a b <<< 'x y'; touch $a"} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}

// TestLosesAll: what removes, empties or overwrites all that is in the folder asks in
// every mode, in whichever form.
func TestLosesAll(t *testing.T) {
	f := newFixture()
	for _, command := range []string{
		"rm -rf [a-zA-Z]*", "rm -rf **", "rm -rf ./**", "rm -rf [!.]*", "rm -rf [[:alnum:]]*", "rm -rf ?*", "rm -rf ??*", "rm -rf *[a-z0-9]", "rm -rf $PWD/[a-z]*", "rm -rf ~/[!.]*", "cd src; rm -rf ../[a-z]*",
		"find . -type f -not -path './.git/*' | while read f; do rm \"$f\"; done", "find . | while read -r f; do rm -f \"./$f\"; done", "find . -type f | while IFS= read -r f; do rm -- \"$f\"; done", "find . | grep -v x | while read f; do rm \"$f\"; done", "fd | while read f; do unlink $f; done", "git ls-files | while read f; do rm \"$f\"; done", "ls | while read f; do rm -f \"$f\"; done", "ls -A | while read f; do if true; then rm \"$f\"; fi; done",
		"git archive HEAD | tar x", "git archive HEAD | tar xf -", "git archive --format=tar HEAD | tar -x", "git archive HEAD src | tar -xv", "git archive HEAD | (tar xf -)", "git archive HEAD | tar --extract",
		"truncate -s0 *", "truncate -s 0 ./*", "truncate --size=0 [a-z]*", "shred *", "tee * < /dev/null", "true | tee *",
	} {
		for _, mode := range []policy.Mode{policy.Bypass, policy.AcceptEdits} {
			if v := decide(t, f, command, mode); v.Effect != policy.Ask {
				t.Errorf("%s: %q: %s (%s: %s)", mode, command, v.Effect, v.Check, v.Reason)
			}
		}
		if v := inSandbox(f, command); v.Effect != policy.Ask {
			t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	crowded := newFixture() // what a pattern matches there is too much to be listed
	crowded.crowded = "/home/u/project/"
	for _, command := range []string{"rm -rf *", "rm -f *", "rm -rf ./*", "truncate -s0 *", "shred *", "rm -rf [a-z]*"} {
		if v := decide(t, crowded, command, policy.Bypass); v.Effect != policy.Ask {
			t.Errorf("%q in a crowded folder: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{"rm -rf *.o", "rm -f main*", "wc -l *", "git add *", "truncate -s0 *.log"} {
		if v := decide(t, crowded, command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("%q in a crowded folder: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{
		"rm -rf src/[a-z]*", "rm -rf [0-9]*", "rm *.o", "rm -rf build/*", "rm -rf [z]*", "rm -f junk*", "rm -rf src/**",
		"find . -name '*.go' | while read f; do wc -l \"$f\"; done", "find . | while read f; do cp \"$f\" /x/; done", "cat names.txt | while read f; do rm -f \"$f\"; done", "ls *.o | while read f; do rm \"$f\"; done", "read f; rm \"$f\"",
		"git archive HEAD | tar x -C out", "git archive HEAD | (cd out && tar x)", "git archive HEAD | gzip > a.tgz", "git archive --prefix=x/ HEAD | tar x", "git archive HEAD | tar t", "tar xf a.tar", "git archive HEAD | tar -xC out",
		"truncate -s0 *.log", "truncate -s0 a.log", "tee -a * < /dev/null", "truncate -s0 src/*.go",
	} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}

// TestLosesByFlags: git's flags of one letter stand together, and the value of one is no
// further flag.
func TestLosesByFlags(t *testing.T) {
	f := newFixture()
	for _, command := range []string{"git clean -fd -enode_modules", "git clean -fdx -e '*.html'", "git clean -fden", "git restore -sSOME a.txt", "git switch -fd main", "git branch -fd x", "git branch -df x", "git rm -rf src",
		"git fetch -p origin '+refs/heads/o*:refs/heads/o*'", "git pull -p origin '+refs/heads/o*:refs/heads/o*' main", "git fetch origin +a:b", "git fetch -qf origin a:b",
		"git branch -M a b", "git branch -C a b", "git branch -qf a HEAD", "git update-ref -d refs/heads/a", "git mv -f a.txt b.txt"} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Ask || v.Check != policy.CheckRemoval {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{"git clean -fdn", "git clean -ndx", "git clean --dry-run -fd", "git restore --staged a.txt", "git rm -rfn src", "git branch -d x", "git submodule update --init", "git fetch -p origin +refs/heads/*:refs/remotes/origin/*", "git fetch origin a:b", "git branch -m a b", "git branch -uorigin/feature", "git mv a.txt b.txt"} {
		if v := decide(t, f, command, policy.Bypass); v.Check == policy.CheckRemoval {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}
