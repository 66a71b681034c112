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
			one := &command{flags: tok, dash: row.dash}
			for _, flag := range flagsIn(one) {
				kind, _ := one.flag(flag)
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
	for name, p := range Standard().programs {
		check(name, p.row)
		for sub, row := range p.reads {
			check(name+" "+sub, row)
		}
		for sub, row := range p.shows {
			check(name+" "+sub, row)
		}
		if p.changes != nil {
			check(name+" (changes)", &p.changes.command)
		}
	}
}

// flagsIn are the flags that a row's notation names.
func flagsIn(row *command) (out []string) {
	for _, tok := range strings.Fields(row.flags) {
		name, _, _ := strings.Cut(tok, "=")
		if strings.HasPrefix(name, "--") || row.dash {
			out = append(out, strings.TrimSuffix(name, "?"))
			continue
		}
		for _, c := range strings.ReplaceAll(name[1:], "?", "") {
			out = append(out, "-"+string(c))
		}
	}
	return out
}

// TestFlagTokens holds the notation of flags against what it means.
func TestFlagTokens(t *testing.T) {
	row := &command{flags: "-ab? -c?d=x -e --long=p --opt?"}
	want := map[string]flagKind{"-a": {}, "-b": {'x', true}, "-c": {'x', true}, "-d": {value: 'x'}, "-e": {}, "--long": {value: 'p'}, "--opt": {'x', true}}
	got := map[string]flagKind{}
	for _, flag := range append(flagsIn(row), "-?", "--", "-x", "--lon", "-ab") {
		if kind, ok := row.flag(flag); ok {
			got[flag] = kind
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOneRecordEach: a name stands in one record, where all that is known of it is.
func TestOneRecordEach(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range records() {
		for name := range strings.FieldsSeq(p.names) {
			if seen[name] {
				t.Errorf("%s has two records", name)
			}
			seen[name] = true
		}
	}
}
