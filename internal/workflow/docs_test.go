package workflow_test

import (
	"os"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/workflow"
)

// The scripts of the manual, and those that adze brings, run.
func TestScriptsOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, part := range strings.Split(string(page), "```js\n")[1:] {
		script, _, _ := strings.Cut(part, "```")
		list = append(list, script)
	}
	if len(list) != 2 {
		t.Fatalf("%d scripts", len(list))
	}
	batch, err := os.ReadFile("../ext/skills/builtin/workflows/batch.js")
	if err != nil {
		t.Fatal(err)
	}
	units := make([]map[string]any, 6)
	for i := range units {
		units[i] = map[string]any{"title": "unit", "files": []string{"a"}, "task": "t"}
	}
	answer := func(c workflow.Call) (any, error) {
		return map[string]any{"mistakes": []string{"one"}, "real": true, "bugs": []string{"same"}, "units": units, "recipe": "r", "check": "c", "result": "done", "branch": "b|1", "checked": "yes", "note": "n"}, nil
	}
	for _, tc := range []struct{ source, args, want string }{
		{list[0], `["a.go", "b.go"]`, `[{"file":"a.go","mistakes":["one"]},{"file":"b.go","mistakes":["one"]}]`},
		{list[1], `null`, `["same"]`},
		{string(batch), `"rename it"`, `{"table":"| unit | result | branch | checked | note |\n|---|---|---|---|---|\n` + strings.Repeat(`| unit | done | b\\|1 | yes | n |\n`, 5) + `| unit | done | b\\|1 | yes | n |","done":6,"of":6}`},
	} {
		r := &runner{Config: workflow.Config{Args: []byte(tc.args), Agent: answers(answer)}}
		res := r.run(t, tc.source)
		if res.Err != nil || string(res.Value) != tc.want {
			t.Errorf("%s: %v\n got %s\nwant %s", r.Script.Name, res.Err, res.Value, tc.want)
		}
	}
	for _, c := range (&runner{Config: workflow.Config{Args: []byte(`"x"`), Agent: answers(answer)}}).run(t, string(batch)).Calls[1:] {
		if c.Isolation != "worktree" {
			t.Errorf("%+v", c.Call)
		}
	}
}
