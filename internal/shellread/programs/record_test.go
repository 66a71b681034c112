package programs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestOneRecord: a program is added with one record, and every question about it is answered.
func TestOneRecord(t *testing.T) {
	table := programs.WithJJ()
	words := func(line string) (ws []programs.Word) {
		for w := range strings.FieldsSeq(line) {
			ws = append(ws, programs.Lit(w))
		}
		return ws
	}
	invoke := func() (*programs.Recorder, *programs.Invocation) {
		r := &programs.Recorder{Table: table, Cache: world.Cache{World: world.World{Dir: "/w", Home: "/h"}}}
		return r, r.Invoke("jj", []string{"/w"})
	}
	for line, want := range map[string]string{
		"jj log --ignore-working-copy -n 5":     "",
		"jj log --ignore-working-copy -T x":     "-T is not a flag of jj log that is known to be harmless",
		"jj log":                                "jj log without --ignore-working-copy changes something",
		"jj file show --ignore-working-copy a":  "",
		"jj describe -m x":                      "jj describe is not known to be read-only",
		"jj file untrack --ignore-working-copy": "jj file untrack is not known to be read-only",
	} {
		if _, u := invoke(); u.ReadOnly(words(line)) != want {
			_, u := invoke()
			t.Errorf("%s only reads: %q, want %q", line, u.ReadOnly(words(line)), want)
		}
	}
	for line, want := range map[string]bool{"jj util exec -- ls": true, "jj diff --tool x": true, "jj --config a=b log": true, "jj describe -m x": false} {
		if got := table.Beyond("jj", words(line)) != ""; got != want {
			t.Errorf("%s is beyond a rule for jj: %v", line, got)
		}
	}
	for line, want := range map[string][]string{"jj op abandon x": {"jj", "op", "abandon"}, "jj git push --deleted": {"jj", "git", "push", "--deleted"}, "jj git push": nil} {
		r, _ := invoke()
		if got := table.LostWords("jj", words(line)); !slices.Equal(got, want) || (r.Loses("jj", words(line), []string{"/w"}) != "") != (want != nil) {
			t.Errorf("%s loses by %q, want %q", line, got, want)
		}
	}
	_, u := invoke()
	u.Changes(words("jj config set --user ui.editor x"))
	if want := "/h/.config/jj/config.toml"; !slices.ContainsFunc(u.Actions, func(a policy.Action) bool { w, ok := a.(policy.Write); return ok && w.Path == want }) {
		t.Errorf("jj config set writes %v, want %s", u.Actions, want)
	}
	_, u = invoke()
	if got := u.Prose(words("jj describe -m .env")); !reflect.DeepEqual(got, []string{"-m", ".env"}) {
		t.Errorf("jj describe -m .env says %q", got)
	}
}
