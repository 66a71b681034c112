package policy

import (
	"path"
	"slices"
	"testing"
)

// All that is in a folder with a name that steers programs steers them, and what is in
// an ordinary one does not.
func TestSteeredFolders(t *testing.T) {
	for folder, want := range map[string]bool{
		"": false, "/": false, "/home/u/work": false, "/w/src/hooks": false, "/w/.config/other": false, "/w/git/hooks": false, "/w/.github": false,
		"/home/u/.claude": true, "/w/repo/.vscode": true, "/w/repo/.VSCode/sub": true, ".config/gh": true, "/home/u/.config/gh": true, "/home/u/.config/gh/sub": true, "/w/.git/hooks": true, "/w/.yarn/releases": true,
	} {
		if got := Steered(folder) != ""; got != want {
			t.Errorf("%q: %t", folder, got)
		}
	}
}

// What steers programs by its name is known at home by each of the lists, once, in order.
func TestHomePlaces(t *testing.T) {
	places := HomePlaces("/home/u")
	for _, want := range []string{"/home/u/.bashrc", "/home/u/.vscode", "/home/u/.cargo/config.toml", "/home/u/.config/gh", "/home/u/.hgrc", "/home/u/bin"} {
		if !slices.Contains(places, want) {
			t.Errorf("%s is not among them", want)
		}
	}
	if !slices.IsSorted(places) || slices.Contains(places, "/home/u") {
		t.Error("they are not in order, or the home itself is one")
	}
}

// Of two modes the one counts that allows less; one that is not known does not.
func TestStricterMode(t *testing.T) {
	for _, c := range []struct{ a, b, want Mode }{
		{PlanMode, Bypass, PlanMode}, {Bypass, PlanMode, PlanMode}, {PlanMode, DontAsk, PlanMode}, {DontAsk, PlanMode, PlanMode}, {Default, Auto, Default}, {Auto, Default, Default},
		{Default, Default, Default}, {"", Bypass, Bypass}, {"other", PlanMode, PlanMode}, {AcceptEdits, Bypass, AcceptEdits},
	} {
		if got := Stricter(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// A name in front of .env is one of a file with secrets, a pattern is not.
func TestEnvFilesByTheirEnd(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "prod.env": true, "prod9.env": true, "prod-.env": true, "prod_.env": true, "PROD.ENV": true,
		"*.env": false, "prod~.env": false, "prod{.env": false, "prod/.env": true, "prod:.env": false, "prod?.env": false, "x].env": false, ".env.example": false, ".env.sample": false, ".env.production": true, "env": false, "x.envs": false,
	} {
		if got := HoldsSecrets("/w/" + name); got != want || got != SecretsIn(path.Dir("/w/"+name))(path.Base(name)) {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A path is foreign where another system would read it in another way.
func TestForeignPaths(t *testing.T) {
	for asked, want := range map[string]bool{
		`\\host\share`: true, "//?/C:/x": true, "//./pipe": true, `\??\x`: true, "%TEMP%/x": true, "%TEMP%": true,
		"%x": false, "100%": false, "a%b%c": false, "a/b": false, "//host": false,
	} {
		if got := foreign(asked) != ""; got != want {
			t.Errorf("%s: %t", asked, got)
		}
	}
}

// A pattern with a slash in front, or with several, counts from its folder.
func TestAnchoredGlobs(t *testing.T) {
	for pat, want := range map[string]map[string]bool{
		"/a":    {"a": true, "a/b": true, "x/a": false},
		"///a/": {"a": true, "a/b": true, "x/a": false},
		"a":     {"a": true, "x/a": true, "b": false},
		"a/":    {"a/b": true, "x/a/b": true, "b/c": false},
		"/*":    {"": false, "a": true, "a/b": true},
		"a/b":   {"a/b": true, "x/a/b": false},
		"**/b":  {"b": true, "a/b": true, "a/c/b": true, "a/b/c": true, "c": false},
		"/":     {"a": true, "a/b": true},
	} {
		g, err := compileGlob(pat)
		if err != nil {
			t.Fatal(err)
		}
		for rel, want := range want {
			if got := g.match(rel); got != want {
				t.Errorf("%s, %s: %t", pat, rel, got)
			}
		}
	}
}
