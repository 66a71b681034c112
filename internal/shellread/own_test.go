package shellread_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/slowtest"
)

type ownCase struct {
	want    string
	rules   []string
	command string
}

func ownCases(t testing.TB) []ownCase {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "own_cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []ownCase
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.SplitN(line, "\t", 3)
		c := ownCase{want: col[0], command: strings.ReplaceAll(col[2], "§", "\n")}
		if col[1] != "" {
			c.rules = strings.Split(col[1], " ;; ")
		}
		out = append(out, c)
	}
	return out
}

// TestOwnCases is our own corpus: one line per row and trap of the table, per
// form of the shell and per kind of rule.
func TestOwnCases(t *testing.T) {
	f := newFixture()
	for _, c := range ownCases(t) {
		v := decide(t, f, c.command, policy.Default, c.rules...)
		if v.Effect.String() != c.want {
			t.Errorf("got %s (%s: %s), want %s\n\t%q with %q", v.Effect, v.Check, v.Reason, c.want, c.command, c.rules)
		}
	}
}

// TestHostileCases: what looks as if it only read, or only edited, and does not.
func TestHostileCases(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "hostile_cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f, n := newFixture(), 0
	for line := range strings.Lines(string(b)) {
		mode, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		n++
		command = strings.ReplaceAll(command, "§", "\n")
		if v := decide(t, f, command, policy.Mode(mode)); v.Effect != policy.Ask {
			t.Errorf("%s: %q: got %s (%s: %s), want ask", mode, command, v.Effect, v.Check, v.Reason)
		}
	}
	if n < 150 {
		t.Errorf("only %d commands", n)
	}
}

// TestPlanModeChangesNothing: nothing that is not read-only passes plan mode,
// whatever the rules say.
func TestPlanModeChangesNothing(t *testing.T) {
	f := newFixture()
	for _, c := range ownCases(t) {
		if slices.ContainsFunc(c.rules, func(r string) bool { return strings.HasPrefix(r, "deny:") }) {
			continue
		}
		plan := decide(t, f, c.command, policy.PlanMode, c.rules...)
		s := shellread.Read(c.command, f.world())
		if plan.Effect == policy.Allow && !s.ReadOnly {
			t.Errorf("plan mode allows %q: %s", c.command, plan.Reason)
		}
	}
}

// TestAcceptEdits: the file commands pass inside the folder and nowhere else.
func TestAcceptEdits(t *testing.T) {
	f := newFixture()
	for _, c := range []struct{ command, want string }{
		{"mkdir -p a/b", "allow"}, {"touch x", "allow"}, {"mv data.txt y", "allow"}, {"cp main.go src/c.go", "allow"}, {"rm junk.txt", "allow"},
		{"cp -r src other", "allow"}, {"mv src other", "allow"}, {"sed -i s/a/b/ main.go", "allow"}, {"echo x > out.txt", "allow"}, {"cat main.go > out.txt", "allow"},
		{"mkdir a && touch a/b && ls a", "allow"}, {"cp main.go x && git status", "allow"}, {"cat <<'EOF' > out\nhi\nEOF", "allow"}, {"rm src/a.go src/b.go", "allow"},
		{"sed -i.bak s/a/b/ main.go", "allow"}, {"cp -b main.go src/a.go", "allow"}, {"mv --suffix=.old -b data.txt main.go", "allow"}, {"gofmt -w src", "allow"},
		{"sed -i'.git/*' s/a/b/ main.go", "ask"}, {"sed --in-place='/tmp/*' s/a/b/ main.go", "ask"}, {"sed -ic s/a/b/ main.go", "ask"}, {"sed -i\"$x\" s/a/b/ main.go", "ask"},
		{"cp -b -S c main.go .envr", "ask"}, {"cp --backup=simple --suffix=c main.go .exr", "ask"}, {"mv -T -b -S ode src .vsc", "ask"}, {"mv --suffix=/x -b data.txt main.go", "ask"},
		{"SIMPLE_BACKUP_SUFFIX=c cp -b main.go .envr", "ask"}, {"export SIMPLE_BACKUP_SUFFIX=c; cp -b main.go .envr", "ask"},
		{"cd src && touch new", "allow"}, {"gofmt -w main.go", "allow"}, {"tee out < main.go", "allow"},
		{"rm -r src", "ask"}, {"rm -rf .", "ask"}, {"rm *", "ask"}, {"touch /tmp/x", "ask"}, {"mv data.txt ../y", "ask"}, {"cp /etc/passwd x", "ask"},
		{"echo x > ~/.bashrc", "ask"}, {"echo x > .git/config", "ask"}, {"cp x .vscode/settings.json", "ask"}, {"cp x .claude/settings.json", "ask"}, {"touch .ENV && rm .Git/config", "ask"},
		{"echo x | tee out", "ask"}, {"echo x | sed 's/x/y/w out'", "ask"}, {"cat a | sort -o main.go", "ask"}, {"ls | while read f; do rm \"$f\"; done", "ask"},
		{"sed -i 's/a/b/e' main.go", "ask"}, {"sed -i '1e id' main.go", "ask"}, {"echo x > links/out/y", "ask"}, {"chmod +x evil.sh", "ask"}, {"ln -s /etc x", "ask"},
		{"cp main.go links/out/", "ask"}, {"cd .claude && echo x > settings.json", "ask"}, {"mv evil.sh .git/hooks/pre-commit", "ask"}, {"go test ./...", "ask"}, {"touch $x", "ask"},
		{"sed --in-place='.git/*' s/a/b/ main.go", "ask"}, {"sed -i'.git/hooks/*' s/a/b/ main.go", "ask"}, {"sed -i'../*' s/a/b/ main.go", "ask"}, {"sed -i/x s/a/b/ main.go", "ask"},
		{"sed -i.bak s/a/b/ main.go", "allow"}, {"sed -i.bak s/a/b/ src/*.go", "allow"}, {"touch .exr && sed -ic s/a/b/ .exr", "ask"}, {"cp -b main.go src/a.go", "allow"}, {"cp -b -S .old main.go src/a.go", "allow"},
		{"touch .envr; cp -b -S c main.go .envr", "ask"}, {"cp --backup=simple --suffix=c main.go .exr", "ask"}, {"mv --suffix=c -b data.txt .exr", "ask"}, {"mkdir .vsc; mv -T -b -S ode src .vsc", "ask"}, {"cp -bS /x main.go src/a.go", "ask"},
		{"gofmt -w .", "ask"}, {"gofmt -w src", "allow"}, {"gofmt -r '1 -> 2' -w .", "ask"},
		{"cp data.txt rust-toolchain.toml && cargo --version", "ask"}, {"mv data.txt rust-toolchain", "ask"}, {"cat data.txt > src/rust-toolchain.toml", "ask"}, {"cp data.txt toolchain.toml && cargo --version", "allow"},
		{"cp main.go .git", "ask"}, {"mkdir -p .github/workflows", "ask"}, {"PATH=. touch x", "ask"}, {"touch x; ./evil.sh", "ask"}, {"xargs touch", "ask"},
	} {
		if v := decide(t, f, c.command, policy.AcceptEdits); v.Effect.String() != c.want {
			t.Errorf("%q: got %s (%s: %s), want %s", c.command, v.Effect, v.Check, v.Reason, c.want)
		}
	}
}

// TestBypassAsksForWhatIsLost: what cannot be brought back asks in every mode.
func TestBypassAsksForWhatIsLost(t *testing.T) {
	f := newFixture()
	for _, command := range []string{
		"rm -rf /", "rm -rf ~", "rm -rf $HOME", "rm -rf .", "rm -rf ./", "rm -rf *", "rm -rf ./*", "rm -rf ..", "rm -r \"$PWD\"", "rm -rf /home", "rm -rf $X", "rm -rf \"$X/\"",
		"cd src && rm -rf ..", "sudo rm -rf /", "bash -c 'rm -rf /'", "timeout 5 rm -rf ~", "rm -rf --no-preserve-root /", "rm -Rf /etc", "find . -delete",
		"git clean -fd", "git clean -fdx", "git reset --hard", "git reset --hard HEAD~1", "git checkout -- .", "git checkout .", "git push --force", "git push -f", "git push origin +main",
		"git -C . push --force", "git restore .", "dropdb x", "psql -c 'DROP DATABASE x'", "echo x > .git/hooks/pre-commit", "echo x >> ~/.bashrc", "touch .mcp.json", "rm -rf .git",
		"echo x > .adze/settings.json", "cp a ~/.ssh/authorized_keys", "echo x > ~/.npmrc", "tee .vscode/tasks.json", "ls; git reset --hard",
		"rm $(echo -rf .git)", "rm $(echo -rf /)", "rm $F /", "rm \"$F\" /", "rm -r$F /", "rm $(echo -r) ~", "rm $F", "x='-rf /'; rm $x", "x=$(echo -rf ~); rm $x", "echo / | xargs rm -rf", "printf -- '-rf /' | xargs rm",
		"git clean --for -dx", "git reset --har", "git push --forc", "git branch --del --for x", "find . -exec rm -rf {} +", "find . -type f -execdir rm {} ;", "fd -x rm", "fd . --exec-batch shred",
		"cat /dev/zero > /dev/sda", "shred /dev/sda", "dd if=x of=/dev/sda", "cp x /dev/nvme0n1", "tee /dev/mem",
		"dd if=a of=$(echo .git/hooks/post-commit)", "tee $(echo .git/config)", "cp a $(echo .git/hooks)/x", "cd .gi?; cp ../a hooks/pre-commit", "cd $(echo .git) && cp ../a hooks/pre-commit",
		"ccache rm -rf /", "sshpass -p x rm -rf /", "uv run rm -rf ~", "npm exec -- rm -rf .", "bundle exec git reset --hard", "sometool rm -rf /", "./x.sh git push --force", "python3 x.py rm -rf ~", "mise exec -- rm -rf .git", "ip netns exec x rm -rf /",
		"python3 -c\"system('rm -rf /')\"", "python3 -Ic \"system('rm -rf ~')\"", "perl -we \"system('git reset --hard')\"", "perl -E\"system('rm -rf .')\"", "node -p \"execSync('git clean -fd')\"", "php -r\"system('rm -rf /');\"", "ruby -ne 'system(\"rm\", \"-rf\", \"/\")'", "osascript -e'do shell script \"rm -rf /\"'", "pwsh -c'rm -rf /'", "node --eval='execSync(\"rm -rf /\")'",
		"git checkout main.go", "git checkout src", "git checkout src/", "git checkout ./main.go", "git checkout HEAD main.go", "git checkout main src/a.go", "git checkout --ours main.go", "git checkout -q main.go", "git checkout *.go", "git checkout '*.txt'", "git checkout :/", "git checkout --pathspec-from-file=x", "git -C src checkout a.go", "git -c a.b=c checkout main.go",
		"git checkout-index -fa", "git checkout-index --force main.go", "git checkout-index -af", "git read-tree --reset -u HEAD", "git read-tree -u --reset HEAD", "git -c clean.requireForce=false clean -d", "git clean -d", "git clean", "git-clean -fd", "git rm -f main.go", "git rm -rf src",
		"git worktree remove -f x", "git worktree remove x --force", "git submodule deinit -f --all", "git submodule update --force", "git reflog drop --all", "xargs git checkout < main.go main.go",
		"rsync -a --delete /var/empty/ ./", "rsync -a --delete-after /var/empty/ .", "rsync -a --remove-source-files . h:x", "tar cf /tmp/x.tar --remove-files .", "tar --remove-files -cf x.tar ../project", "zip -rm x .", "zip -r --move x .", "trash .", "trash-put ~", "gio trash .", "npx rimraf .", "rimraf /",
		"docker volume prune -f", "docker volume rm x", "docker compose down -v", "docker compose -f x.yml down --volumes", "docker-compose down -v", "docker system prune -a --volumes", "terraform destroy", "terraform destroy -auto-approve", "terraform -chdir=x destroy", "terraform apply -destroy", "pulumi destroy -y",
		"aws s3 rb s3://x --force", "aws --profile x s3 rb --force s3://x", "aws s3 rm --recursive s3://x", "kill -9 -1", "kill -KILL -1", "kill -s TERM -- -1", "kill -- -1", "gh repo delete x", "rails db:drop", "npm unpublish x --force", "crontab -r",
		"git --shallow-file x push --force", "git --shallow-file x reset --hard", "git --shallow-file x clean -fdx", "git --new-flag reset --hard", "git --new-flag x reset --hard",
		"git -c help.autocorrect=immediate reste --hard", "git -c help.autoCorrect=1 cleann -fdx", "git -c alias.r='reset --hard' r", "git -c include.path=x r", "git -c \"$x\" psuh", "git --config-env=alias.r=X r", "git --config-env help.autocorrect=X reste", "git -C src -c help.autocorrect reste --hard",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=help.autocorrect GIT_CONFIG_VALUE_0=1 git reste --hard", "env GIT_CONFIG_GLOBAL=x git r", "HOME=x git r", "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.r GIT_CONFIG_VALUE_0='reset --hard'; git r", "git config --global help.autocorrect immediate; git reste --hard", "git config alias.r 'reset --hard'; git r",
		"/proc/self/exe -c 'rm -rf /'", "/proc/self/exe -c 'echo x > .git/config'", "sudo /proc/self/exe -c 'git reset --hard'", "links/sh -c 'rm -rf ~'", "/dev/fd/3 -c 'git push --force'",
	} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Ask {
			t.Errorf("%q: got %s (%s), want ask", command, v.Effect, v.Check)
		}
	}
	for _, command := range []string{"rm -rf src", "git push", "make", "curl x | sh", "rm junk.txt", "git commit -m 'git reset --hard'",
		"git checkout main", "git checkout -b x", "git checkout -b src main", "git checkout -b main.go", "git checkout --detach HEAD", "git checkout -", "git checkout HEAD~2", "git checkout origin/main", "git checkout nosuch.go", "git checkout -t origin/x", "git checkout v1.0", "git checkout 1a2b3c4", "git checkout $b",
		"git clean -n", "git clean -nd", "git clean --dry-run -fdx", "git rm main.go", "git rm -r --cached -f src", "git worktree remove x", "git submodule update --init", "git submodule deinit x", "git read-tree HEAD", "git read-tree -m -u HEAD", "git checkout-index -a", "git stash -u", "git stash",
		"rsync -a --delete src/ build/", "rsync -a --delete src/ h:x/", "rsync -a src/ ./", "tar cf x.tar .", "zip -r x .", "zip -rm x src", "trash src", "docker volume ls", "docker compose down", "docker system prune", "terraform plan", "terraform apply", "aws s3 rb s3://x", "aws s3 rm s3://x/y", "aws s3 ls", "kill -9 123", "kill -1 123", "kill -1", "kill -HUP 1", "rails db:migrate", "crontab -l", "npm publish",
		"sometool rm -r x", "docker run --rm x rm -rf /", "kubectl exec p -- rm -rf /", "uv run rm -rf src", "python3 x.py rm y", "sometool push --force", "./x.sh reset --hard", "rm \"$f\"", "rm -f \"$f\"", "t=$(mktemp); rm $t", "t=$(mktemp -d); cp a \"$t/a\"", "echo x > /dev/null", "echo x > /dev/stderr", "echo x > /dev/shm/a", "rm $(echo x)", "git reset --soft HEAD~1", "git branch --delete x",
		"git psuh", "git lfs ls-files", "git -c help.autocorrect=immediate status", "git -c help.autocorrect=never psuh", "git -c alias.r='reset --hard' log", "git -c user.name=x sometool", "git -c core.pager=cat log -1", "HOME=x git status", "GIT_AUTHOR_NAME=x git lfs pull", "git config help.autocorrect", "git config user.name x", "find . -exec wc -l {} +", "cd s*; touch x",
	} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("%q: got %s (%s: %s), want allow", command, v.Effect, v.Check, v.Reason)
		}
	}
}

// TestCheckoutOfBranch: git takes the only word for a branch before it looks for a file.
func TestCheckoutOfBranch(t *testing.T) {
	f := newFixture()
	f.files["/home/u/project/.git/refs/heads/src"] = true
	f.files["/home/u/project/.git/refs/tags/sub"] = true
	w := f.world()
	w.Repo = func(string) (common, git string, ok bool) {
		return "/home/u/project/.git", "/home/u/project/.git", true
	}
	for command, want := range map[string]policy.Effect{
		"git checkout src": policy.Allow, "git checkout sub": policy.Allow, "git checkout bin": policy.Ask, "git checkout src bin": policy.Ask, "git checkout src -- bin": policy.Ask, "git checkout sub src": policy.Ask,
	} {
		r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
		if v := policy.Decide(r, policy.Bypass, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions}); v.Effect != want {
			t.Errorf("%q: %s (%s), want %s", command, v.Effect, v.Reason, want)
		}
	}
}

// TestNestedReadsEnd: substitutions in substitutions, in each form of which the value is
// worked out beside being read, do not double the work each time. Without a bound
// none of these ends.
func TestNestedReadsEnd(t *testing.T) {
	slowtest.Alone(t)
	f := newFixture()
	for _, form := range [][2]string{
		{"echo $(", ")"}, {"printf \"$(", ")\""}, {"cat <<< \"$(", ")\""}, {"bash <<< \"$(", ")\""}, {"IFS=\"$(", ")\" read x"}, {"find $(", ") | xargs cat"}, {"x=$(echo \"$(", ")\")"}, {"bash -s <<< $(echo $(", "))"}, {"git ls-files $(", ") | head -3 | xargs cat"},
		{"f() { echo $(", "); }; f"}, {"for i in 1 2; do x=$(echo $(", ")); done"}, {"while read x; do echo $(", "); done"},
	} {
		script := strings.Repeat(form[0], 60) + "rm -rf ~" + strings.Repeat(form[1], 60)
		if v := decide(t, f, script, policy.Default); v.Effect != policy.Ask {
			t.Errorf("%q: %s (%s)", form, v.Effect, v.Reason)
		}
	}
}

// TestPrecheck lists what is refused before parsing.
func TestPrecheck(t *testing.T) {
	f := newFixture()
	refused := []string{
		"ls\r", "ls\x00", "ls\x1b[0m", "ls\x7f", "l\u200bs", "ls\u00a0-la", "ls\u3000x", "echo \u202ex", "echo \u2066x", "echo \U000e0041", "echo \ufeffx", "echo \u00adx", "echo \ue000",
		"echo \u3164", "echo \u2800", "ls # x \\\nrm y", "# \\\nrm y", "echo foo\\\nbar", "echo \"${x:-'a'}\"", "echo \"${x:-\"a\"}\"", "echo $((1 + \"2\"))", "echo ${x:-<(ls)}",
		"echo \xff", strings.Repeat("x", shellread.MaxChars+1), "echo $[1+1]", "ls\u0085", "echo \u061cx", "echo \u180ex", "echo $\\\n(rm x)",
	}
	for _, s := range refused {
		if got := shellread.Read(s, f.world()); got.ReadOnly {
			t.Errorf("%q is read", s)
		}
	}
	for _, s := range []string{"echo 'é ü 漢字 🚀 ❤️'", "ls \\\n  -la", "echo 'a\tb'", "echo \"$((1+2))\"", "echo \"${x:-a}\"", "echo '# \"' # c", "echo \"$(cat main.go | grep 'x')\""} {
		if got := shellread.Read(s, f.world()); !got.ReadOnly {
			t.Errorf("%q is not read: %+v", s, got.Actions)
		}
	}
}

// TestDenySeesBehindLimits: past 50 commands, past 10,000 characters, behind
// a syntax error.
func TestDenySeesBehindLimits(t *testing.T) {
	f := newFixture()
	for _, s := range []string{
		strings.Repeat("true; ", 500) + "rm x",
		"echo " + strings.Repeat("y", 11_000) + "; rm x",
		"rm x; ls )", "rm x\u200b y",
		strings.Repeat("( ", 20) + "rm x" + strings.Repeat(")", 20),
		strings.Repeat("bash -c ", 1) + "'" + "rm x" + "'",
		"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do rm $i; done",
	} {
		if v := decide(t, f, s, policy.Default, "deny:Bash(rm:*)"); v.Effect != policy.Deny {
			t.Errorf("%.60q…: got %s (%s)", s, v.Effect, v.Reason)
		}
	}
}

// TestScriptDir: where the shell stands at the end.
func TestScriptDir(t *testing.T) {
	f := newFixture()
	for command, want := range map[string]string{
		"ls": "/home/u/project", "cd src": "/home/u/project/src", "cd src && ls": "/home/u/project/src", "cd src; cd ..": "/home/u/project", "(cd src)": "/home/u/project",
		"cd src | cat": "/home/u/project", "cd $x": "", "cd nosuch": "", "if true; then cd src; fi": "",
	} {
		if got := shellread.Read(command, f.world()).Dir; got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

// TestSpeed: a decision takes under a millisecond (99th percentile) on the
// corpus, and the worst script under 50 ms (bench). The bounds here only find
// what grows without bound: a loaded machine with the race detector takes ten
// times as long.
func TestSpeed(t *testing.T) {
	slowtest.Alone(t)
	f := newFixture()
	f.glob("") // nothing
	var all []time.Duration
	w := world.World{Dir: "/home/u/project", Home: "/home/u", Git: func(string) (bool, string) { return true, "" }, Glob: func(string) []string { return []string{} }}
	for _, c := range ownCases(t) {
		start := time.Now()
		shellread.Read(c.command, w)
		all = append(all, time.Since(start))
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	p99 := all[len(all)*99/100]
	t.Logf("p50 %v, p99 %v, worst %v over %d", all[len(all)/2], p99, all[len(all)-1], len(all))
	if p99 > 50*time.Millisecond {
		t.Errorf("p99 is %v", p99)
	}
	for name, s := range worst() {
		if d := quickest(func() { shellread.Read(s, w) }, 250*time.Millisecond); d > 2*time.Second {
			t.Errorf("%s (%d characters) took %v", name, len(s), d)
		} else {
			t.Logf("%-12s %v", name, d)
		}
	}
}

// worst are scripts of the greatest length that are hard on some part.
func worst() map[string]string {
	fill := func(unit, tail string) string {
		return strings.Repeat(unit, (shellread.MaxChars-len(tail))/len(unit)) + tail
	}
	nest := func(open, in, shut string, n int) string {
		return strings.Repeat(open, n) + in + strings.Repeat(shut, n)
	}
	return map[string]string{
		"lists":     fill("ls;", ""),
		"pipes":     fill("ls|", "ls"),
		"words":     fill("a ", ""),
		"subst":     "echo " + fill("$(ls)", ""),
		"nested":    nest("$(", "ls", ")", 2000),
		"subshell":  nest("(", "ls", ")", 4000),
		"braces":    "echo " + fill("{a,b}", ""),
		"globs":     "ls " + fill("*/", ""),
		"for":       nest("for i in 1 2 3 4 5 6 7 8 9 10;do ", "ls", ";done", 200),
		"while":     nest("while ls;do ", "ls", ";done", 500),
		"cd-while":  nest("while cd src;do ", "ls", ";done", 400),
		"cd-for":    nest("for i in 1 2;do cd a;", "ls", ";done", 300),
		"if":        nest("if ls;then ", "ls", ";fi", 500),
		"functions": fill("f() { f2; };", ""),
		"calls":     "a0(){ ls; };" + chain(150) + "a150",
		"vars":      fill("x=$x$x;", ""),
		"doubling":  "x=aaaa;" + fill("x=$x$x;", "cat $x"),
		"arith":     "echo $((" + fill("1+", "1") + "))",
		"case":      nest("case x in x) ", "ls", ";; esac", 500),
		"suspects":  "sudo " + fill("rm ", "x"),
		"quotes":    "echo " + fill("\"'\"'", ""),
		"awk":       "awk '" + fill("{print $1}", "'"),
		"sed":       "sed '" + fill("s/a/b/;", "'"),
		"xargs":     fill("xargs ", "ls"),
		"time":      fill("time ", "ls"),
		"evals":     fill("eval ", "ls"),
		"shells":    "bash -c '" + fill("ls;", "'"),
	}
}

// chain defines functions that each call the one before twice.
func chain(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString("a" + itoa(i) + "(){ a" + itoa(i-1) + ";a" + itoa(i-1) + "; };")
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func BenchmarkRead(b *testing.B) {
	f := newFixture()
	w := f.world()
	w.Glob = func(string) []string { return []string{} }
	for b.Loop() {
		shellread.Read("cd src && git diff --stat HEAD~1 | head -20 && grep -rn 'foo' . 2>/dev/null", w)
	}
}

// FuzzRead: never a panic, never read-only with a command that is not known,
// and a denied command is denied wherever it was found.
func FuzzRead(f *testing.F) {
	fx := newFixture()
	for _, c := range ownCases(f) {
		f.Add(c.command)
	}
	for _, s := range worst() {
		if len(s) < 500 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 3000 {
			return
		}
		var got shellread.Script
		done := make(chan struct{})
		go func() {
			defer close(done)
			got = shellread.Read(s, fx.world())
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			buf := make([]byte, 1<<20)
			n := runtime.Stack(buf, true)
			t.Fatalf("%q takes for ever\n%s", s, buf[:n])
		}
		if len(got.Actions) == 0 {
			t.Fatal("no action")
		}
		for a := range policy.All(got.Actions) {
			switch a := a.(type) {
			case policy.Exec:
				if got.ReadOnly && (!a.ReadOnly || a.Beyond != "") {
					t.Fatalf("%q is read-only, but holds %+v", s, a)
				}
			case policy.Opaque:
				if got.ReadOnly {
					t.Fatalf("%q is read-only, but holds %+v", s, a)
				}
			case policy.Write:
				if got.ReadOnly {
					t.Fatalf("%q is read-only, but writes %+v", s, a)
				}
			}
		}
	})
}

// quickest times f, again when it took longer than it may: on a busy machine
// one slow run says nothing about the code.
func quickest(f func(), most time.Duration) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		f()
		if best = min(best, time.Since(start)); best <= most {
			break
		}
	}
	return best
}

// TestWrittenCountsAsThere: what would change what a program runs is looked for among
// what the script itself writes, too, whatever a person says of that.
func TestWrittenCountsAsThere(t *testing.T) {
	f := newFixture()
	for command, reads := range map[string]bool{
		"touch x; cargo --version": true, "touch src/rust-toolchain; cargo --version": true, "touch x; npm ls": true,
		"touch rust-toolchain; cargo --version": false, "cp x Rust-Toolchain.toml && cd src && cargo metadata --no-deps": false, "cat x > .npmrc; npm ls": false,
	} {
		s := shellread.Read(command, f.world())
		last := -1
		for i, a := range s.Actions {
			if e, ok := a.(policy.Exec); ok && e.Sure < policy.Possible && (e.Argv[0] == "cargo" || e.Argv[0] == "npm") {
				last = i
			}
		}
		if last < 0 || s.Actions[last].(policy.Exec).ReadOnly != reads {
			t.Errorf("%s: %+v", command, s.Actions)
		}
	}
}
