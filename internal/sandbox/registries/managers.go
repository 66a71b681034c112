package registries

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// golang are what GOPROXY and GOSUMDB name: a variable, else what `go env -w` wrote,
// else what came with the toolchain.
func (p Person) golang() (out []string) {
	files := p.config("go/env")
	if at := p.Env("GOENV"); at != "" {
		files = []string{at}
	}
	for _, at := range p.programs("go") {
		files = append(files, filepath.Join(filepath.Dir(filepath.Dir(at)), "go.env"))
	}
	set := func(name string) string {
		if v := p.Env(name); v != "" {
			return v
		}
		for _, f := range files {
			if v := given(p.text(f), "=", is(name)); len(v) > 0 {
				return strings.Join(v, " ")
			}
		}
		return ""
	}
	for _, v := range strings.FieldsFunc(set("GOPROXY"), func(r rune) bool { return r == ',' || r == '|' }) {
		out = append(out, strings.TrimSpace(v)) // direct and off are no addresses
	}
	for _, v := range strings.Fields(set("GOSUMDB")) { // NAME, NAME+HASH+KEY, and the address it is at
		if !strings.Contains(v, "://") {
			v, _, _ = strings.Cut(v, "+")
		}
		out = append(out, v)
	}
	return out
}

var npmDefault = pattern.Lazy(`['"]registry['"], \{\s*default: ['"]([^'"]+)['"]`)

// npm are the registries of npm, pnpm and yarn.
func (p Person) npm() []string {
	main := p.env("NPM_CONFIG_REGISTRY", "PNPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER")
	own := append(p.env("NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG"), filepath.Join(p.Home, ".npmrc"))
	tools := p.programs("npm")
	for _, at := range tools {
		own = append(own, filepath.Join(filepath.Dir(filepath.Dir(at)), "etc", "npmrc"))
	}
	var scoped []string
	for _, f := range append(own, p.config("pnpm/rc")...) {
		text := p.text(f)
		main = append(main, given(text, "=", is("registry"))...)
		scoped = append(scoped, given(text, "=", func(key string) bool { return strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry") })...)
	}
	main = append(main, given(p.text(filepath.Join(p.Home, ".yarnrc")), " ", is("registry"))...)
	main = append(main, given(p.text(filepath.Join(p.Home, ".yarnrc.yml")), ":", is("npmRegistryServer"))...)
	if len(main) > 0 {
		return append(main, scoped...)
	}
	for _, at := range tools { // ROOT/npm/bin/npm-cli.js
		npm := filepath.Dir(filepath.Dir(at))
		for _, modules := range []string{filepath.Join(npm, "node_modules"), filepath.Dir(npm)} {
			if m := npmDefault().FindStringSubmatch(p.text(filepath.Join(modules, "@npmcli", "config", "lib", "definitions", "definitions.js"))); m != nil {
				return append(scoped, m[1])
			}
		}
	}
	return scoped
}

var pipDefault = pattern.Lazy(`(?m)^PyPI = PackageIndex\(\s*['"]([^'"]+)['"],\s*file_storage_domain=['"]([^'"]+)['"]`)

// python are the indexes of pip and uv.
func (p Person) python() []string {
	main := p.env("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
	more := p.env("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX")
	pip := append(p.config("pip/pip.conf"), filepath.Join(p.Home, ".pip", "pip.conf"), "/etc/xdg/pip/pip.conf", "/etc/pip.conf", p.Env("PIP_CONFIG_FILE"))
	for _, f := range append(pip, append(p.config("uv/uv.toml"), "/etc/uv/uv.toml")...) {
		text := p.text(f)
		main = append(main, given(text, "=", is("index-url"))...)
		more = append(more, given(text, "=", is("extra-index-url", "url"))...)
	}
	if len(main) > 0 {
		return append(main, more...)
	}
	for _, at := range p.programs("python3") {
		lib := filepath.Join(filepath.Dir(filepath.Dir(at)), "lib")
		for _, dir := range p.list(lib, func(name string) bool { return strings.HasPrefix(name, "python3") }) {
			for _, packages := range []string{"site-packages", "dist-packages"} {
				if m := pipDefault().FindStringSubmatch(p.text(filepath.Join(dir, packages, "pip", "_internal", "models", "index.py"))); m != nil {
					return append(more, m[1], m[2])
				}
			}
		}
	}
	return more
}

// cargo are the registries that cargo is set to, and those that it has used.
func (p Person) cargo() (out []string) {
	home := filepath.Join(p.Home, ".cargo")
	if at := p.Env("CARGO_HOME"); at != "" {
		home = at
	}
	for _, name := range []string{"config.toml", "config"} {
		for _, v := range given(p.text(filepath.Join(home, name)), "=", is("index", "registry")) {
			if strings.Contains(v, "://") { // else it is a name
				out = append(out, v)
			}
		}
	}
	for _, dir := range p.list(filepath.Join(home, "registry", "index"), func(name string) bool { return strings.Contains(name, "-") }) {
		name := filepath.Base(dir)
		out = append(out, name[:strings.LastIndexByte(name, '-')]) // HOST-HASH
		var set struct {
			DL string `json:"dl"`
		}
		if json.Unmarshal([]byte(p.text(filepath.Join(dir, "config.json"))), &set) == nil {
			out = append(out, set.DL)
		}
	}
	return out
}

// apt are the hosts of the system's packages.
func (p Person) apt() (out []string) {
	const dir = "/etc/apt/sources.list.d"
	for _, f := range append(p.list(dir, func(name string) bool { return strings.HasSuffix(name, ".list") }), "/etc/apt/sources.list") {
		for line := range strings.Lines(p.text(f)) {
			if words := strings.Fields(line); len(words) > 0 && strings.HasPrefix(words[0], "deb") {
				out = append(out, addresses(words)...)
			}
		}
	}
	for _, f := range p.list(dir, func(name string) bool { return strings.HasSuffix(name, ".sources") }) {
		out = append(out, addresses(given(p.text(f), ":", is("URIs")))...)
	}
	return out
}

// addresses are those of words that are one.
func addresses(words []string) (out []string) {
	for _, w := range words {
		if strings.Contains(w, "://") {
			out = append(out, w)
		}
	}
	return out
}
