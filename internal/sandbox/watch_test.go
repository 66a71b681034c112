package sandbox

import (
	"testing"
	"time"
)

// Everything is looked at while a command runs only when that can change something
// nobody has read, and has run for long.
func TestDue(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for i, tt := range []struct {
		runs  []started
		swept time.Time
		sweep time.Duration
		want  bool
	}{
		{nil, time.Time{}, 0, false},
		{[]started{{since: ago(time.Hour), exact: true}}, time.Time{}, 0, false},
		{[]started{{since: ago(time.Second)}}, time.Time{}, 0, false},
		{[]started{{since: ago(time.Minute)}}, time.Time{}, 0, true},
		{[]started{{since: ago(time.Minute)}}, ago(time.Second), 0, false},
		{[]started{{since: ago(time.Minute)}}, ago(30 * time.Second), 0, true},
		{[]started{{since: ago(time.Minute)}}, ago(30 * time.Second), time.Second, false},
		{[]started{{since: ago(time.Second)}}, ago(30 * time.Second), 0, false}, // its end looks
		{[]started{{since: ago(time.Second)}, {since: ago(time.Minute), exact: true}}, time.Time{}, 0, false},
		{[]started{{since: ago(time.Second)}, {since: ago(time.Minute)}}, time.Time{}, 0, true},
	} {
		a := &auditor{runs: map[*started]bool{}, swept: tt.swept, sweep: tt.sweep}
		for _, r := range tt.runs {
			a.runs[&r] = true
		}
		if got := a.due(); got != tt.want {
			t.Errorf("%d: %v, want %v", i, got, tt.want)
		}
	}
}
