package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"iter"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// An agent is one that a session started, as the log of that session tells it.
type agent struct {
	event.TaskStarted                  // its newest start
	status            event.TaskStatus // "" where its end is not recorded
}

// agents are those of one session, in the order in which they were started. path are
// the IDs of the sessions that lead to that session, none for the one that is exported.
type agents struct {
	list []*agent
	path []string
}

func (a *agents) apply(b event.Body) {
	id, status := "", event.TaskStatus("")
	switch b := b.(type) {
	case event.TaskStarted:
		if b.Kind != event.TaskAgent || b.Agent == nil {
			return
		}
		if a.find(b.ID) == nil {
			a.list = append(a.list, &agent{})
			a.list[len(a.list)-1].ID = b.ID
		}
		id = b.ID
		a.find(id).TaskStarted = b
	case event.TaskEnded:
		id, status = b.ID, b.Status
	default: // tells of no agent
		return
	}
	if x := a.find(id); x != nil {
		x.status = status
	}
}

func (a *agents) find(id string) *agent {
	if i := slices.IndexFunc(a.list, func(x *agent) bool { return x.ID == id }); i >= 0 {
		return a.list[i]
	}
	return nil
}

// of are the agents of one of them, not read yet.
func (a *agents) of(x *agent) agents { return agents{path: append(slices.Clip(a.path), x.Session)} }

// head names an agent in one line.
func (x *agent) head() string {
	s := "Agent " + cmp.Or(x.Agent.Name, x.ID)
	if x.Agent.Type != "" {
		s += " (" + x.Agent.Type + ")"
	}
	if x.Text != "" {
		s += ": " + x.Text
	}
	return clip.Line(s, 200)
}

// how says how an agent ended.
func (x *agent) how() string { return cmp.Or(string(x.status), "its end is not recorded") }

// What stands in the place of a log that is not there, and before that of a fork.
const (
	noLog   = "Its log is not here."
	ofAFork = "It began with the conversation of the session that started it."
)

// agents writes the agents of the session that d has written, what each did folded.
func (d *document) agents() error {
	for _, x := range d.kin.list {
		d.put("## %s\n\n_%s_\n\n<details><summary>What it did</summary>\n\n", d.text(x.head()), d.text(x.how()))
		below := newDocument(d.out, d.o, d.hide)
		below.kin = d.kin.of(x)
		n, err := below.whole(d.o.Agent(below.kin.path))
		if err != nil {
			return err
		}
		if n == 0 {
			d.put("_%s_\n\n", noLog)
		}
		d.put("</details>\n\n")
	}
	return nil
}

// agents writes the agents of a session, each folded, with the items of its own log.
func (p *page) agents(kin agents, o Options, hide *secret.Redactor) error {
	for _, x := range kin.list {
		below := p.chapter(kin.of(x))
		if err := below.read(o.Agent(below.kin.path), hide); err != nil {
			return err
		}
		p.put("<details class=\"agent apart\"><summary>%s, %s</summary>\n", html.EscapeString(draw.String(x.head())), html.EscapeString(draw.String(x.how())))
		switch {
		case below.from.IsZero():
			p.put("<p>%s</p>\n", noLog)
		case below.begin.At > 0:
			p.put("<p>%s</p>\n", ofAFork)
		}
		below.items()
		if err := p.agents(below.kin, o, hide); err != nil {
			return err
		}
		p.put("</details>\n")
	}
	return nil
}

// eventsJSON writes the events of a session and its agents as two fields of an object.
// agents is not there where there are none.
func eventsJSON(w io.Writer, events iter.Seq2[event.Event, error], kin agents, o Options, hide *secret.Redactor) error {
	fmt.Fprint(w, `"events":[`)
	before := "\n"
	see := kin.apply
	if o.Agent == nil {
		see = func(event.Body) {}
	}
	err := lines(events, hide, see, func(line []byte) error {
		_, err := fmt.Fprintf(w, "%s%s", before, line)
		before = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n]")
	before = ",\"agents\":[\n"
	for _, x := range kin.list {
		about, err := json.Marshal(map[string]string{
			"id": x.ID, "name": hide.String(x.Agent.Name), "type": hide.String(x.Agent.Type), "description": hide.String(x.Text),
			"status": string(x.status), "session": x.Session, "call": x.Call,
		})
		if err != nil {
			return fmt.Errorf("export session: %w", err)
		}
		fmt.Fprintf(w, "%s%s,", before, about[:len(about)-1])
		below := kin.of(x)
		if err := eventsJSON(w, o.Agent(below.path), below, o, hide); err != nil {
			return err
		}
		fmt.Fprint(w, "}")
		before = ",\n"
	}
	if len(kin.list) > 0 {
		fmt.Fprint(w, "\n]")
	}
	return nil
}
