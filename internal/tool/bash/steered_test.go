package bash

import "testing"

// A variable that was handed to commands for good counts for the programs that it makes
// start others, and for no other.
func TestSteeredBy(t *testing.T) {
	for _, c := range []struct {
		variable, program string
		want              string
	}{
		{"LESSOPEN=|x %s", "less", "the variable LESSOPEN is set"}, {"LESSCLOSE=x %s", "less", "the variable LESSCLOSE is set"},
		{"RIPGREP_CONFIG_PATH=/x", "rg", "the variable RIPGREP_CONFIG_PATH is set"},
		{"LESSOPEN=", "less", ""}, {"LESSOPEN=|x %s", "ls", ""}, {"LESS=-R", "less", ""}, {"GOFLAGS=-v", "cargo", ""}, {"NODE_PATH=/x", "node", ""},
	} {
		if got := steeredBy([]string{"PATH=/bin", c.variable}, c.program); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.variable, c.program, got, c.want)
		}
	}
}
