package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// turn runs one prompt, and returns the text of the last result or reply.
func turn(t *testing.T, r *Running, text string) (said string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	events := r.Follow(ctx, r.State().Seq, event.Durable)
	if err := r.Submit(t.Context(), op.Prompt{Text: text}); err != nil {
		t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.ToolFinished:
			said = b.Text
		case event.TurnEnded:
			return said
		default:
		}
	}
	t.Fatal("the session ended")
	return ""
}

// does has the model make one call in the next turn.
func does(m *fake.Model, name string, input any) {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	m.Replies = append(m.Replies, fake.Use(llm.ToolUse{ID: fmt.Sprint("c", len(m.Replies)), Name: name, Input: raw}), fake.Say("done"))
}

// notifiers is how many watches of files this program has of the system, 0 where that is
// not known.
func notifiers(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && to == "anon_inode:inotify" {
			n++
		}
	}
	return n
}

// Two folders in one process: what there is once, there is once; what belongs to a folder
// is its own; and one that is left takes nothing from the other.
func TestTwoPlaces(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir, home := scratch(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := errors.Join(os.Mkdir(other, 0o755), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "shared"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "t"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "served"}}}, nil, nil
	})
	var listed atomic.Int32 // once for each connection
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				listed.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer h.Close()
	raw, err := json.Marshal(map[string]string{"type": "http", "url": h.URL})
	if err != nil {
		t.Fatal(err)
	}
	around := here(dir, home)
	around.Extensions = ext.Flags{Servers: []servers.Given{{Name: "shared", JSON: raw, Origin: config.Origin{Scope: config.Flag, From: "--mcp-config"}}}}
	all, one, err := openAt(t, around, settings.Sources{Inline: `{` + unconfined + `,"permissions":{"allow":["Bash","mcp__shared"]}}`}, Front{Lasting: true})
	if err != nil {
		t.Fatal(err)
	}
	start := func(at *Place, child *Child) (*Running, *fake.Model) {
		t.Helper()
		m := &fake.Model{}
		r, err := at.Start(t.Context(), Spec{Log: sessions.Choice{None: true}, Child: child, Target: &agent.Target{Model: m, Provider: "fake", Name: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		at.Extensions().AwaitAll(t.Context())
		r.Offer()
		return r, m
	}
	root, rootModel := start(one, nil)
	two, err := all.Place(other)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := all.Place(link); err != nil || same != two {
		t.Fatalf("another path of a folder is another place: %v", err)
	}
	child, childModel := start(two, &Child{Of: root})

	if n := listed.Load(); n != 1 {
		t.Errorf("%d connections of a server that two places share", n)
	}
	says := func(r *Running, m *fake.Model, name string, input any) string {
		t.Helper()
		does(m, name, input)
		return strings.TrimSpace(turn(t, r, "go"))
	}
	where := map[string]any{"command": "pwd; echo $TMPDIR"}
	for _, c := range []struct {
		*Running
		*fake.Model
		dir string
	}{{root, rootModel, dir}, {child, childModel, other}} {
		if got, want := says(c.Running, c.Model, "Bash", where), c.dir+"\n"+all.temp.outside; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := says(c.Running, c.Model, "mcp__shared__t", struct{}{}); got != "served" {
			t.Errorf("%s: %q", c.dir, got)
		}
	}
	if got := two.Extensions().Extended(); len(got.Agents) != len(root.Extended().Agents) {
		t.Errorf("where only children are, the root says what there is: %+v", got)
	}

	one.Give(config.Given{Key: "permissions.deny", Value: []string{"Bash(touch *)"}, From: "test"})
	touch := map[string]any{"command": "touch x"}
	if got := says(root, rootModel, "Bash", touch); !strings.Contains(got, "denies") {
		t.Errorf("a rule of the folder does not count: %q", got)
	}
	if got := says(child, childModel, "Bash", touch); strings.Contains(got, "denies") {
		t.Errorf("a rule of one folder counts in another: %q", got)
	}
	waitFor(t, "both are watched", func() bool { return one.live.Watching() && two.live.Watching() })

	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if got := says(child, childModel, "Bash", where); !strings.HasPrefix(got, other) {
		t.Errorf("the place was opened twice and left once, and its session does not work: %q", got)
	}
	watches := notifiers(t)
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if n := notifiers(t); n >= watches && watches > 0 {
		t.Errorf("%d watches with two places, %d with one", watches, n)
	}
	if err := child.Submit(t.Context(), op.Prompt{Text: "x"}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a session lives on without its place: %v", err)
	}
	if got := says(root, rootModel, "mcp__shared__t", struct{}{}); got != "served" {
		t.Errorf("the server went with a place that shared it: %q", got)
	}
	if got := says(root, rootModel, "Bash", where); !strings.HasPrefix(got, dir) {
		t.Errorf("%q", got)
	}
	again, err := all.Place(other)
	if err != nil || again == two {
		t.Errorf("a place that was left is not opened anew: %v", err)
	}
	if err := all.Close(); err != nil {
		t.Error(err)
	}
	if _, err := all.Place(dir); err == nil {
		t.Error("a place is opened in a process that is closed")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	h.Close()
	goleak.VerifyNone(t, before)
}

// What a server asks of its own accord in a folder where only children work is for the
// root that they work for, wherever that is.
func TestRootOfAnotherPlace(t *testing.T) {
	dir, home := scratch(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	all, one, err := openAt(t, here(dir, home), settings.Sources{}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	two, err := all.Place(other)
	if err != nil {
		t.Fatal(err)
	}
	start := func(at *Place, child *Child) *Running {
		t.Helper()
		r, err := at.Start(t.Context(), Spec{Log: sessions.Choice{None: true}, Child: child, Target: &agent.Target{Model: &fake.Model{}, Provider: "fake", Name: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	root := start(one, nil)
	child := start(two, &Child{Of: root})
	start(two, &Child{Of: child})
	if !two.Extensions().Answers(mcp.Caller{}) || two.Extensions().Answers(mcp.Caller{Session: root.ID}) || !two.Extensions().Answers(mcp.Caller{Session: child.ID}) {
		t.Error("who answers in the folder of children")
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if two.Extensions().Answers(mcp.Caller{}) {
		t.Error("a child answers for its root")
	}
}

// Sessions of two folders ask a provider over the same connection, as far as the settings
// of both lead to the same models.
func TestPlacesShareModels(t *testing.T) {
	dir, home := scratch(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	var made atomic.Int32
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			made.Add(1)
		}
	}
	h.Start()
	defer h.Close()
	inline := fmt.Sprintf(`{"model":"w/m","titles":false,"providers":{"w":{"base_url":%q,"wire":"compat","models":["m"]}},"models":{"w/m":{"window":32000,"output":2000}}}`, h.URL)
	if err := errors.Join(os.MkdirAll(filepath.Join(other, ".adze"), 0o755), os.WriteFile(filepath.Join(other, ".adze", "settings.json"), []byte(`{"language":"French"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	all, one, err := openAt(t, here(dir, home), settings.Sources{Inline: inline, Trusted: true}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	two, err := all.Place(other)
	if err != nil {
		t.Fatal(err)
	}
	if two.Config().Language != "French" || one.Config().Language == "French" {
		t.Errorf("%q and %q", one.Config().Language, two.Config().Language)
	}
	ask := func(at *Place) {
		t.Helper()
		r, err := at.Start(t.Context(), Spec{Log: sessions.Choice{None: true}})
		if err != nil {
			t.Fatal(err)
		}
		turn(t, r, "go")
		if n := r.State().Total.Replies; n != 1 {
			t.Errorf("%d replies", n)
		}
	}
	ask(one)
	had := made.Load()
	ask(two)
	if n := made.Load(); n != had {
		t.Errorf("%d connections to the provider, %d with the second folder", had, n)
	}
	one.Reread() // keys may have been saved
	ask(two)
	if n := made.Load(); n == had {
		t.Error("models with the old keys are used")
	}
}

// What flags name by a relative path counts from the folder that adze was started in,
// in whatever folder a session works.
func TestFlagsCountFromTheStart(t *testing.T) {
	dir, home := scratch(t)
	other, lib := filepath.Join(filepath.Dir(dir), "deep", "other"), filepath.Join(dir, "lib")
	if err := errors.Join(os.MkdirAll(other, 0o755), os.Mkdir(lib, 0o755), os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"language":"French"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	all, one, err := openAt(t, here(dir, home), settings.Sources{Inline: "s.json", Flags: []config.Given{{Key: "permissions.additionalDirectories", Value: []string{"lib"}, From: "--add-dir"}}}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	two, err := all.Place(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []*Place{one, two} {
		if got := at.roots(); len(got) != 2 || got[1] != lib || at.Config().Language != "French" {
			t.Errorf("%s: %q, %q", at.Paths.Dir, got, at.Config().Language)
		}
	}
}
