package config

import (
	"slices"
	"strings"
	"testing"
)

// An administrator's file that says nothing was cut: nothing passes without a question.
func TestManagedFilesThatSayNothing(t *testing.T) {
	for _, path := range []string{managedFile, "/etc/adze/managed.d/10.json", "/etc/claude-code/managed-settings.json"} {
		for name, text := range map[string]string{"empty": "", "NUL": "\x00\x00\x00", "blank": " \n", "cut": "{", "cut in a word": `{"mod`, "comment": "// nothing"} {
			if c := load(t, options(disk{path: text})); c.Permissions.Unsafe == "" || !strings.Contains(problems(c), path) {
				t.Errorf("%s of %s: unsafe %q, %s", name, path, c.Permissions.Unsafe, problems(c))
			}
		}
		if c := load(t, options(disk{path: "{}"})); c.Permissions.Unsafe != "" || len(c.Problems) > 0 {
			t.Errorf("%s that sets nothing: %q, %s", path, c.Permissions.Unsafe, problems(c))
		}
	}
	if c := load(t, options(disk{"/etc/adze/managed.d": "CLOSED"})); c.Permissions.Unsafe == "" {
		t.Error("a folder of the administrator that cannot be read counts as none")
	}
}

// Who turns hooks off turns off those of everybody but the administrator.
func TestHooksCount(t *testing.T) {
	const guard = `"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"g"}]}]}`
	off := `{"disableAllHooks":true,` + guard + `}`
	inline := func(text string) func(*Options) { return func(o *Options) { o.Settings = text } }
	for name, tt := range map[string]struct {
		change          func(*Options)
		theirs, managed bool
	}{
		"nobody":       {func(*Options) {}, true, true},
		"user":         {func(o *Options) { o.Files.(disk)[userFile] = off }, false, true},
		"user, theirs": {func(o *Options) { o.Files.(disk)[userCC] = off }, false, true},
		"project":      {func(o *Options) { o.Files.(disk)[projectFile] = off }, true, true},
		"local":        {func(o *Options) { o.Files.(disk)[localFile] = off }, true, true},
		"settings":     {inline(off), false, true},
		"flag":         {func(o *Options) { o.Flags = []Given{{"disableAllHooks", true, "--x"}} }, false, true},
		"managed":      {func(o *Options) { o.Files.(disk)[managedFile] = off }, false, false},
		"managed on": {func(o *Options) {
			o.Files.(disk)[managedFile] = `{"disableAllHooks":false,` + guard + `}`
			o.Settings = off
		}, true, true},
		"managed only": {func(o *Options) {
			o.Files.(disk)[managedFile] = `{"allowManagedHooksOnly":true,` + guard + `}`
			o.Settings = off
		}, false, true},
		"the same guard": {func(o *Options) { o.Files.(disk)[userFile] = `{` + guard + `}`; o.Settings = off }, false, true},
	} {
		o := options(disk{managedFile: `{` + guard + `}`})
		tt.change(&o)
		c := load(t, o)
		if c.HooksCount(User) != tt.theirs || c.HooksCount(Project) != tt.theirs || c.HooksCount(Managed) != tt.managed {
			t.Errorf("%s: user %v, managed %v", name, c.HooksCount(User), c.HooksCount(Managed))
		}
		if !slices.ContainsFunc(c.HookGroups(), func(g HookGroup) bool { return g.Scope == Managed }) {
			t.Errorf("%s: the administrator's guard is somebody else's: %+v", name, c.HookGroups())
		}
	}
}

// Of two folders of settings both files count.
func TestTwoFoldersOfSettings(t *testing.T) {
	o := options(disk{"/c/adze/settings.json": `{"model":"x","permissions":{"deny":["X"]}}`, userFile: `{"model":"u","output_style":"u","permissions":{"deny":["U"]}}`})
	o.Folders = Folders{Config: "/c/adze", Further: "/h/.adze"}
	for _, dir := range []string{"/w", "/h"} {
		o.Dir, o.Root, o.Trusted = dir, dir, false
		if c := load(t, o); c.Model != "x" || c.OutputStyle != "u" || texts(c.Permissions.Deny) != "U X" {
			t.Errorf("in %s: %q %q %s", dir, c.Model, c.OutputStyle, texts(c.Permissions.Deny))
		}
	}
}

// Lists of rules are united with those of the other agent's file beside them: the
// first answer that is kept ends none that was given before.
func TestRulesAreUnited(t *testing.T) {
	const cc = `{"permissions":{"allow":["A"],"ask":["Q"],"deny":["D"],"additionalDirectories":["/cc"]},"sandbox":{"network":{"deniedDomains":["cc"],"allowedDomains":["cc"]}}}`
	const own = `{"permissions":{"allow":["a"],"ask":["q"],"deny":["d"],"additionalDirectories":["/own"]},"sandbox":{"network":{"denied_domains":["own"],"allowed_domains":["own"]}}}`
	for path, ccPath := range map[string]string{userFile: userCC, projectFile: projectCC, localFile: "/w/.claude/settings.local.json", managedFile: "/etc/claude-code/managed-settings.json"} {
		c := load(t, options(disk{path: own, ccPath: cc}))
		p, n := c.Permissions, c.Sandbox.Network
		if got := texts(p.Allow) + "|" + texts(p.Ask) + "|" + texts(p.Deny) + "|" + texts(p.Dirs); got != "a A|q Q|d D|/own /cc" {
			t.Errorf("%s: %s", path, got)
		}
		if len(n.DeniedDomains) != 2 || len(n.AllowedDomains) > 1 {
			t.Errorf("%s: %v %v", path, n.DeniedDomains, n.AllowedDomains)
		}
		if p.Allow[1].File != ccPath {
			t.Errorf("%s: where it stands: %+v", path, p.Allow)
		}
	}
	for null, want := range map[string]string{`{"permissions":{"allow":null}}`: "", `{"permissions":null}`: "", `{"permissions":{"allow":[]}}`: "A"} {
		if c := load(t, options(disk{userFile: null, userCC: cc})); texts(c.Permissions.Allow) != want || texts(c.Permissions.Deny) != "D" {
			t.Errorf("%s: allow %q, deny %q", null, texts(c.Permissions.Allow), texts(c.Permissions.Deny))
		}
	}
}

// A limit that is too small to be told from 0 is not "no limit".
func TestLimitsThatAreNearlyNothing(t *testing.T) {
	for _, tt := range []struct {
		key, text string
		ok        bool
	}{
		{"max_budget_usd", "1e-400", false}, {"max_budget_usd", "0." + strings.Repeat("0", 400) + "1", false}, {"max_budget_usd", "-0", false}, {"max_budget_usd", "NaN", false},
		{"max_budget_usd", "Inf", false}, {"max_budget_usd", "1e999", false}, {"max_budget_usd", "1e-300", true}, {"max_budget_usd", "0", true}, {"max_budget_usd", "0.00e-5", true},
		{"cost.warn_usd", "1e-400", false}, {"max_turns", "0", true}, {"max_turns", "1e-400", false}, {"max_turns", "0.4", false},
		{"token_budget", "0.4", false}, {"token_budget", "1e-9k", false}, {"token_budget", "0x1p-2000", false}, {"token_budget", "0k", true}, {"token_budget", "0.5k", true},
		{"bash.max_memory", "0.1", false}, {"bash.max_memory", "0", true},
	} {
		v, err := Parse(tt.key, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if p := CheckValue(tt.key, v); (p == nil) != tt.ok {
			t.Errorf("%s %.20s: %v", tt.key, tt.text, p)
		}
	}
}
