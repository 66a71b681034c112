package op

import (
	"strings"
	"testing"
)

// The commands have different names, say what they are for, and what they ask can be
// asked.
func TestCommands(t *testing.T) {
	kinds, names := map[string]int{}, map[string]bool{}
	for _, c := range Commands() {
		if c.About == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz") != "" || names[c.Name] {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
		switch {
		case c.Make == nil:
			kinds["view"]++
			continue
		case c.Name != "compact" && c.Name != "goal": // see TestCompact and TestGoalLine
			if _, err := c.Make(""); err == nil {
				t.Errorf("/%s needs no words", c.Name)
			}
			if o, err := c.Make("a b"); err != nil || o != (Rename{Title: "a b"}) || !strings.Contains(c.Done("a b"), "“a b”") {
				t.Errorf("/%s: %v %v", c.Name, o, err)
			}
		}
		kinds["op"]++
	}
	if kinds["op"] != 3 || kinds["view"] < 15 {
		t.Errorf("%v", kinds)
	}
}

func TestCompact(t *testing.T) {
	for args, want := range map[string]Op{
		"": Compact{}, "the parser, mostly": Compact{Focus: "the parser, mostly"}, "--undo": Compact{Undo: true},
		"--from 2": Compact{From: "2"}, "--up-to 3 the tests": Compact{UpTo: "3", Focus: "the tests"},
		"--from x": nil, "--from": nil, "--up-to 0": nil, "--undo now": nil, "--from 1 --undo": nil,
	} {
		if o, err := compact(args); o != want || (err == nil) != (want != nil) {
			t.Errorf("/compact %s: %+v, %v; want %+v", args, o, err, want)
		}
	}
}
