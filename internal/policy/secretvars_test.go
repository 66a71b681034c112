package policy_test

import (
	"path"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What variables name as holding secrets: each kind of value, and what is none.
func TestNamedSecrets(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"KUBECONFIG", "/k/b:/k/a:rel::/dev/null", []string{"/k/a", "/k/b", dir + "/rel"}},
		{"AWS_SHARED_CREDENTIALS_FILE", "/a/c", []string{"/a/c"}}, {"GOOGLE_APPLICATION_CREDENTIALS", "sa.json", []string{dir + "/sa.json"}},
		{"NETRC", "/n/../m", []string{"/m"}}, {"GNUPGHOME", "/g", []string{"/g"}}, {"PGPASSFILE", "/p", []string{"/p"}}, {"AZURE_CONFIG_DIR", "/z/", []string{"/z"}},
		{"DOCKER_CONFIG", "/d", []string{"/d/config.json", "/d/contexts/tls"}}, {"CARGO_HOME", "/c", []string{"/c/credentials", "/c/credentials.toml"}},
		{"KRB5CCNAME", "FILE:/tmp/krb5cc_1", []string{"/tmp/krb5cc_1"}}, {"npm_config_userconfig", "/x/.npmrc", []string{"/x/.npmrc"}},
		{"NPM_CONFIG_USERCONFIG", "/dev/null", nil}, {"GNUPGHOME", dir, nil}, {"GNUPGHOME", "/", nil}, {"STEPPATH", home, nil}, {"STEPPATH", "/home", nil}, {"GNUPGHOME", "", nil},
		{"CARGO_TARGET_DIR", "/t", nil}, {"PATH", "/bin", nil}, {"XDG_CONFIG_HOME", home + "/.config", nil}, {"XDG_CONFIG_HOME", "rel", nil},
	} {
		got := policy.NamedSecrets(dir, home, func(string) string { return "" }, func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s=%s: %q, want %q", c.name, c.value, got, c.want)
		}
	}
	moved := policy.NamedSecrets(dir, home, func(name string) string {
		return map[string]string{"XDG_CONFIG_HOME": "/xdg/c", "XDG_DATA_HOME": "/xdg/d"}[name]
	})
	for name, want := range map[string]bool{"/xdg/c/gh": true, "/xdg/c/gcloud": true, "/xdg/d/keyrings": true, "/xdg/c/git/config": false, "/xdg/c": false} {
		if slices.Contains(moved, name) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
}

// They are asked about like other secrets, by their path and by a name that leads there,
// until a rule allows it; what is beside them is not.
func TestNamedSecretsAsk(t *testing.T) {
	for _, c := range []struct {
		list  []string
		read  policy.Read
		check policy.Check
	}{
		{nil, policy.Read{Path: dir + "/kube.yaml"}, policy.CheckSecret},
		{nil, policy.Read{Path: dir + "/real", Named: dir + "/kube.yaml"}, policy.CheckSecret},
		{nil, policy.Read{Path: dir + "/gpg/private/x"}, policy.CheckSecret},
		{[]string{"allow Read(kube.yaml)"}, policy.Read{Path: dir + "/kube.yaml"}, policy.CheckRule},
		{nil, policy.Read{Path: dir + "/kube.yaml2"}, policy.CheckReadOnly}, {nil, policy.Read{Path: dir + "/main.go"}, policy.CheckReadOnly},
	} {
		r := rules(t, c.list...)
		r.Secrets = []string{dir + "/kube.yaml", dir + "/gpg"}
		v := policy.Decide(r, policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{c.read}})
		if v.Check != c.check {
			t.Errorf("%+v: %s %s, want %s", c.read, v.Effect, v.Check, c.check)
		}
		if cover := policy.Covers(r)(policy.Default, c.read.Path, c.read.Path); (cover == policy.Secret) != (c.check == policy.CheckSecret && c.read.Named == "") {
			t.Errorf("%+v: a search has it as %v", c.read, cover)
		}
	}
}

// What further programs keep at home, and files beside it that everybody reads.
func TestHomeSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		".subversion/auth/svn.simple/x": true, ".ollama/id_ed25519": true, ".gitlab-runner/config.toml": true, ".muttrc": true, ".irssi/config": true, ".config/Cursor/User/globalStorage/state.vscdb": true,
		".docker/contexts/tls/x/key": true, ".pg_service.conf": true, ".viminfo": true, ".gemini/mcp-oauth-tokens.json": true, ".config/fish/fish_variables": true,
		".subversion/config": false, ".ollama/models/x": false, ".irssi/scripts/a.pl": false, ".config/Cursor/User/settings.json": false, ".docker/cli-plugins/x": false, ".cargo/config.toml": false,
		".cargo/registry/index/x": false, ".npm/_cacache/x": false, ".gradle/caches/x": false, ".config/fish/config.fish": false, ".ipython/profile_default/startup/a.py": false,
	} {
		if got := policy.HoldsSecrets(home + "/" + name); got != want || got != policy.SecretsIn(path.Dir(home+"/"+name))(path.Base(name)) {
			t.Errorf("%s: %t", name, got)
		}
	}
}
