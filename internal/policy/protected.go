package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// Protects says why writing a file needs a person wherever it is: "" when it steers no
// program by its name.
func Protects(file string) string {
	why, ci := protected(Rules{}, file)
	if ci {
		return ""
	}
	return why
}

// NameProtects says why writing a name in a folder needs a person whatever the mode
// is, by the two names alone: "" when they mean nothing. home adds what has a
// meaning only in a home folder: the start files of shells and editors, and
// credentials.
func NameProtects(parent, name string, home bool) string {
	name, parent = strings.ToLower(name), strings.ToLower(parent)
	switch {
	case parent == mixed && !inMixed(name):
		return agents
	case name == mixed && !home: // what is in it says
		return ""
	}
	if why := nameWhy(name); why != "" && (home || !homeOnly(name, why)) {
		return why
	}
	if why, ok := protectedPairs[parent+"/"+name]; ok && (home || !homeOnly(name, why)) {
		return why
	}
	if home && parent == ".config" && protectedConfig[name] {
		return "settings or credentials in ~/.config"
	}
	return ""
}

func homeOnly(name, why string) bool {
	switch name {
	case ".condarc", ".gemrc", ".pypirc", ".pnpmrc", ".bunfig.toml": // read from a home folder only
		return true
	}
	switch why {
	case shells:
		return name != ".envrc"
	case "cloud credentials", "credentials", "cluster credentials", "keys", "keys and settings of ssh",
		private, "environment of every login", "git's settings, which can run programs":
		return true
	}
	return false
}

// SecretPlaces lists where people keep secrets: folders and files below home,
// and the system's own. Most of them do not exist on any one machine.
func SecretPlaces(home string) []string {
	var out []string
	for name := range secretFolders {
		out = append(out, filepath.Join(home, name))
	}
	for name := range secretNames {
		if strings.HasPrefix(name, ".") || name == "_netrc" {
			out = append(out, filepath.Join(home, name))
		}
	}
	for _, name := range homeSecrets {
		out = append(out, filepath.Join(home, filepath.FromSlash(name)))
	}
	out = append(out, "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/etc/wireguard",
		"/etc/krb5.keytab", "/etc/openvpn", "/etc/NetworkManager/system-connections", "/etc/kubernetes/admin.conf", "/etc/kubernetes/pki", "/etc/rancher/k3s/k3s.yaml", "/etc/docker/key.json", "/run/secrets")
	slices.Sort(out)
	return slices.Compact(out)
}
