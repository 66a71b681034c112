package secret_test

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/secret"
)

func TestEnviron(t *testing.T) {
	got := secret.Environ([]string{
		"ANTHROPIC_API_KEY=planted-one-1", "my_token= planted two 2\n", "DB_PASSWORD=correcthorse", "PGPASSWORD=planted-3", "GITHUB_PAT=planted-4", "SENTRY_DSN=planted-55",
		"DATABASE_URL=postgres://me:planted-6@db/x", "HTTPS_PROXY=http://u:planted-7@proxy:3128", "AWS_SECRET_ACCESS_KEY=/ab+cd/EFgh1234=",
		"PATH=/usr/bin:/bin", "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1", "GIT_ASKPASS=/usr/lib/git/askpass", "XAUTHORITY=/home/me/.Xauthority", "KEYBOARD=us-intl-x", "KEY=short",
		"TOKENIZERS_PARALLELISM=disabled", "GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json", "NPM_AUTH_TYPE=web-login-flow", "TOKEN_LIMIT=100000000", "AUTHOR=somebody", "HOME=/home/somebody", "EMPTY_KEY=",
	})
	want := []string{"planted-one-1", "planted two 2", "correcthorse", "planted-3", "planted-4", "planted-55", "planted-6", "planted-7", "/ab+cd/EFgh1234=", "us-intl-x"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
