package store_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/store"
)

func TestTheNewestIsNoServedOne(t *testing.T) {
	all := []store.Info{{ID: "0002", Key: "p", Model: store.ServedModel}, {ID: "0001", Key: "p", Model: "a/b"}}
	if i, err := store.Match(all, "p", ""); err != nil || i.ID != "0001" {
		t.Errorf("%+v %v", i, err)
	}
	if i, err := store.Match(all, "p", "0002"); err != nil || i.ID != "0002" {
		t.Errorf("by its ID: %+v %v", i, err)
	}
	if _, err := store.Match(all[:1], "p", ""); err == nil {
		t.Error("a served session was the newest")
	}
}

// A session that ended before its first prompt is not what one goes on with,
// unless there is nothing else.
func TestTheNewestWasBegun(t *testing.T) {
	all := []store.Info{{ID: "0003", Key: "p"}, {ID: "0002", Key: "q", Turns: 1}, {ID: "0001", Key: "p", First: "said"}}
	for n, want := range map[int]string{3: "0001", 2: "0003"} {
		if i, err := store.Match(all[:n], "p", ""); err != nil || i.ID != want {
			t.Errorf("of %d: %+v %v", n, i, err)
		}
	}
}

// TestNamed: words that a session holds do not name it.
func TestNamed(t *testing.T) {
	i := store.Info{ID: "0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"}
	i.Title, i.First = "The parser", "mend the parser 0199"
	for query, want := range map[string]bool{
		i.ID: true, "0199": true, " 0199C5A2 ": true, "the parser": true, "019": false, "parser": false, "mend": false, "": false,
	} {
		if got := i.Named(query); got != want {
			t.Errorf("Named(%q) = %v", query, got)
		}
	}
}
