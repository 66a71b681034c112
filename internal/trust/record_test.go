package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/trust"
)

// Where no record can be written, an answer is not taken for kept; the folder of
// one that can is the person's alone.
func TestAnswersThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := servers.Server{Name: "db", Raw: []byte(`{"command":"x"}`)}
	if err := (trust.Answers{Path: filepath.Join(file, "answers.json")}).Say(t.Context(), "/w", s, true); err == nil || !strings.HasPrefix(err.Error(), "writing ") {
		t.Errorf("an answer below a file: %v", err)
	}
	r := newRig(t)
	r.write(".claude/settings.json", hooks)
	seen := r.check(trust.Untrusted)
	r.Path = filepath.Join(file, "trust.json")
	if err := r.Grant(t.Context(), seen); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("trust below a file: %v", err)
	}
	a := trust.Answers{Path: filepath.Join(dir, "state", "answers.json")}
	if err := a.Say(t.Context(), "/w", s, true); err != nil {
		t.Fatal(err)
	}
	kept := newRig(t)
	kept.write(".claude/settings.json", hooks)
	kept.grant(trust.Untrusted)
	for _, path := range []string{a.Path, kept.Path} {
		if info, err := os.Stat(filepath.Dir(path)); err != nil {
			t.Error(err)
		} else if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of %s is %v", path, info.Mode())
		}
	}
}

// A record behind a link is nobody's: who can write the link decides what it says.
func TestAnswersBehindALink(t *testing.T) {
	dir := t.TempDir()
	a := trust.Answers{Path: filepath.Join(dir, "answers.json")}
	if err := a.Say(t.Context(), "/w", servers.Server{Name: "db", Raw: []byte(`{"command":"x"}`)}, true); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(a.Path, link); err != nil {
		t.Skip("no links here:", err)
	}
	if got, err := (trust.Answers{Path: link}).Of("/w"); err == nil || errors.Is(err, fs.ErrNotExist) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// How a server was described is kept as far as it is short; the answer counts all
// the same.
func TestAnswersKeepShortDescriptions(t *testing.T) {
	a := trust.Answers{Path: filepath.Join(t.TempDir(), "answers.json")}
	for n, kept := range map[int]bool{100: true, 17 << 10: false} {
		s := servers.Server{Name: "db", Raw: []byte(`{"command":"` + strings.Repeat("x", n) + `"}`)}
		if err := a.Say(t.Context(), "/w", s, true); err != nil {
			t.Fatal(err)
		}
		got, err := a.Of("/w")
		if x := got["db"]; err != nil || !x.Yes || x.Hash != s.Hash() || (x.Said != "") != kept {
			t.Errorf("a command of %d bytes: %d bytes of it are kept, %v", n, len(x.Said), err)
		}
	}
}
