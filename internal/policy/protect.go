package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// protected says why writing file needs a person whatever the mode is; ci is
// true for build server files, where a rule of this session is enough. Names
// are compared without regard to case everywhere: some file systems do.
func protected(r Rules, file string) (why string, ci bool) {
	for _, p := range r.Protected {
		if Within(p.Path, file, r.FoldCase) {
			return p.Why, false
		}
	}
	if why := RunAtLogin(r.Home, file); why != "" {
		return why, false
	}
	// A backslash separates folders on some systems, and in some tools.
	low := strings.ToLower(strings.ReplaceAll(filepath.ToSlash(file), `\`, "/"))
	segs := strings.Split(strings.Trim(low, "/"), "/")
	own := 0 // of the names on the way to a worktree that the session works in, none counts
	if tree := TreeOf(r.Dir); tree != "" && Within(tree, file, r.FoldCase) {
		own = strings.Count(strings.Trim(filepath.ToSlash(tree), "/"), "/") + 1
	}
	for i, s := range segs {
		if i < own {
			continue
		}
		s = strings.TrimRight(s, ". ") // what Windows drops from the end of a name
		if s == mixed && i == len(segs)-2 && inMixed(strings.TrimRight(segs[i+1], ". ")) && !ofHome(r.Home, segs[:i]) {
			continue
		}
		if w := nameWhy(s); w != "" {
			return w, false
		}
		if i > 0 {
			if w, ok := protectedPairs[segs[i-1]+"/"+s]; ok {
				return w, false
			}
			if segs[i-1] == ".config" && protectedConfig[s] {
				return "settings or credentials in ~/.config", false
			}
			if segs[i-1] == ".github" && (s == "workflows" || s == "actions") {
				return "a build server runs what this says", true
			}
		}
		if ciNames[s] {
			return "a build server runs what this says", true
		}
	}
	if StartsAtHome(r.Home, file) && !slices.ContainsFunc(append(slices.Clone(r.Dirs), r.Dir), func(d string) bool { // of a project there, its own names count
		return d != "" && !Within(d, r.Home, r.FoldCase) && Within(d, file, r.FoldCase)
	}) {
		return "a program that starts may run what has such a name in a home folder", false
	}
	// A bare git folder: its parts are known by their neighbours' names, and
	// wherever there is a commondir git may take what it names for a repository.
	if segs[len(segs)-1] == "commondir" {
		return "git follows it to the settings of a repository", false
	}
	if n := len(segs); n > 1 && (segs[n-2] == "hooks" && gitHooks[segs[n-1]]) {
		return "git runs a file of this name where the folder around it is a repository's own", false
	}
	return "", false
}

// ofHome reports whether parts of a path, in lower case, are those of the home folder.
func ofHome(home string, segs []string) bool {
	return home != "" && strings.EqualFold(strings.Trim(filepath.ToSlash(home), "/"), strings.Join(segs, "/"))
}

// Steered says why all that is in a folder steers programs: it, or one above it,
// has a name that does (~/.claude, repo/.vscode); "" when it is an ordinary one.
func Steered(folder string) string {
	folder = strings.TrimPrefix(folder, TreeOf(folder)) // what is in a worktree is a project's
	segs := strings.Split(strings.Trim(strings.ToLower(filepath.ToSlash(folder)), "/"), "/")
	for i, s := range segs {
		if w := nameWhy(s); w != "" {
			return w
		}
		if i > 0 && (protectedPairs[segs[i-1]+"/"+s] != "" || segs[i-1] == ".config" && protectedConfig[s] || segs[i-1] == ".git" && s == "hooks") {
			return "what is in it steers programs"
		}
	}
	return ""
}

// HoldsSecrets reports whether file is known to hold secrets: .env files, private
// keys, cloud credentials.
func HoldsSecrets(file string) bool {
	low := strings.ToLower(filepath.ToSlash(file))
	name := path.Base(low)
	if is, example := envFile(name); is {
		return !example
	}
	if strings.HasSuffix(name, ".pub") {
		return false
	}
	segs := strings.Split(strings.Trim(low, "/"), "/")
	if secretNames[name] && (name != ".npmrc" || !published(segs)) {
		return true
	}
	if strings.HasSuffix(name, ".json") && (strings.HasPrefix(name, "client_secret") || strings.Contains(name, "firebase-adminsdk")) {
		return true
	}
	if (appSecrets[name] || keptSecret(segs)) && !published(segs) && !slices.ContainsFunc(segs[max(0, len(segs)-4):len(segs)-1], func(s string) bool { return wording[s] }) {
		return true
	}
	for _, suf := range secretSuffixes {
		if strings.HasSuffix(name, suf) && !published(segs) {
			return true
		}
	}
	for i, s := range segs {
		switch {
		case secretFolders[s] && i < len(segs)-1 && name != "known_hosts":
			return true
		case i == 0 && s == "proc" && len(segs) > 2 && (name == "environ" || name == "mem" || name == "maps"):
			return true
		case homeSecretAt(segs, i):
			return true
		}
	}
	return false
}

// SecretsIn is [HoldsSecrets] for the files of one folder, for who asks about very many.
func SecretsIn(dir string) func(name string) bool {
	segs := strings.Split(strings.Trim(strings.ToLower(filepath.ToSlash(dir)), "/"), "/")
	telling := segs[0] == "proc" || slices.ContainsFunc(segs, func(s string) bool {
		return secretFolders[s] || homeSecretsBy()[s] != nil || s == "secrets" || s == ".secrets"
	})
	return func(name string) bool {
		return (telling || soundsSecret(strings.ToLower(name))) && HoldsSecrets(filepath.Join(dir, name))
	}
}

// soundsSecret reports whether a name, in lower case, may be that of a file with secrets
// wherever it is.
func soundsSecret(name string) bool {
	if is, _ := envFile(name); is || secretNames[name] || appSecrets[name] || homeSecretsBy()[name] != nil || strings.HasSuffix(name, ".json") {
		return true
	}
	return slices.ContainsFunc(secretSuffixes, func(suf string) bool { return strings.HasSuffix(name, suf) })
}

// envFile reports whether a name is that of a file of variables, and whether it is one
// that only shows which there are.
func envFile(name string) (is, example bool) {
	stem, is := strings.CutSuffix(name, ".env")
	if is && stem != "" { // not a pattern such as *.env
		last := stem[len(stem)-1]
		is = 'a' <= last && last <= 'z' || '0' <= last && last <= '9' || last == '-' || last == '_'
	}
	switch strings.TrimPrefix(stem, ".env.") {
	case "example", "sample", "template", "dist", "defaults", "schema":
		example = true
	}
	return is || name == ".envrc" || strings.HasPrefix(name, ".env."), example
}

// Examples are files that may stand beside one with secrets and show how it is written:
// what both say is public.
func Examples(file string) (out []string) {
	for _, e := range []string{"example", "sample", "template", "dist", "defaults"} {
		out = append(out, file+"."+e)
		if name := filepath.Base(file); strings.HasPrefix(name, ".env.") {
			out = append(out, filepath.Join(filepath.Dir(file), ".env."+e))
		}
	}
	return out
}

// published reports whether a file is public whatever its ending says: a bundle of
// authorities' certificates, or test data in a package that a package manager
// installed, which anybody can download.
func published(segs []string) bool {
	switch segs[len(segs)-1] {
	case "cacert.pem", "ca-bundle.pem", "roots.pem":
		return true
	}
	return slices.ContainsFunc(segs[:len(segs)-1], func(s string) bool {
		return s == "node_modules" || s == "site-packages" || s == "dist-packages"
	})
}

// vital says what a recursive removal of dir would take with it, "" when it
// is an ordinary folder.
func vital(r Rules, w Write) string {
	if !w.Remove || !w.Tree {
		return ""
	}
	p := filepath.ToSlash(w.Path)
	switch {
	case p == "/" || len(p) <= 3 && strings.HasSuffix(strings.TrimSuffix(p, "/"), ":"):
		return "everything on this system"
	case Within(p, r.Home, true):
		return "the home folder"
	case p == filepath.ToSlash(r.Dir):
		return "the folder this session works in"
	case Within(p, r.Dir, true):
		return "a folder above the one this session works in"
	}
	for _, d := range r.Dirs {
		if Within(p, d, true) {
			return "a whole folder this session was given"
		}
	}
	if strings.Count(strings.Trim(p, "/"), "/") == 0 {
		return "a folder of the system"
	}
	return ""
}

// devices are those that nothing is kept on, and folders of them.
var devices = map[string]bool{"null": true, "zero": true, "full": true, "tty": true, "stdin": true, "stdout": true, "stderr": true, "fd": true, "shm": true, "pts": true, "ptmx": true, "tcp": true, "udp": true, "mqueue": true, "random": true, "urandom": true}

// device is the device that a path names, and on which something may be kept; ""
// when it names none.
func device(file string) string {
	name, ok := strings.CutPrefix(filepath.ToSlash(file), "/dev/")
	first, _, _ := strings.Cut(name, "/")
	if !ok || devices[first] {
		return ""
	}
	return name
}

// foreign says why a path may mean something else to another program or
// system than what it resolves to here, "" when it does not.
func foreign(asked string) string {
	switch {
	case strings.HasPrefix(asked, `\\`), strings.HasPrefix(asked, "//?/"), strings.HasPrefix(asked, "//./"), strings.HasPrefix(asked, `\??\`):
		return "it names another computer or a device on some systems"
	case strings.HasPrefix(asked, "%") && strings.Count(asked, "%") > 1:
		return "some systems replace a name between percent signs"
	case filepath.Separator == '/' && strings.Contains(asked, `\`) && slices.Contains(strings.Split(strings.ReplaceAll(asked, `\`, "/"), "/"), ".."):
		return "it holds .. behind a backslash"
	}
	return ""
}
