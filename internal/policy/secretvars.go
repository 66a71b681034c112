package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// A secretVar says what a variable of the environment names: the file or folder itself
// that holds secrets, or a folder in which below do. Several may be listed where list
// is set.
type secretVar struct {
	below []string
	list  bool
}

// secretVars are the variables by which programs are told where their passwords,
// tokens and keys are, in place of those of homeSecrets.
var secretVars = map[string]secretVar{
	"KUBECONFIG": {list: true}, "TALOSCONFIG": {}, "HELM_REGISTRY_CONFIG": {}, "HELM_REPOSITORY_CONFIG": {}, "MINIKUBE_HOME": {below: []string{".minikube", "profiles", "certs"}},
	"AWS_SHARED_CREDENTIALS_FILE": {}, "AWS_CONFIG_FILE": {}, "AWS_WEB_IDENTITY_TOKEN_FILE": {}, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": {}, "AWS_BOTO_CONFIG": {}, "BOTO_CONFIG": {}, "S3CMD_CONFIG": {},
	"GOOGLE_APPLICATION_CREDENTIALS": {}, "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE": {}, "CLOUDSDK_CONFIG": {}, "GOOGLE_GHA_CREDS_PATH": {},
	"AZURE_CONFIG_DIR": {}, "AZURE_FEDERATED_TOKEN_FILE": {}, "AZURE_AUTH_LOCATION": {}, "ARM_CLIENT_CERTIFICATE_PATH": {}, "OCI_CLI_CONFIG_FILE": {}, "OCI_CONFIG_FILE": {}, "OS_CLIENT_CONFIG_FILE": {},
	"LINODE_CLI_CONFIG": {}, "SCW_CONFIG_PATH": {}, "HCLOUD_CONFIG": {}, "DATABRICKS_CONFIG_FILE": {}, "SNOWFLAKE_HOME": {}, "DBT_PROFILES_DIR": {below: []string{"profiles.yml"}}, "KAGGLE_CONFIG_DIR": {below: []string{"kaggle.json"}},
	"TF_CLI_CONFIG_FILE": {}, "TERRAFORM_CONFIG": {}, "PULUMI_HOME": {below: []string{"credentials.json"}}, "VAULT_CLIENT_KEY": {}, "VAULT_TOKEN_FILE": {}, "CONSUL_HTTP_TOKEN_FILE": {}, "CONSUL_CLIENT_KEY": {}, "NOMAD_CLIENT_KEY": {},
	"ANSIBLE_VAULT_PASSWORD_FILE": {}, "ANSIBLE_PRIVATE_KEY_FILE": {}, "SOPS_AGE_KEY_FILE": {}, "STEPPATH": {}, "GNUPGHOME": {}, "PASSWORD_STORE_DIR": {}, "NETRC": {}, "KRB5CCNAME": {}, "KRB5_KTNAME": {}, "KRB5_CLIENT_KTNAME": {}, "XAUTHORITY": {}, "ICEAUTHORITY": {},
	"PGPASSFILE": {}, "PGSERVICEFILE": {}, "PGSSLKEY": {}, "MYSQL_TEST_LOGIN_FILE": {}, "REDISCLI_RCFILE": {}, "ODBCINI": {},
	"DOCKER_CONFIG": {below: []string{"config.json", "contexts/tls"}}, "DOCKER_CERT_PATH": {below: []string{"key.pem"}}, "REGISTRY_AUTH_FILE": {}, "BUILDAH_AUTH_FILE": {},
	"CARGO_HOME": {below: []string{"credentials", "credentials.toml"}}, "NPM_CONFIG_USERCONFIG": {}, "npm_config_userconfig": {}, "NPM_CONFIG_GLOBALCONFIG": {}, "npm_config_globalconfig": {}, "PIP_CONFIG_FILE": {}, "UV_CREDENTIALS_DIR": {}, "POETRY_CONFIG_DIR": {below: []string{"auth.toml"}}, "TWINE_CONFIG_FILE": {},
	"BUNDLE_USER_CONFIG": {}, "COMPOSER_HOME": {below: []string{"auth.json"}}, "GRADLE_USER_HOME": {below: []string{"gradle.properties"}}, "HEX_HOME": {below: []string{"hex.config"}}, "PUB_CACHE": {below: []string{"credentials.json"}}, "GOAUTH_FILE": {}, "CONAN_HOME": {below: []string{"credentials.json"}},
	"GH_CONFIG_DIR": {}, "GLAB_CONFIG_DIR": {}, "HUB_CONFIG": {}, "SENTRY_PROPERTIES": {}, "RCLONE_CONFIG": {}, "RESTIC_PASSWORD_FILE": {}, "RESTIC_REPOSITORY_FILE": {}, "BORG_KEYS_DIR": {}, "BORG_KEY_FILE": {}, "NGROK_CONFIG": {}, "TELEPORT_HOME": {}, "BW_DATA_DIR": {}, "BITWARDENCLI_APPDATA_DIR": {}, "OP_CONFIG_DIR": {}, "LPASS_HOME": {},
	"CODEX_HOME": {below: []string{"auth.json", "history.jsonl"}}, "CLAUDE_CONFIG_DIR": {below: []string{".credentials.json", ".claude.json", "history.jsonl"}}, "HF_HOME": {below: []string{"token", "stored_tokens"}}, "HF_TOKEN_PATH": {}, "HF_STORED_TOKENS_PATH": {}, "OLLAMA_HOME": {below: []string{"id_ed25519"}},
	"MUTTRC": {}, "IRSSI_HOME": {}, "WEECHAT_HOME": {below: []string{"sec.conf"}}, "WGETRC": {}, "CURL_HOME": {below: []string{".curlrc", ".netrc"}}, "HTTPIE_CONFIG_DIR": {below: []string{"sessions"}},
	"HISTFILE": {}, "LESSHISTFILE": {}, "PYTHON_HISTORY": {}, "NODE_REPL_HISTORY": {}, "PSQL_HISTORY": {}, "MYSQL_HISTFILE": {}, "SQLITE_HISTORY": {}, "REDISCLI_HISTFILE": {},
}

// NamedSecrets lists, in order, the files and folders that variables of environments
// name as holding secrets: absolute, as written. A name that is not absolute counts from
// dir. What holds dir or home, and a device, is not among them: nothing could be done any
// more, or there is no secret in it.
func NamedSecrets(dir, home string, envs ...func(name string) string) (out []string) {
	add := func(p string) {
		if rest, ok := strings.CutPrefix(p, "FILE:"); ok { // of Kerberos
			p = rest
		}
		if p = strings.TrimSpace(p); p == "" || strings.Contains(p, "\x00") {
			return
		}
		if !filepath.IsAbs(p) {
			if dir == "" {
				return
			}
			p = filepath.Join(dir, p)
		}
		p = filepath.Clean(p)
		for _, kept := range []string{dir, home} {
			if kept != "" && Within(p, kept, false) {
				return
			}
		}
		if slashed := filepath.ToSlash(p); slashed == "/" || Within("/dev", slashed, false) || Within("/proc", slashed, false) {
			return
		}
		out = append(out, p)
	}
	for _, env := range envs {
		for name, v := range secretVars {
			for _, at := range v.places(env(name)) {
				add(at)
			}
		}
		for name, under := range map[string]string{"XDG_CONFIG_HOME": ".config/", "XDG_DATA_HOME": ".local/share/", "XDG_CACHE_HOME": ".cache/"} {
			if at := env(name); filepath.IsAbs(at) && filepath.Clean(at) != filepath.Join(home, filepath.FromSlash(under)) {
				for _, s := range homeSecrets {
					if rest, ok := strings.CutPrefix(s, under); ok {
						add(filepath.Join(at, filepath.FromSlash(rest)))
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// places are the paths that a value of the variable stands for.
func (v secretVar) places(value string) (out []string) {
	all := []string{value}
	if v.list {
		all = filepath.SplitList(value)
	}
	for _, at := range all {
		switch {
		case at == "":
		case len(v.below) == 0:
			out = append(out, at)
		default:
			for _, b := range v.below {
				out = append(out, filepath.Join(at, filepath.FromSlash(b)))
			}
		}
	}
	return out
}

// secret reports whether the content of a file is read that is known to hold secrets: by
// the path that it is at, by a name that leads there, or because a variable names it.
func (r Rules) secret(a Read) bool {
	in := ""
	if a.Folder {
		in = "/f"
	}
	return !a.List && (r.holdsSecrets(a.Path+in) || HoldsSecrets(a.Asked+in) || r.holdsSecrets(a.Named+in))
}

func (r Rules) holdsSecrets(file string) bool {
	return HoldsSecrets(file) || slices.ContainsFunc(r.Secrets, func(s string) bool { return Within(s, file, r.FoldCase) })
}
