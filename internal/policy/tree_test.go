package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestTree: an action on a tree is judged by what is in it.
func TestTree(t *testing.T) {
	below := func(names ...string) *policy.Below {
		b := &policy.Below{}
		for _, n := range names {
			b.Paths = append(b.Paths, policy.Place{Path: dir + "/" + n})
		}
		return b
	}
	grep := policy.Exec{Argv: []string{"grep", "-r", "x"}, ReadOnly: true}
	read := func(b *policy.Below) []policy.Action {
		return []policy.Action{policy.Touching(grep, policy.Read{Path: dir, Asked: ".", Tree: true, Below: b})}
	}
	write := func(edits bool, w policy.Write) []policy.Action {
		w.Path, w.Asked = dir+"/out", "out"
		return []policy.Action{policy.Touching(policy.Exec{Argv: []string{"cp", "-r", "p", "out"}, Edits: edits}, w)}
	}
	for _, c := range []struct {
		name  string
		rules []string
		mode  policy.Mode
		acts  []policy.Action
		want  string
	}{
		{"nothing special", []string{"deny Read(.env*)"}, policy.Default, read(below("a", "b/c")), "allow read-only"},
		{"a secret", nil, policy.Default, read(below("a", "b/.env")), "ask secret"},
		{"a secret by another name", nil, policy.Default, read(&policy.Below{Paths: []policy.Place{{Path: dir + "/.env", Named: dir + "/notes"}}}), "ask secret"},
		{"a link with the name of a secret", nil, policy.Default, read(&policy.Below{Paths: []policy.Place{{Path: dir + "/notes", Named: dir + "/.env"}}}), "ask secret"},
		{"a secret in bypass", nil, policy.Bypass, read(below("a", ".env")), "allow mode"},
		{"denied", []string{"deny Read(.env*)"}, policy.Default, read(below("a", ".env")), "ask rule"},
		{"denied in bypass", []string{"deny Read(.env*)"}, policy.Bypass, read(below("a", ".env")), "ask rule"},
		{"denied with an allowed command", []string{"deny Read(.env*)", "allow Bash(grep:*)"}, policy.Default, read(below("a", ".env")), "ask rule"},
		{"denied in dontAsk", []string{"deny Read(.env*)"}, policy.DontAsk, read(below("a", ".env")), "deny rule"},
		{"asked", []string{"ask Read(a)"}, policy.Default, read(below("a")), "ask rule"},
		{"the folder itself", []string{"deny Read(/**)"}, policy.Default, read(below()), "deny rule"},
		{"too many", nil, policy.Default, read(&policy.Below{Short: "it is large"}), "ask tree"},
		{"too many, allowed command", []string{"allow Bash(grep:*)"}, policy.Default, read(&policy.Below{Short: "it is large"}), "allow rule"},
		{"too many, denied below", []string{"deny Read(.env*)", "allow Bash(grep:*)"}, policy.Default, read(&policy.Below{Short: "it is large"}), "ask denied-below"},

		{"made", nil, policy.AcceptEdits, write(true, policy.Write{Below: below("out/a")}), "allow mode"},
		{"made outside", nil, policy.AcceptEdits, write(true, policy.Write{Below: &policy.Below{Paths: []policy.Place{{Path: "/etc/x"}}}}), "ask outside"},
		{"made protected", nil, policy.AcceptEdits, write(true, policy.Write{Below: below("out/a", ".git/config")}), "ask protected-path"},
		{"made protected in bypass", nil, policy.Bypass, write(true, policy.Write{Below: below("out/a", ".git/hooks/pre-commit")}), "ask protected-path"},
		{"moved", nil, policy.AcceptEdits, write(true, policy.Write{Moved: true, Remove: true, Tree: true, Below: below("out/a", "out/sub/b")}), "allow mode"},
		{"moved with a secret", nil, policy.AcceptEdits, write(true, policy.Write{Moved: true, Remove: true, Tree: true, Below: below("out/a", "out/sub/.env")}), "ask secret"},
		{"moved with a secret in bypass", nil, policy.Bypass, write(true, policy.Write{Moved: true, Remove: true, Tree: true, Below: below("out/sub/.env")}), "allow mode"},
		{"moved with a secret that a rule allows", []string{"allow Read(.env)"}, policy.AcceptEdits, write(true, policy.Write{Moved: true, Remove: true, Tree: true, Below: below("out/sub/.env")}), "allow mode"},
		{"removed with a secret", []string{"allow Bash(cp:*)"}, policy.Default, write(false, policy.Write{Below: below("out/.env")}), "allow rule"},
		{"made by another name", nil, policy.AcceptEdits, write(true, policy.Write{Below: &policy.Below{Paths: []policy.Place{{Path: dir + "/x", Named: dir + "/.git/config"}}}}), "ask protected-path"},
		{"made and denied", []string{"deny Edit(prod/**)"}, policy.AcceptEdits, write(true, policy.Write{Below: below("out/a", "prod/f")}), "deny rule"},
		{"made and denied with an allowed command", []string{"deny Edit(prod/**)", "allow Bash(cp:*)"}, policy.Default, write(false, policy.Write{Below: below("prod/f")}), "deny rule"},
		{"made with an allowed command", []string{"deny Edit(prod/**)", "allow Bash(cp:*)"}, policy.Default, write(false, policy.Write{Below: below("out/f")}), "allow rule"},

		{"somewhere", nil, policy.AcceptEdits, write(false, policy.Write{Within: true}), "ask not-read-only"},
		{"somewhere in bypass", nil, policy.Bypass, write(false, policy.Write{Within: true}), "allow mode"},
		{"somewhere with an allowed command", []string{"allow Bash(cp:*)"}, policy.Default, write(false, policy.Write{Within: true}), "allow rule"},
		{"somewhere a rule denies some", []string{"deny Edit(out/x/**)", "allow Bash(cp:*)"}, policy.Bypass, write(false, policy.Write{Within: true}), "ask rule"},
		{"somewhere a rule denies elsewhere", []string{"deny Edit(/prod/**)", "allow Bash(cp:*)"}, policy.Default, write(false, policy.Write{Within: true}), "allow rule"},
	} {
		v := policy.Decide(rules(t, c.rules...), c.mode, policy.Request{Tool: "Bash", Actions: c.acts})
		if got := v.Effect.String() + " " + string(v.Check); got != c.want {
			t.Errorf("%s: got %s (%s), want %s", c.name, got, v.Reason, c.want)
		}
	}
}
