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
