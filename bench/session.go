//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/view"
)

// A maker adds to the log of a session as adze would have.
type maker struct {
	log  store.Session
	id   string
	seq  event.Seq
	turn int
	size int64 // of results, in bytes
}

// makeSession has adze begin a session, and opens its log.
func (b *bench) makeSession(s stage) *maker {
	stageRun(b, s, "-p", "hello", "--model", "script/"+b.script())
	key, err := seal.Key(filepath.Join(s.home, ".adze"))
	check(err)
	all := sessions.In(filepath.Join(s.home, ".adze"))
	all.Key = key
	info, err := all.Find(context.Background(), sessions.Key(s.work), "")
	check(err)
	log, err := all.Open(context.Background(), info)
	check(err)
	m := &maker{log: log, id: info.ID}
	for e, err := range log.After(context.Background(), 0) {
		check(err)
		m.seq = e.Seq
	}
	return m
}

// script is a file in which a model says Hello.
func (b *bench) script() string {
	b.n++
	file := filepath.Join(b.dir, fmt.Sprint("script", b.n))
	check(os.WriteFile(file, []byte("> Hello.\n"), 0o644))
	return file
}

func (m *maker) add(body event.Body) {
	m.seq++
	check(m.log.Append(context.Background(), event.Event{Seq: m.seq, Time: time.Now(), Body: body}))
}

func (m *maker) said(stop llm.Stop, parts ...llm.Part) {
	m.add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: stop, Usage: llm.Usage{In: 10, Out: 20}, Model: "script/x"})
}

// goOn adds a turn of a prompt, replies with a call each, their results, and an
// answer. It returns the calls.
func (m *maker) goOn(steps int, result, answer string) (calls []string) {
	m.turn++
	prompt, t := fmt.Sprint("p", m.turn), fmt.Sprint("t", m.turn)
	m.add(event.InputAccepted{ID: prompt, Text: "do the next thing"})
	m.add(event.TurnStarted{ID: t, Model: "script/x"})
	for step := range steps {
		call := fmt.Sprint("c", m.turn, ".", step)
		calls = append(calls, call)
		m.said(llm.WantTools, llm.Text{S: "I run make."}, llm.ToolUse{ID: call, Name: "Bash", Input: json.RawMessage(`{"command":"make"}`)})
		m.add(event.ToolFinished{Call: call, Name: "Bash", Text: result, View: view.Terminal{Command: "make", Output: result}})
		m.size += int64(2 * len(result))
	}
	m.said(llm.EndTurn, llm.Text{S: answer})
	m.add(event.TurnEnded{ID: t, How: event.Done, Reason: "completed"})
	return calls
}

// lastWord ends the newest answer of a made session.
const lastWord = "the last word ☙"

func answer() string { return strings.ReplaceAll(page, "> ", "") }

// longSession makes a session of n messages, and returns its ID.
func (b *bench) longSession(s stage, n int) (id string) {
	m := b.makeSession(s)
	result := strings.Repeat("some output of a command\n", 24)
	for range n/6 - 1 {
		m.goOn(2, result, answer())
	}
	m.goOn(2, result, answer()+"\n"+lastWord+"\n")
	check(m.log.Close())
	return m.id
}

// hugeSession makes a session whose log has at least so many bytes, as months
// of work leave it: old results are cleared, and now and then it goes on in a
// fresh context.
func (b *bench) hugeSession(s stage, size int64) (id string) {
	m := b.makeSession(s)
	result := strings.Repeat("some output of a command that says more than one wants to know\n", 160)
	var shown []string
	for m.size < size {
		shown = append(shown, m.goOn(10, result, answer())...)
		if len(shown) > 60 {
			m.add(event.Cleared{Calls: shown[:40]})
			shown = shown[40:]
		}
		if m.turn%50 == 0 {
			m.add(event.Compacted{Trigger: event.CauseTool, Text: "what was done so far"})
			shown = nil
		}
	}
	m.goOn(10, result, answer()+"\n"+lastWord+"\n")
	check(m.log.Close())
	return m.id
}

// uiHuge opens a session of -huge megabytes: first where all of it has to be
// read, then as it was left.
func (b *bench) uiHuge() []figure {
	if b.huge == 0 {
		return nil
	}
	s := b.stage("huge")
	id := b.hugeSession(s, int64(b.huge)<<20)
	what := fmt.Sprintf("open a log of %d MB", b.huge)
	start := time.Now()
	most := stageRun(b, s, "-p", "hello", "--model", "script/"+b.script(), "--resume", id)
	first := time.Since(start)
	m := b.show(s, "> Hello.\n", "--resume", id) // what it shows is in memory now
	m.until(lastWord, 0)
	m.close()
	var ds []time.Duration
	var rss []int64
	for range 5 {
		x := b.show(s, "> Hello.\n", "--resume", id)
		ds = append(ds, x.until(lastWord, 0).Sub(x.start))
		x.settled(500 * time.Millisecond)
		l, _ := x.load()
		rss = append(rss, l.peak)
		x.close()
	}
	return []figure{
		{what + ": without a snapshot", ms(first), "(no target)"},
		{what + ": without a snapshot: RSS", mb(most), "< 300 MB"},
		{"ui: " + what, spread(ds), "< 1000 ms"},
		{"ui: " + what + ": peak RSS", mb(max(rss[0], rss[1], rss[2], rss[3], rss[4])), "< 150 MB"},
	}
}
