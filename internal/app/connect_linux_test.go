package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// reach is a command that asks the sandbox's proxy for the host $1, n times at once.
func reach(host string, n int) string {
	return fmt.Sprintf(`p=${HTTP_PROXY#http://}
ask() { exec 3<>/dev/tcp/${p%%:*}/${p#*:}; printf 'GET http://%[1]s/ HTTP/1.1\r\nHost: %[1]s\r\nConnection: close\r\n\r\n' >&3; cat <&3; }
for i in $(seq %[2]d); do ask & done; wait`, host, n)
}

// online is a session whose commands live in a world with one server: every
// name leads to it.
type online struct {
	*opened
	t      *testing.T
	asked  chan event.Asked
	events chan event.Event
	dir    string
	home   string
}

func connectRig(t *testing.T, dir, home string, change func(*options), commands ...string) *online {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "page of %s\n", r.Host) }))
	t.Cleanup(server.Close)
	model := &fake.Model{}
	for i, c := range commands {
		in, err := json.Marshal(map[string]any{"command": c, "timeout": 60000})
		if err != nil {
			t.Fatal(err)
		}
		model.Replies = append(model.Replies, fake.Use(llm.ToolUse{ID: fmt.Sprintf("c%d", i+1), Name: "Bash", Input: in}), fake.Say("done"))
	}
	o := options{Surroundings: here(dir, home), Front: Front{Person: true}, Spec: Spec{
		Log: sessions.Choice{None: true}, Target: &agent.Target{Model: model, Provider: "fake", Name: "m"},
	}}
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	o.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	if change != nil {
		change(&o)
	}
	a, err := o.open(t)
	if err != nil {
		t.Fatal(err)
	}
	if o.Person {
		attend(t, a)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if !a.sandboxes.Passes() {
		t.Skip("this system cannot run bubblewrap")
	}
	r := &online{opened: a, t: t, asked: make(chan event.Asked, 16), events: make(chan event.Event, 256), dir: dir, home: home}
	follow := a.Events(t.Context(), 0)
	go func() { // ends with the session
		for e, err := range follow {
			if err != nil {
				return
			}
			if q, ok := e.Body.(event.Asked); ok {
				r.asked <- q
			}
			r.events <- e
		}
	}()
	return r
}

func (r *online) prompt() {
	r.t.Helper()
	if err := r.Submit(r.t.Context(), op.Prompt{Text: "go"}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *online) answer(q event.Asked, a op.Answer) {
	r.t.Helper()
	a.Call, a.By = q.Call, "test"
	if err := r.Submit(r.t.Context(), a); err != nil {
		r.t.Fatal(err)
	}
}

// result reads on to the end of a turn: what its command printed, and how the
// turn ended.
func (r *online) result() (text string, how event.End) {
	r.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-r.events:
			switch b := e.Body.(type) {
			case event.Noted:
				r.t.Error(b.Text)
			case event.ToolFinished:
				text = b.Text
			case event.TurnEnded:
				return text, b.How
			default:
			}
		case <-late:
			select {
			case q := <-r.asked:
				r.t.Fatalf("the turn does not end, because this is asked: %+v", q)
			default:
				r.t.Fatal("the turn does not end")
			}
		}
	}
}

func (r *online) question() event.Asked {
	r.t.Helper()
	select {
	case q := <-r.asked:
		return q
	case <-time.After(time.Minute):
		for len(r.events) > 0 {
			r.t.Logf("%+v", (<-r.events).Body)
		}
		r.t.Fatal("nothing is asked")
	}
	return event.Asked{}
}

func (r *online) unasked() {
	r.t.Helper()
	select {
	case q := <-r.asked:
		r.t.Errorf("asked: %+v", q)
	default:
	}
}

func want(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("no %q in\n%s", part, text)
	}
}

func TestDomainIsAsked(t *testing.T) {
	dir, home := scratch(t)
	r := connectRig(t, dir, home, nil, reach("new.example", 4), reach("new.example", 1), reach("new.example", 1), reach("other.example", 1))

	r.prompt() // once: all connections of this command
	q := r.question()
	if q.Tool != confine.NetworkTool || !strings.Contains(string(q.Input), `"host":"new.example"`) || q.Verdict.Reason == "" || len(q.Verdict.Suggest) != 1 || q.View == nil || q.Title != "Connect to new.example:80" {
		t.Errorf("%+v", q)
	}
	r.answer(q, op.Answer{Allow: true})
	text, _ := r.result()
	if n := strings.Count(text, "page of new.example"); n != 4 {
		t.Errorf("%d pages: %s", n, text)
	}
	r.unasked()

	r.prompt() // a later command asks again; for the session
	q = r.question()
	r.answer(q, op.Answer{Allow: true, Rules: q.Verdict.Suggest})
	text, _ = r.result()
	want(t, text, "page of new.example")
	r.prompt()
	text, _ = r.result()
	want(t, text, "page of new.example")
	r.unasked()

	r.prompt()
	r.answer(r.question(), op.Answer{Comment: "use the mirror"})
	text, _ = r.result()
	want(t, text, "403 Forbidden")
	want(t, text, "other.example is refused: the person said no: use the mirror")
}

// TestDomainIsSaved: "this folder" writes the local settings in the form of the
// domain list, and the next session reads them.
func TestDomainIsSaved(t *testing.T) {
	dir, home := scratch(t)
	r := connectRig(t, dir, home, nil, reach("new.example", 1), reach("new.example", 1))
	r.prompt()
	r.answer(r.question(), op.Answer{Allow: true, Keep: op.ForLocal})
	text, _ := r.result()
	want(t, text, "page of new.example")
	r.prompt()
	text, _ = r.result()
	want(t, text, "page of new.example")
	r.unasked()
	b, err := os.ReadFile(filepath.Join(dir, ".adze", "settings.local.json"))
	var file struct {
		Sandbox struct {
			Network struct {
				Domains []string `json:"allowed_domains"`
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	if d := file.Sandbox.Network.Domains; err != nil || len(d) != 1 || d[0] != "new.example" {
		t.Errorf("%s %v", b, err)
	}
	again := connectRig(t, dir, home, nil, reach("new.example", 1))
	again.prompt()
	text, _ = again.result()
	want(t, text, "page of new.example")
	again.unasked()
}

func TestDomainWithoutPerson(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*options)
	}{
		{"nobody is there", "nobody can be asked in this run", nil},
		{"dontAsk", "the mode is dontAsk", func(o *options) { o.Flags = mode("dontAsk") }},
		{"bypass", "page of new.example", func(o *options) {
			o.Skip, o.Env = true, func(n string) string {
				return map[string]string{"ADZE_BYPASS_AS_ROOT": "1", "PATH": os.Getenv("PATH")}[n]
			}
		}},
		{"a rule", "page of new.example", func(o *options) {
			o.Flags = []config.Given{{Key: "permissions.allow", Value: []string{"WebFetch(domain:new.example)"}, From: "--allowed-tools"}}
		}},
		{"denied", "the settings deny it", func(o *options) {
			o.Inline = `{"sandbox":{"network":{"allowed_domains":["new.example"],"denied_domains":["new.example"]}}}`
		}},
		{"a rule denies what the list allows", "the settings deny it", func(o *options) {
			o.Inline = `{"sandbox":{"network":{"allowed_domains":["new.example"]}},"permissions":{"deny":["WebFetch(domain:example)"]}}`
		}},
		{"strict", "no rule allows it", func(o *options) {
			o.Inline = `{"sandbox":{"network":{"allowed_domains":["x.example"],"strict_allowlist":true}}}`
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, home := scratch(t)
			r := connectRig(t, dir, home, func(o *options) {
				o.Person, o.Print = false, true
				if c.change != nil {
					c.change(o)
				}
			}, reach("new.example", 2))
			r.prompt()
			text, _ := r.result()
			want(t, text, c.want)
			r.unasked()
		})
	}
}

// TestDomainQuestionIsWithdrawn by an interrupt, and by the end of the command.
func TestDomainQuestionIsWithdrawn(t *testing.T) {
	dir, home := scratch(t)
	r := connectRig(t, dir, home, nil, reach("new.example", 1), `mkfifo go; p=${HTTP_PROXY#http://}; exec 3<>/dev/tcp/${p%:*}/${p#*:}
printf 'GET http://new.example/ HTTP/1.1\r\n\r\n' >&3; read x <go; exec 3>&-; read x <go`)
	r.prompt()
	q := r.question()
	if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
		t.Fatal(err)
	}
	if _, how := r.result(); how != event.Interrupted {
		t.Errorf("the turn ended as %s", how)
	}
	if err := r.Submit(t.Context(), op.Answer{Call: q.Call, Allow: true}); err == nil {
		t.Error("an answer after the interrupt was taken")
	}
	r.prompt() // which gets the reply that the interrupted turn left over
	r.result()
	r.prompt()
	q = r.question()
	pipe, err := os.OpenFile(filepath.Join(dir, "go"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	fmt.Fprintln(pipe, "close it")
	for e := range r.events {
		if a, ok := e.Body.(event.Answered); ok {
			if a.Call != q.Call || a.Allow || a.By.Kind != event.ByInterrupt {
				t.Errorf("%+v", a)
			}
			break
		}
	}
	fmt.Fprintln(pipe, "end")
	if _, how := r.result(); how != event.Done {
		t.Errorf("the turn ended as %s", how)
	}
	if p := r.State().Pending; len(p) > 0 {
		t.Errorf("still open: %v", p)
	}
}
