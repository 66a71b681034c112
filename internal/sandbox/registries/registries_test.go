package registries

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// person is one with these variables, files by path, and links.
func person(env, files, links map[string]string) Person {
	resolve := func(path string) string {
		if to, ok := links[path]; ok {
			return to
		}
		if _, ok := files[path]; ok {
			return path
		}
		return ""
	}
	return Person{Home: "/h", Env: func(name string) string { return env[name] }, Files: Files{
		Read: func(path string) ([]byte, error) {
			if text, ok := files[path]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("not there")
		},
		List: func(dir string) (out []string) {
			for path := range files {
				if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
					if name, _, _ := strings.Cut(rel, "/"); !slices.Contains(out, name) {
						out = append(out, name)
					}
				}
			}
			slices.Sort(out)
			return out
		},
		Resolve: resolve,
	}}
}

func TestHosts(t *testing.T) {
	type texts = map[string]string
	const goEnv = "# made up\nGOPROXY=https://go.example.com,direct\nGOSUMDB=sum.example.com\n"
	npmSource := "  registry: new Definition('registry', {\n    default: 'https://npm.example.com/',\n    type: url,\n"
	pipSource := "PyPI = PackageIndex(\"https://pip.example.com/\", file_storage_domain=\"files.example.com\")\nTestPyPI = PackageIndex(\n    \"https://try.example.com/\", file_storage_domain=\"files.try.example.com\"\n)\n"
	for _, c := range []struct {
		name  string
		env   texts
		files texts
		links texts
		want  string
	}{
		{name: "nothing is set up", want: "[]"},
		{name: "go's own", env: texts{"PATH": "/usr/bin:rel"}, files: texts{"/opt/go/go.env": goEnv}, links: texts{"/usr/bin/go": "/opt/go/bin/go"}, want: "[go.example.com sum.example.com]"},
		{name: "go by variables", env: texts{"PATH": "/opt/go/bin", "GOPROXY": "https://a.example.com|https://b.example.com:8443/x,off", "GOSUMDB": "sum.example.org+033de0ae+Ac4z https://c.example.com"},
			files: texts{"/opt/go/go.env": goEnv, "/opt/go/bin/go": ""}, want: "[a.example.com b.example.com:8443 sum.example.org c.example.com]"},
		{name: "go by its settings", env: texts{"PATH": "/opt/go/bin", "GOSUMDB": "off"}, files: texts{"/opt/go/go.env": goEnv, "/opt/go/bin/go": "", "/h/.config/go/env": "GOPROXY=https://set.example.com\n"}, want: "[set.example.com]"},
		{name: "go's settings are elsewhere", env: texts{"GOENV": "/e"}, files: texts{"/h/.config/go/env": "GOPROXY=https://set.example.com\n", "/e": "GOPROXY=file:///mods,https://e.example.com"}, want: "[e.example.com]"},
		{name: "npm's own", env: texts{"PATH": "/usr/bin"}, links: texts{"/usr/bin/npm": "/usr/lib/node_modules/npm/bin/npm-cli.js"},
			files: texts{"/usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js": npmSource, "/h/.npmrc": "@mine:registry=https://mine.example.com/\n"}, want: "[mine.example.com npm.example.com]"},
		{name: "npm's own, beside it", env: texts{"PATH": "/usr/bin"}, links: texts{"/usr/bin/npm": "/usr/share/nodejs/npm/bin/npm-cli.js"},
			files: texts{"/usr/share/nodejs/@npmcli/config/lib/definitions/definitions.js": "define('registry', {\n  default: 'https://npm.example.com/',"}, want: "[npm.example.com]"},
		{name: "npm by its settings", env: texts{"PATH": "/usr/bin"}, links: texts{"/usr/bin/npm": "/usr/lib/node_modules/npm/bin/npm-cli.js"},
			files: texts{"/usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js": npmSource,
				"/h/.npmrc": "; registry=https://no.example.com\nregistry = \"https://set.example.com:4873/\"\n//set.example.com:4873/:_authToken=${TOKEN}\n= x\n"}, want: "[set.example.com:4873]"},
		{name: "yarn", files: texts{"/h/.yarnrc": "registry \"https://yarn.example.com\"\n", "/h/.yarnrc.yml": "npmRegistryServer: \"https://berry.example.com\"\n"}, want: "[yarn.example.com berry.example.com]"},
		{name: "npm by a variable", env: texts{"npm_config_registry": "http://var.example.com"}, want: "[var.example.com]"},
		{name: "pip's own", env: texts{"PATH": "/shims:/usr/bin"}, links: texts{"/shims/python3": "/shims/python3", "/usr/bin/python3": "/usr/bin/python3.11"},
			files: texts{"/usr/lib/python3/dist-packages/pip/_internal/models/index.py": pipSource}, want: "[pip.example.com files.example.com]"},
		{name: "pip by its settings", env: texts{"PATH": "/usr/bin", "UV_INDEX": "corp=https://uv.example.com/simple"}, links: texts{"/usr/bin/python3": "/usr/bin/python3.11"},
			files: texts{"/usr/lib/python3/dist-packages/pip/_internal/models/index.py": pipSource, "/etc/pip.conf": "[global]\nindex-url = https://u:p@corp.example.com/simple\nextra-index-url =\n    https://one.example.com\n    https://two.example.com\ntrusted-host = no.example.com\n"},
			want:  "[corp.example.com uv.example.com one.example.com two.example.com]"},
		{name: "cargo", files: texts{"/h/.cargo/config.toml": "[registries.mine]\nindex = \"sparse+https://mine.example.com/i/\"\n[registry]\ndefault = \"mine\"\n",
			"/h/.cargo/registry/index/index.example.com-6f17d22bba15001f/config.json": `{"dl": "https://static.example.com/crates/{crate}", "api": "https://api.example.com"}`, "/h/.cargo/registry/index/x": ""},
			want: "[mine.example.com index.example.com static.example.com]"},
		{name: "apt", files: texts{"/etc/apt/sources.list": "# deb http://no.example.com x\ndeb [arch=amd64] http://deb.example.com/debian x main\ndeb-src mirror+http://mirror.example.com/m x\ndeb cdrom:[x]/ x\n",
			"/etc/apt/sources.list.d/b.sources": "Types: deb\nURIs: http://one.example.com/debian\n https://two.example.com/\nSigned-By: /k\n", "/etc/apt/sources.list.d/c.sources.off": "URIs: http://no.example.com\n"},
			want: "[deb.example.com mirror.example.com one.example.com two.example.com]"},
		{name: "no addresses", env: texts{"GOPROXY": "https://", "npm_config_registry": "${X}", "PIP_INDEX_URL": "ftp://f.example.com https://local https://h.example.com:99999999999999999999"}, want: "[]"},
	} {
		if got := fmt.Sprint(person(c.env, c.files, c.links).Hosts()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLookup: files are read when a host is asked for, at most once a minute.
func TestLookup(t *testing.T) {
	now, reads := time.Unix(1000, 0), 0
	hosts := []Host{{"a.example.com", 0}, {"b.example.com", 8443}}
	l := &Lookup{Now: func() time.Time { return now }, Find: func() []Host { reads++; return hosts }}
	for _, c := range []struct {
		host string
		port int
		want bool
	}{{"a.example.com", 443, true}, {"a.example.com", 80, true}, {"a.example.com", 22, false}, {"b.example.com", 8443, true}, {"b.example.com", 443, false}, {"x.a.example.com", 443, false}, {"example.com", 443, false}} {
		if got := l.Has(c.host, c.port); got != c.want {
			t.Errorf("%s:%d: %v", c.host, c.port, got)
		}
	}
	hosts = nil
	now = now.Add(59 * time.Second)
	if !l.Has("a.example.com", 443) || reads != 1 {
		t.Errorf("read %d times within a minute", reads)
	}
	now = now.Add(time.Second)
	if l.Has("a.example.com", 443) || reads != 2 {
		t.Errorf("read %d times", reads)
	}
}

func FuzzGiven(f *testing.F) {
	f.Add("a = https://x\n  https://y\n", "=")
	f.Add(" \t\n=\n:", ":")
	f.Fuzz(func(_ *testing.T, text, cut string) {
		for _, v := range given(text, cut, func(string) bool { return true }) {
			hostOf(v)
		}
	})
}
