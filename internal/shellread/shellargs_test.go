package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestShellsOfTheirOwn: a shell that a command starts has the words behind its script
// for $0, $1 and $@, and the variables before it and around it.
func TestShellsOfTheirOwn(t *testing.T) {
	f := newFixture()
	forms := []string{ // § stands for the word, $ for where the script has it
		"sh -c '% $0' §", "bash -c '% \"$1\"' _ §", "bash -c '% \"$@\"' _ §", "bash -c '% $*' _ §", "bash -c '% ${1}' _ §", "bash -c '% \"${@}\"' _ §", "bash -e -c '% $0' §", "bash -xc '% $0' §", "bash --norc -c '% $1' _ §", "bash -o pipefail -c '% $1' _ §", "bash -c 'for f in \"$@\"; do % \"$f\"; done' _ a §", "bash -c 'for f; do % $f; done' _ a §", "bash -c 'shift; % $1' _ a §", "bash -c 'x=$1; % $x' _ §", "sh -c 'sh -c \"% \\$0\" $0' §", "bash -c 'f() { % $1; }; f $1' _ §",
		"A=§ sh -c '% $A'", "A=§ bash -c '% \"$A\"'", "env A=§ sh -c '% $A'", "export A=§; sh -c '% $A'", "A=§; export A; sh -c '% $A'", "declare -x A=§; sh -c '% $A'", "A=§ B=x timeout 5 sh -c '% $A'", "A=§ env sh -c '% $A'", "A=§ B=y eval '% $A'", "f() { % $A; }; A=§ f", "f() { % \"$@\"; }; f §", "set -- §; % $1", "set -- §; % \"$@\"", "sh -c 'A=$0 sh -c \"% \\$A\"' §", "sh -c '% ${0:-x}' §", "sh -c '% $0' ${x:-§}", "sh -c '% $0' `echo §`",
		"find main.go -exec sh -c '% $0' § ';'",
	}
	put := func(form, command, word string) string {
		out := ""
		for _, c := range form {
			switch c {
			case '%':
				out += command
			case '§':
				out += word
			default:
				out += string(c)
			}
		}
		return out
	}
	for _, form := range forms {
		if c := put(form, "cat", ".env"); inSandbox(f, c).Check != policy.CheckSecret {
			t.Errorf("%q in the sandbox: %+v", c, inSandbox(f, c))
		}
		for command, word := range map[string]string{"git reset": "--hard", "touch": ".git/y", "cp README.md": ".git/hooks/pre-commit", "rm -rf": ".git", "git checkout": "."} {
			if c := put(form, command, word); decide(t, f, c, policy.Bypass).Effect != policy.Ask || command == "git reset" && inSandbox(f, c).Effect != policy.Ask {
				t.Errorf("%q: %+v", c, decide(t, f, c, policy.Bypass))
			}
		}
		if c := put(form, "cat", "src/a.go"); decide(t, f, c, policy.Bypass, "deny:Read(src/**)").Effect == policy.Allow {
			t.Errorf("%q with a rule that denies it: %+v", c, decide(t, f, c, policy.Bypass, "deny:Read(src/**)"))
		}
		for command, word := range map[string]string{"cat": "main.go", "git reset": "--soft", "touch": "y"} {
			if c := put(form, command, word); decide(t, f, c, policy.Bypass).Effect != policy.Allow {
				t.Errorf("%q: %+v", c, decide(t, f, c, policy.Bypass))
			}
		}
	}
	for _, command := range []string{"bash -c 'wc -l \"$1\"' _ main.go", "sh -c 'cat $0' main.go", "bash -c 'echo hi; ls'", "bash -c 'for i in 1 2; do echo $i; done'", "sh -c 'cat $0 | head -3' README.md", "f() { cat \"$1\"; }; f main.go"} {
		if v := decide(t, f, command, policy.Default); v.Effect != policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	if v := decide(t, f, "bash -c 'echo x > \"$1/config\"' _ .git", policy.Bypass); v.Effect != policy.Ask {
		t.Errorf("%+v", v)
	}
}
