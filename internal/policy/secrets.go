package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// homeSecrets are files and folders below a home folder that hold passwords,
// tokens, keys, or what was typed at a prompt, by what keeps them there.
var homeSecrets = []string{
	// version control and its hosts
	".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea",
	".subversion/auth", ".subversion/servers", ".bazaar/authentication.conf", ".config/breezy/authentication.conf", ".p4tickets", ".gitcookies", ".config/.jira", ".gitlab-runner/config.toml",
	// agents and assistants
	".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json",
	".config/cursor/auth.json", ".cursor/mcp.json", ".qwen/oauth_creds.json", ".config/goose/secrets.yaml", ".codeium/config.json", ".local/share/crush/crush.json", ".claude/history.jsonl",
	".factory/auth.json", ".local/share/amp/secrets.json", ".anthropic", ".openai", ".config/mods", ".config/aichat",
	".ollama/id_ed25519", ".gemini/mcp-oauth-tokens.json", ".gemini/.env", ".local/share/opencode/mcp-auth.json", ".local/share/amazon-q", ".augment/session.json", ".pi/agent/auth.json", ".codex/history.jsonl",
	".config/Claude", ".config/shell_gpt", ".config/opencode", ".config/github-copilot", ".copilot", ".continue/config.json", ".continue/config.yaml", ".continue/.env",
	// clouds and hosting
	".config/gcloud", ".config/doctl", ".config/heroku", ".config/hcloud", ".config/scw", ".config/linode-cli", ".config/configstore", ".config/stripe",
	".config/openstack", ".circleci/cli.yml", ".config/neonctl", ".aliyun", ".bluemix", ".mc/config.json", ".influxdbv2", ".config/helm/repositories.yaml", ".travis", ".turso", ".config/turso",
	".oci", ".pulumi/credentials.json", ".terraform.d/credentials.tfrc.json", ".databrickscfg", ".snowflake", ".vercel", ".railway", ".supabase", ".argocd",
	".terraformrc", ".config/.wrangler", ".cloudflared", ".config/ngrok", ".ngrok2", ".doppler", ".snowsql", ".dbt/profiles.yml", ".local/share/com.vercel.cli", ".minikube", ".step",
	".vultr-cli.yaml", ".civo.json", ".ovh.conf", ".config/exoscale", ".config/planetscale", ".config/prisma-platform", ".convex/config.json", ".local/share/heroku", ".modal.toml", ".runpod/config.toml", ".vast_api_key",
	".talos/config", ".rancher/cli2.json", ".lima/_config/user", ".config/infisical", ".infisical", ".nomad-token", ".consul-token", ".koyeb.yaml", ".render/cli.yaml",
	".config/helm/registry", ".docker/machine", ".config/boto", ".config/argocd", ".sentryclirc", ".netlify/config.json", ".config/netlify", ".fly/config.yml", ".config/rclone",
	// packages and builds
	".docker/config.json", ".config/containers/auth.json", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml",
	".docker/contexts/tls", ".conan2/credentials.json", ".luarocks/upload_config.lua",
	".yarnrc", ".yarnrc.yml", ".bundle/config", ".local/share/gem/credentials", ".config/pypoetry", ".local/share/uv/credentials", ".config/NuGet", ".config/pip", ".pip/pip.conf",
	".pub-cache/credentials.json", ".config/dart", ".hex", ".ivy2/.credentials", ".sbt/1.0/credentials.sbt", ".sbt/.credentials", ".lein/credentials.clj", ".lein/credentials.clj.gpg", ".gradle/gradle.properties", ".gem/credentials", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet/NuGet.Config",
	// data and models
	".pg_service.conf", ".odbc.ini", ".usqlpass", ".clickhouse-client", ".local/share/DBeaverData", ".config/Postman", ".config/Insomnia", ".httpie/sessions", ".config/httpie/sessions", ".curlrc", ".wgetrc", ".config/earthengine/credentials", ".cdsapirc",
	".kaggle", ".huggingface/token", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".config/huggingface", ".config/io.datasette.llm", ".jupyter", ".local/share/jupyter/runtime", ".mylogin.cnf",
	// passwords, keys and money
	".config/age", ".authinfo", ".authinfo.gpg", ".smbcredentials", ".local/share/atuin/key", ".android/adbkey", ".config/bitwarden", ".config/syncthing", ".config/weechat/sec.conf",
	".pki/nssdb", ".config/rbw", ".local/share/rbw", ".config/gopass", ".local/share/lpass", ".lpass", ".config/keybase", ".config/borg/keys", ".config/restic", ".config/b2", ".b2_account_info", ".passwd-s3fs", ".davfs2", ".config/Nextcloud", ".config/lftp", ".lftprc",
	".config/remmina", ".local/share/remmina", ".remmina", ".config/rustdesk", ".anydesk", ".config/openvpn", ".config/wireguard", ".near-credentials", ".foundry/keystores", ".sui/sui_config", ".lnd",
	".irssi/config", ".config/hexchat", ".weechat/sec.conf", ".znc", ".config/Element", ".config/Mattermost", ".config/profanity",
	".config/filezilla", ".purple", ".config/op", ".config/1Password", ".config/Bitwarden", ".config/Bitwarden CLI", ".config/keepassxc", ".local/share/keyrings", ".local/share/kwalletd",
	".tsh", ".acme.sh", ".putty", ".config/Signal", ".local/share/TelegramDesktop", ".config/discord", ".mcp-auth", ".chef", ".config/cachix", ".ansible/vault_pass",
	".config/sops", ".vault_pass", ".vnc", ".Xauthority", ".config/solana", ".electrum", ".ethereum", ".bitcoin",
	// mail
	".muttrc", ".mutt", ".config/mutt", ".neomuttrc", ".config/neomutt", ".config/msmtp", ".offlineimaprc", ".config/aerc", ".config/himalaya", ".getmail", ".local/share/evolution", ".config/evolution",
	".msmtprc", ".mbsyncrc", ".fetchmailrc", ".thunderbird",
	// browsers
	"snap/firefox/common/.mozilla", ".var/app/org.mozilla.firefox/.mozilla", ".config/Code/User/globalStorage", ".config/Cursor/User/globalStorage", ".config/Windsurf/User/globalStorage", ".config/VSCodium/User/globalStorage", ".config/Slack",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/opera", ".config/vivaldi",
	"Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Cookies",
	// what was typed at a prompt
	".bash_history", ".zsh_history", ".sh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history",
	".lesshst", ".viminfo", ".local/share/nvim/shada", ".local/state/nvim/shada", ".local/share/atuin/history.db", ".local/share/zsh/history", ".config/nushell/history.txt", ".mycli-history", ".config/pgcli/history", ".duckdb_history", ".usql_history",
	".ipython/profile_default/history.sqlite", ".local/share/pry/pry_history", ".pry_history", ".php_history", ".mongodb", ".config/fish/fish_variables",
	".rediscli_history", ".irb_history", ".local/share/fish/fish_history",
}

// homeSecretsBy are homeSecrets in lower case and in segments, by the first.
var homeSecretsBy = sync.OnceValue(func() map[string][][]string {
	out := map[string][][]string{}
	for _, name := range homeSecrets {
		segs := strings.Split(strings.ToLower(name), "/")
		out[segs[0]] = append(out[segs[0]], segs)
	}
	return out
})

// homeSecretAt reports whether one of homeSecrets stands at segment i of a
// path in lower case, whatever is before it: it may be anybody's home.
func homeSecretAt(segs []string, i int) bool {
	for _, want := range homeSecretsBy()[segs[i]] {
		if len(segs)-i >= len(want) && slices.Equal(segs[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// secretNames are base names of well-known secrets.
var secretNames = map[string]bool{
	"id_rsa": true, "id_dsa": true, "id_ecdsa": true, "id_ed25519": true, "id_ecdsa_sk": true, "id_ed25519_sk": true,
	".netrc": true, "_netrc": true, ".pgpass": true, ".my.cnf": true, ".npmrc": true, ".pypirc": true, ".git-credentials": true,
	".htpasswd": true, "credentials.json": true, "service-account.json": true, "secrets.yml": true, "secrets.yaml": true, "secrets.json": true,
	"master.key": true, "shadow": true, ".vault-token": true, ".dockercfg": true, ".boto": true, ".s3cfg": true, "kubeconfig": true,
	"terraform.tfstate": true, "wallet.dat": true, ".credentials.json": true,
	".dev.vars": true, ".secrets": true, ".aws-credentials": true, "terraform.tfvars": true, "secrets.tfvars": true,
}

// appSecrets are names that programs and people give files with passwords and tokens, and
// others to files of words and styles: those lie in folders of wording.
var appSecrets = map[string]bool{
	"secrets.toml": true, "secret.yaml": true, "secret.yml": true, "secret.json": true, "secret.toml": true, ".secret": true,
	"password.txt": true, "passwords.txt": true, "auth.json": true, "token": true, ".token": true, "tokens.json": true,
}

// wording are folders of translations, of design tokens, and of templates, which name
// what is filled in later.
var wording = map[string]bool{
	"locales": true, "locale": true, "lang": true, "langs": true, "i18n": true, "l10n": true, "translations": true, "messages": true, "templates": true,
	"design": true, "design-tokens": true, "tokens": true, "theme": true, "themes": true, "styles": true, "style-dictionary": true, "figma": true,
}

// keptSecret reports whether a file lies in a folder for secrets, or one below it, and
// is of a kind that holds them: such a folder may be a package of source code as well,
// or a project.
func keptSecret(segs []string) bool {
	n := len(segs) - 1
	if !slices.ContainsFunc(segs[max(0, n-2):n], func(s string) bool { return s == "secrets" || s == ".secrets" }) {
		return false
	}
	switch name := segs[n]; path.Ext(name) {
	case "":
		return slices.ContainsFunc(credentialWords, func(w string) bool { return strings.Contains(name, w) })
	case ".json", ".yaml", ".yml", ".toml":
		return !projectFiles[strings.TrimSuffix(name, path.Ext(name))]
	case ".txt", ".ini", ".conf", ".cfg", ".properties", ".secret", ".token", ".pass", ".password", ".b64":
		return !strings.HasPrefix(name, "readme") && !strings.HasPrefix(name, "license") && !strings.HasPrefix(name, "requirements")
	}
	return false
}

// credentialWords are in the names of files without an ending that hold one secret.
var credentialWords = []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "jwt", "cert", "dsn"}

// projectFiles describe a project, whatever its folder is called, without their endings.
var projectFiles = map[string]bool{
	"package": true, "package-lock": true, "tsconfig": true, "jsconfig": true, "cargo": true, "pyproject": true, "composer": true, "deno": true, "go": true, "chart": true, "kustomization": true,
	"docker-compose": true, "compose": true, "mkdocs": true, "pnpm-lock": true, "schema": true, "action": true, "openapi": true, "rustfmt": true, "book": true,
}

var secretSuffixes = []string{".pem", ".p12", ".pfx", ".key", ".jks", ".keystore", ".ppk", ".kdbx", ".p8", ".asc.key"}

var secretFolders = map[string]bool{".ssh": true, ".gnupg": true, ".aws": true, ".azure": true, ".kube": true, ".password-store": true}
