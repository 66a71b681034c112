package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Policy is what a command inside may do. All paths are absolute; links in
// them are resolved where the path exists. Everything may be read that is not
// in Hidden.
type Policy struct {
	// Writable folders and files, no one inside another. What is not there cannot be made.
	Writable []string `json:"writable"`
	// Protected paths stay as they are although they are in a writable
	// folder. What comes into being under such a name is settled when its
	// command ends.
	Protected []string `json:"protected"`
	// Git are git folders: writable where git itself works, protected where
	// their content makes it run programs.
	Git []string `json:"git"`
	// Hidden folders and files cannot be read, but for what is in Readable.
	Hidden   []string `json:"hidden"`
	Readable []string `json:"readable,omitempty"`
	// Denied are those of Hidden that permission rules deny to read; Fixed stay
	// as they are because rules deny to change them.
	Denied []string `json:"denied,omitempty"`
	Fixed  []string `json:"fixed,omitempty"`
	// Env are the names of variables that commands inside do not get.
	Env     []string `json:"env,omitempty"`
	Temp    string   `json:"temp"`
	Cache   string   `json:"cache"`
	Network Network  `json:"network"`

	home    string
	surveys []string // folders that are looked through for what is protected
	always  []string // protected wherever they are and whatever they are called
	gits    []string // git folders that count although they may lie elsewhere
	open    []string // protected paths that may be written all the same
	once    bool     // it is that of one command alone
	denials policy.Denials
	denied  []string              // that the settings of the sandbox deny to write
	seen    *survey               // that NewPolicy made; nil without
	holds   map[string]conf.Holds // what the git folders hold, by their path
	far     *far                  // nil where the denials name nothing outside the surveyed folders
}

// Network is what can be reached from inside.
type Network struct {
	Allowed []string `json:"allowed"` // exact names and *.name
	Denied  []string `json:"denied"`
	// Ask: a domain no list names is asked about; otherwise it is refused.
	Ask bool `json:"ask"`
	// Registries: where it would ask, those hosts that the person's package managers are
	// set to can be read from.
	Registries bool `json:"registries,omitempty"`
	// Unix are the unix sockets that can be connected to; AllUnix is all.
	Unix    []string `json:"unix"`
	AllUnix bool     `json:"all_unix"`
	// Listen: commands may listen on local ports. Under bubblewrap those are
	// ports of the sandbox's own network and always possible.
	Listen bool `json:"listen"`
	// Ports are those of this machine's localhost that can be connected to. Under
	// bubblewrap they lead there from the sandbox's own localhost.
	Ports []int `json:"ports,omitempty"`
}

// Off reports that nothing can leave.
func (n Network) Off() bool { return len(n.Allowed) == 0 && !n.Ask && !n.Registries }

// NewPolicy works out the policy of a session. It looks at the file system to
// resolve links and to find the repository; it changes nothing.
func NewPolicy(c Config) Policy { return newPolicy(c, nil) }

// newPolicy is NewPolicy, with what watches the folders that are looked at; nil for
// nobody.
func newPolicy(c Config, names *watch.Names) Policy {
	fs := c.Settings.Filesystem
	p := Policy{Temp: c.Temp}
	writable := append([]string{c.Dir}, c.Roots...)
	writable = append(writable, c.paths(fs.AllowWrite)...)
	git, outside, guards := repository(c.Dir)
	if a := c.Apart; a != nil {
		if a.Alone { // what git needs of the shared folder, and no more of that
			outside = a.Own()
		}
		writable = slices.DeleteFunc(append(writable, a.Tree), func(w string) bool { return othersIn(a, w) })
	}
	writable = append(writable, outside...)
	p.Cache = filepath.Join(c.Temp, "cache")
	if c.Cache != "" {
		p.Cache = filepath.Join(real(c.Cache), "sandbox", key(c.Dir))
	}
	writable = slices.DeleteFunc(writable, func(d string) bool { return d == "/" })
	p.Writable = outermost(append(writable, c.Temp, p.Cache))
	secrets := c.credentials()
	keys := c.paths(secrets.Files)
	p.Env = secrets.Env
	p.Readable = slices.DeleteFunc(append(c.paths(fs.AllowRead), c.shown()...), func(r string) bool { return paths.WithinAny(keys, r) })
	for _, h := range slices.Concat(policy.SecretPlaces(c.Home), c.Secrets, c.State) {
		if r := real(h); !slices.Contains(p.Readable, r) {
			p.Hidden = append(p.Hidden, r)
		}
	}
	p.Hidden = outermost(slices.Concat(p.Hidden, c.paths(fs.DenyRead), keys))
	var surveys []string
	for _, root := range p.Writable {
		if root != c.Temp && root != p.Cache && !slices.Contains(outside, root) {
			surveys = append(surveys, root)
		}
	}
	p.denied = c.paths(fs.DenyWrite)
	p.home, p.gits, p.always = c.Home, git, slices.Concat(guards, p.denied, c.Programs)
	p.watching(surveys)
	p.denials, p.far = c.Denials, newFar(c.Denials, p.surveys, c.Home)
	n := c.Settings.Network
	others := !n.StrictAllowlist && (n.AllowedDomains == nil || len(n.AllowedDomains) > 0)
	p.Network = Network{
		Allowed: n.AllowedDomains, Denied: n.DeniedDomains,
		Ask: c.Ask != nil && others, Registries: n.Registries && others,
		Unix: c.paths(n.UnixSockets), AllUnix: n.AllUnixSockets, Listen: n.LocalBinding,
	}
	for _, text := range n.LocalPorts {
		if deniesNear(n.DeniedDomains) {
			break // a rule that denies this machine means its ports, too
		}
		if port, err := strconv.ParseUint(text, 10, 16); err == nil && port > 0 && !slices.Contains(p.Network.Ports, int(port)) {
			p.Network.Ports = append(p.Network.Ports, int(port))
		}
	}
	p.seen = p.survey()
	p.seen.names = names
	return p.with(p.seen.look())
}

// othersIn reports whether a folder that may be written is of another checkout, or holds one.
func othersIn(a *policy.Apart, dir string) bool {
	return a.Beyond(dir, false) || slices.ContainsFunc(append([]string{a.Common}, a.Tops...), func(top string) bool { return paths.Within(dir, top) })
}

// deniesNear reports that this machine is among the hosts that are denied.
func deniesNear(denied []string) bool {
	return slices.ContainsFunc(denied, func(d string) bool {
		d = strings.ToLower(strings.Trim(d, "[]."))
		return d == "*" || d == "localhost" || d == "::1" || d == "0.0.0.0" || strings.HasPrefix(d, "127.")
	})
}

// watching has the policy look after what is in folders.
func (p *Policy) watching(roots []string) {
	p.surveys = outermost(slices.Concat(p.surveys, roots))
	p.always = append(slices.Clip(p.always), slices.DeleteFunc(append(policy.SystemPlaces(), policy.LoginPlaces(p.home)...), func(at string) bool { return !paths.WithinAny(roots, at) })...)
	for _, root := range roots { // one that lies in what steers programs does so as a whole
		if policy.Steered(root) != "" {
			p.always = append(p.always, root)
		}
	}
}

// opening is the policy with further folders that may be written.
func (p Policy) opening(folders []string) Policy {
	folders = slices.DeleteFunc(slices.Clone(folders), func(f string) bool { return f == "/" || paths.WithinAny(p.Writable, f) })
	if len(folders) == 0 {
		return p
	}
	p.Writable = outermost(slices.Concat(p.Writable, folders))
	p.watching(folders)
	return p
}

// without is the policy for a command that takes folders away: of what is in there, only
// what the settings or rules deny is kept.
func (p Policy) without(gone []string) Policy {
	in := func(at string) bool { return paths.WithinAny(gone, at) && !paths.WithinAny(p.denied, at) }
	p.Protected = slices.DeleteFunc(slices.Clone(p.Protected), in)
	p.Git = slices.DeleteFunc(slices.Clone(p.Git), in)
	return p
}

// shown are the folders of Shown, resolved, that no setting hides.
func (c Config) shown() (out []string) {
	denied := c.paths(c.Settings.Filesystem.DenyRead)
	for _, dir := range c.Shown {
		if r := real(dir); !paths.WithinAny(denied, r) {
			out = append(out, r)
		}
	}
	return out
}

// survey looks for what the policy protects.
func (p Policy) survey() *survey {
	v := newSurvey(p.surveys, p.gits, p.home)
	v.denied = p.denials
	return v
}

// with is the policy for what a survey saw.
func (p Policy) with(s sight) Policy {
	p.Protected = slices.Concat(p.always, s.named, s.kin)
	for _, dot := range s.dots {
		if !isDir(dot) {
			p.Protected = append(p.Protected, dot)
		}
	}
	for _, st := range p.configured(s) {
		if exists(st.Path) {
			p.Protected = append(p.Protected, st.Path)
		}
	}
	slices.Sort(p.Protected)
	p.Protected = slices.Compact(p.Protected)
	p.Git, p.holds = slices.Clone(s.gits), s.holds
	slices.Sort(p.Git)
	return p.denying(s)
}

// configured are the paths in writable folders that git's settings name, there
// or not. A folder that holds a whole writable one is not among them: nothing
// could be written any more.
func (p Policy) configured(s sight) []conf.Steer {
	if s.set != nil {
		return *s.set
	}
	var out []conf.Steer
	for _, g := range s.gits {
		for _, st := range conf.Named(g, top(g), p.home) {
			holds := slices.ContainsFunc(p.Writable, func(w string) bool { return paths.Within(st.Path, w) })
			if paths.WithinAny(p.Writable, st.Path) && !holds && !slices.Contains(out, st) {
				out = append(out, st)
			}
		}
	}
	return out
}

// paths resolves paths as people write them in settings.
func (c Config) paths(texts []string) []string { return place.Named(c.Dir, c.Home, texts) }

// real resolves links as far as the path exists.
func real(p string) string { return place.Real(p) }

// key names a folder after a path.
func key(p string) string {
	sum := sha256.Sum256([]byte(p))
	return filepath.Base(p) + "-" + hex.EncodeToString(sum[:6])
}

// outermost sorts, and drops what is inside another.
func outermost(dirs []string) []string {
	all := make(map[string]bool, len(dirs))
	for _, d := range dirs {
		all[d] = true
	}
	out := slices.DeleteFunc(slices.Clone(dirs), func(d string) bool {
		for at := d; at != filepath.Dir(at); {
			if at = filepath.Dir(at); all[at] {
				return true
			}
		}
		return d == ""
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// environ is the environment inside: where to write, what to go through.
func (p Policy) environ(env []string, proxy string) []string {
	env = proc.Unset(env, p.Env...)
	set := []string{"TMPDIR=" + p.Temp, "TMP=" + p.Temp, "TEMP=" + p.Temp}
	for name, dir := range cacheFolders {
		set = append(set, name+"="+filepath.Join(p.Cache, dir))
	}
	env = proc.Set(env, set...)
	names := []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"}
	env = proc.Unset(env, append(names, "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")...)
	if proxy == "" {
		return env
	}
	http, socks, no := "http://"+proxy, "socks5h://"+proxy, "localhost,127.0.0.1,::1"
	return proc.Set(env, "HTTP_PROXY="+http, "HTTPS_PROXY="+http, "http_proxy="+http, "https_proxy="+http,
		"ALL_PROXY="+socks, "all_proxy="+socks, "NO_PROXY="+no, "no_proxy="+no, "NODE_USE_ENV_PROXY=1")
}

// cacheFolders are variables of build tools for what they may lose. Inside
// they lead to a private folder of the project: a shared cache would let a
// confined command plant what a build outside then uses.
var cacheFolders = map[string]string{
	"XDG_CACHE_HOME": "xdg", "GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv",
	"YARN_CACHE_FOLDER": "yarn", "CCACHE_DIR": "ccache", "SCCACHE_DIR": "sccache",
}

func (p Policy) caches() []string { return []string{p.Cache} }
