package mcp

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/servers"
)

// TestShared: servers whose full names are the same cannot be told apart by them.
func TestShared(t *testing.T) {
	got := shared([]servers.Server{{Name: "c", Plugin: "a-b"}, {Name: "b_c", Plugin: "a"}, {Name: "plugin.a_b.c"}, {Name: "x.y"}, {Name: "x_y"}, {Name: "z"}})
	if want := []bool{false, true, true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
