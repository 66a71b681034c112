package trust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/trust"
)

func TestAnswers(t *testing.T) {
	a := trust.Answers{Path: filepath.Join(t.TempDir(), "state", "mcp-answers.json")}
	db, web := servers.Server{Name: "db", Raw: []byte(`{"command":"x"}`)}, servers.Server{Name: "web", Raw: []byte(`{"url":"https://h"}`)}
	of := func(root string) map[string]servers.Answer {
		t.Helper()
		got, err := a.Of(root)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := of("/w"); len(got) != 0 {
		t.Error(got)
	}
	if n, err := a.Forget(t.Context(), "/w"); n != 0 || err != nil {
		t.Error(n, err)
	}
	for _, s := range []struct {
		root string
		s    servers.Server
		yes  bool
	}{{"/w", db, true}, {"/w", web, false}, {"/v", db, false}} {
		if err := a.Say(t.Context(), s.root, s.s, s.yes); err != nil {
			t.Fatal(err)
		}
	}
	if got := of("/w"); !got["db"].Yes || got["db"].Hash != db.Hash() || got["db"].Said != "runs: x\n" || got["web"].Yes || len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if info, err := os.Stat(a.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if n, err := a.Forget(t.Context(), "/w", "db", "other"); n != 1 || err != nil || len(of("/w")) != 1 {
		t.Error(n, err, of("/w"))
	}
	if n, err := a.Forget(t.Context(), "/w"); n != 1 || err != nil || len(of("/w")) != 0 || len(of("/v")) != 1 {
		t.Error(n, err)
	}
	for _, bad := range []string{"oops", `{"version":99}`} {
		if err := os.WriteFile(a.Path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Of("/v"); err == nil || got != nil {
			t.Errorf("%s: %v %v", bad, got, err)
		}
		if err := a.Say(t.Context(), "/v", db, true); err == nil {
			t.Errorf("%s: written over", bad)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(a.Path, []byte(`{"version":1,"folders":{"/v":{"db":{"hash":"`+db.Hash()+`","yes":true}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(a.Path, 0o666); err != nil { // anybody could have written it
		t.Fatal(err)
	}
	if got, err := a.Of("/v"); err == nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}
