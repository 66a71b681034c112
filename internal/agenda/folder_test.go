package agenda_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agenda"
	"github.com/adze-agent/adze/internal/schedule"
)

// project is a folder with a record outside of it.
type project struct {
	*agenda.Folder
	skew    atomic.Int64
	trusted atomic.Bool
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{}
	p.trusted.Store(true)
	p.Folder = &agenda.Folder{
		Root: t.TempDir(), Record: filepath.Join(t.TempDir(), "state", "schedules.json"), Trusted: p.trusted.Load,
		Now: func() time.Time { return time.Now().UTC().Add(time.Duration(p.skew.Load())) },
	}
	return p
}

// session is one that is open there, in a process of its own.
func (p *project) session(t *testing.T) (*agenda.Agenda, *host) {
	t.Helper()
	a, h := &agenda.Agenda{Now: p.Now, Folder: p.Folder}, &host{now: p.Now}
	a.Attend(h)
	t.Cleanup(a.Close)
	return a, h
}

func (p *project) add(t *testing.T, e schedule.Entry) agenda.Listed {
	t.Helper()
	l, err := p.Add(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// file writes a file of the folder, as a repository brings it.
func (p *project) file(t *testing.T, name string, list ...schedule.Entry) {
	t.Helper()
	path := filepath.Join(p.Root, name)
	text, err := json.Marshal(map[string]any{"tasks": list})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Of several sessions that are open in a folder, one gets each time.
func TestSessionsOfAFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		var all []*host
		for range 3 {
			_, h := p.session(t)
			all = append(all, h)
		}
		pass(time.Minute)
		l := p.add(t, schedule.Entry{Cron: "*/30 * * * *", Prompt: "look", Recurring: true}) // by another process
		p.add(t, schedule.Entry{Cron: "10 3 * * *", Prompt: "once"})
		got := ""
		for range 5 {
			pass(time.Hour + 40*time.Second)
			for _, h := range all {
				got += h.heard() + "\n"
			}
		}
		if strings.Count(got, "\n\nlook") != 10 || strings.Count(got, "\n\nonce") != 1 || strings.Contains(got, "It was due") || !strings.Contains(got, "The schedule "+l.ID+" (Every 30 minutes) of this folder (.adze/schedules.json) has come, which the person allowed.") {
			t.Error(got)
		}
		if list, err := p.List(); len(list) != 1 || err != nil {
			t.Errorf("what comes once has come: %v %v", list, err)
		}
	})
}

// Processes that look at the same instant do not both get it.
func TestRace(t *testing.T) {
	p := newProject(t)
	p.add(t, schedule.Entry{Cron: "*/30 * * * *", Prompt: "look", Recurring: true})
	p.skew.Store(int64(2 * time.Hour))
	var all []*host
	var wg sync.WaitGroup
	for range 8 {
		a, h := &agenda.Agenda{Now: p.Now, Folder: &agenda.Folder{Root: p.Root, Record: p.Record, Trusted: p.Trusted, Now: p.Now}}, &host{now: p.Now}
		all = append(all, h)
		wg.Go(func() {
			a.Tick(t.Context(), h)
		})
	}
	wg.Wait()
	n := 0
	for _, h := range all {
		n += strings.Count(h.heard(), "\n\nlook")
	}
	if n != 1 {
		t.Errorf("it came %d times", n)
	}
}

// What is deleted comes nowhere, and what was missed while nothing ran comes once.
func TestFolderDeletedAndMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		gone := p.add(t, schedule.Entry{Cron: "0 * * * *", Prompt: "gone", Recurring: true})
		p.add(t, schedule.Entry{Cron: "0 * * * *", Prompt: "look", Recurring: true})
		p.add(t, schedule.Entry{Cron: "0 * * * *", Prompt: "skipped", Recurring: true, Missed: schedule.Skip})
		p.skew.Store(int64(72*time.Hour + 30*time.Minute))
		if _, left, err := p.Delete(t.Context(), gone.ID); left != "" || err != nil {
			t.Fatal(left, err)
		}
		_, h := p.session(t)
		synctest.Wait()
		if got := h.heard(); strings.Count(got, "look") != 1 || !strings.Contains(got, "It was due 72 times, from 01:00 to 2000-01-04 00:00") && !strings.Contains(got, "It was due 72 times, from 2000-01-01 01:00 to 00:00, ") || strings.Contains(got, "gone") || strings.Contains(got, "skipped") {
			t.Error(got)
		}
		if _, _, err := p.Delete(t.Context(), gone.ID); !errors.Is(err, agenda.ErrNone) {
			t.Error(err)
		}
	})
}

// What a repository brings comes when the person allowed it as it stands there, and the
// folder is trusted. It counts from then on.
func TestAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		e := schedule.Entry{ID: "abc", Cron: "0 * * * *", Prompt: "look", Created: 1, Recurring: true}
		p.file(t, agenda.TheirFile, e, schedule.Entry{ID: "../x", Cron: "* * * * *", Prompt: "no"}, schedule.Entry{ID: "never", Cron: "0 0 31 2 *", Prompt: "no"})
		_, h := p.session(t)
		pass(3 * time.Hour)
		list, err := p.List()
		if got := h.heard(); got != "" || err != nil || len(list) != 3 || list[0].Allowed || list[1].Bad == "" || list[2].Bad == "" {
			t.Fatalf("%s %+v %v", got, list, err)
		}
		if _, err := p.Allow(t.Context(), list[2].Entry); err == nil {
			t.Error("what never comes was allowed")
		}
		if _, err := p.Allow(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		pass(90 * time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 || strings.Contains(got, "It was due") {
			t.Error(got)
		}
		p.trusted.Store(false)
		pass(2 * time.Hour)
		if got := h.heard(); got != "" {
			t.Errorf("the folder is not trusted: %s", got)
		}
		p.trusted.Store(true)
		e.Prompt = "do harm"
		p.file(t, agenda.TheirFile, e)
		pass(2 * time.Hour)
		if got := h.heard(); got != "" {
			t.Errorf("nobody allowed that: %s", got)
		}
		e.Prompt = "look"
		if _, err := p.Allow(t.Context(), e); err == nil || !strings.Contains(err.Error(), "changed just now") {
			t.Error(err)
		}
		p.file(t, agenda.TheirFile, e)
		pass(time.Minute)
		if got := h.heard(); strings.Count(got, "look") != 1 {
			t.Error(got)
		}
		if _, left, err := p.Delete(t.Context(), "abc"); left != agenda.TheirFile || err != nil {
			t.Error(left, err)
		}
		pass(5 * time.Hour)
		if got := h.heard(); got != "" {
			t.Errorf("it was deleted: %s", got)
		}
	})
}

// A person lists and deletes schedules.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		a, _ := p.session(t)
		say := func(args string) string {
			text, err := a.Report(t.Context(), args)
			if err != nil {
				return "error: " + err.Error()
			}
			return text
		}
		if got := say(""); !strings.HasPrefix(got, "There are no schedules.") {
			t.Error(got)
		}
		add(t, a, schedule.Entry{Every: 300, Prompt: "look `here`", Recurring: true})
		l := p.add(t, schedule.Entry{Cron: "0 12 * * *", Prompt: "noon"})
		p.file(t, agenda.TheirFile, schedule.Entry{ID: "abc", Cron: "0 * * * *", Prompt: "theirs", Recurring: true})
		got := say("list")
		for _, want := range []string{
			"- **s1** Every 5 minutes, next at 00:05: `look 'here'`\n", "- **" + l.ID + "** Once on 2000-01-01 at 12:00:00, of this folder (.adze/schedules.json), next at 12:00: `noon`\n",
			"- **abc** Every hour at :00, of this folder (.claude/scheduled_tasks.json), not allowed: adze schedule allow abc: `theirs`\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s\nlacks %s", got, want)
			}
		}
		p.trusted.Store(false)
		if got := say(""); !strings.Contains(got, "Those of the folder do not come") {
			t.Error(got)
		}
		for args, want := range map[string]string{
			"delete s1": "The schedule s1 (Every 5 minutes) is deleted.", "delete " + l.ID: "The schedule " + l.ID + " (Once on 2000-01-01 at 12:00:00) is deleted.",
			"delete abc": "The schedule abc comes no more here. It still stands in .claude/scheduled_tasks.json.", "delete s7": "error: there is no schedule s7", "remove": "error: /schedules lists them, ",
		} {
			if got := say(args); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		}
	})
}

// A file or a record that cannot be read is said, and nothing comes of it or is lost.
func TestBroken(t *testing.T) {
	p := newProject(t)
	p.add(t, schedule.Entry{Cron: "0 * * * *", Prompt: "look", Recurring: true})
	own := filepath.Join(p.Root, agenda.OwnFile)
	if err := os.WriteFile(own, []byte(`{"tasks": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Add(t.Context(), schedule.Entry{Cron: "0 * * * *", Prompt: "more"}); err == nil || !strings.Contains(err.Error(), "reading .adze/schedules.json") {
		t.Error(err)
	}
	if text, err := os.ReadFile(own); string(text) != `{"tasks": [` || err != nil {
		t.Errorf("%s %v", text, err)
	}
	if err := os.WriteFile(p.Record, []byte(`{"version": 9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(); err == nil || !strings.Contains(err.Error(), "a newer version of adze") {
		t.Error(err)
	}
}

// No text of a file has it fail in another way than by an error.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"tasks": [{"id": "a", "cron": "* * * * *", "prompt": "p", "createdAt": 1, "recurring": true}]}`))
	f.Add([]byte(`{"tasks": [{"id": "a", "every": 60, "at": -1, "prompt": "p", "createdAt": 9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := newProject(t)
		if err := os.MkdirAll(filepath.Join(p.Root, ".adze"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.Root, agenda.OwnFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		list, _ := p.List()
		for _, s := range list {
			_, _ = p.Allow(t.Context(), s.Entry)
			_ = s.About(p.Now())
		}
		p.skew.Store(int64(time.Hour))
		h := &host{now: p.Now}
		(&agenda.Agenda{Now: p.Now, Folder: p.Folder}).Tick(t.Context(), h)
	})
}
