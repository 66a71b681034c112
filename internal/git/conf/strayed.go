package conf

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/setting"
)

// Strayed is what settings say now, and did not say before a command that may change
// them began, beyond what git writes there every day: which branch follows which,
// remotes at addresses that are known, submodules, which part is checked out. sets are the
// settings that the command itself names: NAME=value or, of one that it removes, NAME.
func Strayed(before, now []byte, sets []string) []string {
	was, err := settingsOf(before)
	if err != nil {
		was = nil // git did not follow them
	}
	is, err := settingsOf(now)
	if err != nil {
		return []string{"git's settings cannot be read: " + err.Error()}
	}
	d := daily{was: was, is: is, sets: sets}
	var out []string
	for _, s := range is {
		if !slices.Contains(was, s) && !d.keeps(s) {
			out = append(out, "it sets "+s.name()+" = "+s.value)
		}
	}
	for _, s := range was {
		if !slices.Contains(is, s) && !d.named(s.name()) && !d.goes(s) {
			out = append(out, "it no longer sets "+s.name()+" = "+s.value)
		}
	}
	return out
}

// A set is one setting.
type set struct{ section, sub, key, value string }

func (s set) name() string {
	if s.sub == "" {
		return s.section + "." + s.key
	}
	return s.section + "." + s.sub + "." + s.key
}

// sparse reports whether git sparse-checkout writes it.
func (s set) sparse() bool {
	switch s.section + "." + s.key {
	case "core.repositoryformatversion", "core.sparsecheckout", "core.sparsecheckoutcone", "extensions.worktreeconfig", "index.sparse":
		return true
	}
	return false
}

func settingsOf(b []byte) (out []set, err error) {
	err = parse(b, func(section, sub, key, value string) { out = append(out, set{section, sub, key, value}) })
	return out, err
}

// daily knows what git writes every day.
type daily struct {
	was, is []set
	sets    []string
}

// named reports whether the command itself names a setting.
func (d daily) named(name string) bool {
	return slices.ContainsFunc(d.sets, func(s string) bool { return s == name || strings.HasPrefix(s, name+"=") })
}

// keeps reports whether a new setting is one of those.
func (d daily) keeps(s set) bool {
	if s.section != "remote" && slices.Contains(d.sets, s.name()+"="+s.value) || s.sparse() {
		return true
	}
	switch s.section + "." + s.key {
	case "branch.merge", "branch.rebase", "submodule.active":
		return true
	case "branch.remote":
		return s.value == "." || d.remote(s.value) && !d.followed(s)
	case "remote.url", "remote.pushurl":
		return d.address(s.value)
	case "remote.fetch":
		_, to, _ := strings.Cut(s.value, ":")
		return d.remote(s.sub) && strings.HasPrefix(to, "refs/remotes/")
	case "submodule.url":
		return plainAddress(s.value) && !slices.ContainsFunc(d.was, func(w set) bool { return w.section == s.section && w.sub == s.sub && w.key == s.key })
	}
	return false
}

// goes reports whether a setting goes every day: of branches, submodules and remotes that
// go as a whole.
func (d daily) goes(s set) bool {
	switch s.section {
	case "branch", "submodule":
		return true
	case "remote":
		return s.key == "fetch" || !slices.ContainsFunc(d.is, func(i set) bool { return i.section == "remote" && i.sub == s.sub })
	}
	return s.sparse()
}

// followed reports whether a branch followed another remote, which is still there.
func (d daily) followed(s set) bool {
	return slices.ContainsFunc(d.was, func(w set) bool {
		return w.section == "branch" && w.sub == s.sub && w.key == "remote" && w.value != s.value && w.value != "." &&
			slices.ContainsFunc(d.is, func(i set) bool { return i.section == "remote" && i.sub == w.value })
	})
}

// address reports whether an address was there before, or the command names it.
func (d daily) address(url string) bool {
	return slices.ContainsFunc(d.was, func(w set) bool {
		return w.section == "remote" && (w.key == "url" || w.key == "pushurl") && w.value == url
	}) || slices.ContainsFunc(d.sets, func(s string) bool {
		name, value, _ := strings.Cut(s, "=")
		return strings.HasPrefix(name, "remote.") && value == url && plainAddress(url)
	})
}

// plainAddress reports whether git reaches an address by itself.
func plainAddress(url string) bool { return setting.Of("remote", "url", url) == setting.Plain }

// remote reports whether all addresses of a remote are known.
func (d daily) remote(name string) bool {
	known := false
	for _, s := range d.is {
		if s.section == "remote" && s.sub == name && (s.key == "url" || s.key == "pushurl") {
			if known = d.address(s.value); !known {
				return false
			}
		}
	}
	return known
}
