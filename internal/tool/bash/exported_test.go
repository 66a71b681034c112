package bash

import (
	"reflect"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
)

// Of what was exported, the log gets what steers no program.
func TestRecorded(t *testing.T) {
	got := recorded(delta{set: []string{"STAGE=blue green", "PATH=/evil:/bin", "LD_PRELOAD=/x", "GIT_SSH_COMMAND=x", "A-B=c"}, unset: []string{"OLD", "LD_LIBRARY_PATH"}})
	want := []effect.Variable{{Name: "STAGE", Value: "blue green"}, {Name: "PATH", Hidden: true}, {Name: "LD_PRELOAD", Hidden: true},
		{Name: "GIT_SSH_COMMAND", Hidden: true}, {Name: "A-B", Hidden: true}, {Name: "OLD", Unset: true}, {Name: "LD_LIBRARY_PATH", Hidden: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// What a log says is taken over when it steers no program, whoever wrote it.
func TestResumedExports(t *testing.T) {
	b := &runner{}
	b.resume([]effect.Export{
		{Variable: effect.Variable{Name: "A", Value: "out"}},
		{Variable: effect.Variable{Name: "A", Value: "in"}, Confined: true},
		{Variable: effect.Variable{Name: "LEFT", Unset: true}},
		{Variable: effect.Variable{Name: "SECRET", Hidden: true}},
		{Variable: effect.Variable{Name: "LD_PRELOAD", Value: "/x"}}, {Variable: effect.Variable{Name: "PATH", Value: "/x"}},
		{Variable: effect.Variable{Name: "B=c;D", Value: "/x"}},
	})
	b.resume([]effect.Export{{Variable: effect.Variable{Name: "LATER", Value: "x"}}}) // what ran since is known
	base := []string{"PATH=/bin", "LEFT=1", "SECRET=mine"}
	for confined, want := range map[bool][]string{true: {"PATH=/bin", "SECRET=mine", "A=in"}, false: {"PATH=/bin", "SECRET=mine", "A=out"}} {
		if got := b.exports.of(base, confined); !reflect.DeepEqual(got, want) {
			t.Errorf("confined %v: %q", confined, got)
		}
	}
}
