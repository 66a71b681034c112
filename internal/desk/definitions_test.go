package desk_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/policy"
)

// TestDefinitions: what is done with definitions of agents, one after the other.
func TestDefinitions(t *testing.T) {
	d, id, _ := started(t, "> hello")
	explore := func() ask.Definition {
		r, err := d.Ask(t.Context(), id, ask.Definitions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := ask.Data[[]ask.Definition](r)
		i := slices.IndexFunc(list, func(x ask.Definition) bool { return x.Name == "explore" })
		if err != nil || i < 0 {
			t.Fatal(list, err)
		}
		return list[i]
	}
	if x := explore(); x.Denied || x.Person || x.Model != "small" || len(x.Tools) == 0 || x.Scope != "adze" {
		t.Errorf("%+v", x)
	}
	for _, c := range []struct {
		do          ask.DefinitionDo
		name, scope string
		text, wrong string
		denied      bool
	}{
		{ask.AllowDefinition, "explore", "", "is not denied", "", false},
		{ask.DenyDefinition, "explore", "", "your settings deny Agent(explore)", "", true},
		{ask.DenyDefinition, "explore", "", "is denied already", "", true},
		{ask.AllowDefinition, "explore", "", "can start the agent explore again", "", false},
		{ask.DenyDefinition, "nobody", "", "", `there is no agent "nobody"`, false},
		{"paint", "explore", "", "", `nobody knows what "paint" is to do`, false},
		{ask.BeginDefinition, "new-one", "user", "began ", "", false},
		{ask.BeginDefinition, "new-one", "user", "", "there is an agent new-one already", false},
		{ask.BeginDefinition, "new-one", "project", "it counts once this folder is trusted", "", false},
		{ask.BeginDefinition, "../x", "user", "", "has other characters", false},
		{ask.BeginDefinition, "y", "nowhere", "", `there is no scope "nowhere"`, false},
	} {
		r, err := d.Ask(t.Context(), id, ask.Definitions{Name: c.name, Do: c.do, Scope: policy.Scope(c.scope)})
		switch {
		case c.wrong == "" && (err != nil || !strings.Contains(r.Text, c.text)), c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %s: %q, %v", c.do, c.name, r.Text, err)
		case explore().Denied != c.denied:
			t.Errorf("%s %s: denied is %t", c.do, c.name, !c.denied)
		}
		for _, file := range r.Names {
			if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "---\nname: new-one\n") {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if _, err := d.Ask(t.Context(), "", ask.Definitions{}); err == nil {
		t.Error("without a session there is a list")
	}
}
