//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// A stage is a server in this process, in a bubble of time.
type stage struct {
	rogue
	mu    sync.Mutex
	came  []string                             // methods, with the second they came at
	calls func(q ask) (answer string, ok bool) // of tools/call; !ok never comes
	began time.Time
	mute  string // a method that is never answered
	down  bool   // nothing gets through
	early int    // so often it refuses to begin
}

func newStage() *stage { return &stage{began: time.Now()} }

func (s *stage) note(raw []byte) ask {
	var q ask
	_ = json.Unmarshal(raw, &q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came = append(s.came, fmt.Sprintf("%s@%.0f", q.Method, time.Since(s.began).Seconds()))
	return q
}

func (s *stage) seen(method string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.came {
		if name, at, _ := strings.Cut(c, "@"); name == method {
			out = append(out, at)
		}
	}
	return out
}

func (s *stage) host(ctx context.Context, _ string, raw json.RawMessage) (json.RawMessage, error) {
	q := s.note(raw)
	if q.Method == s.mute {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if q.Method == "initialize" && len(s.seen("initialize")) <= s.early {
		return json.RawMessage(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32603,"message":"not ready yet"}}`), nil
	}
	if q.Method == "tools/call" && s.calls != nil {
		answer, ok := s.calls(q)
		if !ok {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return json.RawMessage(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"content":[{"type":"text","text":"` + answer + `"}]}}`), nil
	}
	for _, line := range s.answer(raw) {
		return json.RawMessage(line), nil
	}
	return nil, nil
}

// RoundTrip implements http.RoundTripper.
func (s *stage) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := func(status int, text string) *http.Response {
		h := http.Header{"Content-Type": []string{"application/json"}}
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader(text)), Request: req}
	}
	if req.Method != http.MethodPost {
		return answer(http.StatusMethodNotAllowed, ""), nil
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.note(raw)
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, errors.New("no route")
	}
	for _, line := range s.answer(raw) {
		return answer(http.StatusOK, line), nil
	}
	return answer(http.StatusAccepted, ""), nil
}

var onStage = servers.Server{Name: "s", Transport: servers.Host, Approval: servers.Approved}

func TestCallsHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.calls = func(ask) (string, bool) { return "", false }
		r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
		r.ready(t)
		began := time.Now()
		res := run(t, r.tool(t, "mcp__s__go"), `{}`)
		if took := time.Since(began); took != mcp.DefaultToolTimeout || res.Text != "the MCP server s did not answer within 10 min 0 s" {
			t.Errorf("%s: %s", took, res.Text)
		}
		synctest.Wait()
		if got := s.seen("notifications/cancelled"); len(got) != 1 {
			t.Errorf("told %v", got)
		}
		r.Close()
	})
}

func TestProgressGivesTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		step    time.Duration
		rise    float64
		minutes float64 // that the call takes
	}{{"rising", 5 * time.Minute, 1, 60}, {"standing", 5 * time.Minute, 0, 15}, {"none", time.Hour, 1, 10}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage()
				s.calls = func(ask) (string, bool) { return "", false }
				r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
				r.ready(t)
				stop := make(chan struct{})
				var wg sync.WaitGroup
				wg.Go(func() {
					tick := time.NewTicker(c.step)
					defer tick.Stop()
					for n := 1.0; ; n += c.rise {
						select {
						case <-tick.C:
							_ = r.FromHost("s", fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"c1","progress":%g,"message":"still\u001b[31m"}}`, n))
						case <-stop:
							return
						}
					}
				})
				var said []string
				began := time.Now()
				res := runWith(t, r.tool(t, "mcp__s__go"), `{}`, tool.Env{Progress: func(s string) { said = append(said, s) }})
				if took := time.Since(began).Minutes(); took != c.minutes || !res.IsErr {
					t.Errorf("%g minutes: %s", took, res.Text)
				}
				if c.name == "rising" && !slices.Contains(said, "\rstill") {
					t.Errorf("%q", said)
				}
				close(stop)
				wg.Wait()
				r.Close()
			})
		})
	}
}

// While a person answers what the server asks, the time of its call stands still.
func TestPersonTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		asked := make(chan struct{})
		var r *rig
		s.calls = func(ask) (string, bool) {
			_ = r.FromHost("s", json.RawMessage(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}}`))
			<-asked
			return "done", true
		}
		r = start(t, func(c *hubConfig) { c.Host, c.Client = s.host, slow{asked} }, onStage)
		r.ready(t)
		if res := run(t, r.tool(t, "mcp__s__go"), `{}`); res.Text != "done" {
			t.Errorf("%s", res.Text)
		}
		r.Close()
	})
}

// slow is a person who takes an hour.
type slow struct{ done chan struct{} }

func (slow) Here(mcp.Caller) bool { return true }

func (s slow) Ask(context.Context, mcp.Caller, string, view.Form) (op.Answer, error) {
	time.Sleep(time.Hour)
	close(s.done)
	return op.Answer{Allow: true}, nil
}

func (slow) Sample(context.Context, mcp.Caller, string, mcp.Sampling) (mcp.Sampled, error) {
	return mcp.Sampled{}, errors.New("no")
}
func (slow) Changed(string, string, string) {}

// A server that never answers the question of the newest protocol is spoken to in
// an older one after a while.
func TestMuteToTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.mute = "server/discover"
		r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
		r.ready(t)
		if st := r.status(t, "s"); st.State != "connected" || !slices.Equal(s.seen("initialize"), []string{"2"}) {
			t.Errorf("%+v %v", st, s.came)
		}
		r.Close()
	})
}

// A server on this machine that is not ready is asked once more.
func TestNotReadyYet(t *testing.T) {
	for early, want := range map[int]string{1: "connected", 2: "failed"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage()
			s.early = early
			r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
			r.ready(t)
			if st := r.status(t, "s"); string(st.State) != want || want == "failed" && !strings.Contains(st.Why, "not ready yet") || !slices.Equal(s.seen("initialize"), []string{"0", "1"}) {
				t.Errorf("%+v %v", st, s.came)
			}
			r.Close()
		})
	}
}

// A protocol that nobody knows is no reason not to speak to a server.
func TestUnknownProtocol(t *testing.T) {
	for said, spoken := range map[string]string{"2024-10-07": "2024-11-05", "2099-01-01": "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage()
			s.mode = said
			r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
			r.ready(t)
			want := "it speaks protocol “" + said + "”, which adze does not know; adze speaks to it in " + spoken
			if st := r.status(t, "s"); st.State != "connected" || st.Protocol != spoken || !slices.Contains(st.Notes, want) {
				t.Errorf("%+v", st)
			}
			if res := run(t, r.tool(t, "mcp__s__go"), `{}`); res.Text != "done" {
				t.Errorf("%+v", res)
			}
			r.Close()
		})
	}
}

func TestReconnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.down = true
		r := start(t, func(c *hubConfig) { c.HTTP = s }, remote("s", servers.HTTP, "http://s.example/mcp"))
		r.ready(t)
		if st := r.status(t, "s"); st.State != "failed" || st.Why != "the connection ended: it cannot be reached: no route (attempt 1 of 5 follows in 1.0 s)" {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Hour)
		if got := s.seen("initialize"); !slices.Equal(got, []string{"0", "1", "3", "7", "15", "31"}) {
			t.Errorf("tried at %v", got)
		}
		s.mu.Lock()
		s.down = false
		s.mu.Unlock()
		if err := r.Reconnect("s"); err != nil {
			t.Fatal(err)
		}
		r.until(t, "s", "connected")
		r.Close()
	})
}

func TestPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		r := start(t, func(c *hubConfig) { c.HTTP = s }, remote("s", servers.HTTP, "http://s.example/mcp"))
		r.ready(t)
		time.Sleep(5*time.Minute + time.Second)
		if got := s.seen("ping"); len(got) != 5 {
			t.Errorf("asked at %v", got)
		}
		s.mu.Lock()
		s.down = true
		s.mu.Unlock()
		time.Sleep(time.Minute + time.Second)
		if st := r.status(t, "s"); st.State != "failed" {
			t.Errorf("%+v", st)
		}
		s.mu.Lock()
		s.down = false
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if st := r.status(t, "s"); st.State != "connected" {
			t.Errorf("%+v", st)
		}
		r.Close()
	})
}

// However often a server says that its list changed, it is read once a second.
func TestManyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		r := start(t, func(c *hubConfig) { c.Host = s.host }, onStage)
		r.ready(t)
		for range 100 {
			for range 9 {
				if err := r.FromHost("s", json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if got := s.seen("tools/list"); len(got) < 5 || len(got) > 8 {
			t.Errorf("read at %v", got)
		}
		r.Close()
	})
}

// No more than 3 local and 20 remote servers start at a time, and each only holds
// up calls of its own.
func TestManyServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		s.mute = "initialize"
		var list []servers.Server
		for i := range 50 {
			c := onStage
			c.Name = fmt.Sprint("s", i)
			list = append(list, c)
		}
		r := start(t, func(c *hubConfig) { c.Host = s.host }, list...)
		synctest.Wait()
		if got := s.seen("initialize"); len(got) != 20 {
			t.Errorf("%d at once", len(got))
		}
		time.Sleep(2 * time.Minute)
		for _, st := range r.Status() {
			if st.State != "failed" || st.Why != "it did not answer within 30 s" {
				t.Errorf("%+v", st)
			}
		}
		r.Close()
	})
}
