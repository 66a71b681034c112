package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// leavesAlone reports whether a program only reads or runs the files among its
// operands, so that a rule which denies to edit them says nothing of it; what its
// flags name may still be written. sed, git and the writers are judged by what
// they do.
func (u *Invocation) leavesAlone(ws []Word) bool {
	switch {
	case !StandardPath(ws[0].Text):
		return true // a program of the project: as any build, it may do anything
	case inPlace[u.name] && slices.ContainsFunc(ws, func(w Word) bool {
		return strings.HasPrefix(w.Text, "--in-place") || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "i")
	}):
		return false
	case u.name == "git" || u.name == "find":
		return false // which of their words they write is known
	case editors[u.name] || ownFiles[u.name]:
		return false
	case inPlace[u.name], alone()[u.name], policy.Runner(u.name), Launches(u.name), launchesPrograms[u.name], u.r.Table.changes[u.name] != nil:
		return true
	}
	for _, f := range wholes()[u.name] {
		if f.writes && !f.short {
			return true // its forms are known
		}
	}
	return u.r.Table.reads[u.name] != nil || u.r.Table.subcommands[u.name]
}

// inPlace are interpreters that edit files when they are told so.
var inPlace = map[string]bool{"perl": true, "ruby": true, "awk": true, "gawk": true}

// ownFiles are interpreters and launchers whose first operand is what they write.
var ownFiles = map[string]bool{"sqlite3": true, "script": true}

// alone are programs that check, compile, test, send or show what they are given.
var alone = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`pytest py.test jest vitest mocha ava tap karma cypress playwright phpunit pest rspec minitest ctest nosetests nox tox behave bats busted
	mypy pyright pylint flake8 bandit pyre pytype vulture pydocstyle tsc vue-tsc svelte-check eslint jshint shellcheck hadolint yamllint actionlint staticcheck revive luacheck
	gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac swiftc ghc ocamlc dmd nim v zig ld as nvcc mcs csc sass lessc esbuild rollup webpack vite parcel swc babel protoc flex bison yacc
	go cargo npm pnpm yarn bun deno dotnet mvn gradle gradlew sbt lein mix rebar3 stack cabal swift flutter dart composer gem bundle pip pip3 uv poetry conda make gmake ninja cmake bazel buck just task rake
	docker podman kubectl helm terraform tofu ansible ansible-playbook vagrant packer pulumi skaffold gh glab curl wget ssh scp rsync nc open xdg-open code subl psql mysql mongosh redis-cli
	jq yq bat less more man cloc tokei scc ctags gdb lldb valgrind strace ltrace perf hyperfine time systemctl journalctl crontab at batch mail mutt sendmail lpr cscope semgrep trivy grype syft snyk gpg openssl`) {
		out[w] = true
	}
	return out
})

// outputFlag reports whether a word, or the value in it, stands behind a flag that
// says where a program writes, or in which folder.
func outputFlag(before, w Word) bool {
	flag, _, glued := strings.Cut(w.Text, "=")
	if !glued || !strings.HasPrefix(flag, "-") {
		if flag = before.Text; !strings.HasPrefix(flag, "-") {
			return false
		}
	}
	low := strings.ToLower(strings.TrimLeft(flag, "-"))
	if slices.Contains(folderFlags, flag) || slices.Contains(outputLetters, flag) {
		return true
	}
	return slices.ContainsFunc(outputNames, func(n string) bool { return strings.Contains(low, n) })
}

var (
	outputLetters = []string{"-o", "-O", "-B", "-d", "-t", "-P", "-C", "-out"}
	outputNames   = []string{"out", "dest", "prefix", "target", "save", "dump", "log", "report", "in-place", "inplace", "cache", "write", "dir", "tmp", "temp", "file", "cov", "junit", "map"}
)
