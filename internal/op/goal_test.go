package op_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/op"
)

// made is what a line behind /goal asks for.
func made(args string) (op.Op, error) {
	for _, c := range op.Commands() {
		if c.Name == "goal" {
			return c.Make(args)
		}
	}
	return nil, nil
}

func TestGoalLine(t *testing.T) {
	for args, want := range map[string]op.Goal{
		"go test ./... passes":              {Condition: "go test ./... passes"},
		"pause":                             {Do: op.PauseGoal},
		"clear":                             {Do: op.ClearGoal},
		"clear the cache until it is empty": {Condition: "clear the cache until it is empty"},
		"resume":                            {Do: op.ResumeGoal},
		"resume --turns 5":                  {Do: op.ResumeGoal, Turns: 5},
		"resume works in tests":             {Condition: "resume works in tests"},
		"--turns 20 --usd=$2.50 --tokens 500k it is done": {Condition: "it is done", Turns: 20, USD: 2.5, Tokens: 500_000},
		"--tokens=1.5m x":               {Condition: "x", Tokens: 1_500_000},
		"x --turns 3":                   {Condition: "x --turns 3"},
		strings.Repeat("ü", op.MaxGoal): {Condition: strings.Repeat("ü", op.MaxGoal)},
	} {
		want.Typed = true
		got, err := made(args)
		if d := cmp.Diff(op.Op(want), got); err != nil || d != "" {
			t.Errorf("%.40q: %v\n%s", args, err, d)
		}
	}
	for args, why := range map[string]string{
		"":                                "say what is to be so",
		"--turns 5":                       "say what is to be so",
		"--turns 0 x":                     "--turns takes",
		"--turns":                         "--turns takes",
		"--usd -1 x":                      "--usd takes",
		"--usd NaN x":                     "--usd takes",
		"--tokens many x":                 "--tokens takes",
		"--tokens 1e300 x":                "--tokens takes",
		"--hours 3 x":                     "no bound \"--hours\"",
		strings.Repeat("x", op.MaxGoal+1): "501 characters",
	} {
		_, err := made(args)
		if why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%.40q: %v, want %q", args, err, why)
		}
	}
}

// Whatever stands behind /goal is a goal that can be set, or an error.
func FuzzGoalLine(f *testing.F) {
	for _, s := range []string{"", "pause", "resume --turns=3", "--usd 1e9 x", "--tokens 5k", "clear it"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		o, err := made(args)
		if err != nil {
			return
		}
		g, ok := o.(op.Goal)
		if !ok || g.Do == "" && g.Check() != nil || g.Turns < 0 || g.Tokens < 0 || g.USD < 0 {
			t.Errorf("%q: %+v", args, o)
		}
	})
}
