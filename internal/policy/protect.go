package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ciPaths are the files that tell build servers what to run.
var ciNames = map[string]bool{
	".gitlab-ci.yml": true, "azure-pipelines.yml": true, "jenkinsfile": true, ".travis.yml": true,
	"bitbucket-pipelines.yml": true, ".circleci": true, ".buildkite": true, ".drone.yml": true, "appveyor.yml": true, ".woodpecker.yml": true,
}

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
	for i, s := range segs {
		s = strings.TrimRight(s, ". ") // what Windows drops from the end of a name
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
	// A bare git folder: its parts are known by their neighbours' names.
	if n := len(segs); n > 1 && (segs[n-2] == "hooks" && gitHooks[segs[n-1]]) {
		return "git runs this file", false
	}
	return "", false
}

var gitHooks = map[string]bool{
	"pre-commit": true, "post-commit": true, "pre-push": true, "post-checkout": true, "post-merge": true,
	"prepare-commit-msg": true, "commit-msg": true, "pre-rebase": true, "post-rewrite": true, "pre-receive": true,
	"update": true, "post-receive": true, "post-update": true, "fsmonitor-watchman": true, "applypatch-msg": true,
	"pre-applypatch": true, "post-applypatch": true, "reference-transaction": true, "post-index-change": true, "pre-merge-commit": true,
}

// secretNames are base names of well-known secrets.
var secretNames = map[string]bool{
	"id_rsa": true, "id_dsa": true, "id_ecdsa": true, "id_ed25519": true, "id_ecdsa_sk": true, "id_ed25519_sk": true,
	".netrc": true, "_netrc": true, ".pgpass": true, ".my.cnf": true, ".npmrc": true, ".pypirc": true, ".git-credentials": true,
	".htpasswd": true, "credentials.json": true, "service-account.json": true, "secrets.yml": true, "secrets.yaml": true, "secrets.json": true,
	"master.key": true, "shadow": true, ".vault-token": true, ".dockercfg": true, ".boto": true, ".s3cfg": true, "kubeconfig": true,
	"terraform.tfstate": true, "wallet.dat": true, ".credentials.json": true,
}

var secretSuffixes = []string{".pem", ".p12", ".pfx", ".key", ".jks", ".keystore", ".ppk", ".kdbx", ".p8", ".asc.key"}

var secretFolders = map[string]bool{".ssh": true, ".gnupg": true, ".aws": true, ".azure": true, ".kube": true, ".password-store": true}

// secret reports whether file is known to hold secrets: .env files, private
// keys, cloud credentials.
func secret(file string) bool {
	low := strings.ToLower(filepath.ToSlash(file))
	name := path.Base(low)
	if name == ".env" || name == ".envrc" || strings.HasPrefix(name, ".env.") {
		switch strings.TrimPrefix(name, ".env.") {
		case "example", "sample", "template", "dist", "defaults", "schema":
			return false
		}
		return true
	}
	if strings.HasSuffix(name, ".pub") {
		return false
	}
	if secretNames[name] {
		return true
	}
	for _, suf := range secretSuffixes {
		if strings.HasSuffix(name, suf) {
			return true
		}
	}
	segs := strings.Split(strings.Trim(low, "/"), "/")
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
