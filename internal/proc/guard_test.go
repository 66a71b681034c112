package proc

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	l := Limits{Memory: 18_000_000_000, Processes: 4096}
	for _, c := range []struct {
		name  string
		most  load
		total int64
		took  time.Duration
		cores int
		want  time.Duration
	}{
		{"nothing runs", load{}, 0, 0, 2, 205 * time.Millisecond},
		{"memory near its limit", load{}, 17_200_000_000, 0, 2, 50 * time.Millisecond},
		{"memory at its limit", load{}, 18_000_000_000, 0, 2, soonest},
		{"memory above its limit", load{}, 19_000_000_000, 0, 2, soonest},
		{"many processes", load{processes: 3096}, 0, 0, 2, 50 * time.Millisecond},
		{"too many processes", load{processes: 5000}, 0, 0, 2, soonest},
		{"many cores", load{}, 0, 0, 64, 35 * time.Millisecond},
		{"the machine is slow", load{}, 18_000_000_000, 30 * time.Millisecond, 2, latest},
		{"looking is slow", load{}, 18_000_000_000, 5 * time.Millisecond, 2, 100 * time.Millisecond},
	} {
		got := l.pace(c.most, c.total, c.took, c.cores)
		if d := got - c.want; d < -time.Millisecond || d > time.Millisecond {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := (Limits{Processes: 1e6}).pace(load{}, 1<<40, 0, 2); got != latest {
		t.Errorf("without a limit on memory: %v", got)
	}
}

func TestOver(t *testing.T) {
	l := Limits{Memory: 2_000_000_000, Processes: 100}
	for want, u := range map[string]load{
		"":                               {processes: 100, memory: 2_000_000_000},
		"it had more than 100 processes": {processes: 101},
		"its processes used more than 2.0 GB of memory": {memory: 2_000_000_001},
	} {
		if got := l.over(u); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
	if got := (Limits{Processes: 1}).over(load{memory: 1 << 50}); got != "" {
		t.Errorf("without a limit on memory: %q", got)
	}
}

func TestCalm(t *testing.T) {
	a, b := &Process{}, &Process{}
	one := map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second}, b: {processes: 1, pids: 5}}
	for _, c := range []struct {
		name string
		now  map[*Process]load
		want bool
	}{
		{"nothing changed", map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second}, b: {processes: 1, pids: 5}}, true},
		{"hardly any work", map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second + 10*time.Millisecond}, b: {processes: 1, pids: 5, cpu: 10 * time.Millisecond}}, true},
		{"work", map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second + 20*time.Millisecond}, b: {processes: 1, pids: 5, cpu: 10 * time.Millisecond}}, false},
		{"one more", map[*Process]load{a: {processes: 3, pids: 61, cpu: time.Second}, b: {processes: 1, pids: 5}}, false},
		{"another one in its place", map[*Process]load{a: {processes: 2, pids: 32, cpu: time.Second}, b: {processes: 1, pids: 5}}, false},
		{"a command is over", map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second}}, false},
		{"another command", map[*Process]load{a: {processes: 2, pids: 30, cpu: time.Second}, {}: {processes: 1, pids: 5}}, false},
	} {
		if got := calm(one, c.now, time.Second); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
