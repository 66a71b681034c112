//go:build unix

package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

var mailSent = flag.Int("messages", 100, "how many messages the test of mail has at least")

// mailMembers are the agents that write to each other.
const mailMembers = 8

// Eight agents write to each other and to their session, which is killed at random moments and
// goes on each time. In the end every message that a log says was sent was read by its
// receiver, once, and in the order in which its sender sent them.
func TestMailSurvivesKills(t *testing.T) {
	t.Parallel()
	k := &killed{place: newPlace(t), rand: rand.New(rand.NewPCG(*killSeed, 99))}
	run := func(n int, sends bool, after time.Duration) (dead bool) {
		t.Helper()
		k.put("mail.txt", k.mailScript(n, sends))
		more := []string{}
		if n > 1 {
			more = append(more, "-c")
		}
		dead, out := k.run(k.adze(append([]string{"-p", fmt.Sprintf("The session goes, %d.", n), "--model", "script/mail.txt", "--output-format", "stream-json", "--verbose"}, more...)...), after)
		if !dead && !strings.Contains(out, `"subtype":"success"`) {
			t.Fatalf("run %d: %s%s", n, out, k.errs)
		}
		return dead
	}
	run(1, true, 0)
	n, whole := 1, k.took
	for (k.hit < max(1, *mailSent/25) || k.mail(false) < *mailSent) && !t.Failed() {
		n++
		if run(n, true, time.Duration(1+k.rand.Int64N(int64(whole)))) {
			k.hit++
		}
	}
	for range 2 { // what the first one delivers, somebody reads in the second
		n++
		run(n, false, 0)
	}
	total := k.mail(true)
	t.Logf("%d messages, %d kills in %d runs", total, k.hit, n)
}

// mailScript is what the models say in a run: the session begins all agents, or has them go on,
// and each sends messages, or only reads.
func (k *killed) mailScript(n int, sends bool) string {
	var b bytes.Buffer
	for m := range mailMembers {
		if n == 1 {
			fmt.Fprintf(&b, "@ Agent {\"description\": \"member\", \"name\": \"m%d\", \"prompt\": \"[m%d] go 1.\"}\n", m, m)
		} else {
			fmt.Fprintf(&b, "@ SendMessage {\"to\": \"m%d\", \"message\": \"[m%d] go %d.\"}\n", m, m, n)
		}
	}
	heard := strings.Repeat("---\n> Heard.\n", 60)
	b.WriteString(heard)
	for m := range mailMembers {
		if !sends {
			break
		}
		fmt.Fprintf(&b, "=== prompt contains \"[m%d] go %d.\"\n", m, n)
		for i := range 8 {
			to, name := k.rand.IntN(mailMembers), "main"
			if to != m {
				name = fmt.Sprint("m", to)
			}
			fmt.Fprintf(&b, "@ SendMessage {\"to\": \"%s\", \"message\": \"[%s] run %d, m%d, %d\"}\n", name, name, n, m, i)
			if i%3 == 2 {
				b.WriteString("---\n")
			}
		}
		b.WriteString(heard)
	}
	b.WriteString("=== prompt matches \"\\\\[m[0-9]\\\\]\" && !(prompt contains \"had not arrived\")\n> Heard.\n" + heard)
	return b.String()
}

// A mailLog is what a log says of messages.
type mailLog struct {
	id   string
	sent map[string][]string // of messages that were not returned: their IDs by the receiver's session, in order
	read map[string][]string // the same of messages that came, by the sender's session
	tale map[string]string   // what is said of a message by its ID, for people
}

// mail counts the messages that all logs say were sent, and with check compares that with what
// was read.
func (k *killed) mail(check bool) (total int) {
	k.t.Helper()
	logs := map[string]mailLog{}
	_ = filepath.WalkDir(k.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "log.jsonl" {
			l := k.mailLog(filepath.Dir(path))
			logs[l.id] = l
		}
		return nil
	})
	for from, l := range logs {
		for to, sent := range l.sent {
			total += len(sent)
			read := logs[to].read[from]
			if !check || slices.Equal(sent, read) {
				continue
			}
			k.t.Errorf("from %s to %s %d were sent, and %d read:", from, to, len(sent), len(read))
			for _, id := range sent {
				if n := strings.Count(strings.Join(read, " ")+" ", id+" "); n != 1 {
					k.t.Errorf("%s was read %d times: %s; the receiver: %s", id, n, l.tale[id], logs[to].tale[id])
				}
			}
		}
	}
	return total
}

// mailLog reads the log in a folder.
func (k *killed) mailLog(dir string) mailLog {
	k.t.Helper()
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	l := mailLog{id: filepath.Base(dir), sent: map[string][]string{}, read: map[string][]string{}, tale: map[string]string{}}
	id := func(n event.Seq) string { return fmt.Sprintf("m-%s-%d", l.id, n) }
	for e, err := range r.After(k.t.Context(), 0) {
		if err != nil {
			k.t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.SessionStarted:
			l.id = b.ID
		case event.MessageSent:
			l.sent[b.To] = append(l.sent[b.To], id(e.Seq))
			l.tale[id(e.Seq)] += fmt.Sprintf("sent %q at %d", b.Text, e.Seq)
		case event.MessageSettled:
			l.tale[id(b.N)] += fmt.Sprintf(", settled at %d: %s %s", e.Seq, b.How, b.Why)
			for to, ids := range l.sent {
				if i := slices.Index(ids, id(b.N)); i >= 0 && b.How == event.MessageReturned {
					l.sent[to] = slices.Delete(ids, i, i+1)
				}
			}
		case event.InputQueued:
			l.tale[b.ID] += fmt.Sprintf("queued at %d", e.Seq)
		case event.InputRemoved:
			l.tale[b.ID] += fmt.Sprintf(", removed at %d: %s", e.Seq, b.Why)
		case event.InputAccepted:
			l.tale[b.ID] += fmt.Sprintf(", read at %d", e.Seq)
			if b.From != nil && b.From.As != "" && !b.From.Notice() {
				l.read[b.From.ID] = append(l.read[b.From.ID], b.ID)
			}
		default: // of no interest here
		}
	}
	return l
}
