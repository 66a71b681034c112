package shellread_test

import (
	"path"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestReadForms: forms of programs that only print need no question, and their
// relatives that change something or print secrets have one.
func TestReadForms(t *testing.T) {
	f := newFixture()
	for want, commands := range map[string]string{
		"allow": `
			GIT_PAGER=cat git log -3
			PAGER=cat git diff
			AWS_PAGER= ls
			GIT_TERMINAL_PROMPT=0 git status
			git config --global user.name
			git config --get-regexp --name-only http
			git config --get-regexp '^branch'
			helm status x
			helm status x -o table
			git config --local user.name
			git config --show-origin user.email
			pip freeze
			npm config get registry
			gpg --version
			kubectl logs -l app=x
			kubectl events -n x
			kubectl config view
			docker compose ls
			docker buildx ls
			gh api user
			gh api repos/x/y/pulls/1/comments --jq '.[].body'
			gh api -X GET repos/x/y
			gh search issues foo --limit 3
			gh status
			pstree -p
			ss -tln
			ip addr
			ip route show
			printenv PATH
			printenv HOME LANG`,
		"ask": `
			GIT_PAGER=./x git log
			PAGER='cat x' git diff
			git config --global user.name me
			git config --global --unset user.name
			git config --global name
			git config --edit
			git config --get-urlmatch http https://x
			git config get --url=https://x http
			git config get --all --regexp http
			git config --get-regexp extraheader
			git config --get-regexp '^http'
			git config --get-regexp 'credential'
			helm status x -o json
			helm status x --output=yaml
			npm config get _authToken
			npm config get //registry/:_auth
			npm config set registry x
			npm config get
			kubectl logs
			kubectl config view --raw
			kubectl config view --flatten
			kubectl config view --minify --flatten=true
			kubectl config set-context x
			docker compose down
			gh api -X POST repos/x/y
			gh api graphql
			gh api /graphql
			gh api https://example.com/x
			gh api repos/x/y -f a=b
			gh api repos/x/y --hostname example.com
			gh api repos/x/y --input file
			gh search issues foo --web
			ss -K dst 1.2.3.4
			ip addr add 10.0.0.1/8 dev eth0
			ip link set eth0 down
			printenv
			printenv API_KEY
			printenv PATH $x
			pstree -a`,
	} {
		for command := range strings.Lines(commands) {
			if command = strings.TrimSpace(command); command == "" {
				continue
			}
			if v := decide(t, f, command, policy.Default); v.Effect.String() != want {
				t.Errorf("%s: %s (%s), want %s", command, v.Effect, v.Reason, want)
			}
		}
	}
}

// TestFormsThatOnlyShow: of programs that else do anything, the forms that show something
// need no question.
func TestFormsThatOnlyShow(t *testing.T) {
	f := newFixture()
	for want, commands := range map[string]string{
		"allow": `
			less main.go
			less -N src/a.go README.md
			more main.go
			ssh -V
			tmux -V
			tmux ls
			tmux list-sessions -F '#{session_name}: #{session_windows}'
			tmux list-panes -a
			strace -V
			gdb --version
			docker-compose --version
			gcc -v
			gcc -dumpversion
			mvn -v
			npm run
			npm help install
			man ls
			man 3 printf
			man git-log | head -50
			man -k regex
			apropos grep
			whatis ls
			cargo help build
			rustc --print sysroot
			rustc --explain E0308
			rustc --version --verbose
			rustup show
			rustup toolchain list
			cargo fmt --version
			gem list
			apt show git
			lsof -i :3000
			lsof -ti:8080
			lsof -iTCP -sTCP:LISTEN -P -n
			netstat -tlnp
			ss -tlnp
			ldconfig -p | grep ssl
			lspci -nn
			lsmod
			sysctl kernel.pid_max
			sysctl -n hw.ncpu
			systemctl is-active nginx
			systemctl list-units --type=service --no-pager
			pkg-config --cflags zlib
			pkg-config --list-all
			javap -c -p Main.class
			openssl x509 -in main.go -noout -text
			shfmt -d src
			shellcheck main.go
			clang-format --dry-run src/a.go
			bat main.go
			bat -pp --color=never src/a.go
			eza -la
			eza --tree -L 2 src
			yq eval '.a' data.txt
			yq e -o=json '.a' data.txt
			podman ps -a
			podman logs --tail 5 web
			docker context show
			kubectl rollout status deploy/x
			helm search repo x
			gh workflow view ci.yml
			gh variable list
			gh secret list
			ip -br addr
			ip -4 a
			lsb_release -a
			timeout 5 ssh -V
			kill -0 123
			xmllint --noout data.txt
			xmllint --xpath '//version' data.txt
			cat /etc/os-release
			grep MemTotal /proc/meminfo
			docker run --help
			docker compose up --help
			kubectl apply --help
			gh pr create --help
			helm upgrade --help
			npm install --help
			cargo build --help
			pip install --help
			git commit -h
			git push -h`,
		"ask": `
			less +!id main.go
			less -o x main.go
			less .env
			less /etc/shadow
			less $x
			less *
			env -i less main.go
			more .env
			more +/x main.go
			ssh -V host
			ssh -Vo ProxyCommand=id host
			./ssh -V
			tmux ls -F '#(id)'
			tmux ls -F '#{E:@x}'
			tmux ls -F $x
			tmux ls \; kill-server
			tmux -f x ls
			tmux new -d id
			tmux list-panes -f '#(id)'
			tmux display-message -p '#S'
			tmux save-buffer x
			strace -V ls
			strace -o x -V
			gdb --version x
			gdb -ex 'shell id' --version
			docker-compose ps
			gcc -v main.c
			gcc -v -o x
			gcc -dumpversion -o x main.c
			npm run build
			npm help --viewer x
			npm help $x
			man ./main.go
			man src/a.go
			man -l main.go
			man -P id ls
			man -H ls
			man $x
			env -i man ls
			MANPAGER=./x man ls
			man -k -P id ls
			cargo help /etc/passwd
			rustc --print cfg=x
			rustc --print=cfg=x
			rustc --print link-args
			rustc --print sysroot main.rs
			rustup show x
			rustup toolchain install nightly
			rustup run nightly id
			gem list -r
			gem install x
			apt show ./x.deb
			apt install git
			lsof -i @evil.example.com:80
			lsof -i evil.example.com
			lsof -i@evil.example.com
			lsof -r 1
			lsof +r 1
			lsof -i :80 host
			netstat -c
			netstat 5
			ss -K
			ss -D x
			ldconfig
			ldconfig -C x -p
			lspci -q
			lspci -i /etc/shadow
			dmesg -C
			sysctl kernel.pid_max=5
			sysctl -w kernel.pid_max=5
			sysctl -p
			sysctl $x
			systemctl restart nginx
			systemctl status nginx
			systemctl -H host is-active x
			systemctl is-active -H host x
			systemctl show-environment
			systemctl edit x
			journalctl --rotate
			pkg-config --cflags /etc/x.pc
			pkg-config --log-file=x zlib
			jar tf .env
			jar tf @args
			jar xf x.jar
			jar cf x.jar src
			javap http://example.com/x.class
			javap @args
			javap -J-agentpath:x Main
			javap -cp x Main
			openssl x509 -in main.go -out x
			openssl x509 -in main.go -engine x
			openssl x509 -in http://example.com/x
			openssl x509 -in /etc/shadow -text
			shfmt -w src
			shfmt -l -w src
			shellcheck -x main.go
			shellcheck .env
			clang-format -i src/a.go
			clang-format --style=file:/etc/shadow src/a.go
			clang-format --files=x
			clang-format @x
			bat .env
			bat --pager=id main.go
			bat --paging=always main.go
			bat cache --build
			bat cache
			bat --config-file x main.go
			eza /etc
			eza -X
			yq eval -i '.a' data.txt
			yq e 'load("x")' data.txt
			yq e '.a' .env
			podman run x
			podman exec web id
			docker context use x
			kubectl rollout restart deploy/x
			helm install x
			helm repo list
			gh workflow run ci.yml
			gh workflow view ci.yml --web
			gh workflow view -R evil.example.com/x/y ci.yml
			gh variable set x
			gh secret set x
			ip -br link set eth0 down
			ip -batch x
			sudo ssh -V
			kill 123
			kill -9 123
			kill -0
			xmllint --output x data.txt
			xmllint --noout http://example.com/x
			xmllint --noout --loaddtd data.txt
			xmllint --noent data.txt
			xmllint --shell data.txt
			cat /etc/passwd
			cat /etc/os-release /etc/shadow
			cat /proc/self/environ
			cat /proc/1/meminfo
			docker run x --help
			docker run --help x
			docker exec web ls --help
			docker compose exec web --help
			docker run -h x
			kubectl exec x -- id --help
			kubectl mine --help
			gh alias --help
			gh mine --help
			npm run x --help
			npm exec x --help
			cargo run -- --help
			cargo mine --help
			git mine -h
			git commit -h x
			git push -h origin
			python3 -m json.tool data.json
			cd src && python3 -m json.tool a.go x
			cd src && python3 -m json.tool --outfile=x a.go
			cd src && python3 -m json a.go
			cd src && python3 -m pip list
			cd src && PYTHONPATH=. python3 -m json.tool a.go`,
	} {
		for command := range strings.Lines(commands) {
			if command = strings.TrimSpace(command); command == "" {
				continue
			}
			if v := decide(t, f, command, policy.Default); v.Effect.String() != want {
				t.Errorf("%s: %s (%s), want %s", command, v.Effect, v.Reason, want)
			}
		}
	}
}

// TestMavenOfAFolder: Maven starts with the options that a folder has for it.
func TestMavenOfAFolder(t *testing.T) {
	f := newFixture()
	f.mkdir("/home/u/project/.mvn")
	for _, command := range []string{"mvn -v", "cd src && mvn --version"} {
		if v := decide(t, f, command, policy.Default); v.Effect != policy.Ask {
			t.Errorf("%s: %s (%s)", command, v.Effect, v.Reason)
		}
	}
}

// TestPythonsOwnModules: python -m imports from the folder first.
func TestPythonsOwnModules(t *testing.T) {
	for _, c := range []struct{ made, command, want string }{
		{"", "cd src && python3 -m json.tool a.go", "allow"},
		{"", "cd src && cat a.go | python3 -m json.tool --indent 2 | head", "allow"},
		{"setup.py", "cd src && python -m json.tool < a.go", "allow"},
		{"cmd/x.go", "cd src && python3 -m json.tool a.go", "allow"},
		{"json.py", "cd src && python3 -m json.tool a.go", "ask"},
		{"Argparse.PY", "cd src && python3 -m json.tool a.go", "allow"},
		{"argparse.cpython-311-x86_64-linux-gnu.so", "cd src && python3 -m json.tool a.go", "ask"},
		{"re.pyc", "cd src && python3 -m json.tool a.go", "ask"},
		{"_json.py", "cd src && python3 -m json.tool a.go", "ask"},
		{"json/__init__.py", "cd src && python3 -m json.tool a.go", "ask"},
		{"", "cd src && touch re.py && python3 -m json.tool a.go", "ask"},
		{"", "cd src && env -i python3 -m json.tool a.go", "ask"},
		{"", "cd $x && python3 -m json.tool a.go", "ask"},
	} {
		f := newFixture()
		if c.made != "" {
			f.mkdir(path.Dir("/home/u/project/src/" + c.made))
			f.files["/home/u/project/src/"+c.made] = true
		}
		if v := decide(t, f, c.command, policy.Default); v.Effect.String() != c.want {
			t.Errorf("%s: %q: %s (%s), want %s", c.made, c.command, v.Effect, v.Reason, c.want)
		}
	}
}

// TestCompose: what docker compose shows of a project needs no question as long as the
// project's files name nothing that it would fetch, and no other place of its own.
func TestCompose(t *testing.T) {
	const plain = "services:\n  web:\n    image: x\n"
	for _, c := range []struct {
		files   map[string]string
		command string
		want    string
	}{
		{nil, "docker compose ps", "allow"},
		{map[string]string{"compose.yaml": plain, ".env": "KEY=x\n"}, "docker compose ps -a", "allow"},
		{map[string]string{"docker-compose.yml": plain}, "docker compose logs --tail=50 web", "allow"},
		{map[string]string{"docker-compose.yml": plain}, "cd src && docker compose images", "allow"},
		{map[string]string{"compose.yaml": "include:\n  - oci://x\n" + plain}, "docker compose ps", "ask"},
		{map[string]string{"compose.yaml": "include:\n  - oci://x\n" + plain}, "cd src && docker compose ps", "ask"},
		{map[string]string{"compose.yaml": `"incl\x75de": [x]`}, "docker compose ps", "ask"},
		{map[string]string{"compose.yaml": plain, "compose.override.yaml": "services: {a: {extends: {file: x}}}"}, "docker compose ps", "ask"},
		{map[string]string{"compose.yaml": plain, ".env": "COMPOSE_FILE=git://x\n"}, "docker compose ps", "ask"},
		{map[string]string{"compose.yaml": plain, ".env": "DOCKER_HOST=ssh://x\n"}, "docker compose logs", "ask"},
		{map[string]string{"compose.yaml": "?"}, "docker compose ps", "ask"},
		{nil, "echo include: > compose.yaml; docker compose ps", "ask"},
		{map[string]string{"dev.yml": plain}, "docker compose -f dev.yml ps", "allow"},
		{map[string]string{"dev.yml": plain, "x/b.yml": plain}, "docker compose -f dev.yml -f x/b.yml logs web", "allow"},
		{map[string]string{"dev.yml": plain, "x/b.yml": "include: [y]"}, "docker compose -f dev.yml -f x/b.yml logs web", "ask"},
		{map[string]string{"dev.yml": plain, ".env": "COMPOSE_FILE=x"}, "docker compose -f dev.yml ps", "ask"},
		{map[string]string{"x/dev.yml": plain, "x/.env": "COMPOSE_FILE=x"}, "docker compose -f x/dev.yml ps", "ask"},
		{map[string]string{"dev.yml": "?"}, "docker compose -f dev.yml ps", "ask"},
		{nil, "docker compose -f /etc/x.yml ps", "ask"},
		{nil, "docker compose -f - ps", "ask"},
		{nil, "docker compose -f oci://x ps", "ask"},
		{nil, "docker compose -f dev.yml up", "ask"},
		{nil, "docker compose -f dev.yml --env-file x ps", "ask"},
		{nil, "docker compose logs -f", "ask"},
		{nil, "docker compose config", "ask"},
		{nil, "docker compose ps; docker compose down", "ask"},
	} {
		f := newFixture()
		for name := range c.files {
			f.files["/home/u/project/"+name] = true
		}
		w := f.world()
		w.Text = func(p string) (string, bool) {
			text, there := c.files[strings.TrimPrefix(p, "/home/u/project/")]
			return text, text != "?" && (there || path.Base(p) == ".env")
		}
		rules := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
		if v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(c.command, w).Actions}); v.Effect.String() != c.want {
			t.Errorf("%v: %q: %s (%s), want %s", c.files, c.command, v.Effect, v.Reason, c.want)
		}
	}
	if v := decide(t, newFixture(), "docker compose ps", policy.Default); v.Effect != policy.Ask {
		t.Errorf("nobody looked: %s (%s)", v.Effect, v.Reason)
	}
}

// TestGoListStartsNoOtherVersionControl: go asks the version control of the folder for
// the commit, and only git's settings are held off.
func TestGoListStartsNoOtherVersionControl(t *testing.T) {
	for _, c := range []struct{ made, command, want string }{
		{"", "go list ./...", "allow"},
		{"/home/u/project/.hg", "go list ./...", "ask"},
		{"/home/u/project/.hg", "go list -json .", "ask"},
		{"/home/u/project/.hg", "cd src && go list .", "ask"},
		{"/home/u/project/.hg", "go list -buildvcs=false ./...", "allow"},
		{"/home/u/project/.hg", "go list -buildvcs=true ./...", "ask"},
		{"/home/u/.svn", "go list .", "ask"},
		{"/home/u/project/.bzr", "go list .", "ask"},
		{"/home/u/project/.fslckout", "go list .", "ask"},
		{"/home/u/project/.hg", "go env GOFLAGS", "allow"},
	} {
		f := newFixture()
		if c.made != "" {
			f.mkdir(c.made)
		}
		if v := decide(t, f, c.command, policy.Default); v.Effect.String() != c.want {
			t.Errorf("%s: %q: %s (%s), want %s", c.made, c.command, v.Effect, v.Reason, c.want)
		}
	}
}
