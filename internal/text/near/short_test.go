package near

import "testing"

func TestNamed(t *testing.T) {
	names := []string{"a:review", "b:review", "loop", "a:loop", "a:plan", "a:x:y"}
	for name, want := range map[string]int{"a:review": 0, "review": -1, "loop": 2, "a:loop": 3, "plan": 4, "y": -1, "x:y": 5, "": -1, "none": -1} {
		if got := Named(name, len(names), func(i int) string { return names[i] }); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}
