package fleet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/tool/spawn"
)

// TestSize: every first request has the tool, with the agents that adze brings.
func TestSize(t *testing.T) {
	list, bad := skills.Read(nil, nil)
	if len(bad) > 0 {
		t.Errorf("problems of adze's own: %v", bad)
	}
	lib := extension.Library(list...)
	known := func() []skill.Agent { return lib.Agents() }
	s := spawn.New(fleet.Crew{Known: known}).Spec()
	b, err := json.Marshal(map[string]any{"name": s.Name, "description": s.Description, "input_schema": s.Schema})
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1500 {
		t.Errorf("the tool has %d bytes", len(b))
	}
	for _, name := range []string{"general", "explore", "plan", "guide", "verify", "statusline"} {
		if !strings.Contains(s.Description, "\n- "+name+": ") {
			t.Errorf("%s is not in it", name)
		}
	}
	if strings.Contains(s.Description, "coordinator") {
		t.Error("the coordinator is in it, which is for people")
	}
}
