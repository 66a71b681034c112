package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// reload loads a first time, changes the disk, and loads again as a running
// session does.
func reload(t *testing.T, o Options, change func(d disk), now func(o *Options)) (was, is *Config) {
	t.Helper()
	was = load(t, o)
	change(o.Files.(disk))
	o.Held = was
	now(&o)
	return was, load(t, o)
}

// A project's file that changed is not trusted any more. What it allowed and
// still says stays, what is new and allows waits, what forbids counts at
// once, and what it does not forbid any more is forbidden all the same.
func TestReloadHoldsWhatLoosens(t *testing.T) {
	cases := map[string]struct {
		before, after string
		want          string // allow|ask|deny|dirs|env|hooks
		ignored       bool
	}{
		"more deny counts":      {`{"permissions":{"allow":["A"],"deny":["D"]}}`, `{"permissions":{"allow":["A"],"deny":["D","E"]}}`, "A||D E|||", false},
		"more ask counts":       {`{}`, `{"permissions":{"ask":["K"]}}`, "|K||||", false},
		"less allow counts":     {`{"permissions":{"allow":["A","B"]}}`, `{"permissions":{"allow":["B"]}}`, "B|||||", false},
		"no allow counts":       {`{"permissions":{"allow":["A","B"]}}`, `{}`, "|||||", false},
		"more allow waits":      {`{"permissions":{"allow":["A"]}}`, `{"permissions":{"allow":["A","B"]}}`, "A|||||", true},
		"less deny waits":       {`{"permissions":{"deny":["D","E"]}}`, `{"permissions":{"deny":["E"]}}`, "||E D|||", true},
		"no deny waits":         {`{"permissions":{"deny":["D"],"ask":["K"]}}`, `{}`, "|K|D|||", true},
		"a removed file":        {`{"permissions":{"allow":["A"],"deny":["D"]},"env":{"X":"1"}}`, "", "||D|||", true},
		"a new folder waits":    {`{}`, `{"permissions":{"additionalDirectories":["../x"]}}`, "|||||", true},
		"a new variable waits":  {`{"env":{"X":"1"}}`, `{"env":{"X":"1","Y":"2"}}`, "||||X=1|", true},
		"another value waits":   {`{"env":{"X":"1"}}`, `{"env":{"X":"2"}}`, "|||||", true},
		"less variables":        {`{"env":{"X":"1","Y":"2"}}`, `{"env":{"Y":"2"}}`, "||||Y=2|", false},
		"new hooks wait":        {`{}`, `{"hooks":{"Stop":[{"hooks":[]}]}}`, "|||||", true},
		"hooks stay as trusted": {`{"hooks":{"Stop":[1]}}`, `{"hooks":{"Stop":[2]}}`, `|||||{"Stop":[1]}`, true},
		"the same but prettier": {`{"permissions":{"allow":["A"]},"env":{"X":"1"}}`, "// hello\n{ \"env\":{\"X\":\"1\"},\n\"permissions\":{\"allow\":[\"A\"]} }", "A||||X=1|", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := options(disk{projectFile: c.before, userFile: `{"permissions":{"allow":["U"]}}`})
			_, is := reload(t, o, func(d disk) {
				if d[projectFile] = c.after; c.after == "" {
					delete(d, projectFile)
				}
			}, func(o *Options) { o.Trusted, o.Changed = false, true })
			p := is.Permissions
			env := ""
			for k, v := range is.Env {
				env += k + "=" + v
			}
			got := strings.Join([]string{strings.TrimSpace(strings.TrimPrefix(texts(p.Allow), "U")), texts(p.Ask), texts(p.Deny), texts(p.Dirs), env, string(is.Hooks)}, "|")
			if got != c.want || (len(is.Ignored) > 0) != c.ignored {
				t.Errorf("got %s, ignored %v; want %s, %v", got, is.Ignored, c.want, c.ignored)
			}
			if p.Unsafe != "" {
				t.Errorf("unsafe: %s", p.Unsafe)
			}
			// A third load with the same files changes nothing.
			o.Held, o.Trusted, o.Changed = is, false, true
			if again := load(t, o); Diff(is, again) != nil {
				t.Errorf("loaded again: %v", Diff(is, again))
			}
			// Trusted as it is now, everything counts.
			o.Trusted = true
			plain := o
			plain.Held = nil
			if d := Diff(load(t, o), load(t, plain)); d != nil {
				t.Errorf("trusted again: %v", d)
			}
		})
	}
}

func TestReloadOfAFolderThatIsNotTrusted(t *testing.T) {
	o := options(disk{projectFile: `{"permissions":{"allow":["A"],"deny":["D"]}}`})
	o.Trusted = false
	_, is := reload(t, o, func(d disk) {
		d[projectFile] = `{"permissions":{"allow":["A","B"],"ask":["K"]},"sandbox":{"enabled":false}}`
	}, func(*Options) {})
	if p := is.Permissions; texts(p.Allow) != "" || texts(p.Ask) != "K" || texts(p.Deny) != "D" || !is.Sandbox.Enabled || len(is.Ignored) != 1 {
		t.Errorf("%+v, ignored %v", p, is.Ignored)
	}
	// Trust that was taken back takes everything with it but what forbids.
	o.Trusted = true
	_, is = reload(t, o, func(disk) {}, func(o *Options) { o.Trusted, o.Changed = false, false })
	if p := is.Permissions; texts(p.Allow) != "" || texts(p.Ask) != "K" {
		t.Errorf("%+v", p)
	}
}

// A file that becomes unreadable keeps what it said; nothing passes without a
// question, and no prohibition is lost.
func TestReloadOfAFileThatBreaks(t *testing.T) {
	files := map[string]string{"user": userFile, "cc": userCC, "project": projectFile, "local": localFile, "managed": managedFile}
	for which, path := range files {
		for name, text := range map[string]string{
			"cut": `{"permissions":{"allow":["A"],"deny":["D","E`, "nothing left": "", "NUL": "\x00\x00", "no JSON": "oops", "no list": `{"permissions":{"deny":5}}`,
			"no block": `{"permissions":"no"}`, "a device": "FIFO", "misspelt": `{"permisions":{"allow":["A"]}}`,
		} {
			t.Run(which+" "+name, func(t *testing.T) {
				_, is := reload(t, options(disk{path: `{"permissions":{"allow":["A"],"deny":["D"],"ask":["K"]}}`}),
					func(d disk) { d[path] = text }, func(*Options) {})
				p := is.Permissions
				if !slices.ContainsFunc(p.Deny, func(r Rule) bool { return r.Text == "D" }) || !slices.ContainsFunc(p.Ask, func(r Rule) bool { return r.Text == "K" }) {
					t.Errorf("a prohibition is lost: deny %v ask %v", texts(p.Deny), texts(p.Ask))
				}
				if (name != "nothing left" || which == "managed") && p.Unsafe == "" {
					t.Error("nothing says that everything must ask")
				}
				if len(is.Problems) == 0 && p.Unsafe == "" {
					t.Error("nobody is told")
				}
			})
		}
	}
}

// A file that is well again counts as if nothing had been.
func TestReloadOfAFileThatIsMended(t *testing.T) {
	o := options(disk{userFile: `{"permissions":{"deny":["D"]}}`})
	_, is := reload(t, o, func(d disk) { d[userFile] = "oops" }, func(*Options) {})
	o.Files.(disk)[userFile] = `{"permissions":{"allow":["A"]}}`
	o.Held = is
	if p := load(t, o).Permissions; texts(p.Allow) != "A" || texts(p.Deny) != "" || p.Unsafe != "" {
		t.Errorf("%+v", p)
	}
}

func TestDiffMasks(t *testing.T) {
	a := load(t, options(disk{}))
	b := load(t, options(disk{userFile: `{"env":{"MY_TOKEN":"planted1"},"network":{"proxy":"http://me:planted2@proxy:1"},
		"providers":{"x":{"base_url":"http://y","headers":{"A":"planted3"}}},"mcpServers":{"s":{"command":"c","env":{"API_KEY":"planted4"}}}}`}))
	got := ""
	for _, c := range Diff(a, b) {
		got += fmt.Sprintf("%s %s %s\n", c.Key, c.Old, c.New)
	}
	if strings.Contains(got, "planted") || len(Diff(a, b)) != 4 {
		t.Errorf("%s", got)
	}
}

// Every value of the settings that a list prints is without the secrets that its name or
// its place tells, also inside of lists; what names a variable, and rules, stay.
func TestMasked(t *testing.T) {
	c := load(t, options(disk{userFile: `{"env":{"A_COOKIE":"planted","X_PAT":"planted","DB":"postgres://u:planted@h/x","CI":"1","SITE":"https://h/?a=1&api_key=planted&b=2"},
		"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"http","url":"https://u:planted@h/x","headers":{"X":"planted"}},{"type":"command","command":"run","env":{"A_KEY":"planted"}}]}]},
		"mcpServers":{"auth-box":{"command":"x","args":["--token","planted","--api-key=planted","-v","--no-auth","--port","1"],"env":{"PLAIN":"seen","K_TOKEN":"planted"},"oauth":{"clientId":"seen","clientSecret":"planted"}},
			"b":{"url":"https://h/x?token=planted","oauth":{"clientSecret":"${SEEN}"}}},
		"pluginConfigs":{"p":{"options":{"api_token":"planted","author":"seen"}}},
		"permissions":{"deny":["Bash(curl https://u@h:*)"]}}`}))
	got := ""
	for _, s := range c.Settings() {
		got += s.Key + "=" + string(s.Value) + "\n"
	}
	if strings.Contains(got, "planted") {
		t.Errorf("%s", got)
	}
	for _, want := range []string{
		`"PLAIN":"seen"`, `"clientId":"seen"`, `"${SEEN}"`, `"author":"seen"`, `"CI":"1"`, `https://h/?a=1&api_key=` + hiddenText + `&b=2`, `["--token",` + mask + `,"--api-key=` + hiddenText + `","-v","--no-auth",`,
		`"matcher":"Bash"`, `"command":"run"`, `Bash(curl https://u@h:*)`, `postgres://` + hiddenText + `@h/x`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone:\n%s", want, got)
		}
	}
}

// A file that could not be read from the start is not known to forbid less when the
// settings are read again: what was used in its place is not what it said.
func TestReloadOfWhatWasNeverRead(t *testing.T) {
	for _, broken := range []string{
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 2"}]}]},}x`, `{"tools":{"disallowed":["Bash"]},}x`,
		`{"model":"m",}x` + "\xff", `{"permissions":{"deny":["E"]},}x`,
	} {
		for _, k := range []keeper{{}, {userFile: `{"model":"m","hooks":{"PreToolUse":[]}}`}} {
			o := options(disk{userFile: broken})
			o.Keeper = k
			first := load(t, o)
			if first.Permissions.Unsafe == "" {
				t.Fatalf("%q: nothing is unsafe at the start", broken)
			}
			o.Held = first
			for range 2 {
				c := load(t, o)
				if c.Permissions.Unsafe != first.Permissions.Unsafe || c.Model != first.Model || texts(c.Permissions.Deny) != texts(first.Permissions.Deny) || string(c.Hooks) != string(first.Hooks) {
					t.Errorf("%q, %q: %+v\nafter %+v", broken, k, c.Permissions, first.Permissions)
				}
				o.Held = c
			}
		}
	}
}
