package programs

import (
	"fmt"
	"strings"
	"testing"
)

// TestFlagsAgree: no row says of one flag that it takes a value and that it
// takes none. The later would win, and words behind it would be taken for what
// they are not.
func TestFlagsAgree(t *testing.T) {
	check := func(name string, row *command) {
		if row == nil {
			return
		}
		seen := map[string]flagKind{}
		for _, tok := range strings.Fields(row.flags) {
			for flag, kind := range parseFlags(&command{flags: tok, dash: row.dash}) {
				if old, twice := seen[flag]; twice && old != kind {
					t.Errorf("%s: %s is %v and %v", name, flag, old, kind)
				}
				seen[flag] = kind
				if flag == "-" || flag == "--" || strings.ContainsAny(flag, "?=") {
					t.Errorf("%s: %q is no flag", name, flag)
				}
			}
		}
	}
	for name, row := range Standard().reads {
		check(name, row)
	}
	for name, row := range gitRows() {
		check("git "+name, row)
	}
	for name, row := range changeRows() {
		check(name+" (changes)", &row.command)
	}
}

// TestFlagTokens holds the notation of flags against what it means.
func TestFlagTokens(t *testing.T) {
	got := parseFlags(&command{flags: "-ab? -c?d=x -e --long=p --opt?"})
	want := map[string]flagKind{"-a": {}, "-b": {'x', true}, "-c": {'x', true}, "-d": {value: 'x'}, "-e": {}, "--long": {value: 'p'}, "--opt": {'x', true}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
