//go:build unix

package bash

import (
	"os"
	"strings"
	"testing"
)

// A command that runs into its time limit goes on in the background: the model has what it
// printed until then, and reads the rest with the first look.
func TestLate(t *testing.T) {
	ended := make(chan Task, 1)
	r := newRig(t, nil)
	r.tasks.Watch(watcher(ended))
	r.env.Session, r.env.Call = "s", "c1"
	res := r.call(t.Context(), "Bash", map[string]any{"command": "mkdir sub; cd sub; echo one; until test -e ../go; do sleep 0.02; done; echo two; exit 3", "timeout": 1500})
	path := r.env.Scratch + "/tool-results/c1.txt"
	for _, want := range []string{"one\n[it reached its time limit of 1.5s and goes on in the background as b1. ", "]\n[the working directory is still " + r.env.Dir, "All of its output goes to " + path + ". It may run for 30m0s."} {
		if !strings.Contains(res.Text, want) || res.IsErr {
			t.Fatalf("%+v", res)
		}
	}
	d := res.Data().(map[string]any)
	if d["timedOutAfterMs"] != int64(1500) || d["backgroundTaskId"] != "b1" || d["stdout"] != "one" {
		t.Errorf("%v", d)
	}
	if err := os.WriteFile(r.env.Dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := <-ended
	if k.ID != "b1" || k.Exit != 3 || k.Stopped {
		t.Errorf("%+v", k)
	}
	res = r.call(t.Context(), "TaskOutput", map[string]any{"task_id": "b1"})
	if _, text, _ := strings.Cut(res.Text, "\n"); text != "two" {
		t.Errorf("%q", res.Text)
	}
	if b, err := os.ReadFile(k.Path); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
}

// With the setting, and where no model waits for it, it is ended.
func TestLateEnds(t *testing.T) {
	r := newRig(t, func(c *Config) { c.EndLate = true })
	r.env.Session = "s"
	if res := r.call(t.Context(), "Bash", map[string]any{"command": "echo one; sleep 1000", "timeout": 1000}); !res.IsErr || !strings.HasPrefix(res.Text, "one\n[timed out after 1s and was ended") {
		t.Errorf("%+v", res)
	}
}

// A command in the background ends when its time is over.
func TestBackgroundTimeout(t *testing.T) {
	ended := make(chan Task, 1)
	r := newRig(t, func(c *Config) { c.Ends = true })
	r.tasks.Watch(watcher(ended))
	res := r.call(t.Context(), "Bash", map[string]any{"command": "echo up; sleep 1000", "timeout": 1200, "run_in_background": true})
	if !strings.HasSuffix(res.Text, "It may run for 1.2s. It ends with your last answer: where you need what it comes to, wait for it with TaskOutput and block.") || res.Data().(map[string]any)["backgroundEndsWithFinalResponse"] != true {
		t.Errorf("%+v", res)
	}
	if k := <-ended; k.State != Killed || k.Note != "timed out after 1.2s" || k.Stopped {
		t.Errorf("%+v", k)
	}
	for in, want := range map[int]string{7_200_001: `field "timeout" is 7200001 ms; in the background at most 7200000 ms (2 hours) is possible`, -1: `field "timeout" is -1; give milliseconds from 1 to 600000`} {
		if res := r.call(t.Context(), "Bash", map[string]any{"command": "x", "timeout": in, "run_in_background": true}); res.Text != want {
			t.Errorf("%q", res.Text)
		}
	}
}
