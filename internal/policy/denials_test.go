package policy_test

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

func TestFileDenials(t *testing.T) {
	d := policy.FileDenials(rules(t, "deny Read(.env*)", "deny Read(secrets/**)", "deny Edit(docs/**)", "deny Read(//etc/keys/**)", "deny Read(//srv/*/pw)", "deny Read", "deny Bash(rm:*)", "ask Read(asked)", "allow Read(.env.example)"))
	for path, want := range map[string][2]bool{
		dir + "/.env": {true, false}, dir + "/a/.env.local": {true, false}, dir + "/env": {}, dir + "/secrets": {true, false}, dir + "/a/secrets": {}, dir + "/secrets/x/y": {true, false},
		dir + "/docs": {false, true}, dir + "/docs/x": {false, true}, dir + "/asked": {}, dir: {}, "/etc/keys": {true, false}, "/srv/a/pw": {true, false}, "/srv/a": {},
	} {
		if read, edit := d.Names(path, true); read != want[0] || edit != want[1] {
			t.Errorf("%s: read %v, edit %v", path, read, edit)
		}
	}
	spelled, folders := d.Starts()
	if !slices.Equal(spelled, []string{dir + "/secrets", "/etc/keys"}) || !slices.Equal(folders, []string{dir, "/srv"}) {
		t.Errorf("starts %v, %v", spelled, folders)
	}
	if same := policy.FileDenials(rules(t, "deny Read(.env*)")); same.Key() == d.Key() || same.Key() != policy.FileDenials(rules(t, "deny Read(.env*)", "deny Bash(x)")).Key() {
		t.Error("the key does not tell rules apart")
	}
}
