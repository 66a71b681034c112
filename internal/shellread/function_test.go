package shellread_test

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// A function that is defined where nothing may ever run does not stand in for the
// one that is called.
func TestFunctionsOfWhatDoesNotRun(t *testing.T) {
	for _, script := range []string{
		"f() { rm x; }; g() { f() { ls; }; }; f",
		"f() { rm x; }; g() { f() { ls; }; }; f; g",
		"f() { rm x; }; g() { h() { f() { ls; }; }; }; f",
		"f() { rm x; }; g() { bash -c ls; f() { ls; }; }; f",
		"f() { rm x; }; g() { eval 'f() { ls; }'; }; f",
		"f() { rm x; }; a bash 'f() { ls; }; f'; f",
		"f() { rm x; }; a | xargs -I{} bash -c 'f() { ls; }; {}'; f",
		"f() { rm x; }; find . -name x -exec bash -c 'f() { ls; }; f' ';'; f",
		"g() { f() { rm x; }; }; h() { f() { ls; }; }; g; f",
	} {
		got := shellread.Read(script, world.World{Dir: "/w", Home: "/home", Git: func(string) (bool, string) { return true, "" }})
		if !slices.ContainsFunc(got.Actions, func(a policy.Action) bool {
			e, ok := a.(policy.Exec)
			return ok && !e.ReadOnly && e.Argv[0] == "rm"
		}) {
			t.Errorf("%s: rm runs, and was not read: %+v", script, got.Actions)
		}
	}
}
