// Package registries tells from which hosts a person's package managers fetch, by
// reading what sets these: variables, the person's settings files, and the defaults
// in the managers' own files. It knows no host by itself and runs nothing; a host
// that is written in none of these is not found.
package registries

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Files are what can be read. A path that must not count is not there.
type Files struct {
	Read    func(path string) ([]byte, error)
	List    func(dir string) []string     // the names in a folder
	Resolve func(path string) (to string) // where links lead; "" when nothing is there
}

// A Person has set up package managers.
type Person struct {
	Home  string
	Env   func(name string) string
	Files Files
}

// A Host is one that packages come from.
type Host struct {
	Name string
	Port int // 0: those of http and https
}

func (h Host) String() string {
	if h.Port == 0 {
		return h.Name
	}
	return h.Name + ":" + strconv.Itoa(h.Port)
}

// Hosts are those that the package managers of a person are set to.
func (p Person) Hosts() []Host {
	var out []Host
	for _, address := range slices.Concat(p.golang(), p.npm(), p.python(), p.cargo(), p.apt()) {
		if h, ok := hostOf(address); ok && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// hostOf is the host of an address as package managers write it: sparse+https://h/,
// mirror+http://h/, NAME=https://h/, or h alone.
func hostOf(address string) (h Host, ok bool) {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "https", address
	}
	scheme = strings.ToLower(scheme[strings.LastIndexAny(scheme, "+=")+1:])
	if scheme != "https" && scheme != "http" {
		return h, false
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil {
		return h, false
	}
	h.Name = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if u.Port() != "" {
		if h.Port, err = strconv.Atoi(u.Port()); err != nil {
			return h, false
		}
	}
	return h, strings.Contains(h.Name, ".")
}

// every is how often a person's files are read at most.
const every = time.Minute

// A Lookup knows the hosts that were found a short while ago.
type Lookup struct {
	Find func() []Host
	Now  func() time.Time

	mu    sync.Mutex // guards the rest
	hosts []Host
	found time.Time
}

// Has reports whether packages come from this port of a host, whose name is in lower case.
func (l *Lookup) Has(host string, port int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.Now(); l.found.IsZero() || now.Sub(l.found) >= every {
		l.hosts, l.found = l.Find(), now
	}
	return slices.ContainsFunc(l.hosts, func(h Host) bool {
		return h.Name == host && (h.Port == port || h.Port == 0 && (port == 443 || port == 80))
	})
}

// text is a file's, "" when it cannot be read.
func (p Person) text(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	b, err := p.Files.Read(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// most bounds how many names of a folder, and folders of PATH, are looked at.
const most = 100

// list are the paths in a folder whose name fits.
func (p Person) list(dir string, fits func(name string) bool) (out []string) {
	for _, name := range p.Files.List(dir) {
		if fits(name) && len(out) < most {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}

// programs are where a program is found by PATH, with links and with none.
func (p Person) programs(name string) (out []string) {
	dirs := filepath.SplitList(p.Env("PATH"))
	for _, dir := range dirs[:min(len(dirs), most)] {
		if !filepath.IsAbs(dir) {
			continue
		}
		at := filepath.Join(dir, name)
		if to := p.Files.Resolve(at); to != "" {
			out = append(out, to, at)
		}
	}
	return out
}

// env are the values of variables, in capitals or not.
func (p Person) env(names ...string) (out []string) {
	for _, name := range names {
		for _, n := range []string{name, strings.ToLower(name)} {
			out = append(out, strings.Fields(p.Env(n))...)
		}
	}
	return out
}

// config are paths in the folders that hold a person's settings.
func (p Person) config(rel string) []string {
	out := []string{filepath.Join(p.Home, ".config", rel), filepath.Join(p.Home, "Library", "Application Support", rel)}
	if dir := p.Env("XDG_CONFIG_HOME"); dir != "" {
		out[0] = filepath.Join(dir, rel)
	}
	return out
}

// given are the values of keys in a file of lines such as KEY = VALUE; what follows
// indented and without a key belongs to the line before.
func given(text, cut string, wanted func(key string) bool) (out []string) {
	takes := false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t == "" || t[0] == '#' || t[0] == ';' || t[0] == '[' {
			continue
		}
		key, value, found := strings.Cut(t, cut)
		switch {
		case takes && line[0] == ' ' && strings.Contains(strings.Fields(t)[0], "://"):
			value = t
		case !found:
			takes = false
			continue
		default:
			takes = wanted(strings.Trim(strings.TrimSpace(key), `"'`))
		}
		if takes {
			for _, v := range strings.Fields(value) {
				out = append(out, strings.Trim(v, `"',[]`))
			}
		}
	}
	return out
}

func is(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}
