package tui

import (
	"slices"
	"testing"
)

// Settings are written in the order in which they were chosen, whichever is begun first.
func TestSavedInOrder(t *testing.T) {
	var order []string
	m := &Model{host: Host{Client: &answers{Save: func(_, v string) error {
		order = append(order, v)
		return nil
	}}}}
	first, second := m.save("ui.theme", "one")[0].(work), m.save("ui.theme", "two")[0].(work)
	done := make(chan struct{})
	go func() {
		defer close(done)
		second.run(t.Context())
	}()
	first.run(t.Context())
	if <-done; !slices.Equal(order, []string{`"one"`, `"two"`}) {
		t.Errorf("%q", order)
	}
}
