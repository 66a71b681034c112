package proc

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	for _, c := range []struct {
		name                 string
		environ, allow, want []string
	}{
		{
			"the list of the security spec",
			[]string{"PATH=/bin", "HOME=/h", "USER=u", "SHELL=/bin/zsh", "LANG=C", "LC_ALL=C", "LC_TIME=C", "TERM=x", "TMPDIR=/t", "TZ=UTC"}, nil,
			[]string{"PATH=/bin", "HOME=/h", "USER=u", "SHELL=/bin/zsh", "LANG=C", "LC_ALL=C", "LC_TIME=C", "TERM=x", "TMPDIR=/t", "TZ=UTC"},
		},
		{
			"developer tools", []string{"GOPATH=/g", "CARGO_HOME=/c", "JAVA_HOME=/j", "NVM_DIR=/n", "VIRTUAL_ENV=/v", "PKG_CONFIG_PATH=/p", "XDG_CACHE_HOME=/x", "CI=1", "GOPRIVATE=x"}, nil,
			[]string{"GOPATH=/g", "CARGO_HOME=/c", "JAVA_HOME=/j", "NVM_DIR=/n", "VIRTUAL_ENV=/v", "PKG_CONFIG_PATH=/p", "XDG_CACHE_HOME=/x", "CI=1", "GOPRIVATE=x"},
		},
		{
			"secrets and unknown names",
			[]string{
				"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=a", "GITHUB_TOKEN=a", "AWS_SECRET_ACCESS_KEY=a", "DB_PASSWORD=a", "MYSQL_PWD=a", "GOOGLE_APPLICATION_CREDENTIALS=a",
				"SSH_AUTH_SOCK=a", "XDG_TOKEN=a", "CARGO_BUILD_KEY=a", "LC_SECRET=a", "BASH_ENV=a", "LD_PRELOAD=a", "FOO=a", "NPM_AUTH=a", "SENTRY_DSN=a",
			}, nil, nil,
		},
		{
			"the user's list", []string{"FOO_A=1", "FOO_TOKEN=2", "BAR=3", "GITHUB_TOKEN=4", "SSH_AUTH_SOCK=5", "OPENAI_API_KEY=6", "BAZ=7"},
			[]string{"FOO_*", "BAR", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "OPENAI_API_KEY"},
			[]string{"FOO_A=1", "BAR=3", "GITHUB_TOKEN=4", "SSH_AUTH_SOCK=5"},
		},
		{"everything still brings no secret", []string{"A=1", "A_KEY=2", "CLAUDE_X=3", "a_token=4"}, []string{"*"}, []string{"A=1"}},
		{
			"credentials in addresses",
			[]string{"HTTPS_PROXY=http://u:p@proxy:3128", "http_proxy=http://tok@proxy", "NO_PROXY=a,b", "GOPROXY=https://u:p@a.example,https://b.example/x@v1,direct", "DOCKER_HOST=ssh://me@host", "ALL_PROXY=socks5h://a:b@c"}, nil,
			[]string{"HTTPS_PROXY=http://proxy:3128", "http_proxy=http://proxy", "NO_PROXY=a,b", "GOPROXY=https://a.example,https://b.example/x@v1,direct", "DOCKER_HOST=ssh://me@host", "ALL_PROXY=socks5h://c"},
		},
		{"odd entries", []string{"", "=x", "NOEQ", "PATH=1", "HOME=a=b", "PATH=2", "TZ=a\x00b"}, nil, []string{"PATH=2", "HOME=a=b"}},
	} {
		got := Scrub(c.environ, c.allow)
		if len(got) == 0 {
			got = nil
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestPin(t *testing.T) {
	in := []string{
		"PATH=/w/bin:/usr/bin:bin::/w:/w-other/bin:/loose:/bin", "HOME=/h", "LD_PRELOAD=x", "GIT_DIR=x", "GIT_PAGER=less", "BASH_ENV=x", "NODE_OPTIONS=x",
		"PYTHONPATH=x", "PERL5LIB=x", "RUBYOPT=x", "RIPGREP_CONFIG_PATH=x", "LESSOPEN=x", "IFS=x", "PAGER=less", "JAVA_TOOL_OPTIONS=x", "FOO=1", "GIT_CONFIG_COUNT=9",
	}
	got := Pin(in, []string{"/w"}, func(d string) bool { return d != "/loose" }, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=1"})
	for _, want := range []string{"PATH=/usr/bin:/w-other/bin:/bin", "HOME=/h", "GIT_PAGER=cat", "PAGER=cat", "FOO=1", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, kv := range got {
		name, value, _ := strings.Cut(kv, "=")
		if value == "x" || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "LD_") {
			t.Errorf("%s is left", kv)
		}
	}
	if in[0] != "PATH=/w/bin:/usr/bin:bin::/w:/w-other/bin:/loose:/bin" || len(in) != 17 {
		t.Error("the input was changed")
	}
}

func TestLookupEnv(t *testing.T) {
	environ := []string{"A=1", "AB=2", "A=3=4", "EMPTY=", "PlainPath", "Path=/bin"}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "EMPTY": "", "B": "none", "": "none", "PlainPath": "none", "Path": "/bin", "PATH": "none", "ab": "none"} {
		got, ok := lookupEnv(environ, name, false)
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got, ok := lookupEnv(environ, "PATH", true); !ok || got != "/bin" {
		t.Errorf("without case: %q %v", got, ok)
	}
}

func TestSet(t *testing.T) {
	base := []string{"A=1", "AB=2"}
	if got := Set(base, "A=3", "C=4"); !slices.Equal(got, []string{"A=3", "AB=2", "C=4"}) || base[0] != "A=1" {
		t.Errorf("%q %q", got, base)
	}
	if got := Unset(base, "A"); !slices.Equal(got, []string{"AB=2"}) || len(base) != 2 {
		t.Errorf("%q %q", got, base)
	}
}

// Names match as the pattern says whichever way they are looked up, and secrets
// are found in any letters.
func TestNames(t *testing.T) {
	n := newNames([]string{"ONE", "LC_*", "A?B", "X[12]*", "*_END", "[", ""})
	for name, want := range map[string]bool{
		"ONE": true, "ONES": false, "one": false, "LC_": true, "LC_ALL": true, "LC": false, "A1B": true, "AB": false,
		"X1": true, "X2y": true, "X3": false, "THE_END": true, "THE_ENDS": false, "[": false, "*": false, "": true,
	} {
		if n.has(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{
		"API_KEY": true, "api_key": true, "Monkey": true, "ſecret": true, "to\u212aen": true, "GH_PAT": true, "gh_pat": true, "PATH": false, "GH_PATH": false, "my_dsn": true, "HOME": false,
	} {
		if isSecret(name) != want {
			t.Errorf("secret %q: %v", name, !want)
		}
	}
}

// Every variable that adze takes a provider's key from is known as one.
func TestOfProvider(t *testing.T) {
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "ANTHROPIC_AUTH_TOKEN": true, "OPENAI_API_KEY": true, "GEMINI_API_KEY": true, "GOOGLE_API_KEY": true, "OPENROUTER_API_KEY": true, "GROQ_API_KEY": true,
		"DEEPSEEK_API_KEY": true, "MISTRAL_API_KEY": true, "XAI_API_KEY": true, "TOGETHER_API_KEY": true, "FIREWORKS_API_KEY": true, "CEREBRAS_API_KEY": true, "MOONSHOT_API_KEY": true,
		"ZAI_API_KEY": true, "AWS_BEARER_TOKEN_BEDROCK": true, "ANTHROPIC_CUSTOM_HEADERS": true, "anthropic_api_key": true, "ADZE_MCP_TOKEN": true,
		"CLAUDE_PROJECT_DIR": false, "GITHUB_TOKEN": false, "PATH": false,
	} {
		if OfProvider(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestPathBelowTheWorkspace: a session above the system's programs finds them, and none of
// a folder that others may write.
func TestPathBelowTheWorkspace(t *testing.T) {
	if !System("/usr/bin") {
		t.Skip("there is no folder of programs that only root may write")
	}
	mine := t.TempDir()
	env := Pin([]string{"PATH=" + mine + ":/usr/bin"}, []string{"/"}, func(string) bool { return false }, nil)
	if got := Getenv(env, "PATH"); got != "/usr/bin" {
		t.Errorf("PATH=%s", got)
	}
	if file, ok := Lookup("env", mine+":/usr/bin", []string{"/"}); !ok || file != "/usr/bin/env" {
		t.Errorf("%s %v", file, ok)
	}
}
