package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestEachFile: a program that only reads may be started for each file that find and
// git ls-files name, as long as every name is one word, none leads out of the
// folder, and no file holds secrets or is denied.
func TestEachFile(t *testing.T) {
	for _, c := range []struct {
		want, commands string
		change         func(f fixture)
	}{
		{"allow", `
			grep -rn x *.go
			grep -rn x src/*
			for f in src/*; do wc -l < "$f"; done
			for f in src/*.go; do cat < $f; done
			cat < main*.go
			find src -name '*.go' -exec grep -n foo {} +
			find src -type f -exec cat {} +
			find src -exec wc -l {} +
			find src -name '*.go' -exec head -5 {} \;
			find src -name '*.go' | xargs wc -l
			find src -name '*.go' | sort -u | head -5 | xargs cat
			find src -name '*.go' | grep -v 'a.go' | xargs grep -l foo
			find src -type f -print0 | xargs -0 grep -n foo
			git ls-files | xargs wc -l
			git ls-files src | xargs -n 5 head -3
			git ls-files -z | xargs -0 grep foo
			find src -name '*.go' -exec sed -n 1,5p {} +
			echo main.go | xargs wc -l
			grep -rl foo src | xargs wc -l
			grep -rl foo links | xargs cat
			grep -rl foo src | sort | xargs sed -n 1,5p
			grep -rlZ foo src | xargs -0 wc -l
			grep -ln foo src/*.go | xargs head -3
			rg -l foo src | xargs wc -l
			rg --files src | xargs wc -l
			rg -l -g '*.go' foo src | head -5 | xargs cat
			find src -name '*.go' | xargs -I{} head -3 {}
			git ls-files | xargs -I{} wc -l {}
			git ls-files | xargs -I % grep -n foo %
			for f in $(git ls-files); do wc -l "$f"; done
			for f in $(find src -name '*.go'); do echo "$f: $(wc -l < "$f")"; done
			for f in $(find src -name '*.go' | head -3); do echo "== $f"; head -5 $f; done
			files=$(find src -name '*.go'); for f in $files; do cat "$f"; done
			wc -l $(git ls-files)
			grep -n foo $(rg -l foo src)
			cat $(find src -name '*.go')
			find src -name '*.go' | while read -r f; do echo "== $f"; head -5 "$f"; done
			find src -name '*.go' | while IFS= read -r f; do grep -n foo "$f" | head -3; done
			find src -type f -print0 | while IFS= read -r -d '' f; do wc -l "$f"; done
			while read -r f; do wc -l "$f"; done < <(git ls-files)
			git grep -l foo | xargs -n1 wc -l
			for f in $(git grep -l foo -- src); do head -3 "$f"; done
			git grep -lz foo | xargs -0 wc -l
			for f in $(ls src/*.go); do wc -l $f; done
			ls src/*.go | xargs wc -l
			cd src && ls | xargs wc -l
			ls | xargs cat
			git grep -l foo -- links | xargs cat
			cd src && for f in $(ls -t); do wc -l "$f"; done
			ls *.md | head -1 | xargs cat
			find src -name '*.go' | xargs -n1 jq -r .name
			find src -name '*.go' | while read p; do echo "$p"; jq -r .name "$p"; done
			find src -name '*.go' -exec jq . {} \;
			for d in */; do jq -r .name "$d/package.json"; done
			for f in $(git ls-files); do [[ -f $f ]] && sort "$f"; done
			for f in $(git ls-files); do [ -f "$f" ] && jq . "$f"; done
			echo main.go README.md | xargs -n1 head -3
			cd src && find . -name '*.go' -exec cat {} +`, nil},
		{"ask", `
			echo .env | xargs cat
			find src -type f | (cd links && xargs cat)
			find src -type f | { head -c 3; xargs cat; }
			f() { head -c 3; xargs cat; }; find src -type f | f
			xargs() { rm x; }; find src -type f | xargs cat
			git grep -lc foo | xargs cat
			git grep -l foo HEAD | xargs cat
			git grep -lz foo | xargs cat
			git grep -l --untracked foo | xargs cat
			git -C src grep -l foo | xargs cat
			cd src && git grep -l --full-name foo | xargs cat
			ls -a src | xargs cat
			ls -l src/*.go | xargs cat
			ls src | xargs cat
			ls -d .* | xargs cat
			ls links/* | xargs cat
			cd links && ls | xargs cat
			ls /etc | xargs cat
			ls src/*.go /etc/passwd | xargs cat
			find src -name '*.go' | xargs jq
			find src -name '*.go' | xargs jq -f
			find src -name '*.go' | xargs jq --slurpfile x
			find src -name '*.go' | xargs sort -o
			find src -name '*.go' | while read p; do jq --slurpfile x "$p" .; done
			grep -rl foo src | xargs rm
			grep -rl foo . | xargs cat
			grep -rL foo . | xargs cat
			grep -r foo src | xargs cat
			grep -rlc foo src | xargs cat
			grep -rlZ foo src | xargs cat
			grep -rl foo src | xargs -0 cat
			grep -l foo - | xargs cat
			rg -l --color=always foo src | xargs cat
			rg -l --hidden foo | xargs cat
			rg --files -uu | xargs cat
			rg -l --json foo src | xargs cat
			rg -l --pre ./x foo src | xargs cat
			rg -l foo /etc | xargs cat
			git ls-files src | xargs cat 3< names.txt 0>&3
			git ls-files src | 3< names.txt 0>&3 xargs cat
			git ls-files src | while read -r f; do cat "$f"; done 3< names.txt 0>&3
			exec 3< names.txt; while read -r f; do cat "$f"; done < <(git ls-files src) 0>&3
			git ls-files src | xargs -I{} cat '{''}.bak' {}
			ls src/*.go | xargs -I .env -n1 cat .env
			ls src/*.go | xargs -n 1 -I names.txt cat names.txt
			git ls-files src | while read -r f; do cat "$f"; exec < names.txt; done
			git ls-files src | while read -r f; do cat "$f"; "exec" < names.txt; done
			git ls-files src | while read -r f; do cat "$f"; \exec < names.txt; done
			git ls-files src | while read -r f; do cat "$f"; command exec < names.txt; done
			git ls-files src | while read -r f; do cat "$f"; true | exec < names.txt; done
			find src | xargs -I{} cat {} .env
			find src | xargs -I{} cat {}.bak
			find src | xargs -I{} cat ../{}
			find src | xargs -I{} rm {}
			find src | xargs -I{} sh -c 'cat {}'
			find src | xargs -I{} {} x
			find src | xargs -I{} awk {}
			for f in $(git ls-files); do cat ".$f"; done
			for f in $(git ls-files); do cat "$f.bak"; done
			for f in $(git ls-files); do cat "/$f"; done
			for f in $(git ls-files); do cat "${f#src}"; done
			for f in $(git ls-files); do f=/etc/shadow; cat "$f"; done
			for f in $(git ls-files); do (cd links; cat "$f"); done
			for f in $(git ls-files); do rm "$f"; done
			for f in $(git ls-files); do [[ -f /etc/$f ]]; done
			for f in $(git ls-files); do [ -f "/etc/$f" ]; done
			for f in $(git ls-files); do echo x > "$f"; done
			for f in $(git ls-files); do cat "$f"; ln -sf /etc/shadow src/a.go; done
			for f in $(git ls-files); do "$f"; done
			for f in $(git ls-files); do bash "$f"; done
			for f in $(git ls-files); do source "$f"; done
			for f in $(git ls-files); do awk "$f"; done
			for f in $(git ls-files); do sed "$f" main.go; done
			for f in $(git ls-files); do sort -o "$f" main.go; done
			for f in $(git ls-files); do grep -f "$f" /etc/shadow; done
			for f in $(git ls-files); do grep -r foo "$f"; done
			for f in $(git ls-files); do uniq main.go "$f"; done
			for f in $(git ls-files; echo /etc/shadow); do cat "$f"; done
			for f in $(git ls-files) /etc/shadow; do cat "$f"; done
			for f in $(git ls-files /etc); do cat "$f"; done
			for f in $(find . -type f); do cat "$f"; done
			for f in $(find links); do cat "$f"; done
			IFS=/; for f in $(git ls-files); do cat "$f"; done
			IFS=c; cat $(git ls-files)
			x="$(git ls-files)"; cat "/etc/$x"
			find src -type f | while read -r f; do cat "$f"; head -c 3; done
			find src -type f | while read -r f; do head -c 3; cat "$f"; done
			find src -type f | while read -r f; do cat "$f" -; done
			find src -type f | while read -r f; do head -1 /dev/stdin; cat "$f"; done
			find src -type f | while read -n 3 f; do cat "$f"; done
			find src -type f | while read -d / f; do cat "$f"; done
			find src -type f | while IFS=/ read -r f; do cat "$f"; done
			find src -type f | while read -r a f; do cat "$f"; done
			find src -type f | while read -r f; do read -r g; cat "$g"; done
			find src -type f | while read -r f; do x=$(head -c 3); cat "$f"; done
			find src -type f | while read -r f; do g() { head -c 3; }; g; cat "$f"; done
			find src -type f | { read -r x; while read -r f; do cat "$f"; done; }
			find src -type f -print0 | while read -r f; do cat "$f"; done
			find . -type f | while read -r f; do cat "$f"; done
			while read -r f; do cat "$f"; done < <(echo /etc/shadow)
			while read -r f; do cat "$f"; done < names.txt
			echo "src .env" | xargs cat
			echo /etc/shadow | xargs cat
			echo '.en\x76' | xargs cat
			echo -e main.go | xargs cat
			echo src | xargs grep -r foo
			echo s/a/b/w | xargs sed
			echo main.go | xargs rm
			cp README.md x; echo x | xargs cat
			for f in .e*; do wc -l < "$f"; done
			for f in *; do cat < ".$f"; done
			for f in /etc/pass*; do cat < "$f"; done
			touch x; cat < *.go
			cat < *.nope
			grep -rn x .e*
			grep -rn x .*
			grep -rn x *.nope
			touch x.go; grep -rn x *.go
			find . -exec cat {} +
			find . -type f -exec cat {} +
			find . -type f -name '.e*' -exec cat {} +
			find . -name '*.go' -o -name '.env' -exec cat {} +
			find . -name '*.go' -exec cat {} + -o -name '.env' -exec cat {} +
			find links -exec cat {} +
			find links -name 'p*' -exec cat {} +
			find . -follow -name '*.go' -exec cat {} +
			find src -exec sh -c 'cat {}' \;
			find src -exec cat {}.bak \;
			find src -exec cat .env {} +
			find src -exec cat /etc/shadow {} +
			find src -exec cat {} /etc/shadow \;
			find src -execdir cat {} \;
			find src -ok cat {} \;
			find src -exec sed -i s/a/b/ {} +
			find src -exec sed 's/a/b/w x' {} +
			find src -exec sort -o x {} +
			find src -exec grep -r foo {} +
			find . -type d -name src -exec grep -R foo {} +
			find src -exec grep -d recurse foo {} +
			find src -exec ./cat {} +
			find src -exec $x {} +
			find src -exec rm {} +
			find src -exec tee {} +
			find src -exec env cat {} +
			find src -delete -exec cat {} +
			find $d -exec cat {} +
			find /etc -type f -exec cat {} +
			find ~/.ssh -type f -exec cat {} +
			find src -name '*.go' -exec cat {} \; -exec rm {} \;
			touch src/x; find src -exec cat {} +
			ln -s /etc src/l; find src -exec cat {} +
			find src -printf '%p x\n' | xargs cat
			find src -name '*.go' | sed 's/a/..\/b/' | xargs cat
			find src -name '*.go' | grep -o x | xargs cat
			find src -name '*.go' | xargs -I{} cat /etc/{}
			find src -name '*.go' -print0 | xargs cat
			find src -name '*.go' | xargs -0 cat
			find src -name '*.go' | xargs rm
			find src -name '*.go' | xargs cat .env
			find src -name '*.go' | xargs sh -c 'cat "$@"'
			find src -name '*.go' | xargs -d x cat
			find src -name '*.go' | xargs -a names.txt cat
			find src -name '*.go' | xargs cat < names.txt
			find links | xargs cat
			find . -type f | xargs cat
			echo /etc/shadow | xargs cat
			{ find src; echo /etc/shadow; } | xargs cat
			git -C src ls-files | xargs cat
			git ls-files ../x | xargs cat
			git ls-files --format='%(path) x' | xargs cat
			git ls-files -o | xargs cat
			cd src && git ls-files :/ | xargs cat
			PATH=. find src -exec cat {} +
			find() { echo /etc/shadow; }; find src | xargs cat
			cat() { rm x; }; find src | xargs cat
			xargs cat`, nil},
		{"ask", `
			find src -type f | xargs cat
			for f in $(find src -type f); do cat "$f"; done
			for f in $(git ls-files); do cat "$f"; done
			cat $(find src -type f)
			grep -rl foo src | xargs cat
			rg -l foo src | xargs cat
			git ls-files src | xargs cat`, func(f fixture) { f.files["/home/u/project/src/x /etc/hosts"] = true }},
		{"ask", `
			for f in $(find src -type f); do cat "$f"; done
			cat $(git ls-files)`, func(f fixture) { f.files["/home/u/project/src/[a]*"] = true }},
		{"ask", `
			for f in $(find src -type d); do ls "$f"; done
			for f in $(find src -name '*.go'); do cat "$f"; done`, func(f fixture) { f.mkdir("/home/u/project/src/x /etc") }},
		{"allow", `
			find src -type f -print0 | xargs -0 cat
			find src -type f -exec cat {} +`, func(f fixture) { f.files["/home/u/project/src/x /etc/hosts"] = true }},
		{"ask", `
			git ls-files | xargs cat
			git ls-files -z | xargs -0 cat
			for f in $(git ls-files); do cat "$f"; done
			wc -l $(git ls-files)
			git ls-files | while read -r f; do cat "$f"; done
			git ls-files -z | xargs -0 sed -n p`, func(f fixture) { f.files["/home/u/project/-f"] = true }},
		// The name of a file would be the program, the script, the pattern or a flag's value.
		{"ask", `
			git ls-files | xargs awk
			git ls-files | xargs awk -F:
			find src -type f | xargs awk
			find src -type f -exec awk {} +
			git ls-files | xargs sed
			git ls-files | xargs sed -n
			git ls-files | xargs sed -n -e
			find src -type f -exec sed -n {} +
			find src -type f -exec grep {} \;
			find src -type f | xargs head -n
			git ls-files | head -3 | xargs cut -d`, nil},
		{"ask", `
			find src -type d | xargs ls
			find src -name '*.go' | xargs cat`, func(f fixture) { f.mkdir("/home/u/project/src/x /etc") }},
		{"ask", `
			find src -type f |& xargs cat
			find src -type f 2>&1 | xargs cat
			find src -type f | head -c 3 | xargs cat
			find src -type f | sed s/a/b/ | xargs cat
			find src -type f | xargs echo /etc/shadow | xargs cat
			find src -type f | A=b xargs cat
			find src -type f | bash -c 'xargs cat'
			find src -type f -exec grep -f {} /etc/shadow \;
			find src -type f -exec cat {} + -exec tee x {} +
			find src/../.. -type f -exec cat {} +`, nil},
		{"ask", `
			find src | xargs cat
			find src -exec cat {} +
			git ls-files | xargs cat`, func(f fixture) { f.links["/home/u/project/src/l"] = "/etc/shadow" }},
		{"allow", `
			find src -type f -exec cat {} +`, func(f fixture) { f.links["/home/u/project/src/l"] = "/etc/shadow" }},
		{"ask", `
			find src -type f -exec cat {} +
			find src -type f | xargs -I{} cat {}
			for f in $(find src -type f); do cat "$f"; done
			find src -type f | while read -r f; do cat "$f"; done
			grep -rl x src | xargs cat
			find src -type f | xargs cat`, func(f fixture) { f.files["/home/u/project/src/.env"] = true }},
	} {
		f := newFixture()
		if c.change != nil {
			c.change(f)
		}
		w := f.world()
		w.Tracked = func(string, int) (files []string, ok bool) {
			for p := range f.files {
				if strings.HasPrefix(p, "/home/u/project/src/") || p == "/home/u/project/-f" {
					files = append(files, p)
				}
			}
			for p := range f.links {
				if strings.HasPrefix(p, "/home/u/project/src/") {
					files = append(files, p)
				}
			}
			return files, true
		}
		rules := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
		for command := range strings.Lines(c.commands) {
			if command = strings.TrimSpace(command); command == "" {
				continue
			}
			s := shellread.Read(command, w)
			for _, mode := range []policy.Mode{policy.Default, policy.PlanMode} {
				v := policy.Decide(rules, mode, policy.Request{Tool: "Bash", Actions: s.Actions})
				if (v.Effect == policy.Allow) != (c.want == "allow") || v.Effect == policy.Allow && !s.ReadOnly {
					t.Errorf("%s: %q: %s (%s: %s), want %s", mode, command, v.Effect, v.Check, v.Reason, c.want)
				}
			}
		}
		for _, command := range []string{"find src -type f -exec cat {} +", "find src -name '*.go' | xargs cat", "git ls-files | xargs cat"} {
			for _, deny := range []string{"Bash(cat:*)", "Read(src/a.go)"} {
				r, err := policy.ParseRule(deny, policy.Deny, policy.CLI, "test", "/home/u/project")
				if err != nil {
					t.Fatal(err)
				}
				with := rules
				with.List = []policy.Rule{r}
				if v := policy.Decide(with, policy.Bypass, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions}); v.Effect == policy.Allow {
					t.Errorf("%q under deny %s: %s (%s)", command, deny, v.Effect, v.Reason)
				}
			}
		}
	}
}

// TestNumbersThatAreNothing: where a command prints no number, an unquoted word is not
// there, and the flag before it takes the next one: what seemed a value is a file then.
func TestNumbersThatAreNothing(t *testing.T) {
	f := newFixture()
	for command, want := range map[string]string{
		"paste -d $(wc -l < missing) -d .env main.go":                         "ask",
		"paste -d $(wc -l < missing) -d /etc/shadow main.go":                  "ask",
		"x=$(wc -l < missing); paste -d $x -d .env main.go":                   "ask",
		"paste -d $! -d .env main.go":                                         "ask",
		"paste -d ${PIPESTATUS[3]} -d .env main.go":                           "ask",
		"grep -ve $(wc -l < missing) -e /etc/shadow main.go":                  "ask",
		"nl -s $(nproc) -s /etc/shadow main.go":                               "ask",
		"git diff --no-index -S $(nproc) -S /etc/shadow main.go":              "ask",
		"rg --replace $(nproc) -r /etc/shadow x":                              "ask",
		"jq --arg $(nproc) a . main.go":                                       "ask",
		"find . -name $(nproc) -name -x":                                      "ask",
		"for i in $(nproc); do paste -d $i -d .env main.go; done":             "ask",
		`paste -d "$(wc -l < missing)" -d x main.go`:                          "allow",
		"head -n $(wc -l < main.go) README.md":                                "allow",
		"n=$((1+2)); git log -n $n --oneline":                                 "allow",
		"git log -n $? --oneline":                                             "allow",
		`git log -n "$(nproc)" --oneline`:                                     "allow",
		"i=0; while [ $i -lt 3 ]; do head -n $i -q main.go; i=$((i+1)); done": "allow",
	} {
		if v := decide(t, f, command, policy.Default); v.Effect.String() != want {
			t.Errorf("%q: %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, want)
		}
	}
}

// TestNamesOfCommits: the number of a commit that git prints is no flag and no file.
func TestNamesOfCommits(t *testing.T) {
	f := newFixture()
	for command, want := range map[string]string{
		"git diff --stat $(git merge-base main HEAD)":                                    "allow",
		"git log --oneline $(git merge-base main HEAD)..HEAD":                            "allow",
		`git diff --stat "$(git merge-base main HEAD)" -- src`:                           "allow",
		"base=$(git merge-base main HEAD); git diff --stat $base HEAD":                   "allow",
		"git log --oneline $(git rev-parse --verify main 2>/dev/null)..HEAD":             "allow",
		"git diff --stat $(git rev-parse $x)":                                            "ask",
		"git show --stat $(git rev-parse HEAD)":                                          "allow",
		"git show --stat $(git rev-parse --short HEAD~2)":                                "allow",
		"git log --oneline $(git rev-list -n 3 HEAD)":                                    "allow",
		"for c in $(git rev-list HEAD -n 3); do git show -s --format='%h %s' $c; done":   "allow",
		"for c in $(git log --format=%h -5); do git show --stat $c; done":                "allow",
		"git log --format=%h -5 | xargs -n1 git show --stat":                             "allow",
		"git log --format=%H --since='2 weeks ago' | xargs -I{} git log -1 --oneline {}": "allow",
		"git log --format=%h -5 | while read -r h; do git show --stat $h; done":          "allow",
		"git show $(git rev-parse HEAD:.env)":                                            "ask",
		"git show $(git rev-parse main.go)":                                              "ask",
		"git show $(git rev-parse 'HEAD^{tree}')":                                        "ask",
		"git show $(git rev-parse --abbrev-ref HEAD)":                                    "ask",
		"git show $(git rev-parse main dev)":                                             "ask",
		"git show $(git rev-list --objects HEAD)":                                        "ask",
		"git show $(git log --format=%s)":                                                "ask",
		"git show $(git log --format=%h --format=%s)":                                    "ask",
		"git show $(git log --pretty=%s --format=%h)":                                    "ask",
		"git diff --no-index main.go $(git merge-base a b 2>/dev/null)/etc/shadow":       "ask",
		"git diff main.go $(git merge-base a b 2>/dev/null)/etc/shadow":                  "ask",
		"git diff --no-index main.go $(git merge-base a b 2>/dev/null).env":              "ask",
		"git blame $(git merge-base a b 2>/dev/null).env":                                "ask",
		"git hash-object $(git merge-base a b)":                                          "ask",
		"git check-ignore $(git merge-base a b)/x":                                       "ask",
		"git log $(git merge-base a b)/../.env":                                          "ask",
		"git log $(git merge-base a b)..x/../../y":                                       "ask",
		"git log $(git merge-base a b)../x":                                              "ask",
		"git log $(git merge-base a b)~2..origin/main":                                   "allow",
		"git diff $(git merge-base a b)^ HEAD":                                           "allow",
		"git log --format=%h | xargs -I x -n1 git diff --no-index main.go x":             "ask",
		"git show $(git log --format=%h%d)":                                              "ask",
		"git show $(git log -p --format=%h)":                                             "ask",
		"git show $(git log --format=%h --graph)":                                        "ask",
		"git show $(git describe --tags)":                                                "ask",
		"git branch --format='%(refname)' | xargs git log":                               "ask",
		"git log --format=%h | xargs git checkout":                                       "ask",
		"git log --format=%h | xargs cat":                                                "ask",
		"git log --format=%h | xargs -I{} git show {}:.env":                              "ask",
		"git log --format=%h | xargs git log --":                                         "ask",
		"git log --format=%h | { head -c 3; xargs git show; }":                           "ask",
		"git log --format=%h | while read -r h; do head -c 3; git show $h; done":         "ask",
		"git log --format=%h | while read -r h; do git show $h:.env; done":               "ask",
		"git diff --stat $(git rev-parse --output=x)":                                    "ask",
		"git log --oneline $(echo --output=x)..HEAD":                                     "ask",
		"git diff --stat -- $(git merge-base main HEAD)":                                 "ask",
		"git diff --stat $(git merge-base main HEAD)*":                                   "ask",
		"git diff --stat $(git merge-base main HEAD)$x":                                  "ask",
		"git diff --stat -$(git merge-base main HEAD)":                                   "ask",
		"git show $(git merge-base main HEAD):.env":                                      "ask",
		"git diff --no-index $(git merge-base main HEAD) /etc/shadow":                    "ask",
		"cat $(git merge-base main HEAD)":                                                "ask",
		"git() { echo --output=x; }; git diff $(git merge-base main HEAD)":               "ask",
		"git checkout $(git merge-base main HEAD)":                                       "ask",
		"git log --oneline -n $(git merge-base main HEAD)":                               "ask",
		"git diff --stat $(git -c alias.merge-base='!x' merge-base main HEAD)":           "ask",
	} {
		if v := decide(t, f, command, policy.Default); v.Effect.String() != want {
			t.Errorf("%q: %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, want)
		}
	}
}
