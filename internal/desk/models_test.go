package desk

import (
	"slices"
	"testing"
)

// The newest version of a model stands before older ones, families by their names.
func TestNewest(t *testing.T) {
	want := []string{
		"a/haiku-4-5", "a/haiku-4-5-20251001", "a/opus-5-5", "a/opus-5", "a/opus-4-10", "a/opus-4-8", "a/opus-4-8-20251101", "a/sonnet-5", "b/gpt-5.2", "b/gpt-5.2-mini", "b/gpt-5", "b/gpt-5-mini", "b/o4", "b/o3",
	}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, newest)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
