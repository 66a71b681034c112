package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/client/clienttest"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rpc"
	"github.com/adze-agent/adze/internal/settings"
)

// started is a desk with one session, whose model plays the script.
func started(t *testing.T, text string) (d *desk.Desk, session string, end func()) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(top, "calc"), filepath.Join(top, "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d = desk.New(desk.Config{
		Surroundings: app.Surroundings{Environment: settings.Environment{Dir: dir, Home: home, Env: func(string) string { return "" }}, Version: "test", Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, Temp: top},
		Front:        app.Front{Person: true},
	})
	r, err := d.Start(t.Context(), app.Spec{Target: &agent.Target{Model: script.New(s, script.Config{}), Provider: "script", Name: "test"}}, func(*app.Process) {})
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		if err := d.End(r.ID, hook.EndOther); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, r.ID, end
}

func TestClient(t *testing.T) {
	clienttest.Run(t, func(t *testing.T, text string) clienttest.Subject {
		d, id, end := started(t, text)
		return clienttest.Subject{Session: id, End: end, Client: func() (client.Client, func()) { return d, func() {} }}
	})
}

// over serves connections that dial makes, and is the subject over them.
func over(t *testing.T, text string, dial func() (near, far net.Conn)) clienttest.Subject {
	d, id, end := started(t, text)
	rules := protocol(t)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var served sync.WaitGroup
	t.Cleanup(func() { stop(); served.Wait() })
	n := 0
	return clienttest.Subject{Session: id, End: end, Client: func() (client.Client, func()) {
		t.Helper()
		near, far := dial()
		near = overheard{t, near, rules, &said{}, &said{}}
		n++
		number := n
		served.Go(func() {
			if err := rpc.Serve(ctx, far, rpc.Config{Client: d, Version: "test", Scope: ask.Admin, Number: number}); err != nil {
				t.Error(err)
			}
		})
		c, err := rpc.Connect(t.Context(), near, rpc.Hello{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return c, func() { _ = c.Close() }
	}}
}

func TestClientOverPipe(t *testing.T) {
	clienttest.Run(t, func(t *testing.T, text string) clienttest.Subject { return over(t, text, net.Pipe) })
}

// pipes are the two ends of what carries stdin and stdout of a process.
type pipes struct {
	net.Conn // has the methods that nobody calls
	in, out  *os.File
}

func (p pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

func TestClientOverStdio(t *testing.T) {
	clienttest.Run(t, func(t *testing.T, text string) clienttest.Subject {
		return over(t, text, func() (near, far net.Conn) {
			a, b, err := os.Pipe()
			c, d, err2 := os.Pipe()
			if err = errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			return pipes{in: a, out: d}, pipes{in: c, out: b}
		})
	})
}

func TestClientOverSocket(t *testing.T) {
	clienttest.Run(t, func(t *testing.T, text string) clienttest.Subject {
		dir, err := os.MkdirTemp("", "adze") // the path of a socket is short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		l, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return over(t, text, func() (near, far net.Conn) {
			near, err := net.Dial("unix", l.Addr().String())
			if err == nil {
				far, err = l.Accept()
			}
			if err != nil {
				t.Fatal(err)
			}
			return near, far
		})
	})
}

// What is open says what it does, and goes with its end.
func TestOpen(t *testing.T) {
	d, id, end := started(t, "@ Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n---\n> done")
	open := func() []ask.OpenSession {
		t.Helper()
		r, err := d.Ask(t.Context(), "", ask.Open{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := ask.Data[[]ask.OpenSession](r)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := open(); len(all) != 1 || all[0].ID != id || all[0].Doing != ask.Idle || all[0].Title != "" || all[0].Since.IsZero() {
		t.Errorf("before the first prompt: %+v", all)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	events := d.Follow(ctx, id, 0, event.Durable)
	for _, o := range []op.Op{op.Attach{Client: "a"}, op.Prompt{Text: "write it"}} {
		if err := d.Submit(ctx, id, o); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if _, asked := e.Body.(event.Asked); asked {
			break
		}
	}
	if all := open(); len(all) != 1 || all[0].Doing != ask.Asking || all[0].Question == "" || all[0].Title != "write it" || all[0].Last == 0 || all[0].Prompt >= all[0].Last {
		t.Errorf("while it asks: %+v", all)
	}
	end()
	if all := open(); len(all) != 0 {
		t.Errorf("after the end: %+v", all)
	}
}

// protocol is the description of what is said on connections.
func protocol(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile("../../docs/clients.schema.json")
	var s jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"nosuch","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"submit","params":{"session":"s","op":{"v":1,"op":"rename","with":{"name":"x"}}}}`,
		`{"jsonrpc":"2.0","method":"event","params":{"follow":1,"event":{"seq":1,"time":"2026-01-01T00:00:00Z","type":"turn_started","id":"t"}}}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil || out.Validate(v) == nil {
			t.Fatalf("%s is taken: %v", bad, err)
		}
	}
	return out
}

// An overheard connection checks each message that is said on it.
type overheard struct {
	t *testing.T
	net.Conn
	rules   *jsonschema.Resolved
	in, out *said
}

// said is what came of a line so far.
type said struct{ bytes.Buffer }

func (o overheard) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	o.check(o.in, b[:n])
	return n, err
}

func (o overheard) Write(b []byte) (int, error) {
	o.check(o.out, b)
	return o.Conn.Write(b)
}

func (o overheard) check(s *said, b []byte) {
	s.Write(b)
	for {
		line, rest, whole := bytes.Cut(s.Bytes(), []byte("\n"))
		if !whole {
			return
		}
		var v any
		err := json.Unmarshal(line, &v)
		if err == nil {
			err = o.rules.Validate(v)
		}
		if err != nil {
			o.t.Errorf("%s is not as docs/clients.schema.json has it: %v", line, err)
		}
		s.Next(len(s.Bytes()) - len(rest))
	}
}

// What slash commands ask is answered alike for each client: of a session, and of the run.
func TestSlashCommands(t *testing.T) {
	d, id, _ := started(t, "> hello")
	for _, c := range []struct{ line, text, wrong string }{
		{"mcp", "No MCP server is configured", ""},
		{"skills", "| review | ", ""},
		{"agents", "| explore | ", ""},
		{"output-style nope", "", `there is no output style "nope"; there are default, `},
		{"output-style CONCISE", "The output style is concise from", ""},
		{"output-style default", "The output style is default from", ""},
		{"add-dir", "No further folder is in use", ""},
		{"add-dir nowhere", "", "nowhere"},
		{"add-dir ..", "can be used as this folder is, until adze ends", ""},
		{"add-dir", "(/add-dir)", ""},
		{"statusline", "Your command gets JSON", ""},
		{"bug", "`adze export " + id, ""},
		{"doctor", "", "this is not answered here"},
	} {
		name, args, _ := strings.Cut(c.line, " ")
		r, err := d.Ask(t.Context(), id, ask.Slash(name, args))
		if c.wrong == "" && (err != nil || !strings.Contains(r.Text, c.text)) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("/%s: %q, %v", c.line, r.Text, err)
		}
	}
	if r, err := d.Ask(t.Context(), id, ask.Report{Name: "mcp", Args: "db"}); err != nil || !strings.Contains(r.Text, "No MCP server") {
		t.Errorf("as older clients ask it: %q, %v", r.Text, err)
	}
	all, err := d.Ask(t.Context(), "", ask.Pick{Name: "output-style"})
	if i := slices.IndexFunc(all.Choices, func(c ask.Choice) bool { return c.Right != "" }); err != nil || i != 0 || len(all.Choices) < 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// No query is without an answer, though it be that it cannot be meant.
func TestEveryQueryIsAnswered(t *testing.T) {
	d, id, _ := started(t, "> hello")
	for name, kind := range ask.Types() {
		if name == "report" || name == "pick" { // who makes the desk answers the rest
			continue
		}
		q, _ := reflect.Zero(kind).Interface().(ask.Query)
		if _, err := d.Ask(t.Context(), id, q); errors.Is(err, &op.Refusal{Code: op.Unsupported}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What programs ask of files stays with what the rules allow to read, and with the folders
// of the session.
func TestFilesOfTheSession(t *testing.T) {
	d, id, _ := started(t, "> hello")
	r, err := d.Ask(t.Context(), id, ask.Status{})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := ask.Data[ask.Facts](r)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(facts.Dir, name) }
	for name, text := range map[string]string{"a.txt": "hello\xff", "sub/b.txt": "b", ".adze/settings.local.json": `{"permissions": {"deny": ["Read(sub/**)"]}}`} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(in(name)), 0o700), os.WriteFile(in(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in("sub/b.txt"), in("link")); err != nil {
		t.Fatal(err)
	}
	d.Place().Reread()
	for _, c := range []struct {
		q     ask.Query
		data  any
		wrong string
	}{
		{ask.Read{Path: "a.txt", Max: 5}, ask.File{Text: "hello", Path: in("a.txt"), Cut: true}, ""},
		{ask.Read{Path: in("a.txt")}, ask.File{Text: "hello\ufffd", Path: in("a.txt")}, ""},
		{ask.Read{Path: "nowhere"}, nil, "cannot be read"},
		{ask.Read{Path: "sub/b.txt"}, nil, "is not read"},
		{ask.Read{Path: "link"}, nil, "is not read"},
		{ask.Seen{Path: "link"}, nil, "is not read"},
		{ask.Seen{Path: "a.txt", At: 1}, false, ""},
		{ask.Within{Folder: "sub"}, nil, ""},
		{ask.Within{Folder: "."}, nil, "already"},
		{ask.Within{Folder: ".."}, nil, "in none of the folders"},
		{ask.Within{Folder: "a.txt"}, nil, "no folder"},
		{ask.Serve{}, ask.ServersChanged{Added: []string{}, Removed: []string{}}, ""},
		{ask.Deliver{Server: "x"}, nil, `no MCP server "x"`},
		{ask.Servers{Name: "x", Do: ask.Enable}, nil, `no MCP server "x"`},
	} {
		r, err := d.Ask(t.Context(), id, c.q)
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" && (err != nil || !reflect.DeepEqual(r.Data, c.data)) {
			t.Errorf("%+v: %+v, %v", c.q, r.Data, err)
		}
	}
}
