//go:build unix

package mcp_test

//lint:file-ignore SA1019 roots belong to the protocols that most servers speak

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// counted is an honest server that counts its connections: each lists its tools once.
func counted(n *atomic.Int32) http.Handler {
	s := honest()
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				n.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// A second user is one more view of a hub.
func (r *rig) second(t *testing.T, c mcp.ViewConfig, list ...servers.Server) *rig {
	t.Helper()
	out := &rig{hub: r.hub, states: map[string][]event.ServerState{}}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Tell = func(s mcp.Status) {
		out.mu.Lock()
		defer out.mu.Unlock()
		out.states[s.Server.Name] = append(out.states[s.Server.Name], s.State)
	}
	out.View = r.hub.View(c)
	out.Use(list)
	return out
}

func (r *rig) told(name string) []event.ServerState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.states[name])
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// Folders that have the same remote server have one connection to it, which lasts as long
// as one of them. Each says who configured it there. One with other headers, or that
// waits for a yes, is another.
func TestFoldersShareRemoteServers(t *testing.T) {
	var made atomic.Int32
	s := remote("r", servers.HTTP, serveHTTP(t, counted(&made)))
	one := start(t, nil, s)
	one.ready(t)
	as := s
	as.Origin = config.Origin{Scope: config.User, File: "/elsewhere"}
	two := one.second(t, mcp.ViewConfig{}, as)
	two.ready(t)
	if n := made.Load(); n != 1 {
		t.Errorf("%d connections of two folders", n)
	}
	if st := two.status(t, "r"); st.State != event.ServerConnected || st.Server.Origin.File != "/elsewhere" || st.Tools == 0 {
		t.Errorf("%+v", st)
	}
	until(t, "the second folder is told", func() bool { return slices.Contains(two.told("r"), event.ServerConnected) })
	if c := two.Contributions(); len(c) != 1 || c[0].From.Where != as.Origin.String() {
		t.Errorf("%+v", c)
	}

	other, waits := s, s
	other.Headers = map[string]string{"X-Given": "no"}
	waits.Approval = servers.Pending
	three := one.second(t, mcp.ViewConfig{}, other)
	three.ready(t)
	if n := made.Load(); n != 2 {
		t.Errorf("%d connections with a server that has other headers", n)
	}
	four := one.second(t, mcp.ViewConfig{}, waits)
	if st := four.status(t, "r"); st.State != event.ServerPending || st.Tools != 0 || len(four.Contributions()) != 0 {
		t.Errorf("a server that nobody approved here is used: %+v", st)
	}

	one.View.Close()
	if res := run(t, two.tool(t, "mcp__r__echo"), `{"text":"still"}`); res.Text != "still" {
		t.Errorf("it went with the folder that had it first: %+v", res)
	}
	until(t, "the first folder is told of its end", func() bool {
		list := one.told("r")
		return list[len(list)-1] == event.ServerClosed
	})
	two.View.Close()
	if list := two.told("r"); list[len(list)-1] != event.ServerClosed {
		t.Errorf("%v", list)
	}
}

// A program runs once for each folder, in it, and not longer than somebody uses it there:
// an agent that has the same one there beside the folder starts no second.
func TestProgramsRunForEachFolder(t *testing.T) {
	s := self("p")
	home := t.TempDir()
	one := start(t, func(c *hubConfig) { c.Dir = home }, s)
	two := one.second(t, mcp.ViewConfig{}, s)
	agent := one.second(t, mcp.ViewConfig{Ground: mcp.Ground{Dir: home}}, s)
	pid := func(r *rig) string {
		t.Helper()
		r.ready(t)
		return run(t, r.tool(t, "mcp__p__pid"), `{}`).Text
	}
	was := pid(one)
	if pid(two) == was || pid(agent) != was {
		t.Errorf("%s runs in one folder, %s in the other, %s for an agent in the first", was, pid(two), pid(agent))
	}
	one.View.Close()
	if pid(agent) != was {
		t.Error("the folder took the program from the agent")
	}
	agent.View.Close()
	id, err := strconv.Atoi(was)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("nobody uses it in its folder, and it runs: %v", err)
	}
	pid(two)
}

// A server is told the folders of all that use it, and only of those.
func TestRootsOfAllFolders(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	h := sdk.NewServer(&sdk.Implementation{Name: "asks"}, nil)
	sdk.AddTool(h, &sdk.Tool{Name: "where"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		list, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		heard = nil
		for _, x := range list.Roots {
			heard = append(heard, x.URI)
		}
		return &sdk.CallToolResult{}, nil, nil
	})
	s := remote("r", servers.HTTP, serveHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return h }, nil)))
	in := func(dir string) func() []string { return func() []string { return []string{dir} } }
	one := start(t, func(c *hubConfig) { c.Roots = in("/one") }, s)
	one.ready(t)
	where := func(r *rig) string {
		t.Helper()
		run(t, r.tool(t, "mcp__r__where"), `{}`)
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(heard)
		return strings.Join(heard, " ")
	}
	_ = one.second(t, mcp.ViewConfig{Roots: in("/without")})
	two := one.second(t, mcp.ViewConfig{Roots: in("/two")}, s)
	two.ready(t)
	until(t, "both", func() bool { return where(two) == "file:///one file:///two" })
	one.View.Close()
	until(t, "the second alone", func() bool { return where(two) == "file:///two" })
}

// What a tool says was allowed in one folder was not allowed in another.
func TestPinsOfFolders(t *testing.T) {
	var about atomic.Pointer[string]
	says := func(s string) { about.Store(&s) }
	says("reads")
	s := remote("r", servers.HTTP, serveHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		x := sdk.NewServer(&sdk.Implementation{Name: "turns"}, nil)
		sdk.AddTool(x, &sdk.Tool{Name: "t", Description: *about.Load()}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{}, nil, nil
		})
		return x
	}, nil)))
	one := start(t, nil, s)
	one.ready(t)
	two := one.second(t, mcp.ViewConfig{}, s)
	two.ready(t)
	for _, r := range []*rig{one, two} {
		run(t, r.tool(t, "mcp__r__t"), `{}`)
	}
	says("sends it away")
	if _, err := one.Anew(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	asks := func(r *rig) bool {
		p, err := r.tool(t, "mcp__r__t").Plan([]byte(`{}`), tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(p.Actions, func(a policy.Action) bool { _, is := a.(policy.Person); return is })
	}
	if !asks(one) || !asks(two) {
		t.Error("a tool that says something else is not asked about")
	}
	run(t, one.tool(t, "mcp__r__t"), `{}`)
	if asks(one) || !asks(two) {
		t.Errorf("allowed in the first folder: asks there %v, in the second %v", asks(one), asks(two))
	}
}

// A server that two folders use asks the one whose call is open; who answers in the
// other is not asked.
func TestFolderIsAsked(t *testing.T) {
	h := sdk.NewServer(&sdk.Implementation{Name: "asks"}, nil)
	sdk.AddTool(h, &sdk.Tool{Name: "ask"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		res, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "well?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Action}}}, nil, nil
	})
	s := remote("r", servers.HTTP, serveHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return h }, nil)))
	first, second := &lodger{session: "a"}, &lodger{session: "b", yes: true}
	one := start(t, func(c *hubConfig) { c.Client = first }, s)
	one.ready(t)
	two := one.second(t, mcp.ViewConfig{Client: second}, s)
	two.ready(t)
	for i, c := range []struct {
		r             *rig
		session, want string
	}{{two, "b", "accept"}, {one, "a", "decline"}, {two, "gone", "cancel"}} {
		if got := runWith(t, c.r.tool(t, "mcp__r__ask"), `{}`, tool.Env{Session: c.session}).Text; !strings.Contains(got, c.want) {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	if first.asked != 1 || second.asked != 1 {
		t.Errorf("asked %d and %d times", first.asked, second.asked)
	}
}

// A lodger answers for one session.
type lodger struct {
	session string
	yes     bool
	asked   int
}

func (r *lodger) Here(by mcp.Caller) bool { return by.Session == r.session }

func (r *lodger) Ask(context.Context, mcp.Caller, string, view.Form) (op.Answer, error) {
	r.asked++
	return op.Answer{Allow: r.yes}, nil
}

func (*lodger) Sample(context.Context, mcp.Caller, string, mcp.Sampling) (mcp.Sampled, error) {
	return mcp.Sampled{}, errors.New("no")
}
func (*lodger) Changed(string, string, string) {}

// Servers that take their time to end do so at the same time.
func TestServersEndTogether(t *testing.T) {
	one, other := hosted(t, honest()), hosted(t, honest())
	var called, ending sync.WaitGroup
	called.Add(2)
	ending.Add(2)
	host := func(ctx context.Context, name string, m json.RawMessage) (json.RawMessage, error) {
		if !strings.Contains(string(m), `"tools/call"`) {
			return map[string]func(context.Context, string, json.RawMessage) (json.RawMessage, error){"a": one, "b": other}[name](ctx, name, m)
		}
		called.Done()
		<-ctx.Done()
		ending.Done()
		ending.Wait() // until the other one ends, too
		return nil, ctx.Err()
	}
	r := start(t, func(c *hubConfig) { c.Host = host }, servers.Server{Name: "a", Transport: servers.Host, Approval: servers.Approved}, servers.Server{Name: "b", Transport: servers.Host, Approval: servers.Approved})
	r.ready(t)
	var calls sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		x := r.tool(t, "mcp__"+name+"__echo")
		calls.Go(func() { run(t, x, `{"text":"x"}`) })
	}
	called.Wait()
	r.View.Close()
	calls.Wait()
}
