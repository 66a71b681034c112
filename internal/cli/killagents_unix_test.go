//go:build unix

package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/transcript"
)

var agentKills = flag.Int("agentkills", 8, "how often the test of agents kills adze")

// agentKillsEach is how many kills one session with agents lives through.
const agentKillsEach = 4

// A session with eight agents is killed at random moments, and goes on each time. In the
// end every agent has ended or was named as lost, every report came once, and no process
// of any of them is left.
func TestAgentsAreKilledAtRandomMoments(t *testing.T) {
	for first := 0; first < *agentKills; first += agentKillsEach {
		t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
			t.Parallel()
			seconds, alive := marker(t)
			k := &killed{place: newPlace(t), rand: rand.New(rand.NewPCG(*killSeed, uint64(first)))}
			var script bytes.Buffer
			for n := range 8 {
				fmt.Fprintf(&script, "@ Agent {\"description\": \"kid %d\", \"prompt\": \"Work as kid %d.\"}\n", n, n)
			}
			script.WriteString("---\n> They work.\n" + strings.Repeat("---\n> Heard.\n", 40))
			script.WriteString("=== prompt contains \"Work as kid\"\n")
			step := "@ Bash {\"command\": \"sleep " + seconds + " & sleep 0.03; echo step\"}\n---\n"
			script.WriteString(strings.Repeat(step, 3) + "> done by kid\n")
			k.put("kids.txt", script.String())
			k.put("end.txt", strings.Repeat("> Heard.\n---\n", 60)+"> Heard.\n=== prompt contains \"Work as kid\"\n> done by kid\n")
			run := func(prompt, script string, more ...string) func() {
				return func() {
					t.Helper()
					_, out := k.run(k.adze(append([]string{"-p", prompt, "--model", "script/" + script, "--allowed-tools", "Bash", "--output-format", "stream-json", "--verbose"}, more...)...), 0)
					if !strings.Contains(out, `"subtype":"success"`) {
						t.Errorf("%s: %s%s", prompt, out, k.errs)
					}
				}
			}
			run("first", "kids.txt")()
			whole := k.took
			for k.hit < min(agentKillsEach, *agentKills-first) && !t.Failed() {
				after := time.Duration(1 + k.rand.Int64N(int64(whole)))
				if dead, _ := k.run(k.adze("-p", "again", "-c", "--model", "script/kids.txt", "--allowed-tools", "Bash"), after); dead {
					k.hit++
				}
			}
			run("the end", "end.txt", "-c")()
			k.agents()
			asleep(t, "no process of an agent is left", func() bool { return len(alive()) == 0 })
		})
	}
}

// agents checks what the session's log says of its agents.
func (k *killed) agents() {
	k.t.Helper()
	root := ""
	_ = filepath.WalkDir(k.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "log.jsonl" && !strings.Contains(path, "/agents/") {
			root = filepath.Dir(path)
		}
		return nil
	})
	r, err := jsonl.OpenReader(jsonl.Options{Dir: root})
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	var st transcript.State
	began, ended, reports := map[string]int{}, map[string]event.TaskEnded{}, map[string]int{}
	for e, err := range r.After(k.t.Context(), 0) {
		if err != nil {
			k.t.Fatal(err)
		}
		st = st.Apply(e)
		switch b := e.Body.(type) {
		case event.TaskStarted:
			began[b.ID]++
		case event.TaskEnded:
			if was, twice := ended[b.ID]; twice && was.Status != event.TaskLost {
				k.t.Errorf("the agent %s ended twice: %+v, %+v", b.ID, was, b)
			}
			ended[b.ID] = b
		case event.InputAccepted:
			if b.From != nil && b.From.End {
				reports[b.From.ID]++
			}
		default: // of no interest here
		}
	}
	if bad := r.Report().Bad; len(bad) > 0 {
		k.t.Errorf("unreadable lines: %v", bad)
	}
	for id := range began {
		if end, ok := ended[id]; !ok {
			k.t.Errorf("the agent %s did not end and is not named as lost", id)
		} else if reports[id] != 1 {
			k.t.Errorf("the model was told %d times that the agent %s ended: %s", reports[id], id, end.Status)
		}
	}
	if len(began) < 8 || st.Running != "" || len(st.Open()) > 0 || len(st.Background) > 0 {
		k.t.Errorf("%d agents; left: %q, %v, %v", len(began), st.Running, st.Open(), st.Background)
	}
	k.t.Logf("%d kills, %d agents, %d reports", k.hit, len(began), len(reports))
}
