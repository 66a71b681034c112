package proc

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// passed are the variables a command gets from our own environment: what
// every program expects (security.md, "Keys to children"), and settings of
// developer tools that hold no secret. A trailing * matches any rest.
var passed = sync.OnceValue(func() names {
	return newNames([]string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TMPDIR", "TZ",
		"HOSTNAME", "PWD", "XDG_*", "CI", "NO_COLOR", "COLUMNS", "LINES", "SOURCE_DATE_EPOCH",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "ftp_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GONOSUMDB",
		"GOPRIVATE", "GONOPROXY", "GOTOOLCHAIN", "GOWORK", "GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64",
		"GOEXPERIMENT", "GODEBUG", "GOMAXPROCS", "GOTMPDIR", "GOENV", "CGO_*", "GO111MODULE",
		"CC", "CXX", "CPP", "AR", "LD", "AS", "FC", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS",
		"PKG_CONFIG_PATH", "CMAKE_*", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "MANPATH", "INFOPATH", "CCACHE_DIR",
		"CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_*", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE", "RUST_LOG",
		"JAVA_HOME", "JDK_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "KOTLIN_HOME",
		"ANDROID_HOME", "ANDROID_SDK_ROOT", "ANDROID_NDK_HOME", "DOTNET_ROOT", "DOTNET_CLI_HOME",
		"NVM_DIR", "NVM_BIN", "NVM_INC", "NODE_ENV", "NODE_PATH", "N_PREFIX", "VOLTA_HOME", "FNM_*", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
		"COREPACK_HOME", "npm_config_cache", "npm_config_prefix",
		"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "PYENV_ROOT", "PYENV_VERSION", "POETRY_HOME",
		"PIPX_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "SDKMAN_DIR",
		"ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY",
		"COMPOSER_HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "KUBECONFIG", "WSL_DISTRO_NAME", "NIX_PATH", "NIX_PROFILES", "LOCALE_ARCHIVE",
		// Windows cannot start most programs without these.
		"SYSTEMROOT", "SystemRoot", "SYSTEMDRIVE", "SystemDrive", "WINDIR", "windir", "COMSPEC", "ComSpec", "PATHEXT", "Path",
		"TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432",
		"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS", "MSYSTEM",
	})
})

// providers begin the names of variables that belong to model providers.
// Nothing brings them to a command, not even the user's list by pattern.
var providers = []string{
	"ANTHROPIC_", "CLAUDE_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "GOOGLE_API_", "GOOGLE_GENAI_", "GOOGLE_APPLICATION_CREDENTIALS",
	"VERTEX_", "CLOUD_ML_", "AWS_BEARER_TOKEN_", "BEDROCK_", "OPENROUTER_", "MISTRAL_", "GROQ_", "XAI_", "DEEPSEEK_", "COHERE_",
	"TOGETHER_", "FIREWORKS_", "PERPLEXITY_", "CEREBRAS_", "MOONSHOT_", "DASHSCOPE_", "ZAI_", "ZHIPU", "HF_", "HUGGINGFACE",
	"BRAVE_", "TAVILY_", "EXA_", "ADZE_",
}

// OfProvider reports whether a variable belongs to a model provider, or to adze: keys,
// and what leads to them. The folder of a project is no secret.
func OfProvider(name string) bool { return name != "CLAUDE_PROJECT_DIR" && hasPrefix(name, providers) }

// secrets are in the names of variables that hold secrets; secretEnds end them.
var (
	secrets    = []string{"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "COOKIE", "PRIVATE_", "SIGNATURE"}
	secretEnds = []string{"_PAT", "_DSN"}
)

// isSecret reports whether a variable of that name may hold a secret, in
// whatever letters it is written.
func isSecret(name string) bool {
	name = strings.ToUpper(strings.ToLower(name)) // both: some letters have only one of the other kind
	return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(name, s) }) ||
		slices.ContainsFunc(secretEnds, func(s string) bool { return strings.HasSuffix(name, s) })
}

// userinfo is a user and a password, or a web address's user alone (a token,
// often), inside an address: RFC 3986, 3.2.1.
var userinfo = pattern.Lazy(`(?i)(https?://|socks[45]h?://|ftp://)[^/?#\s@]*@|([a-z][a-z0-9+.-]*://)[^/?#\s@:]*:[^/?#\s@]*@`)

// Scrub returns what of environ, NAME=value each, a command may see. Names
// pass that are on the built-in list or match one of allow (NAME, or a
// pattern such as FOO_*). A name that looks like a secret, and
// SSH_AUTH_SOCK, passes only when allow holds it exactly; a model provider's
// never. Users and passwords inside addresses are removed from values of the
// built-in list. Of two equal names the last one counts; the order is kept.
func Scrub(environ, allow []string) []string {
	out := make([]string, 0, len(environ))
	at := map[string]int{}
	allowed := newNames(allow)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || strings.ContainsRune(kv, 0) {
			continue
		}
		switch exact := slices.Contains(allow, name); {
		case hasPrefix(name, providers):
			continue
		case exact:
		case name == "SSH_AUTH_SOCK", isSecret(name):
			continue
		case passed().has(name):
			if strings.Contains(value, "@") {
				value = userinfo().ReplaceAllString(value, "$1$2")
			}
		case allowed.has(name):
		default:
			continue
		}
		kv = name + "=" + value
		if i, dup := at[name]; dup {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}

// Quiet are settings that keep programs from waiting for a person, paging,
// colouring or drawing. They replace what environ says.
func Quiet(environ []string) []string {
	return Set(environ,
		"TERM=dumb", "NO_COLOR=1", "CLICOLOR=0",
		"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "GH_PAGER=cat", "BAT_PAGER=cat", "DELTA_PAGER=cat", "AWS_PAGER=", "PSQL_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1",
		"DEBIAN_FRONTEND=noninteractive", "npm_config_yes=true", "npm_config_fund=false", "npm_config_update_notifier=false",
		"PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "COMPOSER_NO_INTERACTION=1", "TF_INPUT=0",
		"PYTHONUNBUFFERED=1", "ADZE=1",
	)
}

// steering are variables that make an ordinary program run something else,
// or read its settings from elsewhere.
var steering = sync.OnceValue(func() names {
	return newNames([]string{
		"LD_*", "DYLD_*", "GIT_*", "BASH_ENV", "ENV", "IFS", "CDPATH", "GLOBIGNORE", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*",
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "LESS", "LESSKEY*", "MANOPT", "MANROFFOPT", "MANROFFSEQ", "MANPATH", "BROWSER",
		"NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
		"SIMPLE_BACKUP_SUFFIX", "VERSION_CONTROL", "RIPGREP_CONFIG_PATH", "FD_*", "BAT_*", "GREP_OPTIONS", "GREP_COLORS", "TAR_OPTIONS", "RSYNC_RSH", "SSH_ASKPASS", "GOFLAGS", "GOENV", "GOWORK", "GOTOOLCHAIN", "JQ_*", "PSQL*",
	})
})

// Steering reports whether a variable can make some program run something else.
func Steering(variable string) bool { return steering().has(variable) }

// Steers reports whether a variable can make the program of that name run
// something else, or read its settings from elsewhere.
func Steers(variable, program string) bool {
	for family, own := range map[string]string{"GIT_": "git", "GO": "go", "NODE_": "node", "PYTHON": "python", "PERL": "perl", "RUBY": "ruby", "RIPGREP_": "rg", "FD_": "fd", "BAT_": "bat", "GREP_": "grep", "TAR_": "tar", "RSYNC_": "rsync", "JQ_": "jq", "PSQL": "psql"} {
		if strings.HasPrefix(variable, family) && !strings.Contains(program, own) {
			return false
		}
	}
	return steering().has(variable)
}

// Pin returns environ for a command that was allowed because it only reads:
// no variable is left that could make it do more, and PATH holds only
// absolute folders outside of roots (what a repository brings must not be
// found there) for which safe, when it is set, is true. The words of Quiet
// and fixed (git's settings, see permissions.md) are put on top.
func Pin(environ, roots []string, safe func(dir string) bool, fixed []string) []string {
	out := make([]string, 0, len(environ)+len(fixed))
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if steering().has(name) {
			continue
		}
		if name == "PATH" {
			kv = "PATH=" + pinPath(value, roots, safe)
		}
		out = append(out, kv)
	}
	out = slices.DeleteFunc(Quiet(out), func(kv string) bool { return strings.HasPrefix(kv, "PYTHON") })
	return Set(out, fixed...)
}

func pinPath(value string, roots []string, safe func(string) bool) string {
	var keep []string
	for _, dir := range filepath.SplitList(value) {
		inside := func(root string) bool { return paths.Within(root, dir) }
		if !filepath.IsAbs(dir) || !System(dir) && (slices.ContainsFunc(roots, inside) || safe != nil && !safe(dir)) {
			continue
		}
		keep = append(keep, dir)
	}
	return strings.Join(keep, string(filepath.ListSeparator))
}

// Getenv is what a variable is set to in environ, "" where it is not.
func Getenv(environ []string, name string) string {
	value, _ := LookupEnv(environ, name)
	return value
}

// LookupEnv is what a variable is set to in environ, where it is: of several, the last
// counts, as for a program that is started with it. Windows knows no case in names.
func LookupEnv(environ []string, name string) (value string, ok bool) {
	return lookupEnv(environ, name, runtime.GOOS == "windows")
}

func lookupEnv(environ []string, name string, fold bool) (value string, ok bool) {
	for _, kv := range slices.Backward(environ) {
		if n := len(name); len(kv) > n && kv[n] == '=' && (kv[:n] == name || fold && strings.EqualFold(kv[:n], name)) {
			return kv[n+1:], true
		}
	}
	return "", false
}

// Set returns a copy of environ in which each of pairs, NAME=value, replaces
// or adds its name.
func Set(environ []string, pairs ...string) []string {
	out := slices.Clone(environ)
	for _, kv := range pairs {
		name, _, _ := strings.Cut(kv, "=")
		name += "="
		i := slices.IndexFunc(out, func(x string) bool { return strings.HasPrefix(x, name) })
		if i < 0 {
			out = append(out, kv)
			continue
		}
		out[i] = kv
	}
	return out
}

// Unset returns a copy of environ without these names.
func Unset(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// names are patterns of names in the form in which one is looked up fast: this
// is done for every variable before every command.
type names struct {
	exact    map[string]bool
	prefixes []string
	patterns []string // of path.Match
}

func newNames(patterns []string) names {
	n := names{exact: make(map[string]bool, len(patterns))}
	for _, p := range patterns {
		switch pre, open := strings.CutSuffix(p, "*"); {
		case open && !strings.ContainsAny(pre, "*?["):
			n.prefixes = append(n.prefixes, pre)
		case strings.ContainsAny(p, `*?[\`):
			n.patterns = append(n.patterns, p)
		default:
			n.exact[p] = true
		}
	}
	return n
}

func (n names) has(name string) bool {
	if n.exact[name] {
		return true
	}
	for _, p := range n.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return slices.ContainsFunc(n.patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// hasPrefix reports whether name begins with one of prefixes, which are in
// capitals, in whatever letters it is written.
func hasPrefix(name string, prefixes []string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
