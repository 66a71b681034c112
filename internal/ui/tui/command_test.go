package tui

import (
	"context"
	"testing"

	"github.com/adze-agent/adze/internal/contrib"
)

// Every command of adze itself can be done here when the host can do all, and
// nothing is shown here that no command names.
func TestCommandsAndViewsMatch(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.host.Memory = func() []Choice { return nil }
	r.m.host.Hooks = func(context.Context) (string, error) { return "", nil }
	r.m.host.EditFile = func(context.Context, string) error { return nil }
	views := r.m.views()
	for _, c := range contrib.Commands().Commands {
		if _, view := c.Do.(contrib.View); view && views[c.Name] == nil {
			t.Errorf("/%s shows nothing", c.Name)
		}
		delete(views, c.Name)
	}
	for name := range views {
		t.Errorf("no command shows %s", name)
	}
	if got, all := len(r.m.commands()), len(contrib.Commands().Commands); got != all {
		t.Errorf("%d commands of %d", got, all)
	}
	r.m.host.Themes = nil
	for _, c := range r.m.commands() {
		if c.name == "theme" {
			t.Error("/theme is offered where nobody knows themes")
		}
	}
}
