package settings

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/servers"
)

func names(s servers.Set) string {
	var out []string
	for _, x := range s.Servers {
		out = append(out, string(x.Scope)+" "+x.Name+" "+string(x.Approval))
	}
	return strings.Join(out, ", ")
}

func open(t *testing.T, e Environment, s Sources) *Live {
	t.Helper()
	l, err := Open(e, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestServersOfARun(t *testing.T) {
	e := run(t, map[string]string{
		".mcp.json":              `{"mcpServers":{"db":{"command":"./db"}}}`,
		"~/.adze/settings.json":  `{"mcpServers":{"mine":{"command":"${TOOL}"}},"env":{"TOOL":"t"}}`,
		"~/.claude.json":         `{"mcpServers":{"theirs":{"command":"x"}}}`,
		"~/.claude/nothing.json": `{}`,
	})
	const all = "project db pending, user mine approved, user theirs approved"
	l := open(t, e, Sources{})
	set := l.Servers(Servers{})
	if got := names(set); got != all {
		t.Errorf("nobody was asked: %s", got)
	}
	if mine, _ := set.Get("mine"); mine.Command != "t" || mine.Problem != "" {
		t.Errorf("%+v", mine)
	}
	if got := names(open(t, e, Sources{Bare: true}).Servers(Servers{})); got != "user mine approved, user theirs approved" {
		t.Errorf("bare: %s", got)
	}
	if got := names(open(t, e, Sources{Only: []string{"project"}}).Servers(Servers{})); got != "project db pending" {
		t.Errorf("only the project: %s", got)
	}
	if got := names(l.Servers(Servers{Strict: true, Given: []servers.Given{{Name: "f", JSON: []byte(`{"command":"x"}`)}}})); got != "flag f approved" {
		t.Errorf("strict: %s", got)
	}
	// A yes to the server starts nothing while the folder is not trusted.
	db, _ := set.Get("db")
	db.Programs = l.Paths.ProgramsOf(db)
	if err := l.Paths.Answers().Say(t.Context(), l.Paths.Root, db, true); err != nil {
		t.Fatal(err)
	}
	if got := names(l.Servers(Servers{})); got != all {
		t.Errorf("not trusted: %s", got)
	}
	if got := names(open(t, e, Sources{Trusted: true}).Servers(Servers{})); got != strings.Replace(all, "pending", "approved", 1) {
		t.Errorf("trusted: %s", got)
	}
	// The content that was judged is what counts, not what stands there by now.
	l = open(t, e, Sources{Trusted: true})
	if err := os.WriteFile(filepath.Join(e.Dir, ".mcp.json"), []byte(`{"mcpServers":{"db":{"command":"./evil"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, _ := l.Servers(Servers{}).Get("db"); db.Command != "./db" {
		t.Errorf("%+v", db)
	}
	if db, _ := open(t, e, Sources{Trusted: true}).Servers(Servers{}).Get("db"); db.Approval != servers.Pending || db.Command != "./evil" {
		t.Errorf("%+v", db)
	}
}

// A change of any of the files is told while settings are watched, and one
// that changes no server is not.
func TestServersAreWatched(t *testing.T) {
	e := run(t, map[string]string{"~/.claude.json": `{"n":1,"mcpServers":{}}`})
	l := open(t, e, Sources{})
	told := make(chan struct{}, 10)
	l.Watch(true, func(_, _ *config.Config) { told <- struct{}{} })
	l.Start()
	l.Reread()
	select {
	case <-told:
		t.Fatal("told of nothing")
	default:
	}
	person := filepath.Join(e.Home, ".claude.json")
	for _, text := range []string{`{"n":2,"mcpServers":{}}`, `{"n":2,"mcpServers":{"x":{"command":"y"}}}`} {
		if err := os.WriteFile(person, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-told:
	case <-ctx.Done():
		t.Fatal("not told of a new server")
	}
	if got := names(l.Servers(Servers{})); got != "user x approved" {
		t.Error(got)
	}
	if err := os.WriteFile(person, []byte(`{"n":3,"mcpServers":{"x":{"command":"y"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Reread()
	if len(told) > 0 {
		t.Error("told of what is no server")
	}
}
