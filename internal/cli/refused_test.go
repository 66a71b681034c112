package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
)

func TestWayOut(t *testing.T) {
	const asked = "it needs a person's approval, and nobody can be asked in this run: "
	for _, c := range []struct {
		v          policy.Verdict
		want, lack string
	}{
		{policy.Verdict{Check: policy.CheckRule, Rule: "Bash(touch:*)", Source: "--disallowed-tools"}, "leave the rule out of --disallowed-tools", "acceptEdits"},
		{policy.Verdict{Check: policy.CheckRule, Rule: "Bash(touch:*)", Source: "/etc/adze/managed.json:3:5", Suggest: []string{"Bash(touch a)"}}, "adze permissions list", "--allowed-tools"},
		{policy.Verdict{Check: policy.CheckProtected, Reason: asked + ".git/config is protected", Suggest: []string{"Edit(x)"}}, "without a person", "acceptEdits"},
		{policy.Verdict{Check: policy.CheckUnsafe}, "adze config check", "acceptEdits"},
		{policy.Verdict{Check: policy.CheckMode, Reason: "plan mode only reads: this writes a"}, "--permission-mode default", ""},
		{policy.Verdict{Check: policy.CheckNotReadOnly, Reason: asked + "npm run is not known", Suggest: []string{"Bash(npm run test:*)"}}, `--allowed-tools "Bash(npm run test:*)"`, "acceptEdits"},
		{policy.Verdict{Check: policy.CheckWrite, Reason: asked + "the mode default asks before a is changed", Suggest: []string{"Edit(//w/**)"}}, "--permission-mode acceptEdits, or --allowed-tools", ""},
		{policy.Verdict{Check: policy.CheckOutside, Reason: asked + "/etc/a is outside the folders that may be changed", Suggest: []string{"Edit(//etc/a)"}}, `--allowed-tools "Edit(//etc/a)"`, "acceptEdits"},
		{policy.Verdict{Check: policy.CheckNotReadOnly, Reason: asked + "sh runs a script that is not known"}, "adze permissions check", "acceptEdits"},
	} {
		got := wayOut(c.v)
		if !strings.Contains(got, c.want) || c.lack != "" && strings.Contains(got, c.lack) {
			t.Errorf("%+v: %q; want %q and not %q", c.v, got, c.want, c.lack)
		}
	}
}

func TestRefusalNamesTheCall(t *testing.T) {
	err := refusedCalls([]event.ToolFinished{{Name: "Bash", Verdict: policy.Verdict{Part: "touch a", Reason: "a rule denies it: Bash(touch:*)", Rule: "Bash(touch:*)", Source: "--disallowed-tools", Check: policy.CheckRule}}})
	var f *failure
	if !errors.As(err, &f) || f.code != exitRefused || f.cause != "Bash(touch a) was refused: a rule denies it: Bash(touch:*) (--disallowed-tools)" {
		t.Errorf("%v", err)
	}
}

// Of several calls each is named once, the first five, and each way out once.
func TestRefusalNamesEveryCall(t *testing.T) {
	call := func(command, suggest string) event.ToolFinished {
		v := policy.Verdict{Check: policy.CheckNotReadOnly, Part: command, Reason: "it is not known", Suggest: []string{suggest}}
		return event.ToolFinished{Name: "Bash", Input: []byte(`{"command":"` + command + `"}`), Verdict: v}
	}
	list := []event.ToolFinished{call("npm run a", "Bash(npm run:*)"), call("make b", "Bash(make:*)"), call("npm run c", "Bash(npm run:*)")}
	var f *failure
	if !errors.As(refusedCalls(list), &f) || f.code != exitRefused {
		t.Fatalf("%v", f)
	}
	if want := "Bash(npm run a) was refused: it is not known\nBash(make b) was refused: it is not known\nBash(npm run c) was refused: it is not known"; f.cause != want {
		t.Errorf("got\n%s\nwant\n%s", f.cause, want)
	}
	if want := `--allowed-tools "Bash(npm run:*)" allows it` + "\n" + `--allowed-tools "Bash(make:*)" allows it`; f.hint != want {
		t.Errorf("got\n%s\nwant\n%s", f.hint, want)
	}
	for len(list) < 7 {
		list = append(list, list[0])
	}
	if got := refusedCalls(list).Error(); strings.Count(got, "was refused") != 5 || !strings.HasSuffix(got, "\nand so were 2 more calls") {
		t.Errorf("got\n%s", got)
	}
}

// Of a command of which a path is refused, the command is named; of a command
// within a script, that one.
func TestRefusedNamesTheCommand(t *testing.T) {
	for _, c := range []struct{ input, part, want string }{
		{`{"command":"cat /etc/hosts"}`, "/etc/hosts", "Bash(cat /etc/hosts) was refused"},
		{`{"command":"ls && touch a"}`, "touch a", "Bash(touch a) was refused"},
		{`{"command":"curl https://example.com/\u001b[2J"}`, "example.com", `Bash(curl https://example.com/\x1b[2J) was refused`},
		{`{"file_path":"/etc/x"}`, "/etc/x", "Bash(/etc/x) was refused"},
		{``, "", "Bash was refused"},
	} {
		v := policy.Verdict{Part: c.part, Reason: "no", Parts: []policy.Piece{{Kind: "command", Text: "touch a"}, {Kind: "read", Text: "/etc/hosts"}}}
		if got := refusedCalls([]event.ToolFinished{{Name: "Bash", Input: []byte(c.input), Verdict: v}}).Error(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, not %q", c.input, got, c.want)
		}
	}
}
