package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
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
			npm config get _authToken
			npm config get //registry/:_auth
			npm config set registry x
			npm config get
			kubectl logs
			kubectl config view --raw
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
