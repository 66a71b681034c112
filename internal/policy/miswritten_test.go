package policy

import (
	"strings"
	"testing"
)

// TestSeveralInOne: a deny rule that names several commands with commas between them is told,
// and messages show a rule's star as it was written.
func TestSeveralInOne(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(rm *, curl *)": "several commands", "Bash(rm:*, curl:*)": "several commands", "Bash(git commit -m 'a, *')": "", "Bash(echo a, b *)": "", "Bash(rm *)": "", `Bash(re:^rm.*)`: `"re:^rm.*"`,
	} {
		r, err := ParseRule(text, Deny, User, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := Dead(r); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
