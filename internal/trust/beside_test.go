package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

const besideSkill = ".claude/skills/s/SKILL.md"

// What lies beside a SKILL.md is trusted with it, and asked about again when it changes.
func TestSkillsAreTrustedWithTheirFolder(t *testing.T) {
	at := func(r *rig, name string) string { return filepath.Join(r.Root, ".claude/skills/s", name) }
	for name, c := range map[string]struct {
		change func(r *rig)
		want   trust.State
	}{
		"nothing":                   {func(*rig) {}, trust.Trusted},
		"a script":                  {func(r *rig) { r.write(".claude/skills/s/scripts/a.sh", "touch PWNED") }, trust.Changed},
		"a script deep inside":      {func(r *rig) { r.write(".claude/skills/s/scripts/lib/deep/b.py", "evil") }, trust.Changed},
		"a new file":                {func(r *rig) { r.write(".claude/skills/s/scripts/json.py", "evil") }, trust.Changed},
		"a new empty file":          {func(r *rig) { r.write(".claude/skills/s/__init__.py", "") }, trust.Changed},
		"one less":                  {func(r *rig) { _ = os.Remove(at(r, "scripts/a.sh")) }, trust.Changed},
		"what a link leads to":      {func(r *rig) { r.write("tools/t.sh", "evil") }, trust.Changed},
		"where a link leads":        {func(r *rig) { _ = os.Remove(at(r, "to")); _ = os.Symlink("../../../other", at(r, "to")) }, trust.Changed},
		"a link out of the folder":  {func(r *rig) { _ = os.Symlink("/usr/share", at(r, "share")) }, trust.Changed},
		"what Python made":          {func(r *rig) { r.write(".claude/skills/s/scripts/__pycache__/b.pyc", "magi\x00\x00\x00\x00code") }, trust.Trusted},
		"what nobody checks":        {func(r *rig) { r.write(".claude/skills/s/scripts/__pycache__/b.pyc", "magi\x01\x00\x00\x00code") }, trust.Changed},
		"what the system put there": {func(r *rig) { r.write(".claude/skills/s/.DS_Store", "x") }, trust.Trusted},
		"another skill's":           {func(r *rig) { r.write(".claude/skills/other/SKILL.md", "x") }, trust.Changed},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(besideSkill, "text")
			r.write(".claude/skills/s/scripts/a.sh", "echo fine")
			r.write(".claude/skills/s/scripts/lib/deep/b.py", "fine")
			r.write("tools/t.sh", "fine")
			r.write("other/t.sh", "fine")
			if err := os.Symlink("../../../tools", at(r, "to")); err != nil {
				t.Skip(err)
			}
			r.grant(trust.Untrusted)
			was := r.check(trust.Trusted)
			if said := fmt.Sprint(was.Claims()); !strings.Contains(said, "scripts/a.sh") || !strings.Contains(said, "to/t.sh") {
				t.Errorf("it is not shown: %s", said)
			}
			c.change(r)
			v := r.check(c.want)
			if same := trust.Beside(r.Root, besideSkill, was.Files); same != (c.want == trust.Trusted || name == "another skill's") {
				t.Errorf("when it is used: the same is %v", same)
			}
			if diff := r.Diff(v); name == "a script" && !strings.Contains(diff, "-echo fine\n\\ No newline at end of file\n+touch PWNED") {
				t.Errorf("%s", diff)
			}
		})
	}
}

// A skill with more beside it than anybody looks at is left out, and the rest is not.
func TestSkillsWithTooMuchBesideThem(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(r *rig)
		left string
	}{
		"as many as may be": {func(r *rig) { r.beside(500, "x") }, ""},
		"a file more":       {func(r *rig) { r.beside(501, "x") }, ".claude/skills/s: the skill is not used, because its folder holds more than 500 files or 8 MiB"},
		"8 MiB":             {func(r *rig) { r.beside(2, strings.Repeat("x", 4<<20)) }, ""},
		"a byte more":       {func(r *rig) { r.beside(2, strings.Repeat("x", 4<<20)+"x") }, ".claude/skills/s: the skill is not used, because its folder holds more than 500 files or 8 MiB"},
		"deep":              {func(r *rig) { r.write(".claude/skills/s/"+strings.Repeat("d/", 9)+"x", "x") }, ".claude/skills/s: too deep"},
		"a link to itself":  {func(r *rig) { _ = os.Symlink(".", filepath.Join(r.Root, ".claude/skills/s/self")) }, ".claude/skills/s: too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(besideSkill, "text")
			r.write(".claude/skills/other/SKILL.md", "text")
			c.put(r)
			v := r.check(trust.Untrusted)
			if left := strings.Join(v.Left, "; "); left != c.left || len(v.Refused) > 0 {
				t.Errorf("left out %q, want %q; refused %q", left, c.left, v.Refused)
			}
			if n := len(v.Files); c.left != "" && n != 1 || c.left == "" && n < 3 {
				t.Errorf("%d files", n)
			}
			r.grant(trust.Untrusted)
			r.check(trust.Trusted)
		})
	}
}

// beside writes n files beside a SKILL.md.
func (r *rig) beside(n int, text string) {
	for i := range n {
		r.write(fmt.Sprintf(".claude/skills/s/f%d", i), text)
	}
}
