//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

var (
	kills    = flag.Int("kills", 40, "how often the kill test kills adze")
	killSeed = flag.Uint64("killseed", 1, "for the moments of the kill test")
)

// killsEach is how many kills one session lives through.
const killsEach = 20

// Fault 1, and 17 for compaction: a session of prompts, calls, compactions,
// undos and rewinds is killed again and again, at any moment. Each time all that
// was acknowledged is in its log, what was there before is there still, and the
// next start takes it up: a strict provider accepts its next request.
func TestFault01_17_KilledAtRandomMoments(t *testing.T) {
	for first := 0; first < *kills; first += killsEach {
		t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
			t.Parallel()
			s, p := strict(t, messages, 2)
			k := &killed{place: newPlace(t), p: p, rand: rand.New(rand.NewPCG(*killSeed, uint64(first)))}
			k.put("f.txt", strings.Repeat("a line of the file\n", 60))
			k.run(k.asked(messages, p, "the beginning", "--output-format", "stream-json"), 0)
			n := 0
			for ; k.hit < min(killsEach, *kills-first) && !t.Failed(); n++ {
				k.step(n)
			}
			if _, out := k.run(k.asked(messages, p, "the end", "-c", "--output-format", "stream-json"), 0); !strings.Contains(out, `"subtype":"success"`) {
				t.Errorf("the session does not go on:\n%s%s", out, k.errs)
			}
			if r := s.Refused(); len(r) > 0 {
				t.Errorf("requests were refused: %q", r)
			}
			st, es := k.history()
			if st.Running != "" || len(st.Open()) > 0 {
				t.Errorf("left open: %q, %v", st.Running, st.Open())
			}
			wellFormed(t, st.Messages())
			t.Logf("%d of %d runs were killed, %d events", k.hit, n, len(es))
		})
	}
}

// A killed is a session that is killed.
type killed struct {
	*place
	p    *provider
	rand *rand.Rand
	was  []event.Event // what the log had the last time
	took time.Duration // the newest run that was not killed
	hit  int
	errs string // of the newest run
}

// run runs adze, and kills it after a while (0: not). dead is whether that hit.
func (k *killed) run(c *exec.Cmd, after time.Duration) (dead bool, out string) {
	k.t.Helper()
	pipe, err := c.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	start := time.Now()
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { _ = c.Process.Kill() }).Stop()
	}
	b, _ := io.ReadAll(bufio.NewReader(pipe))
	dead = codeOf(c.Wait()) == -1
	if !dead {
		k.took = time.Since(start)
	}
	if strings.Contains(errs.String(), "another program") || strings.Contains(errs.String(), "panic") {
		k.t.Errorf("adze %q says %s", c.Args[1:], errs.String())
	}
	k.errs = errs.String()
	return dead, string(b)
}

// step does one thing with the session, which is killed on the way.
func (k *killed) step(n int) {
	k.t.Helper()
	prompt := fmt.Sprint("prompt-", n, "-end")
	var c *exec.Cmd
	switch x := k.rand.IntN(20); {
	case x < 11:
		c = k.asked(messages, k.p, prompt, "-c", "--output-format", "stream-json")
	case x < 15:
		prompt = ""
		c = k.asked(messages, k.p, "/compact", "-c", "--output-format", "stream-json")
	case x < 16:
		prompt = ""
		c = k.asked(messages, k.p, "/compact --undo", "-c", "--output-format", "stream-json")
	case x < 19:
		prompt = ""
		c = k.adze("rewind", "--to", fmt.Sprint(1+k.rand.IntN(3)))
	default:
		prompt = ""
		c = k.adze("rewind", "--undo")
	}
	dead, out := k.run(c, time.Duration(1+k.rand.Int64N(int64(k.took)))) // each moment of a run is as likely
	if dead {
		k.hit++
	}
	_, es := k.history()
	for i, e := range k.was {
		if i >= len(es) || es[i].Seq != e.Seq || !es[i].Time.Equal(e.Time) {
			k.t.Fatalf("%q: event %d of the log before is not there any more", c.Args[1:], e.Seq)
		}
	}
	k.was = es
	k.acknowledged(prompt, out)
}

// acknowledged checks that what adze had told of is in the log: the turn of a prompt
// ("": it was none), and results of calls.
func (k *killed) acknowledged(prompt, out string) {
	k.t.Helper()
	has := map[string]bool{}
	for _, e := range k.was {
		switch b := e.Body.(type) {
		case event.ToolStarted:
			has["call "+b.Call] = true
		case event.InputAccepted:
			has["prompt "+b.Text] = true
		case event.InputQueued: // the turn is of a prompt that waited since a kill
			has["prompt "+b.Text] = true
		default: // need not be on disk at once
		}
	}
	for line := range strings.Lines(out) {
		var l struct {
			Type, Subtype string
			Message       struct {
				Content json.RawMessage
			}
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue // the last one may be torn
		}
		if l.Subtype == "init" && prompt != "" && !has["prompt "+prompt] {
			k.t.Errorf("the prompt %s is lost, whose turn had begun", prompt)
		}
		var parts []struct {
			Type string
			ID   string `json:"tool_use_id"`
		}
		if l.Type != "user" || json.Unmarshal(l.Message.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			if p.Type == "tool_result" && !has["call "+p.ID] {
				k.t.Errorf("the start of %s is lost, whose result was printed", p.ID)
			}
		}
	}
}
