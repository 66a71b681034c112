package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// many is a verdict about a command of many parts, in which what has to be looked
// at stands last.
func many() (string, policy.Verdict) {
	v := policy.Verdict{Effect: policy.Ask, Reason: "it changes f1"}
	command := ""
	for i := range 8 {
		c, f := fmt.Sprintf("touch f%d", i+1), fmt.Sprintf("f%d", i+1)
		command += c + "; "
		v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: c, Reason: "its paths are judged"}, policy.Piece{Kind: "write", Text: f, Of: c, Effect: policy.Ask, Reason: "it changes " + f})
	}
	command += "echo a; git push --force; touch f10"
	v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: "echo a", Reason: "it only reads"}, policy.Piece{Kind: "command", Text: "git push --force", Effect: policy.Ask, Reason: "no rule allows it"})
	return command, v
}

// Of a command with many parts those are listed first that need an answer, the
// gravest before the others.
func TestWhatAsksComesFirst(t *testing.T) {
	command, v := many()
	r := newRig(t, 100, 40).open().event(asked("c", command, v)).pass(time.Second)
	s := r.text()
	at := -1
	for _, want := range []string{"▲ git push --force", "▲ touch f1  it changes f1", "▲ touch f8 ", "… 1 more, all of them allowed"} {
		i := strings.Index(s, want)
		if i <= at {
			t.Errorf("%q is not there, or not in its place:\n%s", want, s)
		}
		at = i
	}
	v.Parts[1].Effect, v.Parts[1].Reason = policy.Deny, "a rule denies it"
	r = newRig(t, 100, 40).open().event(asked("c", command, v)).pass(time.Second)
	if s = r.text(); strings.Index(s, "✗ touch f1 ") > strings.Index(s, "▲ git push") {
		t.Errorf("what is refused is not first:\n%s", s)
	}
}

// deeds asks about a command of several parts, as the rules judge it.
func deeds(r *rig) *rig {
	dir := "/home/u/src/calc"
	of := func(e policy.Exec, touches ...policy.Action) policy.Exec {
		e.Dir, e.Touches = dir, touches
		return e
	}
	arg := func(name string) policy.Read { return policy.Read{Path: dir + "/" + name, Asked: name} }
	put := func(name string) policy.Write { return policy.Write{Path: dir + "/" + name, Asked: name} }
	v := policy.Decide(policy.Rules{Dir: dir, Dirs: []string{dir}, Home: "/home/u"}, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{
		of(policy.Exec{Argv: []string{"cat", "calc.go"}, ReadOnly: true}, arg("calc.go")),
		of(policy.Exec{Argv: []string{"cp", "a.go", "b.go", "lib"}, Edits: true}, arg("a.go"), arg("b.go"), put("lib/a.go"), put("lib/b.go")),
		of(policy.Exec{Argv: []string{"git", "push", "origin", "main"}, Why: "git push is not known to be read-only (git log and others are)"}, arg("push"), arg("origin"), arg("main"), policy.Read{Path: "/home/u/.netrc", Asked: "~/.netrc"}),
		put("out.txt"),
	}})
	r.m.st.Dir = dir
	return r.event(asked("7", "cat calc.go && cp a.go b.go lib && git push origin main ~/.netrc > out.txt", v)).pass(time.Second)
}

// A part of a call is a command with what it does, or something that is done: no word of
// a command is told as a file, and no path stands like a command.
func TestDeeds(t *testing.T) {
	r := deeds(newRig(t, 120, 40).open())
	r.has("▲ cp a.go b.go lib  the mode default asks before lib/a.go is changed; the mode default asks before lib/b.go is",
		"▲ git push origin main  no rule allows `git push`, which is not known to be read-only; ~/.netrc", "may hold secrets",
		"▲ changes out.txt  the mode default asks before out.txt is changed", "✓ cat calc.go  it provably only reads", "names ~/.netrc, which is /home/u/.netrc")
	r.hasNot("asks because", "▲ lib/a.go", "push:", "others are")
	r.keys("?").has("asks     git push origin main: no rule allows `git push`", "(git log and others", "  asks     changes lib/b.go: the mode default asks", "  allowed  reads a.go: it reads inside", "  asks     names ~/.netrc, which is /home/u/.netrc: ~/.netrc")
	r.hasNot("reads push", "reads origin", "names main", "check ", "part ", "keep ", "asks because")
}

// Of one part the reasons stand below each other.
func TestReasonsOfOnePart(t *testing.T) {
	one := policy.Piece{Kind: "command", Text: "touch a b c d", Effect: policy.Allow, Reason: "its paths decide"}
	v := policy.Verdict{Effect: policy.Ask, Reason: "before a", Parts: []policy.Piece{one}}
	for _, f := range []string{"a", "b", "c", "d"} {
		v.Parts = append(v.Parts, policy.Piece{Kind: "write", Text: f, Of: one.Text, Effect: policy.Ask, Reason: "before " + f})
	}
	newRig(t, 80, 24).open().event(asked("c", one.Text, v)).pass(time.Second).has("asks because: before a", "and because: before b; before c; and 1 more").hasNot("its paths decide", "▲ touch")
}

// The hint says what y and n do, before and when one was pressed; keys that somebody has
// bound to something else are not named.
func TestLettersAreTold(t *testing.T) {
	r := newRig(t, 80, 24).open().event(asked("c", "ls", verdict())).pass(time.Second).has("y, n mark, Enter answers")
	r.keys("'n").has("n marks it · Enter asks what instead").keys("up").hasNot("marks it").pass(2 * time.Second)
	r.keys("'n", "enter").has("Enter says no").keys("esc", "up").pass(2 * time.Second)
	r.keys("'y").has("❯ 1 Yes", "y marks it · Enter says yes").keys("enter")
	if o, ok := last[op.Answer](r); !ok || !o.Allow {
		t.Errorf("%+v", o)
	}
}

// The whole decision says of each part which rule settled it and where that stands, also
// of one that is no reason to ask.
func TestEveryPartNamesItsRule(t *testing.T) {
	ask := policy.Piece{Kind: "command", Text: "go vet", Effect: policy.Ask, Reason: "a rule asks about it: Bash(go vet:*)", Rule: "Bash(go vet:*)", Source: "a.json:3", Check: policy.CheckRule}
	ok := policy.Piece{Kind: "command", Text: "go test", Effect: policy.Allow, Reason: "a rule allows it: Bash(go test:*)", Rule: "Bash(go test:*)", Source: "b.json:4", Check: policy.CheckRule}
	v := policy.Verdict{Effect: policy.Ask, Reason: ask.Reason, Rule: ask.Rule, Source: ask.Source, Parts: []policy.Piece{ok, ask}}
	r := newRig(t, 120, 40).open().event(asked("c", "go test && go vet", v)).pass(time.Second).keys("?")
	r.has("asks     go vet: a rule asks about it: Bash(go vet:*) (a.json:3)", "allowed  go test: a rule allows it: Bash(go test:*) (b.json:4)").hasNot("asks because")
}

// What the classifier said stands behind the reason, and does not repeat it.
func TestReasonIsToldOnce(t *testing.T) {
	const why = "no rule allows `make`"
	v := policy.Verdict{Effect: policy.Ask, Reason: why + " (auto mode: it is unclear)", Parts: []policy.Piece{{Kind: "command", Text: "make", Effect: policy.Ask, Reason: why}}}
	r := newRig(t, 100, 40).open().event(asked("c", "make", v)).pass(time.Second).has("(auto mode: it is unclear)")
	if n := strings.Count(r.text(), why); n != 1 {
		t.Errorf("told %d times:\n%s", n, r.text())
	}
}
