package print

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// A drive is a run of print mode on a real session with a model that plays a
// script.
type drive struct {
	opt      Options
	change   func(*session.Config)
	replies  []fake.Reply
	input    func(say func(lines ...string)) // of --input-format stream-json, which ends with it
	prompt   string                          // without input
	out, err bytes.Buffer
	model    *fake.Model
	mode     policy.Mode // at the end
	about    func(*About)
}

// tools are what the model of a drive has: Look needs no question, Bash does,
// Choose asks one of its own.
func tools(t *testing.T) tool.Set {
	type in struct {
		Command string `json:"command,omitempty"`
		Answers any    `json:"answers,omitempty"` // a host's
	}
	mk := func(name string, v view.Block, action policy.Action) tool.Tool {
		return tool.New(tool.Spec{Name: name},
			func(in in, _ tool.Env) (tool.Plan, error) {
				return tool.Plan{Actions: []policy.Action{action}, Title: name + " " + in.Command, View: v}, nil
			},
			func(_ context.Context, in in, env tool.Env) (tool.Result, error) {
				text := "ran " + in.Command
				if env.Answer != nil && env.Answer.Choices != nil {
					text = fmt.Sprintf("chosen: %q", env.Answer.Choices)
				}
				return tool.Result{Text: text}, nil
			})
	}
	set, err := tool.NewSet(mk("Look", nil, policy.None{}), mk("Bash", nil, policy.Exec{Argv: []string{"danger"}}),
		mk("Choose", view.Group{Blocks: []view.Block{view.Text{S: "Say."}, view.Questions{Items: []view.Question{{Text: "Which?"}, {Text: "What?", Multi: true}, {Text: "Why?"}}}}}, policy.Person{Why: "it asks"}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (d *drive) run(t *testing.T) (res Outcome, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.model = &fake.Model{Replies: d.replies}
		cfg := session.Config{
			Record:      session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{ID: "s1", Schema: event.Schema, Dir: "/w"}},
			Turns:       session.Turns{Target: agent.Target{Model: d.model, Provider: "fake", Name: "m"}, Loop: &agent.Loop{Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }, Env: tool.Env{Dir: "/w"}}},
			Hands:       session.Hands{Tools: tools(t)},
			Permissions: session.Permissions{Mode: policy.Default},
			Now:         time.Now,
		}
		if d.change != nil {
			d.change(&cfg)
		}
		s, serr := session.Start(t.Context(), cfg)
		if serr != nil {
			t.Fatal(serr)
		}
		defer func() {
			d.mode = s.Mode()
			if cerr := s.Close(); cerr != nil {
				t.Error(cerr)
			}
		}()
		inputs := make(chan Input, 1)
		d.opt.Inputs = inputs
		if d.opt.Out == nil {
			d.opt.Out = &d.out
		}
		d.opt.About = about()
		if d.about != nil {
			d.about(&d.opt.About)
		}
		d.opt.Err = &d.err
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if d.input == nil {
			if d.prompt != "" {
				inputs <- Input{Op: op.Prompt{Text: d.prompt}}
			}
			close(inputs)
		} else {
			r, w := io.Pipe()
			defer r.Close()
			go func() { // ends with ctx or the pipe
				defer close(inputs)
				_ = Read(ctx, r, inputs)
			}()
			go func() { // ends with its lines or the pipe
				defer w.Close()
				d.input(func(lines ...string) {
					synctest.Wait() // what was said before has had its effect
					for _, l := range lines {
						_, _ = io.WriteString(w, l+"\n")
					}
				})
				synctest.Wait()
			}()
		}
		res, err = Run(ctx, s, d.opt)
	})
	return res, err
}

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// work is a turn with a call, a pause that the provider asks for, and an
// answer.
func work() []fake.Reply {
	return []fake.Reply{
		fake.Parts(llm.WantTools, llm.Text{S: "I look."}, fake.Call("c1", "Look", map[string]string{"command": "around"})),
		fake.Fail(llm.Error{Kind: llm.Overloaded, Provider: "fake", Status: 529, Err: errors.New("busy")}),
		fake.Say("It is <fine>.\x1b[31m"),
	}
}

var uuid = regexp.MustCompile(`"uuid":"[0-9a-f-]{36}"`)

// A whole run in each format, to the byte.
func TestRunFormats(t *testing.T) {
	for name, opt := range map[string]Options{
		"run-text.txt":      {Format: Text},
		"run-chatty.txt":    {Format: Text, Chatty: true},
		"run-json.jsonl":    {Format: JSON},
		"run-stream.jsonl":  {Format: Stream},
		"run-partial.jsonl": {Format: Stream, Partial: true},
		"run-no-parts.txt":  {Format: Text, Partial: true}, // only the stream has parts
	} {
		t.Run(name, func(t *testing.T) {
			d := drive{opt: opt, prompt: "go", replies: work()}
			res, err := d.run(t)
			if err != nil || res.Ended.How != event.Done || res.Refused != nil || res.Lost != nil || res.Stopped || res.Bad != nil {
				t.Errorf("%+v, %v", res, err)
			}
			// A call may end before or after its reply does: which number an event has is open.
			out := uuid.ReplaceAllString(d.out.String(), `"uuid":"of the event"`)
			golden(t, name, out+"-- stderr\n"+d.err.String())
			if n := len(d.model.Requests()); n != 3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// What a run can come to besides an answer, and what is written then.
func TestRunOutcomes(t *testing.T) {
	danger := fake.Use(fake.Call("c1", "Bash", map[string]string{"command": "rm"}))
	bad := fake.Fail(llm.Error{Kind: llm.BadRequest, Provider: "fake", Err: errors.New("as asked")})
	for name, c := range map[string]struct {
		drive   drive
		how     event.End
		refused string // the tool
		err     error
		out     string // part of what is written; "" is nothing at all
	}{
		"failed, text":   {drive: drive{opt: Options{Format: Text}, prompt: "go", replies: []fake.Reply{bad}}, how: event.Failed},
		"failed, json":   {drive: drive{opt: Options{Format: JSON}, prompt: "go", replies: []fake.Reply{bad}}, how: event.Failed, out: `"is_error":true`},
		"failed, stream": {drive: drive{opt: Options{Format: Stream}, prompt: "go", replies: []fake.Reply{bad}}, how: event.Failed, out: `"errors":["`},
		"refused":        {drive: drive{opt: Options{Format: Text}, prompt: "go", replies: []fake.Reply{danger, fake.Say("I may not.")}}, how: event.Done, refused: "Bash", out: "I may not.\n"},
		"refused, then done": {drive: drive{opt: Options{Format: JSON}, prompt: "go", replies: []fake.Reply{danger, fake.Use(fake.Call("c2", "Look", nil)), fake.Say("ok")}},
			how: event.Done, out: `"permission_denials":[{"tool_name":"Bash","tool_use_id":"c1"`},
		"no prompt":                      {drive: drive{opt: Options{Format: Text}}, err: ErrNothing},
		"no prompt, json":                {drive: drive{opt: Options{Format: JSON}}, err: ErrNothing},
		"an answer with its end of line": {drive: drive{opt: Options{Format: Text}, prompt: "go", replies: []fake.Reply{fake.Say("hi\n")}}, how: event.Done, out: "hi\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.drive
			res, err := d.run(t)
			if !errors.Is(err, c.err) || res.Ended.How != c.how {
				t.Errorf("ended %q (%s), %v", res.Ended.How, res.Ended.Err, err)
			}
			tried := ""
			if res.Refused != nil {
				tried = res.Refused[0].Name
			}
			if out := d.out.String(); tried != c.refused || !strings.Contains(out, c.out) || c.out == "" && out != "" {
				t.Errorf("refused %q, wrote %q", tried, out)
			}
		})
	}
}

type broken struct{}

var errFull = errors.New("the pipe is closed")

func (broken) Write([]byte) (int, error) { return 0, errFull }

// A result that nobody can read ends the run, whatever the model would still
// do.
func TestRunLosesItsReader(t *testing.T) {
	for _, format := range []Format{Text, JSON, Stream} {
		d := drive{opt: Options{Format: format, Out: broken{}}, prompt: "go", replies: []fake.Reply{fake.Say("hello")}}
		if format == Stream { // which writes before there is an answer
			d.replies = []fake.Reply{fake.Hang(llm.Text{S: "hel"})}
		}
		if res, err := d.run(t); !errors.Is(res.Lost, errFull) || err != nil {
			t.Errorf("%s: %v, %v", format, res.Lost, err)
		}
	}
}

// Lines that cannot be used are told of, counted, and do not keep the others
// from being used.
func TestRunWithBadInput(t *testing.T) {
	d := drive{opt: Options{Format: Stream}, replies: []fake.Reply{fake.Say("hi")}, input: func(say func(...string)) {
		say("", "{", `{"a":1}`, `{"type":"control_response"}`, `{"type":"keep_alive"}`, `{"type":"novel"}`, user("u1", "  "),
			`{"type":"user","message":{"content":[{"type":"video"}]}}`, `{"type":"user","message":{"content":[{"type":"image","source":{"type":"url"}}]}}`,
			`{"type":"user","message":{"content":7}}`, `{"type":"user","message":7}`, `{"type":7}`,
			`{"type":"user","message":{"content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}},{"type":"text","text":"here"}]}}`)
	}}
	res, err := d.run(t)
	if err != nil || res.Ended.How != event.Done || res.Bad == nil || !strings.HasPrefix(res.Bad.Error(), "line 2 of the input: ") || res.Worse != 8 {
		t.Errorf("%+v, %v", res, err)
	}
	var told []string
	for _, l := range d.lines(t, "system/informational") {
		told = append(told, fmt.Sprint(l["level"], ": ", l["content"]))
	}
	golden(t, "run-bad-input.txt", strings.Join(told, "\n")+"\n")
	m := d.model.Requests()[0].Messages[0]
	want := []llm.Part{llm.Text{S: "look"}, llm.Image{Media: "image/png", Data: []byte{1, 2}}, llm.Text{S: "here"}}
	if i := slices.IndexFunc(m.Parts, func(p llm.Part) bool { x, ok := p.(llm.Text); return ok && x.S == "look" }); i < 0 || len(m.Parts) < i+3 || !reflect.DeepEqual(m.Parts[i:i+3], want) {
		t.Errorf("the blocks are not in their order in %v", m.Parts)
	}
}

// A line that is too long is dropped as a whole, and the next one is read.
func TestReadDropsALongLine(t *testing.T) {
	long := io.LimitReader(repeated('x'), maxLine+1)
	in := make(chan Input, 3)
	if err := Read(t.Context(), io.MultiReader(long, strings.NewReader("\n"+user("u1", "hi"))), in); err != nil {
		t.Fatal(err)
	}
	close(in)
	first, second := <-in, <-in
	if first.Bad == nil || !strings.Contains(first.Bad.Error(), "longer than 64 MB") || second.Op.(op.Prompt).Text != "hi" {
		t.Errorf("%v, %v", first.Bad, second)
	}
}

type repeated byte

func (c repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// An input that fails says so; one that nobody reads ends with its context.
func TestReadEnds(t *testing.T) {
	if err := Read(t.Context(), broken{}, make(chan Input)); !errors.Is(err, errFull) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, strings.NewReader(user("u1", "hi")), make(chan Input)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func (broken) Read([]byte) (int, error) { return 0, errFull }

// A session that ends before its turn does is an error, as is a context that
// does.
func TestRunIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan struct{})
			inputs := make(chan Input, 1)
			inputs <- Input{Op: op.Prompt{Text: "go"}}
			go func() {
				synctest.Wait()
				if stop {
					cancel()
				} else {
					close(gone)
				}
			}()
			_, err := Run(ctx, silent{gone}, Options{Format: Text, About: about(), Out: io.Discard, Err: io.Discard, Inputs: inputs})
			if err == nil || errors.Is(err, context.Canceled) != stop {
				t.Error(err)
			}
			cancel()
		}
	})
}

// silent is a session without events, which ends with gone.
type silent struct{ gone chan struct{} }

func (s silent) Submit(context.Context, op.Op) error { return nil }
func (s silent) Replying() (event.Seq, bool)         { return 0, false }
func (s silent) Follow(ctx context.Context, _ event.Seq, _ event.Detail) iter.Seq2[event.Event, error] {
	return func(func(event.Event, error) bool) {
		select {
		case <-s.gone:
		case <-ctx.Done():
		}
	}
}
