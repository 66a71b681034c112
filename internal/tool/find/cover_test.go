package find

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

func (b *bench) rules(texts ...string) policy.Rules {
	r := policy.Rules{Dir: b.dir, Dirs: []string{b.dir}, Home: b.dir}
	for _, text := range texts {
		word, spec, _ := strings.Cut(text, " ")
		effect := map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[word]
		rule, err := policy.ParseRule(spec, effect, policy.Project, "settings.json:3", b.dir)
		if err != nil {
			b.t.Fatal(err)
		}
		r.List = append(r.List, rule)
	}
	return r
}

// TestCovers: what may not be read without a refusal or a question is left out
// of a search, and counted.
func TestCovers(t *testing.T) {
	b := newBench(t, "a.go", "KEY\n", ".env", "KEY=1\n", "sub/.env.local", "KEY=2\n", "sub/b.go", "KEY\n", "priv/p.go", "KEY\n", "key.pem", "none\n")
	if err := os.Symlink("priv", filepath.Join(b.dir, "link")); err != nil {
		t.Skip(err)
	}
	grep := in{"pattern": "KEY"}
	const secrets = "[3 files are not shown: they may hold secrets; use Read]"
	for _, c := range []struct {
		rules []string
		mode  policy.Mode
		tool  string
		in    in
		want  string
	}{
		{nil, policy.Default, "Grep", grep, "a.go\npriv/p.go\nsub/b.go\n" + secrets},
		{nil, policy.Bypass, "Grep", grep, ".env\na.go\npriv/p.go\nsub/.env.local\nsub/b.go"},
		{nil, policy.Default, "Grep", in{"pattern": "KEY", "glob": "*.go"}, "a.go\npriv/p.go\nsub/b.go"},
		{nil, policy.Default, "Grep", in{"pattern": "KEY", "path": ".env"}, ".env"}, // the call was decided
		{[]string{"allow Read(.env*)"}, policy.Default, "Grep", grep, ".env\na.go\npriv/p.go\nsub/.env.local\nsub/b.go\n[1 file is not shown: it may hold secrets; use Read]"},
		{[]string{"deny Read(.env*)"}, policy.Bypass, "Grep", grep, "a.go\npriv/p.go\nsub/b.go\n[2 files are not shown: a rule denies them]"},
		{[]string{"deny Grep(priv/**)", "allow Read"}, policy.Default, "Grep", grep, ".env\na.go\nsub/.env.local\nsub/b.go\n[1 file is not shown: a rule denies it]"},
		{[]string{"ask Read(sub/**)", "allow Read"}, policy.Default, "Grep", grep, ".env\na.go\npriv/p.go\n[2 files are not shown: a rule asks about them; use Read]"},
		{[]string{"deny Read(link/**)"}, policy.Default, "Grep", in{"pattern": "KEY", "path": "link"}, "No matches found.\n[1 file is not shown: a rule denies it]"},
		{[]string{"deny Read(priv/*)"}, policy.Default, "Grep", in{"pattern": "KEY", "path": "link"}, "No matches found.\n[1 file is not shown: a rule denies it]"},
		// Names alone are no secret, as for ls; what is denied is not named either.
		{nil, policy.Default, "Glob", in{"pattern": "**/.env*"}, ".env\nsub/.env.local"},
		{[]string{"deny Read(.env*)"}, policy.Default, "Glob", in{"pattern": "**/.env*"}, "No files found.\n[2 files are not shown: a rule denies them]"},
		{[]string{"deny Read(priv/**)"}, policy.Default, "Glob", in{"pattern": "**/*.go"}, "a.go\nsub/b.go\n[1 file is not shown: a rule denies it]"},
	} {
		b.env.Mode, b.env.Covers = c.mode, policy.Covers(b.rules(c.rules...))
		t.Run(c.tool+" "+strings.Join(c.rules, ","), func(t *testing.T) {
			b := *b
			b.t = t
			b.is(c.want, c.tool, c.in)
		})
	}
}
