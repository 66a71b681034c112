package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/adze-agent/adze/internal/cli"
	"github.com/adze-agent/adze/internal/sandbox"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HelperArg { // it is started without the name that testscript knows
		os.Exit(cli.Main(cli.Process()))
	}
	testscript.Main(running{m}, map[string]func(){
		"adze":      func() { os.Exit(cli.Main(cli.Process())) },
		"mcpserver": mcpServer,
	})
}

// Scripts drive the real binary. $MOCK is a provider on the loopback
// interface whose path says how it behaves; see mock.
func TestScripts(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(mock))
	srv.Start()
	t.Cleanup(srv.Close)
	tls := httptest.NewUnstartedServer(http.HandlerFunc(mock))
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail on purpose
	tls.StartTLS()
	t.Cleanup(tls.Close)
	temp := t.TempDir()
	cache := goCache()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("TMPDIR", temp)                // not in the folder that is worked on
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each adze with the race detector takes a second to end
			e.Setenv("MOCK", srv.URL)
			e.Setenv("MOCKTLS", tls.URL)
			e.Setenv("CLOSED", closedPort())
			e.Setenv("GOCACHE", cache)
			e.Setenv("MCP_TIMEOUT", "60000")  // a machine may be busy
			e.Setenv("ADZE_STRICT_EXIT", "1") // so that a script sees by the exit code that a call was refused
			if !raced(filepath.Base(e.WorkDir)) {
				dir, err := built()
				if err != nil {
					return err
				}
				e.Setenv("PATH", dir+string(filepath.ListSeparator)+e.Getenv("PATH"))
			}
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"json": jsonField, "lines": jsonLines, "big": big, "uuidof": uuidOf, "code": exitsWith, "fits": fits, "empty": empty, "old": old, "sqlite": sqliteBase},
		Condition: func(c string) (bool, error) {
			switch c {
			case "root":
				return os.Geteuid() == 0, nil
			case "race":
				return raceDetector, nil
			case "users": // other users may have processes here
				return os.Geteuid() == 0 && exec.Command("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "sh", "-c", "for i in 1 2 3 4 5; do sleep 0 & done; wait").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %s", c)
		},
	})
}

// goCache is the build cache of whoever runs the tests: in a home of their own
// each would compile the standard library.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// closedPort is an address of this machine where nobody listens.
func closedPort() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "http://127.0.0.1:1"
	}
	defer ln.Close()
	return "http://" + ln.Addr().String()
}

// mock behaves as the first part of its path says.
func mock(w http.ResponseWriter, r *http.Request) {
	how, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch how {
	case "401", "403", "404", "400":
		w.Header().Set("Content-Type", "application/json")
		code := 0
		fmt.Sscan(how, &code)
		w.WriteHeader(code)
		kind := map[string]string{"401": "authentication_error", "403": "permission_error", "404": "not_found_error", "400": "invalid_request_error"}[how]
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"as asked"}}`, kind)
	case "html":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><html><title>Welcome to Hotel Wi-Fi</title><body>Log in</body></html>")
	case "toolong":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`)
	case "agent":
		b, _ := json.Marshal(r.Header.Get("User-Agent"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, b)
	case "tells": // what was asked for, as its answer
		var asked struct {
			Model  string
			Tokens int `json:"max_tokens"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		text, _ := json.Marshal(fmt.Sprintf("model=%s max=%d key=%s auth=%s beta=%s team=%s agent=%s", asked.Model, asked.Tokens, r.Header.Get("X-Api-Key"), r.Header.Get("Authorization"), r.Header.Get("Anthropic-Beta"), r.Header.Get("X-Team"), r.Header.Get("User-Agent")))
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range [][2]string{
			{"message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(text) + `}}`},
			{"content_block_stop", `{"type":"content_block_stop","index":0}`},
			{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`},
			{"message_stop", `{"type":"message_stop"}`},
		} {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e[0], e[1])
		}
	case "says":
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"as asked"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
			`{"type":"message_stop"}`,
		} {
			var kind struct{ Type string }
			_ = json.Unmarshal([]byte(e), &kind)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, e)
		}
	default:
		w.WriteHeader(http.StatusTeapot)
	}
}

// jsonField checks a field of the JSON object on the last command's stdout:
// json result.cost 0.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	compare(ts, neg, v, args)
}

// jsonLines checks the first line of a type on stdout:
// lines result subtype success.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	kind, sub, _ := strings.Cut(args[0], "/")
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("not JSON: %s", line)
		}
		if v["type"] == kind && (sub == "" || v["subtype"] == sub) {
			if neg && len(args) == 1 {
				ts.Fatalf("there is a line of type %s", args[0])
			}
			if len(args) > 1 {
				compare(ts, neg, v, args[1:])
			}
			return
		}
	}
	if !neg {
		ts.Fatalf("no line of type %s", args[0])
	}
}

// empty checks that a folder holds nothing: empty $TMPDIR.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	list, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if (len(list) == 0) == neg {
		ts.Fatalf("%s holds %v", args[0], list)
	}
}

// fits checks how long the lines on stdout are: fits 80.
func fits(ts *testscript.TestScript, _ bool, args []string) {
	most := 0
	fmt.Sscan(args[0], &most)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > most {
			ts.Fatalf("%d characters: %s", n, line)
		}
	}
}

// exitsWith runs a program that has to end with an exit code: code 2 adze ….
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%v exited with %d instead of %s\n%s", args[1:], got, args[0], ts.ReadFile("stderr"))
	}
}

// uuidOf puts the uuid of the first line of a type into a variable:
// uuidof assistant ID.
func uuidOf(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var v struct{ Type, UUID string }
		if json.Unmarshal([]byte(line), &v) == nil && v.Type == args[0] {
			ts.Setenv(args[1], v.UUID)
			return
		}
	}
	ts.Fatalf("no line of type %s", args[0])
}

func compare(ts *testscript.TestScript, neg bool, v any, args []string) {
	for _, k := range strings.Split(args[0], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[k]
		case []any:
			i := 0
			fmt.Sscan(k, &i)
			if v = nil; i < len(x) {
				v = x[i]
			}
		default:
			v = nil
		}
	}
	got := fmt.Sprint(v)
	if s, ok := v.(string); ok {
		got = s
	}
	if len(args) == 1 {
		if (v != nil) == neg {
			ts.Fatalf("%s is %s", args[0], got)
		}
		return
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q", args[0], got, args[1])
	}
}

// big makes a file of so many bytes: big FILE BYTES.
func big(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	fmt.Sscan(args[1], &n)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("some words of a long prompt\n", n/28+1)[:n]), 0o644))
}

// old makes all logs of sessions below a folder a year old.
func old(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: old DIR")
	}
	logs, err := filepath.Glob(filepath.Join(args[0], "*", "*", "log.jsonl"))
	ts.Check(err)
	then := time.Now().AddDate(-1, 0, 0)
	for _, f := range logs {
		ts.Check(os.Chtimes(f, then, then))
	}
}
