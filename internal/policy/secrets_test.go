package policy_test

import (
	"path"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What the sandbox hides in the home folder is what reading asks about.
func TestSecretPlacesAsk(t *testing.T) {
	places := policy.SecretPlaces(home)
	for _, p := range []string{home + "/.config/git/credentials", home + "/.claude.json", home + "/.bash_history", home + "/.Xauthority", home + "/.m2/settings.xml"} {
		if !slices.Contains(places, p) {
			t.Errorf("the sandbox does not hide %s", p)
		}
	}
	r := policy.Rules{Dir: home, Dirs: []string{home}, Home: home}
	for _, p := range places {
		if len(p) < len(home) || p[:len(home)] != home || slices.Contains([]string{home + "/.ssh", home + "/.gnupg", home + "/.aws", home + "/.azure", home + "/.kube", home + "/.password-store"}, p) {
			continue // the system's own, and folders that are only listed
		}
		v := policy.Decide(r, policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: p}}})
		if v.Effect != policy.Ask || v.Check != policy.CheckSecret {
			t.Errorf("%s: %s %s", p, v.Effect, v.Check)
		}
	}
	for _, p := range []string{"/.config/git/config", "/.m2/repository/a.jar", "/src/.gradle/x", "/continue/config.json", "/.claude/settings.json"} {
		v := policy.Decide(r, policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: home + p}}})
		if v.Check == policy.CheckSecret {
			t.Errorf("%s is no secret", p)
		}
	}
}

func TestHoldsSecrets(t *testing.T) {
	for file, want := range map[string]bool{
		".env": true, ".env.prod": true, "a/prod.env": true, ".envrc": true, ".env.example": false, "example.env": false, "sample.env": false, "env": false,
		"client_secret.json": true, "client_secret_42.json": true, "x-firebase-adminsdk-1.json": true, "client_secrets.go": false, ".dev.vars": true, "terraform.tfvars": true, ".aws-credentials": true,
		"server.pem": true, "id_rsa": true, "id_rsa.pub": false, ".npmrc": true,
		"node_modules/agent/test/snakeoil.key": false, "node_modules/a/.npmrc": false, ".venv/lib/python3.12/site-packages/certifi/cacert.pem": false, "usr/lib/python3/dist-packages/x/t.pem": false, "etc/cacert.pem": false,
		"node_modules/a/.env": true, "node_modules/id_rsa": true, "node_modules.pem": true, "site-packages.d/t.key": true,
		"secrets.toml": true, ".streamlit/secrets.toml": true, "secret.yaml": true, "k8s/secret.yml": true, "secret.json": true, "secret.toml": true, "password.txt": true, "Passwords.txt": true, "auth.json": true, ".secret": true, "token": true, ".token": true, "tokens.json": true,
		"chart/templates/secret.yaml": false, "public/locales/en/auth.json": false, "src/styles/tokens.json": false, "design-tokens/tokens.json": false, "node_modules/x/tokens.json": false, "tokens.js": false, "token.go": false, "secret.py": false, "password.md": false, "auth.yaml": false,
		"secrets/db_password": true, ".secrets/prod/api-key": true, "secrets/app.yaml": true, "secrets/prod/app.json": true, "secrets/db.txt": true, "secrets/x.conf": true,
		"internal/secrets/secrets.go": false, "internal/secrets/README": false, "secrets/readme.txt": false, "secrets/store.py": false, "secrets/index.ts": false, "secrets/docs.md": false, "secrets/package.json": false, "secrets/Makefile": false, "secrets/a/b/c.yaml": false, "secrets/Cargo.toml": false, "secrets/.gitignore": false, "secrets": false,
	} {
		if got := policy.HoldsSecrets("/w/" + file); got != want || got != policy.SecretsIn(path.Dir("/w/"+file))(path.Base(file)) {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
